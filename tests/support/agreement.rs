//! Simulator and device side by side over random programs.
//!
//! Input: a [`Program`] and two runners of the same width. Output: where they disagree, and a
//! smaller program that still shows it. It opens no device and prints nothing.

use std::collections::BTreeMap;

use lanescope::kernel::{Buffer, Fill, Launch, ScalarType, TexelFill, Texture};
use lanescope::program::Parsed;
use lanescope::record::{Device, Method};
use lanescope::run::{CountRequest, RunError, Runner};
use lanescope::texture::{TextureDimension, TextureFormat, TextureLayout};

use super::random_program::{Options, PICTURE, Program, SKETCH_ROW, TOTALS, WAITING};
use super::side_by_side::{Comparison, compare_launch, line_of};

/// Whether a device is lavapipe with vectors of 512 bits on a processor whose own are narrower.
///
/// Mesa leaves that to whoever sets `LP_NATIVE_VECTOR_WIDTH`. LLVM then writes each vector as two, and
/// Mesa 22.3.6 ends its process in some shuffles from lanes that are not there, and filters 8-bit texels
/// less exactly (docs/findings/agreement.md).
pub(crate) fn wider_than_processor(device: &Device) -> bool {
    #[cfg(target_arch = "x86_64")]
    let narrow = !std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    let narrow = true;
    narrow && device.name.starts_with("llvmpipe") && device.name.contains("512 bits")
}

/// The program of a seed.
///
/// # Panics
///
/// When a generated program is no valid WGSL: a fault of the generator's.
#[expect(clippy::expect_used, reason = "the generator promises a valid program")]
pub(crate) fn program(seed: u64, options: Options) -> Program {
    Program::new(seed, options, &|text| {
        let parsed = Parsed::new("random.wgsl", text).expect("a valid module");
        parsed.resolve("main", &BTreeMap::new()).expect("an entry point").blocks().len()
    })
}

/// A launch of a program, checked, without a reference.
pub(crate) fn launch(program: &Program, seed: u64) -> Launch {
    let invocations = u64::from(program.workgroup_size) * u64::from(program.workgroups);
    let buffer = |name: &str, words: u64, fill| Buffer {
        name: name.to_owned(),
        size: words * 4,
        fill,
        scalar: ScalarType::U32,
        output: true,
    };
    let (file, source) = (format!("random-{seed}.wgsl"), program.to_string());
    let mut buffers = vec![
        buffer("output", invocations, Fill::Zero),
        // Minimum and conjunction start from all ones.
        buffer("totals", TOTALS, Fill::Words(vec![0, 0, 0, 0, u32::MAX, u32::MAX])),
    ];
    if source.contains("> turn:") {
        buffers.push(buffer("turn", 1, Fill::Zero));
    }
    let texture = |name: &str, format, [x, y]: [u32; 2], levels, fill| Texture {
        name: name.to_owned(),
        layout: TextureLayout {
            format,
            dimension: TextureDimension::D2,
            size: [x, y, 1],
            levels,
            samples: 1,
        },
        fill,
        output: true,
    };
    let rows = u32::try_from(invocations).unwrap_or(u32::MAX).div_ceil(SKETCH_ROW);
    let textures = [
        texture("picture", TextureFormat::Rgba8Uint, PICTURE, 2, TexelFill::Uniform([0.0, 255.0])),
        texture("sketch", TextureFormat::R32Uint, [SKETCH_ROW, rows], 1, TexelFill::Zero),
    ];
    let textures =
        textures.into_iter().filter(|texture| source.contains(&format!("{},", texture.name)));
    Launch {
        kernel: format!("random/{seed}"),
        seed,
        textures: textures.collect(),
        ..Launch::of_shader(&file, &source, buffers, [program.workgroups, 1, 1])
    }
}

