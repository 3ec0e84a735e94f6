//! Grouped horizontal bars with a number beside each, and marks on them.
//!
//! Input: a [`BarFigure`]. Output: SVG. Bars lie, since names of kernels and numbers beside bars then
//! have room whatever the number of devices; the sheet grows downwards when there are many.

use super::{
    ChartError,
    canvas::{Anchor, Canvas, Font, GREY, INK, PALE, draw, series_colour},
    frame::{ChartFrame, Span},
};

/// The sheet's width in pixels.
pub(super) const WIDTH: i32 = 900;
/// That of bars with short names and numbers: two such sheets stand beside each other on a laptop's page, in
/// nearly their full size.
const NARROW: i32 = 640;
/// The least room for bars on a narrow sheet.
const PLOT_MIN: i32 = 165;
/// The sheet's height in pixels, where no more is needed.
pub(super) const HEIGHT: i32 = 500;

const MARGIN: i32 = 16;
/// The distance of a number from its bar.
const NUMBER_GAP: i32 = 9;
/// More series than colours: bars and legend are numbered.
const SERIES_UNNUMBERED_MAX: usize = 8;
/// The font of the lines below the title, and their distance.
const SUBTITLE: Font = Font { size: 12, bold: false, colour: INK };
const SUBTITLE_STEP: i32 = 16;
const BAR_MAX: i32 = 24;
const BAR_MIN: i32 = 13;
const GROUP_GAP: i32 = 12;
/// The longest line of a group's detail in pixels.
const DETAIL_MAX: i32 = 250;
/// The font of a label's first part, the most that a line of it is wide, and from line to line.
const LABEL: Font = Font::plain(13).bold();
const LABEL_MAX: i32 = 300;
const LABEL_STEP: i32 = 16;
/// The distance of two such lines.
const DETAIL_STEP: i32 = 13;
/// The font of a heading above groups, the distance of its lines, and its room above and below.
const HEADING: Font = Font::plain(12).colour(GREY);
const HEADING_STEP: i32 = 15;
const HEADING_ROOM: i32 = 12;

/// A figure of grouped bars.
#[derive(Clone, Debug)]
pub(super) struct BarFigure {
    pub(super) title: String,
    pub(super) subtitle: String,
    /// The x axis's quantity with its unit.
    pub(super) x_label: String,
    /// Names of the series, in the order of the bars in a group.
    pub(super) series: Vec<String>,
    /// What a black line across a bar means.
    pub(super) tick_label: Option<String>,
    /// What a diamond means.
    pub(super) diamond_label: Option<String>,
    /// What a whisker means.
    pub(super) whisker_label: Option<String>,
    /// A value that gets a line through the whole plot.
    pub(super) reference: Option<f64>,
    /// What sheets that stand side by side share.
    pub(super) scale: Scale,
    pub(super) groups: Vec<BarGroup>,
}

/// What sheets of bars share that stand side by side, so that equal bars are equally long on each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The least value at which the axis may end.
    pub reach_min: f64,
    /// The most pixels that the axis is long.
    pub plot_max: i32,
}

impl Scale {
    /// That of a sheet by itself, whose axis ends at a value at least.
    pub(super) fn alone(reach_min: f64) -> Self {
        Self { reach_min, plot_max: i32::MAX }
    }
}

/// The bars of one kernel.
#[derive(Clone, Debug)]
pub(super) struct BarGroup {
    /// What stands above it and says what holds for it and for the groups below; may be empty.
    pub(super) heading: String,
    pub(super) label: String,
    /// A second line of the label; may be empty.
    pub(super) detail: String,
    pub(super) bars: Vec<Bar>,
}

impl BarGroup {
    /// Returns the height of its bars, or of its label where that needs more, in pixels.
    fn height(&self, bar: i32) -> i32 {
        let lines = count(detail_lines(&self.detail).len());
        let more = (count(label_lines(&self.label).len()) - 1) * LABEL_STEP;
        // Up to one line of detail reaches into the gap.
        (count(self.bars.len()) * bar).max((lines - 1) * DETAIL_STEP + 24 + more)
    }

