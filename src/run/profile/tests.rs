//! Tests of launches made from shaders.

use super::template::template;
use super::*;
use crate::kernel::Fill;
use crate::record::{Method, Tag};
use crate::run::simulator::SimulatorRunner;
use crate::run::{CountRequest, Runner as _};

const FILTER: &str = "struct Params { count: u32, gain: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage> input: array<f32>;
@group(0) @binding(2) var<storage> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec3<f32>>;
@group(0) @binding(4) var<storage, read_write> hits: array<atomic<u32>, 16>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < params.count) {
        output[id.x] = vec3(input[index[id.x]] * params.gain);
        atomicAdd(&hits[id.x % 16u], 1u);
    }
}";

fn request(source: &str, description: &str) -> ProfileRequest {
    let description = Description::parse("launch.toml", description).unwrap();
    ProfileRequest {
        file: "dir/shader.wgsl".to_owned(),
        name: "shader".to_owned(),
        source: source.to_owned(),
        derived: None,
        description: Some(("launch.toml".to_owned(), description)),
        entry_point: None,
        workgroups: None,
        n: None,
        seed: 1,
    }
}

fn no_files(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("{name} is not there"))
}

fn launch_of(request: &ProfileRequest) -> Launch {
    prepare(request, &mut no_files).unwrap().launch
}

fn refused(request: &ProfileRequest, part: &str) {
    let message = prepare(request, &mut no_files).unwrap_err().to_string();
    assert!(message.contains(part), "{message}");
}

fn floats(launch: &Launch, name: &str) -> Vec<f32> {
    let bytes = launch.contents(launch.buffer(name).unwrap());
    bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn integers(launch: &Launch, name: &str) -> Vec<u32> {
    floats(launch, name).into_iter().map(f32::to_bits).collect()
}

#[test]
fn a_shader_alone_gives_sensible_data_and_a_grid_that_covers_it() {
    let request = ProfileRequest { n: Some(1000), ..request(FILTER, "") };
    let launch = launch_of(&request);
    assert_eq!((launch.kernel.as_str(), launch.file.as_str()), ("shader", "dir/shader.wgsl"));
    assert!(!launch.trusted, "a user's shader is counted with checks");
    assert_eq!(launch.dispatches[0].workgroups, Workgroups::Direct([16, 1, 1]));
    let sizes: Vec<(&str, u64, bool)> =
        launch.buffers.iter().map(|b| (b.name.as_str(), b.size, b.output)).collect();
    assert_eq!(
        sizes,
        [
            ("params", 16, false),
            ("input", 4000, false),
            ("index", 4000, false),
            ("output", 16_000, true),
            ("hits", 64, true),
        ]
    );
    assert_eq!(integers(&launch, "params")[0], 1000);
    assert_eq!(floats(&launch, "params")[1], 0.5);
    assert!(floats(&launch, "input").iter().all(|value| (0.0..1.0).contains(value)));
    let indices = integers(&launch, "index");
    assert!(indices.iter().all(|index| *index < 1000) && indices.iter().max() > Some(&900));
    assert!(integers(&launch, "hits").iter().all(|hit| *hit == 0));
    let other = launch_of(&ProfileRequest { seed: 2, ..request });
    assert_ne!(floats(&other, "input"), floats(&launch, "input"));
}

/// What would be counted otherwise than its writer meant is refused, by its key.
#[test]
fn launch_files_that_do_not_fit_the_shader_name_the_key() {
    let with = |text: &str, part: &str| refused(&request(FILTER, text), part);
    let buffer = |name: &str, scalar: &str| {
        format!("[[buffers]]\nname = \"{name}\"\ntype = \"{scalar}\"\nelements = \"n\"\n")
    };
    let twice = buffer("index", "u32") + &buffer("index", "u32");
    with(&twice, "launch.toml: there are two [[buffers]] of the name `index`");
    with(
        &buffer("input", "u32"),
        "buffer `input`: `type` is \"u32\", and the variable of dir/shader.wgsl line 3 holds f32",
    );
    with(&buffer("index", "u64"), "`type` is \"u64\"");
    // The same bytes, whatever the sign.
    let launch = launch_of(&request(FILTER, &buffer("index", "i32")));
    assert_eq!(launch.buffer("index").unwrap().size, 4 * 65_536);
    let dispatch = "[[dispatches]]\nentry_point = \"main\"\n";
    with(
        &format!("{dispatch}workgroups = \"2 - 5\"\n"),
        "the dispatch of `main`: `workgroups`: `2 - 5` gives -3",
    );
    with(
        &format!("{dispatch}indirect = {{ buffer = \"index\", offset = 2 }}\n"),
        "the dispatch of `main`: `offset` is 2, and must be a multiple of 4",
    );
    with(
        "[[buffers]]\nname = \"input\"\ntype = \"f32\"\nelements = \"n / 3\"\n",
        "buffer `input`: `elements`: `n / 3` gives",
    );
}

#[test]
fn overrides_take_values_of_their_type() {
    let source = "override k: u32 = 3; override i: i32 = 3; override x: f32 = 0.5;
        override on: bool = true;
        @group(0) @binding(0) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(64) fn main() { if on { o[0] = f32(k) + f32(i) + x; } }";
    let with =
        |text: &str| prepare(&request(source, &format!("[overrides]\n{text}")), &mut no_files);
    for fits in ["k = 4294967295", "i = -2147483648", "x = -1.5", "on = 1"] {
        assert!(with(fits).is_ok(), "{fits}");
    }
    for (misfit, part) in [
        ("k = 1.5", "`k` (line 1) is 1.5, and must be a whole number from 0 to 4294967295 (u32)"),
        ("k = -4", "`k` (line 1) is -4"),
        ("k = 4294967296", "`k` (line 1) is 4294967296"),
        ("i = 2147483648", "from -2147483648 to 2147483647 (i32)"),
        ("x = 1e39", "`x` (line 1) is"),
    ] {
        let message = with(misfit).unwrap_err().to_string();
        assert!(message.contains(part), "{misfit}: {message}");
    }
}

#[test]
fn large_counts_fold_and_large_elements_make_n_smaller() {
    let launch = launch_of(&ProfileRequest { n: Some(1 << 24), ..request(FILTER, "") });
    assert_eq!(launch.dispatches[0].workgroups, Workgroups::Direct([32_768, 8, 1]));
    let launch = launch_of(&request(FILTER, ""));
    assert_eq!(launch.parameters["n"], Value::Integer(65_536));
    let large = "@group(0) @binding(0) var<storage, read_write> a: array<array<f32, 4096>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            a[id.x][0] = 1.0;
        }";
    let launch = launch_of(&request(large, ""));
    assert_eq!(launch.parameters["n"], Value::Integer(4096));
    assert_eq!(launch.buffers[0].size, 64 << 20);
}

