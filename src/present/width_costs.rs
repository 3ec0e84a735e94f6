//! The tables of cost by width: what each launch costs in lane slots, what 64 lanes cost over 32, and
//! what machines would spend.
//!
//! Input: `analyze`'s costs. Output: [`Table`]s.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cell, Column, Table};
use crate::analyze::{self, CostRatio, DearestPlace, MachineModels, WIDTHS_COMPARED, WidthCost};
use crate::units::{Ratio, Width, grouped_text, text};

/// The most launches that the table of costs shows at once.
const ROWS_MAX: usize = 60;

/// The most kernels that are all shown, however little the width makes of them.
const KERNELS_MAX: usize = 12;

/// The least cost over the narrow width's with which a kernel is shown where there are many.
const DEARER_MIN: f64 = 1.02;

/// What each kernel costs at 64 lanes over 32, a row a kernel, the dearest first: over all its launches
/// and seeds.
pub fn kernel_costs(costs: &[WidthCost]) -> Option<Table> {
    let mut kernels: BTreeMap<&str, Vec<(usize, CostRatio)>> = BTreeMap::new();
    let places = dearest_places(costs);
    for cost in costs {
        if let Some(ratio) = cost.ratio {
            kernels.entry(&cost.kernel).or_default().push((cost.unusual, ratio));
        }
    }
    // The most usual launch first; the sort is stable.
    kernels.values_mut().for_each(|ratios| ratios.sort_by_key(|(unusual, _)| *unusual));
    let ratios = |ratios: Vec<(usize, CostRatio)>| ratios.into_iter().map(|(_, ratio)| ratio);
    let mut rows: Vec<(&str, Vec<CostRatio>)> =
        kernels.into_iter().map(|(kernel, all)| (kernel, ratios(all).collect())).collect();
    if rows.is_empty() {
        return None;
    }
    // As the column says that is printed.
    let most = |ratios: &[CostRatio]| {
        ratios.iter().map(|ratio| ratio.ratio.max(ratio.range[1])).fold(0.0, f64::max)
    };
    rows.sort_by(|a, b| most(&b.1).total_cmp(&most(&a.1)));
    let [narrow, wide] = WIDTHS_COMPARED;
    let columns = [
        Column::words("kernel"),
        Column::figures("usual").with_notes(),
        Column::figures("least"),
        Column::figures("most"),
        Column::figures("launches").spare(),
        Column::figures("seeds").spare(),
        Column::words("largest part").named_below(),
    ];
    let title = format!("Cost in lane slots: subgroups of {wide} lanes over {narrow}");
    let mut table = Table::new(title, columns);
    let rows_max_fits = rows.len() <= KERNELS_MAX;
    for (kernel, ratios) in &rows {
        // Other seeds may be of a smaller launch: the launch's own figure is among what is met, too.
        let met = || ratios.iter().flat_map(|ratio| [ratio.range[0], ratio.ratio, ratio.range[1]]);
        let least = met().fold(f64::INFINITY, f64::min);
        let greatest = met().fold(0.0, f64::max);
        let seeds = ratios.iter().map(|ratio| ratio.seeds).max().unwrap_or(1);
        let dear = greatest >= DEARER_MIN || rows_max_fits;
        let place = if dear { &mut table.rows } else { &mut table.rows_folded };
        place.push(vec![
            Cell::Kernel((*kernel).to_owned()),
            Cell::from_option(ratios.first(), |usual| {
                let other = if usual.same_work() { "" } else { "other work" };
                Cell::Factor(usual.ratio).with(other.to_owned())
            }),
            Cell::Factor(least),
            Cell::Factor(greatest),
            Cell::Count(ratios.len() as u128),
            Cell::Count(seeds as u128),
            Cell::from_option(places.get(kernel), |place| Cell::text(place_words(place))),
        ]);
    }
    table.notes = kernel_notes(!places.is_empty());
    table.folded_are = "of kernels that cost less more";
    let alike = table.rows_folded.len();
    if alike > 0 {
        table.notes.push(format!(
            "{alike} more kernels cost at {wide} lanes less than {} more than at {narrow}.",
            text::whole_percent(Ratio(DEARER_MIN - 1.0))
        ));
    }
    Some(table)
}

