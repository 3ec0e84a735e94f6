//! Shaders that are long, wide or deep, and such as hide what they say.
//!
//! What is written of each kind is at most so many times its size ([`RECORD_MAX`], [`PAGE_MAX`]), and what time it takes
//! grows with it ([`GROWTH_MAX`]).

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use lanescope::record::Tag;
use tempfile::TempDir;

use super::{Ended, input, run};
use crate::support::bounded::{files_in, finish, processor_time};
use crate::support::{growth, program};

/// Every check.
pub(super) const CHECKS: &[(&str, fn())] = &[
    ("what_a_shader_hides_is_shown", hidden),
    #[cfg(target_os = "linux")]
    ("paths_may_have_any_bytes_in_any_locale", paths),
    ("records_of_large_shaders_stay_small", sizes),
    ("of_many_races_each_line_is_named_and_the_others_counted", many_races),
    ("large_launch_files_and_records_cost_little", large),
    ("time_and_memory_grow_with_the_input_and_not_its_square", growth_of_time),
    ("progress_says_what_goes_on_and_how_long", progress),
    ("how_long_a_shader_is_read_is_said_before", reading),
    ("messages_about_much_are_short_and_say_what_is_allowed", messages),
    #[cfg(target_os = "linux")]
    ("help_that_cannot_be_written_ends_with_two", unwritten_help),
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

/// Lines of which nearly each pair races: what the record and the page list grows with the lines, and the terminal has the
/// first of it.
fn many_races() {
    let kind = growth::SHADERS.into_iter().find(|kind| kind.name == "races").unwrap();
    let folder = TempDir::new().unwrap();
    let ended = profile(&folder, &(kind.text)(kind.usual), "o");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = lanescope::store::load(&folder.path().join("o/result.json")).unwrap();
    let measurement = &run.measurements[0];
    let memory = &measurement.memory.as_ref().unwrap().dispatches[0];
    let sides = memory.races.iter().flat_map(|race| &race.sides);
    let named: BTreeSet<u32> = sides.map(|side| side.line).collect();
    // In the text they stand behind four lines and the loop's first two.
    let lines = u32::try_from(kind.usual).unwrap();
    assert!((6..6 + lines).all(|line| named.contains(&line)), "{named:?}");
    assert!(memory.races.len() <= 256 + named.len(), "{}", memory.races.len());
    let unlisted = memory.races_unlisted.unwrap();
    assert!(unlisted > u64::from(lines), "{unlisted}");
    let flag = measurement.flags.iter().find(|flag| flag.tag == Tag::DataRace).unwrap();
    assert_eq!(flag.lines, named.into_iter().collect::<Vec<_>>());
    let told = |text: &str| text.matches("data race in ").count();
    assert_eq!(told(&ended.stdout), 20, "{}", ended.stdout);
    let page = std::fs::read_to_string(folder.path().join("o/report.html")).unwrap();
    assert!(told(&page) > kind.usual / 2 && page.contains(" more pairs of lines race, "));
}

fn launched(folder: &TempDir, launch: &str, out: &str) -> Ended {
    program::write(&folder.path().join("s.wgsl"), growth::LAUNCHED);
    program::write(&folder.path().join("l.toml"), launch);
    let arguments = ["profile", "s.wgsl", "--device", "sim:32", "--launch", "l.toml", "--out"];
    run(folder, &[], &[&arguments[..], &[out]].concat(), 60)
}

fn report(folder: &TempDir, record: &serde_json::Value) -> Ended {
    std::fs::create_dir_all(folder.path().join("o")).unwrap();
    program::write(&folder.path().join("o/result.json"), record.to_string());
    run(folder, &[], &["report", "o/result.json"], 60)
}

/// Launch files and records that are large, or larger than any may be.
fn large() {
    let folder = TempDir::new().unwrap();
    let launch = |name: &str, text: String| launched(&folder, &text, name);
    launch("p", growth::parameters(20_000)).says("parameters", 2, "parameters");
    let ended = launch("q", growth::parameters(1000));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended = launch("d", growth::dispatches(400));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let good = super::records::record(&folder);
    let report = |record: serde_json::Value| report(&folder, &record);
    report(growth::bins(&good, 100_000)).says("bins", 2, "histogram");
    let ended = report(growth::measurements(&good, 400));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    page_is_small(&folder, "measurements");
    assert!(!ended.stderr.contains(" take some "), "{}", ended.stderr);
    let told = "figures and page of 2500 measurements take some ";
    report(growth::measurements(&good, 2500)).says("many measurements", 0, told);
    // What is measured by hand goes further than what every run of the tests sees.
    assert!(growth::SHADERS.iter().all(|kind| kind.largest >= 4 * kind.usual));
}

/// How many times as long two sizes take together as the two of half as much, at most, each beyond the least size: four
/// times and more where time grows with the square, some two where it grows with the size.
const GROWTH_MAX: f64 = 3.6;

/// How often a kind is measured and judged, at most.
const TRIES: usize = 5;

/// The seconds from which on a kind is judged, and those from which on it is not doubled again.
const JUDGED_FROM_S: f64 = 0.3;
const ENOUGH_S: f64 = 0.6;

/// The fewest sizes of a kind.
const SIZES_MIN: usize = 4;

/// The most mebibytes that a run on a shader of any size takes, and those for each kibibyte of the shader: about twice as
/// many as the kind that takes most, a chain of `else if`.
const MEBIBYTES_FIXED: u64 = 64;
const MEBIBYTES_A_KIBIBYTE: u64 = 4;

/// Each kind of input in doublings: how long processors work, and the memory that a shader takes, grow with the size.
fn growth_of_time() {
    let place = TempDir::new().unwrap();
    let good = super::records::record(&place);
    let worked = |ended: &Ended, name: &str| {
        ended.sound(name);
        ended.processor.as_secs_f64()
    };
    let mut judged = 0;
    for kind in growth::SHADERS {
        judged += judge(kind.name, [kind.usual / 4, kind.largest], &|folder, size| {
            let text = (kind.text)(size);
            let ended = profile(folder, &text, "o");
            let most = MEBIBYTES_FIXED + MEBIBYTES_A_KIBIBYTE * (text.len() as u64 / 1024);
            let (name, taken) = (kind.name, ended.mebibytes);
            assert!(taken <= most, "{name}: {taken} MiB of at most {most} for {size}");
            [worked(&ended, name), front_end_s(&text)]
        });
    }
    judged += judge("parameters", growth::PARAMETERS, &|folder, size| {
        [worked(&launched(folder, &growth::parameters(size), "o"), "parameters"), 0.0]
    });
    judged += judge("dispatches", growth::DISPATCHES, &|folder, size| {
        [worked(&launched(folder, &growth::dispatches(size), "o"), "dispatches"), 0.0]
    });
    judged += judge("measurements", growth::MEASUREMENTS, &|folder, size| {
        [worked(&report(folder, &growth::measurements(&good, size)), "measurements"), 0.0]
    });
    judged += judge("bins", growth::BINS, &|folder, size| {
        [worked(&report(folder, &growth::bins(&good, size)), "bins"), 0.0]
    });
    assert!(judged > 0, "no kind took long enough to be judged");
}

/// Doubles a kind of input until processors have worked long enough, and judges what they do beyond the least size; gives
/// how many kinds were judged, 0 where they never worked long. `run` gives the seconds in a fresh folder at a size, and
/// those of them that are not judged.
fn judge(
    name: &str,
    [least, largest]: [usize; 2],
    run: &dyn Fn(&TempDir, usize) -> [f64; 2],
) -> usize {
    let mut seconds: Vec<f64> = Vec::new();
    let measure = |size| {
        let [whole, aside] = run(&TempDir::new().unwrap(), size);
        (whole, whole - aside)
    };
    let (mut size, mut is_enough) = (least, false);
    while size <= largest && !(is_enough && seconds.len() >= SIZES_MIN) {
        let (whole, judged) = measure(size);
        seconds.push(judged);
        (size, is_enough) = (2 * size, whole >= ENOUGH_S);
    }
    // What else the machine does adds time: the least of several tries is nearest to the work.
    for _ in 1..TRIES {
        let [first, .., a, b, c] = seconds[..] else { return 0 };
        if c < JUDGED_FROM_S {
            return 0;
        }
        if (b + c - 2.0 * first) / (a + b - 2.0 * first).max(0.01) < GROWTH_MAX {
            return 1;
        }
        for (doubled, least_s) in seconds.iter_mut().enumerate() {
            *least_s = least_s.min(measure(least << doubled).1);
        }
    }
    panic!("{name}: {seconds:.2?} s, each for twice the size before");
}

/// The seconds that a processor works for naga's front end to read a shader once, on a stack of the program's size. It
/// takes time with the square of a function's length, and of the number of functions where it compacts what it read,
/// which is not the program's own: what is read or compacted twice counts.
#[expect(clippy::disallowed_methods, reason = "where the system does not say it, a clock does")]
fn front_end_s(text: &str) -> f64 {
    let read = || {
        let worked = || processor_time("/proc/thread-self/stat", 2);
        let (start, before) = (Instant::now(), worked());
        naga::front::wgsl::parse_str(text).unwrap();
        let took = start.elapsed();
        let both = before.zip(worked());
        both.map_or(took, |(before, after)| after.saturating_sub(before)).as_secs_f64()
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(512 << 20);
        builder.spawn_scoped(scope, read).unwrap().join().unwrap()
    })
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

/// Lines that index take naga's front end longest: what is said of them is no less than what it took where that was measured.
fn reading() {
    let folder = TempDir::new().unwrap();
    let lines = "o[x + 1u] += y;\n".repeat(12_000);
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
var x = id.x; var y = 1u;\n{lines}}}\n"
    );
    program::write(&folder.path().join("s.wgsl"), text);
    // It need not be read to its end: the sentence comes first.
    let ended = run(&folder, &[], &["profile", "s.wgsl", "--n", "64", "--device", "sim:8"], 3);
    let told = "s.wgsl: reading it takes some 3 s, with the square of the length of its longest \
                function, `main`;";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
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

