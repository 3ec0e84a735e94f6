//! Launch files that cannot be meant: each is refused with its file and line and what is allowed.

use lanescope::record::{Limit, LimitOf, Status};
use tempfile::TempDir;

use super::{input, run};
use crate::support::program;

/// Every check.
pub(super) const CHECKS: [(&str, fn()); 9] = [
    ("a_captured_folder_that_lies_is_refused", captured),
    ("a_line_map_that_lies_is_refused", line_map),
    ("outputs_that_differ_by_order_are_told_from_wrong_ones", by_order),
    ("launch_files_say_no_with_file_and_line", refused),
    ("launch_files_of_all_kinds_of_numbers_end", generated),
    ("what_a_launch_asks_for_is_bounded", bounded),
    ("a_bound_of_operations_is_raised_as_it_says", raised),
    ("a_launch_of_over_two_seconds_says_how_long_it_takes", told),
    ("threads_that_no_machine_has_cost_nothing", many_threads),
];

/// What a launch file holds, the line that is to blame, and words of the refusal.
const REFUSED: [(&str, u32, &str); 19] = [
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
        "from 0 to just below 4294967296",
    ),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={bvh={leaves=1e9, node=[\"min_x\"], tree=\"complete\"}}",
        5,
        "which take 7999999996 bytes; the buffer holds 256",
    ),
    (
        "[[buffers]]\nname=\"a\"\ntype=\"u32\"\nelements=64\nfill={series={first=0, step=-1}}",
        5,
        "from 0 to just below 4294967296",
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
    program::write(&folder.path().join("t.wgsl"), TEXTURED);
    program::write(&folder.path().join("t.toml"), TEXTURE);
    let arguments = ["profile", "t.wgsl", "--n", "64", "--device", "sim:8", "--launch", "t.toml"];
    let ended = run(&folder, &[], &arguments, 20);
    ended.says("a texture", 2, "`t` alone 4026531840; at most 671088640 (--memory-max raises it)");
    assert!(ended.mebibytes < 200, "{} MiB before it is refused", ended.mebibytes);
}

/// A shader that reads a texture, and a launch file that asks for four gigabytes of it.
const TEXTURED: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var t: texture_2d_array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    o[id.x] = u32(textureLoad(t, id.xy, 0, 0).x);
}
";
const TEXTURE: &str = "[[textures]]
name = \"t\"
format = \"rgba8unorm\"
size = [8192, 8192]
layers = 15
fill = \"zero\"
";

/// An invocation of it executes some ten thousand operations.
const LONG: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    var x = id.x;
    for (var i = 0u; i < 2000u; i++) { x = x * 3u + i; }
    o[id.x] = x;
}
";

/// What a bound ends is named with the option, and that option, with more, lets it run to its end.
fn raised() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), LONG);
    let profile = |operations: &str| {
        let arguments = ["profile", "s.wgsl", "--n", "640", "--device", "sim:8", "--operations"];
        let ended =
            run(&folder, &[], &[&arguments[..], &[operations, "--out", operations]].concat(), 30);
        let file = folder.path().join(operations).join("result.json");
        (ended, lanescope::store::load(&file).unwrap().measurements.remove(0))
    };
    let (ended, cut_off) = profile("10000");
    ended.says("a low bound", 5, "more than 10000 operations in all (--operations raises it)");
    assert_eq!(cut_off.status, Status::Failed);
    assert_eq!(cut_off.limit, Some(Limit { which: LimitOf::Operations, value: 10_000 }));
    let uncounted = cut_off.dispatches.iter().all(|dispatch| dispatch.blocks.is_empty());
    assert!(uncounted, "nothing is counted of what did not end");
    let (ended, whole) = profile("100000000");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!((whole.status, whole.limit), (Status::Ok, None));
    let most = whole.dispatches[0].blocks.iter().map(|block| block.executions.0).max();
    // Ten workgroups of eight subgroups, each of which goes round two thousand times.
    assert!(most.is_some_and(|most| (160_000..=160_080).contains(&most)), "{most:?}");
}

/// Without a terminal too it says what goes on, and an estimate.
fn told() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), LONG);
    let environment = [("RAYON_NUM_THREADS".to_owned(), "1".to_owned())];
    let arguments = ["profile", "s.wgsl", "--n", "4000000", "--device", "sim:8", "--out", "o"];
    // It takes far longer than it is waited for here.
    let ended = run(&folder, &environment, &arguments, 7);
    assert_eq!(ended.code, None, "{}", ended.stderr);
    let left = |line: &str| {
        let left = line.strip_prefix("sim:8: counting s (1 of 1, about ")?;
        left.strip_suffix(" s left)")?.parse::<u64>().ok()
    };
    let estimates: Vec<u64> = ended.stderr.lines().filter_map(left).collect();
    assert!(estimates.iter().any(|left| *left >= 1), "{}", ended.stderr);
    // It is said now and then, not again and again.
    assert!(estimates.len() <= 3, "{}", ended.stderr);
}