/// What the columns are.
fn kernel_notes(has_places: bool) -> Vec<String> {
    let mut notes = vec![format!(
        "Lane slots are subgroup operations × width. Usual: the kernel's usual \
             launch; least and most are over all its launches and seeds. Seeds are counted at {} elements at \
             most: where the launch has more, they are of a smaller one. Other work: a kernel that asks \
             for its width and does something else at another.",
        grouped_text(analyze::SEEDED_SIZE_MAX.unsigned_abs().into())
    )];
    if has_places {
        notes.push(
            "Largest part: where the largest part of what 64 lanes cost more is spent, in the launch where that is most: the line of \
             a loop or of an arm's condition. A loop costs more where its lanes go round unequally often, an arm where more \
             subgroups have lanes in it."
                .to_owned(),
        );
    }
    notes
}

/// Where most of what 64 lanes cost more lies, of each kernel's launch that costs most more; of dear ones alone.
fn dearest_places(costs: &[WidthCost]) -> BTreeMap<&str, DearestPlace> {
    let mut found: BTreeMap<&str, (f64, DearestPlace)> = BTreeMap::new();
    for cost in costs {
        let Some((ratio, place)) = cost.ratio.zip(cost.dearest) else { continue };
        let known = found.get(cost.kernel.as_str()).map_or(DEARER_MIN, |(known, _)| *known);
        if ratio.ratio >= known {
            found.insert(&cost.kernel, (ratio.ratio, place));
        }
    }
    found.into_iter().map(|(kernel, (_, place))| (kernel, place)).collect()
}

/// Names where most of a cost lies, and its part of it.
fn place_words(place: &DearestPlace) -> String {
    let what = match place.looped {
        Some(true) => "loop of line",
        Some(false) => "arm of line",
        None => "line",
    };
    format!("{what} {} ({})", place.line, text::whole_percent(place.share))
}

/// The lane slots of each launch at each width; of more than some, those of the most usual parameters.
pub fn width_costs(costs: &[WidthCost]) -> Option<Table> {
    let widths: BTreeSet<Width> =
        costs.iter().flat_map(|cost| &cost.widths).map(|work| work.width).collect();
    if widths.len() < 2 {
        return None;
    }
    let [narrow, wide] = WIDTHS_COMPARED;
    let ratio_name = format!("{wide} over {narrow}");
    let mut columns = vec![Column::words("kernel"), Column::words("parameters")];
    columns.extend(widths.iter().map(|width| Column::figures(format!("{width} lanes"))));
    columns.push(Column::figures(&ratio_name).with_notes());
    let mut table = Table::new("Cost in lane slots, by width", columns);
    for cost in costs {
        let mut row = vec![Cell::Kernel(cost.kernel.clone()), Cell::parameters(&cost.parameters)];
        row.extend(
            widths.iter().map(|width| {
                Cell::from_option(cost.at(*width), |work| Cell::Count(work.lane_slots))
            }),
        );
        row.push(Cell::from_option(cost.ratio.as_ref(), ratio_cell));
        let rows = if is_folded(costs, cost) { &mut table.rows_folded } else { &mut table.rows };
        rows.push(row);
    }
    table.folded_are = OTHERS;
    let compared = costs.iter().any(|cost| cost.ratio.is_some());
    table.notes.extend(compared.then(|| format!(
        "{ratio_name}: that of the launch's own seed, and beside \
         or below it the least and the greatest of all seeds of the generated inputs; where these were counted with \
         fewer elements, how many. The median of all \
         possible seeds lies between those of 6 with a probability of 97 % (1 − 2 · 2⁻⁶), between those of 3 \
         with 75 %. Where two more seeds count the same at both widths, no more are counted. The interval is of these \
         parameters, and of inputs of this kind."
    )));
    Some(table.without_empty(&[&ratio_name]))
}

/// What is folded of many launches.
const OTHERS: &str = "of other families, or of less usual parameters";

