//! Tests of the store: round trips, refusals, and a writer that is killed again and again.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use super::*;
use crate::fixtures;
use crate::record::{
    Arm, ArmOutcome, ConstructPart, Instruction, MachineCode, ShapeCounts, Shapes, Trace,
};
use crate::units::BlockId;

/// Names the file that a child process of the kill test writes.
const VICTIM: &str = "LANESCOPE_TEST_STORE_VICTIM";

#[test]
fn what_was_added_is_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/deeper/run.json");
    let full = fixtures::run();
    let mut empty = full.clone();
    empty.devices.clear();
    empty.measurements.clear();
    empty.sources.clear();
    let mut store = Store::create(&path, &empty).expect("a writable folder");
    assert_eq!(load(&path).expect("loads"), empty);
    for device in &full.devices {
        store.append_device(device).expect("saves");
        store.append_device(device).expect("the same device again is no second one");
    }
    for (sha256, source) in &full.sources {
        store.add_source(sha256, source).expect("saves");
    }
    for measurement in &full.measurements {
        store.append(measurement).expect("saves");
    }
    store.flush().expect("saves");
    assert_eq!(load(&path).expect("loads"), full);
    assert_eq!(fs::read(&path).expect("reads"), encode(&full, &path).expect("encodes"));
    let names: Vec<_> = fs::read_dir(path.parent().expect("a parent")).expect("lists").collect();
    assert_eq!(names.len(), 1, "the hidden file is gone");
}

#[test]
fn what_is_added_soon_after_a_save_is_saved_without_another_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let run = fixtures::run();
    let mut store = Store::create(&path, &run).expect("saves");
    for _ in 0..50 {
        store.append(&run.measurements[0]).expect("saves, or will");
    }
    // A pause, on a busy machine.
    let saved = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        load(&path).expect("loads").measurements.len() == run.measurements.len() + 50
    });
    assert!(saved, "nothing was saved after the pause");
    store.append(&run.measurements[0]).expect("saves, or will");
    store.append(&run.measurements[0]).expect("saves, or will");
    drop(store);
    assert_eq!(load(&path).expect("loads").measurements.len(), run.measurements.len() + 52);
}

#[cfg(unix)]
#[test]
fn what_a_pause_ends_with_is_told_by_the_next_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    let run = fixtures::run();
    let mut store = Store::create(&inner.join("run.json"), &run).expect("saves");
    store.append(&run.measurements[0]).expect("saves");
    // Its folder is gone before what is added in the pause is saved.
    fs::remove_dir_all(&inner).expect("removes");
    let told = (0..100).any(|_| {
        let told = store.append(&run.measurements[0]).is_err();
        std::thread::sleep(std::time::Duration::from_millis(20));
        told
    });
    assert!(told);
    assert!(matches!(store.flush(), Err(StoreError::Write { .. })));
}

#[test]
fn a_value_that_json_cannot_hold_is_refused_and_the_file_stays_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let run = fixtures::run();
    let mut store = Store::create(&path, &run).expect("saves");
    let mut bad = run
        .measurements
        .iter()
        .find(|measurement| measurement.time.is_some())
        .expect("a timed one")
        .clone();
    if let Some(time) = &mut bad.time {
        time.median_ns.0 = f64::INFINITY;
    }
    assert!(matches!(store.append(&bad), Err(StoreError::NotReadable { .. })));
    store.append(&run.measurements[0]).expect("a good one still saves");
    store.flush().expect("saves");
    assert_eq!(load(&path).expect("loads").measurements.len(), run.measurements.len() + 1);
}

/// Decodes `text` as the file `bad.json` and returns the error with its causes.
fn refusal(text: &str) -> String {
    let error = decode(text.as_bytes(), Path::new("bad.json")).expect_err("refused");
    format!("{:#}", anyhow::Error::from(error))
}

