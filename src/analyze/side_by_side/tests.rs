//! Tests: each rule's hit and near miss, and what a table says of what is missing.

use std::sync::Arc;

use super::changes::changes;
use super::*;
use crate::fixtures;
use crate::record::{
    Block, BlockCode, ConditionClass, ConstructPart, Counter, DeviceKind, Dispatch, Enclosure,
    Flow, Instruction, KernelNote, MachineCode, PublishedFigure,
};
use crate::units::{BlockId, Executions, Lanes};

/// Executions of the block under test.
const EXECUTIONS: u64 = 1000;

/// A block of one multiply-add on line 8 within `part`, `lanes` of 32 in each execution.
fn block(part: ConstructPart, lanes: u64) -> Block {
    let around = Enclosure {
        construct: 0,
        part,
        case: 0,
        line: 7,
        condition: ConditionClass::Data,
        parent: None,
        operator: None,
    };
    let flow = Flow {
        function: "main".to_owned(),
        path: vec![around],
        path_shared: 0,
        after: None,
        leaves: None,
        barrier: false,
        writes: false,
        call_lines: Vec::new(),
        calls: Vec::new(),
    };
    let code = BlockCode {
        id: BlockId(1),
        label: None,
        file: "t.wgsl".to_owned(),
        line: 8,
        column: 5,
        operations: 2,
        fma_operations: Some(1),
        lines: [(8, 2)].into(),
        flow: Some(flow),
    };
    Block {
        code: Arc::new(code),
        executions: Executions(EXECUTIONS),
        lanes: Lanes(EXECUTIONS * lanes),
        histogram: None,
        parts: None,
        active_lanes_mean_expected: None,
    }
}

/// An instruction on a line: executions, and lanes that executed and were on in each.
fn instruction(line: u32, executed: u64, lanes: f64, on: f64) -> Instruction {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "made-up figures"
    )]
    let times = |lanes: f64| (executed as f64 * lanes).round() as u64;
    Instruction {
        offset_bytes: 0,
        file: Some("t.wgsl".to_owned()),
        line: Some(line),
        text: None,
        inst_executed: executed,
        thread_inst_executed: times(lanes),
        thread_inst_executed_pred_on: times(on),
    }
}

fn dispatch(blocks: Vec<Block>, instructions: Vec<Instruction>) -> Dispatch {
    let function = "main".to_owned();
    Dispatch {
        entry_point: function.clone(),
        workgroups: None,
        workgroup_size: [64, 1, 1],
        blocks,
        calls: Vec::new(),
        line_counts: Vec::new(),
        median_ns: None,
        ci95_ns: None,
        setup: false,
        machine_code: Some(MachineCode {
            function,
            architecture: "sm_90".to_owned(),
            instructions,
            sha256: None,
            arms: Vec::new(),
            near: Vec::new(),
        }),
    }
}

