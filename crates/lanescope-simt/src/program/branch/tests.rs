//! Tests of blocks' flow and of the classes of conditions.

use super::*;
use crate::program::{Overrides, Parsed, Program};

fn program(text: &str) -> Program {
    Parsed::new("t.wgsl", text).unwrap().resolve("main", &Overrides::new()).unwrap()
}

/// The head of a shader whose body is one function, `main`; four lines.
const HEAD: &str = "\
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
struct Params { n: u32, m: u32 }  @group(0) @binding(2) var<uniform> params: Params;
var<private> state: u32;  var<workgroup> shared_word: u32;
";

const ARGUMENTS: &str = "@compute @workgroup_size(64) fn main(
    @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) sub: u32) {\n";

/// The class of the construct on the line with `// ?`; the last one, since `&&` makes two.
fn class(functions: &str, body: &str) -> Class {
    let text = format!("{HEAD}{functions}\n{ARGUMENTS}{body}\n out[id.x] = 1u; }}");
    let line = text.lines().position(|line| line.contains("// ?")).expect("a marked line") + 1;
    let flows = program(&text).flows();
    let all = flows.iter().flat_map(|flow| &flow.path);
    let marked = all.filter(|e| e.line as usize == line).max_by_key(|e| e.construct);
    marked.unwrap_or_else(|| panic!("no construct on line {line}:\n{text}\n{flows:#?}")).class
}

#[test]
fn conditions_are_classed_by_what_they_depend_on() {
    let cases = [
        ("if params.n > 3u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if group.x % 2u == 0u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if id.y % 2u == 0u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if arrayLength(&table) > 3u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if table[params.m] > 3u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if out[params.m] > 3u { // ?\n out[0] = 1u; }", Class::Data),
        ("if lane % 2u == 0u { // ?\n out[0] = 1u; }", Class::LaneParity),
        ("if (id.x & 3u) == 0u { // ?\n out[0] = 1u; }", Class::LaneParity),
        ("if (sub / 4u) % 2u == params.n { // ?\n out[0] = 1u; }", Class::LaneParity),
        (
            "let k = lane % 4u; switch k { // ?\n case 0u { out[0] = 1u; } default {} }",
            Class::LaneParity,
        ),
        ("if lane % params.n == 0u { // ?\n out[0] = 1u; }", Class::Invocation),
        ("if lane % 4096u == 0u { // ?\n out[0] = 1u; }", Class::Invocation),
        ("if id.x < params.n { // ?\n out[0] = 1u; }", Class::Invocation),
        ("if lane % 2u == 0u && id.x < 9u { // ?\n out[0] = 1u; }", Class::Invocation),
        ("if table[id.x] % 2u == 0u { // ?\n out[0] = 1u; }", Class::Data),
        ("if shared_word == 0u { // ?\n out[0] = 1u; }", Class::Data),
        ("if workgroupUniformLoad(&shared_word) == 0u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if subgroupAny(lane == 0u) { // ?\n out[0] = 1u; }", Class::Data),
    ];
    for (body, expected) in cases {
        assert_eq!(class("", body), expected, "{body}");
    }
}

#[test]
fn variables_take_the_class_of_what_is_stored_and_when() {
    let cases = [
        ("var x = params.n; if x > 2u { // ?\n out[0] = 1u; }", Class::Uniform),
        (
            "var x = params.n; if lane % 2u == 0u { x = 3u; }\n if x > 2u { // ?\n out[0] = 1u; }",
            Class::LaneParity,
        ),
        (
            "var x = 0u; if table[lane] > 0u { x = lane; }\n if x > 2u { // ?\n out[0] = 1u; }",
            Class::Data,
        ),
        // A lane that has returned is not seen again.
        (
            "if id.x >= params.n { return; } var x = 0u; x = params.m;\n if x > 2u { // ?\n
            out[0] = 1u; }",
            Class::Uniform,
        ),
        // A counter is uniform inside a uniform loop, and not after one that lanes leave apart.
        (
            "for (var i = 0u; i < params.n; i++) {\n if i % 2u == 0u { // ?\n out[0] = 1u; } }",
            Class::Uniform,
        ),
        (
            "var i = 0u; loop { if i >= table[lane] { break; } i++; }\n if i > 2u { // ?\n
            out[0] = 1u; }",
            Class::Data,
        ),
        (
            "var i = 0u; loop { if i >= lane % 4u { break; } i++; }\n if i > 2u { // ?\n
            out[0] = 1u; }",
            Class::LaneParity,
        ),
        (
            "var x = 0u; switch params.n { case 1u { if lane % 2u == 0u { break; } x = 1u; }
            default {} }\n if x > 0u { // ?\n out[0] = 1u; }",
            Class::LaneParity,
        ),
        (
            "var x = 0u; for (var i = 0u; i < 4u; i++) { if id.x > 9u { continue; } x += 1u; }
            \n if x > 0u { // ?\n out[0] = 1u; }",
            Class::Invocation,
        ),
        (
            "var x = array<u32, 4>(); x[lane % 4u] = 1u;\n if x[0] > 0u { // ?\n out[0] = 1u; }",
            Class::LaneParity,
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(class("", body), expected, "{body}");
    }
}

