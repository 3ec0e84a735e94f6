//! What a model of memory says of small shaders: figures worked out by hand, the cards on planted
//! causes, and none without one; races in words.

use super::*;
use crate::analyze::{Rule, advice, advice_of, looked_at, profiles};
use crate::fixtures;
use crate::record::{MadeUp, Run, Trust};

/// A shader of workgroups of 64 with `rows`, `out`, `hits` and a tile of 64 × 32 words.
fn shader(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read_write> hits: array<atomic<u32>>;
var<workgroup> tile: array<u32, 2048>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {{
{body}
}}
"
    )
}

/// The body's first line.
const HEAD: u32 = 7;

fn device(body: &str) -> (Profile, DeviceProfile) {
    let run = fixtures::watched(&shader(body), 1024, &[32]);
    let profile = profiles(&run).remove(0);
    let device = profile.devices[0].clone();
    assert_eq!(device.error, None, "{body}");
    (profile, device)
}

/// The cards of the model, as rule and line of the body.
fn cards(body: &str) -> Vec<(Rule, u32)> {
    let modelled = advice(&device(body).1).into_iter().filter(|card| card.modelled.is_some());
    modelled.map(|card| (card.rule, card.line - HEAD)).collect()
}

#[test]
fn planted_causes_get_a_card_and_their_cures_none() {
    let planted = [
        ("out[id.x] = rows[(id.x * 32u) % 1024u];", Some(Rule::ScatteredAccess)),
        ("out[id.x] = rows[id.x];", None),
        // A branch that turns every other lane off leaves gaps: the addresses are not to blame.
        ("if id.x % 2u == 0u {\nout[id.x] = rows[id.x];\n}", None),
        ("tile[i * 32u] = id.x;\nworkgroupBarrier();\nout[id.x] = tile[i * 32u];", {
            Some(Rule::BankConflict)
        }),
        ("tile[i] = id.x;\nworkgroupBarrier();\nout[id.x] = tile[63u - i];", None),
        ("atomicAdd(&hits[id.x % 2u], 1u);", Some(Rule::CrowdedAtomic)),
        ("atomicAdd(&hits[id.x], 1u);", None),
        // A load of one word serves all lanes at once, an atomic one too.
        ("out[id.x] = atomicLoad(&hits[0]);", None),
        (
            "if i < 32u {\nfor (var t = 0u; t < 64u; t++) { tile[i] += t; }\n}\nworkgroupBarrier();\n\
             out[id.x] = tile[i];",
            Some(Rule::WaitAtBarrier),
        ),
    ];
    for (body, rule) in planted {
        let found = cards(body);
        assert_eq!(found.first().map(|card| card.0), rule, "{body}: {found:?}");
    }
    let wait = cards(planted[8].0);
    assert_eq!(wait[0].1, 3, "the barrier's line: {wait:?}");
}

#[test]
fn a_card_advises_what_fits_the_distance_of_neighbouring_lanes() {
    let cases = [
        ("out[id.x] = rows[(id.x * 32u) % 1024u];", "128 bytes apart"),
        ("out[id.x] = rows[(id.x * id.x * 37u) % 1021u];", "lie apart here: let them access"),
        ("out[id.x] = rows[(rows[id.x] * 37u) % 1021u];", "The index comes from data"),
        ("tile[i * 32u] = id.x;\nworkgroupBarrier();\nout[id.x] = tile[i * 32u];", "i + i / 32"),
        // Many distances, of which none comes from data.
        ("tile[(i * i) % 31u * 32u] = id.x;", "i + i / 32"),
        ("tile[rows[id.x] % 31u * 32u] = id.x;", "the index comes from data"),
    ];
    for (body, expected) in cases {
        let cards = advice(&device(body).1);
        let card = cards.iter().find(|card| card.modelled.is_some()).expect("a card");
        assert!(card.sentence.contains(expected), "{body}: {}", card.sentence);
    }
}

#[test]
fn a_line_that_scatters_twice_has_one_card() {
    let body = "out[(id.x * 32u) % 1024u] = rows[(id.x * 16u) % 1024u];";
    assert_eq!(cards(body), [(Rule::ScatteredAccess, 0)]);
    let found = advice(&device(body).1);
    let card = found.iter().find(|card| card.rule == Rule::ScatteredAccess).expect("a card");
    assert!(
        card.reason.contains("loads of rows") && card.reason.contains("stores of out"),
        "{card:?}"
    );
}

