//! A user's shader in a user's `#[test]`s: counted on the simulator, held to what the test says.
//!
//! Input: WGSL, and what launches it. Output: counts, and assertions on them that panic with the lines to
//! look at. Only the simulator counts here, in the test's own process: its answer is the same on every
//! machine.
//!
//! ```
//! let shader = "
//!     @group(0) @binding(0) var<storage, read_write> a: array<f32>;
//!     @compute @workgroup_size(64)
//!     fn main(@builtin(global_invocation_id) g: vec3u) { a[g.x] = a[g.x] * 2.0; }";
//! let counted = lanescope::testing::profile(shader).n(4096).device("sim:32").run().unwrap();
//! counted.assert_efficiency(0.99);
//! counted.assert_operations_at_most(10_000);
//! counted.assert_no_race();
//! ```

use std::path::PathBuf;

use crate::kernel::{Description, KernelError, Launch, SEED};
use crate::record::{DataRace, Dispatch, Line, Measurement};
use crate::run::looks::Looks;
use crate::run::measure::{Results, measurement};
use crate::run::profile::{ProfileError, ProfileRequest, prepare};
use crate::run::simulator::{self, STEPS_MAX, SimulatorRunner};
use crate::run::{CountRequest, Counted, RunError, Runner as _};
use crate::units::{Ratio, Width, text};

/// The file name of the shader in messages.
const FILE: &str = "shader.wgsl";

/// Lines that an assertion names.
const LINES_MAX: usize = 3;

/// Begins with a shader's text. Left alone, it is launched with 65,536 elements and random data, on
/// `sim:32`.
pub fn profile(source: impl Into<String>) -> TestRequest {
    TestRequest {
        source: source.into(),
        launch: None,
        folder: PathBuf::new(),
        entry_point: None,
        workgroups: None,
        n: None,
        seed: SEED,
        device: "sim:32".to_owned(),
    }
}