/// Whether a launch is folded: where there are many, those that were not asked for by themselves.
fn is_folded(costs: &[WidthCost], cost: &WidthCost) -> bool {
    costs.len() > ROWS_MAX && (cost.for_widths || cost.unusual > 0)
}

/// A ratio with its interval over seeds, or that there is none.
fn ratio_cell(ratio: &CostRatio) -> Cell {
    let cell = match (ratio.seeds, ratio.seeds_at) {
        (1, _) => Cell::Factor(ratio.ratio),
        (_, None) => Cell::Between(ratio.ratio, ratio.range),
        (_, Some(n)) => {
            let [least, most] = ratio.range.map(text::ratio);
            let same = least == most && most == text::ratio(ratio.ratio);
            let seeds = format!("{least} to {most} at n={n}");
            Cell::Factor(ratio.ratio).with(if same { String::new() } else { seeds })
        }
    };
    if ratio.same_work() {
        cell
    } else {
        cell.with(format!("{}× the lane operations", text::ratio(ratio.work_ratio)))
    }
}

/// What machines would spend on what subgroups of 64 lanes executed; one row a launch.
pub fn machine_models(costs: &[WidthCost]) -> Option<Table> {
    let columns = [
        Column::words("kernel"),
        Column::words("parameters"),
        Column::figures("wave32, lane slots"),
        Column::figures("SIMD16"),
        Column::figures("wave64 that may skip idle halves"),
        Column::figures("wave64"),
    ];
    let mut table =
        Table::new("Machine models: cost over wave32, from the masks of 64 lanes", columns);
    for cost in costs {
        let Some(models) = &cost.models else { continue };
        let MachineModels { simd16, wave32, wave64, wave64_skipping } = *models;
        let factor = |slots: u128| Cell::from_option(models.over_wave32(slots), Cell::Factor);
        let row = vec![
            Cell::Kernel(cost.kernel.clone()),
            Cell::parameters(&cost.parameters),
            Cell::Count(wave32),
            factor(simd16),
            Cell::text(match [wave64_skipping, wave64].map(|slots| models.over_wave32(slots)) {
                [Some(least), Some(most)] => {
                    format!("{}–{}×", text::ratio(least), text::ratio(most))
                }
                _ => text::NONE.to_owned(),
            }),
            factor(wave64),
        ];
        let rows = if is_folded(costs, cost) { &mut table.rows_folded } else { &mut table.rows };
        rows.push(row);
    }
    if table.rows.is_empty() && table.rows_folded.is_empty() {
        return None;
    }
    table.folded_are = OTHERS;
    table.notes = MODEL_SOURCES.map(str::to_owned).to_vec();
    Some(table)
}

/// Where the models come from.
const MODEL_SOURCES: [&str; 4] = [
    "One simulated run at 64 lanes says how many parts of 32 and of 16 lanes of each operation had an \
     active lane. A kernel that asks for its width does something else on a narrower machine.",
    "wave64: both halves of each operation are executed. wave64 that may skip idle halves of 32 lanes: \
     a range, from every half without an active lane skipped to none. AMD, “RDNA 3 Instruction Set \
     Architecture”, section 2.1 \
     (https://www.amd.com/content/dam/amd/en/documents/radeon-tech-docs/instruction-set-architectures/\
     rdna3-shader-instruction-set-architecture-feb-2023_0.pdf): either half may be skipped where its \
     part of EXEC is zero; a vector instruction that writes a scalar register, such as a comparison, is \
     not.",
    "wave32: AMD, “RDNA Architecture”, white paper (https://www.amd.com/system/files/documents/\
     rdna-whitepaper.pdf): a wave64 instruction is two wave32 instructions, each of half the lanes.",
    "SIMD16: Intel, “Execution of OpenCL Work Items: the SIMD Machine” (https://software.intel.com/\
     en-us/iocl-opg-execution-of-opencl-work-items-the-simd-machine): SIMD-8, 16 or 32 is the \
     compiler's choice, and a thread executes both sides of a branch at which its instances part.",
];
