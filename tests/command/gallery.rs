//! `lanescope report --gallery`: one page of many records; `report --share`: a record without paths.

use std::path::Path;
use std::process::Command;

use lanescope::kernel::Catalogue;
use lanescope::record::{Run, Tag, TestedPart, Value};
use lanescope::store;
use lanescope::units::Width;

use crate::records;

/// The record from which the others are made: a device that was counted and timed.
const RECORD: &str = "swiftshader/five_patterns-default";

/// The five patterns on a GPU.
const NATIVE: &str = "h100-vulkan/five_patterns-default";

/// The five patterns on one driver at 8 and at 16 lanes.
const AT_8: &str = "lavapipe-8/five_patterns-default";
const AT_16: &str = "lavapipe-16/five_patterns-default";

#[expect(clippy::disallowed_methods, reason = "records that a test hands over")]
fn write(run: &Run, path: &Path) {
    std::fs::write(path, store::encode(run, path).unwrap()).unwrap();
}

/// Devices that are attested stand apart from others, and nothing of a machine gets in.
#[expect(clippy::disallowed_methods, reason = "a file that is no record")]
pub(super) fn rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut run = records::load(RECORD);
    // What a record may hold of the machine that wrote it.
    run.argv = vec!["--out".to_owned(), "/home/adalovelace/secret".to_owned()];
    run.host
        .environment
        .insert("VK_DRIVER_FILES".to_owned(), "/home/adalovelace/icd.json".to_owned());
    let mut measurement = run.measurements[0].clone();
    measurement.kernel = "/home/adalovelace/shader.wgsl".to_owned();
    run.measurements.push(measurement);
    write(&run, &at("a.json"));
    let mut other = run.clone();
    for device in other.devices.iter_mut().filter(|device| !device.is_simulator()) {
        device.name = "Another GPU".to_owned();
        device.flags.push(Tag::Unattested.into());
    }
    for copy in 0..20 {
        write(&other, &at(&format!("b-{copy}.json")));
    }
    std::fs::write(at("broken.json"), "{").unwrap();
    let out = at("out");
    let made = Command::new(env!("CARGO_BIN_EXE_lanescope"))
        .args(["report", "--gallery", "--out"])
        .arg(&out)
        .arg(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&made.stderr).into_owned();
    assert_eq!(made.status.code(), Some(5), "{told}");
    assert!(told.contains("broken.json"), "{told}");
    let page = std::fs::read_to_string(out.join("gallery.html")).unwrap();
    for private in ["/home", "adalovelace", "secret", "shader.wgsl"] {
        assert!(!page.contains(private), "{private} is on the page");
    }
    let [attested, unattested] = ["<h2>Attested</h2>", "<h2>Unattested</h2>"]
        .map(|head| page.find(head).unwrap_or_else(|| panic!("no {head}")));
    assert!(attested < unattested);
    let device = run.devices.iter().find(|device| !device.is_simulator()).unwrap();
    assert!(page[attested..unattested].contains(&device.name));
    assert!(!page[attested..unattested].contains("Another GPU"));
    assert!(page[unattested..].contains("Another GPU"));
    assert!(page.contains("From 21 records"), "{page}");
}