    /// Returns its heading in lines that end left of the plot.
    fn heading_lines(&self, left: i32) -> Vec<String> {
        broken(&self.heading, HEADING, left - MARGIN - 10)
    }

    /// Returns the height of its heading in pixels.
    fn heading_height(&self, left: i32) -> i32 {
        match count(self.heading_lines(left).len()) {
            0 => 0,
            lines => lines * HEADING_STEP + HEADING_ROOM,
        }
    }
}

/// One bar; values in the x axis's unit.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) series: usize,
    pub(super) value: Option<f64>,
    pub(super) whisker: Option<(f64, f64)>,
    pub(super) tick: Option<f64>,
    pub(super) diamond: Option<f64>,
    /// The number, or why there is none.
    pub(super) text: String,
}

impl Bar {
    /// Returns the largest value that the bar shows.
    pub(super) fn reach(&self) -> f64 {
        [self.value, self.whisker.map(|whisker| whisker.1), self.tick, self.diamond]
            .into_iter()
            .flatten()
            .fold(0.0, f64::max)
    }
}

/// Puts the groups in order of size: that with the longest bar first.
pub(super) fn order_by_size(groups: &mut [BarGroup]) {
    let length = |group: &BarGroup| {
        let values = group.bars.iter().filter_map(|bar| bar.value);
        values.fold(f64::NEG_INFINITY, f64::max)
    };
    groups.sort_by(|a, b| length(b).total_cmp(&length(a)));
}

/// A mark of the legend.
#[derive(Clone, Copy)]
pub(super) enum LegendKey {
    Series(usize),
    Tick,
    Diamond,
    Whisker,
}

/// The plot, and how high its bars are.
struct Rows {
    plot: ChartFrame,
    bar: i32,
}

/// The sheet's width: narrow where everything has room there.
fn sheet_width(figure: &BarFigure, left: i32) -> i32 {
    let bars = || figure.groups.iter().flat_map(|group| &group.bars);
    let number = bars().map(|bar| Font::plain(12).width(&bar_text(figure, bar))).max().unwrap_or(0);
    let least = left + PLOT_MIN + NUMBER_GAP + number + MARGIN;
    let title = Font::plain(18).bold().width(&figure.title) + 2 * MARGIN;
    if least.max(title) <= NARROW { NARROW } else { WIDTH }
}

/// The least part of the reference that the longest bar has where its line is drawn: farther away it would leave
/// the bars no room.
const REFERENCE_NEAR: f64 = 0.25;

/// Where everything of a figure lies.
struct Layout {
    width: i32,
    subtitle: Vec<String>,
    legend: Vec<(LegendKey, String, i32, i32)>,
    rows: Rows,
}

impl Layout {
    fn new(figure: &BarFigure) -> Self {
        let names = |group: &BarGroup| {
            let labels = label_lines(&group.label).into_iter().map(|line| LABEL.width(&line));
            let details = detail_lines(&group.detail);
            let details = details.iter().map(|line| Font::plain(11).width(line));
            labels.chain(details).max().unwrap_or(0)
        };
        let left = MARGIN + 10 + figure.groups.iter().map(names).max().unwrap_or(0).clamp(60, 320);
        let width = sheet_width(figure, left);
        let subtitle = SUBTITLE.lines(&figure.subtitle, width - 2 * MARGIN);
        let under = 42 + SUBTITLE_STEP * (count(subtitle.len()) - 1);
        let (legend, legend_bottom) = legend(figure, under + 22, width);
        let drawn = figure.groups.iter().map(|group| group.bars.len()).sum::<usize>();
        let gaps = count(figure.groups.len()) * GROUP_GAP;
        let top = legend_bottom + 14;
        let bar = ((HEIGHT - top - 52 - gaps) / count(drawn.max(1))).clamp(BAR_MIN, BAR_MAX);
        let height = |group: &BarGroup| group.heading_height(left) + group.height(bar);
        let bottom = top + gaps + figure.groups.iter().map(height).sum::<i32>();
        let x_max = axis_end(figure);
        let plot = plot_width(figure, bar, (left, width), x_max).min(figure.scale.plot_max);
        let (x, y) = (Span::linear(0.0, x_max), Span::linear(0.0, 1.0));
        let plot = ChartFrame { left, right: left + plot, top, bottom, pad: 0, x, y };
        Self { width, subtitle, legend, rows: Rows { plot, bar } }
    }
}

