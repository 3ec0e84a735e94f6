//! Data races: planted ones are found, what barriers and atomics order is none, and the sums of the
//! memory model are those worked out by hand.
//!
//! Input: small programs, and random accesses held against every pair of them. Output: the lines that
//! race, or sums.

#![expect(
    clippy::cast_possible_truncation,
    reason = "small random numbers and places in short lists"
)]

use std::collections::BTreeSet;

use super::*;
use crate::simulate::{
    Access, AccessKind, AccessSums, Observer, PassedBarrier, Races, Space, SubgroupPlace, Traffic,
    WaitSums,
};
use crate::units::random::SplitMix64;

/// Runs two workgroups of 16 in subgroups of 8, watched by an observer.
fn watched<O: crate::simulate::ForkObserver>(
    text: &str,
    observer: impl Fn(&Program, Width) -> O,
) -> O {
    let program = program(text);
    let compiled = Compiled::new(&program).unwrap();
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 4 * 4096]);
    memory.bind(0, 1, &[0; 4 * 64]);
    let config = config(8);
    let mut observer = observer(&program, config.width);
    compiled.run_observed([2, 1, 1], &mut memory, &config, &mut observer).unwrap();
    observer
}

fn shader(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
var<workgroup> w: array<u32, 64>;
@compute @workgroup_size(16) fn main(
    @builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>) {{
{body}
}}"
    )
}

/// The pairs of lines that race, counted from the body's first.
fn races(body: &str) -> Vec<(u32, u32, bool)> {
    let races = watched(&shader(body), Races::new);
    let head = 6;
    let pair = |race: &crate::simulate::Race| {
        let mut lines = [race.first.line - head, race.second.line - head];
        lines.sort_unstable();
        (lines[0], lines[1], race.equal_values)
    };
    races.races().map(pair).collect()
}

#[test]
fn planted_races_are_found_with_both_lines() {
    // A neighbour's word of workgroup memory, without a barrier: also within one subgroup.
    assert_eq!(races("w[i] = i;\na[id.x] = w[(i + 1u) % 16u];"), [(1, 2, false)]);
    // Two workgroups write one word, and a barrier does not help.
    assert_eq!(races("storageBarrier();\nif i == 0u { a[0] = group.x; }"), [(2, 2, false)]);
    // The same value each time.
    assert_eq!(races("a[0] = 7u;"), [(1, 1, true)]);
    // Without a second barrier the next turn writes what others still read.
    let turns = "for (var t = 0u; t < 3u; t++) {\nw[i] = t;\nworkgroupBarrier();\n\
                 a[id.x] = w[15u - i];\n}";
    assert_eq!(races(turns), [(2, 4, false)]);
    // The barrier orders the other memory.
    let other = "a[id.x] = i;\nworkgroupBarrier();\nlet v = a[id.x ^ 1u];\nw[i] = v;";
    assert_eq!(races(other), [(1, 3, false)]);
    // A barrier of the subgroup does not order two of them.
    let subgroup = "w[i] = i;\nsubgroupBarrier();\na[id.x] = w[15u - i];";
    assert_eq!(races(subgroup), [(1, 3, false)]);
}

#[test]
fn what_is_ordered_is_no_race() {
    let clean = [
        "w[i] = i;\nworkgroupBarrier();\na[id.x] = w[15u - i];",
        "a[id.x] = i;\nstorageBarrier();\nlet v = a[id.x ^ 1u];\nw[i] = v;",
        "w[i] = i;\nsubgroupBarrier();\na[id.x] = w[i ^ 7u];",
        "atomicAdd(&counts[0], 1u);\nif atomicLoad(&counts[0]) == 99u { a[id.x] = 1u; }",
        "a[id.x] = 1u;\na[id.x] += 1u;",
        "if i == 0u { w[0] = group.x; }\nlet v = workgroupUniformLoad(&w[0]);\na[id.x] = v;",
        "for (var t = 0u; t < 3u; t++) {\nw[i] = t;\nworkgroupBarrier();\na[id.x] = w[15u - i];\n\
         workgroupBarrier();\n}",
    ];
    for body in clean {
        assert_eq!(races(body), [], "{body}");
    }
}

