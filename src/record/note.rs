//! What a record says of its kernels beside what was measured: enough to make tables, charts and
//! page of it without the program's own catalogue.
//!
//! Input: a kernel's description at the time of measurement. Output: [`KernelNote`]. No figure of
//! it was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Value;
use crate::units::Width;

/// What is known of a kernel and is no measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelNote {
    /// The question that it asks, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The kernel, by its full name, whose time its own is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Mean active lanes that somebody published for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedFigure>,
    /// A speed-up over its baseline that somebody published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_speedup: Option<PublishedSpeedup>,
    /// What it gives, the name of its reference: kernels of one result do the same work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How far outputs may differ from what the CPU's reference gives; absent in older records, and where there is
    /// no reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// What figures call that, such as `block by block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_words: Option<String>,
    /// The parameters along which it is asked where the kernel pays, those that matter most first;
    /// empty where that is not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// The values that parameters usually have: where not all launches can be shown, those that
    /// have them are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usual: BTreeMap<String, Value>,
    /// The stages of its launches, in the order of their colours; an entry point that none of them
    /// names is a stage of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageNote>,
    /// The parameters whose product is how many elements are put in order, where some are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ordered: Vec<String>,
    /// Launches, by values of parameters, whose outputs are right only where something that waits gave up at its limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives_up: Vec<BTreeMap<String, Value>>,
    /// How lanes of its baseline part, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// The figures that its launches are drawn in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureNote>,
    /// What its launches are read as beside, where its outputs or times need a table of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// The shown output that is read so, and how it lies; absent where times are read, and in older
    /// records. What it is in these says [`Reading::shown_in_older`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_from: Option<ShownNote>,
    /// The parameter that says how far neighbours go the same way, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<GrainNote>,
}

/// How far an output may differ from the reference: an element of size x by `absolute + relative * x`. Both zero means
/// the same value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// In the element's unit.
    pub absolute: f64,
    /// As a part of the reference's element.
    pub relative: f64,
}

/// A parameter that says how far neighbours go the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrainNote {
    /// The parameter, a number.
    pub parameter: String,
    /// What sentences about it begin with, such as `Two arms in runs of neighbours`.
    pub words: String,
    /// What stands before its values, such as `runs of`.
    pub of: String,
    /// The parameters whose values have sentences of their own, with words for each value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, BTreeMap<String, String>>,
}

/// A parameter of a kernel along which it is asked where it pays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The parameter.
    pub name: String,
    /// What sentences call it, such as `number of classes`; its name where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// A stage of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageNote {
    /// Its name, a word.
    pub name: String,
    /// The entry points of its dispatches; one that ends in `*` stands for all that begin so. None
    /// where the stage only keeps its colour free for other families.
    #[serde(default)]
    pub entry_points: Vec<String>,
    /// Whether it only prepares what others work on: sorts, routes, makes grids.
    #[serde(default)]
    pub prepares: bool,
    /// Whether it puts elements in order, which costs traffic.
    #[serde(default)]
    pub orders: bool,
}

/// How lanes part: into arms that they choose independently of each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Divergence {
    /// The number of arms, all as probable: a number, or the parameter that says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<Value>,
    /// In place of arms: the parameter that says which share of lanes takes a branch, the others
    /// idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<String>,
    /// The values of parameters at which lanes choose so; at others nothing is known, but for what
    /// `counted` says.
    #[serde(default)]
    pub only: BTreeMap<String, Value>,
    /// The values at which arms are as long as 1, 2, 3 … of the first; they are equal at others.
    #[serde(default)]
    pub rising: BTreeMap<String, Value>,
    /// Where the share of each arm is counted at other values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedArms>,
}

/// A kernel that has a dispatch for each arm, whose lanes say how many choose it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedArms {
    /// The kernel's full name.
    pub kernel: String,
    /// The entry point of these dispatches.
    pub entry_point: String,
    /// The values of parameters at which they say so.
    #[serde(default)]
    pub only: BTreeMap<String, Value>,
}

