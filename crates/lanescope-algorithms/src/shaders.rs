//! The WGSL that the algorithms run, by the path under which lanescope's catalogue has it.
//!
//! Input: the files of this package's `shaders` folder, at compile time. Output: their texts. The
//! catalogue takes them from here, so that what it counts and times is what the algorithms run.
//! It needs no wgpu and reads no file when it runs.
//!
//! The texts begin with `enable subgroups;`, which WGSL asks for and naga 30, wgpu's compiler, does
//! not know: blank that line before you hand a text to wgpu 30, as this package does. Browsers need it.

/// Reduction over a whole device.
pub const REDUCE: &str = include_str!("../shaders/reduce/device.wgsl");

/// Prefix sums over a whole device, with look-back.
pub const SCAN: &str = include_str!("../shaders/scan/device.wgsl");

/// What a scan of flags reads and writes to keep the elements that have one.
pub const COMPACT: &str = include_str!("../shaders/scan/compact.part.wgsl");

/// Softmax of rows.
pub const SOFTMAX: &str = include_str!("../shaders/softmax/rows.wgsl");

/// What every partition by class consists of.
pub const SPLIT: &str = include_str!("../shaders/sort/split.part.wgsl");

/// The partition into few classes.
pub const SPLIT_FEW: &str = include_str!("../shaders/sort/split_few.part.wgsl");

/// The partition into many classes.
pub const SPLIT_MANY: &str = include_str!("../shaders/sort/split_many.part.wgsl");

/// A partition on a processor.
pub const SPLIT_RUNS: &str = include_str!("../shaders/sort/split_runs.part.wgsl");

/// A sort of whole keys, digit by digit.
pub const RADIX: &str = include_str!("../shaders/sort/radix.part.wgsl");

/// Arguments of an indirect dispatch for each class.
pub const GRIDS: &str = include_str!("../shaders/sort/grids.part.wgsl");

/// Every text with its path in the catalogue, `family/file`.
pub const FILES: [(&str, &str); 10] = [
    ("reduce/device.wgsl", REDUCE),
    ("scan/compact.part.wgsl", COMPACT),
    ("scan/device.wgsl", SCAN),
    ("softmax/rows.wgsl", SOFTMAX),
    ("sort/grids.part.wgsl", GRIDS),
    ("sort/radix.part.wgsl", RADIX),
    ("sort/split.part.wgsl", SPLIT),
    ("sort/split_few.part.wgsl", SPLIT_FEW),
    ("sort/split_many.part.wgsl", SPLIT_MANY),
    ("sort/split_runs.part.wgsl", SPLIT_RUNS),
];
