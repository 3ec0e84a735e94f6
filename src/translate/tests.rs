//! What the emitted text must and must not say; `tests/cuda` compiles and runs it.

use super::*;
use crate::program::{Overrides, Parsed};

fn translated(body: &str, size: u32) -> Translated {
    let text = format!(
        "enable subgroups;
        diagnostic(off, subgroup_uniformity);
        struct Item {{ at: vec3<f32>, weight: f32, tail: vec2<f32> }}
        @group(0) @binding(3) var<storage, read> items: array<Item>;
        @group(1) @binding(0) var<storage, read_write> output: array<u32>;
        @compute @workgroup_size({size})
        fn main(@builtin(local_invocation_index) lane: u32) {{ {body} }}"
    );
    let parsed = Parsed::new("test.wgsl", &text).unwrap();
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