/// A list of a thousand names, a number of hundreds of digits, a workgroup that an override makes too large.
fn messages() {
    let folder = TempDir::new().unwrap();
    let entries = (0..1000).map(|i| format!("@compute @workgroup_size(64) fn main{i}() {{}}\n"));
    program::write(&folder.path().join("many.wgsl"), entries.collect::<String>());
    let sized = "override W: u32 = 64u;\n@compute @workgroup_size(W) fn main() {}\n";
    program::write(&folder.path().join("sized.wgsl"), sized);
    program::write(&folder.path().join("large.toml"), "[overrides]\nW = 100000\n");
    let digits = format!("[overrides]\nW = -{}.0\n", "9".repeat(308));
    program::write(&folder.path().join("digits.toml"), digits);
    let cases: [(&[&str], &str); 3] = [
        (&["many.wgsl"], "main29 and 970 more; choose one"),
        (&["sized.wgsl", "--launch", "large.toml"], "1 to 16384 invocations in each direction"),
        (&["sized.wgsl", "--launch", "digits.toml"], "is -1e308, and must be a whole number"),
    ];
    for (arguments, words) in cases {
        let all = [&["profile", "--device", "sim:8"][..], arguments].concat();
        let ended = run(&folder, &[], &all, 20);
        ended.says(words, 2, words);
        assert!(ended.stderr.len() < 1000, "{}", ended.stderr);
    }
}

/// Help and the version, on a disk that is full.
#[cfg(target_os = "linux")]
fn unwritten_help() {
    let folder = TempDir::new().unwrap();
    for arguments in [&["--help"][..], &["--version"], &["profile", "--help"], &["list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = program::command(folder.path(), &[]);
        let output = command.args(arguments).stdout(full).output().unwrap();
        let (code, _, stderr) = program::parts(&output);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains("No space left on device"), "{arguments:?}: {stderr}");
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