#[test]
fn the_example_names_invocations_and_place() {
    let races = watched(&shader("w[i] = i;\na[id.x] = w[(i + 8u) % 16u];"), Races::new);
    let race = races.races().next().unwrap();
    assert_eq!((race.space, race.offset), (Space::Workgroup, 8 * 4));
    // Subgroup 0 ran to its end before subgroup 1 wrote: the read came first.
    assert_eq!((race.first.invocation, race.first.writes), (0, false));
    assert_eq!((race.second.invocation, race.second.writes), (8, true));
    assert_eq!(race.first.workgroup, race.second.workgroup);
}

/// One access or barrier of the random test.
struct Touched {
    place: SubgroupPlace,
    lane: u32,
    phases: [u32; 2],
    of_subgroup: u32,
    writes: bool,
}

/// Every pair of random accesses is compared: a scalar is told of exactly where two of its accesses race.
#[test]
#[expect(clippy::too_many_lines, reason = "the accesses are made, run and compared in one place")]
fn a_scalar_is_told_of_exactly_where_two_accesses_race() {
    for seed in 0..3000 {
        let mut random = SplitMix64::new(seed);
        let mut below = |count: u64| (random.bits() >> 33) % count;
        let mut races = Races::new(&program(&shader("a[id.x] = 1u;")), Width::new(8).unwrap());
        let mut phases = [[0; 2]; 2];
        let mut of_subgroups = [[0; 2]; 2];
        let mut all: Vec<Vec<Touched>> = (0..12).map(|_| Vec::new()).collect();
        for _ in 0..below(80) {
            // Twelve scalars, six of storage and six of the workgroup's memory: of one workgroup.
            let (number, subgroup) = (below(12) as usize, below(2));
            let workgroup = if number < 6 { below(2) } else { 0 };
            let [group, part] = [workgroup, subgroup].map(|number| number as usize);
            if below(5) == 0 {
                let one_subgroup = below(2) == 0;
                let [orders_workgroup, orders_storage] = [below(2) == 0, below(2) == 0];
                if one_subgroup {
                    of_subgroups[group][part] += 1;
                } else {
                    phases[group][0] += u32::from(orders_workgroup);
                    phases[group][1] += u32::from(orders_storage);
                }
                let subgroup = one_subgroup.then_some(subgroup as u32);
                races.barrier(&PassedBarrier {
                    workgroup,
                    subgroup,
                    line: 1,
                    orders_workgroup,
                    orders_storage,
                });
                continue;
            }
            let place = SubgroupPlace { workgroup, subgroup: subgroup as u32 };
            let (lane, writes) = (below(8) as usize, below(3) == 0);
            let storage = number < 6;
            let space =
                if storage { Space::Buffer { group: 0, binding: 0 } } else { Space::Workgroup };
            let mut offsets = [0; 8];
            offsets[lane] = number as u32 * 4;
            races.access(&Access {
                place,
                space,
                kind: if writes { AccessKind::Store } else { AccessKind::Load },
                changes: writes,
                active: 1 << lane,
                offsets: &offsets,
                size_bytes: 4,
                part_bytes: 4,
                values: &[],
                line: number as u32 + 1,
            });
            all[number].push(Touched {
                place,
                lane: lane as u32,
                phases: phases[group],
                of_subgroup: of_subgroups[group][part],
                writes,
            });
        }
        let race = |number: usize, a: &Touched, b: &Touched| {
            let storage = number < 6;
            let same_subgroup = a.place == b.place;
            let ordered = if a.place.workgroup != b.place.workgroup {
                !storage
            } else {
                let barrier = a.phases[usize::from(storage)] != b.phases[usize::from(storage)];
                let ordered = same_subgroup && (a.lane == b.lane || a.of_subgroup != b.of_subgroup);
                barrier || ordered
            };
            (a.writes || b.writes) && !ordered
        };
        let expected: BTreeSet<u32> = (0..12)
            .filter(|&number| {
                let list = &all[number];
                (1..list.len())
                    .any(|at| list[..at].iter().any(|touch| race(number, touch, &list[at])))
            })
            .map(|number| number as u32 + 1)
            .collect();
        let found: BTreeSet<u32> = races.races().map(|race| race.second.line).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The sums of the one access on a line of the body, counted from its first.
fn sums(body: &str, line: u32) -> AccessSums {
    let traffic = watched(&shader(body), Traffic::new);
    let here = traffic.sums().accesses.iter().find(|((first, _, _), _)| *first == line + 6);
    here.unwrap().1.clone()
}

#[test]
fn sectors_passes_and_turns_are_those_of_the_model() {
    // Four subgroups of 8 lanes: a row of 32 bytes is one sector and one line.
    let row = sums("a[id.x] = 1u;", 1);
    assert_eq!((row.executions, row.lanes), (4, 32));
    assert_eq!((row.sectors, row.sectors_min, row.lines, row.lines_min), (4, 4, 4, 4));
    // 64 bytes apart: a sector each, two to a line of 128 bytes.
    let apart = sums("a[id.x * 16u] = 1u;", 1);
    assert_eq!((apart.sectors, apart.sectors_min), (32, 4));
    assert_eq!((apart.lines, apart.lines_min), (16, 4));
    // All lanes read one word: one sector, no more than needed.
    let same = sums("let v = a[group.x];\nw[i] = v;", 1);
    assert_eq!((same.sectors, same.sectors_min, same.lanes), (4, 4, 32));
    // Idle lanes leave gaps, for which the addresses are not to blame: every other lane of a row,
    let parted = sums("if (id.x & 1u) == 0u {\na[id.x] = 1u;\n}", 2);
    assert_eq!((parted.sectors, parted.sectors_min, parted.lanes), (4, 4, 16));
    // of members of a structure of 8 bytes, which alone are half of what is fetched,
    let member = sums("if (id.x & 1u) == 0u {\na[id.x * 2u] = 1u;\n}", 2);
    assert_eq!((member.sectors, member.sectors_min), (8, 4));
    // and of sectors of its own.
    let far = sums("if (id.x & 1u) == 0u {\na[id.x * 16u] = 1u;\n}", 2);
    assert_eq!((far.sectors, far.sectors_min), (16, 4));
    // What neighbouring lanes keep between them, idle ones counted; where an index jumps, nothing.
    assert_eq!(row.distances.usual(), Some(4));
    assert_eq!(apart.distances.usual(), Some(64));
    assert_eq!(same.distances.usual(), Some(0));
    assert_eq!(parted.distances.usual(), Some(4));
    assert_eq!(far.distances.usual(), Some(64));
    assert_eq!(sums("a[(id.x * id.x * 37u) % 61u] = 1u;", 1).distances.usual(), None);
    // A row of words lies in as many banks; a column of 32 words in one.
    assert_eq!((sums("w[i] = 1u;", 1).passes, sums("w[i] = 1u;", 1).passes_min), (4, 4));
    let column = sums("w[(i * 32u) % 64u + i / 8u] = 1u;", 1);
    assert_eq!((column.passes, column.passes_min), (8, 4));
    // Eight lanes on one word, and each on its own.
    assert_eq!(sums("atomicAdd(&counts[0], 1u);", 1).turns, 32);
    assert_eq!(sums("atomicAdd(&counts[i], 1u);", 1).turns, 4);
    // A load serves all lanes at once.
    let load = sums("let n = atomicLoad(&counts[0]);\nif n > 7u { atomicAdd(&counts[1], 1u); }", 1);
    assert_eq!((load.turns, load.turns_min), (0, 0));
}

#[test]
fn whole_subgroups_wait_for_the_one_with_most_to_do() {
    let body =
        "if i < 8u {\nfor (var t = 0u; t < 100u; t++) { w[i] += t; }\n}\nworkgroupBarrier();";
    let traffic = watched(&shader(body), Traffic::new);
    let WaitSums { barriers, waited, operations } = traffic.sums().waits[&(4 + 6)];
    assert_eq!(barriers, 2);
    // Both subgroups begin and test; the second then waits for the loop.
    assert!(waited * 100 > operations * 49 && waited * 2 < operations, "{waited} of {operations}");
    let even = watched(&shader("w[i] = i;\nworkgroupBarrier();"), Traffic::new);
    assert_eq!(even.sums().waits[&(2 + 6)].waited, 0);
}
