//! Records made into typed tables: what the measurements say, computed again each time.
//!
//! Input: [`Run`](crate::record::Run)s as loaded or as they grow; what they hold of their kernels is
//! all that is known of these. Output: tables whose cells are numbers. No I/O, no formatting beyond
//! names, and nothing derived here is ever written back into a record.
//!
//! # Words
//!
//! A kernel's **subgroup operations** are Σ operations × executions over its blocks, all dispatches
//! together, its **lane operations** Σ operations × active lanes. Its **mean active lanes** are the
//! second over the first; its **efficiency** is that over the width. Its **size** is the parameter
//! [`SIZE`]; two measurements at different sizes still have comparable means, but not comparable
//! counts or times.
//!
//! Bare `f64`s are means in lanes, or dimensionless ratios, as each field says.

mod advice;
mod agreement;
mod bandwidth;
mod compare;
mod condition;
mod counts;
mod curves;
mod explained;
mod fail_on;
mod findings;
mod gallery;
mod latencies;
mod lines;
pub mod machine;
mod marks;
mod memory;
mod merge;
mod names;
mod order;
mod out_of_range;
mod overview;
mod parts;
mod plausibility;
mod predictions;
mod profile;
mod rounds;
mod side_by_side;
mod sizes;
mod sorting;
mod speedups;
pub mod stalls;
mod summary;
#[cfg(test)]
mod tests;
mod totals;
mod traces;
mod traffic;
mod usual;
mod width_costs;
mod width_profile;
mod widths;

pub use advice::{
    Advice, GAIN_SHARE_MIN, Rule, advice, advice_of, looked_at, profile_overview, remarks,
};
pub use agreement::{
    Agreement, AgreementRow, Difference, NotComparable, Quantity, agreement, agreements,
    differs_by_order,
};
pub use bandwidth::{Bandwidth, bandwidth};
pub use compare::{
    CHANGE_MIN, Comparison, ComparisonRow, ExecutedComparison, Figures, LaunchComparison,
    LaunchPart, LaunchTimeRatio, LinePair, LinePart, NotCompared, RelativeCondition,
    RelativeViolation, Trend, compare, compare_launches, compare_launches_noticing,
    compare_noticing,
};
pub use condition::ConditionError;
pub use counts::{Work, describe_quantiles};
pub use curves::{CurveSeries, CurveTable, curves};
pub use explained::{ExplainedTime, TimeVerdict, explain};
pub use fail_on::{Condition, SHARE_MIN, Violation};
pub use findings::{Finding, findings};
pub use gallery::{Gallery, GalleryDevice, GalleryFigures, GalleryKey};
pub use latencies::{Latencies, LatencyRow, Load, latencies};
pub use lines::{BlockCell, LineCell, SourceColumn, SourceLine, SourceView, lines, lines_of_most};
pub use marks::{Level, LineFigures, Mark, marks};
pub use memory::{MemoryRow, MemoryView, Over, memory_view};
pub use merge::{MergeError, merge};
pub use names::{FORM, SIZE, device_label, family, labels_with_width, parameters_text, short_name};
pub use out_of_range::{UndefinedRow, undefined_rows};
pub use overview::{Miss, MissGroup, first_family, has_sweeps, misses, opening, overview};
pub use parts::{SheetWord, SummaryPart};
pub use plausibility::{MARGIN_RATIO, Plausibility, plausibility};
pub use predictions::{PredictionRow, predictions};
pub use profile::{
    DeviceProfile, LineProfile, Profile, ProfileTime, SourceText, have_several_widths, profiles,
};
pub use side_by_side::{Change, ChangeKind, Executed, Missing, SideBySide, SideRow, side_by_side};
pub use sizes::{SizeSeries, SizeSweep, size_sweeps};
pub use sorting::{
    BeforeAfter, BeforeAfterRow, Crossing, Crossover, CrossoverRow, CrossoverTable, MODEL_LEGEND,
    ModelRow, ModelTable, ORDER_BYTES_PER_ELEMENT, SORT_BYTES_PER_ELEMENT, SpeedCurve, SpeedPanel,
    SpeedSheet, StageSheet, StageStack, StageTime, arms_run, arms_run_unequal, before_after,
    crossover, crossover_sentences, crossover_tables, model, model_tables, speed_curves,
    speed_sheets, stages,
};
pub use speedups::{SpeedupRow, Speedups, speedups};
pub use summary::{
    DeviceSummary, Summary, SummaryRow, TimeRatio, TimeSummary, paired_times, summary,
};
pub use totals::calls::{CallFrame, Site};
pub use totals::{by_call_site, by_function, frames};
pub use traces::{
    SpreadRow, Strand, TRACE_OPERATIONS, TracePanel, TraceRow, TraceSheet, spreads, trace_of,
    traces,
};
pub use traffic::{TrafficRow, traffic_beside_counters};
pub use width_costs::{
    CostRatio, DearestPlace, MachineModels, SEEDED_SIZE_MAX, WIDTHS_COMPARED, WidthCost, WidthWork,
    width_costs, width_sentences,
};
pub use width_profile::{BlamedLine, ShapeCost, WidthProfile};
pub use widths::{WidthPoint, WidthSeries, WidthSweep, width_sweep};

pub use crate::statistics::{PairedRatio, RatioVerdict};