#[test]
fn grids_of_two_and_three_dimensions_are_near_square() {
    let shader = |size: &str| {
        format!(
            "struct P {{ width: u32, height: u32 }}
             @group(0) @binding(0) var<uniform> p: P;
             @group(0) @binding(1) var<storage, read_write> a: array<f32>;
             @compute @workgroup_size({size})
             fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 a[id.y * p.width + id.x] = f32(p.height);
             }}"
        )
    };
    let flat = launch_of(&request(&shader("8, 4"), ""));
    assert_eq!(flat.dispatches[0].workgroups, Workgroups::Direct([32, 64, 1]));
    assert_eq!(integers(&flat, "p")[..2], [256, 256]);
    // A row of invocations that is asked for y is as wide as the square.
    let rows = launch_of(&request(&shader("64"), ""));
    assert_eq!(rows.dispatches[0].workgroups, Workgroups::Direct([4, 256, 1]));
    assert_eq!(integers(&rows, "p")[..2], [256, 256]);
    let cube = launch_of(&ProfileRequest { n: Some(64_000), ..request(&shader("4, 4, 4"), "") });
    assert_eq!(cube.dispatches[0].workgroups, Workgroups::Direct([10, 10, 10]));
    assert_eq!(integers(&cube, "p")[..2], [40, 40]);
    let given = ProfileRequest { workgroups: Some([1, 2, 3]), ..request(&shader("8, 4"), "") };
    assert_eq!(launch_of(&given).dispatches[0].workgroups, Workgroups::Direct([1, 2, 3]));
}

#[test]
fn several_entry_points_are_listed_and_chosen() {
    let two = "@compute @workgroup_size(1) fn one() {} @compute @workgroup_size(1) fn two() {}";
    refused(&request(two, ""), "one, two; choose one, or dispatch several in a launch file");
    let chosen = ProfileRequest { entry_point: Some("two".to_owned()), ..request(two, "") };
    assert_eq!(launch_of(&chosen).dispatches[0].entry_point, "two");
    let wrong = ProfileRequest { entry_point: Some("three".to_owned()), ..request(two, "") };
    refused(&wrong, "no compute entry point \"three\"; it has: one, two");
    refused(&request("fn f() {}", ""), "no compute entry point");
}

#[test]
fn overrides_without_a_value_are_named() {
    let source = "override tile: u32;\n@id(4) override gain: f32;\noverride more: u32 = 2;
        @group(0) @binding(0) var<storage, read_write> a: array<f32>;
        @compute @workgroup_size(tile) fn main() { a[more] = gain; }";
    refused(&request(source, ""), "`tile` (line 1), `gain` (line 2)");
    let values = "[overrides]\ntile = \"n / 1024\"\ngain = 0.5\n";
    let launch = launch_of(&request(source, values));
    assert_eq!(launch.overrides["tile"], 64.0);
    assert_eq!(launch.dispatches[0].workgroups, Workgroups::Direct([1024, 1, 1]));
    refused(&request(source, "[overrides]\ntiles = 1\n"), "no override \"tiles\"");
    let text = template(&ProfileRequest { description: None, ..request(source, "") }).unwrap();
    assert!(text.contains("tile = 8 # line 1: the shader gives no value"), "{text}");
    assert_eq!(launch_of(&request(source, &text)).overrides["gain"], 1.0);
}

