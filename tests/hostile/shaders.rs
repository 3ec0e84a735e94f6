//! Shaders that are long, wide or deep, and such as hide what they say.
//!
//! What is written of each kind is at most so many times its size ([`RECORD_MAX`], [`PAGE_MAX`]).

use std::time::Duration;

use tempfile::TempDir;

use super::{Ended, input, run};
use crate::support::bounded::{files_in, finish};
use crate::support::{growth, program};

/// Every check.
pub(super) const CHECKS: &[(&str, fn())] = &[
    ("what_a_shader_hides_is_shown", hidden),
    #[cfg(target_os = "linux")]
    ("paths_may_have_any_bytes_in_any_locale", paths),
    ("records_of_large_shaders_stay_small", sizes),
    ("large_launch_files_and_records_cost_little", large),
    ("progress_says_what_goes_on_and_how_long", progress),
];

/// The most bytes of a record for each of the source.
const RECORD_MAX: u64 = 40;

/// The bytes of a record of any source, however short.
const RECORD_FIXED: u64 = 64 << 10;

/// The most bytes of a page and its figures for each of the record.
const PAGE_MAX: u64 = 10;

fn profile(folder: &TempDir, text: &str, out: &str) -> Ended {
    program::write(&folder.path().join("s.wgsl"), text);
    let arguments = ["profile", "s.wgsl", "--n", "64", "--device", "sim:32", "--out", out];
    run(folder, &[], &arguments, 60)
}

/// Asserts that a page and its figures are at most so many times the record.
fn page_is_small(folder: &TempDir, what: &str) -> u64 {
    let mut bytes = [0, 0];
    for file in files_in(&folder.path().join("o")) {
        let page = file.extension().is_some_and(|ending| ending != "json");
        bytes[usize::from(page)] += std::fs::metadata(file).unwrap().len();
    }
    let [record, page] = bytes;
    assert!(page < PAGE_MAX * record, "{what}: a page of {page} bytes for a record of {record}");
    record
}

fn sizes() {
    for kind in growth::SHADERS {
        let folder = TempDir::new().unwrap();
        let text = (kind.text)(kind.usual);
        profile(&folder, &text, "o").sound(kind.name);
        let record = page_is_small(&folder, kind.name);
        let (source, name) = (text.len() as u64, kind.name);
        assert!(
            record < RECORD_MAX * source + RECORD_FIXED,
            "{name}: a record of {record} bytes for {source}"
        );
    }
}

/// Launch files and records that are large, or larger than any may be.
fn large() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), growth::LAUNCHED);
    let launch = |name: &str, text: String| {
        program::write(&folder.path().join("l.toml"), text);
        let arguments = ["profile", "s.wgsl", "--device", "sim:32", "--launch", "l.toml", "--out"];
        run(&folder, &[], &[&arguments[..], &[name]].concat(), 60)
    };
    launch("p", growth::parameters(20_000)).says("parameters", 2, "parameters");
    let ended = launch("q", growth::parameters(1000));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended = launch("d", growth::dispatches(400));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let good = super::records::record(&folder);
    std::fs::create_dir(folder.path().join("o")).unwrap();
    let report = |record: serde_json::Value| {
        program::write(&folder.path().join("o/result.json"), record.to_string());
        run(&folder, &[], &["report", "o/result.json"], 60)
    };
    report(growth::bins(&good, 100_000)).says("bins", 2, "histogram");
    let ended = report(growth::measurements(&good, 400));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    page_is_small(&folder, "measurements");
    // What is measured by hand goes further than what every run of the tests sees.
    assert!(growth::SHADERS.iter().all(|kind| kind.largest >= 4 * kind.usual));
}

/// On a terminal there is always a line that says what goes on; where counting takes long it says how
/// long, and that the budget does not cover it.
fn progress() {
    let folder = TempDir::new().unwrap();
    let program = program::path();
    let command = format!(
        "{} run five_patterns --device sim:8 --budget 2 --histogram --seeds 1 --out o",
        program.display()
    );
    let mut script = std::process::Command::new("script");
    script.current_dir(folder.path()).args(["-qec", &command, "/dev/null"]).env("TERM", "xterm");
    script.env_remove("NO_COLOR").env("VK_DRIVER_FILES", "/nonexistent/no_driver.json");
    // Longer than this it need not run: what it says comes within the first seconds.
    let ended = finish(script, Duration::from_secs(40));
    let shown = ended.stdout.replace('\r', "\n");
    let counting = |line: &str| line.contains("sim:8: counting ") && line.contains(" of ");
    assert!(shown.lines().any(counting), "{shown}");
    let estimate = |line: &str| counting(line) && line.contains("s left)");
    assert!(shown.lines().any(estimate), "{shown}");
}

