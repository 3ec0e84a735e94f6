//! The limits that descriptions and launches keep to.
//!
//! Input: nothing. Output: numbers, and a count of workgroups folded to the limit of a dimension.
//! What is over a limit is refused where it turns up, not here.

/// The most workgroups along one dimension that every device takes.
pub const WORKGROUPS_PER_DIMENSION_MAX: u32 = 65_535;

/// The most bytes of one buffer that lanescope makes.
pub const BUFFER_BYTES_MAX: u64 = 1 << 34;

/// The most texels of a texture along one dimension, and the most layers: beyond what any device takes.
pub const TEXTURE_EXTENT_MAX: u32 = 32_768;

/// The bytes of a buffer without elements: the largest element of a catalogue's run-time array.
pub(super) const EMPTY_BYTES: u64 = 16;

/// The most elements of a buffer that a record shows.
pub const SHOWN_ELEMENTS_MAX: u64 = 16_384;

/// The most dispatches of a launch, repetitions included.
pub(super) const DISPATCHES_MAX: usize = 4096;

/// The most parameters of a description.
pub(super) const PARAMETERS_MAX: usize = 1024;

/// The most bytes of a formula.
pub(super) const FORMULA_BYTES_MAX: usize = 4096;

/// The most repetitions of a described dispatch.
pub(super) const REPETITIONS_MAX: u64 = 1024;

/// Folds a count of workgroups into two dimensions, exactly where a divisor allows it.
///
/// Kernels number workgroups as y · grid.x + x and skip what lies past their n, so that a grid may
/// be larger than `count`.
pub fn fold(count: u64) -> Option<[u32; 3]> {
    let limit = u64::from(WORKGROUPS_PER_DIMENSION_MAX);
    let rows_min = count.div_ceil(limit).max(1);
    let rows = (rows_min..(rows_min + 4096).min(limit + 1))
        .find(|rows| count.is_multiple_of(*rows))
        .unwrap_or(rows_min);
    let columns = count.div_ceil(rows);
    Some([u32::try_from(columns).ok()?, u32::try_from(rows).ok()?, 1])
        .filter(|_| columns <= limit && rows <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_fold_exactly_where_they_can() {
        assert_eq!(fold(0), Some([0, 1, 1]));
        assert_eq!(fold(4096), Some([4096, 1, 1]));
        assert_eq!(fold(65_536), Some([32_768, 2, 1]));
        assert_eq!(fold(1 << 20), Some([65_536 / 2, 32, 1]));
        let prime = fold(65_537).unwrap();
        assert!(u64::from(prime[0]) * u64::from(prime[1]) >= 65_537);
        assert_eq!(fold(1 << 40), None);
    }
}
