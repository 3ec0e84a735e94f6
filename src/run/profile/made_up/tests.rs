//! What follows made-up data, by hand.

use super::*;
use crate::kernel::Description;
use crate::run::profile::prepare;

fn request(source: &str, launch_file: Option<&str>) -> ProfileRequest {
    let parse = |text: &str| {
        ("t.toml".to_owned(), Description::parse("t.toml", text).expect("a launch file"))
    };
    ProfileRequest {
        file: "t.wgsl".to_owned(),
        name: "t".to_owned(),
        source: source.to_owned(),
        derived: None,
        description: launch_file.map(parse),
        entry_point: None,
        workgroups: None,
        n: Some(256),
        seed: 1,
    }
}

/// `buffer: conditions; indices`.
fn made_up(source: &str, launch_file: Option<&str>) -> Vec<String> {
    let request = request(source, launch_file);
    let launch = prepare(&request, &mut |_| Err(String::new())).expect("a launch").launch;
    let found = find_made_up(&request, &launch).expect("a shader");
    let line = |buffer: MadeUp| {
        let constants = buffer
            .constants
            .iter()
            .map(|constant| format!(" {} = {}", constant.name, constant.value));
        let constants: String = constants.collect();
        format!("{}: {:?}; {:?}{constants}", buffer.buffer, buffer.conditions, buffer.indices)
    };
    found.into_iter().map(line).collect()
}

/// Rows in the compressed form, an invocation each.
const ROWS: &str = "@group(0) @binding(0) var<storage, read> first: array<u32>;
@group(0) @binding(1) var<storage, read> column: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> count: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= count { return; }
    var sum = 0.0;
    let end = first[id.x + 1u];
    for (var j = first[id.x]; j < end; j++) {
        sum += x[column[j]];
    }
    y[id.x] = sum;
}
";

#[test]
fn branches_turns_and_indices_are_named_with_their_buffer() {
    assert_eq!(made_up(ROWS, None), ["first: [11]; [12]", "column: []; [12]"]);
    // A branch is named by its own line, wherever its condition is worked out.
    let asked_later = "@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let low = keys[id.x] < 7u;
    let twice = id.x * 2u;
    if low { out[id.x] = twice; }
}
";
    assert_eq!(made_up(asked_later, None), ["keys: [7]; []"]);
}

#[test]
fn what_a_launch_file_fills_is_not_made_up() {
    let text = "[[buffers]]\nname = \"first\"\ntype = \"u32\"\nelements = \"n + 1\"\nfill = { series = { first = 0, step = 4 } }\n";
    assert_eq!(made_up(ROWS, Some(text)), ["column: []; [12]"]);
}

/// As `--init` writes them: nobody chose anything.
#[test]
fn random_values_that_a_launch_file_asks_for_are_made_up_too() {
    for fill in ["\"default\"", "{ uniform = [0, 9] }"] {
        let (ty, elements) =
            if fill.starts_with('{') { ("type = \"u32\"\n", "n + 1") } else { ("", "n") };
        let text = format!(
            "[[buffers]]\nname = \"first\"\n{ty}elements = \"{elements}\"\nfill = {fill}\n"
        );
        assert_eq!(made_up(ROWS, Some(&text)), ["first: [11]; [12]", "column: []; [12]"], "{fill}");
    }
}

#[test]
fn zeros_of_atomics_that_a_branch_follows_are_made_up() {
    let text = "@group(0) @binding(0) var<storage, read_write> seen: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> width: vec2u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&y) || id.x > width.x * width.y { return; }
    if atomicLoad(&seen[id.x]) == 0u { y[id.x] += 1.0; }
}
";
    assert_eq!(made_up(text, None), ["seen: [7]; []"]);
    // A launch file that says what it holds is its author's choice; what only counts decides nothing.
    for fill in ["\"zero\"", "{ constant = 1 }"] {
        let file = format!(
            "[[buffers]]\nname = \"seen\"\ntype = \"u32\"\nelements = \"n\"\nfill = {fill}\n"
        );
        assert_eq!(made_up(text, Some(&file)), Vec::<String>::new(), "{fill}");
    }
    let counted =
        text.replace("if atomicLoad(&seen[id.x]) == 0u {", "atomicAdd(&seen[id.x], 1u); {");
    assert_eq!(made_up(&counted, None), Vec::<String>::new());
}

/// An atomic beside an array: zeros and random values, each with what follows it.
#[test]
fn a_struct_s_atomic_is_told_from_its_array() {
    let text = "struct Queue { count: atomic<u32>, items: array<u32> }
@group(0) @binding(0) var<storage, read_write> queue: Queue;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= atomicLoad(&queue.count) { return; }
    y[id.x] = queue.items[id.x];
}
";
    assert_eq!(made_up(text, None), ["queue.count: [6]; []"]);
    let walked = text.replace("y[id.x] = queue.items[id.x]", "y[queue.items[id.x]] += 1u");
    assert_eq!(made_up(&walked, None), ["queue: []; [7]", "queue.count: [6]; []"]);
    // What is put into the array is no part of the counter, from which places come.
    let pushed = "struct Queue { count: atomic<u32>, items: array<u32> }
