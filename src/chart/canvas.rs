//! A white sheet with lines, boxes, marks and text in pixels.
//!
//! Input: places and colours. Output: SVG text. The only file that names plotters: its SVG back end
//! alone, for the rest of it asks a browser for fonts where it is compiled for one.

use std::cell::RefCell;
use std::convert::Infallible;

use plotters_backend::{
    BackendColor, BackendStyle, BackendTextStyle, DrawingBackend, FontFamily, FontStyle,
    text_anchor::{HPos, Pos, VPos},
};
use plotters_svg::SVGBackend;

use super::ChartError;
use crate::units::visible::visible_line;

/// A colour, red, green and blue from 0 to 255.
pub(super) type Colour = (u8, u8, u8);

/// Text and marks.
pub(super) const INK: Colour = (0x1a, 0x1a, 0x1a);
/// Text of second rank.
pub(super) const GREY: Colour = (0x55, 0x55, 0x55);
/// Grid lines.
pub(super) const PALE: Colour = (0xdd, 0xdd, 0xdd);
/// The sheet.
const WHITE: Colour = (0xff, 0xff, 0xff);

/// Okabe and Ito's colours without black, which is for marks; a ninth series starts again.
const SERIES: [Colour; 8] = [
    (0x00, 0x72, 0xb2),
    (0xe6, 0x9f, 0x00),
    (0x00, 0x9e, 0x73),
    (0xcc, 0x79, 0xa7),
    (0x56, 0xb4, 0xe9),
    (0xd5, 0x5e, 0x00),
    (0xf0, 0xe4, 0x42),
    (0x99, 0x99, 0x99),
];

/// Returns the colour of the series with this index.
pub(super) fn series_colour(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}

/// Where a text's place lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Font {
    pub(super) size: i32,
    pub(super) bold: bool,
    pub(super) colour: Colour,
}

impl Font {
    /// Returns upright text of `size` pixels in ink.
    pub(super) fn plain(size: i32) -> Self {
        Self { size, bold: false, colour: INK }
    }

    /// Returns the same in bold.
    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Returns the same in another colour.
    pub(super) fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// Estimates the width of `text` in pixels, on the safe side for common sans-serif fonts.
    ///
    /// There are no font metrics: the viewer's fonts are not known.
    #[expect(clippy::cast_possible_truncation, reason = "a label's length in pixels")]
    pub(super) fn width(self, text: &str) -> i32 {
        let per_mille = if self.bold { 620 } else { 575 };
        (text.chars().count() as i64 * i64::from(self.size) * per_mille / 1000) as i32
    }
}

/// A sheet that is drawn on.
pub(super) struct Canvas<'a> {
    svg: RefCell<SVGBackend<'a>>,
}

/// A colour and the thickness of lines.
struct Stroke {
    colour: Colour,
    thick: u32,
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        opaque(self.colour)
    }

    fn stroke_width(&self) -> u32 {
        self.thick
    }
}

/// A text's font and where its place lies in it.
struct Written {
    font: Font,
    anchor: Anchor,
}

impl BackendTextStyle for Written {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        opaque(self.font.colour)
    }

    fn size(&self) -> f64 {
        // plotters writes a font's size divided by 1.24; ours are the pixels that are seen.
        f64::from(self.font.size) * 1.24
    }

    fn style(&self) -> FontStyle {
        if self.font.bold { FontStyle::Bold } else { FontStyle::Normal }
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Center)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::SansSerif
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), Infallible> {
        Ok(((0, 0), (self.font.width(text), self.font.size)))
    }

    /// Text in an SVG is written, not drawn: there is no pixel.
    fn draw<E, F: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _: &str,
        _: (i32, i32),
        _: F,
    ) -> Result<Result<(), E>, Infallible> {
        Ok(Ok(()))
    }
}

