//! Names at the right ends of lines, in the margin beside a plot.
//!
//! Input: where each line ends, its name and its colour. Output: marks on a canvas. Names stand in one
//! column, moved apart where they would touch; a dashed line leads to the name of a line that ends
//! before the plot does, so that no other line is written over.

use super::ChartError;
use super::canvas::{Anchor, Canvas, Colour, Font};
use super::frame::ChartFrame;

/// The least distance between two names, one above the other, in pixels.
const STEP: i32 = 13;
/// The distance of a name from the plot.
const GAP: i32 = 10;
/// The room that a mark takes about its place.
const MARK: i32 = 7;
/// Lengths of a dash and of the gap after it.
const DASH: (i32, i32) = (3, 5);

/// The end of a line.
pub(super) struct End {
    /// The place of its last point.
    pub(super) place: (i32, i32),
    pub(super) name: String,
    pub(super) colour: Colour,
}

/// Writes the names of lines beside a plot that ends at `right` and lies between `top` and `bottom`.
pub(super) fn ends(
    canvas: &Canvas<'_>,
    right: i32,
    (top, bottom): (i32, i32),
    mut ends: Vec<End>,
) -> Result<(), ChartError> {
    ends.sort_by_key(|end| end.place.1);
    let wanted: Vec<i32> = ends.iter().map(|end| end.place.1).collect();
    for (end, y) in ends.iter().zip(move_apart(&wanted, STEP, top, bottom)) {
        let (from, at) = end.place;
        if from < right {
            // Level within the plot: a slope would look like a further point.
            dashes(canvas, (from + MARK, at), (right, at), end.colour)?;
            dashes(canvas, (right, at), (right + GAP - 2, y), end.colour)?;
        }
        let font = Font::plain(12).bold().series(end.colour);
        canvas.text(&end.name, (right + GAP, y), Anchor::Start, font)?;
    }
    Ok(())
}

/// The least distance between two names with keys, one above the other, in pixels.
pub(super) const NAME_STEP: i32 = 16;

/// Writes names of lines with a key in their colour beside a plot, with a thin line from each line's
/// end, moved apart.
pub(super) fn names(
    canvas: &Canvas<'_>,
    frame: &ChartFrame,
    mut ends: Vec<End>,
) -> Result<(), ChartError> {
    ends.sort_by_key(|end| (end.place.1, end.place.0));
    let wanted: Vec<i32> = ends.iter().map(|end| end.place.1).collect();
    for (end, y) in ends.iter().zip(move_apart(&wanted, NAME_STEP, frame.top, frame.bottom)) {
        let key = frame.right + 8;
        canvas.line(vec![end.place, (key, y)], end.colour, 1)?;
        canvas.fill((key, y - 5), (key + 4, y + 5), end.colour)?;
        canvas.text(&end.name, (key + 9, y), Anchor::Start, Font::plain(12).bold())?;
    }
    Ok(())
}

/// A thin dashed line between two places, the first on the left.
fn dashes(
    canvas: &Canvas<'_>,
    (left, from): (i32, i32),
    (right, to): (i32, i32),
    colour: Colour,
) -> Result<(), ChartError> {
    let y = |x: i32| from + (to - from) * (x - left) / (right - left).max(1);
    let mut x = left;
    while x < right {
        let next = (x + DASH.0).min(right);
        canvas.line(vec![(x, y(x)), (next, y(next))], colour, 1)?;
        x = next + DASH.1;
    }
    Ok(())
}

/// Moves ascending places apart to at least `step`, as little as may be, within `low` to `high`.
///
/// Neighbours that are too near form a cluster that is centred on where its members want to be;
/// clusters that then meet become one. Where the room is too small, `high` gives way.
fn move_apart(wanted: &[i32], step: i32, low: i32, high: i32) -> Vec<i32> {
    // A cluster: first place, members, sum of (wanted − offset within the cluster).
    let mut clusters: Vec<(i32, i32, i32)> = Vec::new();
    for &want in wanted {
        let mut cluster = (want, 1, want);
        while let Some(&(first, members, sum)) = clusters.last() {
            if first + members * step <= cluster.0 {
                break;
            }
            let together = members + cluster.1;
            let total = sum + cluster.2 - cluster.1 * members * step;
            cluster = (total / together, together, total);
            clusters.pop();
        }
        let last = high - (cluster.1 - 1) * step;
        cluster.0 = cluster.0.min(last).max(low);
        clusters.push(cluster);
    }
    let mut places: Vec<i32> = clusters
        .iter()
        .flat_map(|(first, members, _)| (0..*members).map(move |member| first + member * step))
        .collect();
    // Clusters at an edge may still meet: push down.
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + step);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::move_apart;

    #[test]
    fn places_are_moved_apart_and_no_more_than_needed() {
        assert_eq!(move_apart(&[], 10, 0, 100), Vec::<i32>::new());
        assert_eq!(move_apart(&[20, 60], 10, 0, 100), [20, 60]);
        assert_eq!(move_apart(&[50, 50], 10, 0, 100), [45, 55]);
        assert_eq!(move_apart(&[50, 50, 50, 75], 10, 0, 100), [40, 50, 60, 75]);
        assert_eq!(move_apart(&[0, 0], 10, 0, 100), [0, 10]);
        assert_eq!(move_apart(&[100, 100], 10, 0, 100), [90, 100]);
        let crowded = move_apart(&[5; 30], 10, 0, 100);
        assert!(crowded.windows(2).all(|pair| pair[1] - pair[0] >= 10));
    }
}