#[test]
fn bad_files_are_refused_by_name_and_line() {
    let empty = tempfile::TempDir::new().unwrap();
    let told = load(empty.path()).unwrap_err();
    let source = std::error::Error::source(&told).unwrap().to_string();
    assert_eq!(source, "the folder holds none of result.json, result.json.gz, result.json.xz");
    insta::assert_snapshot!(refusal("{\"schema\": 7, \"future\": true}"), @"bad.json has results schema 7, and this lanescope reads schemas 1 and 2: use the version that wrote it");
    insta::assert_snapshot!(refusal("{\n\"schema\": 1,\n\"tool\": oops}"), @"bad.json:3:9: not a lanescope result file: expected value at line 3 column 9");
    insta::assert_snapshot!(refusal("{\"schema\": 1}"), @"bad.json:1:13: not a lanescope result file: missing field `tool` at line 1 column 13");
    insta::assert_snapshot!(refusal(""), @"bad.json:1:0: not a lanescope result file: EOF while parsing a value at line 1 column 0");
    assert!(matches!(load(Path::new("/nonexistent.json")), Err(StoreError::Read { .. })));
}

#[test]
fn an_unwritable_place_is_said_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    // A folder stands where the file should be.
    let error = Store::create(folder.path(), &fixtures::run()).expect_err("refused");
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
    assert!(error.to_string().contains(&folder.path().display().to_string()));
}

/// Appends measurements for ever, saying each on standard output once it is saved.
fn append_for_ever(path: &Path) {
    let run = fixtures::run();
    let mut store = Store::create(path, &run).expect("saves");
    for number in 1u64.. {
        let mut measurement = run.measurements[0].clone();
        measurement.seed = number;
        store.append(&measurement).expect("saves");
        store.flush().expect("saves");
        println!("saved {number}");
    }
}

#[test]
fn a_killed_writer_leaves_every_finished_measurement() {
    if let Some(path) = std::env::var_os(VICTIM) {
        append_for_ever(Path::new(&path));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let before = fixtures::run().measurements.len();
    for kill in 0..20u32 {
        let path = folder.path().join(format!("run{kill}.json"));
        let mut child = Command::new(std::env::current_exe().expect("the test's own path"))
            .args(["--exact", "--nocapture"])
            .arg("store::tests::a_killed_writer_leaves_every_finished_measurement")
            .env(VICTIM, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts itself again");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let saved = |line: std::io::Result<String>| -> Option<u64> {
            // The harness's own words may stand before the first one.
            line.ok()?.rsplit_once("saved ")?.1.parse().ok()
        };
        let mut last = lines.by_ref().find_map(saved).expect("at least one measurement");
        // Somewhere within a save, at another moment each time.
        std::thread::sleep(std::time::Duration::from_micros(u64::from(kill * 7919 % 20_000)));
        child.kill().expect("kills");
        child.wait().expect("ends");
        last = lines.filter_map(saved).last().unwrap_or(last);
        let run = load(&path).expect("a killed writer's file loads");
        let seeds: Vec<u64> =
            run.measurements[before..].iter().map(|measurement| measurement.seed).collect();
        let held = seeds.len() as u64;
        assert!(held >= last, "saved {last}, holds {held}");
        assert_eq!(seeds, (1..=held).collect::<Vec<_>>());
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test packs and damages a file of its own")]
fn a_packed_record_is_loaded_and_a_damaged_one_refused() {
    let run = fixtures::run();
    let plain = encode(&run, Path::new("run.json")).expect("encodes");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&plain).expect("packs");
    let gzip = packer.finish().expect("packs");
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).expect("a writer");
    packer.write_all(&plain).expect("packs");
    let xz = packer.finish().expect("packs");
    for (name, packed) in [("result.json.gz", gzip), ("result.json.xz", xz)] {
        assert!(packed.len() < plain.len());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::write(&path, &packed).expect("writes");
        assert_eq!(load(&path).expect("loads"), run, "{name}");
        assert_eq!(load(folder.path()).expect("loads the folder's"), run, "{name}");
        fs::write(&path, &packed[..packed.len() / 2]).expect("writes");
        assert!(matches!(load(&path), Err(StoreError::Read { .. })), "{name}");
    }
}

/// Files of results under `folder`, packed or not.
fn records(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            records(&path, found);
        } else if ENDINGS.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
}

/// Σ operations × executions and Σ operations × lanes, as the JSON of schema 1 has them.
fn operations_of_json(text: &[u8]) -> (u128, u128) {
    let json: serde_json::Value = serde_json::from_slice(text).expect("JSON");
    let blocks = json["measurements"].as_array().into_iter().flatten();
    let blocks = blocks.flat_map(|block| block["dispatches"].as_array().into_iter().flatten());
    let blocks = blocks.flat_map(|block| block["blocks"].as_array().into_iter().flatten());
    blocks.fold((0, 0), |(executed, lanes), block| {
        let figure = |key: &str| u128::from(block[key].as_u64().expect("a count"));
        let operations = figure("ops");
        (executed + operations * figure("issues"), lanes + operations * figure("lanes"))
    })
}

