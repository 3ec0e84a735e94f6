//! Invocations in another order: the same outputs, and counts by who shares a subgroup with whom.

use super::*;
use crate::program::Fixed;
use crate::simulate::{Arrangement, Postponed};

/// Odd invocations do something that the others do not; `output` says what each was.
const ODD: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@compute @workgroup_size(6, 2)
fn main(
    @builtin(global_invocation_id) global: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
) {
    let number = (group.y * groups.x + group.x) * 12u + index;
    var word = global.x + 100u * global.y + 10000u * local.x + 100000u * local.y + input[0];
    if (number & 1u) == 1u { // block: odd
        word += 1000000u;
    } // block: rest
    output[number] = word;
}";

/// Runs [`ODD`] in 2 × 2 workgroups of 12 invocations, subgroups of 4 lanes.
fn arranged(order: Vec<u64>, workgroup: u32, threads: usize) -> (Vec<u8>, Outcome, Program) {
    let program = program(ODD);
    let compiled = Compiled::new(&program).unwrap();
    let mut memory = Memory::new();
    memory.bind(0, 0, &[0; 48 * 4]);
    memory.bind(0, 1, &[0; 4]);
    let config = Config { threads: Some(threads), ..config(4) };
    let arrangement = Arrangement::new(order, workgroup);
    let outcome = compiled.run_arranged([2, 2, 1], &mut memory, &config, &arrangement).unwrap();
    (memory.bytes(0, 0).unwrap(), outcome, program)
}

#[test]
fn an_order_changes_neighbours_and_nothing_else() {
    let (words, outcome, program_of) = run(ODD, [2, 2, 1], 48, &[0], &config(4)).unwrap();
    let usual: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let odd = |outcome: &Outcome| counts(outcome, &program_of, "odd");
    assert_eq!(odd(&outcome), (12, 24), "half of the lanes of each subgroup");
    let by_parity: Vec<u64> = (0..48).filter(|i| i % 2 == 1).chain((0..48).step_by(2)).collect();
    for threads in [1, 3] {
        let (bytes, same, _) = arranged((0..48).collect(), 12, threads);
        assert_eq!((&bytes, &same), (&usual, &outcome), "in its own order nothing changes");
        let (bytes, sorted, _) = arranged(by_parity.clone(), 12, threads);
        assert_eq!(bytes, usual);
        assert_eq!(odd(&sorted), (6, 24), "full subgroups");
        let (bytes, backwards, _) = arranged((0..48).rev().collect(), 12, threads);
        assert_eq!((bytes, odd(&backwards)), (usual.clone(), (12, 24)));
    }
}

#[test]
fn workgroups_of_another_size_have_other_subgroups() {
    let (usual, outcome, _) = arranged((0..48).collect(), 12, 1);
    let last = outcome.blocks.last().unwrap();
    assert_eq!((last.executions.0, last.lanes.0), (12, 48));
    // 9 groups of 5, in subgroups of 4 and 1, and one of 3.
    let (bytes, outcome, _) = arranged((0..48).collect(), 5, 1);
    let last = outcome.blocks.last().unwrap();
    assert_eq!((bytes, last.executions.0, last.lanes.0), (usual, 19, 48));
}

#[test]
fn who_is_left_out_does_not_run() {
    let (bytes, outcome, _) = arranged((0..12).collect(), 12, 1);
    let last = outcome.blocks.last().unwrap();
    assert_eq!((last.executions.0, last.lanes.0), (3, 12));
    assert!(bytes[12 * 4..].iter().all(|&byte| byte == 0));
}

#[test]
fn what_ties_an_invocation_to_its_place() {
    let fixed = |body: &str, arguments: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
             var<workgroup> shared_words: array<u32, 4>;
             @compute @workgroup_size(4) fn main({arguments}) {{ {body} }}"
        );
        program(&text).find_fixed().into_iter().collect::<Vec<_>>()
    };
    let global = "@builtin(global_invocation_id) id: vec3u";
    assert_eq!(fixed("output[id.x] = 1u;", global), []);
    assert_eq!(fixed("output[id.x] = 1u; storageBarrier();", global), [Fixed::Barrier]);
    let shared = "shared_words[id.x & 3u] = 1u; workgroupBarrier();";
    assert_eq!(fixed(shared, global), [Fixed::Barrier, Fixed::WorkgroupMemory]);
    let lane = "@builtin(subgroup_invocation_id) id: u32";
    assert_eq!(fixed("output[id] = 1u;", lane), [Fixed::Subgroup]);
    assert_eq!(fixed("output[id.x] = subgroupAdd(id.x);", global), [Fixed::Subgroup]);
    let local = "@builtin(local_invocation_index) id: u32";
    assert_eq!(fixed("output[id] = 1u;", local), [Fixed::Workgroup]);
    let count = "@builtin(num_workgroups) id: vec3u";
    assert_eq!(fixed("output[id.x] = 1u;", count), [Fixed::WorkgroupCount]);
}

/// Lane l comes to the long part in the turns i with (i + l) % 4 = 0.
const TURNS: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
    var word = lane;
    for (var i = 0u; i < 8u; i++) {
        // block: turn
        word += i;
        LONG
        // block: rest
        word ^= 5u;
    }
    // block: end
    output[lane] = word;
}";

#[test]
fn lanes_that_wait_at_a_branch_take_it_together() {
    let taken = "if (i + lane) % 4u == 0u {\n// block: long\nword = word * 3u;\n}";
    let skipped = "if (i + lane) % 4u != 0u {\n// block: arm\ncontinue;\n}\n// block: long\nword = word * 3u;";
    for (long, others) in [(taken, false), (skipped, true)] {
        let text = TURNS.replace("LONG", long);
        let program = program(&text);
        let label = |name: &str| {
            let found = program.blocks().iter().find(|block| block.label.as_deref() == Some(name));
            found.unwrap_or_else(|| panic!("no block {name}")).id
        };
        let arm = label(if others { "arm" } else { "long" });
        let count = |compiled: Compiled, threads: usize| {
            let mut memory = Memory::new();
            memory.bind(0, 0, &[0; 32]);
            let config = Config { threads: Some(threads), ..config(4) };
            let outcome = compiled.run([1, 1, 1], &mut memory, &config).unwrap();
            (memory.bytes(0, 0).unwrap(), outcome)
        };
        let (bytes, usual) = count(Compiled::new(&program).unwrap(), 1);
        assert_eq!(counts(&usual, &program, "long"), (16, 16), "a lane a turn, of two subgroups");
        for threads in [1, 3] {
            let postponed = Compiled::postponing(&program, Postponed { arm, others }).unwrap();
            let (same, split) = count(postponed, threads);
            assert_eq!(same, bytes, "each lane does what it did");
            assert_eq!(counts(&split, &program, "long"), (4, 16), "all lanes twice");
            // Four turns until all have come, four more, and three until lane 0 is done.
            assert_eq!(counts(&split, &program, "turn"), (22, 64));
        }
    }
}