/// Runs a program on both and compares outputs, and executions, lanes and, where counted, the histogram
/// of each block. Lines of loops are told as cut off where something differs and counts say that the device left them;
/// then no difference is told that may come from that.
///
/// # Errors
///
/// What running gives on either.
pub(crate) fn compare(
    program: &Program,
    seed: u64,
    device: &mut dyn Runner,
    simulator: &mut dyn Runner,
) -> Result<Comparison, RunError> {
    // Executed and derived counting in turn. A histogram keeps all counters in memory, and lavapipe
    // takes three times as long to compile that.
    let methods = [Method::Executed, Method::Derived];
    // Drivers that leave loops by themselves run on processors, whose counts lanescope never derives: deriving adds
    // loops of its own.
    let may_leave = device.device().loop_limit.is_some() && program.may_loop_long();
    let method = methods[usize::from(!seed.is_multiple_of(2) && !may_leave)];
    let request = CountRequest { method, histogram: seed.is_multiple_of(8), runs: 1, trace: false };
    let launch = launch(program, seed);
    let mut comparison = compare_launch(&launch, Some(WAITING), request, device, simulator)?;
    // Workgroups have one dimension here: nothing may differ.
    comparison.differences.append(&mut comparison.differences_in_issues);
    // A driver that leaves a loop by itself computes something else: what counts is that its counts say so.
    if comparison.differences.is_empty() {
        comparison.cut_off.clear();
    } else if !comparison.cut_off.is_empty() {
        let unaffected = match comparison.incomplete {
            true => 0..0,
            false => unaffected(&launch.source, &comparison.cut_off),
        };
        comparison.differences.retain(|difference| match line_of(difference) {
            Some(line) => unaffected.contains(&line),
            None => !difference.starts_with("buffer "),
        });
    }
    Ok(comparison)
}

/// The lines of the entry point that every invocation has left behind before any of these loops, and before it waits for
/// another workgroup, in which one of them may have run: nothing differs there because a loop was cut off. None where one
/// stands in a function, which may be called from anywhere.
///
/// Programs have a statement's braces on its own lines, and read of what other invocations did only behind barriers, in
/// subgroups, whose lanes are together again there, and where they wait.
pub(crate) fn unaffected(text: &str, cut_off: &[u32]) -> std::ops::Range<u32> {
    let (mut first, mut statement, mut depth) = (None, 0, 0_usize);
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(first) = first {
            if depth == 1 {
                statement = line;
            }
            if cut_off.contains(&line) || text.contains(&format!("{WAITING}()")) {
                return first..statement;
            }
        } else if cut_off.contains(&line) {
            return 0..0;
        } else if text.starts_with("fn main(") {
            first = Some(line);
        }
        depth = (depth + text.matches('{').count()).saturating_sub(text.matches('}').count());
    }
    0..0
}

/// What two runners disagree on, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Disagreement {
    /// The contents of a buffer or a texture.
    Output,
    /// Lanes of a block.
    Lanes,
    /// A block is executed less often, with as many lanes.
    FewerExecutions,
    /// A block is executed more often, with as many lanes.
    MoreExecutions,
    /// Something else, such as a histogram.
    Other,
}

impl Disagreement {
    /// What a line of [`Comparison::differences`] is about.
    fn from_line(difference: &str) -> Self {
        let counts = || {
            let (_, counts) = difference.strip_prefix("block ")?.split_once(": ")?;
            let numbers = counts.split(|letter: char| !letter.is_ascii_digit());
            let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
            <[u64; 4]>::try_from(numbers).ok()
        };
        match counts() {
            _ if difference.starts_with("buffer ") => Self::Output,
            Some([_, lanes, _, expected]) if lanes != expected => Self::Lanes,
            Some([executions, _, expected, _]) if executions < expected => Self::FewerExecutions,
            Some([executions, _, expected, _]) if executions > expected => Self::MoreExecutions,
            _ => Self::Other,
        }
    }

    /// The worst of some differences; `None` where there are none.
    pub(crate) fn worst(differences: &[String]) -> Option<Self> {
        differences.iter().map(|difference| Self::from_line(difference)).min()
    }
}

/// A smaller program that two runners still disagree on as badly, and how.
///
/// # Errors
///
/// What running gives on either.
pub(crate) fn smallest(
    program: &Program,
    seed: u64,
    device: &mut dyn Runner,
    simulator: &mut dyn Runner,
) -> Result<(Program, Vec<String>), RunError> {
    let mut again = |program: &Program| compare(program, seed, device, simulator);
    // What is left of a program whose outputs differ is to have outputs that differ.
    let worst = Disagreement::worst(&again(program)?.differences);
    let smallest = shrink(program, &mut |program| {
        again(program).is_ok_and(|comparison| {
            !comparison.differences.is_empty()
                && Disagreement::worst(&comparison.differences) == worst
        })
    });
    let differences = again(&smallest)?.differences;
    Ok((smallest, differences))
}

/// A program that still fails, from which no statement can be taken without losing the failure.
fn shrink(program: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let before = smallest.len();
        let mut index = 0;
        while let Some(smaller) = smallest.without(index) {
            if fails(&smaller) {
                smallest = smaller;
            } else {
                index += 1;
            }
        }
        if smallest.len() == before {
            return smallest;
        }
    }
}
