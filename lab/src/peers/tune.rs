//! Times ways of dividing a work, interleaved, to find what `for_device` should say.
//!
//! Input: a work on its buffers. Output: a line a way on standard error, fastest first.

use anyhow::{Context, Result};
use lanescope::algorithms::sort::{Before, Matching, RadixTuning, Tallies};
use lanescope::algorithms::{ReduceTuning, ScanTuning, SoftmaxTuning};
use lanescope::statistics::median;

use super::gpu::Gpu;
use super::ours::{Ours, Sets, Tuning, Work};
use super::sampling::{WARM_UP, repeats};

/// Times every way and prints them, fastest first.
pub(crate) fn tune(
    gpu: &Gpu,
    sets: &Sets,
    (n, columns): (u64, u32),
    samples: u32,
    copy_rate: f64,
) -> Result<()> {
    let work = sets.work();
    let mut ready: Vec<(Tuning, Ours, u32, Vec<f64>)> = Vec::new();
    for tuning in candidates(work, columns) {
        match sets.ready(gpu, tuning) {
            Ok(ours) => {
                let repeats = repeats(ours.sample(gpu, 10)?);
                ready.push((tuning, ours, repeats, Vec::new()));
            }
            Err(error) => eprintln!("{tuning:?}: {error:#}"),
        }
    }
    #[expect(clippy::disallowed_methods, reason = "a warm-up needs a clock")]
    let begin = std::time::Instant::now();
    while begin.elapsed() < WARM_UP {
        for (_, ours, repeats, _) in &ready {
            ours.sample(gpu, *repeats)?;
        }
    }
    for _ in 0..samples {
        for (_, ours, repeats, times) in &mut ready {
            times.push(ours.sample(gpu, *repeats)?);
        }
    }
    let mut found = Vec::new();
    for (tuning, _, _, times) in &ready {
        found.push((median(times).context("there are no samples")?, *tuning));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fastest = found.first().map(|(_, tuning)| format!("{tuning:?}"));
    for (time, tuning) in found {
        #[expect(clippy::cast_precision_loss, reason = "bytes lie far below 2^53")]
        let share = work.bytes(n) as f64 / (time * 1e-9) / copy_rate;
        eprintln!("{} {n}: {:9.2} µs {share:.3} {tuning:?}", work.name(), time / 1e3);
    }
    for (tuning, ours, ..) in &ready {
        if Some(format!("{tuning:?}")) == fastest {
            let steps = ours.sample_steps(gpu, 9)?;
            let steps: Vec<String> =
                steps.iter().map(|step| format!("{:.1}", step / 1e3)).collect();
            eprintln!("its dispatches, µs: {}", steps.join(" "));
        }
    }
    Ok(())
}

fn candidates(work: Work, columns: u32) -> Vec<Tuning> {
    let mut found = Vec::new();
    match work {
        Work::ReduceF32 => {
            for workgroup_size in [256, 512, 1024] {
                for items in [2, 4, 8] {
                    for workgroups_max in [264, 528, 1056, 2112] {
                        let tuning = ReduceTuning { workgroup_size, items, workgroups_max };
                        found.push(Tuning::Reduce(tuning));
                    }
                }
            }
        }
        Work::ScanU32 => {
            for workgroup_size in [256, 512, 1024] {
                for items in [2, 4] {
                    let tuning = ScanTuning { workgroup_size, items, spins: 256 };
                    found.push(Tuning::Scan(tuning));
                }
            }
        }
        Work::SortPairsU32 | Work::SortKeysU32 => found.extend(sorts()),
        Work::CompactHalf => {
            for workgroup_size in [256, 512, 1024] {
                for items in [1, 2, 3, 4, 6] {
                    let tuning = ScanTuning { workgroup_size, items, spins: 256 };
                    found.push(Tuning::Compact(Some(tuning)));
                }
            }
        }
        Work::Permutation8 | Work::Pairs8 | Work::Pairs256 => found.push(Tuning::Split),
        Work::SoftmaxF32 => {
            for workgroup_size in [128, 256, 512, 1024] {
                let items = columns.div_ceil(workgroup_size * 4).max(1);
                let tuning = SoftmaxTuning { workgroup_size, items };
                found.push(Tuning::Softmax { columns, tuning });
            }
        }
    }
    found
}

/// How sorts of whole keys may be cut.
fn sorts() -> Vec<Tuning> {
    let mut found = Vec::new();
    // How much lies in a tile, each looking back at so many tiles at a time as the library does.
    let shapes = [
        (256, 4, 4),
        (256, 6, 6),
        (256, 8, 8),
        (256, 16, 16),
        (256, 20, 20),
        (256, 22, 22),
        (256, 24, 24),
        (256, 32, 16),
        (512, 16, 16),
        (512, 20, 20),
    ];
    let shapes = shapes.map(|shape| (shape, 8)).into_iter();
    // How many tiles.
    let looks = [2, 4, 16].into_iter().map(|at_once| ((256, 22, 22), at_once));
    let shapes = shapes.chain(looks);
    let matched = [Matching::Ballots, Matching::Masks];
    let shapes = shapes.flat_map(|shape| matched.map(|matching| (shape, matching, Tallies::Words)));
    // Counts of half a word: what masks of words have no room for, and what they have.
    let halves = [(256, 12, 12), (256, 14, 14), (256, 16, 16), (256, 22, 22)].into_iter();
    let halves = halves.map(|shape| ((shape, 8), Matching::Masks, Tallies::Halves));
    for (((threads, items, staged), at_once), matching, tallies) in shapes.chain(halves) {
        let before = Before::LookBack { spins: 1024, at_once };
        let tuning = RadixTuning { threads, items, staged, matching, tallies, before };
        found.push(Tuning::Sort(Some(tuning)));
    }
    found
}
