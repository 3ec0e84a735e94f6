//! Tests of loading and block numbering.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::*;
use crate::binary::{LinePlace, MappedWgsl, SourceFile};

const LOOP: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var v = data[id.x];
    if (id.x % 2u == 0u) {
        // block: even
        for (var i = 0u; i < 16u; i++) {
            v = fma(v, 2.0, 1.0);
        }
    }
    data[id.x] = v * 3.0 + 1.0;
}
";

fn program(text: &str) -> Program {
    Parsed::new("t.wgsl", text).unwrap().resolve("main", &Overrides::new()).unwrap()
}

#[test]
fn blocks_have_lines_labels_and_operations() {
    let program = program(LOOP);
    let shown: Vec<String> = program
        .blocks()
        .iter()
        .map(|b| {
            let label = b.label.as_deref().unwrap_or("-");
            let lines: Vec<String> = b.lines.iter().map(|(l, n)| format!("{l}×{n}")).collect();
            format!(
                "{} {label} {}:{} ops {} fma {} [{}]",
                b.id,
                b.location.line,
                b.location.column,
                b.ops,
                b.fma_ops,
                lines.join(" ")
            )
        })
        .collect();
    let expected = [
        "b0 - 5:18 ops 7 fma 0 [5×4 6×3]",
        "b1 even 8:26 ops 2 fma 0 [8×2]",
        "b2 even 8:25 ops 0 fma 0 []",
        "b3 even 9:17 ops 3 fma 1 [9×3]",
        "b4 even 8:35 ops 3 fma 0 [8×3]",
        "b5 - 12:10 ops 6 fma 1 [12×6]",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn jumps_count_nothing_and_end_their_body() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var k = 0u; k < 9u; k++) {
        if (data[id.x] == k) {
            break;
            data[id.x] = 1u;
            if (k == 2u) { data[id.x] = 2u; }
        }
        data[id.x] += 1u;
        continue;
        data[id.x] = 3u;
    }
    loop {
        data[id.x] = 4u;
        break;
        let more = data[id.x] == 5u;
        continuing { break if more; }
    }
    { return; }
    data[id.x] = 6u;
}
";
    let program = program(text);
    let mut lines = BTreeSet::new();
    let mut jumps = Vec::new();
    for block in program.blocks() {
        assert_eq!(block.lines.values().sum::<u64>(), block.ops);
        lines.extend(block.lines.keys().copied());
        if block.ops == 0 {
            jumps.push(block.location.line);
        }
    }
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), [4, 5, 10, 15]);
    // The loop's own `break`, that of line 6, and the `return` that stands alone.
    assert_eq!(jumps, [4, 6, 20]);
    assert_eq!(COUNTING_RULE, 2);
}

#[test]
fn a_diagnostic_shows_the_original_text_and_line() {
    let error = Parsed::new("bad.wgsl", "enable subgroups;\nfn main() { let x = y; }").unwrap_err();
    let message = error.to_string();
    assert!(message.contains("bad.wgsl:2:21"), "{message}");
    assert!(message.contains("let x = y"), "{message}");
}

#[test]
fn an_unknown_entry_point_lists_the_known_ones() {
    let parsed = Parsed::new("t.wgsl", LOOP).unwrap();
    let error = parsed.resolve("mian", &Overrides::new()).unwrap_err();
    assert!(error.to_string().contains("it has: main"), "{error}");
}

#[test]
fn overrides_are_put_in() {
    let text = "override n: u32; @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(n) fn main() { o[0] = n; }";
    let parsed = Parsed::new("t.wgsl", text).unwrap();
    let program = parsed.resolve("main", &Overrides::from([("n".into(), 48.0)])).unwrap();
    assert_eq!(program.workgroup_size(), [48, 1, 1]);
    assert!(parsed.resolve("main", &Overrides::new()).is_err());
}

#[test]
fn a_texture_is_refused_with_its_line() {
    let text = "\n@group(0) @binding(1) var image: texture_2d<f32>;
        @compute @workgroup_size(1) fn main() { _ = textureLoad(image, vec2(0), 0); }";
    let error = program(text).bindings().unwrap_err().to_string();
    assert!(
        error.contains("t.wgsl:2: image, bound at @group(0) @binding(1), is a texture"),
        "{error}"
    );
}

#[test]
fn bindings_are_reflected() {
    let bindings = program(LOOP).bindings().unwrap();
    assert_eq!(bindings.len(), 1);
    assert_eq!((bindings[0].name.as_str(), bindings[0].writable), ("data", true));
    assert_eq!(bindings[0].size_min, 4);
}

