//! One answer whatever the machine: programs whose workgroups talk to each other.
//!
//! Input: look-back, a breadth-first search, union-find, a work queue, a spin lock, under several
//! numbers of threads. Output: the same words and the same outcome each time, with the lines that
//! depend on the schedule; and programs that only look as if they talked, which have none. The same of
//! subgroups of one workgroup that talk by atomics.

use super::*;

/// Runs under changing numbers of threads; all must agree. Gives the outcome and the output.
fn agreed(
    text: &str,
    workgroups: u32,
    output: usize,
    input: &[u32],
    schedule: Schedule,
    times: usize,
) -> (Vec<u32>, Outcome) {
    let run_on = |threads| {
        let config = Config { threads: Some(threads), schedule, ..config(8) };
        let (words, outcome, _) = run(text, [workgroups, 1, 1], output, input, &config).unwrap();
        (words, outcome)
    };
    let first = run_on(1);
    for threads in [2, 7, 1].into_iter().cycle().take(times) {
        assert_eq!(run_on(threads), first, "{threads} threads, {schedule:?}\n{text}");
    }
    first
}

/// Runs under each kind of schedule; gives what the default gave, and the outcomes of the others.
fn everywhere(
    text: &str,
    workgroups: u32,
    output: usize,
    input: &[u32],
) -> (Vec<u32>, Outcome, Vec<Outcome>) {
    let (words, outcome) = agreed(text, workgroups, output, input, Schedule::InOrder, 24);
    let others = [
        Schedule::Shuffled { seed: 1 },
        Schedule::Shuffled { seed: 2 },
        Schedule::Unfair { seed: 3 },
    ];
    let others = others.map(|schedule| agreed(text, workgroups, output, input, schedule, 6).1);
    (words, outcome, others.to_vec())
}

/// The lines of a text that hold one of these parts.
fn lines(text: &str, parts: &[&str]) -> Vec<u32> {
    let holds = |line: &str| parts.iter().any(|part| line.contains(part));
    text.lines().zip(1..).filter(|(line, _)| holds(line)).map(|(_, number)| number).collect()
}

/// The lines that depend on the schedule must be those with one of these parts.
fn check_lines(text: &str, outcome: &Outcome, parts: &[&str]) {
    let found: Vec<u32> = outcome.depends_on_schedule.iter().copied().collect();
    assert_eq!(found, lines(text, parts), "{text}");
}

/// A chained scan: each workgroup adds its part to what the workgroups before it have.
const LOOK_BACK: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read_write> states: array<atomic<u32>>;
var<workgroup> before: u32;
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    let own = group.x + 1u;
    if (i == 0u) {
        atomicStore(&states[group.x], 1u << 30u | own);
        var sum = 0u;
        var at = group.x;
        while (at > 0u) {
            let state = atomicLoad(&states[at - 1u]); // reads
            let kind = state >> 30u;
            if (kind == 0u) { continue; } // waits
            sum += state & 0xffffu;
            if (kind == 2u) { break; } // ends
            at -= 1u;
        }
        atomicStore(&states[group.x], 2u << 30u | (sum + own));
        before = sum;
    }
    workgroupBarrier();
    output[group.x * 16u + i] = before;
}";

#[test]
fn look_back_gives_one_answer() {
    let (words, outcome, others) = everywhere(LOOK_BACK, 24, 24 * 16, &[0; 24]);
    for (word, number) in words.iter().zip(0..) {
        assert_eq!(*word, (number / 16) * (number / 16 + 1) / 2);
    }
    // In order nobody waits; shuffled somebody does.
    assert!(others.iter().any(|other| other.blocks != outcome.blocks));
    for other in others.iter().chain([&outcome]) {
        check_lines(LOOK_BACK, other, &["// reads", "// waits", "// ends", "while (at > 0u)"]);
    }
}

/// One level of a search: marks the neighbours of the marked vertices.
const SEARCH: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read> edges: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x > 0u && atomicLoad(&output[id.x]) == 0u) { return; } // marked
    for (var k = 0u; k < 4u; k++) {
        let next = edges[id.x * 4u + k];
        let won = atomicCompareExchangeWeak(&output[next], 0u, id.x + 1u).exchanged; // wins
        if (won) { output[next + 512u] = 1u; } // new
    }
}";