#[test]
fn a_launch_file_says_it_exactly() {
    let source = "struct I { scale: f32 }
        var<immediate> i: I;
        @group(0) @binding(0) var<storage> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> b: array<f32>;
        @compute @workgroup_size(4) fn first() { b[0] = a[0] * i.scale; }
        @compute @workgroup_size(4) fn second() { b[1] = a[1]; }";
    let text = r#"
        trusted = true
        immediates = [{ f32 = 2.5 }]
        [parameters.m]
        description = "elements of a"
        default = 8
        [[buffers]]
        name = "a"
        type = "f32"
        elements = "m"
        fill = { file = "a.bin" }
        [[buffers]]
        name = "grid"
        scalars = [{ u32 = 1 }, { u32 = 2 }, { u32 = 3 }]
        [[dispatches]]
        entry_point = "first"
        workgroups = [1, 2, 3]
        [[dispatches]]
        entry_point = "second"
        indirect = { buffer = "grid" }
    "#;
    let data = [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
    let mut read = |name: &str| {
        assert_eq!(name, "a.bin");
        Ok(data.clone())
    };
    let launch = prepare(&request(source, text), &mut read).unwrap().launch;
    assert!(launch.trusted);
    assert_eq!(launch.immediates, 2.5_f32.to_le_bytes());
    assert_eq!(floats(&launch, "a"), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(launch.buffer("b").unwrap().size, 4 * ELEMENTS, "left out, so by default");
    assert_eq!(launch.dispatches[0].workgroups, Workgroups::Direct([1, 2, 3]));
    let indirect = Workgroups::Indirect { buffer: "grid".to_owned(), offset: 0 };
    assert_eq!(launch.dispatches[1].workgroups, indirect);
    refused(&request(source, text), "a.bin is not there");
}

#[test]
fn what_does_not_fit_the_shader_is_refused_with_the_way_out() {
    let buffer = |name: &str, rest: &str| {
        request(FILTER, &format!("[[buffers]]\nname = \"{name}\"\n{rest}\n"))
    };
    refused(&buffer("inputs", "type = \"f32\"\nelements = 4"), "they use: params, input, index");
    refused(&buffer("params", "type = \"f32\"\nelements = 1"), "line 2 needs at least 8");
    refused(&buffer("input", "elements = \"m\""), "known here: n");
    refused(&buffer("input", "fill = \"zero\""), "needs `elements`");
    refused(&ProfileRequest { n: Some(0), ..request(FILTER, "") }, "at least 1");
    let message = Description::parse("launch.toml", "[[buffers]]\nnam = \"a\"\n").unwrap_err();
    assert!(message.to_string().contains("launch.toml: TOML parse error at line 2"), "{message}");
}

/// Shaders whose every form of buffer stands in one of them.
const SHADERS: [&str; 4] = [
    FILTER,
    "struct Item { key: u32, weight: f32, hits: atomic<u32> }
     struct Items { count: u32, items: array<Item> }
     @group(0) @binding(0) var<storage, read_write> state: Items;
     @group(0) @binding(1) var<storage, read_write> table: array<array<vec2<i32>, 3>>;
     @compute @workgroup_size(32)
     fn main(@builtin(global_invocation_id) id: vec3<u32>) {
         if (id.x < state.count) { table[id.x][1].y = i32(state.items[id.x].key); }
     }",
    "struct View { size: vec2<u32>, turn: mat3x3<f32>, offset: vec3<f32>, depth: i32 }
     struct Now { frame: u32, time: f32 }
     var<immediate> now: Now;
     @group(0) @binding(0) var<uniform> view: View;
     @group(2) @binding(1) var<storage, read_write> image: array<vec4<f32>>;
     @compute @workgroup_size(8, 8)
     fn main(@builtin(global_invocation_id) id: vec3<u32>) {
         if (all(id.xy < view.size)) {
             image[id.y * view.size.x + id.x] = vec4(view.turn * view.offset, now.time);
         }
     }",
    "enable f16;
     struct Mixed { a: f16, b: u32, c: f16 }
     @group(0) @binding(0) var<storage> mixed: Mixed;
     @group(0) @binding(1) var<storage, read_write> halves: array<f16>;
     @group(0) @binding(2) var<storage, read_write> longs: array<i64, 7>;
     @compute @workgroup_size(4, 4, 4)
     fn main(@builtin(local_invocation_index) l: u32) {
         halves[l] = mixed.a * mixed.c;
         longs[l % 7u] = i64(mixed.b);
     }",
];

#[test]
fn the_file_that_init_writes_gives_the_same_launch() {
    for source in SHADERS {
        let derived = ProfileRequest { description: None, ..request(source, "") };
        let text = template(&derived).unwrap();
        let loaded = request(source, &text);
        assert_eq!(launch_of(&loaded), launch_of(&derived), "{text}");
        // Its formulas hold for another n too.
        let (loaded, derived) =
            (ProfileRequest { n: Some(777), ..loaded }, ProfileRequest { n: Some(777), ..derived });
        assert_eq!(launch_of(&loaded), launch_of(&derived), "{text}");
    }
    insta::assert_snapshot!(template(&request(FILTER, "")).unwrap());
}

/// What a buffer holds follows from its use, and the file that `--init` writes gives the same launch.
#[test]
fn contents_are_proposed_from_how_a_buffer_is_used() {
    let main = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u)";
    let read = |ty: &str| format!("@group(0) @binding(0) var<storage, read> a: array<{ty}>;");
    let written =
        |ty: &str| format!("@group(0) @binding(1) var<storage, read_write> b: array<{ty}>;");
    let search = "var lo = 0u; var hi = arrayLength(&a);
        while lo < hi { let mid = (lo + hi) / 2u; if a[mid] < g.x { lo = mid + 1u; } else { hi = mid; } }
        b[g.x] = lo;";
    let node = "struct Node { lo: vec3f, left: u32, hi: vec3f, count: u32 }";
    let walk = "var at = 0u; var sum = 0u;
        while a[at].count == 0u && sum < 99u { at = a[at].left + (g.x & 1u); sum++; } b[g.x] = sum;";
    let cases = [
        (read("u32"), written("f32"), "b[a[g.x]] = f32(g.x);", "fill = \"permutation\""),
        (
            read("u32"),
            written("u32"),
            search,
            "fill = { sorted = { range = [0, \"n\"], moved = 0 } }",
        ),
        (
            read("f32"),
            written("u32"),
            &search.replace("g.x {", "f32(g.x) {"),
            "sorted = { range = [0, 1]",
        ),
        (read("u32"), written("atomic<u32>"), "atomicAdd(&b[a[g.x]], 1u);", "{ zipf = "),
        (read("f32"), written("f32"), "b[g.x] = a[g.y * arrayLength(&b) + g.x];", "{ image = "),
        (read("u32"), written("u32"), "b[g.x] = a[a[g.x]];", "boxes: bvh"),
        (
            format!("{node} {}", read("Node")),
            written("u32"),
            walk,
            "node = [\"min_x\", \"min_y\", \"min_z\", \"left_or_first\", \"max_x\", \"max_y\", \"max_z\", \
             \"leaf_count\"], tree = \"complete\", siblings = true",
        ),
    ];
    for (a, b, body, expected) in cases {
        let source = format!("{a}\n{b}\n{main} {{\n{body}\n}}");
        let derived = ProfileRequest { description: None, ..request(&source, "") };
        let text = template(&derived).unwrap();
        assert!(text.contains(expected), "{expected}: {text}");
        let written = Description::parse("t.toml", &text).unwrap();
        let with =
            ProfileRequest { description: Some(("t.toml".to_owned(), written)), ..derived.clone() };
        let (without, with) = (launch_of(&derived), launch_of(&with));
        for (buffer, other) in without.buffers.iter().zip(&with.buffers) {
            assert_eq!(without.contents(buffer), with.contents(other), "{}: {text}", buffer.name);
        }
    }
}

/// Shaders that read where an array of a struct, or of a fixed length, says, each with lines of the launch file that
/// `--init` writes for it.
const LED: [(&str, &str, &[&str]); 13] = [
    (
        "struct Graph { count: u32, offsets: array<u32, 65>, columns: array<u32> }
         @group(0) @binding(0) var<storage, read> a: Graph;
         @group(0) @binding(2) var<storage, read> x: array<f32>;",
        "if g.x >= a.count { return; }
         var sum = 0.0;
         for (var j = a.offsets[g.x]; j < a.offsets[g.x + 1u]; j++) { sum += x[a.columns[j]]; }
         b[g.x] = u32(sum);",
        &[
            "elements = \"8 * n\"",
            "[buffers.fill.members]",
            "columns = { uniform = [0, \"n\"] }",
            "count = { constant = \"min(n, 64)\" }",
            "offsets = { offsets = { last = \"min(512, 8 * n)\", lengths = \"uniform\" } }",
        ],
    ),
    (
        "struct Rows { done: atomic<u32>, first: array<u32> }
         @group(0) @binding(0) var<storage, read_write> a: Rows;
         @group(0) @binding(2) var<storage, read> x: array<u32>;
         fn begin(row: u32) -> u32 { return a.first[row]; }
         fn end(row: u32) -> u32 { return begin(row + 1u); }
         fn value(at: u32) -> u32 { return x[at]; }",
        "if g.x >= arrayLength(&b) { return; }
         var sum = 0u;
         for (var j = begin(g.x); j < end(g.x); j++) { sum += value(j); }
         b[g.x] = sum;
         atomicAdd(&a.done, 1u);",
        &["elements = \"n + 1\"", "first = { offsets = { last = \"8 * n\"", "elements = \"8 * n\""],
    ),
    (
        "struct Rows { width: u32, first: array<u32> }
         @group(0) @binding(0) var<storage, read> a: Rows;
         @group(0) @binding(2) var<storage, read> x: array<vec3f>;
         fn bounds(row: u32, first: ptr<function, u32>, end: ptr<function, u32>) {
             *first = a.first[row];
             *end = a.first[row + 1u];
         }",
        "if g.x >= arrayLength(&b) { return; }
         var first = 0u; var end = 0u;
         bounds(g.x, &first, &end);
         var sum = 0.0;
         for (var j = first; j < end; j++) { sum += x[j].y; }
         b[g.x] = u32(sum);",
        &["first = { offsets = { last = \"8 * n\"", "elements = \"32 * n\""],
    ),
    (
        "struct Order { count: u32, places: array<u32, 128> }
         @group(0) @binding(0) var<storage, read> a: Order;
         fn put(at: u32, value: u32) { b[at] = value; }",
        "if g.x >= a.count { return; } put(a.places[g.x], g.x);",
        &["places = { uniform = [0, \"min(128, n)\"] }", "count = { constant = \"min(n, 128)\" }"],
    ),
    (
        "struct Order { passes: u32, places: array<u32> }
         @group(0) @binding(0) var<storage, read> a: Order;
         fn put(at: u32, value: u32) { b[at] = value; }",
        "if g.x >= arrayLength(&b) { return; } put(a.places[g.x], a.passes);",
        &["places = \"permutation\""],
    ),
    (
        "struct Table { seed: u32, keys: array<u32> }
         @group(0) @binding(0) var<storage, read> a: Table;
         fn middle(low: u32, high: u32) -> u32 { return (low + high) / 2u; }",
        "if g.x >= arrayLength(&b) { return; }
         var low = 0u; var high = arrayLength(&a.keys);
         while low < high {
             let mid = middle(low, high);
             if a.keys[mid] < g.x { low = mid + 1u; } else { high = mid; }
         }
         b[g.x] = low + a.seed;",
        &["keys = { sorted = { range = [0, \"n\"], moved = 0 } }"],
    ),
    (
        "struct Node { lo: vec3f, left: u32, hi: vec3f, count: u32 }
         struct Tree { root: u32, nodes: array<Node> }
         @group(0) @binding(0) var<storage, read> a: Tree;
         fn child(at: u32, side: u32) -> u32 { return a.nodes[at].left + side; }",
        "if g.x >= arrayLength(&b) { return; }
         var at = a.root; var depth = 0u;
         while a.nodes[at].count == 0u && depth < 64u { at = child(at, g.x & 1u); depth++; }
         b[g.x] = depth;",
        &["root = { constant = 0 }", "nodes = { bvh = { leaves = \"floor((n + 1) / 2)\""],
    ),
    (
        "struct Cloud { shift: f32, at: array<vec3f> }
         @group(0) @binding(0) var<storage, read> a: Cloud;
         fn near(p: vec3f, q: vec3f) -> bool { let d = p - q; return dot(d, d) < a.shift; }",
        "if g.x >= arrayLength(&b) { return; }
         var found = 0u;
         for (var j = 1u; j < 9u; j++) {
             if near(a.at[g.x], a.at[(g.x + j) % arrayLength(&a.at)]) { found++; }
         }
         b[g.x] = found;",
        &["at = { points = { from = [0, 0, 0], to = [1, 1, 1], stride = 4 } } # points in a box"],
    ),
    (
        "struct Edge { to: u32, weight: f32 }
         @group(0) @binding(0) var<storage, read> a: array<Edge>;
         @group(0) @binding(2) var<storage, read> first: array<u32>;
         @group(0) @binding(3) var<storage, read> x: array<f32>;",
        "if g.x >= arrayLength(&b) { return; }
         var sum = 0.0;
         for (var j = first[g.x]; j < first[g.x + 1u]; j++) { sum += x[a[j].to] * a[j].weight; }
         b[g.x] = u32(sum);",
        &["to = { uniform = [0, \"n\"] }", "fill = { offsets = { last = \"8 * n\""],
    ),
    (
        "struct Lights { count: u32, at: array<vec4f, 16> }
         @group(0) @binding(0) var<uniform> a: Lights;",
        "if g.x >= arrayLength(&b) { return; }
         var lit = 0u;
         for (var i = 0u; i < a.count; i++) {
             if distance(a.at[i].xyz, vec3f(f32(g.x) / 4096.0)) < a.at[i].w { lit++; }
         }
         b[g.x] = lit;",
        &[
            "count = { constant = \"min(n, 16)\" }",
            "at = { points = { from = [0, 0, 0, 0], to = [1, 1, 1, 1] } }",
        ],
    ),
    (
        "@group(0) @binding(0) var<storage, read> a: array<u32>;
         @group(0) @binding(2) var<storage, read_write> bins: array<atomic<u32>, 64>;",
        "if g.x >= arrayLength(&b) { return; } atomicAdd(&bins[a[g.x]], 1u); b[g.x] = g.x;",
        &["fill = { uniform = [0, \"min(n, 64)\"] } # numbers of bins"],
    ),
    (
        "struct List { head: u32, next: array<u32> }
         @group(0) @binding(0) var<storage, read> a: List;",
        "if g.x >= arrayLength(&b) { return; }
         var at = a.head; var steps = 0u;
         while at != g.x && steps < 16u { at = a.next[at]; steps++; }
         b[g.x] = steps;",
        &["head = { constant = 0 }", "next = { uniform = [0, \"n\"] } # numbers of other elements"],
    ),
    (
        "struct Graph { offsets: array<u32, 33>, columns: array<u32, 40> }
         struct Params { rows: u32 }
         @group(0) @binding(0) var<storage, read> a: Graph;
         @group(0) @binding(2) var<uniform> params: Params;",
        "if g.x >= params.rows || g.x >= arrayLength(&b) { return; }
         var sum = 0u;
         for (var j = a.offsets[g.x]; j < a.offsets[g.x + 1u]; j++) { sum += a.columns[j]; }
         b[g.x] = sum;",
        &["offsets = { offsets = { last = 40,", "scalars = [{ u32 = \"min(n, 32)\" }]"],
    ),
];

fn led_shader((declared, body): (&str, &str)) -> String {
    format!(
        "{declared}
         @group(0) @binding(1) var<storage, read_write> b: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {{
             {body}
         }}"
    )
}

/// What arrays of structs hold is proposed member by member, and the file that `--init` writes gives the same contents.
#[test]
fn members_are_proposed_from_how_they_are_used() {
    for (declared, body, expected) in LED {
        let derived =
            ProfileRequest { description: None, ..request(&led_shader((declared, body)), "") };
        let text = template(&derived).unwrap();
        for line in expected {
            assert!(text.contains(line), "{line}: {text}");
        }
        let loaded = request(&derived.source, &text);
        for n in [48, 1000] {
            let [without, with] = [&derived, &loaded]
                .map(|request| launch_of(&ProfileRequest { n: Some(n), ..request.clone() }));
            assert_eq!(without.buffers, with.buffers, "{text}");
        }
    }
}

/// A correct shader stays within its arrays, however many elements there are.
#[test]
fn the_default_launch_stays_within_arrays_that_lead_into_one_another() {
    let width = crate::units::Width::new(32).unwrap();
    for (declared, body, _) in LED {
        for n in [1, 48, 100, 1024, 4096] {
            let source = led_shader((declared, body));
            let derived = ProfileRequest { description: None, n: Some(n), ..request(&source, "") };
            let launch = pilot::prepare_affordable(&derived, &mut no_files).unwrap().launch;
            let mut simulator = SimulatorRunner::new(width, 1 << 26);
            let counted =
                simulator.count_once(&launch, &CountRequest::once(Method::Executed)).unwrap();
            let outside = counted
                .flags
                .iter()
                .find(|flag| matches!(flag.tag, Tag::ReadOutOfBounds | Tag::WriteOutOfBounds));
            assert_eq!(outside, None, "n = {n}: {source}");
            // A launch in which nobody does anything would stay within them, too.
            let counts = &counted.dispatches[0].counts;
            let reached = counts.iter().filter(|count| count.executions.0 > 0).count();
            assert!(n < 100 || 2 * reached > counts.len(), "n = {n}: {source}");
        }
    }
}

/// Members by the launch file: each its own fill, nested ones too, and the others by type.
#[test]
fn members_are_filled_by_name() {
    let source = "struct Edge { to: u32, weight: f32 }
        struct Graph { count: u32, scale: f32, offsets: array<u32, 5>, edges: array<Edge> }
        @group(0) @binding(0) var<storage, read_write> a: Graph;
        @compute @workgroup_size(64) fn main() { a.edges[0].to = a.offsets[0] + a.count; }";
    let with = |fill: &str| {
        let text = format!("[[buffers]]\nname = \"a\"\nelements = 3\nfill = {fill}\n");
        request(source, &text)
    };
    let given = "{ members = { count = { constant = 4 }, offsets = { series = { first = 0, step = 3 } }, \
                 edges = { members = { to = { constant = 9 } } } } }";
    let launch = launch_of(&with(given));
    let words = integers(&launch, "a");
    assert_eq!((words[0], &words[2..7]), (4, &[0, 3, 6, 9, 12][..]));
    let edges: Vec<&[u32]> = words[7..].chunks(2).collect();
    assert_eq!(edges.len(), 3);
    for edge in &edges {
        assert_eq!(edge[0], 9);
        assert!((0.0..1.0).contains(&f32::from_bits(edge[1])), "{edges:?}");
    }
    assert!((0.0..1.0).contains(&f32::from_bits(words[1])), "left out, so by type");
    let part = "{ members = { offsets = { file = \"a.bin\" } } }";
    let bytes = [1_u32, 2, 3, 4, 5].map(u32::to_le_bytes).concat();
    let launch = prepare(&with(part), &mut |_| Ok(bytes.clone())).unwrap().launch;
    assert_eq!(integers(&launch, "a")[2..7], [1, 2, 3, 4, 5]);
    refused(
        &with("{ members = { rows = \"zero\" } }"),
        "has no member `rows`; it has: count, scale",
    );
    refused(
        &with("{ members = { count = { members = { x = \"zero\" } } } }"),
        "buffer `a.count` is no struct, so it takes no `members`",
    );
    refused(
        &with("{ members = { count = { constant = -1 } } }"),
        "member `count`: the range from -1",
    );
}

/// Rows that follow one another are launched so that each element has an invocation.
#[test]
fn a_grid_of_rows_of_a_fixed_length_covers_every_element_once() {
    for (index, n, expected) in [
        ("g.y * 65535u * 64u + g.x", 65_536, [1024, 1, 1]),
        ("g.x + g.y * 1024u", 65_536, [16, 64, 1]),
        ("g.y * 1024u + g.x", 100, [2, 1, 1]),
    ] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {{
                let i = {index};
                if i < arrayLength(&a) {{ a[i] = i; }}
            }}"
        );
        let request = ProfileRequest { description: None, n: Some(n), ..request(&source, "") };
        let workgroups = &launch_of(&request).dispatches[0].workgroups;
        assert!(
            matches!(workgroups, Workgroups::Direct(found) if *found == expected),
            "{workgroups:?}"
        );
    }
}