/// Folders with spaces, names as long as any may be and names that are no UTF-8, in the plainest locale and in one of
/// UTF-8: what is written lies where it was asked for, and messages show names with escapes.
#[cfg(target_os = "linux")]
fn paths() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::Path;

    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { o[id.x] = id.x; }";
    let long = "n".repeat(245);
    let names = [
        (OsString::from(format!("{long}.wgsl")), long.as_str()),
        (
            OsString::from_vec(b"s\xff\xfe\x1b\xe2\x80\xae.wgsl".to_vec()),
            "s\u{fffd}\u{fffd}\\u001b\\u202e",
        ),
    ];
    let out = OsString::from_vec(b"o u\xff\xe2\x80\xae".to_vec());
    let out_shown = "o u\u{fffd}\\u202e";
    let word = OsStr::new;
    let cases =
        ["C", "C.UTF-8"].into_iter().flat_map(|locale| names.iter().map(move |n| (locale, n)));
    for (locale, (name, shown)) in cases {
        let folder = TempDir::new().unwrap();
        let spaced = folder.path().join("a  folder");
        std::fs::create_dir(&spaced).unwrap();
        program::write(&spaced.join(name), text);
        let run = |arguments: &[&OsStr]| {
            let environment = [("LC_ALL".to_owned(), locale.to_owned())];
            let mut command = program::command(&spaced, &environment);
            command.args(arguments);
            let ended = finish(command, Duration::from_secs(30));
            ended.sound(&format!("{arguments:?} in {locale}"));
            ended
        };
        let options = ["--n", "64", "--device", "sim:8", "--out"].map(word);
        let named = [word("profile"), name.as_os_str()].into_iter().chain(options);
        let ended = run(&named.chain([out.as_os_str()]).collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains(*shown), "{}", ended.stdout);
        assert!(ended.stderr.contains(&format!("{out_shown}/result.json")), "{}", ended.stderr);
        let record = Path::new(&out).join("result.json");
        std::fs::remove_file(spaced.join(&out).join("report.html")).unwrap();
        let ended = run(&[word("report"), record.as_os_str()]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("{out_shown}/report.html")), "{}", ended.stderr);
        let page = std::fs::read_to_string(spaced.join(&out).join("report.html")).unwrap();
        assert!(page.contains(*shown), "the page does not name the shader");
        let ended = run(&[word("compare"), out.as_os_str(), record.as_os_str()]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains(&format!("A is {out_shown}, B is ")), "{}", ended.stdout);
        // Nothing lies elsewhere.
        let places = [spaced.clone(), spaced.join(&out)];
        for file in files_in(folder.path()) {
            let lies = places.iter().any(|place| file.parent() == Some(place.as_path()));
            assert!(lies, "{}", file.display());
        }
        std::fs::remove_file(spaced.join(name)).unwrap();
        let ended = run(&[word("profile"), name.as_os_str()]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("{shown}.wgsl cannot be read")), "{}", ended.stderr);
    }
}

fn hidden() {
    let folder = TempDir::new().unwrap();
    let bidi = input("bidi.wgsl");
    let arguments = ["profile", bidi.to_str().unwrap(), "--n", "64", "--device", "sim:8"];
    let ended = run(&folder, &[], &[&arguments[..], &["--out", "o"]].concat(), 20);
    ended.sound("bidi");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\\u202e"), "{}", ended.stdout);
    let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
    assert!(page.contains("\\u202e") && !page.contains('\u{202e}'));
    // In messages of naga's, and in names of files.
    for text in ["fn \u{1b}[2J\u{202e} {", "// \u{9b}2J\n@compute fn main() { \u{7f}x }"] {
        let name = "s\u{202e}\u{1b}[31m.wgsl";
        program::write(&folder.path().join(name), text);
        run(&folder, &[], &["profile", name, "--device", "sim:8"], 20).says(text, 2, "\\u202e");
    }
}
