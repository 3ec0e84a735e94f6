//! The same invocations in workgroups of other shapes: what a launch would cost so, tried on the
//! simulator.
//!
//! Input: a launch of one dispatch. Output: a launch for each shape, or why there is none. A launch whose
//! result may depend on the shape is left as it is.

use super::launched::programs;
use super::measure::{Results, measurement};
use super::simulator::SimulatorRunner;
use super::{CountRequest, RunError, Runner};
use crate::kernel::{Dispatch, Launch, Workgroups};
use crate::program::Program;
use crate::record::{Method, ShapeCounts, Shapes};

/// The most subgroup operations that all shapes together may be expected to take, about ten seconds.
const OPERATIONS_MAX: u64 = 1 << 28;

/// The most bytes of text that all shapes together may have: each is a program of its own, which is read as the
/// launch's was.
const SOURCE_BYTES_MAX: usize = 1 << 19;

/// The shapes of workgroups that extend along x alone.
const LINES: [u32; 4] = [32, 64, 128, 256];

/// Counts a launch on a simulator in workgroups of other shapes; `operations` is what it took as it is.
pub fn try_shapes(simulator: &mut SimulatorRunner, launch: &Launch, operations: u64) -> Shapes {
    match alternatives(launch) {
        Err(why) => Shapes { refused: Some(why), tried: Vec::new() },
        Ok(launches) if launches.len() as u64 * operations > OPERATIONS_MAX => {
            let why = "the launch is too large to be tried several times; a smaller one is tried";
            Shapes { refused: Some(why.to_owned()), tried: Vec::new() }
        }
        Ok(launches) => {
            let counts =
                launches.iter().filter_map(|(size, launch)| count(simulator, launch, *size).ok());
            Shapes { refused: None, tried: counts.collect() }
        }
    }
}

/// The work of a launch on a simulator.
fn count(
    simulator: &mut SimulatorRunner,
    launch: &Launch,
    workgroup_size: [u32; 3],
) -> Result<ShapeCounts, RunError> {
    let counted = simulator.count_once(launch, &CountRequest::once(Method::Executed))?;
    let results = Results { counted: Some(counted), ..Results::default() };
    let (subgroups, lanes) =
        super::measure::work(&measurement(simulator.device(), launch, results)?.dispatches);
    let whole = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
    Ok(ShapeCounts {
        workgroup_size,
        subgroup_operations: whole(subgroups),
        lane_operations: whole(lanes),
    })
}

/// The launch in each other shape that its grid can be cut into.
///
/// # Errors
///
/// Why it must keep its shape, a clause.
pub fn alternatives(launch: &Launch) -> Result<Vec<([u32; 3], Launch)>, String> {
    let [dispatch] = launch.dispatches.as_slice() else {
        return Err("it has several dispatches".to_owned());
    };
    let Workgroups::Direct(workgroups) = dispatch.workgroups else {
        return Err("its dispatch is indirect".to_owned());
    };
    let programs = programs(launch).map_err(|error| error.to_string())?;
    let program = programs.first().ok_or("it has no dispatch")?;
    if let Some(why) = program.shape_dependence() {
        return Err(why.to_owned());
    }
    let size = program.workgroup_size();
    let extent = [0, 1, 2].map(|axis| workgroups[axis] * size[axis]);
    let mut shapes = shapes(size, extent[1] > 1);
    shapes.retain(|shape| {
        *shape != size && extent.iter().zip(shape).all(|(extent, side)| extent % side == 0)
    });
    if shapes.len() * launch.source.len() > SOURCE_BYTES_MAX {
        return Err(
            "its text is so long that reading it anew for each shape would take longer than \
                    counting did"
                .to_owned(),
        );
    }
    let found = shapes.into_iter().filter_map(|shape| {
        let grid = [0, 1, 2].map(|axis| extent[axis] / shape[axis]);
        Some((shape, reshape(launch, program, shape, grid)?))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let [x, y, z] = extent;
        return Err(format!("none of as many invocations divides its grid of {x} × {y} × {z}"));
    }
    Ok(found)
}

/// The shapes that are tried in place of one, the longest rows first: as many invocations in flatter and squarer tiles, or lines of
/// other lengths. `flat` is whether the grid has rows that tiles can reach across.
pub(super) fn shapes(size: [u32; 3], flat: bool) -> Vec<[u32; 3]> {
    if size[1] == 1 && !flat {
        return LINES.map(|side| [side, 1, size[2]]).to_vec();
    }
    let invocations = size[0] * size[1];
    let sides = (0..=invocations.ilog2()).rev().map(|power| 1 << power);
    let whole = sides.filter(|side| invocations.is_multiple_of(*side));
    whole.map(|side| [side, invocations / side, size[2]]).collect()
}

/// The launch with another size of workgroup in its text; `None` where the text does not take it.
fn reshape(launch: &Launch, program: &Program, shape: [u32; 3], grid: [u32; 3]) -> Option<Launch> {
    let dispatch = launch.dispatches.first()?;
    let (text, name) = (&launch.source, &dispatch.entry_point);
    let function = program.text().function_start(name)?;
    let attribute = text.get(..function)?.rfind("@workgroup_size")?;
    let open = attribute + text.get(attribute..)?.find('(')?;
    let mut depth = 0_u32;
    let close = text.get(open..)?.char_indices().find_map(|(at, letter)| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(open + at)
    })?;
    let [x, y, z] = shape;
    let source = format!("{}{x}, {y}, {z}{}", text.get(..=open)?, text.get(close..)?);
    let dispatch = Dispatch { workgroups: Workgroups::Direct(grid), ..dispatch.clone() };
    let other = Launch { source, dispatches: vec![dispatch], ..launch.clone() };
    // What stood there may have been a comment: the program says what came of it.
    let made = programs(&other).ok()?;
    (made.first()?.workgroup_size() == shape).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_the_invocations_of_a_tile() {
        assert_eq!(shapes([8, 8, 1], true).len(), 7);
        assert!(shapes([8, 8, 1], true).iter().all(|[x, y, _]| x * y == 64));
        assert!(shapes([8, 8, 1], true).contains(&[32, 2, 1]));
        assert_eq!(shapes([6, 2, 1], true), [[4, 3, 1], [2, 6, 1], [1, 12, 1]]);
        assert_eq!(shapes([64, 1, 1], false)[0], [32, 1, 1]);
        // A grid with rows is cut into tiles, whatever its workgroups are.
        assert!(shapes([64, 1, 1], true).contains(&[8, 8, 1]));
    }
}