#[test]
fn init_takes_every_entry_point_in_the_order_of_the_text() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64) fn up(@builtin(global_invocation_id) g: vec3u) { a[g.x] += 1; }
        @compute @workgroup_size(8, 8) fn down(@builtin(local_invocation_index) l: u32) { a[l] = 2; }";
    let derived = ProfileRequest { description: None, ..request(source, "") };
    let text = template(&derived).unwrap();
    let launch = launch_of(&request(source, &text));
    let found = launch
        .dispatches
        .iter()
        .map(|dispatch| (dispatch.entry_point.as_str(), dispatch.workgroups.clone()));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("up", Workgroups::Direct([1024, 1, 1])), ("down", Workgroups::Direct([32, 32, 1]))],
        "{text}"
    );
    assert!(text.contains("in the order of the shader's text"), "{text}");
    // One that is asked for stays alone.
    let alone = ProfileRequest { entry_point: Some("down".to_owned()), ..derived };
    let text = template(&alone).unwrap();
    assert_eq!(launch_of(&request(source, &text)).dispatches.len(), 1, "{text}");
}

#[test]
fn a_launch_travels_to_another_process_unchanged() {
    for source in SHADERS {
        let mut launch = launch_of(&request(source, ""));
        launch.buffers[0].fill = Fill::Bytes(vec![0, 1, 127, 255]);
        let text = serde_json::to_string(&launch).unwrap();
        assert_eq!(serde_json::from_str::<Launch>(&text).unwrap(), launch);
    }
}