/// Makes the axes of figures equally long that stand side by side: those of equally wide sheets.
pub(super) fn plots_shared(figures: &[BarFigure]) -> Vec<i32> {
    let plot = |figure: &BarFigure| {
        let Layout { width, rows: Rows { plot, .. }, .. } =
            Layout::new(&with_near_reference(figure));
        (width, plot.right - plot.left)
    };
    let plots: Vec<(i32, i32)> = figures.iter().map(plot).collect();
    let shortest = |wanted: i32| {
        let alike = plots.iter().filter(|(width, _)| *width == wanted);
        alike.map(|(_, plot)| *plot).min().unwrap_or(i32::MAX)
    };
    plots.iter().map(|(width, _)| shortest(*width)).collect()
}

/// The longest bar or mark.
fn reach(figure: &BarFigure) -> f64 {
    figure.groups.iter().flat_map(|group| &group.bars).map(Bar::reach).fold(0.0, f64::max)
}

/// Where the axis ends: at a number of its own, with all bars and marks before it.
pub(super) fn axis_end(figure: &BarFigure) -> f64 {
    let least = figure.reference.unwrap_or(0.0).max(figure.scale.reach_min);
    let most = reach(figure).max(least).max(f64::MIN_POSITIVE);
    let step = nice_step(most, TICKS);
    (most / step - ROUNDING).ceil() * step
}

/// The same without a reference from which all bars are far away.
pub(super) fn with_near_reference(figure: &BarFigure) -> BarFigure {
    let reach = reach(figure);
    let reference = figure.reference.filter(|reference| reach >= reference * REFERENCE_NEAR);
    BarFigure { reference, ..figure.clone() }
}

/// Draws the figure.
pub(super) fn bars(figure: &BarFigure) -> Result<String, ChartError> {
    let figure = &with_near_reference(figure);
    let Layout { width, subtitle, legend, rows } = Layout::new(figure);
    draw((width, rows.plot.bottom + 52), &figure.title, |canvas| {
        canvas.text(&figure.title, (MARGIN, 20), Anchor::Start, Font::plain(18).bold())?;
        for (line, place) in subtitle.iter().zip(0..) {
            let place = (MARGIN, 42 + SUBTITLE_STEP * place);
            canvas.text(line, place, Anchor::Start, SUBTITLE.colour(GREY))?;
        }
        draw_legend(canvas, figure, &legend)?;
        draw_axis(canvas, figure, &rows)?;
        let mut y = rows.plot.top + GROUP_GAP / 2;
        for group in &figure.groups {
            y = draw_heading(canvas, group, &rows, y)?;
            y = draw_group(canvas, figure, group, &rows, y)?;
        }
        Ok(())
    })
}

/// Writes a group's heading from `y` downwards, below a line across the names, and returns where the group starts.
fn draw_heading(
    canvas: &Canvas<'_>,
    group: &BarGroup,
    rows: &Rows,
    y: i32,
) -> Result<i32, ChartError> {
    let left = rows.plot.left;
    let lines = group.heading_lines(left);
    if !lines.is_empty() {
        canvas.line(vec![(MARGIN, y), (rows.plot.right, y)], PALE, 1)?;
    }
    for (line, place) in lines.iter().zip(0..) {
        let place = (MARGIN, y + HEADING_STEP * place + HEADING_ROOM);
        canvas.text(line, place, Anchor::Start, HEADING)?;
    }
    Ok(y + group.heading_height(left))
}

pub(super) fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 64)
}

/// Returns a group's detail in as many lines as it needs.
fn detail_lines(detail: &str) -> Vec<String> {
    broken(detail, Font::plain(11), DETAIL_MAX)
}