#[test]
fn a_search_gives_one_answer() {
    let text = SEARCH.replace("output[next + 512u] = 1u", "atomicAdd(&output[next + 512u], 1u)");
    let edges: Vec<u32> =
        (0..2048_u32).map(|edge| edge.wrapping_mul(2_654_435_761) >> 23).collect();
    let (_, outcome, others) = everywhere(&text, 32, 1024, &edges);
    assert!(others.iter().any(|other| other.blocks != outcome.blocks));
    for other in others.iter().chain([&outcome]) {
        check_lines(&text, other, &["// marked", "// wins", "// new"]);
    }
}

/// Joins the trees of the two ends of each edge.
const UNION: &str = "
@group(0) @binding(0) var<storage, read_write> parents: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read> edges: array<u32>;
fn find(start: u32) -> u32 {
    var at = start;
    loop {
        let up = atomicLoad(&parents[at]); // climbs
        if (up == 0u) { break; } // root
        at = up - 1u;
    }
    return at;
}
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = edges[id.x * 2u];
    var b = edges[id.x * 2u + 1u];
    loop {
        a = find(a);
        b = find(b);
        if (a == b) { break; } // together
        let low = min(a, b);
        let high = max(a, b);
        let won = atomicCompareExchangeWeak(&parents[high], 0u, low + 1u).exchanged; // joins
        if (won) { break; } // joined
    }
}";

#[test]
fn union_find_gives_one_answer() {
    let edges: Vec<u32> = (0..512_u32).map(|edge| edge.wrapping_mul(2_654_435_761) >> 24).collect();
    let (parents, outcome, _) = everywhere(UNION, 16, 256, &edges);
    // Whoever joined them, the ends of an edge have one root.
    let root = |mut at: u32| {
        while parents[at as usize] != 0 {
            at = parents[at as usize] - 1;
        }
        at
    };
    assert!(edges.chunks_exact(2).all(|edge| root(edge[0]) == root(edge[1])));
    let parts = ["// climbs", "// root", "// together", "// joins", "// joined", "    loop {"];
    check_lines(UNION, &outcome, &parts);
}

/// Workgroups take items from a common counter until none is left.
const QUEUE: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read_write> taken: atomic<u32>;
var<workgroup> item: u32;
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    loop {
        if (i == 0u) { item = atomicAdd(&taken, 1u); } // takes
        let own = workgroupUniformLoad(&item);
        if (own >= 40u) { break; } // ends
        var turns = own * 7u % 13u;
        for (; turns > 0u; turns--) { output[own * 16u + i] += 1u; } // works
        workgroupBarrier();
    }
}";

#[test]
fn a_work_queue_gives_one_answer() {
    let (words, outcome, _) = everywhere(QUEUE, 8, 640, &[0]);
    assert!(words.iter().zip(0..).all(|(word, number)| *word == number / 16 * 7 % 13));
    check_lines(QUEUE, &outcome, &["// takes", "    loop {", "// ends", "// works"]);
}

/// Invocations of all workgroups add to one word behind a lock.
const LOCK: &str = "
@group(0) @binding(0) var<storage, read_write> output: array<u32>;
@group(0) @binding(1) var<storage, read_write> lock: atomic<u32>;
@compute @workgroup_size(16)
fn main() {
    loop {
        if (atomicExchange(&lock, 1u) == 0u) { // enters
            output[0] += 1u;
            atomicStore(&lock, 0u);
            break;
        }
    }
}";

#[test]
fn a_spin_lock_gives_one_answer() {
    let (words, outcome, _) = everywhere(LOCK, 20, 1, &[0]);
    assert_eq!(words, [320]);
    check_lines(LOCK, &outcome, &["// enters", "    loop {"]);
}

/// An entry point over two buffers; `i` is the invocation, `g` the workgroup.
fn kernel(output: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> output: array<{output}>;
         @group(0) @binding(1) var<storage, read_write> other: array<u32>;
         @compute @workgroup_size(16)
         fn main(@builtin(global_invocation_id) id: vec3<u32>,
                 @builtin(workgroup_id) group: vec3<u32>) {{
             let i = id.x; let g = group.x;
             {body}
         }}"
    )
}

#[test]
fn what_goes_on_to_a_buffer_only_changes_no_count() {
    // A ticket that is stored, a sum of floats by turns, words that several workgroups write.
    for body in [
        "output[i] = other[0]; other[0] = i;",
        "output[0] = i;",
        "other[i % 5u] = i; output[i] = other[0] + g;",
    ] {
        let text = kernel("u32", body);
        let (_, outcome, others) = everywhere(&text, 12, 192, &[0; 192]);
        check_lines(&text, &outcome, &[]);
        assert!(others.iter().all(|other| other.blocks == outcome.blocks));
    }
}

