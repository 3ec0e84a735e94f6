//! Tests of the figures, on the synthetic run: what is written in them, and what is refused.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::{
    analyze::{
        BeforeAfter, BeforeAfterRow, CurveSeries, SheetWord, SizeSeries, SizeSweep, SpeedCurve,
        SpeedPanel, SpeedSheet, SpeedupRow, Speedups, StageSheet, StageStack, StageTime,
        SummaryPart, TimeRatio, speed_curves, speed_sheets, summary, width_sweep,
    },
    fixtures,
    record::{PublishedFigure, Tag, Value},
    units::{Nanoseconds, Width},
};

/// Returns the sealed patterns' part of the synthetic table.
fn part() -> SummaryPart {
    let mut run = fixtures::compared_run();
    for note in run.kernels.values_mut() {
        note.published = Some(PublishedFigure {
            active_lanes_mean: 16.0,
            hardware: "RTX <3090>".to_owned(),
            subgroup_width: Width::new(32).ok(),
        });
    }
    let mut parts = summary(&run).parts();
    assert_eq!(parts.len(), 2, "sealed and published");
    parts.swap_remove(0)
}

/// Returns the texts of an SVG, in order.
fn texts(svg: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for part in svg.split("<text").skip(1) {
        let body = part.split_once('>').map_or("", |(_, body)| body);
        texts.push(body.split_once("</text>").map_or("", |(text, _)| text).trim().to_owned());
    }
    texts
}

/// Bars, drawn.
fn drawn(figure: Result<BarFigure, ChartError>) -> String {
    bars::bars(&figure.expect("a figure")).expect("drawn")
}

#[test]
fn the_figure_of_lanes_says_every_number() {
    let svg = drawn(lanes(&part(), i32::MAX));
    insta::assert_snapshot!(texts(&svg).join("\n"));
    assert!(svg.contains("RTX &lt;3090&gt;"), "text is escaped");
}

#[test]
fn the_figure_of_ratios_says_every_number() {
    insta::assert_snapshot!(texts(&drawn(ratios(&part(), Scale::alone(0.0)))).join("\n"), @"
    Time over that of uniform, five_patterns (sealed)
    measured (predicted from counted executions), a bar for each device
    NVIDIA H200 (Vulkan), 32 lanes
    llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan), 8 lanes
    predicted: ratio of Σ operations × executions
    99 % interval
    0.0
    0.5
    1.0
    1.5
    2.0
    time / time of uniform (1: the same time)
    branch_by_lane
    1.996 (predicted 1.996)
    1.996 (predicted 1.996)
    branch_by_quad
    1.996 (predicted 1.996)
    1.996 (predicted 1.996)
    early_exit
    1.996 (predicted 1.996)
    1.988 (predicted 1.988)
    indirect_branch
    1.995 (predicted 1.995)
    1.796 (predicted 1.796)
    ");
}

#[test]
fn the_figure_of_widths_says_every_number() {
    let sweep = width_sweep(&fixtures::run());
    insta::assert_snapshot!(texts(&widths(&sweep).expect("counted")).join("\n"));
}

#[test]
fn a_table_without_figures_gives_no_figure() {
    let mut empty = part();
    for device in &mut empty.devices {
        for row in &mut device.rows {
            row.active_lanes_mean = None;
            row.time_ratio = TimeRatio::None;
        }
    }
    assert_eq!(lanes(&empty, i32::MAX).err(), Some(ChartError::Empty("counted lanes")));
    assert_eq!(ratios(&empty, Scale::alone(0.0)).err(), Some(ChartError::Empty("time ratios")));
    let mut sweep = width_sweep(&fixtures::run());
    for series in &mut sweep.series {
        series.points.retain(|point| point.width.lanes() == 32);
    }
    assert_eq!(widths(&sweep), Err(ChartError::Empty("lanes at several widths")));
}

#[test]
fn the_figure_of_many_crossovers_says_where_each_is() {
    let run = fixtures::sorting_sweep();
    let sheets = speed_sheets(&speed_curves(&run));
    let sheet = sheets.iter().find(|sheet| sheet.name().ends_with("n-arms=equal-input=random"));
    insta::assert_snapshot!(texts(&crossovers(sheet.expect("drawn")).expect("curves")).join("\n"));
    let along_classes = sheets.iter().find(|sheet| sheet.axis == "classes").expect("drawn");
    let texts = texts(&crossovers(along_classes).expect("curves"));
    assert!(
        texts
            .iter()
            .any(|text| text.ends_with("72 curves between or of other parameters not drawn"))
    );
}

