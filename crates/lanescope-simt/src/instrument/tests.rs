//! Tests of the pass that need no device: validity, every back-end, layout and decoding. That the
//! counts are right is shown by running them, in `tests/`.

use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

use super::*;
use crate::program::{Overrides, Parsed};
use crate::units::{Executions, Lanes};

const OPTIONS: Options = Options {
    method: CounterScheme::Executed,
    subgroup_width_max: 128,
    counter_bytes_max: 1 << 20,
    workgroups: None,
};

const METHODS: [CounterScheme; 3] =
    [CounterScheme::Executed, CounterScheme::Histogram, CounterScheme::Derived];

fn program(text: &str) -> Program {
    let parsed = Parsed::new("t.wgsl", text).unwrap();
    let entry = parsed.entry_points()[0].to_owned();
    parsed.resolve(&entry, &Overrides::new()).unwrap()
}

fn emits_everywhere(instrumented: &Instrumented) {
    let (module, info) = (instrumented.module(), instrumented.info());
    let options = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
    naga::back::spv::write_vec(module, info, &options, None).unwrap();
    let options = naga::back::msl::Options {
        lang_version: (2, 4),
        fake_missing_bindings: true,
        ..Default::default()
    };
    naga::back::msl::write_string(module, info, &options, &Default::default()).unwrap();
    let options = naga::back::hlsl::Options {
        shader_model: naga::back::hlsl::ShaderModel::V6_0,
        fake_missing_bindings: true,
        ..Default::default()
    };
    let mut text = String::new();
    let pipeline = naga::back::hlsl::PipelineOptions::default();
    naga::back::hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .unwrap();
}

const SHAPES: [&str; 6] = [
    // No built-ins at all.
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
     @compute @workgroup_size(1) fn main() { o[0] = 1u; }",
    // Built-ins in a struct, one of them the one that is needed, and a 3D workgroup.
    "struct In { @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3<u32> }
     @group(2) @binding(5) var<storage, read_write> o: array<u32>;
     @compute @workgroup_size(4, 4, 2) fn main(in: In) { o[in.i + in.w.x] = in.i; }",
    // Nested calls with results, returns inside loops.
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
     fn deep(x: u32) -> u32 { if (x > 3u) { return 1u; } return x; }
     fn outer(x: u32) -> u32 { var s = 0u; loop { s += deep(x); if (s > 9u) { return s; } if (s == 77u) { break; } }
       return 0u; }
     @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
       o[i] = outer(i); }",
    // Switch with several selectors, continue, break-if.
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
     @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
       var n = 0u;
       loop {
         switch (n % 4u) { case 0u, 1u: { n += 1u; continue; } case 2u: { n += 2u; }
           default: { n += 3u; } }
         continuing { n += 1u; break if n > 40u; }
       }
       o[i] = n; }",
    // Pointers, atomics and a barrier.
    "var<workgroup> w: array<atomic<u32>, 4>;
     @group(0) @binding(0) var<storage, read_write> o: array<u32>;
     fn bump(p: ptr<function, u32>) { *p += 1u; }
     @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
       var x = i; bump(&x); atomicAdd(&w[x % 4u], 1u); workgroupBarrier();
       o[i] = atomicLoad(&w[0]); }",
    // No bindings.
    "var<workgroup> w: u32;
     @compute @workgroup_size(64) fn main() { w = 1u; }",
];

#[test]
fn every_shape_validates_and_emits_on_every_back_end() {
    for shape in SHAPES {
        let program = program(shape);
        for method in METHODS {
            let options = Options { method, ..OPTIONS };
            emits_everywhere(&Instrumented::new(&program, &options).unwrap());
        }
    }
}

#[test]
fn the_counters_take_a_free_binding_of_a_group_in_use() {
    let binding = |text| Instrumented::new(&program(text), &OPTIONS).unwrap().counters();
    assert_eq!((binding(SHAPES[1]).group, binding(SHAPES[1]).binding), (2, 0));
    assert_eq!((binding(SHAPES[5]).group, binding(SHAPES[5]).binding), (0, 0));
    // The number after the highest may not exist.
    let gap = "@group(0) @binding(4294967295) var<storage, read_write> a: array<u32>;
        @group(0) @binding(0) var<storage, read_write> b: array<u32>;
        @group(1) @binding(1) var<storage, read_write> c: array<u32>;
        @compute @workgroup_size(1) fn main() { a[0] = b[0] + c[0]; }";
    assert_eq!((binding(gap).group, binding(gap).binding), (0, 1));
}

