//! Tests of the page, on what the simulator counted.

use super::*;
use crate::{
    analyze::{advice_of, profiles},
    fixtures::{DEMO, random_words, simulated, watched},
    record::{MadeUp, Tag},
};

fn page_of(run: &Run) -> String {
    let profile = &profiles(run)[0];
    profile_html(profile, &advice_of(profile), run).expect("a page")
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_it_shows() {
    let page = page_of(&simulated(DEMO, random_words(), 32, &[32, 64]));
    for outside in ["<script", "<link", "<img", "src=", "url(", "@import", "http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("&#x2f;&#x2f; &lt;trips&gt; &amp; more"), "the source is escaped");
    assert!(!page.contains("<trips>") && !page.contains("<storage"));
}

#[test]
fn every_device_line_and_figure_is_text() {
    let run = simulated(DEMO, random_words(), 32, &[32, 64]);
    let page = page_of(&run);
    let profile = &profiles(&run)[0];
    for device in &profile.devices {
        for line in &device.lines {
            let shown = lanes(line, device.column.width).replace('/', "&#x2f;");
            let label = &device.column.label;
            let sheet = format!("Line {}, {label}: {shown}", line.line);
            assert!(page.contains(&sheet), "{sheet}");
        }
    }
    for number in 1..=DEMO.lines().count() {
        assert_eq!(page.matches(&format!("id=\"L{number}\"")).count(), 1);
    }
    for card in advice_of(profile) {
        let link = format!("<h3>{}, <a href=\"#L{}\">", card.rule.name(), card.line);
        assert!(page.contains(&link), "{link}");
        assert!(
            page.contains(&format!("{} operations", format::count(card.saved_operations))),
            "{card:?}"
        );
    }
    for told in ["seed 1", "0123456789abcdef with changes", "guaranteed", "workgroups of 80×1×1"]
    {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn a_histogram_holds_every_slot_of_its_line() {
    let run = simulated(DEMO, random_words(), 32, &[32]);
    let device = &profiles(&run)[0].devices[0];
    for line in &device.lines {
        let bins = line.histogram.as_ref().expect("taken");
        let lanes: u128 = (1u128..).zip(bins).map(|(lanes, count)| lanes * count).sum();
        assert_eq!(bins.iter().sum::<u128>(), line.work.subgroup_operations, "line {}", line.line);
        assert_eq!(lanes, line.work.lane_operations, "line {}", line.line);
    }
}

/// What is wrong with the program stands first, then what races, then what was made up, and figures after them.
#[test]
fn faults_races_and_made_up_data_stand_above_the_figures_in_this_order() {
    let text = "@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    if i < 32u { for (var t = 0u; t < 64u; t++) { tile[i] += t; } }
    workgroupBarrier();
    sums[id.x] = tile[i];
    tile[i] = tile[63u - i];
}
";
    let mut run = watched(text, 1024, &[32]);
    run.measurements[0].flags.push(Flag::at(Tag::DivergentBarrier, [6]));
    run.measurements[0].made_up = vec![MadeUp {
        buffer: "sums".to_owned(),
        conditions: vec![5],
        indices: Vec::new(),
        zeros: false,
        asked: false,
        constants: Vec::new(),
    }];
    let page = page_of(&run);
    let parts = [
        "<strong>Error:</strong> line 6: barrier in divergent control flow",
        "data race in workgroup memory",
        "<h1>",
        "Random values decide the branch or loop on line 5 (from sums).",
        "<div class=\"figure\">",
        "barriers passed",
    ];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| page.find(part).unwrap_or_else(|| panic!("{part}: {page}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    let waits = &page[places[5]..];
    assert!(waits.contains("<a href=\"#L6\">6</a>"), "the barrier's line");
}

#[test]
fn a_device_that_failed_has_a_card_and_no_column() {
    let mut run = simulated(DEMO, random_words(), 32, &[32, 64]);
    run.measurements[1].status = Status::Failed;
    run.measurements[1].error = Some("lost <at once>".to_owned());
    run.measurements[1].dispatches.clear();
    let page = page_of(&run);
    assert!(page.contains("Failed: lost &lt;at once&gt;"));
    assert!(page.contains("<th>sim:32</th>") && !page.contains("<th>sim:64</th>"));
    // A run without any counts still makes a page.
    run.measurements[0].dispatches.clear();
    let page = page_of(&run);
    assert!(page.contains("no device here counted them. <code>--device sim:32</code> does."));
    assert!(page.contains("No device here counted the blocks"), "instead of what bars mean");
    assert!(!page.contains("class=\"legend\""));
}

#[test]
fn hardware_counters_and_machine_code_are_on_the_page() {
    let mut run = crate::fixtures::counters();
    let page = page_of(&run);
    let measurement = &run.measurements[0];
    for counter in &measurement.counters {
        assert!(page.contains(&counter.name), "{}", counter.name);
    }
    let code = measurement.dispatches[0].machine_code.as_ref().expect("machine code");
    let lines = analyze::machine::lines(code);
    assert_eq!(page.matches("<details class=\"sass\">").count(), lines.len());
    for outside in ["<script", "<link", "<img", "src=", "url(", "@import", "http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let measurement = &mut run.measurements[0];
    measurement.counters.clear();
    measurement.counters_from = None;
    measurement.counters_missing = vec!["no hardware counters: <none>".to_owned()];
    measurement.dispatches[0].machine_code = None;
    let page = page_of(&run);
    assert!(page.contains("no hardware counters: &lt;none&gt;"), "the reason stands there");
    assert!(!page.contains("Threads Per Warp") && !page.contains("<details"));
}

#[test]
fn the_page_says_what_was_found_and_shows_memory_without_columns_of_dashes() {
    let page = page_of(&watched(DEMO, 4096, &[32]));
    assert!(page.contains("<ul class=\"found\"><li>On average "), "it opens with sentences");
    let memory = page.split_once("id=\"memory\"").expect("memory was watched").1;
    let memory = memory.split_once("id=\"source\"").expect("the source follows").0;
    assert!(memory.contains("<th class=\"n\">line</th>"), "{memory}");
    for table in memory.split("<table>").skip(1) {
        let table = table.split_once("</table>").expect("its end").0;
        let rows: Vec<&str> = table.split("<tr>").skip(2).collect();
        let columns = table.matches("<th ").count();
        let dashes = |column: usize| {
            rows.iter().all(|row| {
                row.split("<td").nth(column + 1).is_some_and(|cell| cell.contains(">–<"))
            })
        };
        assert!(!(0..columns).any(dashes), "{table}");
    }
}