/// What is said of one block and its instructions.
fn change_texts(block: Block, instructions: Vec<Instruction>) -> Vec<String> {
    let found = changes(&dispatch(vec![block], instructions), 32.0);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_branch_that_became_a_select_or_predication_is_told_from_one_that_is_there() {
    let arm = || block(ConstructPart::IfAccept, 16);
    let with =
        |lanes: f64, on: f64| change_texts(arm(), vec![instruction(8, EXECUTIONS, lanes, on)]);
    assert_eq!(with(32.0, 32.0), ["branch became a select (line 8)"]);
    assert_eq!(with(32.0, 16.0), ["branch became predication (line 8)"]);
    // The branch is there: half of the lanes execute, and all of those are on.
    assert!(with(16.0, 16.0).is_empty());
    // Nearly all is not all: lanes of some subgroups stayed away.
    assert!(with(30.0, 30.0).is_empty());
    assert_eq!(with(31.5, 31.5), ["branch became a select (line 8)"]);
    // An arm that all lanes enter has nothing to become.
    assert!(
        change_texts(
            block(ConstructPart::IfAccept, 32),
            vec![instruction(8, EXECUTIONS, 32.0, 32.0)]
        )
        .is_empty()
    );
    // Outside of branches all lanes are there by right.
    let body = block(ConstructPart::LoopBody, 16);
    assert!(change_texts(body, vec![instruction(8, EXECUTIONS, 32.0, 32.0)]).is_empty());
}

#[test]
fn copies_of_a_loops_body_are_counted_where_their_number_is_whole() {
    let with = |copies: usize, executed: u64| {
        let each = vec![instruction(8, executed, 32.0, 32.0); copies];
        change_texts(block(ConstructPart::LoopBody, 32), each)
    };
    let copies = ["code in copies, each run once in 4 executions at most (line 8)"];
    assert_eq!(with(4, EXECUTIONS / 4), copies);
    // No copies: one instruction, as often as the source.
    assert!(with(1, EXECUTIONS).is_empty());
    // Two and a half copies are none.
    assert!(with(3, EXECUTIONS * 2 / 5).is_empty());
    // A remainder, executed more seldom, changes nothing: the most executed counts.
    let mut each = vec![instruction(8, EXECUTIONS / 4, 32.0, 32.0); 4];
    each.push(instruction(8, 1, 32.0, 32.0));
    assert_eq!(change_texts(block(ConstructPart::LoopBody, 32), each), copies);
    // In a branch without a loop, copies are something else.
    let arm = block(ConstructPart::IfAccept, 32);
    assert!(change_texts(arm, vec![instruction(8, EXECUTIONS / 4, 32.0, 32.0); 4]).is_empty());
}

#[test]
fn fewer_instructions_than_arithmetic_is_folding_and_none_is_removal() {
    let with = |executed: u64, line: u32| {
        change_texts(
            block(ConstructPart::IfReject, 32),
            vec![instruction(line, executed, 32.0, 32.0)],
        )
    };
    assert_eq!(with(EXECUTIONS / 2, 8), ["arithmetic folded (line 8)"]);
    assert!(with(EXECUTIONS * 95 / 100, 8).is_empty());
    assert_eq!(with(EXECUTIONS, 9), ["work removed (line 8)"]);
    // A line that adds and multiplies nothing may go anywhere.
    let mut moved = block(ConstructPart::IfReject, 32);
    Arc::make_mut(&mut moved.code).fma_operations = Some(0);
    assert!(change_texts(moved, vec![instruction(9, EXECUTIONS, 32.0, 32.0)]).is_empty());
    // What never ran in the source leaves nothing behind.
    let idle =
        Block { executions: Executions(0), lanes: Lanes(0), ..block(ConstructPart::IfReject, 32) };
    assert!(change_texts(idle, vec![instruction(9, EXECUTIONS, 32.0, 32.0)]).is_empty());
}

#[test]
fn a_line_of_two_blocks_and_code_without_counts_say_nothing() {
    let twice = vec![block(ConstructPart::IfAccept, 16), block(ConstructPart::IfReject, 16)];
    let full = vec![instruction(8, EXECUTIONS, 32.0, 32.0)];
    assert!(changes(&dispatch(twice, full), 32.0).is_empty());
    let bare = Dispatch {
        machine_code: None,
        ..dispatch(vec![block(ConstructPart::IfAccept, 16)], vec![])
    };
    assert!(changes(&bare, 32.0).is_empty());
}

/// The synthetic run with its GPU once more through CUDA.
fn run() -> Run {
    let mut run = fixtures::run();
    run.measurements.retain(|measurement| measurement.status == Status::Ok);
    // The simulator at the GPU's size.
    for measurement in run.measurements.iter_mut().filter(|m| m.device == "sim:32") {
        measurement.parameters.insert("n".to_owned(), Value::Integer(1 << 20));
    }
    let gpu = run.devices.iter().find(|d| d.kind == DeviceKind::Wgpu && !d.cpu_driver).unwrap();
    let id = gpu.id.clone();
    let mut cuda = gpu.clone();
    (cuda.id, cuda.kind, cuda.backend) =
        ("cuda:0".to_owned(), DeviceKind::Cuda, crate::record::Backend::Cuda);
    run.devices.push(cuda);
    let measurement = run.measurements.iter().filter(|m| m.device == id).cloned();
    let more: Vec<Measurement> =
        measurement.map(|m| Measurement { device: "cuda:0".to_owned(), ..m }).collect();
    run.measurements.extend(more);
    run
}

/// CUDA's measurement of a kernel in the form that is sealed.
fn sealed_measurement<'a>(run: &'a mut Run, name: &str) -> &'a mut Measurement {
    let sealed = |m: &&mut Measurement| {
        m.device == "cuda:0"
            && m.kernel == format!("five_patterns/{name}")
            && m.parameters.get(FORM).is_some_and(|form| form.to_string() == "sealed")
    };
    run.measurements.iter_mut().find(sealed).unwrap()
}

fn row_of<'a>(tables: &'a [SideBySide], name: &str) -> &'a SideRow {
    let table = tables.iter().find(|table| table.form.as_deref() == Some("sealed")).unwrap();
    table.rows.iter().find(|row| short_name(&row.kernel) == name).unwrap()
}