/// Returns a group's label in as many lines as it needs.
fn label_lines(label: &str) -> Vec<String> {
    broken(label, LABEL, LABEL_MAX)
}

/// Breaks a list after commas.
fn broken(list: &str, font: Font, width_max: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in list.split(", ").filter(|part| !part.is_empty()) {
        match lines.last_mut() {
            Some(line) if font.width(&format!("{line}, {part}")) <= width_max => {
                *line = format!("{line}, {part}");
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                lines.push(part.to_owned());
            }
        }
    }
    lines
}

/// Returns the widest plot in which each number has room beside its bar, in pixels.
#[expect(clippy::cast_possible_truncation, reason = "a length on a sheet of 900 pixels")]
fn plot_width(figure: &BarFigure, bar_height: i32, (left, width): (i32, i32), x_max: f64) -> i32 {
    let room = width - MARGIN - left;
    let widths = figure.groups.iter().flat_map(|group| &group.bars).map(|bar| {
        let number = NUMBER_GAP + number_font(bar_height).width(&bar_text(figure, bar));
        // A number that would lie on the line of the reference stands beyond it.
        let portion = (bar.reach().max(figure.reference.unwrap_or(0.0)) / x_max).max(0.01);
        (f64::from(room - number) / portion) as i32
    });
    widths.min().unwrap_or(room).clamp(120, room)
}

/// Returns the font of the numbers beside bars of this height.
fn number_font(bar_height: i32) -> Font {
    Font::plain((bar_height - 2).clamp(10, 12))
}

/// Returns a bar's text, after its series' number where colours do not suffice.
pub(super) fn bar_text(figure: &BarFigure, bar: &Bar) -> String {
    if figure.series.len() > SERIES_UNNUMBERED_MAX {
        format!("{}: {}", bar.series + 1, bar.text)
    } else {
        bar.text.clone()
    }
}

/// The legend's marks, each with its words: series first.
pub(super) fn legend_keys(figure: &BarFigure) -> Vec<(LegendKey, String)> {
    let numbered_name = |index: usize, name: &String| {
        if figure.series.len() > SERIES_UNNUMBERED_MAX {
            format!("{}: {name}", index + 1)
        } else {
            name.clone()
        }
    };
    let series = figure.series.iter().enumerate();
    let mut entries: Vec<(LegendKey, String)> = series
        .map(|(index, name)| (LegendKey::Series(index), numbered_name(index, name)))
        .collect();
    let marks = [
        (LegendKey::Tick, &figure.tick_label),
        (LegendKey::Diamond, &figure.diamond_label),
        (LegendKey::Whisker, &figure.whisker_label),
    ];
    entries
        .extend(marks.into_iter().filter_map(|(key, label)| Some((key, label.as_ref()?.clone()))));
    entries
}

/// Places the legend's entries in rows, the first at `y`, and returns them with where the last row is.
fn legend(figure: &BarFigure, mut y: i32, sheet: i32) -> (Vec<(LegendKey, String, i32, i32)>, i32) {
    let mut x = MARGIN;
    let mut placed = Vec::new();
    for (key, name) in legend_keys(figure) {
        let width = 22 + Font::plain(12).width(&name) + 18;
        if x > MARGIN && x + width > sheet - MARGIN {
            (x, y) = (MARGIN, y + 18);
        }
        placed.push((key, name, x, y));
        x += width;
    }
    (placed, y)
}

/// Draws the legend's entries.
fn draw_legend(
    canvas: &Canvas<'_>,
    figure: &BarFigure,
    entries: &[(LegendKey, String, i32, i32)],
) -> Result<(), ChartError> {
    debug_assert!(entries.len() >= figure.series.len(), "every series has an entry");
    for (key, name, x, y) in entries {
        draw_key(canvas, *key, (*x, *y))?;
        canvas.text(name, (x + 20, *y), Anchor::Start, Font::plain(12))?;
    }
    Ok(())
}