#[test]
fn apart_or_joint_workgroups_depend_on_nothing() {
    for (output, body) in [
        // Each its own words, read and written, with a branch on them.
        ("u32", "output[i] = i; if (output[i] % 3u == 0u) { output[i] += other[i]; }"),
        // Words of the same workgroup.
        ("u32", "output[i] = i; storageBarrier(); output[i] += output[g * 16u + 15u - i % 16u];"),
        // Counts that nobody reads.
        ("atomic<u32>", "atomicAdd(&output[i % 7u], i); atomicMax(&output[8], i);"),
        // Read only.
        ("u32", "if (other[0] == 7u) { output[i] = other[i % 5u]; }"),
        // A counter for each subgroup, whose old value is used.
        ("atomic<u32>", "if (atomicAdd(&output[i / 8u], 1u) > 3u) { other[i] = 1u; }"),
    ] {
        let text = kernel(output, body);
        let (_, outcome, _) = everywhere(&text, 12, 192, &[7; 192]);
        check_lines(&text, &outcome, &[]);
    }
}

/// An entry point of two subgroups a workgroup with atomics; `i` is the place in the workgroup.
fn atomics_kernel(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
         @group(0) @binding(1) var<storage, read_write> counters: array<atomic<u32>>;
         var<workgroup> a: atomic<u32>;
         var<workgroup> b: array<atomic<u32>, 16>;
         @compute @workgroup_size(16)
         fn main(@builtin(workgroup_id) group: vec3<u32>,
                 @builtin(local_invocation_index) i: u32) {{
             let g = group.x;
             let at = g * 16u + i;
             {body}
         }}"
    )
}

/// What atomics of one workgroup do, on one workgroup and on several: the lines with `// depends` must be found.
fn check_atomics(body: &str) {
    let text = atomics_kernel(body);
    for workgroups in [1, 12] {
        let (_, outcome, others) = everywhere(&text, workgroups, 192, &[0; 12]);
        for other in others.iter().chain([&outcome]) {
            check_lines(&text, other, &["// depends"]);
        }
    }
}

#[test]
fn what_subgroups_exchange_by_atomics_is_told() {
    for body in [
        // Who comes first, in either memory.
        "if (atomicAdd(&a, 1u) > 3u) { // depends
             output[at] = 1u; }",
        "if (atomicAdd(&counters[g], 1u) > 3u) { // depends
             output[at] = 1u; }",
        // A place in a list: an address.
        "let place = atomicAdd(&a, 1u); // depends
         output[g * 16u + place] = i;",
        // A flag that is looked at while another may set it.
        "if (i == 12u) { atomicStore(&a, 1u); }
         if (atomicLoad(&a) == 0u) { // depends
             output[at] = 1u; }",
        // Who came last, or first, is read behind a barrier.
        "atomicStore(&a, i);
         workgroupBarrier();
         if (atomicLoad(&a) > 7u) { // depends
             output[at] = 1u; }",
        "_ = atomicCompareExchangeWeak(&a, 0u, i + 1u);
         workgroupBarrier();
         if (atomicLoad(&a) > 8u) { // depends
             output[at] = 1u; }",
        "if (i < 8u) { atomicAdd(&a, 3u); } else { atomicMax(&a, 50u); }
         workgroupBarrier();
         if (atomicLoad(&a) > 60u) { // depends
             output[at] = 1u; }",
    ] {
        check_atomics(body);
    }
}

#[test]
fn what_subgroups_do_with_atomics_in_any_order_depends_on_nothing() {
    for body in [
        // Counted, and read behind a barrier, by a branch and as an address.
        "atomicAdd(&b[i % 3u], i);
         workgroupBarrier();
         if (atomicLoad(&b[i % 3u]) > 20u) { output[g * 16u + atomicLoad(&b[1]) % 16u] = 1u; }",
        // The old value goes on to a buffer only.
        "output[at] = atomicAdd(&a, 1u);
         workgroupBarrier();
         if (atomicLoad(&a) == 16u) { output[at] += 1u; }",
        // All store the same.
        "if (i % 3u == 0u) { atomicStore(&a, 1u); }
         workgroupBarrier();
         if (atomicLoad(&a) == 1u) { output[at] = 1u; }",
        // Each subgroup its own word.
        "if (atomicAdd(&b[i / 8u], 1u) > 3u) { output[at] = 1u; }",
        // Read, and changed behind the next barrier only.
        "for (var turn = 0u; turn < 3u; turn++) {
             atomicMax(&a, i + turn);
             workgroupBarrier();
             if (atomicLoad(&a) > 15u) { output[at] += 1u; }
             workgroupBarrier();
         }",
        // Who came last is overwritten before anybody asks.
        "atomicStore(&a, i);
         workgroupBarrier();
         if (i == 0u) { atomicStore(&a, 3u); }
         workgroupBarrier();
         if (atomicLoad(&a) == 3u) { output[at] = 1u; }",
    ] {
        check_atomics(body);
    }
}