/// What is to be counted.
#[derive(Clone, Debug)]
pub struct TestRequest {
    source: String,
    launch: Option<String>,
    folder: PathBuf,
    entry_point: Option<String>,
    workgroups: Option<[u32; 3]>,
    n: Option<u64>,
    seed: u64,
    device: String,
}

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum TestingError {
    /// The shader or its launch cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The launch file cannot be read.
    #[error(transparent)]
    Launch(#[from] KernelError),
    /// The device is none that counts in a test.
    #[error("{0:?} is no device of a test: sim:1, sim:2, sim:4 … sim:128 are")]
    Device(String),
    /// The simulator stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl TestRequest {
    /// The text of a launch file: data, dispatches, overrides.
    #[must_use]
    pub fn launch(mut self, text: impl Into<String>) -> Self {
        self.launch = Some(text.into());
        self
    }

    /// The folder that the files of the launch file lie in; the test's own where left out.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// The entry point, where the shader has several.
    #[must_use]
    pub fn entry_point(mut self, name: impl Into<String>) -> Self {
        self.entry_point = Some(name.into());
        self
    }

    /// Workgroups along x, y and z, in place of as many as cover n.
    #[must_use]
    pub fn workgroups(mut self, workgroups: [u32; 3]) -> Self {
        self.workgroups = Some(workgroups);
        self
    }

    /// Elements of run-time arrays, an invocation each.
    #[must_use]
    pub fn n(mut self, n: u64) -> Self {
        self.n = Some(n);
        self
    }

    /// The seed of generated data.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The simulator at a width: `sim:8`, `sim:32`, `sim:64`.
    #[must_use]
    pub fn device(mut self, id: impl Into<String>) -> Self {
        self.device = id.into();
        self
    }

    /// Counts.
    ///
    /// # Errors
    ///
    /// Where the shader, its launch or the device cannot be used, and where the simulator stops.
    pub fn run(self) -> Result<Profiled, TestingError> {
        let named = self.device.split_once(':').filter(|(prefix, _)| *prefix == simulator::PREFIX);
        let width = named.and_then(|(_, lanes)| lanes.parse().ok());
        let width = width.and_then(|lanes: u32| Width::new(lanes).ok());
        let width = width.ok_or_else(|| TestingError::Device(self.device.clone()))?;
        let description = match &self.launch {
            Some(text) => {
                Some(("launch.toml".to_owned(), Description::parse("launch.toml", text)?))
            }
            None => None,
        };
        let request = ProfileRequest {
            file: FILE.to_owned(),
            name: "shader".to_owned(),
            source: self.source,
            derived: None,
            description,
            entry_point: self.entry_point,
            workgroups: self.workgroups,
            n: self.n,
            seed: self.seed,
        };
        let mut read =
            |name: &str| std::fs::read(self.folder.join(name)).map_err(|error| error.to_string());
        let launch = prepare(&request, &mut read)?.launch;
        let (device, counted) = count(&launch, width)?;
        let results = Results { counted: Some(counted), ..Results::default() };
        let measurement = measurement(&device, &launch, results)?;
        Ok(Profiled { launch, width, measurement })
    }
}

fn count(launch: &Launch, width: Width) -> Result<(crate::record::Device, Counted), RunError> {
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let request = CountRequest::once(crate::record::Method::Executed).with_histogram();
    let counted = simulator.count_once(launch, &request)?;
    Ok((simulator.device().clone(), counted))
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Profiled {
    launch: Launch,
    width: Width,
    /// The measurement, as a record holds it.
    pub measurement: Measurement,
}

impl Profiled {
    /// Mean active lanes over the width; `None` if nothing was executed.
    pub fn efficiency(&self) -> Option<Ratio> {
        self.measurement.efficiency_ratio
    }

    /// Σ operations × executions, over every block.
    pub fn subgroup_operations(&self) -> u128 {
        let blocks = self.measurement.dispatches.iter().flat_map(|dispatch| &dispatch.blocks);
        blocks.map(|block| u128::from(block.operations) * u128::from(block.executions.0)).sum()
    }

    /// Asserts that lanes are as busy as this at least; 1.0 is 100 %.
    ///
    /// # Panics
    ///
    /// Where they are not, with the lines that waste most.
    pub fn assert_efficiency(&self, at_least: f64) {
        let found = self.efficiency().map_or(0.0, |ratio| ratio.0);
        assert!(
            found >= at_least,
            "efficiency is {} on {} lanes, below {at_least}; most idle lanes: {}",
            text::ratio(found),
            self.width,
            self.lines_text(|line| {
                (u128::from(line.subgroup_operations) * u128::from(self.width.lanes()))
                    .saturating_sub(line.lane_operations.into())
            })
        );
    }

    /// Asserts that the launch takes no more subgroup operations than this.
    ///
    /// # Panics
    ///
    /// Where it takes more, with the lines that take most.
    pub fn assert_operations_at_most(&self, most: u128) {
        let found = self.subgroup_operations();
        assert!(
            found <= most,
            "the launch takes {found} subgroup operations on {} lanes, more than {most}; most on: {}",
            self.width,
            self.lines_text(|line| line.subgroup_operations.into())
        );
    }

    /// Asserts that no two invocations touch one word, one of them writing, with no barrier or atomic
    /// operation between. The launch is run once more, and every access is watched.
    ///
    /// # Panics
    ///
    /// Where two do, with both lines, or where the launch cannot be watched.
    pub fn assert_no_race(&self) {
        let looks = Looks {
            steps_max: STEPS_MAX,
            operations_max: u64::MAX,
            strict: false,
            everything: true,
        };
        let mut watched = self.measurement.clone();
        let looked = looks.at_memory(&self.launch, self.width, &mut watched);
        looked.unwrap_or_else(|why| panic!("{why}"));
        let dispatches = watched.memory.iter().flat_map(|memory| &memory.dispatches);
        let text = |race: &DataRace| {
            let [first, other] = race.sides.each_ref().map(|side| {
                let does = if side.writes { "writes" } else { "reads" };
                format!("line {} {does} `{}`", side.line, self.code(side.line))
            });
            format!("{first}, {other}")
        };
        let races: Vec<String> =
            dispatches.flat_map(|dispatch| &dispatch.races).take(LINES_MAX).map(text).collect();
        assert!(
            races.is_empty(),
            "invocations race for a word, with no barrier or atomic operation between: {}",
            races.join("; ")
        );
    }

    /// A line of the shader.
    fn code(&self, line: u32) -> &str {
        let before = usize::try_from(line).unwrap_or(0).saturating_sub(1);
        self.launch.source.lines().nth(before).unwrap_or_default().trim()
    }

    /// The lines with most of something, in words.
    fn lines_text(&self, most: impl Fn(&Line) -> u128) -> String {
        let mut lines: Vec<Line> =
            self.measurement.dispatches.iter().flat_map(Dispatch::lines).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(most(line)));
        let text =
            |line: &Line| format!("line {} `{}` ({})", line.line, self.code(line.line), most(line));
        lines.iter().take(LINES_MAX).map(text).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each invocation reads what its neighbour writes; `between` stands between.
    fn exchange(between: &str) -> String {
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
            var<workgroup> tile: array<u32, 64>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u,
                @builtin(local_invocation_index) i: u32) {{
                tile[i] = g.x;
                {between}
                a[g.x] = tile[63u - i];
            }}"
        )
    }

    #[test]
    fn a_race_is_found_and_a_barrier_ends_it() {
        let counted = |between: &str| profile(exchange(between)).n(256).run().unwrap();
        counted("workgroupBarrier();").assert_no_race();
        let racing = counted("");
        let message = panicked(move || racing.assert_no_race());
        assert!(
            message.contains("`tile[i] = g.x;`") && message.contains("line 7 reads"),
            "{message}"
        );
    }

    /// Half of the lanes work.
    const HALF: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
            if (g.x & 1u) == 0u { for (var i = 0u; i < 50u; i++) { a[g.x] = a[g.x] * 3u + i; } }
        }";

    /// What the panic says.
    fn panicked(body: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let panic = std::panic::catch_unwind(body).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    }

    #[test]
    fn assertions_hold_or_name_the_lines() {
        let counted = profile(HALF).n(1024).device("sim:32").run().unwrap();
        counted.assert_efficiency(0.5);
        counted.assert_operations_at_most(counted.subgroup_operations());
        let wide = profile(HALF).n(1024).device("sim:64").run().unwrap();
        assert!(wide.subgroup_operations() < counted.subgroup_operations());
        let copy = counted.clone();
        let message = panicked(move || copy.assert_efficiency(0.9));
        assert!(message.contains("below 0.9") && message.contains("line 3 `if (g.x"), "{message}");
        let message = panicked(move || counted.assert_operations_at_most(10));
        assert!(message.contains("more than 10; most on: line 3"), "{message}");
    }

    #[test]
    fn what_cannot_be_counted_says_why() {
        let error_text = |request: TestRequest| request.run().unwrap_err().to_string();
        assert!(error_text(profile(HALF).device("wgpu:0")).contains("is no device of a test"));
        assert!(error_text(profile(HALF).device("sim:33")).contains("is no device of a test"));
        assert!(error_text(profile("fn f() {")).contains("shader.wgsl"));
        assert!(error_text(profile(HALF).launch("[buffers]")).contains("launch.toml"));
    }
}
