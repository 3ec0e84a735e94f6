//! Launch files that cannot be meant: each is refused with its file and line and what is allowed.

use tempfile::TempDir;

use super::{input, run};
use crate::support::program;

/// Every check.
pub(super) const CHECKS: [(&str, fn()); 3] = [
    ("launch_files_say_no_with_file_and_line", refused),
    ("launch_files_of_all_kinds_of_numbers_end", generated),
    ("what_a_launch_asks_for_is_bounded", bounded),
];

/// What a launch file holds, the line that is to blame, and words of the refusal.
const REFUSED: [(&str, u32, &str); 18] = [
    (
        "[[buffers]]\nname=\"o\"\nscalars=[{u32=4294967296}]",
        3,
        "whole numbers from 0 to 4294967295",
    ),
    ("[[buffers]]\nname=\"o\"\nscalars=[{u32=-1}]", 3, "whole numbers from 0 to 4294967295"),
    ("[[buffers]]\nname=\"o\"\nscalars=[{i32=1.5}]", 3, "whole numbers from -2147483648"),
    ("[[buffers]]\nname=\"o\"\nscalars=[{f32=1e300}]", 3, "f32, which holds numbers from"),
    ("[[buffers]]\nname=\"o\"\nscalars=[{f32=nan}]", 3, "no finite number"),
    ("[[buffers]]\nname=\"o\"\nscalars=[{f32=-inf}]", 3, "no finite number"),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={uniform=[10, 0]}",
        5,
        "give the lower end first",
    ),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={uniform=[nan, nan]}",
        5,
        "no finite number",
    ),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={uniform=[0, 1e12]}",
        5,
        "from 0 to 4294967296",
    ),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={series={first=0, step=-1}}",
        5,
        "from 0 to 4294967296",
    ),
    ("[parameters.k]\ndescription=\"x\"\ndefault=4\nmin=nan\n", 1, "must be a number"),
    (
        "[parameters.n]\ndescription=\"x\"\ndefault=4\nmin=nan\nmax=-1\nmultiple_of=0\n",
        1,
        "must be a number",
    ),
    ("[parameters.k]\ndescription=\"x\"\ndefault=4\nmin=5\nmax=-1\n", 1, "no number is allowed"),
    ("[parameters.k]\ndescription=\"x\"\ndefault=4\nmultiple_of=0\n", 1, "from 1 on"),
    (
        "[parameters.k]\ndescription=\"x\"\ndefault=4\nmax=3\n",
        1,
        "its default is 4, and it takes: \
     whole numbers up to 3",
    ),
    ("[parameters.k]\ndescription=\"x\"\ndefault=4\nvalues=[1, 2]\n", 1, "it takes: 1, 2"),
    (
        "# misspelt\n[parameters.rows]\ndescription=\"x\"\ndefault=4\n",
        2,
        "nothing uses the \
     parameter `rows`",
    ),
    ("[[dispatches]]\nentry_point=\"main\"\nworkgroups=nan\n", 1, "no finite number"),
];

fn refused() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), std::fs::read(input("launch.wgsl")).unwrap());
    for (number, (text, line, words)) in REFUSED.iter().enumerate() {
        let name = format!("l{number}.toml");
        program::write(&folder.path().join(&name), text);
        let arguments = ["profile", "s.wgsl", "--device", "sim:8", "--launch", &name];
        let ended = run(&folder, &[], &arguments, 20);
        ended.says(text, 2, words);
        let place = format!("{name}:{line}:");
        assert!(ended.stderr.contains(&place), "{place} is not in {}", ended.stderr);
    }
}

/// Numbers as no one should write them, in every place that takes one.
fn generated() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), std::fs::read(input("launch.wgsl")).unwrap());
    let numbers =
        ["-1", "0.5", "1e18", "\"1/0\"", "\"n^n\"", "\"(((\"", "\"ß\"", "9223372036854775807"];
    let places = |number: &str| {
        [
            format!("[[buffers]]\nname=\"o\"\ntype=\"u32\"\nelements={number}\n"),
            format!("[[buffers]]\nname=\"p\"\nscalars=[{{u32={number}}},{{f32={number}}}]\n"),
            format!("[[dispatches]]\nentry_point=\"main\"\nworkgroups=[{number},1,{number}]\n"),
            format!("[[dispatches]]\nentry_point=\"main\"\nworkgroups=1\nrepeat={number}\n"),
            format!("[overrides]\nR={number}\n"),
        ]
    };
    for number in numbers {
        for text in places(number) {
            program::write(&folder.path().join("l.toml"), &text);
            let arguments = ["profile", "s.wgsl", "--device", "sim:8", "--launch", "l.toml"];
            let limits = ["--n", "64", "--operations", "1M"];
            let ended = run(&folder, &[], &[&arguments[..], &limits].concat(), 30);
            ended.sound(&text);
        }
    }
}

/// Work, memory and text without end are refused with the figure and what raises it.
fn bounded() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), std::fs::read(input("launch.wgsl")).unwrap());
    let profile = |launch: &str, more: &[&str]| {
        program::write(&folder.path().join("l.toml"), launch);
        let arguments = ["profile", "s.wgsl", "--device", "sim:8", "--launch", "l.toml"];
        run(&folder, &[], &[&arguments[..], more].concat(), 60)
    };
    let over = "(--operations raises it)";
    let largest = "[[dispatches]]\nentry_point=\"main\"\nworkgroups=[65535,65535,65535]\n";
    profile(largest, &[]).says("the largest dispatch", 5, over);
    let written_by_itself = "[[dispatches]]\nentry_point=\"main\"\nindirect={buffer=\"a\"}\n";
    profile(written_by_itself, &["--operations", "2M"]).says("its own arguments", 5, over);
    // Each makes two of what it replaces.
    let doubled = "[[replacements]]\ntext=\"+=\"\nwith=\"+= 1u; o[id.x] +=\"\n".repeat(30);
    profile(&doubled, &[]).says("a chain of replacements", 2, "at most 16777216");
    let align = input("align.wgsl");
    let ended = run(&folder, &[], &["profile", align.to_str().unwrap(), "--device", "sim:8"], 20);
    ended.says("align", 2, "`big` alone 1073741824");
    assert!(ended.mebibytes < 200, "{} MiB before it is refused", ended.mebibytes);
}