/// A figure of curves: what a parameter does to a time or to lanes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureNote {
    /// A word for file names. Kernels whose figures have one name are drawn in one.
    pub name: String,
    /// The title.
    pub title: String,
    /// What to know when reading it.
    pub subtitle: String,
    /// The parameter along the x axis.
    pub x: String,
    /// What of the parameter is one unit of x.
    #[serde(default = "default_x_unit")]
    pub x_unit: f64,
    /// The x axis's quantity with its unit.
    pub x_label: String,
    /// Whether the x axis is logarithmic.
    #[serde(default)]
    pub x_logarithmic: bool,
    /// What the y axis shows.
    pub y: FigureY,
    /// The y axis's quantity with its unit.
    pub y_label: String,
    /// A value of y that gets a line through the whole plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// The values of parameters of the launches that are drawn; all where empty.
    #[serde(default)]
    pub only: BTreeMap<String, Value>,
    /// The parameter of which only the usual value is drawn where it was measured, unsaid in names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<String>,
    /// The name of a curve, with `{parameter}` for values, `{kernel}` for the short name and `{W}` for
    /// the width.
    pub series: String,
    /// What stands in a curve's name for a parameter's value, by parameter, then by value or
    /// `others`.
    #[serde(default)]
    pub words: BTreeMap<String, BTreeMap<String, String>>,
    /// What the kernels' short names begin with and curves' names leave out.
    #[serde(default)]
    pub prefix: String,
    /// Whether each combination of the parameters that curves' names do not tell has a figure of
    /// its own, whose name and title say it.
    #[serde(default)]
    pub apart: bool,
    /// The parameters that are shown in curves' names where a kernel has them.
    #[serde(default)]
    pub told: Vec<String>,
    /// Curves that are worked out.
    #[serde(default)]
    pub lines: Vec<FigureLine>,
}

/// What a figure's y axis shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureY {
    /// The time of the launch that differs by these values alone over the drawn one's.
    Speedup(BTreeMap<String, Value>),
    /// The drawn launch's time over that of the launch that differs by these values alone.
    Slowdown(BTreeMap<String, Value>),
    /// The shortest time of the curve over the drawn launch's, in percent.
    OfBest,
    /// x times the time of the curve's least x, which is one, over the drawn launch's.
    WorkOfFirst,
    /// Mean active lanes over the width, in percent.
    Efficiency,
    /// Lane slots over lane operations: what each lane that worked cost; 1 is no waste.
    SlotsPerLaneOperation,
}

/// A curve that is worked out: y = x, up to a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureLine {
    /// Its name.
    pub name: String,
    /// The most that y becomes; no bound where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// What launches of a kernel are read as in a table of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Chains of dependent operations: the time of a link of each operation, and how it compares with
    /// that of one of which a core does a known number in a cycle.
    Chains(ChainsNote),
    /// What shuffles return whose source is not there, in the rows of a shown output.
    Undefined,
    /// How a reduction ends from which lanes have gone: a sum for each number of lanes that are there,
    /// in a shown output.
    PartialSums,
}

/// What tells chains of dependent operations apart: the names of parameters. Older records leave the
/// names out, and have those that stand beside each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainsNote {
    /// The operation that others are held against.
    pub unit: String,
    /// The parameter that says what operation a link is; `operation` where absent.
    #[serde(default = "operation")]
    pub operation: String,
    /// The parameter that says how many links a chain has; `links` where absent.
    #[serde(default = "links")]
    pub links: String,
    /// The parameter that says how many workgroups there are; `workgroups` where absent.
    #[serde(default = "workgroups")]
    pub workgroups: String,
    /// The parameter that says how many invocations a workgroup has; `workgroup_size` where absent.
    #[serde(default = "workgroup_size")]
    pub workgroup_size: String,
}

/// A shown output that is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownNote {
    /// Its name, a key of [`super::Measurement::outputs_shown`].
    pub output: String,
    /// Its rows, where what each lane got stands in rows; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<ShownRows>,
}