#[test]
fn a_curve_that_ends_early_says_what_it_spans_and_has_its_name_beside_the_plot() {
    let curve = |density: f64, points: &[(f64, f64)]| SpeedCurve {
        label: "device".to_owned(),
        kernel: "sparse/map_compact".to_owned(),
        baseline: "sparse/map_branch".to_owned(),
        axis: "rounds".to_owned(),
        axis_words: "number of rounds".to_owned(),
        axis_is_whole: true,
        unusual: BTreeSet::new(),
        variant: BTreeMap::new(),
        fixed: [("density".to_owned(), Value::Real(density))].into(),
        points: points.to_vec(),
    };
    let curves = vec![
        curve(0.1, &[(16.0, 2.0), (64.0, 3.0), (256.0, 4.0)]),
        curve(0.5, &[(16.0, 2.0), (64.0, 2.5)]),
        curve(1.0, &[(64.0, 0.5), (256.0, 2.0)]),
        curve(0.2, &[(16.0, 0.5), (256.0, 0.7)]),
    ];
    let sheet = SpeedSheet {
        baseline: "sparse/map_branch".to_owned(),
        axis: "rounds".to_owned(),
        label: None,
        words: Vec::new(),
        shared: Vec::new(),
        series: Some("density".to_owned()),
        panels: vec![SpeedPanel { kernel: Some("sparse/map_compact".to_owned()), curves }],
        not_shown: 0,
    };
    let svg = crossovers(&sheet).expect("curves");
    let texts = texts(&svg);
    assert!(texts.iter().any(|text| text.starts_with("in brackets: ")), "{texts:?}");
    for words in [
        "at every point",
        "at every point (to 64)",
        "from rounds between 64 and 256 (from 64)",
        "at no point (2 of 3 points)",
    ] {
        assert!(texts.iter().any(|text| text == words), "{words} in {texts:?}");
    }
    // Every name stands in one column beside the plot, and no two touch.
    let names = ["0.1", "0.5", "1", "0.2"];
    let mut places: Vec<(i32, i32)> = svg
        .split("<text ")
        .skip(1)
        .filter(|part| part.contains("bold") && names.contains(&text_of(part)))
        .map(|part| (number_of(part, "x"), number_of(part, "y")))
        .collect();
    places.sort_unstable();
    assert_eq!(places.len(), 4);
    assert!(places.iter().all(|(x, _)| *x == places[0].0), "{places:?}");
    assert!(places.windows(2).all(|pair| pair[1].1 - pair[0].1 >= 13), "{places:?}");
}

/// The text of what follows `<text `.
fn text_of(part: &str) -> &str {
    let body = part.split_once('>').map_or("", |(_, body)| body);
    body.split_once("</text>").map_or("", |(text, _)| text).trim()
}

/// A whole number among the attributes of an element; 0 where it has none.
fn number_of(part: &str, name: &str) -> i32 {
    let value = part.split_once(&format!(" {name}=\"")).or(part.split_once(&format!("{name}=\"")));
    value.and_then(|(_, rest)| rest.split('"').next()?.parse::<i32>().ok()).unwrap_or(0)
}