#[test]
fn deep_loops_get_registers_first_and_the_rest_counts_in_memory() {
    let mut arms = String::new();
    for arm in 0..REGISTER_BLOCKS_MAX {
        arms += &format!("if (i == {arm}u) {{ o[0] = {arm}u; }}\n");
    }
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
           {arms} for (var k = 0u; k < 9u; k++) {{ o[k] = k; }} }}"
    );
    let program = program(&text);
    let plan = CounterPlan::executed(&program, REGISTER_BLOCKS_MAX);
    assert!(program.blocks().len() > REGISTER_BLOCKS_MAX);
    assert_eq!(plan.vars, 2 * REGISTER_BLOCKS_MAX);
    let in_registers = |planned: &plan::Planned| {
        planned
            .before
            .iter()
            .flatten()
            .all(|act| matches!(act, plan::CounterAction::Executed { .. }))
    };
    let bodies = plan.entry_point.nested.iter().rev().find(|nested| !nested.is_empty()).unwrap();
    assert!(bodies.iter().all(in_registers), "the loop's");
    assert!(!in_registers(&plan.entry_point), "some outside it count in memory");
    emits_everywhere(&Instrumented::new(&program, &OPTIONS).unwrap());
}

#[test]
fn counters_that_do_not_fit_are_refused_with_the_limit() {
    let options = Options { counter_bytes_max: 8, ..OPTIONS };
    let error = Instrumented::new(&program(SHAPES[0]), &options).unwrap_err().to_string();
    assert!(error.contains("limit of 8"), "{error}");
}

#[test]
fn stripes_add_up_and_words_make_64_bits() {
    let words: [u32; 8] = [5, 1, 6, 0, 1, 0, 2, 3];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let options = Options { counter_bytes_max: 32, ..OPTIONS };
    let instrumented = Instrumented::new(&program(SHAPES[0]), &options).unwrap();
    assert_eq!(instrumented.counters().size, 32, "two stripes of two counters");
    let (executions, lanes) = (Executions(6 + (1 << 32)), Lanes(8 + (3 << 32)));
    assert_eq!(
        instrumented.decode(&bytes).unwrap(),
        [Count { executions, lanes, histogram: None, parts: None }]
    );

    // Two bins: executions with one lane, executions with two.
    let options = Options { method: CounterScheme::Histogram, subgroup_width_max: 2, ..options };
    let instrumented = Instrumented::new(&program(SHAPES[0]), &options).unwrap();
    assert_eq!(instrumented.counters().size, 32, "two stripes of two counters");
    let histogram = vec![executions.0, lanes.0];
    let expected = Count {
        executions: Executions(histogram[0] + histogram[1]),
        lanes: Lanes(histogram[0] + 2 * histogram[1]),
        histogram: Some(histogram),
        parts: None,
    };
    assert_eq!(instrumented.decode(&bytes).unwrap(), [expected]);
}

#[test]
fn no_subgroup_operation_is_left_and_every_back_end_writes_it() {
    for shape in SHAPES {
        let program = program(shape);
        let options =
            Options { method: CounterScheme::Estimated, subgroup_width_max: 32, ..OPTIONS };
        let instrumented = Instrumented::new(&program, &options).unwrap();
        emits_everywhere(&instrumented);
        let without = Capabilities::all()
            - Capabilities::SUBGROUP
            - Capabilities::SUBGROUP_BARRIER
            - Capabilities::SUBGROUP_VERTEX_STAGE;
        let mut validator = Validator::new(ValidationFlags::all(), without);
        validator.subgroup_stages(ShaderStages::empty());
        validator.subgroup_operations(SubgroupOperationSet::empty());
        validator.validate(instrumented.module()).unwrap();
        let executed = Instrumented::new(&program, &OPTIONS).unwrap();
        assert!(validator.validate(executed.module()).is_err(), "the check can fail");
    }
}

#[test]
fn the_table_says_of_which_words_counts_consist() {
    let options = Options { counter_bytes_max: 32, ..OPTIONS };
    let executed = Instrumented::new(&program(SHAPES[0]), &options).unwrap();
    let term = |word, bits| Term { word, factor: 1_i64 << bits };
    let Decoding { words, period, blocks } = executed.decoding();
    assert_eq!((*words, *period), (8, 4), "two stripes of two counters");
    let carried = |word| vec![term(word, 0), term(word + 1, 32)];
    let expected = BlockDecoding { executions: carried(0), lanes: carried(2), histogram: None };
    assert_eq!(*blocks, [expected]);
    for shape in SHAPES {
        for method in METHODS {
            let options = Options { method, workgroups: Some([4, 1, 1]), ..OPTIONS };
            let counted = Instrumented::new(&program(shape), &options).unwrap();
            let Decoding { words, period, blocks } = counted.decoding();
            assert_eq!(u64::from(*words) * 4, counted.counters().size);
            assert!(words.is_multiple_of(*period));
            let terms = blocks.iter().flat_map(|block| block.executions.iter().chain(&block.lanes));
            for Term { word, factor } in terms {
                assert!(word < period && factor.unsigned_abs() < 1 << 53, "{word} {factor}");
            }
        }
    }
}