/// Every fill of the table in `docs/profile.md` is taken, and fills the buffer with its pattern.
#[test]
fn contents_with_structure_are_described_in_a_line() {
    let fill = |text: &str| {
        let description = format!("[[buffers]]\nname = \"index\"\nelements = \"n\"\nfill = {text}");
        launch_of(&ProfileRequest { n: Some(1000), ..request(FILTER, &description) })
    };
    let lines = [
        "{ offsets = { last = \"8 * n\", lengths = \"power_law\" } }",
        "\"permutation\"",
        "{ sorted = { range = [0, \"n\"], moved = 0.05 } }",
        "{ zipf = { ids = 1000, exponent = 1.1 } }",
        "{ points = { from = [0, 0, 0], to = [9, 9, 9], stride = 4 } }",
        "{ image = { width = 256, of = \"noise\", range = [0, 255] } }",
        "{ bvh = { leaves = 50, node = [\"min_x\", \"max_z\", \"left\", \"right\"], tree = \"random\" } }",
    ];
    for line in lines {
        let launch = fill(line);
        let buffer = launch.buffer("index").unwrap();
        assert!(matches!(buffer.fill, Fill::Pattern { .. }), "{line}");
        assert!(launch.depends_on_seed());
        let found = integers(&launch, "index");
        assert!(found.len() == 1000 && found.iter().any(|word| *word != found[0]), "{line}");
    }
    let table = include_str!("../../../docs/profile.md");
    for name in ["offsets", "sorted", "zipf", "points", "image", "bvh", "members"] {
        assert!(table.contains(&format!("`{{ {name} = {{")), "{name}");
    }
}

