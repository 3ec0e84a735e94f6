//! Records that are damaged, foreign or written to do harm: `report` and `compare` say what is wrong and
//! where, write into their folder alone, and show no figure that is none.

use std::io::Write;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ended, files_in, run};
use crate::support::program;

/// Every check.
pub(super) const CHECKS: [(&str, fn()); 5] = [
    ("a_records_names_never_become_paths_or_steer", names),
    ("a_damaged_record_is_told_where", damaged),
    ("what_does_not_end_is_not_read_without_end", endless),
    ("what_unpacks_to_much_more_is_refused", bombs),
    ("a_page_that_cannot_be_written_is_named", unwritable),
];

/// A record of two kernels on two simulators, with histograms.
pub(super) fn record(folder: &TempDir) -> Value {
    let arguments = ["five_patterns/early_exit", "five_patterns/uniform", "--quick", "--histogram"];
    let devices = ["--device", "sim:8", "--device", "sim:32", "--seeds", "1", "--out", "good"];
    let ended = run(folder, &[], &[&arguments[..], &devices].concat(), 60);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = std::fs::read(folder.path().join("good/result.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn report(folder: &TempDir, text: impl AsRef<[u8]>) -> Ended {
    let place = folder.path().join("bad");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir(&place).unwrap();
    program::write(&place.join("result.json"), text);
    run(folder, &[], &["report", "bad/result.json"], 30)
}

/// Asserts that what is in the folder `bad` is one page, the record and figures, all of them well-formed
/// as far as characters go.
fn check_written(folder: &TempDir, what: &str, before: &[std::path::PathBuf]) {
    let place = folder.path().join("bad");
    let after = files_in(folder.path());
    let new = after.iter().filter(|path| !before.contains(path));
    for path in new {
        assert!(path.starts_with(&place), "{what}: wrote {}", path.display());
        assert_eq!(path.parent(), Some(&*place), "{what}: wrote {}", path.display());
        if path.extension().is_some_and(|ending| ending != "json") {
            let text = std::fs::read_to_string(path).unwrap();
            let hidden = |c: char| lanescope::units::visible::is_hidden(c);
            assert!(!text.contains(hidden), "{what}: {} hides something", path.display());
            assert!(!text.contains("NaN") && !text.contains(">inf"), "{what}: {}", path.display());
            if path.extension().is_some_and(|ending| ending == "svg") {
                let parsed = roxmltree::Document::parse(&text);
                assert!(parsed.is_ok(), "{what}: {}: {:?}", path.display(), parsed.err());
            }
        }
    }
}

fn names() {
    let folder = TempDir::new().unwrap();
    let good = record(&folder);
    std::fs::create_dir_all(folder.path().join("victim")).unwrap();
    std::fs::create_dir_all(folder.path().join("bad/lanes-x")).unwrap();
    let before = files_in(folder.path());
    let hostile = [
        "x/../../victim/PWN/k",
        "../../victim/k",
        "/tmp/lanescope-victim/k",
        "x\\..\\..\\victim\\k",
        "a\u{0}\u{1}\u{1b}[31m\u{9b}2J\u{fffe}b/k",
        "a\u{202e}\u{2066}b\u{200f}/k",
        "<script>alert(1)</script>/k",
        "]]>&lt;\"'/k",
        "{{ 7 * 7 }}/k",
        "con/k",
        "",
        "/",
    ];
    for name in hostile.iter().map(|name| (*name).to_owned()).chain(["x".repeat(4096)]) {
        let mut run = good.clone();
        for measurement in run["measurements"].as_array_mut().unwrap() {
            measurement["kernel"] = json!(name);
            measurement["error"] = json!(name);
        }
        for device in run["devices"].as_array_mut().unwrap() {
            device["name"] = json!(name);
        }
        let shown: String = name.chars().take(40).collect();
        let ended = report(&folder, run.to_string());
        ended.sound(&shown);
        assert_eq!(ended.code, Some(0), "{shown}: {}", ended.stderr);
        check_written(&folder, &shown, &before);
        let page = std::fs::read_to_string(folder.path().join("bad/report.html")).unwrap();
        assert!(!page.contains("<script>"), "{shown}");
        let compared =
            super::run(&folder, &[], &["compare", "good/result.json", "bad/result.json"], 30);
        compared.sound(&shown);
    }
}

fn damaged() {
    let folder = TempDir::new().unwrap();
    let good = record(&folder);
    let text = good.to_string();
    let with = |path: &str, value: Value| {
        let mut run = good.clone();
        *run.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        run.to_string()
    };
    let block = "/measurements/0/dispatches/0/blocks/0";
    let cases = [
        ("cut off", text[..text.len() / 2].to_owned(), "not a lanescope result file"),
        ("a list", "[]".to_owned(), "not a lanescope result file"),
        ("other JSON", "{\"schema\": 2}".to_owned(), "missing field"),
        (
            "a name of a megabyte",
            with("/devices/0/name", json!("x".repeat(1 << 20))),
            "at most 4096",
        ),
        ("a later schema", with("/schema", json!(99)), "schema 99"),
        (
            "infinity",
            with("/measurements/0/efficiency_ratio", json!("INFINITY"))
                .replace("\"INFINITY\"", "1e999"),
            "number out of range",
        ),
        ("more lanes than there are", with(&format!("{block}/lanes"), json!(u64::MAX)), "lanes"),
        (
            "a histogram of many",
            with(&format!("{block}/histogram"), json!(vec![0; 100_000])),
            "histogram",
        ),
        (
            "an efficiency",
            with("/measurements/0/efficiency_ratio", json!(1e300)),
            "efficiency_ratio",
        ),
        ("no such device", with("/measurements/0/device", json!("sim:128")), "sim:128"),
        ("a mean", with("/measurements/0/active_lanes_mean", json!(-1e308)), "active_lanes_mean"),
    ];
    for (what, text, words) in cases {
        let ended = report(&folder, &text);
        ended.says(what, 2, words);
        assert!(ended.stderr.contains("bad/result.json"), "{what}: {}", ended.stderr);
        assert!(!folder.path().join("bad/report.html").exists(), "{what}: there is a page");
    }
}

fn endless() {
    let folder = TempDir::new().unwrap();
    if !cfg!(unix) {
        return;
    }
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Where a pipe can be nothing that is asked for, it is not waited for.
    std::fs::create_dir(folder.path().join("captured")).unwrap();
    std::fs::rename(&pipe, folder.path().join("captured/launch.toml")).unwrap();
    let ended = run(&folder, &[], &["profile", "captured", "--device", "sim:8"], 10);
    ended.says("a pipe in a captured folder", 2, "it is no regular file");
    std::fs::rename(folder.path().join("captured/launch.toml"), &pipe).unwrap();
    let environment = [("VK_DRIVER_FILES".to_owned(), pipe.display().to_string())];
    let ended = run(&folder, &environment, &["doctor"], 45);
    assert!(ended.stdout.contains("no regular file"), "{}{}", ended.stdout, ended.stderr);
    for command in [&["report"][..], &["compare", "/dev/zero"], &["profile", "--device", "sim:8"]] {
        for file in ["/dev/zero", "pipe"] {
            let ended = run(&folder, &[], &[command, &[file]].concat(), 45);
            let what = format!("{command:?} {file}");
            ended.sound(&what);
            assert_eq!(ended.code, Some(2), "{what}: {}", ended.stderr);
            let why = ["it has over", "did not end within"];
            assert!(why.iter().any(|why| ended.stderr.contains(why)), "{what}: {}", ended.stderr);
            // What is waited for is said after two seconds, and then ever less often.
            if (command[0], file) == ("report", "pipe") {
                let told =
                    ended.stderr.lines().filter(|line| line.contains("reading pipe")).count();
                assert!((1..=4).contains(&told), "{what}: {}", ended.stderr);
            }
        }
    }
}

/// Where a folder has the page's name there is a sentence, and what was there stays.
fn unwritable() {
    let folder = TempDir::new().unwrap();
    let good = record(&folder);
    program::write(&folder.path().join("r.json"), good.to_string());
    std::fs::create_dir_all(folder.path().join("o/report.html/kept")).unwrap();
    let ended = run(&folder, &[], &["report", "r.json", "--out", "o"], 30);
    ended.says("a folder in the page's place", 2, "report.html cannot be written: ");
    assert!(folder.path().join("o/report.html/kept").is_dir());
}

/// A record of half a megabyte, or less, that unpacks to three hundred.
fn bombs() {
    let folder = TempDir::new().unwrap();
    let zeros = vec![b'0'; 1 << 20];
    let write = |writer: &mut dyn Write| {
        writer.write_all(b"{\"schema\": 2, \"more\": \"").unwrap();
        (0..300).for_each(|_| writer.write_all(&zeros).unwrap());
        writer.write_all(b"\"}").unwrap();
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    write(&mut gzip);
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    write(&mut xz);
    for (name, text) in [("b.json.gz", gzip.finish().unwrap()), ("b.json.xz", xz.finish().unwrap())]
    {
        assert!(text.len() < 2 << 20, "{name}: {}", text.len());
        program::write(&folder.path().join(name), text);
        for command in [&["report", name][..], &["compare", name, name]] {
            let ended = run(&folder, &[], command, 45);
            ended.says(&format!("{command:?}"), 2, "unpacks to over 268435456 bytes");
        }
    }
}
