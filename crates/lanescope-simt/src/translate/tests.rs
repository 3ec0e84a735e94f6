//! What the emitted text must and must not say; `tests/cuda` compiles and runs it.

use super::*;
use crate::program::{Overrides, Parsed};

fn translated(body: &str, size: u32) -> Translated {
    translated_text(&format!(
        "enable subgroups;
        diagnostic(off, subgroup_uniformity);
        struct Item {{ at: vec3<f32>, weight: f32, tail: vec2<f32> }}
        @group(0) @binding(3) var<storage, read> items: array<Item>;
        @group(1) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size({size})
        fn main(@builtin(local_invocation_index) lane: u32) {{ {body} }}"
    ))
}

fn translated_text(text: &str) -> Translated {
    let parsed = Parsed::new("test.wgsl", text).unwrap();
    let program = parsed.resolve("main", &Overrides::new()).unwrap();
    let options = Options { checks: Checks::Unchecked, zero_memory: true };
    cuda(program.module(), program.info(), program.text(), &options).unwrap()
}

#[test]
fn without_subgroup_operations_there_is_no_mask() {
    let source = translated("if (lane > 3u) { return; } output[lane] = 1u;", 64).source;
    assert!(!source.contains("mask") && !source.contains("_sync("), "{source}");
}

#[test]
fn masks_are_of_the_branch_and_never_asked_of_the_machine() {
    let body = "if (lane % 3u == 0u) { output[lane] = subgroupAdd(lane); }";
    let source = translated(body, 64).source;
    assert!(source.contains("const u32 mask = 0xffffffffu;"), "{source}");
    assert!(source.contains("const u32 mask_ = __ballot_sync(mask, condition);"), "{source}");
    assert!(source.contains("subgroupAdd(mask_, lane)"), "{source}");
    assert!(!source.contains("__activemask"), "{source}");
}

#[test]
fn the_last_subgroup_may_be_partial() {
    let mask = |size| {
        let source = translated("output[lane] = subgroupAdd(lane);", size).source;
        let start = source.find("const u32 mask = ").unwrap() + "const u32 mask = ".len();
        source[start..].split(';').next().unwrap().to_owned()
    };
    assert_eq!(mask(96), "0xffffffffu");
    assert_eq!(mask(20), "0xfffffu");
    assert_eq!(mask(100), "threadIdx.x < 96u ? 0xffffffffu : 0xfu");
}

#[test]
fn lanes_that_leave_nobody_waiting_leave_at_once() {
    let body = "var i = 0u;
        loop {
            if (i > lane) { break; }
            i += subgroupAdd(1u);
            if (lane == 9u) { continue; }
            output[lane] = subgroupMax(i);
        }";
    let source = translated(body, 64).source;
    assert!(source.contains("leaving = CONTINUES;"), "{source}");
    assert!(!source.contains("leaving = BREAKS;"), "{source}");
}

#[test]
fn structures_have_the_layout_of_wgsl() {
    let translated = translated("output[lane] = u32(items[lane].weight);", 32);
    let source = &translated.source;
    // Twelve bytes of a vector, its weight behind it, then 32 in all.
    assert!(source.contains("vec3<f32> at;\n    f32 weight;\n    vec2<f32> tail;"), "{source}");
    assert!(source.contains("static_assert(sizeof(Item) == 32"), "{source}");
    let lengths = vec![
        Length { group: 0, binding: 3, offset: 0, stride: 32 },
        Length { group: 1, binding: 0, offset: 0, stride: 4 },
    ];
    assert_eq!(
        translated.parameters,
        [
            Parameter::Buffer { group: 0, binding: 3 },
            Parameter::Buffer { group: 1, binding: 0 },
            Parameter::Lengths(lengths),
        ]
    );
    assert_eq!((translated.block, translated.workgroup_bytes), ([32, 1, 1], 0));
}

#[test]
fn names_of_the_shader_stay_and_keywords_are_kept_away() {
    let body = "var float = lane; let total = float + 1u; output[total] = total;";
    let source = translated(body, 32).source;
    assert!(source.contains("const u32 total = _e"), "{source}");
    assert!(source.contains("    u32 float_ = 0u;"), "{source}");
    assert!(source.contains("__launch_bounds__(32) main_("), "{source}");
}

/// Uniform buffers of so many rows of 16 bytes, and a table of the shader's own.
fn with_uniform(rows: &[u32], table: u32) -> Translated {
    let mut text = format!(
        "const table = array<vec4<u32>, {table}>();
        @group(1) @binding(0) var<storage, read_write> output: array<u32>;\n"
    );
    let mut body = "output[lane] = table[lane].x;".to_owned();
    for (number, rows) in rows.iter().enumerate() {
        text += &format!(
            "@group(0) @binding({number}) var<uniform> clock{number}: array<vec4<u32>, {rows}>;\n"
        );
        body += &format!("output[lane] += clock{number}[lane].y;");
    }
    text += &format!(
        "@compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) lane: u32) {{ {body} }}"
    );
    translated_text(&text)
}

