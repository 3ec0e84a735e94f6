//! Tests of what sorting gains, on synthetic runs.

use super::*;
use crate::fixtures::{noted, sorting_sweep};
use crate::units::Width;

fn width(lanes: u32) -> Width {
    Width::new(lanes).unwrap()
}

#[test]
fn arms_run_are_those_that_counting_gives() {
    // The published eight experts: 7.89 arms a warp, not 8.
    assert!((arms_run(8, width(32)) - 7.888).abs() < 1e-3);
    assert!((arms_run(32, width(32)) - 20.41).abs() < 1e-2);
    assert!((arms_run(2, width(8)) - 1.9922).abs() < 1e-4);
    let equal: Vec<(f64, f64)> = vec![(1.0, 0.125); 8];
    assert!((arms_run_unequal(&equal, width(64)) - arms_run(8, width(64))).abs() < 1e-12);
    assert!((arms_run_unequal(&[(3.0, 1.0), (5.0, 0.0)], width(32)) - 3.0).abs() < 1e-12);
}

#[test]
fn the_crossover_lies_between_the_points_on_both_sides_of_one() {
    let curve = |points: &[(f64, f64)]| SpeedCurve {
        label: String::new(),
        kernel: String::new(),
        baseline: String::new(),
        axis: "n".to_owned(),
        axis_words: "n".to_owned(),
        axis_is_whole: false,
        variant: BTreeMap::new(),
        fixed: BTreeMap::new(),
        unusual: BTreeSet::new(),
        points: points.to_vec(),
    };
    let Crossover::From(n) = crossover(&curve(&[(1024.0, 0.5), (4096.0, 2.0)])) else {
        panic!("it crosses");
    };
    assert!((n.value - 2048.0).abs() < 1e-6);
    assert_eq!(n.between, [1024.0, 4096.0]);
    assert_eq!(crossover(&curve(&[(1.0, 1.5), (2.0, 3.0)])), Crossover::Always);
    let Crossover::UpTo(density) = crossover(&curve(&[(0.01, 2.0), (0.04, 0.5)])) else {
        panic!("it pays at low densities");
    };
    assert!((density.value - 0.02).abs() < 1e-9);
    let points = [(1.0, 0.5), (4.0, 2.0), (16.0, 0.5)];
    let Crossover::Between(low, high) = crossover(&curve(&points)) else {
        panic!("it pays in the middle");
    };
    assert!((low.value - 2.0).abs() < 1e-9 && (high.value - 8.0).abs() < 1e-9);
    assert_eq!(crossover(&curve(&[(1.0, 0.5), (2.0, 0.9)])), Crossover::Never);
    let points = [(1.0, 1.5), (2.0, 0.9), (3.0, 1.0)];
    assert_eq!(crossover(&curve(&points)), Crossover::Some(2));
}

#[test]
fn a_sweep_of_many_combinations_falls_into_sheets_that_can_be_read() {
    let run = sorting_sweep();
    assert_eq!(run.measurements.len(), 1650);
    let sheets = speed_sheets(&speed_curves(&run));
    let names: Vec<String> = sheets.iter().map(SpeedSheet::name).collect();
    let of_axis = |axis: &str| names.iter().filter(|name| name.contains(axis)).count();
    // Two forms of arms by three inputs, along n and along the number of classes.
    assert_eq!((sheets.len(), of_axis("-n-"), of_axis("-classes-")), (12, 6, 6), "{names:?}");
    assert!(names.contains(&"sort-divergent-n-arms=equal-input=random".to_owned()), "{names:?}");
    for sheet in &sheets {
        assert_eq!(sheet.panels.len(), 4, "a panel for each kernel");
        assert!(sheet.panels.iter().all(|panel| panel.curves.len() <= sheets::CURVES_MAX));
        assert!(sheet.shared.contains(&"work=512".to_owned()));
    }
    // Along n a curve for each number of classes; along classes 8 of the 11 sizes, which is said.
    let along = |axis: &str| sheets.iter().find(|sheet| sheet.axis == axis).unwrap();
    assert_eq!((along("n").series.as_deref(), along("n").not_shown), (Some("classes"), 0));
    assert_eq!(along("n").panels[0].curves.len(), 5);
    assert_eq!(
        (along("classes").series.as_deref(), along("classes").not_shown),
        (Some("n"), 6 * 4 * 3)
    );
    assert_eq!(along("classes").panels[0].curves.len(), 8);
}