#[test]
fn every_committed_record_loads_with_its_own_figures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/records");
    let mut files = Vec::new();
    records(&root, &mut files);
    assert!(!files.is_empty(), "the records were not found");
    for file in files {
        let text = fs::read(&file).expect("readable");
        let plain = unpack(&text, &file).expect("unpacks").unwrap_or(text);
        let run = decode(&plain, &file).expect("loads");
        assert_eq!(run.schema, SCHEMA, "{}", file.display());
        // Large records would take minutes as untyped JSON.
        if schema(&plain, &file).expect("a number") != 1 || plain.len() > 2_000_000 {
            continue;
        }
        assert_eq!(run.counting_rule, 1, "{}", file.display());
        let blocks = run.measurements.iter().flat_map(|measurement| &measurement.dispatches);
        let sum =
            blocks.flat_map(|block| &block.blocks).fold((0, 0), |(executed, lanes), block| {
                let operations = u128::from(block.operations);
                let [e, l] = [block.executions.0, block.lanes.0].map(u128::from);
                (executed + operations * e, lanes + operations * l)
            });
        assert_eq!(sum, operations_of_json(&plain), "{}", file.display());
    }
}

#[test]
fn what_is_said_of_blocks_is_written_once_and_held_once() {
    let mut run = fixtures::run();
    let dispatch = run.measurements[0].dispatches[0].clone();
    run.measurements[0].dispatches = vec![dispatch; 12];
    let path = Path::new("run.json");
    let text = encode(&run, path).expect("encodes");
    let written: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let stored = &written["measurements"][0]["dispatches"];
    let table = stored[0]["block_table"].as_str().expect("a name");
    let row = &written["block_tables"][table][1];
    assert_eq!((&row["operations"], &row["line"]), (&4.into(), &8.into()));
    let counts = stored[11]["blocks"][1].as_object().expect("counts");
    assert_eq!(
        counts.keys().collect::<Vec<_>>(),
        ["active_lanes_mean_expected", "executions", "histogram", "lanes"]
    );
    let loaded = decode(&text, path).expect("loads");
    assert_eq!(loaded, run);
    let code = |dispatch: usize| &loaded.measurements[0].dispatches[dispatch].blocks[1].code;
    assert!(std::sync::Arc::ptr_eq(code(0), code(11)));
    // With a line for each part it is the same record.
    let spread = serde_json::to_vec_pretty(&written).expect("encodes");
    assert_eq!(decode(&spread, path).expect("loads"), run);
    // Parts that do not fit are refused by name.
    let mut torn = written.clone();
    torn["block_tables"] = serde_json::json!({});
    let refused = refusal(&torn.to_string());
    assert!(refused.starts_with("bad.json: not a whole lanescope result file: there is no block"));
    let mut short = written.clone();
    short["block_tables"][table].as_array_mut().expect("rows").pop();
    assert!(refusal(&short.to_string()).contains("counts of 3 blocks, and its block table 2 rows"));
}