#[test]
fn uniform_buffers_lie_in_constant_memory_as_long_as_it_lasts() {
    let found = |rows: &[u32], table: u32| -> (Vec<u32>, Vec<u32>) {
        let translated = with_uniform(rows, table);
        let held = translated.constants.iter().map(|constant| constant.binding).collect();
        let bound = translated.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Buffer { group: 0, binding } => Some(*binding),
            Parameter::Buffer { .. } | Parameter::Lengths(_) | Parameter::Immediates { .. } => None,
        });
        (held, bound.collect())
    };
    // 64 KiB are 4096 rows; tables of the shader's own count too.
    assert_eq!(found(&[4092], 4), (vec![0], vec![]));
    assert_eq!(found(&[4093], 4), (vec![], vec![0]));
    assert_eq!(found(&[4092], 6), (vec![], vec![0]));
    assert_eq!(found(&[2560, 2560, 1024, 600], 4), (vec![0, 2], vec![1, 3]));
}

#[test]
fn what_lies_in_constant_memory_is_named_as_a_module_names_it() {
    let translated = with_uniform(&[3, 4096], 4);
    let source = &translated.source;
    let constants = &translated.constants;
    assert_eq!(constants.len(), 1);
    let Constant { name, group, binding, size, copies } = &constants[0];
    assert_eq!((name.as_str(), *group, *binding, *size, *copies), ("clock0_", 0, 0, 48, 1));
    assert_eq!(constants[0].symbol(), "_ZN4wgsl7clock0_E");
    let declared = "__constant__ alignas(16) array<vec4<u32>, 3u> clock0_;";
    assert!(source.contains(declared), "{source}");
    assert!(source.contains("clock0_[lane].y"), "{source}");
    assert!(source.contains("(*clock1_)[lane].y"), "{source}");
}

#[test]
fn what_is_copied_to_constant_memory_is_what_the_variable_holds() {
    for (ty, bytes) in [
        ("vec3f", 12),
        ("vec3<u32>", 12),
        ("u32", 4),
        ("vec2i", 8),
        ("mat3x3f", 48),
        ("array<vec3f, 2>", 32),
        ("S", 16),
    ] {
        let translated = translated_text(&format!(
            "struct S {{ v: vec3f }}
            @group(0) @binding(0) var<uniform> p: {ty};
            @group(0) @binding(1) var<storage, read_write> o: array<u32>;
            @compute @workgroup_size(64) fn main() {{ let q = p; o[0] = 1u; }}"
        ));
        let sizes: Vec<u32> = translated.constants.iter().map(|constant| constant.size).collect();
        assert_eq!(sizes, [bytes], "{ty}");
    }
}

#[test]
fn neighbours_are_read_from_two_copies() {
    let translated = translated_text(
        "struct Inner { first: u32, second: u32 }
        struct Params {
            n: u32, trips: u32, @align(16) inner: Inner, @align(16) pair: vec2<u32>, last: f32
        }
        @group(0) @binding(0) var<uniform> params: Params;
        @group(0) @binding(1) var<uniform> rows: array<vec4<u32>, 4>;
        @group(1) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) lane: u32) {
            let all = params;
            output[lane] = params.n + params.trips + params.inner.first + params.inner.second
                + params.pair.y + u32(params.last) + rows[lane % 4u].y + all.trips;
        }",
    );
    let source = &translated.source;
    let copies: Vec<u32> = translated.constants.iter().map(|constant| constant.copies).collect();
    assert_eq!(copies, [2, 1]);
    assert_eq!(translated.constants[0].size, 48);
    let declared = "alignas(16) Params params[2];";
    let read =
        ["params[0].n", "params[1].trips", "params[0].inner.first", "params[1].inner.second"];
    let more = ["params[0].pair.y", "params[0].last", "rows[", "all_ = params[0];"];
    for text in [declared].iter().chain(&read).chain(&more) {
        assert!(source.contains(text), "{text}: {source}");
    }
}

#[test]
fn lanes_that_cannot_part_do_not_vote() {
    let votes = |head: &str, inside: &str| {
        let body = format!(
            "var sum = 0u;
            {head} {{ {inside} sum += subgroupAdd(lane); if (sum > 900u) {{ break; }} }}
            output[lane] = sum;"
        );
        translated(&body, 64).source.matches("__ballot_sync").count()
    };
    // The one that is left is for the `break` in the middle.
    assert_eq!(votes("for (var k = 0u; k < 4u; k++)", ""), 1);
    assert_eq!(votes("for (var k = 7u; k > 2u; k -= 2u)", ""), 1);
    assert_eq!(votes("for (var k = arrayLength(&output); k > 2u; k /= 2u)", ""), 1);
    let inside = "if (k == 2u) { sum += subgroupMax(lane); }";
    assert_eq!(votes("for (var k = 0u; k < 4u; k++)", inside), 1);
    // What it begins with, a step, or a bound that differ; a change in the body; one in a branch.
    assert_eq!(votes("for (var k = lane; k < 4u; k++)", ""), 2);
    assert_eq!(votes("for (var k = 0u; k < 4u; k += lane)", ""), 2);
    assert_eq!(votes("for (var k = 0u; k < lane; k++)", ""), 2);
    assert_eq!(votes("for (var k = 0u; k < 4u; k++)", "if (lane > 3u) { k++; }"), 2);
    let turned = "var k = 0u; loop { if (k > 3u) { break; } sum += subgroupAdd(lane);
        continuing { if (lane > 3u) { k++; } } } loop";
    assert_eq!(votes(turned, "if (lane > 3u) { break; }"), 3);
}
