//! The order of a table's rows where points were added to a sweep after it was begun.
//!
//! Input: rows in the order of measurement. Output: the same, those of a kernel by rising numbers where
//! they go up and down. A kernel's rows stand where its rows stood, so that kernels measured side by
//! side stay so.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{SIZE, parameters_text};
use crate::record::Value;

/// Orders rows, whose kernel and parameters `variant` gives, by each parameter that is a number, the size last.
///
/// Rows that differ in that parameter alone are a sweep of it. A sweep that only rises or only falls
/// stays as it was measured.
pub(super) fn order_rows<T>(
    rows: Vec<T>,
    variant: impl Fn(&T) -> (&str, &BTreeMap<String, Value>),
) -> Vec<T> {
    let names: BTreeSet<String> =
        rows.iter().flat_map(|row| variant(row).1.keys()).cloned().collect();
    let (sizes, others): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| name == SIZE);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for name in others.iter().chain(&sizes) {
        let mut sweeps: BTreeMap<(&str, String), Vec<(usize, f64)>> = BTreeMap::new();
        for (place, row) in order.iter().enumerate() {
            let (kernel, parameters) = variant(&rows[*row]);
            if let Some(number) = parameters.get(name).and_then(Value::number) {
                let key = (kernel, parameters_text(parameters, &[name]));
                sweeps.entry(key).or_default().push((place, number));
            }
        }
        for sweep in sweeps.into_values().filter(|sweep| goes_up_and_down(sweep)) {
            let mut rising: Vec<(f64, usize)> =
                sweep.iter().map(|(place, number)| (*number, order[*place])).collect();
            rising.sort_by(|point, other| point.0.total_cmp(&other.0));
            for ((place, _), (_, row)) in sweep.iter().zip(rising) {
                order[*place] = row;
            }
        }
    }
    let mut rows: Vec<Option<T>> = rows.into_iter().map(Some).collect();
    order.into_iter().filter_map(|row| rows[row].take()).collect()
}

fn goes_up_and_down(sweep: &[(usize, f64)]) -> bool {
    let numbers = || sweep.iter().map(|(_, number)| *number);
    !numbers().is_sorted() && !numbers().rev().is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, BTreeMap<String, Value>);

    fn row(kernel: &'static str, input: &str, n: i64) -> Row {
        let input = ("input".to_owned(), Value::Name(input.to_owned()));
        (kernel, [input, (SIZE.to_owned(), Value::Integer(n))].into())
    }

    fn sizes(rows: Vec<Row>) -> Vec<(&'static str, String)> {
        let rows = order_rows(rows, |(kernel, parameters)| (kernel, parameters));
        rows.into_iter()
            .map(|(kernel, p)| (kernel, format!("{} {}", p["input"], p[SIZE])))
            .collect()
    }

    #[test]
    fn points_that_were_added_stand_where_they_belong_and_kernels_stay_side_by_side() {
        let of_both = |n| [row("a", "random", n), row("b", "random", n)];
        let measured: Vec<Row> = [1024, 16_384, 8192].into_iter().flat_map(of_both).collect();
        let found = sizes(measured);
        let expected = ["1024", "8192", "16384"].map(|n| format!("random {n}"));
        let expected = expected.iter().flat_map(|n| ["a", "b"].map(|k| (k, n.clone())));
        assert_eq!(found, expected.collect::<Vec<_>>());
        // One kernel after the other, and one that was measured once.
        let apart = vec![
            row("b", "random", 4),
            row("b", "random", 1),
            row("b", "random", 2),
            row("c", "random", 9),
            row("a", "random", 3),
        ];
        let found: Vec<String> =
            sizes(apart).into_iter().map(|(kernel, words)| format!("{kernel} {words}")).collect();
        let expected = ["b random 1", "b random 2", "b random 4", "c random 9", "a random 3"];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_only_rises_or_falls_and_names_stay_as_measured() {
        let falling = vec![row("a", "random", 4), row("a", "random", 2), row("a", "random", 1)];
        let names = vec![row("a", "random", 1), row("a", "ordered", 1), row("a", "clustered", 1)];
        for rows in [falling, names] {
            let as_measured: Vec<_> =
                rows.iter().map(|(k, p)| (*k, format!("{} {}", p["input"], p[SIZE]))).collect();
            assert_eq!(sizes(rows), as_measured);
        }
    }
}