#[test]
fn rows_have_the_ratios_of_the_model() {
    let (_, device) = device("out[id.x] = rows[(id.x * 8u) % 1024u];");
    let view = memory_view(&device).expect("somebody looked");
    let row = |name: &str| {
        let is = |row: &&MemoryRow| row.buffer.as_deref() == Some(name);
        view.rows.iter().find(is).expect("a row").clone()
    };
    // A word of each sector of 32 bytes, a fourth of each line of 128.
    let load = row("rows");
    assert_eq!((load.does, load.executions, load.lanes_mean), (Touching::Load, 32, 32.0));
    assert_eq!(load.sectors.map(|over| over.ratio), Some(8.0));
    assert_eq!(load.cache_lines.map(|over| over.ratio), Some(8.0));
    let store = row("out");
    assert_eq!(store.sectors.map(|over| (over.taken, over.excess)), Some((128, 0)));
    assert_eq!((store.passes, store.turns), (None, None));
    assert_eq!(view.workgroups, [16, 16]);
    assert_eq!(view.never_launched, Some(Ratio(0.0)));
}

#[test]
fn lanes_that_are_never_launched_are_told() {
    let text = shader("out[id.x] = i;").replace("@workgroup_size(64)", "@workgroup_size(48)");
    let run = fixtures::watched(&text, 1024, &[32]);
    let view = memory_view(&profiles(&run)[0].devices[0]).expect("somebody looked");
    assert_eq!(view.never_launched, Some(Ratio(0.25)));
    let told =
        "25.0 % of the lanes have no invocation: workgroups (line 5) are no multiple of the width.";
    assert!(view.sentences().iter().any(|sentence| sentence == told), "{:?}", view.sentences());
    let memory = profiles(&run)[0].devices[0].memory.clone().expect("somebody looked");
    let empty: Vec<_> = memory.dispatches.iter().map(|seen| seen.lanes_never_launched).collect();
    let workgroups = memory.dispatches[0].workgroups;
    assert_eq!(empty, [Some(16 * workgroups)]);
}

/// Where no other size of workgroups can be tried, a tenth of the lanes without an invocation gets a card that says why.
#[test]
fn lanes_that_are_never_launched_have_a_card_where_no_size_was_tried() {
    let card = |size: u32| {
        let sized = format!("@workgroup_size({size})");
        let text = shader("out[id.x] = i;").replace("@workgroup_size(64)", &sized);
        let cards = advice(&profiles(&fixtures::watched(&text, 1024, &[32]))[0].devices[0]);
        cards.into_iter().find(|card| card.rule == Rule::WorkgroupSize)
    };
    let card_of_48 = card(48).expect("a card");
    assert_eq!((card_of_48.line, card_of_48.saved_operations), (HEAD - 2, 0));
    let modelled = card_of_48.modelled.as_deref();
    assert_eq!(modelled, Some("25.0 % of the lanes have no invocation"));
    assert!(card_of_48.reason.contains("uses places in the workgroup"), "{card_of_48:?}");
    // 4 lanes of 64.
    assert_eq!(card(60), None);
    assert_eq!(card(64), None);
}

/// A card of the model says what the model says at other widths.
#[test]
fn cards_of_the_model_have_the_other_widths() {
    let profile_of =
        |body: &str| profiles(&fixtures::watched(&shader(body), 1024, &[32, 64])).remove(0);
    let profile = profile_of("out[id.x] = rows[(id.x * 32u) % 1024u];");
    let cards = advice_of(&profile);
    let card = cards.iter().find(|card| card.device == "sim:32" && card.modelled.is_some());
    let [(width, words)] = &card.expect("a card").modelled_at[..] else { panic!("{cards:#?}") };
    assert_eq!(width.lanes(), 64);
    let words = words.as_deref().expect("it scatters at 64 lanes too");
    assert!(words.contains("times the sectors needed"), "{words}");
    // The whole workgroup is one subgroup of 64 lanes, and waits for nobody.
    let profile = profile_of(
        "if i < 32u {\nfor (var t = 0u; t < 64u; t++) { tile[i] += t; }\n}\nworkgroupBarrier();\n\
         out[id.x] = tile[i];",
    );
    let cards = advice_of(&profile);
    let card = cards.iter().find(|card| card.rule == Rule::WaitAtBarrier).expect("a card");
    assert_eq!((card.width.lanes(), card.modelled_at.len()), (32, 1));
    assert_eq!(card.modelled_at[0].1, None);
}