@group(0) @binding(0) var<storage, read_write> queue: Queue;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let place = atomicAdd(&queue.count, 1u);
    queue.items[place] = keys[id.x];
}
";
    assert_eq!(made_up(pushed, None), Vec::<String>::new());
}

/// A member array is filled as one that stands alone is: one more than rows, into rows of eight in the mean.
#[test]
fn offsets_behind_an_atomic_have_one_more_and_lead_into_rows() {
    let text = "struct Rows { done: atomic<u32>, first: array<u32> }
@group(0) @binding(0) var<storage, read_write> rows: Rows;
@group(0) @binding(1) var<storage, read> value: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0.0;
    for (var j = rows.first[id.x]; j < rows.first[id.x + 1u]; j++) { sum += value[j]; }
    y[id.x] = sum;
    atomicAdd(&rows.done, 1u);
}
";
    let request = request(text, None);
    let launch = prepare(&request, &mut |_| Err(String::new())).expect("a launch").launch;
    let bytes = |name: &str| launch.buffer(name).expect("a buffer").size;
    assert_eq!([bytes("rows"), bytes("value")], [4 + 257 * 4, 8 * 256 * 4]);
    let contents = launch.contents(launch.buffer("rows").expect("a buffer"));
    let words: Vec<u32> =
        contents.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert!(
        words[1..].is_sorted() && (words[0], words[1], words[257]) == (0, 0, 2048),
        "{words:?}"
    );
    // The atomic decides nothing, and of the random members the offsets do; those of a file are their author's.
    assert_eq!(made_up(text, None), ["rows: [8]; [8]"]);
    let file = "[[buffers]]\nname = \"rows\"\nelements = \"n + 1\"\n\
                fill = { members = { first = { series = { first = 0, step = 2 } } } }\n";
    assert_eq!(made_up(text, Some(file)), Vec::<String>::new());
}

#[test]
fn what_was_chosen_is_what_nobody_gave() {
    let chosen = |workgroups, launch_file| {
        let mut request = request(ROWS, launch_file);
        request.workgroups = workgroups;
        let launch = prepare(&request, &mut |_| Err(String::new())).expect("a launch").launch;
        let found = find_made_up(&request, &launch).expect("a shader");
        find_chosen(&request, &found)
    };
    let indices = || Chosen::Indices(vec!["first".to_owned(), "column".to_owned()]);
    assert_eq!(chosen(None, None), [Chosen::Invocations, indices(), Chosen::Lengths]);
    assert_eq!(chosen(Some([4, 1, 1]), None), [indices(), Chosen::Lengths]);
    let described = "[[dispatches]]\nentry_point = \"main\"\nworkgroups = 4\n";
    assert_eq!(chosen(None, Some(described)), [indices()]);
}

/// Each side of an `&&` that ends a loop decides how often it turns.
#[test]
fn each_part_of_a_loops_condition_is_named() {
    let text = "struct Params { limit: u32, threshold: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var k = 0u;
    while k < params.limit && y[id.x] > params.threshold { y[id.x] *= 0.5; k++; }
}
";
    let found = made_up(text, None);
    let params = found.iter().find(|line| line.starts_with("params: [7]")).unwrap();
    assert!(
        params.contains("params.limit = 256") && params.contains("params.threshold = 0."),
        "{params}"
    );
}

/// The limit of a loop and a float that decides are chosen; a count that a branch alone follows is n, and what
/// decides nothing is not spoken of.
#[test]
fn numbers_that_stand_alone_are_named_where_turns_or_floats_follow_them() {
    let text = "struct Params { n: u32, limit: u32, cut: f32, scale: f32, at: vec2f }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
fn turns() -> u32 { return params.limit; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.n { return; }
    var v = params.scale * f32(id.x);
    for (var j = 0u; j < turns(); j++) {
        v = v * 0.5;
    }
    if v < params.cut { v = 1.0; }
    y[id.x] = v + params.at.x;
}
";
    let found = made_up(text, None);
    let [params] = &found[..] else { panic!("{found:?}") };
    assert!(
        params.starts_with("params: [9, 12]; [] params.limit = 256 params.cut = 0."),
        "{params}"
    );
    assert!(params.contains(" params.scale = 0.") && !params.contains("params.at"), "{params}");
    // A copy's fields are those that were copied.
    let copied = text.replace("return params.limit", "let all = params; return all.limit");
    assert_eq!(made_up(&copied, None), std::slice::from_ref(params));
    // Where the whole goes to a variable, what follows one field may follow each.
    let whole = text.replace("return params.limit", "var all = params; return all.limit");
    let found = made_up(&whole, None);
    assert!(found[0].contains("params.n = 256") && found[0].contains("params.at.y"), "{found:?}");
    // A whole number that becomes a float on the way is the size of something, and no limit.
    let side = text.replace("params.scale * f32(id.x)", "params.scale * f32(params.n)");
    assert_eq!(made_up(&side, None), std::slice::from_ref(params));
    let described = "[[buffers]]\nname = \"params\"\nscalars = [{ u32 = 256 }, { u32 = 8 }, { f32 = 1 }, { f32 = 1 }, { f32 = 1 }, { f32 = 1 }]\n";
    assert_eq!(made_up(text, Some(described)), Vec::<String>::new());
}