#[test]
fn crossovers_stand_in_one_table_and_one_sentence() {
    let run = sorting_sweep();
    let tables = crossover_tables(&run);
    assert_eq!(tables.len(), 1);
    let table = &tables[0];
    assert_eq!((table.axis.as_str(), table.rows.len()), ("n", 30));
    assert_eq!(table.parameters, ["arms", "classes", "input"]);
    assert_eq!(table.kernels, ["separate", "separate_before", "sorted", "sorted_before"]);
    let row =
        |parameters: [&str; 3]| table.rows.iter().find(|row| row.parameters == parameters).unwrap();
    // By the formula: 2000 + 0.05 · 7.888 · n / 32 for the branches, and for sorted ones
    // 3 · 2000 + 0.05 · 1.2 · n / 32: equal where n = 382,800 or so, which lies between two powers of 4.
    let cells = &row(["equal", "8", "random"]).crossovers;
    assert_eq!(cells[2].as_deref(), Some("from n between 262,144 and 1,048,576"));
    assert_eq!(cells[3].as_deref(), Some("at every n from 64 to 67,108,864"));
    let cells = &row(["equal", "8", "ordered"]).crossovers;
    assert_eq!(cells[2].as_deref(), Some("at no n from 64 to 67,108,864"));
    let sentences = crossover_sentences(&run);
    insta::assert_snapshot!(sentences.join("\n"), @r#"
    On NVIDIA H200 (Vulkan), against sort/divergent (arms=equal, classes=8, input=random, work=512): separate and separate_before pay from n between 1,048,576 and 4,194,304; sorted pays from n between 262,144 and 1,048,576; sorted_before pays at every n from 64 to 67,108,864.
    "#);
}

#[test]
fn a_remedy_may_have_a_parameter_that_its_baseline_lacks() {
    let mut run = sorting_sweep();
    run.measurements.retain(|measurement| {
        measurement.parameters["arms"].to_string() == "equal"
            && measurement.parameters["classes"].to_string() == "8"
            && measurement.parameters["input"].to_string() == "random"
    });
    let whole = speed_curves(&run);
    // As attention in launches by density, whose baseline and other remedy have no number of classes.
    for measurement in
        run.measurements.iter_mut().filter(|measurement| !measurement.kernel.contains("separate"))
    {
        measurement.parameters.remove("classes");
    }
    let curves = speed_curves(&run);
    assert_eq!(curves.len(), 4);
    for curve in &curves {
        let same = whole.iter().find(|other| other.kernel == curve.kernel).unwrap();
        assert_eq!(curve.points, same.points, "{}", curve.kernel);
        assert_eq!(curve.fixed.contains_key("classes"), curve.kernel.contains("separate"));
    }
    let sentences = crossover_sentences(&run);
    assert_eq!(sentences.len(), 1);
    let start =
        "On NVIDIA H200 (Vulkan), against sort/divergent (arms=equal, input=random, work=512): ";
    assert!(sentences[0].starts_with(start), "{sentences:?}");
    let separate = "separate (classes=8) and separate_before (classes=8) pay from n between ";
    assert!(sentences[0].contains(separate), "{sentences:?}");
    assert!(sentences[0].contains("; sorted pays from n between "), "{sentences:?}");
    // A row where a number of classes is told, and one where none is.
    let table = &crossover_tables(&run)[0];
    assert_eq!((table.parameters.as_slice(), table.rows.len()), (&["classes".to_owned()][..], 2));
    assert_eq!(table.rows.iter().map(|row| &row.parameters[0]).collect::<Vec<_>>(), ["", "8"]);
}

#[test]
fn kernels_without_the_parameter_that_tells_curves_apart_have_panels_too() {
    let mut run = sorting_sweep();
    run.measurements.retain(|measurement| {
        let separate = measurement.kernel.contains("separate");
        measurement.parameters["arms"].to_string() == "equal"
            && measurement.parameters["input"].to_string() == "random"
            && (separate || measurement.parameters["classes"].to_string() == "8")
    });
    for measurement in
        run.measurements.iter_mut().filter(|measurement| !measurement.kernel.contains("separate"))
    {
        measurement.parameters.remove("classes");
    }
    let sheets = speed_sheets(&speed_curves(&run));
    let sheet = sheets.iter().find(|sheet| sheet.axis == "n").unwrap();
    let curves: Vec<usize> = sheet.panels.iter().map(|panel| panel.curves.len()).collect();
    let series = sheet.series.as_deref();
    assert_eq!((series, curves, sheet.not_shown), (Some("classes"), vec![5, 5, 1, 1], 0));
    let drawing = crate::chart::Drawing::Crossovers(sheet.clone());
    let svg = crate::chart::draw(&drawing).unwrap();
    assert!(svg.contains(">none<"), "{svg}");
}

#[test]
fn the_model_shows_usual_parameters_and_keeps_the_others() {
    let run = sorting_sweep();
    let tables = model_tables(&run);
    assert_eq!(tables.len(), 1);
    let table = &tables[0];
    // Eight equal arms, random input: 11 sizes of four kernels, out of 30 combinations.
    assert_eq!((table.rows.len(), table.others.len()), (44, 44 * 29));
    assert_eq!(table.shared, ["work=512"]);
    let row = |kernel: &str, n: i64| {
        table
            .rows
            .iter()
            .find(|row| row.kernel == kernel && row.parameters["n"] == Value::Integer(n))
            .unwrap()
    };
    let sorted = row("sort/sorted", 1 << 26);
    assert_eq!(table.parameters(sorted), "arms=equal, classes=8, input=random, n=67108864");
    assert!((sorted.arms_run.unwrap() - arms_run(8, width(32))).abs() < 1e-9);
    // Work of 7.888 arms over work and a fifth for the sort.
    assert!((sorted.speedup_counted.unwrap() - 7.888 / 1.2).abs() < 0.01);
    assert_eq!(sorted.bytes, Some(crate::units::Bytes((12 + 13) << 26)));
    assert_eq!(sorted.dispatches, 3);
    // The bytes alone would take longer at the copy rate than the made-up time is.
    let floor = f64::from((12 + 13) << 26) / 4.2e12 * 1e9;
    let (left, time) = (sorted.remainder.unwrap().0, sorted.time.unwrap().0);
    assert!(left < 0.0 && (left - (time - floor)).abs() < 1.0, "{left}");
    assert!((sorted.copy_rate.unwrap().0 - floor / time).abs() < 1e-9);
    // Where bytes weigh nothing, what is left is what the model has not: two starts more.
    let small = row("sort/sorted", 64);
    let starts = 3.0 * 2000.0 - 2000.0 / small.speedup_counted.unwrap();
    let left = small.remainder.unwrap().0;
    assert!((left - starts).abs() < 0.01 * starts, "{left} {starts}");
    let before = row("sort/sorted_before", 1 << 26);
    assert_eq!(before.bytes, Some(crate::units::Bytes((12 + 4) << 26)));
    assert_eq!((before.dispatches, before.sorting), (1, None));
    let [efficiency, after] = sorted.efficiencies.map(|efficiency| efficiency.unwrap().0);
    assert!((efficiency - 1.0 / 7.888).abs() < 1e-3 && after > 0.99, "{efficiency} {after}");
    // Where lanes do not choose by themselves, there is no formula.
    let ordered = |row: &&ModelRow| row.parameters["input"].to_string() == "ordered";
    assert!(table.others.iter().filter(ordered).all(|row| row.arms_run.is_none()));
    let unequal = table.others.iter().find(|row| {
        row.parameters["arms"].to_string() == "unequal"
            && row.parameters["input"].to_string() == "random"
            && row.parameters["classes"] == Value::Integer(16)
    });
    let arms = unequal.unwrap().arms_run.unwrap();
    assert!((arms - arms_run(16, width(32))).abs() < 1e-9, "{arms}");
}

#[test]
fn what_neither_counts_nor_is_timed_has_no_table_of_speed_ups() {
    // Eleven sizes of five kernels.
    let mut run = sorting_sweep();
    run.measurements.truncate(55);
    run.measurements.iter_mut().for_each(|measurement| measurement.time = None);
    assert_eq!(model_tables(&run).len(), 1, "counted alone");
    for measurement in &mut run.measurements {
        measurement.dispatches.iter_mut().for_each(|dispatch| dispatch.blocks.clear());
    }
    assert_eq!(model_tables(&run), []);
}

#[test]
fn shares_of_experts_are_those_that_separate_dispatches_counted() {
    let mut run = sorting_sweep();
    run.measurements.truncate(3);
    let names = ["moe/naive", "moe/sorted", "moe/separate"];
    for (measurement, name) in run.measurements.iter_mut().zip(names) {
        measurement.kernel = name.to_owned();
        measurement.parameters = [
            ("n".to_owned(), Value::Integer(1024)),
            ("routing".to_owned(), Value::Name("skewed".to_owned())),
            ("top".to_owned(), Value::Integer(1)),
        ]
        .into();
    }
    let separate = &mut run.measurements[2];
    let model = separate.dispatches.pop().unwrap();
    for tokens in [512, 256, 256, 0] {
        let mut alone = model.clone();
        alone.entry_point = "expert_alone".to_owned();
        alone.setup = false;
        alone.blocks[0].lanes = crate::units::Lanes(7 * tokens);
        separate.dispatches.push(alone);
    }
    let mut run = noted(run);
    let shares = [(1.0, 0.5), (1.0, 0.25), (1.0, 0.25)];
    let arms = |run: &Run| model::model(run)[0].arms_run;
    let expected = arms_run_unequal(&shares, width(32));
    assert!((arms(&run).unwrap() - expected).abs() < 1e-9, "{expected}");
    // With two experts a token the counts do not say what a lane's first choice was.
    for measurement in &mut run.measurements {
        measurement.parameters.insert("top".to_owned(), Value::Integer(2));
    }
    assert_eq!(arms(&run), None);
    for measurement in &mut run.measurements {
        measurement.parameters.insert("routing".to_owned(), Value::Name("even".to_owned()));
    }
    assert!(arms(&run).is_some());
    for measurement in &mut run.measurements {
        measurement.parameters.insert("n".to_owned(), Value::Integer(0));
    }
    assert_eq!(arms(&run), None, "no tokens");
    for measurement in &mut run.measurements {
        measurement.parameters.insert("n".to_owned(), Value::Integer(1024));
        measurement.parameters.insert("routing".to_owned(), Value::Name("skewed".to_owned()));
    }
    run.measurements.truncate(2);
    assert_eq!(arms(&run), None, "no run of separate experts");
}

#[test]
fn values_are_spread_with_both_ends() {
    assert_eq!(pick_evenly(&[1, 2, 3], 8), [1, 2, 3]);
    assert_eq!(pick_evenly(&(0..11).collect::<Vec<i32>>(), 3), [0, 5, 10]);
    assert_eq!(pick_evenly(&(0..17).collect::<Vec<i32>>(), 8).len(), 8);
}

#[test]
fn crossovers_have_two_digits_and_ranges_all() {
    let words = [287_654.0, 1234.0, 0.043_21, 83.2, 15.0].map(sentences::rounded_text);
    assert_eq!(words, ["290,000", "1,200", "0.043", "83", "15"]);
    let curve = |axis: &str, points: &[(f64, f64)]| SpeedCurve {
        label: String::new(),
        kernel: String::new(),
        baseline: String::new(),
        axis: axis.to_owned(),
        axis_words: format!("number of {axis}"),
        axis_is_whole: axis != "density",
        variant: BTreeMap::new(),
        fixed: BTreeMap::new(),
        unusual: BTreeSet::new(),
        points: points.to_vec(),
    };
    let n = curve("n", &[(1024.0, 0.5), (16_777_216.0, 0.9)]);
    assert_eq!(Crossover::Never.words(&n), "at no number of n from 1,024 to 16,777,216");
    let density = curve("density", &[(0.01, 2.0), (0.5, 1.5), (1.0, 0.5)]);
    assert_eq!(
        Crossover::Some(2).words(&density),
        "at 2 of 3 values of number of density from 0.01 to 1"
    );
    // Between whole numbers that were measured nothing is made up; what can take any value is read off the line.
    let words = |axis: &str, points: &[(f64, f64)]| {
        let curve = curve(axis, points);
        crossover(&curve).words(&curve)
    };
    let [from, up_to] = [[(16.0, 0.5), (24.0, 2.0)], [(16.0, 2.0), (24.0, 0.5)]];
    assert_eq!(words("rounds", &from), "from rounds between 16 and 24");
    assert_eq!(words("rounds", &up_to), "up to rounds between 16 and 24");
    assert_eq!(words("rounds", &[(16.0, 0.5), (17.0, 2.0)]), "from rounds = 17");
    assert_eq!(words("rounds", &[(16.0, 2.0), (17.0, 0.5)]), "up to rounds = 16");
    let middle = [(1.0, 0.5), (2.0, 2.0), (8.0, 0.5)];
    assert_eq!(words("rounds", &middle), "from rounds = 2 to between 2 and 8");
    assert_eq!(words("density", &[(0.01, 2.0), (0.04, 0.5)]), "up to density = 0.02");
}
