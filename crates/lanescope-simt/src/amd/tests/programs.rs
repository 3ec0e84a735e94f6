//! Small programs: memory, the local data share, atomics, barriers, loops, and what is refused.

use super::super::dispatch::{Ahead, Worth, run_worth};
use super::super::{
    AmdMemory, Code, CodeError, DispatchError, Facts, FloatMode, IssueKind, Outcome, Start,
    WaveLaunch, run, run_disturbed,
};

/// Loads v0·4 of buffer 0, adds the workgroup's place, stores to buffer 1.
const COPY: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0xf4080301, 0xfa000010, // s_load_dwordx4 s[12:15], s[2:3], 0x10
    0xd7460001, 0x04010a04, // v_lshl_add_u32 v1, s4, 5, v0
    0x34020282, // v_lshlrev_b32_e32 v1, 2, v1
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xe0301000, 0x80020201, // buffer_load_dword v2, v1, s[8:11], 0 offen
    0xbf8c3f70, // s_waitcnt vmcnt(0)
    0x4a040404, // v_add_nc_u32_e32 v2, s4, v2
    0xe0701000, 0x80030201, // buffer_store_dword v2, v1, s[12:15], 0 offen
    0xbf810000, // s_endpgm
];

/// Writes v0 to the local data share, waits, reads the word of lane 63 - v0, stores it.
const SHARE: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x34020082, // v_lshlrev_b32_e32 v1, 2, v0
    0xd8340000, 0x00000001, // ds_write_b32 v1, v0
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xbf8a0000, // s_barrier
    0x4c0402ff, 0x000000fc, // v_sub_nc_u32_e32 v2, 0xfc, v1
    0xd8d80000, 0x03000002, // ds_read_b32 v3, v2
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xe0701000, 0x80020301, // buffer_store_dword v3, v1, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// Every lane adds 1 to word 0 of buffer 0 and gets what was there; odd lanes store it at their
/// place behind.
const COUNT: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x7e020281, // v_mov_b32_e32 v1, 1
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xe0c84000, 0x80020100, // buffer_atomic_add v1, off, s[8:11], 0 glc
    0xbf8c3f70, // s_waitcnt vmcnt(0)
    0x36040081, // v_and_b32_e32 v2, 1, v0
    0x7daa0480, // v_cmpx_ne_u32_e32 0, v2
    0xbf880003, // s_cbranch_execz 3
    0x34060082, // v_lshlrev_b32_e32 v3, 2, v0
    0xe0701004, 0x80020103, // buffer_store_dword v1, v3, s[8:11], 0 offen offset:4
    0xbf810000, // s_endpgm
];

/// Pulls from lane v0 ^ 1, pushes to lane v0 + 1, and swaps quads; stores the three sums.
const MOVES: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x3a020081, // v_xor_b32_e32 v1, 1, v0
    0x34020282, // v_lshlrev_b32_e32 v1, 2, v1
    0xdacc0000, 0x02000001, // ds_bpermute_b32 v2, v1, v0
    0x34060082, // v_lshlrev_b32_e32 v3, 2, v0
    0xdac80004, 0x04000003, // ds_permute_b32 v4, v3, v0 offset:4
    0xd8d4801b, 0x05000000, // ds_swizzle_b32 v5, v0 offset:swizzle(QUAD_PERM,3,2,1,0)
    0xd8d4401f, 0x06000000, // ds_swizzle_b32 v6, v0 offset:swizzle(SWAP,16)
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0x340e0084, // v_lshlrev_b32_e32 v7, 4, v0
    0x7e060304, // v_mov_b32_e32 v3, v4
    0x7e080305, // v_mov_b32_e32 v4, v5
    0x7e0a0306, // v_mov_b32_e32 v5, v6
    0xe0781000, 0x80020207, // buffer_store_dwordx4 v[2:5], v7, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// Counts s5 down from 3 in a loop, and stores how often it ran.
const LOOP: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0xbe850383, // s_mov_b32 s5, 3
    0x7e020280, // v_mov_b32_e32 v1, 0
    0xbf068005, // s_cmp_eq_u32 s5, 0
    0xbf850003, // s_cbranch_scc1 3
    0x4a020281, // v_add_nc_u32_e32 v1, 1, v1
    0x80858105, // s_sub_u32 s5, s5, 1
    0xbf82fffb, // s_branch 65531
    0x34040082, // v_lshlrev_b32_e32 v2, 2, v0
    0xe0701000, 0x80020102, // buffer_store_dword v1, v2, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// In a wave of 64, moves the low half of v0 to the high half through the shared register v8.