#[test]
fn every_instrument_has_its_column_and_what_is_missing_its_reason() {
    let mut run = run();
    let measurement = sealed_measurement(&mut run, "uniform");
    let counter = |name: &str, value: f64| Counter {
        name: name.to_owned(),
        value,
        unit: String::new(),
        description: String::new(),
    };
    measurement.counters = vec![
        counter("smsp__sass_inst_executed", 100.0),
        counter("smsp__sass_thread_inst_executed", 3200.0),
        counter("smsp__sass_thread_inst_executed_pred_on", 3000.0),
    ];
    sealed_measurement(&mut run, "early_exit").counters_missing =
        vec!["there is no CUPTI".to_owned()];
    sealed_measurement(&mut run, "early_exit").time = None;
    let tables = side_by_side(&run);
    assert_eq!(tables.len(), 2, "sealed and published");
    let uniform = row_of(&tables, "uniform");
    assert_eq!((uniform.threads.clone(), uniform.threads_on.clone()), (Ok(32.0), Ok(30.0)));
    assert!(uniform.simulated.is_ok() && uniform.counted_other.is_ok());
    assert_eq!(uniform.times_ratio(), Some(1.0));
    assert_eq!(uniform.missing(), []);
    let early = row_of(&tables, "early_exit");
    let counters = Missing::Counters("there is no CUPTI".to_owned());
    let time = Missing::NotMeasured("it was not timed");
    assert_eq!(early.missing(), [("hardware counters", &counters), ("time through CUDA", &time)]);
    assert_eq!((early.times_ratio(), early.threads_least), (None, None));
    let table = tables.iter().find(|table| table.form.as_deref() == Some("sealed")).unwrap();
    let asked = "hardware counters: nobody asked for them (branch_by_lane, \
                 branch_by_quad, indirect_branch)";
    assert!(table.reasons().iter().any(|reason| reason == asked), "{:?}", table.reasons());
    // Whom nobody asked has no column, and so no reason beneath the table; of one that ran some launches it is said.
    let told = |tables: &[SideBySide]| {
        let all = tables.iter().flat_map(SideBySide::reasons);
        all.filter(|reason| reason.starts_with("simulator: ")).collect::<Vec<String>>()
    };
    assert_eq!(told(&tables), Vec::<String>::new());
    let simulated = |m: &Measurement| m.device.starts_with("sim:");
    let mut fewer = run.clone();
    fewer.measurements.retain(|m| !(simulated(m) && m.kernel.ends_with("/early_exit")));
    let expected = "simulator: the simulator at 32 did not take part (early_exit)";
    let found = told(&side_by_side(&fewer));
    assert!(!found.is_empty() && found.iter().all(|reason| reason == expected), "{found:?}");
    fewer.measurements.retain(|m| !simulated(m));
    assert_eq!(told(&side_by_side(&fewer)), Vec::<String>::new());
    // Without CUDA there is nothing to set side by side.
    assert_eq!(side_by_side(&fixtures::run()), []);
}

#[test]
fn instructions_give_the_means_where_there_are_no_sums_and_times_have_a_ratio() {
    let mut run = run();
    let measurement = sealed_measurement(&mut run, "indirect_branch");
    let instructions = vec![instruction(8, 10, 8.0, 8.0), instruction(6, 10, 32.0, 32.0)];
    measurement.dispatches = vec![dispatch(measurement.dispatches[0].blocks.clone(), instructions)];
    if let Some(time) = &mut measurement.time {
        time.median_ns.0 *= 1.2;
    }
    let mut tables = |figure: f64| {
        let published = Some(PublishedFigure {
            active_lanes_mean: figure,
            hardware: "RTX 3090".to_owned(),
            subgroup_width: None,
        });
        let note = KernelNote { published, ..KernelNote::default() };
        run.kernels = [("five_patterns/indirect_branch".to_owned(), note)].into();
        side_by_side(&run)
    };
    let found = tables(1.5);
    let row = row_of(&found, "indirect_branch");
    assert_eq!((row.threads.clone(), row.threads_least), (Ok(20.0), Some(8.0)));
    assert!((row.times_ratio().unwrap() - 1.2).abs() < 1e-9);
    let impossible =
        |row: &SideRow| row.differences.iter().any(|difference| difference.contains("no average"));
    assert!(impossible(row), "{:?}", row.differences);
    // A figure between the least and the most may be an average.
    let found = tables(8.2);
    assert!(!impossible(row_of(&found, "indirect_branch")));
}
