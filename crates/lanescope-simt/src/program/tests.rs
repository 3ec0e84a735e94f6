//! Tests of loading and block numbering.

use super::*;

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
    let mut lines = std::collections::BTreeSet::new();
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
