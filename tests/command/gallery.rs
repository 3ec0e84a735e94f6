//! `lanescope report --gallery`: one page of many records.

use std::path::Path;
use std::process::Command;

use lanescope::record::{Run, Tag};
use lanescope::store;

/// The record from which the others are made: a device that was counted and timed.
const RECORD: &str = "results/records/swiftshader/five_patterns-default-2026-11-21.json.xz";

#[expect(clippy::disallowed_methods, reason = "records that a test hands over")]
fn write(run: &Run, path: &Path) {
    std::fs::write(path, store::encode(run, path).unwrap()).unwrap();
}

/// Devices that are attested stand apart from others, and nothing of a machine gets in.
#[expect(clippy::disallowed_methods, reason = "a file that is no record")]
pub(super) fn rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut run = store::load(Path::new(RECORD)).unwrap();
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
