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

/// The most light of a text on white, of 255: a test shows that it then has the contrast of 4.5 that WCAG 2
/// asks for.
const LIGHT_MAX: u32 = 100;

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
    pub(super) const fn plain(size: i32) -> Self {
        Self { size, bold: false, colour: INK }
    }

    /// Returns the same in bold.
    pub(super) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Returns the same in a series' colour, darkened where it could not be read on white.
    pub(super) fn series(self, (red, green, blue): Colour) -> Self {
        // The weights of sRGB, on values as they are written.
        let light = (u32::from(red) * 213 + u32::from(green) * 715 + u32::from(blue) * 72) / 1000;
        let darker = |part: u8| {
            u8::try_from(u32::from(part) * LIGHT_MAX / light.max(LIGHT_MAX)).unwrap_or(part)
        };
        self.colour((darker(red), darker(green), darker(blue)))
    }

    /// Returns the same in another colour.
    pub(super) const fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// Estimates the width of `text` in pixels, on the safe side for common sans-serif fonts.
    ///
    /// The viewer's fonts are not known: letters have the widths of `DejaVu Sans`, which is among the
    /// widest, rounded up to those of a few classes.
    #[expect(clippy::cast_possible_truncation, reason = "a label's length in pixels")]
    pub(super) fn width(self, text: &str) -> i32 {
        let all: i64 = text.chars().map(|letter| per_mille(letter, self.bold)).sum();
        ((all * i64::from(self.size) + 999) / 1000) as i32
    }

    /// Breaks `text` between words into lines of at most `room` pixels; a word alone may be longer.
    pub(super) fn lines(self, text: &str, room: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match lines.last_mut() {
                Some(line) if self.width(line) + self.width(&format!(" {word}")) <= room => {
                    *line = format!("{line} {word}");
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

/// The width of a letter in thousandths of its font's size.
fn per_mille(letter: char, bold: bool) -> i64 {
    match letter {
        'i' | 'j' | 'l' | '\'' if bold => 345,
        'i' | 'j' | 'l' | '\'' => 280,
        ' ' | '.' | ',' | ':' | ';' | '|' | '/' | '\\' | 'I' | 'J' | '·' => {
            if bold {
                400
            } else {
                340
            }
        }
        '-' | '(' | ')' | '[' | ']' | '!' | 'f' | 't' | 'r' => {
            if bold {
                500
            } else {
                410
            }
        }
        '_' | '*' | '–' | '"' | 's' | 'c' | 'z' | '?' => {
            if bold {
                600
            } else {
                555
            }
        }
        'w' | 'O' | 'Q' | 'D' | 'G' | 'H' | 'N' | 'U' | '&' | '+' | '<' | '=' | '>' | '~' | '^'
        | '#' | '×' | '±' | '≠' | '≈' => {
            if bold {
                920
            } else {
                840
            }
        }
        'm' | 'M' | 'W' | '%' | '@' | '…' if bold => 1100,
        'm' | 'M' | 'W' | '%' | '@' | '…' => 1000,
        'A'..='Z' => {
            if bold {
                775
            } else {
                700
            }
        }
        letter if letter.is_ascii() || "µΣ²".contains(letter) => {
            if bold {
                740
            } else {
                640
            }
        }
        // Any other script: as wide as high.
        _ => 1000,
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
    let root = format!("<svg role=\"img\" aria-label=\"{label}\" font-family=\"sans-serif\" ");
    Ok(compact(&svg).replacen("<svg ", &root, 1))
}

/// Attributes of elements that say what holds anyway: by SVG's defaults, or by what the root says of the font.
const IMPLIED: [&str; 4] =
    [" font-family=\"sans-serif\"", " opacity=\"1\"", " text-anchor=\"start\"", " stroke=\"none\""];

/// The same drawing in about two thirds of the bytes: without what is [`IMPLIED`] and without the line breaks in texts.
fn compact(svg: &str) -> String {
    let mut short = String::with_capacity(svg.len());
    for part in svg.split_inclusive('<') {
        // What stands before the tag's end is the tag; texts hold no "<".
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let mut tag = tag.to_owned();
        for implied in IMPLIED {
            tag = tag.replace(implied, "");
        }
        short.push_str(&tag);
        if part.contains('>') {
            short.push('>');
            match tag.starts_with("text ") {
                true => short.push_str(&text.replacen('\n', "", 1).replacen("\n<", "<", 1)),
                false => short.push_str(text),
            }
        }
    }
    short
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

    /// Marks a point of the series with this index; those that share a colour with an earlier one are hollow.
    pub(super) fn mark(&self, centre: (i32, i32), index: usize) -> Result<(), ChartError> {
        self.disc(centre, 4, series_colour(index))?;
        if index >= SERIES.len() { self.disc(centre, 2, WHITE) } else { Ok(()) }
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

    /// Writes the numbers of an axis, each below its place: the last, which says how far the axis goes, and those
    /// that do not touch one behind them.
    pub(super) fn numbers(
        &self,
        numbers: Vec<(i32, String)>,
        y: i32,
        font: Font,
    ) -> Result<(), ChartError> {
        for (x, text) in with_room(numbers, font) {
            self.text(&text, (x, y), Anchor::Middle, font)?;
        }
        Ok(())
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

/// Those numbers of an axis that do not touch one another, from the last on.
fn with_room(numbers: Vec<(i32, String)>, font: Font) -> Vec<(i32, String)> {
    let touches = |(x, text): &(i32, String), (next_x, next): &(i32, String)| {
        next_x - x <= i32::midpoint(font.width(text), font.width(next)) + NUMBERS_APART
    };
    let mut written: Vec<(i32, String)> = Vec::new();
    for number in numbers.into_iter().rev() {
        if written.last().is_none_or(|next| !touches(&number, next)) {
            written.push(number);
        }
    }
    written.reverse();
    written
}

/// How far two numbers of an axis lie apart at least, in pixels.
const NUMBERS_APART: i32 = 6;

/// Turns a colour into plotters'.
fn opaque(rgb: Colour) -> BackendColor {
    BackendColor { alpha: 1.0, rgb }
}

/// Keeps the words of a drawing error, whose type names the backend.
fn to_chart_error(error: impl std::fmt::Display) -> ChartError {
    ChartError::Draw(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_implied_is_left_out_of_tags_alone() {
        let long = "<svg>\n<rect x=\"1\" opacity=\"1\" fill=\"#FFF\" stroke=\"none\"/>\n<text x=\"2\" text-anchor=\"start\" \
                    font-family=\"sans-serif\" opacity=\"0.5\">\na &lt; b > c stroke=\"none\"\n</text>\n</svg>";
        let short = "<svg>\n<rect x=\"1\" fill=\"#FFF\"/>\n<text x=\"2\" opacity=\"0.5\">a &lt; b > c stroke=\"none\"</text>\n</svg>";
        assert_eq!(compact(long), short);
    }

    #[test]
    fn words_in_every_series_colour_can_be_read_on_white() {
        let linear = |part: u8| {
            let share = f64::from(part) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        for colour in SERIES {
            let (red, green, blue) = Font::plain(12).series(colour).colour;
            let light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
            assert!(1.05 / (light + 0.05) >= 4.5, "{colour:?}");
        }
        assert_eq!(Font::plain(12).series(SERIES[0]).colour, SERIES[0], "dark enough as it is");
    }

    #[test]
    fn the_last_number_of_an_axis_is_written_and_none_touches_another() {
        let written = |places: &[i32]| {
            let numbers = places.iter().map(|x| (*x, "32".to_owned())).collect();
            with_room(numbers, Font::plain(12)).into_iter().map(|(x, _)| x).collect::<Vec<i32>>()
        };
        assert_eq!(written(&[0, 10, 40, 80, 90]), [10, 40, 90]);
        assert_eq!(written(&[0, 40, 80]), [0, 40, 80]);
        assert_eq!(written(&[0, 5, 10]), [10]);
        assert!(written(&[]).is_empty());
    }

    #[test]
    fn lines_are_broken_between_words_and_hold_what_fits() {
        let font = Font::plain(12);
        let text = "mean active lanes of W, by width W; counted by the simulator";
        let lines = font.lines(text, 200);
        assert!(lines.len() > 1 && lines.iter().all(|line| font.width(line) <= 200), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert!(font.lines("", 200).is_empty());
    }
}