/// A gallery does not depend on the order in which records are named, takes each launch at its largest size, and says in
/// its claims which device is unattested.
pub(super) fn order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut browser = records::load(RECORD);
    for device in browser.devices.iter_mut().filter(|device| !device.is_simulator()) {
        device.flags.push(Tag::Unattested.into());
    }
    write(&browser, &at("browser.json"));
    let native = records::load(NATIVE);
    write(&native, &at("native.json"));
    // The same device with other lanes, at a larger size in which nobody diverges.
    let mut larger = native.clone();
    for measurement in &mut larger.measurements {
        let Some(Value::Integer(n)) = measurement.parameters.get_mut("n") else { continue };
        *n *= 4;
        measurement.active_lanes_mean = measurement.subgroup_width.map(|w| f64::from(w.lanes()));
        for block in measurement.dispatches.iter_mut().flat_map(|dispatch| &mut dispatch.blocks) {
            block.lanes.0 = block.executions.0 * 32;
        }
    }
    write(&larger, &at("larger.json"));
    let page = |files: [&str; 3]| {
        let out = tempfile::tempdir().unwrap();
        let made = Command::new(env!("CARGO_BIN_EXE_lanescope"))
            .args(["report", "--gallery", "--out"])
            .arg(out.path())
            .args(files.map(at))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::fs::read_to_string(out.path().join("gallery.html")).unwrap()
    };
    let gallery = page(["browser.json", "native.json", "larger.json"]);
    assert_eq!(gallery, page(["larger.json", "native.json", "browser.json"]));
    let (lanes, _) = gallery.split_once("Patterns: time over").unwrap();
    let (_, lanes) = lanes.split_once("Patterns: lanes active, attested").unwrap();
    assert_eq!(lanes.matches("100.0 %").count(), lanes.matches(" %").count(), "{lanes}");
    let (_, claims) = gallery.split_once("Claims that differ").unwrap();
    assert!(claims.contains(", unattested)") && claims.contains(" (2 records)"), "{claims}");
}

/// A part of the self-test: at 16 lanes the loop fails.
fn self_test_part(part: &str, width: u32) -> TestedPart {
    let lanes_right = width == 8 || part != "loop";
    TestedPart {
        part: part.to_owned(),
        construct: part.to_owned(),
        executions_right: true,
        lanes_right,
    }
}

