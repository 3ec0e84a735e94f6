//! Tests of the page, on the synthetic run.

use super::*;
use crate::fixtures;

/// Returns the page of the synthetic run.
fn page() -> String {
    html(&[fixtures::compared_run()], &[]).expect("a page")
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_it_shows() {
    let page = page();
    for outside in ["<script", "<link", "<img", "src=", "url(", "@import", "https://"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The only address is the SVG name space, which nobody fetches.
    let addresses = page.matches("http://").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    assert!(page.contains("v = fma(v, a, b); &#x2f;&#x2f; &lt;synthetic&gt;"), "source is escaped");
    assert!(page.contains("&lt;device lost&gt;") && !page.contains("<device lost>"));
    assert!(!page.contains("<synthetic>") && !page.contains("<storage"));
}

#[test]
fn the_page_has_every_device_kernel_figure_and_finding() {
    let run = fixtures::run();
    let page = page();
    for device in &run.devices {
        assert!(page.contains(&crate::analyze::device_label(&run, &device.id)), "{}", device.id);
    }
    for (name, _, _) in fixtures::PATTERNS {
        assert!(page.contains(name), "{name}");
    }
    // Lanes, ratios and widths, sealed and published; the bars again for narrow screens.
    assert_eq!(page.matches("<figure ").count(), 6);
    assert_eq!(page.matches("<svg ").count(), 6 + 4);
    assert_eq!(page.matches("<details class=\"source\"").count(), 10);
    for text in [
        "16.0 &#x2f; 32 (50.0 %)",
        "work_removed_by_compiler",
        "withheld",
        "did not finish",
        "0123456789abcdef with changes",
        "16 lanes: 33,554,432 executions (100.0 %)",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn an_empty_run_still_makes_a_page_and_no_run_makes_none() {
    let mut run = fixtures::run();
    run.devices.clear();
    run.measurements.clear();
    let page = html(&[run], &[]).expect("a page");
    for text in ["No device was opened", "Nothing was measured", "No flag was raised"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(matches!(html(&[], &[]), Err(ReportError::Runs(_))));
}

#[test]
fn several_runs_stand_side_by_side() {
    let run = fixtures::run();
    let page = html(&[run.clone(), run], &[]).expect("a page");
    assert!(page.contains("wgpu:0 (2)"));
    assert_eq!(page.matches("Started</th>").count(), 2);
}

#[test]
fn peers_have_a_table_of_their_own() {
    let row = PeerRow {
        work: "scan_u32".to_owned(),
        n: 1 << 26,
        peer: "cub".to_owned(),
        peer_median_ns: 177_900.0,
        device: "NVIDIA H200".to_owned(),
        median_ns: 150_300.0,
        speed_ratio: 177.9 / 150.3,
        bytes_moved: 1 << 29,
        copy_rate_ratio: 0.84,
        cold: true,
    };
    let page = html(&[fixtures::run()], &[row]).expect("a page");
    for part in ["scan_u32", "67,108,864", "150 µs", "178 µs", "1.184×", "84.0 %", "cold"] {
        assert!(page.contains(part), "{part}");
    }
    let without = html(&[fixtures::run()], &[]).expect("a page");
    assert!(!without.contains("id=\"peers\"") && !without.contains("href=\"#peers\""));
    // The list of sections leads to every section that there is.
    for page in [&page, &without] {
        let sections = page.matches("<h2 id=\"").count();
        assert_eq!(page.matches("<a href=\"#").count(), sections);
        let ids = page.split("<h2 id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for id in ids {
            assert!(page.contains(&format!("<a href=\"#{id}\">")), "{id}");
        }
    }
}

#[test]
fn hardware_counters_of_each_measurement_are_on_the_page() {
    let mut run = fixtures::counters();
    let page = html(&[run.clone()], &[]).expect("a page");
    let measurement = &run.measurements[0];
    assert!(measurement.counters.len() > 20, "{}", measurement.counters.len());
    for counter in &measurement.counters {
        assert!(page.contains(&counter.name), "{}", counter.name);
        let unit = counter.unit.replace('/', "&#x2f;");
        assert!(page.contains(&unit), "{unit}");
    }
    assert_eq!(page.matches("<details class=\"counters\"").count(), 1);
    assert!(page.contains("Avg. Active Threads Per Warp"));
    let counted = format::lanes(measurement.active_lanes_mean);
    assert!(page.contains(&format!("lanes {counted} in the source")), "{counted}");
    // Without counters there is no section; with a reason for that alone, the reason.
    run.measurements[0].counters.clear();
    run.measurements[0].counters_from = None;
    let page = html(&[run.clone()], &[]).expect("a page");
    assert!(!page.contains("id=\"counters\""));
    run.measurements[0].counters_missing = vec!["no hardware counters: <none>".to_owned()];
    let page = html(&[run], &[]).expect("a page");
    assert!(page.contains("no hardware counters: &lt;none&gt;"));
}

#[test]
fn what_sorting_gains_is_on_the_page_and_the_page_stays_readable() {
    let run = fixtures::sorting_sweep();
    let page = html(std::slice::from_ref(&run), &[]).expect("a page");
    let text = |text: &str| text.replace('/', "&#x2f;").replace('\'', "&#x27;");
    for sentence in crate::analyze::crossover_sentences(&run) {
        assert!(page.contains(&text(&sentence)), "{sentence}");
    }
    for line in crate::analyze::MODEL_LEGEND {
        assert!(page.contains(&text(line)), "{line}");
    }
    let table = &crate::analyze::model_tables(&run)[0];
    let shown = page.matches("<tr><td data-name=\"kernel\">sorted over divergent").count();
    assert_eq!(shown, 11 * 30, "every row, the unusual ones folded");
    let rows = table.others.len();
    let folded = format!("<summary>{rows} rows of less usual parameters</summary>");
    assert!(page.contains(&folded), "{folded}");
    assert_eq!(page.matches("where each kernel is as fast as").count(), 1);
    // Lines of each kernel once; the summary, with its 1650 rows, folded.
    assert_eq!(page.matches("<details class=\"source\"").count(), 5);
    assert!(page.contains("the lines of 1645 other measurements are in the record"));
    assert!(page.contains("<summary>1595 rows of less usual parameters</summary>"));
    // Where nothing is compared, there is no such section.
    let page = html(&[fixtures::run()], &[]).expect("a page");
    assert!(!page.contains("id=\"sorting\"") && !page.contains("href=\"#sorting\""));
}

#[test]
fn a_record_of_kernels_that_nobody_here_knows_makes_its_own_tables_charts_and_page() {
    let mut run = fixtures::compared_run();
    let renamed = |kernel: &str| kernel.replace("five_patterns/", "unheard_of/");
    for measurement in &mut run.measurements {
        measurement.kernel = renamed(&measurement.kernel);
    }
    let notes = std::mem::take(&mut run.kernels).into_iter();
    run.kernels = notes
        .map(|(kernel, mut note)| {
            note.baseline = note.baseline.as_deref().map(renamed);
            note.published = Some(crate::record::PublishedFigure {
                active_lanes_mean: 16.0,
                hardware: "a machine elsewhere".to_owned(),
                subgroup_width: None,
            });
            (renamed(&kernel), note)
        })
        .collect();
    let catalogue = crate::kernel::Catalogue::embedded().expect("a catalogue");
    assert!(catalogue.all().all(|kernel| !kernel.id.starts_with("unheard_of/")));
    // As a file that another program wrote.
    let path = std::path::Path::new("elsewhere.json");
    let text = crate::store::encode(&run, path).expect("encodes");
    let loaded = crate::store::decode(&text, path).expect("loads");
    let tables = crate::present::tables(&loaded);
    let summary = tables.iter().find(|(section, _)| *section == crate::present::Section::Summary);
    let names: Vec<&str> =
        summary.expect("a summary").1.columns.iter().map(|column| column.name.as_str()).collect();
    assert!(
        ["ratio", "predicted", "published"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );
    let figures: Vec<String> =
        crate::chart::figures(&loaded).into_iter().map(|figure| figure.name).collect();
    for name in ["lanes-unheard_of-sealed", "time-unheard_of-sealed", "widths-sealed"] {
        assert!(figures.iter().any(|figure| figure == name), "{name}: {figures:?}");
    }
    let page = html(&[loaded], &[]).expect("a page");
    assert_eq!(page.matches("<figure ").count(), figures.len());
    for text in ["unheard_of&#x2f;branch_by_lane", "a machine elsewhere"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn figures_have_names_of_their_own() {
    let runs = [fixtures::compared_run(), fixtures::sorting_sweep(), fixtures::counters()];
    let joined = merge(&[runs[0].clone(), runs[0].clone()]).expect("two runs");
    for run in runs.iter().chain([&joined]) {
        let figures = crate::chart::figures(run);
        let names: std::collections::BTreeSet<&str> =
            figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names.len(), figures.len(), "{names:?}");
    }
}