/// Rows, one behind the other, of what the lanes of a subgroup got, where lane l held l + 1. A
/// shuffle has a row for each distance: 1, 2, 4 and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRows {
    /// Elements of a row, so many lanes as a subgroup may have.
    pub lanes: u32,
    /// Distances that have a row.
    pub distances: u32,
    /// The first row of shuffles up, from 0.
    pub up: u32,
    /// The first row of shuffles down.
    pub down: u32,
    /// The first row of shuffles by a lane's number.
    pub index: u32,
    /// The row of what odd lanes got of the even lane below, which took no part.
    pub inactive: u32,
}

impl Reading {
    /// What older records do not say: the output as the kernels laid it that wrote them.
    pub fn shown_in_older(&self) -> Option<ShownNote> {
        let rows = ShownRows { lanes: 128, distances: 7, up: 0, down: 8, index: 24, inactive: 32 };
        match self {
            Self::Chains(_) => None,
            Self::Undefined => Some(ShownNote { output: "returned".to_owned(), rows: Some(rows) }),
            Self::PartialSums => Some(ShownNote { output: "snippet".to_owned(), rows: None }),
        }
    }
}

impl KernelNote {
    /// The shown output that is read, as the record says it, or as older records have it.
    pub fn shown_output(&self) -> Option<ShownNote> {
        let older = || self.reading.as_ref().and_then(Reading::shown_in_older);
        self.read_from.clone().or_else(older)
    }
}

fn operation() -> String {
    "operation".to_owned()
}

fn links() -> String {
    "links".to_owned()
}

fn workgroups() -> String {
    "workgroups".to_owned()
}

fn workgroup_size() -> String {
    "workgroup_size".to_owned()
}

fn default_x_unit() -> f64 {
    1.0
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// Mean active lanes, in lanes.
    pub active_lanes_mean: f64,
    /// The hardware that it was published for.
    pub hardware: String,
    /// That hardware's width where it is known: the figure is comparable at this width only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_width: Option<Width>,
}

/// A published speed-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedSpeedup {
    /// The baseline's time over the kernel's: 2 is twice as fast.
    pub factor: f64,
    /// The parameter `n` that it was published for.
    pub n: i64,
    /// The hardware that it was published for.
    pub hardware: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(reading: &str) -> KernelNote {
        serde_json::from_str(&format!("{{\"reading\":{reading}}}")).expect("a note")
    }

    /// As the records of before wrote it: no names of parameters, and not where outputs stand.
    #[test]
    fn older_notes_have_the_names_and_the_layout_that_went_without_saying() {
        let chains = note("{\"chains\":{\"unit\":\"multiply_add\"}}");
        let Some(Reading::Chains(names)) = &chains.reading else { panic!("{chains:?}") };
        let all = [&names.operation, &names.links, &names.workgroups, &names.workgroup_size];
        assert_eq!(all, ["operation", "links", "workgroups", "workgroup_size"]);
        assert_eq!((names.unit.as_str(), chains.shown_output()), ("multiply_add", None));
        let undefined = note("\"undefined\"").shown_output().expect("an output");
        let rows = undefined.rows.expect("rows");
        assert_eq!((undefined.output.as_str(), rows.lanes, rows.inactive), ("returned", 128, 32));
        let sums = note("\"partial_sums\"").shown_output().expect("an output");
        assert_eq!((sums.output.as_str(), sums.rows), ("snippet", None));
    }

    #[test]
    fn what_a_note_says_goes_before_what_went_without_saying() {
        let shown = ShownNote { output: "elsewhere".to_owned(), rows: None };
        let told = KernelNote { read_from: Some(shown.clone()), ..note("\"partial_sums\"") };
        let text = serde_json::to_string(&told).expect("JSON");
        let read: KernelNote = serde_json::from_str(&text).expect("a note");
        assert_eq!((read.shown_output(), &read), (Some(shown), &told));
    }
}