#[test]
fn classes_pass_through_calls() {
    let functions = "
        fn twice(x: u32) -> u32 { return x * 2u; }
        fn clamped(x: u32) -> u32 { if x > 9u { return 9u; } return 1u; }
        fn fill(p: ptr<function, u32>) { *p = table[3]; }
        fn put(x: u32) { if x == 0u { return; } state = 1u; }";
    let cases = [
        ("if twice(params.n) > 2u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if clamped(params.n) > 2u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("if clamped(lane % 2u) > 2u { // ?\n out[0] = 1u; }", Class::LaneParity),
        ("var x = 0u; fill(&x);\n if x > 2u { // ?\n out[0] = 1u; }", Class::Data),
        ("put(params.n);\n if state > 0u { // ?\n out[0] = 1u; }", Class::Uniform),
        ("put(table[lane]);\n if state > 0u { // ?\n out[0] = 1u; }", Class::Data),
        ("if lane < 3u { put(1u); }\n if state > 0u { // ?\n out[0] = 1u; }", Class::Invocation),
    ];
    for (body, expected) in cases {
        assert_eq!(class(functions, body), expected, "{body}");
    }
}

const NESTED: &str = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> words: array<u32, 64>;
fn helper(x: u32) -> u32 {
    if x == 7u { return 1u; }
    return x;
}
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    words[lane] = out[lane];
    workgroupBarrier();
    var v = words[63u - lane];
    if v > 100u {
        return;
    }
    for (var i = 0u; i < v; i++) {
        if i % 2u == 0u {
            v -= helper(i);
        } else if v == 3u {
            continue;
        }
        switch v % 4u {
            case 0u: { break; }
            case 1u, 2u: { v += 1u; }
            default: { v += 2u; }
        }
    }
    out[lane] = v;
}
";

#[test]
fn a_branch_stands_on_the_line_of_its_keyword() {
    let body = "let low = table[lane] > 3u;
let high = table[lane] > 9u;
if high {
out[0] = 1u;
} else if low {
out[1] = 1u;
}
let which = table[lane] % 4u;
switch which {
case 0u: { out[2] = 1u; }
default: {}
}
while table[
lane] > 7u { out[3] = 1u; }
let both = lane > 3u && table[lane] > 5u;
if low
&& high { out[4] = 1u; }
";
    let program = program(&format!("{HEAD}{ARGUMENTS}{body}}}"));
    let first = HEAD.lines().count() + ARGUMENTS.lines().count();
    let found: Vec<(BranchPart, usize)> = program
        .flows()
        .iter()
        .filter_map(|flow| flow.path.last().map(|at| (at.part, at.line as usize - first)))
        .collect();
    let part = |part| found.iter().filter(|at| at.0 == part).map(|at| at.1).collect::<Vec<_>>();
    // What `&&` asks is no branch that somebody wrote: it stands where its condition does.
    assert_eq!(part(BranchPart::IfAccept), [3, 5, 15, 16, 16], "{found:?}");
    assert_eq!(part(BranchPart::SwitchCase(0)), [9], "{found:?}");
    assert_eq!(part(BranchPart::LoopBody)[0], 13, "{found:?}");
}

#[test]
fn a_short_circuit_is_no_if_that_somebody_wrote() {
    let functions = "fn both(a: bool, b: bool) -> bool { return a && b; }";
    let body = "let a = table[lane] > 3u;
        let b = a || table[lane + 1u] > 4u;
        if both(a, b) { out[id.x] = 1u; } else { out[id.x] = 2u; }
        var answer = false;
        if a { answer = b; } else { answer = false; }";
    let program = program(&format!("{HEAD}{functions}\n{ARGUMENTS}{body}}}"));
    let flows = program.flows();
    let mut found: Vec<(u32, Option<ShortCircuit>)> = flows
        .iter()
        .flat_map(|flow| &flow.path)
        .map(|enclosure| (enclosure.construct, enclosure.operator))
        .collect();
    found.dedup();
    found.sort_by_key(|(construct, _)| *construct);
    found.dedup();
    let operators: Vec<_> = found.into_iter().map(|(_, operator)| operator).collect();
    let expected = [Some(ShortCircuit::And), Some(ShortCircuit::Or), None, None];
    assert_eq!(operators, expected);
}

#[test]
fn blocks_know_whether_they_write_what_others_see() {
    let functions = "fn put(place: ptr<function, array<u32, 4>>) { (*place)[1] = 3u; }
        @group(0) @binding(3) var<storage, read_write> all: atomic<u32>;";
    for (statement, writes) in [
        ("out[id.x] = 1u;", true),
        ("shared_word = 1u;", true),
        ("atomicAdd(&all, 1u);", true),
        ("state = table[lane];", false),
        ("var own: array<u32, 4>; own[lane % 4u] = 1u;", false),
        ("var own: array<u32, 4>; put(&own);", false),
    ] {
        let program = program(&format!("{HEAD}{functions}\n{ARGUMENTS} {statement} }}"));
        let found = program.flows().iter().any(|flow| flow.writes);
        assert_eq!(found, writes, "{statement}");
    }
}

#[test]
fn blocks_know_why_they_are_entered() {
    let program = program(NESTED);
    let shown: Vec<String> = program
        .blocks()
        .iter()
        .zip(program.flows())
        .map(|(block, flow)| {
            let path: Vec<String> = flow
                .path
                .iter()
                .map(|e| {
                    let parent = e.parent.map_or("-".to_owned(), |parent| parent.to_string());
                    format!("{}:{:?}@{} {:?} from {parent}", e.construct, e.part, e.line, e.class)
                })
                .collect();
            format!(
                "{} {}:{} after {:?} leaves {:?} barrier {} calls {:?} [{}]",
                block.id,
                block.function,
                block.location.line,
                flow.after,
                flow.leaves,
                flow.barrier,
                flow.calls,
                path.join(", ")
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn conditions_outside_a_variables_life_do_not_count() {
    let cases = [
        // The counter of a loop in an arm.
        (
            "if lane < 3u { for (var k = 0u; k < params.n; k++) { // ?\n out[k] = 1u; } }",
            Class::Uniform,
        ),
        (
            "if lane < 3u { var k = 0u; loop { if k > 9u { break; } // ?\n out[k] = 1u; k += 2u; } }",
            Class::Uniform,
        ),
        // In a loop that lanes leave one by one, but begun anew in each iteration.
        (
            "for (var i = 0u; i < table[lane]; i++) { for (var k = 0u; k < 9u; k++) { // ?\n
             out[k] = 1u; } }",
            Class::Uniform,
        ),
        // Not begun anew.
        (
            "var k = 0u; for (var i = 0u; i < table[lane]; i++) {
             if table[i] == lane { k += 1u; if k > 3u { // ?\n out[0] = 1u; } } }",
            Class::Data,
        ),
        // It lives in the arm, but in a loop, where it keeps what it had.
        (
            "var k = 0u; for (var i = 0u; i < 9u; i++) {
             if table[i + lane] == lane { if k > 3u { // ?\n out[0] = 1u; } k = i; } }",
            Class::Data,
        ),
        // Who continues brings along what it had.
        (
            "loop { // ?\n var k = 0u; if table[lane] > out[0] { continue; } k = 5u; out[0] += 1u;
             continuing { break if k > 3u; } }",
            Class::Data,
        ),
        // Seen from outside the arm.
        (
            "var k = 0u; if lane < 3u { k = 1u; } if k > 0u { // ?\n out[0] = 1u; }",
            Class::Invocation,
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(class("", body), expected, "{body}");
    }
}