const WIDE: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0xbe8c047e, // s_mov_b64 s[12:13], exec
    0xbefe04ff, 0xffffffff, // s_mov_b64 exec, 0xffffffff
    0x7e100300, // v_mov_b32_e32 v8, v0
    0xbefe040c, // s_mov_b64 exec, s[12:13]
    0x7e020308, // v_mov_b32_e32 v1, v8
    0x34040082, // v_lshlrev_b32_e32 v2, 2, v0
    0xe0701000, 0x80020102, // buffer_store_dword v1, v2, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// Writes the local data share at words 2·v0: every bank is wanted twice.
const CONFLICTS: &[u32] = &[
    0x34020083, // v_lshlrev_b32_e32 v1, 3, v0
    0xd8340000, 0x00000001, // ds_write_b32 v1, v0
    0xbf810000, // s_endpgm
];

/// Writes four words a lane, one behind the other: 128 words, four in each bank.
const FOUR_WORDS: &[u32] = &[
    0x34020084, // v_lshlrev_b32_e32 v1, 4, v0
    0x7e040300, // v_mov_b32_e32 v2, v0
    0x7e060300, // v_mov_b32_e32 v3, v0
    0xdb7c0000, 0x00000001, // ds_write_b128 v1, v[0:3]
    0xbf810000, // s_endpgm
];

/// Reads two words at once, bytes and halves with and without sign, and adds to words of the local
/// data share.
const SPREAD: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x34020082, // v_lshlrev_b32_e32 v1, 2, v0
    0x7e0402ff, 0x00008081, // v_mov_b32_e32 v2, 0x8081
    0xd8340000, 0x00000201, // ds_write_b32 v1, v2
    0xd8000000, 0x00000001, // ds_add_u32 v1, v0
    0xd8a00000, 0x03000001, // ds_max_rtn_u32 v3, v1, v0
    0xd8e40000, 0x04000001, // ds_read_i8 v4, v1
    0xd8f00000, 0x05000001, // ds_read_u16 v5, v1
    0xd8dc0100, 0x06000001, // ds_read2_b32 v[6:7], v1 offset0:0 offset1:1
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0x34040084, // v_lshlrev_b32_e32 v2, 4, v0
    0xe0781000, 0x80020302, // buffer_store_dwordx4 v[3:6], v2, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// Every lane adds its place in the workgroup and the workgroup's to word 0 or 1 of buffer 0.
const SUMS: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x36040081, // v_and_b32_e32 v2, 1, v0
    0x34040482, // v_lshlrev_b32_e32 v2, 2, v2
    0x4a020004, // v_add_nc_u32_e32 v1, s4, v0
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xe0c81000, 0x80020102, // buffer_atomic_add v1, v2, s[8:11], 0 offen
    0xbf810000, // s_endpgm
];

/// Workgroup g stores the word of number g and 1 to the word behind.
const CHAIN: &[u32] = &[
    0xb0038000, // s_movk_i32 s3, 0x8000
    0xf4080201, 0xfa000000, // s_load_dwordx4 s[8:11], s[2:3], null
    0x7e020204, // v_mov_b32_e32 v1, s4
    0x34020282, // v_lshlrev_b32_e32 v1, 2, v1
    0xbf8cc07f, // s_waitcnt lgkmcnt(0)
    0xe0301000, 0x80020201, // buffer_load_dword v2, v1, s[8:11], 0 offen
    0xbf8c3f70, // s_waitcnt vmcnt(0)
    0x4a040481, // v_add_nc_u32_e32 v2, 1, v2
    0xe0701004, 0x80020201, // buffer_store_dword v2, v1, s[8:11], 0 offen offset:4
    0xbf810000, // s_endpgm
];