/// A captured dispatch of [`FILTER`]: two variables are parts of one file, and one is not used by the shader.
const CAPTURED: &str = r#"
[[buffers]]
group = 0
binding = 0
fill = { file = { name = "memory_0.bin", offset = 16, bytes = 16 } }
[[buffers]]
group = 0
binding = 1
fill = { file = { name = "memory_0.bin", bytes = 16 } }
[[buffers]]
group = 0
binding = 2
fill = { file = "memory_1.bin" }
[[buffers]]
group = 0
binding = 3
fill = { file = "memory_2.bin" }
after = "memory_2.after.bin"
[[buffers]]
group = 0
binding = 4
fill = { file = { name = "memory_2.bin", bytes = 64 } }
[[buffers]]
group = 0
binding = 9
fill = { file = "memory_0.bin" }
[[dispatches]]
entry_point = "main"
workgroups = [1, 1, 1]
[capture]
version = 1
shader = "shader.wgsl"
"#;

fn captured_file(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "memory_0.bin" => Ok((0..32).collect()),
        "memory_1.bin" => Ok(vec![0; 16]),
        "memory_2.bin" | "memory_2.after.bin" => Ok(vec![7; 64]),
        _ => Err(format!("{name} is not there")),
    }
}

#[test]
fn a_captured_dispatch_binds_by_place_and_says_nothing_of_n() {
    let prepared = prepare(&request(FILTER, CAPTURED), &mut captured_file).unwrap();
    let launch = prepared.launch;
    assert!(launch.parameters.is_empty() && !prepared.n_is_default, "{:?}", launch.parameters);
    let names: Vec<(&str, u64)> =
        launch.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.size)).collect();
    let wanted = [("params", 16), ("input", 16), ("index", 16), ("output", 64), ("hits", 64)];
    assert_eq!(names, wanted);
    let params = launch.contents(launch.buffer("params").unwrap());
    assert_eq!(params, (16..32).collect::<Vec<u8>>());
    assert_eq!(launch.after["output"].bytes, [7; 64]);
    let given = ProfileRequest { n: Some(64), ..request(FILTER, CAPTURED) };
    let message = prepare(&given, &mut captured_file).unwrap_err().to_string();
    assert!(message.contains("n = 64 has no effect"), "{message}");
    let lacking = CAPTURED.replacen("binding = 2", "binding = 8", 1);
    let message = prepare(&request(FILTER, &lacking), &mut captured_file).unwrap_err().to_string();
    assert!(message.contains("holds nothing for `index` at @group(0) @binding(2)"), "{message}");
    let both = CAPTURED.replacen("group = 0", "name = \"params\"\ngroup = 0", 1);
    let message = prepare(&request(FILTER, &both), &mut captured_file).unwrap_err().to_string();
    assert!(message.contains("leave one out"), "{message}");
}

