//! Where a plot lies on its sheet, and where values lie in the plot.
//!
//! Input: the plot's edges in pixels and what its axes span. Output: places in pixels. It draws
//! nothing.

/// What an axis spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The value at the axis' beginning; above 0 where it is logarithmic.
    pub(super) low: f64,
    /// The value at its end.
    pub(super) high: f64,
    /// Whether equal ratios are equally far apart, else equal differences.
    pub(super) logarithmic: bool,
}

/// Where a plot lies on the sheet, and what it spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChartFrame {
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// The room between the edges at the left and right and the ends of the x axis, in pixels.
    pub(super) pad: i32,
    pub(super) x: Span,
    pub(super) y: Span,
}

impl Span {
    /// An axis with equal steps.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        Self { low, high, logarithmic: false }
    }

    /// An axis with equal ratios.
    pub(super) fn logarithmic(low: f64, high: f64) -> Self {
        Self { low, high, logarithmic: true }
    }

    /// Returns how far along the axis a value lies, from 0 to 1; values outside lie at its ends.
    fn share(&self, value: f64) -> f64 {
        let at = |value: f64| self.at(value);
        let (low, high) = (at(self.low), at(self.high));
        if high > low { ((at(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Returns which part of the way from one value to another, which lies beyond the axis, is on it.
    pub(super) fn portion(&self, from: f64, to: f64) -> f64 {
        (self.at(self.high) - self.at(from)) / (self.at(to) - self.at(from))
    }

    /// A value, or its logarithm.
    fn at(&self, value: f64) -> f64 {
        if self.logarithmic { value.max(1e-12).ln() } else { value }
    }
}

impl ChartFrame {
    /// Returns the place of a value on the x axis.
    pub(super) fn x(&self, value: f64) -> i32 {
        along(self.x.share(value), self.left + self.pad, self.right - self.pad)
    }

    /// Returns the place of a value on the y axis.
    pub(super) fn y(&self, value: f64) -> i32 {
        along(self.y.share(value), self.bottom, self.top)
    }

    /// Returns the place of a point.
    pub(super) fn place(&self, x: f64, y: f64) -> (i32, i32) {
        (self.x(x), self.y(y))
    }
}

/// The pixel at a share of the way.
#[expect(clippy::cast_possible_truncation, reason = "a place on a sheet of some hundred pixels")]
fn along(share: f64, from: i32, to: i32) -> i32 {
    from + (share * f64::from(to - from)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_their_axis_says() {
        let frame = ChartFrame {
            left: 100,
            right: 320,
            top: 50,
            bottom: 250,
            pad: 10,
            x: Span::logarithmic(1.0, 16.0),
            y: Span::linear(0.0, 2.0),
        };
        assert_eq!(frame.place(1.0, 0.0), (110, 250));
        assert_eq!(frame.place(4.0, 1.0), (210, 150));
        assert_eq!(frame.place(16.0, 2.0), (310, 50));
        assert_eq!(frame.place(64.0, 3.0), (310, 50), "outside lies at the end");
        let single = ChartFrame { x: Span::linear(3.0, 3.0), ..frame };
        assert_eq!(single.x(3.0), 210);
    }
}