/// Draws a mark of the legend, 14 pixels wide from `x` on, around `y`.
pub(super) fn draw_key(
    canvas: &Canvas<'_>,
    key: LegendKey,
    (x, y): (i32, i32),
) -> Result<(), ChartError> {
    match key {
        LegendKey::Series(index) => canvas.fill((x, y - 6), (x + 14, y + 6), series_colour(index)),
        LegendKey::Tick => canvas.line(vec![(x + 7, y - 7), (x + 7, y + 7)], INK, 3),
        LegendKey::Diamond => canvas.diamond((x + 7, y), 5, INK),
        LegendKey::Whisker => draw_whisker(canvas, (x, x + 14), y),
    }
}

/// Draws the x axis with grid lines, its numbers and its label.
fn draw_axis(canvas: &Canvas<'_>, figure: &BarFigure, rows: &Rows) -> Result<(), ChartError> {
    let step = nice_step(rows.plot.x.high, TICKS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few digits")]
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let mut value = 0.0;
    while value <= rows.plot.x.high * 1.0001 {
        let x = rows.plot.x(value);
        canvas.line(vec![(x, rows.plot.top), (x, rows.plot.bottom)], PALE, 1)?;
        let number = format!("{value:.decimals$}");
        let font = Font::plain(12).colour(GREY);
        canvas.text(&number, (x, rows.plot.bottom + 14), Anchor::Middle, font)?;
        value += step;
    }
    if let Some(reference) = figure.reference {
        let x = rows.plot.x(reference);
        canvas.line(vec![(x, rows.plot.top), (x, rows.plot.bottom)], GREY, 1)?;
    }
    canvas.line(
        vec![(rows.plot.left, rows.plot.top), (rows.plot.left, rows.plot.bottom)],
        GREY,
        1,
    )?;
    let middle = i32::midpoint(rows.plot.left, rows.plot.right);
    canvas.text(&figure.x_label, (middle, rows.plot.bottom + 36), Anchor::Middle, Font::plain(13))
}

/// Draws one group from `y` downwards and returns where the next one starts.
fn draw_group(
    canvas: &Canvas<'_>,
    figure: &BarFigure,
    group: &BarGroup,
    rows: &Rows,
    y: i32,
) -> Result<i32, ChartError> {
    let end = y + group.height(rows.bar);
    let middle = i32::midpoint(y, end);
    let (labels, details) = (label_lines(&group.label), detail_lines(&group.detail));
    let mut line = middle - 7 * count(details.len()) - LABEL_STEP * (count(labels.len()) + 1) / 2;
    for label in labels {
        line += LABEL_STEP;
        canvas.text(&label, (rows.plot.left - 10, line), Anchor::End, LABEL)?;
    }
    line += 2;
    for detail in details {
        line += DETAIL_STEP;
        canvas.text(
            &detail,
            (rows.plot.left - 10, line),
            Anchor::End,
            Font::plain(11).colour(GREY),
        )?;
    }
    let mut top = middle - rows.bar * i32::try_from(group.bars.len()).unwrap_or(0) / 2;
    for bar in &group.bars {
        draw_bar(canvas, figure, bar, rows, top)?;
        top += rows.bar;
    }
    Ok(end + GROUP_GAP)
}

/// Draws one bar with its marks and its number.
fn draw_bar(
    canvas: &Canvas<'_>,
    figure: &BarFigure,
    bar: &Bar,
    rows: &Rows,
    top: i32,
) -> Result<(), ChartError> {
    let middle = top + rows.bar / 2;
    if let Some(value) = bar.value {
        let end = (rows.plot.x(value).max(rows.plot.left + 1), top + rows.bar - 1);
        canvas.fill((rows.plot.left, top + 1), end, series_colour(bar.series))?;
    }
    if let Some((low, high)) = bar.whisker {
        draw_whisker(canvas, (rows.plot.x(low), rows.plot.x(high)), middle)?;
    }
    if let Some(diamond) = bar.diamond {
        canvas.diamond((rows.plot.x(diamond), middle), 4, INK)?;
    }
    // After the diamond, so that both are seen where they meet.
    if let Some(tick) = bar.tick {
        let x = rows.plot.x(tick);
        canvas.line(vec![(x, top), (x, top + rows.bar)], INK, 3)?;
    }
    let (text, font) = (bar_text(figure, bar), number_font(rows.bar));
    let mut x = rows.plot.x(bar.reach()) + NUMBER_GAP;
    let line = figure.reference.map(|reference| rows.plot.x(reference));
    if let Some(line) = line.filter(|line| (x - 3..x + font.width(&text) + 3).contains(line)) {
        x = line + NUMBER_GAP;
    }
    canvas.label(&text, (x, middle), font)
}

/// Draws an interval as a line with ends.
pub(super) fn draw_whisker(
    canvas: &Canvas<'_>,
    (low, high): (i32, i32),
    middle: i32,
) -> Result<(), ChartError> {
    canvas.line(vec![(low, middle), (high, middle)], INK, 1)?;
    canvas.line(vec![(low, middle - 4), (low, middle + 4)], INK, 1)?;
    canvas.line(vec![(high, middle - 4), (high, middle + 4)], INK, 1)
}

/// The most parts of an axis.
const TICKS: f64 = 8.0;
/// What a quotient may be off by, of its rounding.
const ROUNDING: f64 = 1e-9;

/// Returns 1, 2 or 5 times a power of ten that divides `span` into at most `parts`.
pub(super) fn nice_step(span: f64, parts: f64) -> f64 {
    let raw = span / parts * (1.0 - ROUNDING);
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= raw);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::{
        Bar, BarFigure, BarGroup, DETAIL_MAX, Font, Scale, axis_end, detail_lines, nice_step,
        plots_shared,
    };

    /// A figure of one bar.
    fn figure(value: f64, tick: Option<f64>, text: &str) -> BarFigure {
        let text = text.to_owned();
        let bar = Bar { series: 0, value: Some(value), whisker: None, tick, diamond: None, text };
        BarFigure {
            title: "title".to_owned(),
            subtitle: "subtitle".to_owned(),
            x_label: "x".to_owned(),
            series: vec!["device".to_owned()],
            tick_label: None,
            diamond_label: None,
            whisker_label: None,
            reference: None,
            scale: Scale::alone(1.0),
            groups: vec![BarGroup {
                heading: String::new(),
                label: "kernel".to_owned(),
                detail: String::new(),
                bars: vec![bar],
            }],
        }
    }

    #[test]
    fn an_axis_ends_at_a_number_past_all_marks() {
        for (value, tick, end) in
            [(3.509, Some(3.984), 4.0), (0.3, None, 1.0), (50.8, None, 60.0), (1.2, None, 1.2)]
        {
            let found = axis_end(&figure(value, tick, ""));
            assert!((found - end).abs() < 1e-9, "{value}, {tick:?}: {found}");
        }
    }

    #[test]
    fn equally_wide_sheets_side_by_side_have_axes_of_one_length() {
        let figures = [figure(1.0, None, "a long number"), figure(0.5, None, "7")];
        let alone = figures.each_ref().map(|figure| plots_shared(std::slice::from_ref(figure))[0]);
        assert!(alone[0] < alone[1], "{alone:?}");
        assert_eq!(plots_shared(&figures), [alone[0]; 2]);
    }

    #[test]
    fn long_details_are_broken_after_commas() {
        let parts: Vec<String> = (0..12).map(|i| format!("parameter_{i}={i}")).collect();
        let lines = detail_lines(&parts.join(", "));
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| Font::plain(11).width(line) <= DETAIL_MAX + 4));
        assert_eq!(lines.join(" "), parts.join(", "));
        assert!(detail_lines("").is_empty());
    }

    #[test]
    fn steps_are_round_and_few() {
        for (span, step) in [(32.0, 5.0), (64.0, 10.0), (128.0, 20.0), (4.0, 0.5), (1.3, 0.2)] {
            assert!((nice_step(span, 8.0) - step).abs() < 1e-9, "{span}");
        }
    }
}