#[test]
fn seeded_schedules_vary_the_order_of_subgroups() {
    // A flag that the last subgroup sets first thing: in order all others have looked before.
    let text = "
        @group(0) @binding(0) var<storage, read_write> output: array<u32>;
        @group(0) @binding(1) var<storage, read_write> other: array<u32>;
        var<workgroup> flag: atomic<u32>;
        @compute @workgroup_size(32)
        fn main(@builtin(local_invocation_index) i: u32) {
            if (i >= 24u) { atomicStore(&flag, 1u); }
            if (atomicLoad(&flag) == 0u) { output[i] = 1u; }
        }";
    let late = |schedule| {
        let (words, outcome) = agreed(text, 1, 32, &[0], schedule, 2);
        assert!(!outcome.depends_on_schedule.is_empty(), "{schedule:?}");
        words.iter().sum::<u32>()
    };
    assert_eq!(late(Schedule::InOrder), 24);
    let seeded: Vec<u32> = (1..=8).map(|seed| late(Schedule::Shuffled { seed })).collect();
    assert!(seeded.iter().any(|count| *count != 24), "{seeded:?}");
    assert!(seeded.windows(2).any(|pair| pair[0] != pair[1]), "{seeded:?}");
}

#[test]
fn a_workgroup_of_one_subgroup_exchanges_nothing_inside() {
    let text = atomics_kernel("if (atomicAdd(&a, 1u) > 3u) { output[at] = 1u; }");
    let (_, outcome, _) = run(&text, [3, 1, 1], 48, &[0; 12], &config(16)).unwrap();
    check_lines(&text, &outcome, &[]);
}

#[test]
fn the_first_trap_in_dispatch_order_is_told() {
    // Workgroup 3 is out of bounds after a long way, all later ones at once.
    let text = kernel(
        "u32",
        "var turns = select(1u, 20000u, g == 3u);
         for (; turns > 0u; turns--) { output[i] += 1u; }
         if (g >= 3u) { output[1000u + g] = 1u; }",
    );
    let trap = |threads| {
        let config = Config { threads: Some(threads), strict: true, ..config(8) };
        run(&text, [40, 1, 1], 640, &[0], &config).unwrap_err()
    };
    let first = trap(1);
    assert!(matches!(first, Trap::Fault { workgroup: [3, 0, 0], .. }), "{first}");
    for threads in [2, 7, 2, 7, 2, 7] {
        assert_eq!(trap(threads), first);
    }
}

#[test]
fn an_observer_sees_one_run_only() {
    use crate::simulate::{ForkObserver, Observer, SubgroupPlace};
    #[derive(Default)]
    struct Count(u64);
    impl Observer for Count {
        fn block(
            &mut self,
            _: SubgroupPlace,
            _: crate::units::BlockId,
            _: u128,
        ) -> std::ops::ControlFlow<()> {
            self.0 += 1;
            std::ops::ControlFlow::Continue(())
        }
    }
    impl ForkObserver for Count {
        fn fresh(&self) -> Self {
            Self::default()
        }
        fn merge(&mut self, other: Self) {
            self.0 += other.0;
        }
    }
    // Put back and run again where workgroups met, which the observer must not see.
    let program = program(LOCK);
    let compiled = Compiled::new(&program).unwrap();
    for threads in [1, 2, 7] {
        let mut memory = Memory::new();
        memory.bind(0, 0, &[0; 4]);
        memory.bind(0, 1, &[0; 4]);
        let config = Config { threads: Some(threads), ..config(8) };
        let mut count = Count::default();
        let outcome = compiled.run_observed([20, 1, 1], &mut memory, &config, &mut count).unwrap();
        assert_eq!(count.0, outcome.blocks.iter().map(|block| block.executions.0).sum::<u64>());
    }
}