/// Makes a gallery of a folder; gives its tables as they are printed, and its page.
fn gallery_of(folder: &Path) -> (String, String) {
    let made = Command::new(env!("CARGO_BIN_EXE_lanescope"))
        .args(["report", "--gallery", "--out"])
        .arg(folder)
        .arg(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let page = std::fs::read_to_string(folder.join("gallery.html")).unwrap();
    (String::from_utf8_lossy(&made.stdout).into_owned(), page)
}

/// One device at two widths has two rows; and of records that hold the whole catalogue the five patterns
/// have all their columns, before those of others.
pub(super) fn widths_and_patterns() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    for (width, record) in [(8, AT_8), (16, AT_16)] {
        let mut run = records::load(record);
        for device in run.devices.iter_mut().filter(|device| !device.is_simulator()) {
            assert_eq!(device.subgroup_width_run, Width::new(width).ok());
            device.name = "A GPU of two widths".to_owned();
            device.self_test = ["branch", "loop"].map(|part| self_test_part(part, width)).to_vec();
        }
        // Every kernel of the catalogue, each with what was measured of a pattern; the program knows its notes.
        run.kernels.clear();
        let measured = run.measurements.clone();
        for kernel in catalogue.kernels().filter(|kernel| !kernel.id.starts_with("five_patterns/"))
        {
            let mut other = measured[0].clone();
            other.kernel.clone_from(&kernel.id);
            run.measurements.push(other);
        }
        write(&run, &folder.path().join(format!("w{width}.json")));
    }
    let (printed, page) = gallery_of(folder.path());
    for width in [8, 16] {
        let rows = page
            .matches(&format!(
                "<th scope=\"row\">A GPU of two widths (Vulkan), W\u{a0}=\u{a0}{width}</th>"
            ))
            .count();
        assert!(rows >= 2, "{rows} rows at {width} lanes: {printed}");
    }
    let table = |title: &str| {
        let begin = page.find(&format!("<h3>{title}")).unwrap_or_else(|| panic!("no {title}"));
        let end = page[begin..].find("</table>").unwrap();
        &page[begin..begin + end]
    };
    let patterns = table("Patterns: lanes active");
    for pattern in ["branch_by_lane", "branch_by_quad", "early_exit", "indirect_branch", "uniform"]
    {
        for form in ["sealed", "published"] {
            let head = format!(">{pattern} form={form}</th>");
            assert!(patterns.contains(&head), "no {head}: {patterns}");
        }
    }
    // The median of one width alone.
    let rows: Vec<&str> = patterns.split("<tr>").filter(|row| row.contains("<td")).collect();
    assert_eq!(rows.len(), 2, "{patterns}");
    // `indirect_branch`, sealed, at 8 and at 16 lanes: a median of both would be neither.
    assert!(rows[0].contains("W\u{a0}=\u{a0}8<") && rows[0].contains(">28.1 %<"), "{}", rows[0]);
    assert!(rows[1].contains("W\u{a0}=\u{a0}16<") && rows[1].contains(">25.6 %<"), "{}", rows[1]);
    assert!(!rows[0].contains(">25.6 %<") && !rows[1].contains(">28.1 %<"), "{patterns}");
    assert!(table("Grain: lanes active").contains("run_lengths"), "{page}");
    let others = table("Other launches: lanes active");
    let heads: Vec<&str> = others.split("<th").skip(2).collect();
    assert!(heads.iter().all(|head| head.split(" ").any(|word| word.contains("/"))), "{others}");
    assert!(others.contains("</th>") && page.contains("more launches, which fewer devices have"));
    let order =
        ["Devices", "Patterns: lanes", "Patterns: time", "Grain: lanes", "Other launches: lanes"];
    let places = order.map(|title| page.find(&format!("<h3>{title}")).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let devices = table("Devices");
    let passed = [">2 of 2 passed<", ">1 of 2 passed<br><small>failed: loop<"];
    assert!(passed.iter().all(|words| devices.contains(words)), "{devices}");
}

/// What a run keeps of its arguments and variables has no path; a copy to share has none at all, and is the
/// same record otherwise.
#[expect(clippy::disallowed_methods, reason = "a shader that a test hands over")]
pub(super) fn shared() {
    let folder = tempfile::Builder::new().prefix("adalovelace").tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let shader = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x % 2u == 0u { a[id.x] = id.x / 3u; } // see /usr/share/notes
        }";
    std::fs::write(at("mine.wgsl"), shader).unwrap();
    let program = || Command::new(env!("CARGO_BIN_EXE_lanescope"));
    let profiled = program()
        .args(["profile", "--device", "sim:32", "--n", "256", "--out"])
        .arg(at("out"))
        .arg(at("mine.wgsl"))
        .env("VK_DRIVER_FILES", at("icd.json"))
        .output()
        .unwrap();
    assert!(profiled.status.success(), "{}", String::from_utf8_lossy(&profiled.stderr));
    let run = store::load(&at("out")).unwrap();
    let typed = ["profile", "--device", "sim:32", "--n", "256", "--out", "out", "mine.wgsl"];
    assert_eq!(run.argv, typed);
    assert_eq!(run.host.environment["VK_DRIVER_FILES"], "icd.json");
    let share = || {
        let mut command = program();
        command.arg("report").arg(at("out")).arg("--share").arg(at("shared.json"));
        command.output().unwrap()
    };
    let told = share();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let text = std::fs::read_to_string(at("shared.json")).unwrap();
    assert!(!text.contains("adalovelace"), "{text}");
    let copy = store::load(&at("shared.json")).unwrap();
    assert_eq!(copy.sources.values().next().unwrap().text, shader);
    assert_eq!(copy.sources.values().next().unwrap().file, "mine.wgsl");
    let [mine, other] = [&run, &copy].map(|run| &run.measurements[0].dispatches[0].blocks);
    let counts = |blocks: &[lanescope::record::Block]| -> Vec<_> {
        blocks.iter().map(|block| (block.executions, block.lanes)).collect()
    };
    assert_eq!(counts(mine), counts(other));
    // A file that is there is never written over.
    assert!(!share().status.success());
    let report = program().arg("report").arg(at("shared.json")).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
}
