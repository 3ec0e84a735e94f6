//! Nothing panics, and nothing depends on threads or on the schedule.
//!
//! Input: the shaders of the repository's corpus and random programs, with launch sizes, buffer sizes, widths and
//! policies that proptest chooses. Output: an outcome or an error, the same whoever runs it.

use proptest::prelude::*;

use super::random::write;
use super::*;
use crate::program::Overrides;

const WIDTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// A launch that may be wrong in its sizes.
#[derive(Clone, Debug)]
struct Launch {
    kernel: usize,
    entry: usize,
    workgroups: [u32; 3],
    /// Words of each buffer, and what they hold.
    words: Vec<usize>,
    fill: u32,
    config: Config,
}

fn launch() -> impl Strategy<Value = Launch> {
    let config = (0..8_usize, any::<[bool; 4]>(), any::<u64>(), 1..3_usize).prop_map(
        |(width, [late, unfused, strict, zero], seed, threads)| Config {
            width: Width::new(WIDTHS[width]).unwrap(),
            reconvergence: if late { Reconvergence::Late } else { Reconvergence::Maximal },
            fma: if unfused { Fma::Unfused } else { Fma::Fused },
            steps_max: 20_000,
            operations_max: u64::MAX,
            schedule: match seed % 3 {
                0 => Schedule::InOrder,
                1 => Schedule::Shuffled { seed },
                _ => Schedule::Unfair { seed },
            },
            strict,
            threads: Some(threads),
            zero_workgroup_memory: zero,
        },
    );
    let fill = prop_oneof![Just(0), Just(u32::MAX), Just(7), any::<u32>()];
    let sizes = proptest::collection::vec(0..600_usize, 6);
    (any::<[u16; 2]>(), [0..5_u32, 0..3_u32, 0..3_u32], sizes, fill, config).prop_map(
        |([kernel, entry], workgroups, words, fill, config)| {
            let (kernel, entry) = (usize::from(kernel), usize::from(entry));
            Launch { kernel, entry, workgroups, words, fill, config }
        },
    )
}

/// Runs it; the outputs and outcome, or what was refused or trapped.
fn execute(program: &Program, launch: &Launch) -> Result<(Vec<Vec<u8>>, Outcome), Trap> {
    let compiled = Compiled::new(program)?;
    let mut memory = Memory::new();
    let bindings = program.bindings().unwrap();
    for (binding, words) in bindings.iter().zip(&launch.words) {
        let bytes = launch.fill.to_le_bytes().repeat(*words);
        memory.bind(binding.group, binding.binding, &bytes);
    }
    let outcome = compiled.run(launch.workgroups, &mut memory, &launch.config)?;
    let outputs = bindings.iter().map(|b| memory.bytes(b.group, b.binding).unwrap());
    Ok((outputs.collect(), outcome))
}

/// The texts of `tests/wgsl` that need nothing beside them, with their names.
fn corpus() -> &'static [(String, String)] {
    static CORPUS: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();
    CORPUS.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/wgsl");
        let mut texts: Vec<(String, String)> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .filter(|(name, text)| {
                let resolves = |parsed: Parsed| {
                    let mut entries = parsed.entry_points().into_iter();
                    entries.all(|entry| parsed.resolve(entry, &Overrides::new()).is_ok())
                };
                Parsed::new(name, text).is_ok_and(resolves)
            })
            .collect();
        assert!(texts.len() > 50, "the corpus was not found");
        texts.sort_unstable();
        texts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_launch_of_the_corpus_panics(launch in launch()) {
        let corpus = corpus();
        let (file, text) = &corpus[launch.kernel % corpus.len()];
        let parsed = Parsed::new(file, text).unwrap();
        let entries = parsed.entry_points();
        let entry = entries[launch.entry % entries.len()].to_owned();
        let program = parsed.resolve(&entry, &Overrides::new()).unwrap();
        if let Ok((_, outcome)) = execute(&program, &launch) {
            for (counts, block) in outcome.blocks.iter().zip(program.blocks()) {
                let subgroups = counts.histogram.iter().sum::<u64>();
                prop_assert_eq!(counts.executions.0, subgroups, "{:?}", block.id);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_random_program_panics(seed in any::<u64>(), launch in launch()) {
        let parsed = Parsed::new("random.wgsl", &write(seed)).unwrap();
        let program = parsed.resolve("main", &Overrides::new()).unwrap();
        // Short buffers, many workgroups: most end in reports, a few in traps.
        let ended = execute(&program, &launch);
        if let Err(trap) = ended {
            prop_assert!(trap.line().is_some() || matches!(trap, Trap::Refused(_)), "{}", trap);
        }
    }

    #[test]
    fn threads_and_schedules_change_nothing(seed in any::<u64>()) {
        let text = write(seed);
        let width = WIDTHS[usize::try_from(seed % 8).unwrap()];
        let start = Config { steps_max: 1 << 30, ..config(width) };
        // Workgroups of 48 write words of their own.
        let one = run(&text, [9, 1, 1], 9 * 48, &[0], &start).unwrap();
        for threads in [1, 2, 8] {
            for schedule in [
                Schedule::InOrder,
                Schedule::Shuffled { seed },
                Schedule::Shuffled { seed: !seed },
                Schedule::Unfair { seed },
            ] {
                let config = Config { threads: Some(threads), schedule, ..start };
                let other = run(&text, [9, 1, 1], 9 * 48, &[0], &config).unwrap();
                prop_assert_eq!(&one.0, &other.0, "outputs, {:?}\n{}", config, text);
                prop_assert_eq!(&one.1, &other.1, "counts, {:?}\n{}", config, text);
            }
        }
    }
}

#[test]
fn reports_are_the_same_with_any_threads_and_schedule() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        var<workgroup> w: array<u32, 8>;
        @compute @workgroup_size(24) fn main(
            @builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32,
        ) {
            if g.x % 3u == 0u { w[i % 11u] = 1u; }
            if i > 4u { workgroupBarrier(); }
            output[g.x + 5u] = subgroupShuffleDown(i, 3u);
        }";
    let first = run(text, [40, 1, 1], 40 * 24, &[0], &config(8)).unwrap();
    let kinds: Vec<ReportKind> = first.1.reports.iter().map(|report| report.kind).collect();
    let expected = [
        ReportKind::WriteOutOfBounds,
        ReportKind::WriteOutOfBounds,
        ReportKind::DivergentBarrier,
        ReportKind::EdgeSource,
    ];
    assert_eq!(kinds, expected);
    for threads in [1, 2, 8] {
        for seed in 0..4 {
            for schedule in
                [Schedule::InOrder, Schedule::Shuffled { seed }, Schedule::Unfair { seed }]
            {
                let config = Config { threads: Some(threads), schedule, ..config(8) };
                let other = run(text, [40, 1, 1], 40 * 24, &[0], &config).unwrap();
                assert_eq!((&first.0, &first.1), (&other.0, &other.1), "{config:?}");
            }
        }
    }
}