/// What is asked for in threads changes no count, and takes no memory.
fn many_threads() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("s.wgsl"), LONG);
    let counted = ["1", "100000", "18446744073709551615", "-1", "many"].map(|threads| {
        let environment = [("RAYON_NUM_THREADS".to_owned(), threads.to_owned())];
        let out = format!("o{threads}");
        let arguments = ["profile", "s.wgsl", "--n", "640", "--device", "sim:8", "--out", &out];
        let ended = run(&folder, &environment, &arguments, 30);
        ended.says(threads, 0, "");
        assert!(ended.mebibytes < 500, "{threads}: {} MiB", ended.mebibytes);
        let run = lanescope::store::load(&folder.path().join(&out).join("result.json")).unwrap();
        let blocks = run.measurements[0].dispatches[0].blocks.iter();
        blocks.map(|block| (block.executions.0, block.lanes.0)).collect::<Vec<_>>()
    });
    assert!(!counted[0].is_empty() && counted.iter().all(|found| *found == counted[0]));
}

/// The shader of a captured dispatch.
const CAPTURED: &str = "@group(0) @binding(0) var<uniform> scale: vec4<f32>;
@group(1) @binding(0) var<storage, read_write> o: array<f32>;
@group(1) @binding(1) var picture: texture_2d<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    o[id.x] = scale.x + textureLoad(picture, id.xy, 0).x;
}";