/// Draws on a new sheet of `width` × `height` pixels and returns its SVG, titled for screen readers.
pub(super) fn draw(
    (width, height): (i32, i32),
    title: &str,
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), ChartError>,
) -> Result<String, ChartError> {
    let mut svg = String::new();
    {
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let canvas = Canvas { svg: RefCell::new(SVGBackend::with_string(&mut svg, size)) };
        canvas.fill((0, 0), (width, height), WHITE)?;
        paint(&canvas)?;
        canvas.svg.borrow_mut().present().map_err(to_chart_error)?;
    }
    let label: String = visible_line(title)
        .chars()
        .map(|letter| match letter {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '"' => "&quot;".to_owned(),
            other => other.to_string(),
        })
        .collect();
    Ok(svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1))
}

impl Canvas<'_> {
    /// Draws a line through `points`, `thick` pixels wide.
    pub(super) fn line(
        &self,
        points: Vec<(i32, i32)>,
        colour: Colour,
        thick: u32,
    ) -> Result<(), ChartError> {
        let drawn = self.svg.borrow_mut().draw_path(points, &Stroke { colour, thick });
        drawn.map_err(to_chart_error)
    }

    /// Fills the box between two corners.
    pub(super) fn fill(
        &self,
        from: (i32, i32),
        to: (i32, i32),
        colour: Colour,
    ) -> Result<(), ChartError> {
        let first = (from.0.min(to.0), from.1.min(to.1));
        let last = (from.0.max(to.0), from.1.max(to.1));
        let drawn = self.svg.borrow_mut().draw_rect(first, last, &opaque(colour), true);
        drawn.map_err(to_chart_error)
    }

    /// Draws a diamond with a white rim about `centre`.
    pub(super) fn diamond(
        &self,
        (x, y): (i32, i32),
        radius: i32,
        colour: Colour,
    ) -> Result<(), ChartError> {
        for (r, colour) in [(radius + 2, WHITE), (radius, colour)] {
            let points = vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
            let drawn = self.svg.borrow_mut().fill_polygon(points, &opaque(colour));
            drawn.map_err(to_chart_error)?;
        }
        Ok(())
    }

    /// Fills a disc about `centre`.
    pub(super) fn disc(
        &self,
        centre: (i32, i32),
        radius: i32,
        colour: Colour,
    ) -> Result<(), ChartError> {
        let radius = u32::try_from(radius).unwrap_or(0);
        let drawn = self.svg.borrow_mut().draw_circle(centre, radius, &opaque(colour), true);
        drawn.map_err(to_chart_error)
    }

    /// Draws a square's outline about `centre`.
    pub(super) fn square(
        &self,
        (x, y): (i32, i32),
        radius: i32,
        colour: Colour,
    ) -> Result<(), ChartError> {
        let (left, right, top, bottom) = (x - radius, x + radius, y - radius, y + radius);
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.line(corners, colour, 2)
    }

    /// Writes `text` as [`Self::text`] does, from `x` on, on white: no line runs through it.
    pub(super) fn label(
        &self,
        text: &str,
        (x, y): (i32, i32),
        font: Font,
    ) -> Result<(), ChartError> {
        if text.is_empty() {
            return Ok(());
        }
        let half = font.size / 2 + 1;
        self.fill((x - 2, y - half), (x + font.width(text), y + half), WHITE)?;
        self.text(text, (x, y), Anchor::Start, font)
    }

    /// Writes `text`, centred on `y`.
    pub(super) fn text(
        &self,
        text: &str,
        (x, y): (i32, i32),
        anchor: Anchor,
        font: Font,
    ) -> Result<(), ChartError> {
        let drawn =
            self.svg.borrow_mut().draw_text(&visible_line(text), &Written { font, anchor }, (x, y));
        drawn.map_err(to_chart_error)
    }
}

/// Turns a colour into plotters'.
fn opaque(rgb: Colour) -> BackendColor {
    BackendColor { alpha: 1.0, rgb }
}

/// Keeps the words of a drawing error, whose type names the backend.
fn to_chart_error(error: impl std::fmt::Display) -> ChartError {
    ChartError::Draw(error.to_string())
}