#[test]
fn parts_of_many_rows_fall_into_sheets() {
    let run = fixtures::sorting_sweep();
    let parts = summary(&run).parts();
    assert_eq!(parts.len(), 1);
    let sheets = parts[0].sheets();
    let words = |sheet: &SummaryPart| {
        sheet.words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let words: Vec<String> = sheets.iter().map(words).collect();
    assert_eq!(
        words,
        [
            "arms=equal input=random",
            "arms=equal input=clustered",
            "arms=equal input=ordered",
            "arms=unequal input=random",
            "arms=unequal input=clustered",
            "arms=unequal input=ordered",
        ]
    );
    assert!(sheets.iter().all(|sheet| sheet.devices[0].rows.len() == 25));
    let texts = texts(&drawn(lanes(&sheets[0], i32::MAX)));
    assert_eq!(texts[0], "Mean active lanes, sort: arms=equal, input=random");
    // What a sheet's launches lack is in its file's name and not in its title, whatever it is called.
    let mut other = sheets[0].clone();
    other.words =
        vec![SheetWord::Lacks("arms".to_owned()), SheetWord::Has("without a guard".to_owned())];
    let title = &self::texts(&drawn(lanes(&other, i32::MAX)))[0];
    assert_eq!(title, "Mean active lanes, sort: without a guard");
    assert_eq!(part_words(&other), "sort-without arms-without a guard");
    // The line beneath is folded.
    let beneath = texts.join(" ");
    assert!(beneath.contains("; largest n of each, 250 smaller not shown"), "{beneath}");
}

#[test]
fn tables_of_many_rows_keep_the_usual_ones_and_count_the_others() {
    let run = fixtures::sorting_sweep();
    let device = &summary(&run).devices[0];
    let (usual, left_out) = device.usual(200);
    // Eight equal arms, random input: 11 sizes of five kernels.
    assert_eq!((usual.rows.len(), left_out), (55, 1650 - 55));
    assert_eq!(device.usual(1650).1, 0);
    let sweeps = analyze::size_sweeps(&run);
    assert_eq!((sweeps[0].series.len(), sweeps[0].not_shown), (5, 145));
    let texts = texts(&bandwidth(&sweeps[0]).expect("rates"));
    let told = "; 145 series of other parameters not shown";
    assert!(texts[2].ends_with(told), "{}", texts[2]);
    assert!(texts[1].ends_with("; all with arms=equal, classes=8, input=random, work=512"));
}

/// Rates of these kernels at each number of rounds of work, at two sizes.
fn rates(kernels: &[&str], work: &[i64], bytes_per_s: f64) -> SizeSweep {
    let series = |kernel: &&str, work: &i64| SizeSeries {
        kernel: format!("sort/{kernel}"),
        parameters: format!("classes=8, work={work}"),
        unusual: 0,
        points: [(64, bytes_per_s / 100.0), (4096, bytes_per_s)].into(),
    };
    SizeSweep {
        family: "sort".to_owned(),
        result: None,
        result_words: None,
        device: "device".to_owned(),
        copy_bytes_per_s: Some(4e12),
        series: work.iter().flat_map(|work| kernels.iter().map(|k| series(k, work))).collect(),
        not_shown: 0,
        single: 3,
    }
}

#[test]
fn rates_of_many_series_have_a_plot_for_each_set_of_parameters() {
    let kernels = ["divergent", "sorted", "separate"];
    let few = texts(&bandwidth(&rates(&kernels, &[32, 128], 3e12)).expect("rates"));
    assert_eq!(few[1], "device; all with classes=8");
    assert!(few[2].ends_with("; 3 series of one size not shown"), "{}", few[2]);
    assert!(few.contains(&"sorted (work=128)".to_owned()), "{few:?}");
    assert!(few.contains(&"measured copy rate, 4.00 TB/s".to_owned()), "{few:?}");
    let many = texts(&bandwidth(&rates(&kernels, &[32, 128, 512], 1e11)).expect("rates"));
    let expected = ["1 divergent", "2 sorted", "3 separate", "work=32", "work=128", "work=512"];
    let named: Vec<&String> =
        many.iter().filter(|text| expected.contains(&text.as_str())).collect();
    assert_eq!(named, expected);
    for number in ["1", "2", "3"] {
        assert_eq!(many.iter().filter(|text| *text == number).count(), 3, "one a plot: {many:?}");
    }
    // Rates lie decades apart.
    assert_eq!(many.iter().filter(|text| *text == "rate (logarithmic)").count(), 3);
    let decades = ["1 GB/s", "10 GB/s", "100 GB/s", "1 TB/s"];
    assert!(decades.iter().all(|rate| many.iter().filter(|text| text == rate).count() == 3));
}

/// A stack of stages in microseconds.
fn stack(kernel: &str, n: i64, stages: &[(&str, f64)], launch: f64) -> StageStack {
    StageStack {
        label: "NVIDIA H200 (Vulkan)".to_owned(),
        kernel: kernel.to_owned(),
        parameters: [("n".to_owned(), Value::Integer(n))].into(),
        stages: stages
            .iter()
            .map(|(name, us)| StageTime { name: (*name).to_owned(), time: Nanoseconds(us * 1e3) })
            .collect(),
        launch: Nanoseconds(launch * 1e3),
        unusual: 0,
    }
}

#[test]
fn the_figure_of_stages_says_every_number_and_what_exceeds_the_launch() {
    let stacks = vec![
        stack("naive", 1024, &[("route", 2.9), ("experts", 934.3)], 937.2),
        stack("sorted", 1024, &[("route", 2.7), ("sort", 11.3), ("experts", 121.5)], 134.2),
        stack("sorted", 65_536, &[("sort", 15.0), ("experts", 280.0), ("mystery", 5.0)], 300.0),
    ];
    let order = || ["route", "sort", "experts"].map(str::to_owned).to_vec();
    let sheet = StageSheet {
        stacks,
        order: order(),
        unusual: 5,
        between: 2,
        sizes_between: vec![4096, 16_384],
        unknown: 2,
    };
    let svg = stages("moe", &sheet).expect("timed");
    insta::assert_snapshot!(texts(&svg).join("\n"));
    // A stage's colour is the same on both figures.
    let stacks = vec![sheet.stacks[0].clone()];
    let alike = StageSheet {
        stacks,
        order: order(),
        unusual: 0,
        between: 0,
        sizes_between: Vec::new(),
        unknown: 0,
    };
    let other = stages("moe", &alike).expect("timed");
    assert!(texts(&other).iter().any(|text| text.contains("one scale for all bars")));
    for svg in [&svg, &other] {
        assert!(svg.contains("#009E73"), "experts are green");
        assert!(svg.contains("#0072B2"), "the route is blue");
    }
    // One scale: the longest launch fills the sheet, and a bar of a third of its time is a third as long.
    let boxes = svg.split("<rect ").skip(1).filter_map(|part| part.split('>').next());
    let ends: Vec<i32> = boxes
        .filter(|part| number_of(part, "height") == 14 && number_of(part, "width") != 14)
        .map(|part| number_of(part, "x") + number_of(part, "width"))
        .collect();
    let longest = 876 - 16;
    #[expect(clippy::cast_possible_truncation, reason = "places on a sheet")]
    let expected = |us: f64| 16 + (us / 937.2 * f64::from(longest)).round() as i32;
    assert_eq!(ends.iter().max(), Some(&876));
    assert!(ends.contains(&expected(135.5)) && ends.contains(&expected(300.0)), "{ends:?}");
}

#[test]
fn the_figure_of_lanes_before_and_after_says_every_number() {
    let row = |width: u32, before: f64, after: f64| BeforeAfterRow {
        kernel: "sorted".to_owned(),
        baseline: "divergent".to_owned(),
        simulated: true,
        label: format!("sim:{width}"),
        parameters: "classes=8, n=8192".to_owned(),
        width: Width::new(width).expect("a width"),
        lanes: [before, after],
    };
    let rows = vec![row(8, 1.6, 7.8), row(32, 4.2, 30.6), row(64, 8.4, 59.1)];
    let table = BeforeAfter { family: "sort".to_owned(), rows, not_shown: 3 };
    insta::assert_snapshot!(texts(&drawn(before_after(&table))).join("\n"), @r#"
    Lanes before and after, sort
    mean active lanes of W, by width W; classes=8, n=8192; counted by the simulator; 3 of other
    parameters or smaller not shown
    before: divergent
    after
    0
    20
    40
    60
    80
    100
    efficiency: mean active lanes / W (%)
    sorted, W = 8
    1.6 / 8 (20.0 %)
    7.8 / 8 (97.5 %)
    sorted, W = 32
    4.2 / 32 (13.1 %)
    30.6 / 32 (95.6 %)
    sorted, W = 64
    8.4 / 64 (13.1 %)
    59.1 / 64 (92.3 %)
    "#);
}

#[test]
fn bars_stand_in_order_of_size() {
    // The places of names among the texts of a figure.
    let order = |svg: &str, names: &[&str]| {
        let texts = texts(svg);
        let place = |name: &&str| texts.iter().position(|text| text == name).expect("is drawn");
        let mut found = names.to_vec();
        found.sort_by_key(place);
        found.join(" ")
    };
    let speedup = |kernel: &str, factor: f64| SpeedupRow {
        kernel: format!("f/{kernel}"),
        published: 1.0,
        measured: vec![Some(factor)],
    };
    let table = Speedups {
        family: "f".to_owned(),
        baseline: "f/b".to_owned(),
        hardware: "a GPU".to_owned(),
        n: 64,
        devices: vec!["device".to_owned()],
        rows: vec![speedup("a", 1.7), speedup("b", 1.0), speedup("c", 2.1)],
    };
    assert_eq!(order(&drawn(speedups(&table)), &["a", "b", "c"]), "c a b");
    let row = |kernel: &str, width: u32, after: f64| BeforeAfterRow {
        kernel: kernel.to_owned(),
        baseline: "plain".to_owned(),
        label: format!("sim:{width}"),
        parameters: String::new(),
        width: Width::new(width).expect("a width"),
        lanes: [1.0, after],
        simulated: true,
    };
    // A kernel's widths stay together, and as they are.
    let rows = vec![row("a", 8, 4.0), row("a", 32, 30.0), row("b", 8, 8.0), row("b", 32, 31.0)];
    let table = BeforeAfter { family: "f".to_owned(), rows, not_shown: 0 };
    let svg = drawn(before_after(&table));
    let names = ["a, W = 8", "a, W = 32", "b, W = 8", "b, W = 32"];
    assert_eq!(order(&svg, &names), "b, W = 8 b, W = 32 a, W = 8 a, W = 32");
}

#[test]
fn a_kernel_on_every_row_stands_in_the_title_and_reasons_alone_are_no_chart() {
    let mut part = part();
    let name = part.devices[0].rows[0].kernel.clone();
    for device in &mut part.devices {
        for (row, size) in device.rows.iter_mut().zip(1..) {
            row.kernel.clone_from(&name);
            row.parameters.insert("size".to_owned(), Value::Integer(size));
        }
    }
    let svg = texts(&drawn(lanes(&part, i32::MAX)));
    let short = name.rsplit('/').next().expect("a name");
    assert!(svg[0].contains(short), "{}", svg[0]);
    assert!(svg.contains(&"size=1".to_owned()) && !svg.contains(&short.to_owned()), "{svg:?}");
    let withheld = TimeRatio::Withheld(Tag::NotInterleaved);
    for row in part.devices.iter_mut().flat_map(|device| &mut device.rows) {
        row.time_ratio = withheld.clone();
    }
    assert_eq!(ratios(&part, Scale::alone(0.0)).err(), Some(ChartError::Empty("time ratios")));
}

/// A text of a figure with the box that it takes, at most.
#[derive(Debug)]
struct Placed {
    text: String,
    left: i32,
    right: i32,
    middle: i32,
    half: i32,
}

impl Placed {
    fn from_part(part: &str) -> Self {
        let text = text_of(part).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        let tag = part.split('>').next().unwrap_or_default();
        let size = number_of(tag, "font-size");
        let plain = canvas::Font::plain(size);
        let font = if tag.contains("bold") { plain.bold() } else { plain };
        let (x, width) = (number_of(tag, "x"), font.width(&text));
        let left = if tag.contains("\"end\"") {
            x - width
        } else if tag.contains("\"middle\"") {
            x - width / 2
        } else {
            x
        };
        // Capitals and digits are three quarters as high as the font's size.
        Self { text, left, right: left + width, middle: number_of(tag, "y"), half: size * 3 / 8 }
    }

    fn touches(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && (self.middle - other.middle).abs() < self.half + other.half
    }

    /// Whether a line between two places runs through it.
    fn is_crossed(&self, from: (i32, i32), to: (i32, i32)) -> bool {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).max(1);
        (0..=steps).any(|step| {
            let at = |a: i32, b: i32| a + (b - a) * step / steps;
            let (x, y) = (at(from.0, to.0), at(from.1, to.1));
            self.left < x && x < self.right && (y - self.middle).abs() < self.half
        })
    }
}

/// What is wrong with where the texts of a figure stand; grid lines may end at a text.
fn misplaced(svg: &str) -> Vec<String> {
    let (width, height) = (number_of(svg, "width"), number_of(svg, "height"));
    let placed: Vec<Placed> = svg.split("<text ").skip(1).map(Placed::from_part).collect();
    let mut wrong = Vec::new();
    for (index, label) in placed.iter().enumerate() {
        if label.left < 0 || label.right > width || label.middle + label.half > height {
            wrong.push(format!("{:?} leaves the sheet: {label:?}", label.text));
        }
        let met = placed[..index].iter().filter(|other| label.touches(other));
        wrong.extend(met.map(|other| format!("{:?} lies on {:?}", label.text, other.text)));
    }
    for part in svg.split("<polyline ").skip(1).filter(|part| !part.contains("#DDDDDD")) {
        let points = part.split_once("points=\"").and_then(|(_, rest)| rest.split('"').next());
        let places: Vec<(i32, i32)> = points
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|pair| pair.split_once(','))
            .filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
            .collect();
        for pair in places.windows(2) {
            let crossed = placed.iter().filter(|label| label.is_crossed(pair[0], pair[1]));
            wrong.extend(crossed.map(|label| format!("a line runs through {:?}", label.text)));
        }
    }
    wrong
}