#[test]
fn traces_shapes_and_machine_code_that_cannot_be_are_refused() {
    let path = Path::new("bad.json");
    let good = fixtures::run();
    let width = good.measurements[0].subgroup_width.expect("a width").lanes();
    let block = good.measurements[0].dispatches[0].blocks[0].id;
    let text = |change: &dyn Fn(&mut Measurement)| {
        let mut run = good.clone();
        change(&mut run.measurements[0]);
        String::from_utf8(encode(&run, path).expect("encodes")).expect("text")
    };
    let traced = |blocks: Vec<BlockId>, active: &str| {
        text(&|measurement| {
            let active = vec![active.to_owned()];
            let (blocks, beside, spread) = (blocks.clone(), Vec::new(), None);
            let (dispatch, workgroup, subgroup) = (0, 0, 0);
            measurement.trace =
                Some(Trace { dispatch, workgroup, subgroup, blocks, active, beside, spread });
        })
    };
    let shaped = |workgroup_size: [u32; 3], lane_operations: u64| {
        text(&|measurement| {
            let tried = ShapeCounts { workgroup_size, subgroup_operations: 2, lane_operations };
            measurement.shapes = Some(Shapes { refused: None, tried: vec![tried] });
        })
    };
    let compiled = |lanes: u64, line: u32| {
        text(&|measurement| {
            let instruction = Instruction {
                offset_bytes: 0,
                file: None,
                line: None,
                text: None,
                inst_executed: 2,
                thread_inst_executed: lanes,
                thread_inst_executed_pred_on: lanes,
            };
            let (part, outcome) = (ConstructPart::IfAccept, ArmOutcome::Kept);
            let arm = Arm { construct: 0, part, case: 0, line, operator: None, outcome };
            measurement.dispatches[0].machine_code = Some(MachineCode {
                function: "main".to_owned(),
                architecture: "gfx1030 wave32".to_owned(),
                instructions: vec![instruction],
                sha256: None,
                arms: vec![arm],
                near: Vec::new(),
            });
        })
    };
    let most = 2 * u64::from(width);
    for text in
        [traced(vec![block], "1"), shaped([32, 1, 1], most), compiled(most, 1), compiled(0, 7)]
    {
        decode(text.as_bytes(), path).expect("loads");
    }
    let beyond = format!("{:x}", 1_u128 << width);
    for (text, words) in [
        (traced(vec![BlockId(4_000_000)], "1"), "there is no block b4000000"),
        (traced(vec![block; 2], "1"), "2 blocks with lanes of 1"),
        (traced(vec![block], &beyond), "`active` has 1"),
        (traced(vec![block], "lanes"), "`active` has lanes"),
        (shaped([0, 1, 1], 1), "`workgroup_size` is [0, 1, 1]"),
        (shaped([65536; 3], 1), "invocations"),
        (shaped([32, 1, 1], most + 1), "lanes, and 2 executions have"),
        (compiled(most + 1, 1), "lanes, and 2 executions have"),
        (compiled(1, 0), "an arm of line 0"),
    ] {
        let message = refusal(&text);
        assert!(message.contains(words) && message.contains("measurement 1"), "{words}: {message}");
    }
}

#[test]
fn instructions_are_lists_in_a_file_and_older_files_have_them_one_by_one() {
    let (path, mut run) = (Path::new("bad.json"), fixtures::run());
    let instruction = |at: u32, line: Option<u32>| Instruction {
        offset_bytes: 16 * at,
        file: None,
        line,
        text: Some(format!("FADD R{at}, R1, R2")),
        inst_executed: 2,
        thread_inst_executed: 4,
        thread_inst_executed_pred_on: 3,
    };
    let instructions = vec![instruction(0, Some(7)), instruction(1, None)];
    let rows = serde_json::to_string(&instructions).expect("encodes");
    run.measurements[0].dispatches[0].machine_code = Some(MachineCode {
        function: "main".to_owned(),
        architecture: "sm_90".to_owned(),
        instructions,
        sha256: None,
        arms: Vec::new(),
        near: Vec::new(),
    });
    let text = String::from_utf8(encode(&run, path).expect("encodes")).expect("text");
    let table = concat!(
        r#"{"offset_bytes":[0,16],"line":[7,null],"text":["FADD R0, R1, R2","FADD R1, R1, R2"],"#,
        r#""inst_executed":[2,2],"thread_inst_executed":[4,4],"#,
        r#""thread_inst_executed_pred_on":[3,3]}"#,
    );
    assert!(text.contains(table), "{text}");
    assert_eq!(decode(text.as_bytes(), path).expect("loads"), run);
    let older = text.replace(table, &rows);
    assert_eq!(decode(older.as_bytes(), path).expect("loads"), run);
    for (list, short, words) in [
        ("[7,null]", "[7]", "the machine code of `main`: 2 instructions have 1 values of line"),
        ("[4,4]", "[4]", "2 instructions have 1 values of thread_inst_executed"),
        ("[0,16]", "[0,16,32]", "3 instructions have 2 values of line"),
    ] {
        let message = refusal(&text.replace(list, short));
        assert!(message.contains(words), "{message}");
    }
    let message = refusal(&text.replace("[7,null]", "[\"seven\",null]"));
    assert!(message.contains("bad.json:") && message.contains("seven"), "{message}");
}