/// The program of WGSL that a preprocessor wrote, of files and of a file and line for each of its lines.
fn mapped(text: &str, files: &[(&str, Option<&str>)], lines: &[Option<(usize, u32)>]) -> Program {
    let file = |(name, text): &(&str, Option<&str>)| SourceFile {
        name: (*name).to_owned(),
        text: text.map(str::to_owned),
    };
    let place = |place: &Option<(usize, u32)>| place.map(|(file, line)| LinePlace { file, line });
    let mapped = MappedWgsl {
        text: text.to_owned(),
        files: files.iter().map(file).collect(),
        lines: lines.iter().map(place).collect(),
    };
    Parsed::from_mapped("t.wgsl", &mapped).unwrap().resolve("main", &Overrides::new()).unwrap()
}

/// The lines on which a program's operations stand.
fn lines(program: &Program) -> Vec<u32> {
    let lines: BTreeSet<u32> =
        program.blocks().iter().flat_map(|block| block.lines.keys().copied()).collect();
    lines.into_iter().collect()
}

const LIBRARY: &str = "// Three times as much.
fn more(v: u32) -> u32 {
    return v * 3u;
}
";
const IMPORTING: &str = "import library::more;
@if(BUFFERS)
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = more(data[id.x]);
    if COUNT > id.x { data[id.x] = v; }
}
";
const WRITTEN: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
fn library_more(v: u32) -> u32 {
    return v * 3u;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = library_more(data[id.x]);
    if 64u > id.x { data[id.x] = v; }
    data[id.x + 64u] = 1u;
}
";
/// Of the lines of [`WRITTEN`], in [`LIBRARY`], which is file 0, and [`IMPORTING`].
const PLACES: [Option<(usize, u32)>; 10] = [
    Some((1, 3)),
    Some((0, 2)),
    Some((0, 3)),
    Some((0, 4)),
    Some((1, 4)),
    Some((1, 5)),
    Some((1, 6)),
    Some((1, 7)),
    None,
    None,
];

#[test]
fn lines_that_a_preprocessor_left_as_they_are_have_the_same_places() {
    for text in [LOOP, WRITTEN] {
        let count = text.lines().count();
        let lines: Vec<Option<(usize, u32)>> =
            (1..).map(|line| Some((0, line))).take(count).collect();
        let (plain, mapped) = (program(text), mapped(text, &[("t.wesl", Some(text))], &lines));
        assert_eq!((mapped.text().file(), mapped.text().original()), ("t.wgsl", text));
        assert_eq!(format!("{:?}", mapped.blocks()), format!("{:?}", plain.blocks()));
    }
}

#[test]
fn figures_of_mapped_wgsl_stand_on_the_lines_that_it_was_made_from() {
    assert_eq!(lines(&program(WRITTEN)), [3, 7, 8, 9]);
    let files = [("library.wesl", Some(LIBRARY)), ("main.wesl", Some(IMPORTING))];
    let program = mapped(WRITTEN, &files, &PLACES);
    let text = program.text();
    // The file with the entry point comes first, and last the WGSL, of which a line was made from no other.
    assert!(text.original().starts_with(IMPORTING) && text.original().ends_with(WRITTEN));
    let parts: Vec<(&str, u32)> =
        text.parts().iter().map(|part| (part.name.as_str(), part.first_line)).collect();
    assert_eq!(parts, [("main.wesl", 1), ("library.wesl", 11), ("t.wgsl", 17)]);
    assert_eq!(lines(&program), [6, 7, 13, 25]);
    let branches: BTreeSet<u32> =
        program.flows().iter().flat_map(|flow| flow.path.iter().map(|step| step.line)).collect();
    assert_eq!(branches, BTreeSet::from([7]));
}

#[test]
fn what_was_made_from_files_that_are_not_there_stands_on_the_wgsl() {
    let files = [("library.wesl", None), ("main.wesl", Some(IMPORTING))];
    let program = mapped(WRITTEN, &files, &PLACES);
    let parts: Vec<&str> = program.text().parts().iter().map(|part| part.name.as_str()).collect();
    assert_eq!(parts, ["main.wesl", "t.wgsl"]);
    // The WGSL begins in line 11.
    assert_eq!(lines(&program), [6, 7, 13, 19]);
    let none = mapped(WRITTEN, &[("library.wesl", None), ("main.wesl", None)], &PLACES);
    assert!(none.text().parts().is_empty());
    assert_eq!((none.text().file(), none.text().original()), ("t.wgsl", WRITTEN));
    assert_eq!(lines(&none), [3, 7, 8, 9]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn each_operation_has_a_line_whatever_a_map_says(
        places in prop::collection::vec(prop::option::of((0_usize..4, any::<u32>())), 0..14),
    ) {
        let files = [("library.wesl", Some(LIBRARY)), ("é.wesl", Some("é\n\n é")), ("", Some(""))];
        let program = mapped(WRITTEN, &files, &places);
        let count = u32::try_from(program.text().original().lines().count()).unwrap();
        for block in program.blocks() {
            assert_eq!(block.lines.values().sum::<u64>(), block.ops);
            assert!(block.lines.keys().all(|line| (1..=count + 1).contains(line)));
        }
    }
}