#[test]
fn texts_of_figures_lie_on_the_sheet_and_neither_on_each_other_nor_on_lines() {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for run in [fixtures::compared_run(), fixtures::run(), fixtures::sorting_sweep()] {
        for (figure, svg) in draw_all(&run).expect("drawn") {
            found.insert(format!("{} of a fixture", figure.name), svg);
        }
    }
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("results/charts")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("charts are committed") {
            let path = entry.expect("a name").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let svg = std::fs::read_to_string(&path).expect("an SVG");
                found.insert(path.display().to_string(), svg);
            }
        }
    }
    assert!(found.len() > 40, "{}", found.len());
    let mut wrong = Vec::new();
    for (name, svg) in &found {
        wrong.extend(misplaced(svg).into_iter().map(|what| format!("{name}: {what}")));
        let texts = texts(svg).join("\n");
        // Whose figure it is, and at which width, since it is shown without its page.
        let device =
            ["NVIDIA H200 (", "NVIDIA H100 80GB HBM3 (", "llvmpipe (", "sim:", "by the simulator"];
        let width = [" lanes", "sim:", "W = ", "\nW\n"];
        for asked in [device.as_slice(), width.as_slice()] {
            if !asked.iter().any(|word| texts.contains(word)) {
                wrong.push(format!("{name}: none of {asked:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_narrow_screen_has_every_number_of_the_bars_on_a_sheet_of_its_own_width() {
    let figures = figures(&fixtures::run());
    let mut narrow = 0;
    for figure in &figures {
        let Some(svg) = draw_narrow(&figure.drawing).expect("drawn") else { continue };
        narrow += 1;
        let wide = draw(&figure.drawing).expect("drawn");
        assert!(svg.contains("width=\"360\""), "{}", figure.name);
        let (here, there) = (texts(&svg).join(" "), texts(&wide));
        let number = |text: &&String| text.contains(" / ") && text.ends_with("%)");
        for text in there.iter().filter(number) {
            assert!(here.contains(text.as_str()), "{}: {text}", figure.name);
        }
        // Nothing is wider than the sheet.
        for text in texts(&svg) {
            assert!(canvas::Font::plain(12).width(&text) <= 360, "{}: {text}", figure.name);
        }
    }
    assert!(narrow > 0 && narrow < figures.len());
}

#[test]
fn curves_on_a_narrow_screen_have_their_numbers_below_them() {
    let series = |name: &str, measured, points: &[(f64, f64)]| CurveSeries {
        name: name.to_owned(),
        curve: name.to_owned(),
        devices: Vec::new(),
        measured,
        points: points.to_vec(),
    };
    let table = CurveTable {
        name: "curves".to_owned(),
        title: "What a branch costs, by how many neighbours go the same way".to_owned(),
        subtitle: "Two arms as long as each other, taken in runs of neighbours".to_owned(),
        devices: "sim:32".to_owned(),
        x_label: "neighbours".to_owned(),
        x_logarithmic: true,
        y_label: "lane slots".to_owned(),
        y_logarithmic: false,
        reference: Some(1.0),
        series: vec![
            series("32 lanes", true, &[(1.0, 1.97), (32.0, 1.58), (64.0, 1.02)]),
            series("published", false, &[(1.0, 2.0), (64.0, 1.0)]),
            series("64 lanes", true, &[(1.0, 1.96), (64.0, 1.59)]),
        ],
    };
    let svg = draw_narrow(&Drawing::Curves(table.clone())).expect("drawn").expect("curves");
    let texts = texts(&svg);
    for text in
        ["1: 32 lanes", "2: published", "3: 64 lanes", "1.97", "1.58", "1.02", "1.96", "1.59"]
    {
        assert_eq!(texts.iter().filter(|known| *known == text).count(), 1, "{text}: {texts:?}");
    }
    // What was worked out has no numbers, and where a curve has no point that is said.
    assert_eq!(texts.iter().filter(|text| *text == "–").count(), 1, "{texts:?}");
    let flat = vec![series("baseline", true, &[(1.0, 1.0), (2.0, 1.0)])];
    assert!(draw_narrow(&Drawing::Curves(CurveTable { series: flat, ..table })).is_err());
}
