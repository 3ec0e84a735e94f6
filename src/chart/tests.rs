//! Tests of the figures, on the synthetic run: what is written in them, and what is refused.

use super::*;
use crate::{
    analyze::{Catalogue, CatalogueKernel, Published, SummaryPart, summary, width_sweep},
    fixtures,
    units::Width,
};

/// Returns the sealed patterns' part of the synthetic table.
fn part() -> SummaryPart {
    let kernels = fixtures::PATTERNS.iter().map(|(name, _, _)| {
        let published = Published {
            active_lanes_mean: 16.0,
            hardware: "RTX <3090>".to_owned(),
            subgroup_width: Width::new(32).ok(),
        };
        let kernel = CatalogueKernel {
            published: Some(published),
            baseline: Some("five_patterns/uniform".to_owned()),
            ..Default::default()
        };
        (format!("five_patterns/{name}"), kernel)
    });
    let catalogue = Catalogue { kernels: kernels.collect() };
    let mut parts = summary(&fixtures::run(), &catalogue).parts();
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

#[test]
fn the_figure_of_lanes_says_every_number() {
    let svg = lanes(&part()).expect("counted");
    insta::assert_snapshot!(texts(&svg).join("\n"));
    assert!(svg.contains("RTX &lt;3090&gt;"), "text is escaped");
}

#[test]
fn the_figure_of_ratios_says_every_number() {
    insta::assert_snapshot!(texts(&ratios(&part()).expect("timed")).join("\n"));
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
            row.time_ratio = crate::analyze::TimeRatio::None;
        }
    }
    assert_eq!(lanes(&empty), Err(ChartError::Empty("counted lanes")));
    assert_eq!(ratios(&empty), Err(ChartError::Empty("time ratios")));
    let mut sweep = width_sweep(&fixtures::run());
    for series in &mut sweep.series {
        series.points.retain(|point| point.width.lanes() == 32);
    }
    assert_eq!(widths(&sweep), Err(ChartError::Empty("lanes at several widths")));
}