#[test]
fn immediates_are_taken_from_a_file() {
    let text = "var<immediate> seeds: vec2<u32>;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() { o[0] = seeds.x + seeds.y; }";
    let given = "immediates = { file = { name = \"memory_0.bin\", offset = 4, bytes = 8 } }";
    let prepared = prepare(&request(text, given), &mut captured_file).unwrap();
    assert_eq!(prepared.launch.immediates, (4..12).collect::<Vec<u8>>());
    let odd = given.replace("bytes = 8", "bytes = 7");
    let message = prepare(&request(text, &odd), &mut captured_file).unwrap_err().to_string();
    assert!(message.contains("no multiple of 4"), "{message}");
    let short = given.replace("bytes = 8", "bytes = 29");
    let message = prepare(&request(text, &short), &mut captured_file).unwrap_err().to_string();
    assert!(message.contains("29 from byte 4 on"), "{message}");
}

/// A launch file in which a byte is another one, or a piece is missing, is taken or refused with a sentence.
#[test]
fn a_damaged_launch_file_ends_in_a_launch_or_a_sentence() {
    let mut random = crate::units::random::SplitMix64::new(27);
    let mut below = |count: usize| random.below(count);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..2000 {
        let mut bytes = CAPTURED.as_bytes().to_vec();
        let at = below(bytes.len());
        match below(3) {
            0 => bytes[at] = b"0123456789-\"{}[]=.\n\0"[below(20)],
            1 => drop(bytes.drain(at..(at + below(40)).min(CAPTURED.len()))),
            _ => bytes.insert(at, b"9-.\"\n"[below(5)]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Ok(description) = Description::parse_launch_file("launch.toml", &text) else {
            refused += 1;
            continue;
        };
        let description = Some(("launch.toml".to_owned(), description));
        match prepare(&ProfileRequest { description, ..request(FILTER, "") }, &mut captured_file) {
            Ok(_) => taken += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(taken > 20 && refused > 200, "{taken} taken, {refused} refused");
}