/// Facts of a program that binds set 0 and knows its workgroup's place along x.
fn facts(wave: u32, invocations: u32) -> Facts {
    Facts {
        wave,
        vectors: 8,
        local_bytes: 256,
        scratch_bytes: 0,
        workgroup: [invocations, 1, 1],
        scalars: vec![
            Start::Unused(2),
            Start::Descriptors(0),
            Start::Unused(1),
            Start::Workgroup(0),
            Start::Unused(1),
        ],
        mode: FloatMode { flush32: true },
    }
}

/// What a program left in its buffers, and what it came to.
type Ended = (Vec<Vec<u32>>, Result<Outcome, DispatchError>);

/// Runs a program over buffers of words, on so many threads, as `how` does it.
fn execute_with(
    (workgroups, threads): (u32, Option<usize>),
    buffers: &[Vec<u32>],
    how: impl FnOnce(&WaveLaunch<'_>, &mut AmdMemory) -> Result<Outcome, DispatchError>,
) -> Ended {
    let mut memory = AmdMemory::new();
    let numbers: Vec<usize> = buffers
        .iter()
        .map(|words| memory.add(words.iter().flat_map(|word| word.to_le_bytes()).collect()))
        .collect();
    let descriptors: Vec<[u32; 4]> = numbers.iter().map(|n| memory.descriptor(*n)).collect();
    let set = memory.add_set(&descriptors);
    let launch = WaveLaunch {
        workgroups: [workgroups, 1, 1],
        sets: &[set],
        immediates: &[],
        steps_max: 10_000,
        all_steps_max: 30_000,
        threads,
    };
    let outcome = how(&launch, &mut memory);
    let words = |bytes: Vec<u8>| {
        bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    (memory.into_buffers().into_iter().map(words).collect(), outcome)
}

/// Runs a program over buffers of words.
fn execute(
    words: &[u32],
    facts: Facts,
    workgroups: u32,
    buffers: &[Vec<u32>],
) -> (Vec<Vec<u32>>, Code, Result<Outcome, DispatchError>) {
    let code = Code::new(words, facts).unwrap();
    let (buffers, outcome) =
        execute_with((workgroups, None), buffers, |launch, memory| run(&code, launch, memory));
    (buffers, code, outcome)
}

/// Runs a program in turn and on several threads, side by side from the start and from behind the first
/// turns, which must come to the same; what it comes to. `ahead` is what becomes of several threads.
fn execute_on_threads(
    words: &[u32],
    facts: Facts,
    workgroups: u32,
    buffers: &[Vec<u32>],
    ahead: Ahead,
) -> Ended {
    let code = Code::new(words, facts).unwrap();
    let in_turn = execute_with((workgroups, None), buffers, |launch, memory| {
        run_disturbed(&code, launch, memory, |_, _, _| {})
    });
    for threads in [1, 2, 7] {
        for executed in [0, 1] {
            let mut tried = None;
            let launched = (workgroups, Some(threads));
            let ended = execute_with(launched, buffers, |launch, memory| {
                let worth = Worth { executed, left: 0 };
                let (outcome, ahead) = run_worth(&code, launch, memory, worth);
                tried = Some(ahead);
                outcome
            });
            let wanted = if threads == 1 { Ahead::Untried } else { ahead };
            assert_eq!(tried, Some(wanted), "{threads} threads, behind {executed}");
            assert_eq!(ended, in_turn, "{threads} threads, behind {executed}");
        }
    }
    in_turn
}

#[test]
fn buffers_are_read_and_written_and_their_ends_are_kept() {
    let given: Vec<u32> = (0..64).map(|n| 100 + n).collect();
    // The second buffer ends inside the second workgroup.
    let (buffers, code, outcome) = execute(COPY, facts(32, 32), 2, &[given, vec![0; 40]]);
    let expected: Vec<u32> = (0..40).map(|n| 100 + n + n / 32).collect();
    assert_eq!(buffers[1], expected);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.waves, 2);
    assert_eq!(outcome.total(&code, IssueKind::Vmem).executions, 4);
    assert_eq!(outcome.total(&code, IssueKind::Vmem).accesses.outside, 24);
    assert_eq!(outcome.total(&code, IssueKind::Valu).lanes, 2 * 3 * 32);
    assert_eq!(outcome.total(&code, IssueKind::Smem).executions, 4);
    assert_eq!(outcome.instructions(), 22);
}

#[test]
fn waves_wait_for_each_other_at_a_barrier() {
    for (wave, waves) in [(32, 2), (64, 1)] {
        let (buffers, _, outcome) = execute(SHARE, facts(wave, 64), 1, &[vec![0; 64]]);
        assert_eq!(buffers[0], (0..64).rev().collect::<Vec<u32>>());
        assert_eq!(outcome.unwrap().waves, waves);
    }
}

#[test]
fn atomics_go_lane_by_lane_and_a_branch_leaves_lanes_out() {
    let (buffers, code, outcome) = execute(COUNT, facts(32, 32), 1, &[vec![0; 33]]);
    assert_eq!(buffers[0][0], 32);
    for lane in 0..32 {
        assert_eq!(buffers[0][lane + 1], if lane % 2 == 1 { lane as u32 } else { 0 });
    }
    let counts = outcome.unwrap().counts;
    let last = counts[counts.len() - 2];
    assert_eq!((last.executions, last.lanes), (1, 16));
    assert_eq!(code.instructions().len(), counts.len());
}

#[test]
fn lanes_are_moved_through_the_crossbar() {
    let (buffers, ..) = execute(MOVES, facts(32, 32), 1, &[vec![0; 128]]);
    for lane in 0..32_u32 {
        let expected = [lane ^ 1, (lane + 31) % 32, lane ^ 3, lane ^ 16];
        assert_eq!(buffers[0][lane as usize * 4..][..4], expected, "lane {lane}");
    }
}

#[test]
fn lanes_rotate_among_eight() {
    for (pattern, by) in [(0xc078, 3), (0xc478, 5)] {
        let mut words = SHARE.to_vec();
        // In place of what goes through the memory: three lanes up or down, bits 3 and 4 alike.
        words.splice(4..12, [0xd8d4_0000 | pattern, 0x0300_0000]);
        let (buffers, ..) = execute(&words, facts(32, 32), 1, &[vec![0; 32]]);
        let expected: Vec<u32> = (0..32).map(|lane| lane & 24 | (lane + by) & 7).collect();
        assert_eq!(buffers[0], expected, "{pattern:#x}");
    }
}

#[test]
fn a_loop_runs_as_often_as_its_counter_says() {
    let (buffers, code, outcome) = execute(LOOP, facts(32, 32), 1, &[vec![0; 32]]);
    assert_eq!(buffers[0], vec![3; 32]);
    // The test four times, the branch out of it four times, the branch back three times, the end.
    assert_eq!(outcome.unwrap().total(&code, IssueKind::Branch).executions, 4 + 3 + 1);
}

#[test]
fn the_halves_of_a_wide_wave_share_registers() {
    let (buffers, code, outcome) = execute(WIDE, facts(64, 64), 1, &[vec![0; 64]]);
    let expected: Vec<u32> = (0..64).map(|lane| lane % 32).collect();
    assert_eq!(buffers[0], expected);
    let valu = outcome.unwrap().total(&code, IssueKind::Valu);
    // The first of three ran with one half, and may be one pass.
    assert_eq!((valu.executions, valu.lanes), (3, 32 + 64 + 64));
    assert_eq!((valu.passes_min, valu.passes_max), (5, 6));
}

#[test]
fn words_of_one_bank_are_conflicts() {
    let (_, code, outcome) = execute(CONFLICTS, facts(32, 32), 1, &[]);
    assert_eq!(outcome.unwrap().total(&code, IssueKind::Lds).accesses.conflicts, 1);
}

#[test]
fn wide_accesses_conflict_only_where_words_meet_that_need_not() {
    let conflicts = |words: &[u32]| {
        let facts = Facts { local_bytes: 1024, ..facts(32, 32) };
        let (_, code, outcome) = execute(words, facts, 1, &[]);
        outcome.unwrap().total(&code, IssueKind::Lds).accesses.conflicts
    };
    assert_eq!(conflicts(FOUR_WORDS), 0);
    // v_lshlrev_b32_e32 v1, 5, v0: only every other four banks are wanted, for eight words each.
    let apart: Vec<u32> =
        std::iter::once(0x3402_0085).chain(FOUR_WORDS[1..].iter().copied()).collect();
    assert_eq!(conflicts(&apart), 4);
    // v_mov_b32_e32 v1, 0: all lanes want the same four words.
    let alike: Vec<u32> =
        std::iter::once(0x7e02_0280).chain(FOUR_WORDS[1..].iter().copied()).collect();
    assert_eq!(conflicts(&alike), 0);
}

#[test]
fn the_local_data_share_reads_parts_and_adds() {
    let (buffers, ..) = execute(SPREAD, facts(32, 32), 1, &[vec![0; 128]]);
    for lane in 0..32_u32 {
        let word = 0x8081 + lane;
        // What was there before the maximum, the low byte with its sign, 16 bits, the word.
        let byte = if word & 0x80 != 0 { word & 0xff | 0xffff_ff00 } else { word & 0xff };
        let expected = [word, byte, word & 0xffff, word];
        assert_eq!(buffers[0][lane as usize * 4..][..4], expected, "lane {lane}");
    }
}

#[test]
fn an_endless_loop_ends_with_an_error() {
    let words = [0xbf82_ffff, 0xbf81_0000];
    let (_, _, outcome) = execute(&words, facts(32, 32), 1, &[]);
    assert_eq!(outcome.unwrap_err(), DispatchError::Steps { limit: 10_000, workgroup: [0, 0, 0] });
    // Eight waves are over what all may execute before one is over its own limit.
    let (_, _, outcome) = execute(&words, facts(32, 32), 8, &[]);
    assert_eq!(outcome.unwrap_err(), DispatchError::AllSteps { limit: 30_000 });
}

#[test]
fn workgroups_that_never_meet_run_side_by_side() {
    // More than a page of each buffer, and its end inside the last workgroup.
    let given: Vec<u32> = (0..3_200).map(|n| 100 + n).collect();
    let buffers = [given, vec![0; 3_190]];
    let (left, outcome) = execute_on_threads(COPY, facts(32, 32), 100, &buffers, Ahead::Merged);
    assert_eq!(left[1], (0..3_190).map(|n| 100 + n + n / 32).collect::<Vec<u32>>());
    let outcome = outcome.unwrap();
    assert_eq!((outcome.waves, outcome.instructions()), (100, 1_100));
}

#[test]
fn workgroups_at_a_barrier_go_on_side_by_side() {
    let mut words = SHARE.to_vec();
    let end = words.len();
    let store = [
        0xd746_0004,
        0x0401_0c04, // v_lshl_add_u32 v4, s4, 6, v0
        0x3408_0882, // v_lshlrev_b32_e32 v4, 2, v4
        0xe070_1000,
        0x8002_0304, // buffer_store_dword v3, v4, s[8:11], 0 offen
    ];
    words.splice(end - 3..end - 1, store);
    let buffers = [vec![0; 64 * 40]];
    let (left, outcome) = execute_on_threads(&words, facts(32, 64), 40, &buffers, Ahead::Merged);
    let expected: Vec<u32> = (0..40).flat_map(|_| (0..64).rev()).collect();
    assert_eq!(left[0], expected);
    assert_eq!(outcome.unwrap().waves, 80);
}

#[test]
fn reductions_that_return_nothing_run_side_by_side() {
    let buffers = [vec![5, 0x8000_0007]];
    let (left, _) = execute_on_threads(SUMS, facts(32, 32), 100, &buffers, Ahead::Merged);
    assert_eq!(left[0], [5 + 103_200, 0x8000_0007 + 104_800]);
    let store = SUMS.iter().position(|word| *word == 0xe0c8_1000).unwrap();
    // sub, smin, umin, smax, umax, and, or, xor
    for code in [0x33, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b] {
        let mut words = SUMS.to_vec();
        words[store] = 0xe000_1000 | code << 18;
        let (_, outcome) = execute_on_threads(&words, facts(32, 32), 100, &buffers, Ahead::Merged);
        assert_eq!(outcome.unwrap().waves, 100, "{code:#x}");
    }
    // swap: the last lane's value stays.
    let mut words = SUMS.to_vec();
    words[store] = 0xe000_1000 | 0x30 << 18;
    let (left, _) = execute_on_threads(&words, facts(32, 32), 100, &buffers, Ahead::Discarded);
    assert_eq!(left[0], [99 + 30, 99 + 31]);
}

#[test]
fn workgroups_that_meet_run_in_turn() {
    let (left, outcome) =
        execute_on_threads(COUNT, facts(32, 32), 40, &[vec![0; 33]], Ahead::Discarded);
    assert_eq!(left[0][0], 40 * 32);
    assert_eq!(left[0][32], 39 * 32 + 31);
    assert_eq!(outcome.unwrap().waves, 40);
    let (left, _) = execute_on_threads(CHAIN, facts(32, 32), 40, &[vec![0; 41]], Ahead::Discarded);
    assert_eq!(left[0], (0..41).collect::<Vec<u32>>());
    // Each workgroup's last word ends in the first of the next.
    let mut words = COPY.to_vec();
    let store = words.iter().position(|word| *word == 0xe070_1000).unwrap();
    words[store] |= 2;
    let buffers = [vec![0x0102_0304; 1_300], vec![0; 1_300]];
    let (_, outcome) = execute_on_threads(&words, facts(32, 32), 40, &buffers, Ahead::Discarded);
    assert_eq!(outcome.unwrap().waves, 40);
}

#[test]
fn what_fails_side_by_side_fails_as_in_turn() {
    let mut words = COPY.to_vec();
    // s_load_dwordx4 s[16:19], s[2:3], s4: of three descriptors, so that 36 is the first to fail.
    words.splice(5..5, [0xf408_0401, 0x0800_0000]);
    let buffers = [vec![3; 1_600], vec![0; 1_600], vec![0; 4]];
    let (left, outcome) = execute_on_threads(&words, facts(32, 32), 50, &buffers, Ahead::Discarded);
    let workgroup = [36, 0, 0];
    assert!(
        matches!(outcome, Err(DispatchError::Fault { workgroup: at, .. }) if at == workgroup),
        "{outcome:?}"
    );
    assert_eq!(left[1].iter().filter(|word| **word != 0).count(), 36 * 32);
    // 3,000 workgroups of 11 instructions are over what all may execute.
    let buffers = [vec![3; 96_000], vec![0; 96_000]];
    let (left, outcome) =
        execute_on_threads(COPY, facts(32, 32), 3_000, &buffers, Ahead::Discarded);
    assert_eq!(outcome.unwrap_err(), DispatchError::AllSteps { limit: 30_000 });
    let written = left[1].iter().filter(|word| **word != 0).count();
    assert!((64_000..96_000).contains(&written), "{written}");
}

#[test]
fn what_is_not_executed_is_refused_by_name() {
    let refused = |words: &[u32], facts: Facts| Code::new(words, facts).unwrap_err().to_string();
    let plain = || facts(32, 32);
    // v_cubeid_f32 v0, v0, v0, v0
    let text = refused(&[0xd544_0000, 0x0402_0100], plain());
    assert_eq!(text, "v_cubeid_f32 at byte 0x0 is not executed: it is not known");
    // s_setreg_b32 hwreg(HW_REG_MODE), s0
    assert!(refused(&[0xb980_f801], plain()).contains("s_setreg_b32"));
    // image_load v0, v0, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D
    assert!(refused(&[0xf000_0108, 0x0000_0000], plain()).contains("MIMG"));
    // scratch_load_dword v0, v0, off
    assert!(refused(&[0xdc30_4000, 0x007d_0000], plain()).contains("SCRATCH"));
    let scratch = Facts { scratch_bytes: 16, ..plain() };
    assert_eq!(Code::new(&[0xbf81_0000], scratch).unwrap_err(), CodeError::Scratch { bytes: 16 });
    // v_mul_lo_u32 v0, v0, v0 clamp
    assert!(refused(&[0xd569_8000, 0x0002_0100], plain()).contains("with clamp"));
    // v_mov_b32_e32 v0, v9, in a wave of 32 with 8 vector registers
    assert!(refused(&[0x7e00_0309], plain()).contains("beyond the 8"));
    // v_cvt_u32_f32_e32 v64, v0, found by fuzzing
    assert!(refused(&[0x7e80_0f00], plain()).contains("beyond the 8"));
    // s_mov_b32 s0, s6, behind the last register that the start fills
    assert!(refused(&[0xbe80_0306], plain()).contains("reads s6, and nothing is known"));
    // s_branch over the end
    assert!(refused(&[0xbf82_0005], plain()).contains("leads to no instruction"));
    // The first word of two
    assert!(refused(&[0xd54b_0002], plain()).contains("ends inside"));
}
