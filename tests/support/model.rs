//! Executions and lanes of the five patterns, worked out from the input data alone.
//!
//! Input: a kernel's name, n, the input's elements and a width. Output: executions and lanes of each
//! block, in the order of block numbers. It shares no code with the simulator, the instrumenter or
//! the block numbering: it knows the shaders as a reader does, and counts subgroups of consecutive
//! elements by hand.

/// Executions and lanes of one block.
pub(crate) type Counts = (u64, u64);

/// How many subgroups have a lane for which `takes` holds, and how many lanes there are.
fn arm(elements: &[f32], width: usize, takes: impl Fn(usize, f32) -> bool) -> Counts {
    let mut counts = (0, 0);
    for (group, subgroup) in elements.chunks(width).enumerate() {
        let first = group * width;
        let lanes = (first..).zip(subgroup).filter(|(i, v)| takes(*i, **v)).count() as u64;
        counts.0 += u64::from(lanes > 0);
        counts.1 += lanes;
    }
    counts
}

/// The four blocks of a `for` loop: condition, its way out, body, increment.
fn for_loop(arm: Counts, trips: u64) -> [Counts; 4] {
    let times = |factor: u64| (arm.0 * factor, arm.1 * factor);
    [times(trips + 1), arm, times(trips), times(trips)]
}

/// Executions and lanes of each block of a kernel of the family `five_patterns`.
///
/// `input` has n elements; workgroups are of 256 invocations, so that invocations past n sit in the
/// last workgroup.
pub(crate) fn five_patterns(kernel: &str, input: &[f32], width: usize) -> Vec<Counts> {
    let n = input.len();
    let mut padded = input.to_vec();
    padded.resize(n.next_multiple_of(256), f32::NAN);
    let arm = |takes: &dyn Fn(usize, f32) -> bool| arm(&padded, width, takes);
    let every = arm(&|_, _| true);
    let past_end = arm(&|i, _| i >= n);
    let inside = arm(&|i, _| i < n);
    let mut blocks = vec![every, past_end, inside];
    let mut stored = inside;
    match kernel {
        "five_patterns/uniform" => blocks.extend(for_loop(inside, 512)),
        "five_patterns/branch_by_lane" => {
            for parity in [0, 1] {
                blocks.extend(for_loop(arm(&|i, _| i < n && i % 2 == parity), 512));
            }
        }
        "five_patterns/branch_by_quad" => {
            blocks.extend(for_loop(arm(&|i, _| i < n && i % 4 == 0), 2048));
        }
        "five_patterns/early_exit" => {
            let survivors = arm(&|i, v| i < n && v >= 0.5);
            blocks.push(arm(&|i, v| i < n && v < 0.5));
            blocks.extend(for_loop(survivors, 1024));
            stored = survivors;
        }
        "five_patterns/indirect_branch" => {
            for category in 0..4_u8 {
                let low = f32::from(category) / 4.0;
                let taken = arm(&|i, v| i < n && v >= low && v < low + 0.25);
                blocks.extend(for_loop(taken, 256));
            }
        }
        other => panic!("the model does not know {other}"),
    }
    blocks.push(stored);
    blocks
}