/// The launch file of a captured dispatch, without the hashes of its files.
const CAPTURE: &str = "[[buffers]]
group = 0
binding = 0
fill = { file = { name = \"memory.bin\", offset = 16, bytes = 16 } }
[[buffers]]
group = 1
binding = 0
fill = { file = { name = \"memory.bin\", bytes = 16 } }
after = \"after.bin\"
[[textures]]
group = 1
binding = 1
format = \"r8unorm\"
size = [4, 1]
fill = { file = \"texels.bin\" }
[[dispatches]]
entry_point = \"main\"
workgroups = [1, 1, 1]
[capture]
version = 1
shader = \"shader.wgsl\"
";

/// Writes a captured dispatch, whose outputs are 0.5 more than 0, 1, 0 and 1.
fn write_capture(folder: &std::path::Path, launch: &str) {
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let files = [
        ("shader.wgsl", CAPTURED.as_bytes().to_vec()),
        ("memory.bin", floats(&[0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0])),
        ("after.bin", floats(&[0.5, 1.5, 0.5, 1.5])),
        ("texels.bin", vec![0, 255, 0, 255]),
    ];
    write_files(folder, launch, &files);
}

/// Writes a captured dispatch with the hashes of its files.
fn write_files(folder: &std::path::Path, launch: &str, files: &[(&str, Vec<u8>)]) {
    std::fs::create_dir_all(folder).unwrap();
    let mut text = launch.to_owned();
    for (name, bytes) in files {
        program::write(&folder.join(name), bytes);
        let hash = lanescope::run::launched::sha256_bytes(bytes);
        let length = bytes.len();
        text += &format!("[capture.files.\"{name}\"]\nbytes = {length}\nsha256 = \"{hash}\"\n");
    }
    program::write(&folder.join("launch.toml"), text);
}

/// The folder of a captured dispatch that is not what it says is refused with a sentence, and nothing outside
/// it is read.
fn captured() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let profile = |name: &str| run(&folder, &[], &["profile", name, "--device", "sim:8"], 20);
    write_capture(&path.join("good"), CAPTURE);
    let ended = profile("good");
    ended.says("good", 0, "");
    assert!(!ended.stdout.contains("n = "), "{}", ended.stdout);
    run(&folder, &[], &["profile", "good", "--n", "64"], 20).says("n", 2, "n = 64 has no effect");
    let launch = |number: usize, change: (&str, &str), words: &str| {
        assert!(CAPTURE.contains(change.0), "{}", change.0);
        let name = format!("bad{number}");
        write_capture(&path.join(&name), &CAPTURE.replacen(change.0, change.1, 1));
        profile(&name).says(&name, 2, words);
    };
    let changes = [
        (("name = \"memory.bin\", o", "name = \"../good/memory.bin\", o"), "is no plain name"),
        (("shader = \"shader.wgsl\"", "shader = \"/etc/passwd\""), "is no plain name"),
        (("shader = \"shader.wgsl\"", "shader = \"other.wgsl\""), "is not listed"),
        (
            ("offset = 16, bytes = 16", "offset = 24, bytes = 16"),
            "16 from byte 24 on are asked for",
        ),
        (("offset = 16, bytes = 16", "offset = 16, bytes = 8"), "needs at least 16"),
        (("format = \"r8unorm\"", "format = \"r32float\""), "has 4 bytes of texels"),
        (("format = \"r8unorm\"", "format = \"r8uint\""), "not r8uint"),
        (("after = \"after.bin\"", "after = \"texels.bin\""), "has 4 bytes for it"),
        (("version = 1", "version = 2"), "its format is 2"),
        (
            ("group = 0\nbinding = 0\nfill", "group = 0\nbinding = 9\nfill"),
            "holds nothing for `scale`",
        ),
        (("entry_point = \"main\"", "entry_point = \"other\""), "other"),
    ];
    for (number, (change, words)) in changes.into_iter().enumerate() {
        launch(number, change, words);
    }
    let file = |name: &str, file: &str, bytes: &[u8], words: &str| {
        write_capture(&path.join(name), CAPTURE);
        program::write(&path.join(name).join(file), bytes);
        profile(name).says(name, 2, words);
    };
    file("short", "memory.bin", &[0; 31], "has 31 bytes, and the launch file says 32");
    file("forged", "memory.bin", &[1; 32], "its SHA-256 is another");
    // What the program's own dispatch left is compared with what a device writes.
    write_capture(&path.join("other"), CAPTURE);
    let texels = path.join("other/texels.bin");
    program::write(&texels, [0, 255, 0, 0]);
    let launch = std::fs::read_to_string(path.join("other/launch.toml")).unwrap();
    let hash = |bytes: &[u8]| lanescope::run::launched::sha256_bytes(bytes);
    let forged = launch.replace(&hash(&[0, 255, 0, 255]), &hash(&[0, 255, 0, 0]));
    program::write(&path.join("other/launch.toml"), forged);
    profile("other").says("other", 1, "1 of 4 elements of `o` differ from what the program's own");
    #[cfg(unix)]
    for name in ["memory.bin", "launch.toml"] {
        let linked = path.join(format!("linked-{name}"));
        write_capture(&linked, CAPTURE);
        std::fs::remove_file(linked.join(name)).unwrap();
        std::os::unix::fs::symlink(path.join("good").join(name), linked.join(name)).unwrap();
        profile(&format!("linked-{name}")).says(name, 2, "it is a link");
    }
}

/// A line map that does not fit is refused with a sentence, and nothing outside of its folder is read.
fn line_map() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    program::write(&path.join("secret.wesl"), "not for a page\n".repeat(40));
    let profile = |name: &str, map: &str| {
        write_capture(&path.join(name), CAPTURE);
        program::write(&path.join(name).join("main.wesl"), CAPTURED);
        program::write(&path.join(name).join("shader.wgsl.map.json"), map);
        let export = format!("{name}.json");
        run(&folder, &[], &["profile", name, "--device", "sim:8", "--export-json", &export], 20)
    };
    let entries = |first: &str| {
        let entries: Vec<String> = (1..=6).map(|line| format!("[\"main.wesl\", {line}]")).collect();
        format!("[{first},{}]", entries[1..].join(","))
    };
    profile("good", &entries("[\"main.wesl\", 1]")).says("good", 0, "");
    let secret = path.join("secret.wesl").display().to_string();
    for (number, outside) in
        ["../secret.wesl", "..\\\\secret.wesl", secret.as_str()].iter().enumerate()
    {
        let name = format!("outside{number}");
        profile(&name, &entries(&format!("[\"{outside}\", 30]"))).says(&name, 0, "put there");
        let record = std::fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
        assert!(!record.contains("not for a page"), "{outside}");
    }
    let bad = [
        ("{\"version\": 3}".to_owned(), "it is no line map"),
        ("[".repeat(100_000), "it is no line map"),
        (entries("[\"main.wesl\", -1]"), "it is no line map"),
        ("[null]".to_owned(), "it has 1 entries, and the shader has 6 lines"),
        (entries("[\"main.wesl\", 0]"), "is line 0 of main.wesl"),
        (entries("[\"main.wesl\", 7]"), "its entry 1 is line 7 of main.wesl, which has 6"),
    ];
    for (number, (map, words)) in bad.into_iter().enumerate() {
        let name = format!("bad{number}");
        let ended = profile(&name, &map);
        ended.says(&name, 2, words);
        ended.says(&name, 2, "or remove the map");
    }
    #[cfg(unix)]
    {
        let map = path.join("good/shader.wgsl.map.json");
        std::fs::rename(&map, path.join("map.json")).unwrap();
        std::os::unix::fs::symlink(path.join("map.json"), &map).unwrap();
        let ended = run(&folder, &[], &["profile", "good", "--device", "sim:8"], 20);
        ended.says("linked", 2, "it is a link");
        std::fs::remove_file(&map).unwrap();
        std::os::unix::fs::symlink(path, path.join("good/up")).unwrap();
        let through = profile("good", &entries("[\"up/secret.wesl\", 30]"));
        through.says("through a link", 0, "put there");
    }
}

/// Four workgroups put their numbers into a list, at places that an atomic hands out.
const APPENDED: &str = "@group(0) @binding(0) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> list: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    list[atomicAdd(&count, 1u)] = id.x;
}";

/// Its launch file, without the hashes.
const APPEND: &str = "[[buffers]]
group = 0
binding = 0
fill = { file = \"none.bin\" }
after = \"count.bin\"
[[buffers]]
group = 0
binding = 1
fill = { file = \"empty.bin\" }
after = \"list.bin\"
[[dispatches]]
entry_point = \"main\"
workgroups = [4, 1, 1]
[capture]
version = 1
shader = \"shader.wgsl\"
";

/// Where the order of workgroups decides what is left, outputs that differ are no wrong outputs, and whether the same
/// words stand in another order is said; where nothing depends on an order, they are wrong whatever their words.
fn by_order() {
    let folder = TempDir::new().unwrap();
    let words = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let append = |name: &str, shader: &str, list: &[u32]| {
        let files = [
            ("shader.wgsl", shader.as_bytes().to_vec()),
            ("none.bin", words(&[0])),
            ("count.bin", words(&[16])),
            ("empty.bin", words(&[0; 16])),
            ("list.bin", words(list)),
        ];
        write_files(&folder.path().join(name), APPEND, &files);
        run(&folder, &[], &["profile", name, "--device", "sim:8"], 20)
    };
    let ascending: Vec<u32> = (0..16).collect();
    append("equal", APPENDED, &ascending).says("equal", 0, "");
    // The program's second workgroup came first.
    let other: Vec<u32> = (4..8).chain(0..4).chain(8..16).collect();
    let ended = append("other", APPENDED, &other);
    ended.says("other", 1, "output_depends_on_order (other on sim:8)");
    ended.says(
        "other",
        1,
        "output differs by order: other () on sim:8: 8 of 16 elements of `list`",
    );
    ended.says("other", 1, "; the words are the same, in another order");
    assert!(ended.stdout.contains("sim:8 differs by order: 8 of 16"), "{}", ended.stdout);
    // A word that nobody put there.
    let wrong: Vec<u32> = other.iter().map(|word| if *word == 9 { 90 } else { *word }).collect();
    let ended = append("wrong", APPENDED, &wrong);
    ended.says("wrong", 1, "output differs by order: wrong () on sim:8: 9 of 16 elements");
    assert!(!ended.stderr.contains("the words are the same"), "{}", ended.stderr);
    // Each invocation has a place of its own.
    let placed =
        APPENDED.replace("list[atomicAdd(&count, 1u)]", "atomicAdd(&count, 1u); list[id.x]");
    let ended = append("placed", &placed, &other);
    ended.says("placed", 1, "wrong output: placed () on sim:8: 8 of 16 elements of `list`");
    assert!(!ended.stderr.contains("by order"), "{}", ended.stderr);
    frame(&folder);
}

/// Captured dispatches in a folder, or named one by one, are a table by dispatch with the verdicts, and a page each.
fn frame(folder: &TempDir) {
    let names = ["equal", "other", "placed"];
    std::fs::create_dir_all(folder.path().join("frame")).unwrap();
    for name in names {
        std::fs::rename(folder.path().join(name), folder.path().join("frame").join(name)).unwrap();
    }
    let each = ["frame/equal", "frame/other", "frame/placed"];
    for (out, shaders) in [("whole", &["frame"][..]), ("each", &each[..])] {
        let arguments = [&["profile", "--device", "sim:8", "--out", out][..], shaders].concat();
        let ended = run(folder, &[], &arguments, 40);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stdout.contains("By dispatch"), "{}", ended.stdout);
        let verdicts = [("equal", "equal"), ("other", "differ by order"), ("placed", "differ")];
        for (name, verdict) in verdicts {
            let is_row = |line: &&str| line.starts_with(name) && line.contains("sim:8");
            let row = ended.stdout.lines().find(is_row).map(str::trim_end);
            assert!(row.is_some_and(|row| row.ends_with(verdict)), "{name}: {row:?}");
        }
        let page = |name: &str| {
            let page = folder.path().join(out).join(format!("{name}.html"));
            std::fs::read_to_string(page).unwrap()
        };
        let [equal, other, placed] = names.map(page);
        assert!(!equal.contains("Outputs differ") && !equal.contains("Wrong outputs"));
        assert!(other.contains("Outputs differ by order: 8 of 16 elements of"));
        assert!(placed.contains("Wrong outputs: 8 of 16 elements of"));
    }
}