/// Counts that no made-up contents decide stay guaranteed; what accesses take by their indices is of generated data.
#[test]
fn what_made_up_indices_take_is_of_generated_data() {
    let text = shader("out[id.x] = rows[(rows[id.x] * 37u) % 1021u];");
    let mut run = fixtures::watched(&text, 1024, &[32]);
    let device = |run: &Run| profiles(run)[0].devices[0].clone();
    let scattered = |run: &Run| {
        let mut cards = advice(&device(run)).into_iter();
        let card = cards.find(|card| card.rule == Rule::ScatteredAccess);
        card.expect("a card").modelled.expect("a model")
    };
    let is_generated = |run: &Run| memory_view(&device(run)).expect("watched").is_generated();
    assert!(!is_generated(&run) && !scattered(&run).contains("generated"));
    run.measurements[0].made_up = vec![MadeUp {
        buffer: "rows".to_owned(),
        conditions: Vec::new(),
        indices: vec![HEAD],
        zeros: false,
        asked: false,
        constants: Vec::new(),
    }];
    assert!(is_generated(&run) && scattered(&run).ends_with(", of generated data"));
    assert_eq!(device(&run).trust, Trust::Guaranteed);
    let sentences = memory_view(&device(&run)).expect("watched").sentences();
    let told = "Indices on line 7 follow contents of rows that were made up";
    assert!(sentences.iter().any(|sentence| sentence.starts_with(told)), "{sentences:?}");
}

/// Of several entry points each that leaves lanes empty is named, and no other.
#[test]
fn lanes_that_are_never_launched_are_told_by_entry_point() {
    let text = shader("out[id.x] = i;").replace("@workgroup_size(64)", "@workgroup_size(48)");
    let run = fixtures::watched(&text, 1024, &[32]);
    let mut device = profiles(&run)[0].devices[0].clone();
    let mut full = device.dispatches[0].clone();
    full.entry_point = "full".to_owned();
    full.workgroup_size = [64, 1, 1];
    device.dispatches.push(full);
    let view = memory_view(&device).expect("somebody looked");
    assert_eq!(view.never_launched_by, [("main".to_owned(), 48, Ratio(0.25))]);
    let sentences = view.sentences();
    let ends = " (`main`, 48 invocations each: 25.0 %).";
    assert!(sentences.iter().any(|sentence| sentence.ends_with(ends)), "{sentences:?}");
}

/// Atomics of workgroup memory have turns by line, as those of buffers do, and a card.
#[test]
fn crowded_atomics_of_workgroup_memory_are_counted_by_line() {
    let text = shader("atomicAdd(&counts[i % 2u], 1u);\nworkgroupBarrier();\nout[id.x] = i;")
        .replace(
            "var<workgroup> tile: array<u32, 2048>;",
            "var<workgroup> counts: array<atomic<u32>, 2>;",
        );
    let run = fixtures::watched(&text, 1024, &[32]);
    let device = profiles(&run)[0].devices[0].clone();
    let view = memory_view(&device).expect("somebody looked");
    let row = view.rows.iter().find(|row| row.buffer.is_none()).expect("a row");
    assert_eq!((row.line, row.does, row.executions), (HEAD, Touching::Atomic, 32));
    // 16 lanes of 32 on each of two words.
    assert_eq!(row.turns.map(|over| (over.taken, over.ratio)), Some((512, 16.0)));
    let card = advice(&device).into_iter().find(|card| card.rule == Rule::CrowdedAtomic);
    let card = card.expect("a card");
    assert_eq!(card.line, HEAD);
    assert!(
        card.reason.contains("In a model of no particular machine the atomics of workgroup memory")
    );
}

#[test]
fn races_are_told_with_both_lines_and_an_example() {
    let (profile, _) = device("tile[i] = id.x;\nout[id.x] = tile[(i + 32u) % 64u];");
    let races = profile.races();
    assert_eq!(races.len(), 1, "{races:?}");
    assert!(races[0].starts_with("data race in workgroup memory, line 7 writes what line 8 reads"));
    let seen = format!("invocations 0 and 32 of workgroup 0; seen {} times", grouped_text(1024));
    assert!(races[0].contains(&seen), "{races:?}");
    let (profile, device) =
        device("tile[i] = id.x;\nworkgroupBarrier();\nout[id.x] = tile[63u - i];");
    assert_eq!(profile.races(), [] as [String; 0]);
    let looked = looked_at(&device);
    assert!(looked.contains("3 accesses to memory") && looked.contains("data races"), "{looked}");
    let (profile, _) = self::device("if id.x % 64u == 0u { out[0] = 7u; }");
    assert!(profile.races()[0].contains("same value each time"), "{:?}", profile.races());
    // What a record does not list is counted, behind what it lists.
    let (mut profile, _) = self::device("tile[i] = id.x;\nout[id.x] = tile[(i + 32u) % 64u];");
    for (more, told) in [(1, "1 more pair of lines races, "), (1200, "more pairs of lines race, ")]
    {
        let memory = profile.devices[0].memory.as_mut().expect("somebody looked");
        memory.dispatches[0].races_unlisted = Some(more);
        let races = profile.races();
        assert!(races.len() == 2 && races[1].contains(told), "{races:?}");
        assert!(races[1].starts_with(&grouped_text(more.into())), "{races:?}");
    }
}