/// The two numbers of `params` for a body, where n is 256.
fn chosen_bounds(body: &str) -> [u32; 2] {
    let source = format!(
        "struct Params {{ first: u32, end: u32 }}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    {body}
}}
"
    );
    let request = request(&source, None);
    let launch = prepare(&request, &mut |_| Err(String::new())).expect("a launch").launch;
    let buffer = launch.buffer("params").expect("a buffer");
    let bytes = launch.contents(buffer);
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
    [word(0), word(4)]
}

/// A lower bound of n would send everybody home, and an upper one of 0, too.
#[test]
fn lower_bounds_of_places_are_0_and_upper_ones_n() {
    for body in [
        "if id.x >= params.first { y[id.x] = params.end; }",
        "if params.first <= id.x && id.x < params.end { y[id.x] += 1u; }",
        "if id.x < params.first || id.x >= params.end { return; } y[id.x] += 1u;",
        "if !(id.x < params.first) { y[id.x] = params.end; }",
        "let p = params; if id.x >= p.end { return; } if id.x >= p.first { y[id.x] += 1u; }",
        "for (var i = params.first; i < params.end; i++) { y[i % 64u] += 1u; }",
        "var i = id.x; while i < params.end { if i > params.first { y[i] = 1u; } i += 256u; }",
    ] {
        assert_eq!(chosen_bounds(body), [0, 256], "{body}");
    }
    for body in [
        "if id.x >= params.first { return; } y[id.x] = params.end;",
        "if id.x < params.first { y[id.x] = params.end; }",
        "if id.x < params.first { y[id.x] = 1u; } else { y[id.x] = params.end; }",
        // A bound to both sides.
        "if id.x >= params.first { y[id.x] = 1u; } if id.x < params.first { y[id.x] = params.end; }",
    ] {
        assert_eq!(chosen_bounds(body), [256, 256], "{body}");
    }
}

/// What a pass writes from random values is random for the next one.
#[test]
fn what_an_earlier_dispatch_made_of_random_values_is_followed() {
    let text = "@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> t: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn first(@builtin(global_invocation_id) id: vec3u) { t[id.x] = a[id.x] % 32u; }
@compute @workgroup_size(64)
fn second(@builtin(global_invocation_id) id: vec3u) {
    for (var i = 0u; i < t[id.x]; i++) { y[id.x] += i; }
}
";
    let launch = |first: &str| {
        format!(
            "[[buffers]]\nname = \"t\"\ntype = \"u32\"\nelements = \"n\"\nfill = \"zero\"\n\
             [[buffers]]\nname = \"a\"\ntype = \"u32\"\nelements = \"n\"\nfill = {first}\n\
             [[dispatches]]\nentry_point = \"first\"\nworkgroups = 4\n\
             [[dispatches]]\nentry_point = \"second\"\nworkgroups = 4\n"
        )
    };
    let random = launch("{ uniform = [0, 64] }");
    assert_eq!(made_up(text, Some(&random)), ["t: [8]; []"]);
    let given = launch("{ series = { first = 0, step = 1 } }");
    assert_eq!(made_up(text, Some(&given)), Vec::<String>::new());
}

#[test]
fn integers_that_only_bound_places_are_counts_and_others_are_choices() {
    let text = "struct Params { count: u32, width: u32, mode: u32, share: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> length: atomic<u32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.width || id.y * params.width + id.x >= params.count { return; }
    let at = id.y * params.width + id.x;
    if params.mode == 2u { y[at] = 1u; }
    if at % 64u < params.share { y[at] += 2u; }
    if atomicLoad(&length) > 0u { y[at] += 4u; }
}
";
    let found = made_up(text, None);
    let params = found.iter().find(|line| line.starts_with("params")).expect("a line");
    assert!(params.starts_with("params: [9, 10]; []"), "{found:?}");
    assert!(params.contains("params.mode") && params.contains("params.share"), "{found:?}");
    // The width decides, too, whose place has which remainder.
    assert!(!params.contains("params.count"), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("length: [11]")), "{found:?}");
}
