//! The command line as clap reads it; nothing is resolved here.
//!
//! Input: the process's arguments. Output: [`Arguments`]. What a device id or an axis means is
//! worked out in the commands, so that a wrong one gets near matches and the right exit code.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::count;

/// The help, which begins with what people come for.
const JOBS: &str = "\
{about-with-newline}
A shader of your own: which lines waste lanes, what to try
    lanescope profile my.wgsl
The catalogue: count, time and check its kernels here
    lanescope --quick

{usage-heading} {usage}

{all-args}{after-help}";

/// The headings of the options of `run`, which the program takes without a command, too.
const KERNELS: &str = "Arguments of run";
const WHAT: &str = "Options of run: devices and data";
const HOW: &str = "Options of run: counting and timing";
const LIMITS: &str = "Options of run: limits";
const OUTPUT: &str = "Options of run: what is written";

/// What stands below the options of `run`; families have names that `list` knows.
const RUN_EXAMPLES: &str = "\
Examples (`lanescope list` names the families and their kernels):
  lanescope run FAMILY --device sim:32 --device sim:64
      what 64 lanes cost over 32, on any machine
  lanescope run FAMILY/KERNEL -a n[pow2]=[10:20:2] --export-csv sweep.csv
      on every GPU that is found, at n = 2^10, 2^12 … 2^20
  lanescope run FAMILY --quick --no-timing --memory
      counts alone, and what accesses cost in a model";

/// Shows which lanes a GPU wastes.
#[derive(Debug, Parser)]
#[command(
    name = "lanescope",
    version,
    about,
    help_template = JOBS,
    long_about = "Shows which lanes a GPU wastes: counts active lanes per source line and times \
                  kernels on any GPU (Vulkan, Metal, DX12, CUDA) and on a built-in SIMT simulator.",
    after_help = "Exit codes: 0 done; 1 a check failed; 2 usage or bad input; 3 no such device, or \
                  none that works; 4 the driver lies or fails its self-test; 5 part of the run \
                  failed, the rest is on disk."
)]
pub(crate) struct Arguments {
    /// What to do; `run` where left out.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Arguments of the main job.
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show which lines of a WGSL compute shader of your own waste lanes
    Profile(ProfileArguments),
    /// Count, time and verify kernels of the catalogue (the job where no command is named)
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Show devices, the widths they report and run, timers, and the self-test of counting
    Doctor(DoctorArguments),
    /// List the catalogue's kernels with their questions
    List(ListArguments),
    /// Make charts and the HTML page again from result files
    Report(ReportArguments),
    /// Compare two result files, or two shaders: the whole, dispatches, functions, lines
    Compare(CompareArguments),
    /// Say what published claims are worth on the devices here, or by records
    Claims(ClaimsArguments),
    /// Work out how many workgroups a core holds from registers, workgroup memory and size
    Occupancy(OccupancyArguments),
    /// Write a page that counts and times kernels in browsers with WebGPU, and keeps a record
    Web(WebArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page: `lanescope man | man -l -` shows it
    Man,
    /// Own a device for a parent process; speaks JSON lines on standard input and output
    #[command(hide = true)]
    Worker,
}

/// Arguments of `web`.
#[derive(Clone, Debug, Args)]
pub(crate) struct WebArguments {
    /// Families or kernels beside the self-test; the default set and those about the grain of branches
    /// where left out
    #[arg(value_name = "FAMILY|KERNEL")]
    pub(crate) kernels: Vec<String>,
    /// The whole catalogue: a page of some 1.5 MB
    #[arg(long, conflicts_with = "kernels")]
    pub(crate) all: bool,
    /// Folder for the page, `index.html`, which is written over
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Arguments of `claims`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClaimsArguments {
    /// Claims by their ids, families of claims, or families of kernels that claims are checked with; the
    /// whole ledger where left out
    #[arg(value_name = "ID|FAMILY")]
    pub(crate) claims: Vec<String>,
    /// Judge these records, and tables as CSV, and run nothing; a folder stands for all that it holds
    #[arg(long, value_name = "RECORD", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,
    /// Device: `sim:32`, `sim:16,32,64`, `wgpu:0`, `wgpu:<part of the name>`, `all`; several with commas
    #[arg(short, long, value_name = "ID", conflicts_with = "from")]
    pub(crate) device: Vec<String>,
    /// A small n, the same on every device that is named, and a shorter --budget
    #[arg(long, conflicts_with = "from")]
    pub(crate) quick: bool,
    /// Seconds that timing may take in all; 120, or 12 with --quick
    #[arg(long, value_name = "SECONDS", conflicts_with = "from")]
    pub(crate) budget: Option<f64>,
    /// On `cuda:N`, read hardware counters too, of the launches that claims about them look at
    #[arg(long, conflicts_with = "from")]
    pub(crate) counters: bool,
    /// Folder for the result file and the page, which must not hold a result yet; a new folder under
    /// `lanescope-results` where left out
    #[arg(short, long, value_name = "DIR", conflicts_with = "from")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Print CSV, a row a claim
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Print Markdown, folded by family
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Arguments of `occupancy`.
#[derive(Clone, Debug, Args)]
pub(crate) struct OccupancyArguments {
    /// Architecture, such as `sm_90` or `gfx1100`; a table of all where left out
    #[arg(long, value_name = "NAME")]
    pub(crate) arch: Option<String>,
    /// 32-bit registers of an invocation; left out, they do not limit
    #[arg(long, default_value_t = 0, value_name = "N", requires = "arch")]
    pub(crate) registers: u32,
    /// Bytes of workgroup memory of a workgroup
    #[arg(long, default_value_t = 0, value_name = "BYTES", requires = "arch")]
    pub(crate) workgroup_memory: u32,
    /// Invocations of a workgroup
    #[arg(long, default_value_t = 256, value_name = "N", requires = "arch", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) workgroup_size: u32,
    /// Print JSON
    #[arg(long, requires = "arch")]
    pub(crate) json: bool,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunArguments {
    /// Families or kernels; the default set where left out
    #[arg(help_heading = KERNELS, value_name = "FAMILY|KERNEL")]
    pub(crate) kernels: Vec<String>,
    /// A folder of families, laid out as the catalogue's own, to choose from as well
    #[arg(help_heading = WHAT, long, value_name = "DIR")]
    pub(crate) shaders: Option<PathBuf>,
    /// Device: `sim:32`, `sim:16,32,64`, `wgpu:0`, `wgpu:<part of the name>`, `radv:navi21/64` (AMD's machine code,
    /// executed without a GPU), `all`; several with commas
    #[arg(help_heading = WHAT, short, long, value_name = "ID")]
    pub(crate) device: Vec<String>,
    /// Values of a parameter: `n=4096`, `n=1M`, `form=[sealed,published]`, `n[pow2]=[16:24:4]`
    #[arg(help_heading = WHAT, short, long, value_name = "AXIS=VALUES")]
    pub(crate) axis: Vec<String>,
    /// Elements of each launch, as `-a n=N`: 65536, 1e6, 2^20, 1M
    #[arg(help_heading = WHAT, long, value_name = "N", value_parser = count::parse_elements, allow_negative_numbers = true)]
    pub(crate) n: Option<u64>,
    /// A small n, the same on every device that is named, and a shorter --budget
    #[arg(help_heading = WHAT, long)]
    pub(crate) quick: bool,
    /// Seconds that timing may take in all; 30, or 6 with --quick. Counting comes before, and is not
    /// within them
    #[arg(help_heading = HOW, long, value_name = "SECONDS")]
    pub(crate) budget: Option<f64>,
    /// Operations that a simulated subgroup, or instructions that a wave of `radv:F/W`, may execute before it
    /// is stopped
    #[arg(
        help_heading = LIMITS,
        long,
        default_value_t = crate::run::simulator::STEPS_MAX,
        value_name = "N",
        value_parser = count::parse
    )]
    pub(crate) steps: u64,
    /// The same of all subgroups or waves of a launch together
    #[arg(
        help_heading = LIMITS,
        long,
        default_value_t = crate::run::simulator::OPERATIONS_MAX,
        value_name = "N",
        value_parser = count::parse
    )]
    pub(crate) operations: u64,
    /// Mebibytes that a kernel's buffers and textures may take on simulators before it is refused
    #[arg(
        help_heading = LIMITS,
        long,
        default_value_t = crate::run::simulator::MEMORY_BYTES_MAX >> 20,
        value_name = "MIB"
    )]
    pub(crate) memory_max: u64,
    /// On simulators, fail a kernel that accesses memory out of bounds, has a barrier or a
    /// `workgroupUniformLoad` in divergent flow, or reads a lane that other flow has; each is
    /// flagged where left out
    #[arg(help_heading = LIMITS, long)]
    pub(crate) strict: bool,
    /// Seconds without a word from a device after which its process is ended
    #[arg(help_heading = LIMITS, long, default_value_t = crate::run::worker::SILENCE_MAX.as_secs(), value_name = "SECONDS")]
    pub(crate) time_limit: u64,
    /// Seed of generated inputs
    #[arg(help_heading = WHAT, long, default_value_t = crate::kernel::SEED)]
    pub(crate) seed: u64,
    /// With how many seeds `sim:32` and `sim:64` count, from --seed on: the interval of what 64 lanes
    /// cost over 32
    #[arg(help_heading = WHAT, long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) seeds: u32,
    /// Count only; take no times
    #[arg(help_heading = HOW, long)]
    pub(crate) no_timing: bool,
    /// Take times only and count nothing: for wide sweeps, whose records stay small. Outputs are
    /// checked all the same; simulators, which have no times, are left out
    #[arg(help_heading = HOW, long, conflicts_with_all = ["no_timing", "histogram", "counters"])]
    pub(crate) no_counting: bool,
    /// Count how many executions had 1, 2, … active lanes too
    #[arg(help_heading = HOW, long)]
    pub(crate) histogram: bool,
    /// On `cuda:N`, read hardware counters too, in a process of their own after timing; on `radv:F/W`, lay
    /// the machine code beside the source
    #[arg(help_heading = HOW, long)]
    pub(crate) counters: bool,
    /// On simulators, watch memory too: what accesses cost in a model of no particular machine, and data
    /// races; on one thread, so it takes longer
    #[arg(help_heading = HOW, long)]
    pub(crate) memory: bool,
    /// Folder for the result file, charts and page, which must not hold a result yet; a new folder
    /// under `lanescope-results` where left out
    #[arg(help_heading = OUTPUT, short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the record as JSON here too; `-` is standard output
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Write the summary as CSV; `-` is standard output
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub(crate) export_csv: Option<PathBuf>,
    /// Write the summary as Markdown; `-` is standard output
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
}

impl RunArguments {
    /// The values of parameters that are asked for, `n` among them.
    pub(crate) fn axes(&self) -> Vec<String> {
        let n = self.n.map(|n| format!("n={n}"));
        self.axis.iter().cloned().chain(n).collect()
    }
}

/// How a shader of the user's own is launched, counted and timed.
#[derive(Clone, Debug, Args)]
pub(crate) struct LaunchArguments {
    /// A launch file: data, dispatches, overrides; what it leaves out follows from the shader
    #[arg(short, long, value_name = "FILE.toml")]
    pub(crate) launch: Option<PathBuf>,
    /// The entry point, where the shader has several
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Workgroups along x, y and z, in place of as many as cover n
    #[arg(long, value_name = "X,Y,Z", value_parser = workgroups)]
    pub(crate) workgroups: Option<[u32; 3]>,
    /// Elements of run-time arrays, an invocation each: 65536, 1e6, 2^20, 1M. Left out, 65536, or fewer where that takes too long
    #[arg(long, value_name = "N", value_parser = count::parse_elements, allow_negative_numbers = true)]
    pub(crate) n: Option<u64>,
    /// Device: `sim:32`, `sim:16,32,64`, `wgpu:0`, `wgpu:<part of the name>`, `radv:navi21/64` (AMD's machine code,
    /// executed without a GPU, beneath the source's lines), `all`; several with commas. The first GPU, `sim:32` and
    /// `sim:64` where left out
    #[arg(short, long, value_name = "ID")]
    pub(crate) device: Vec<String>,
    /// On the simulator, stop at the first access out of bounds, data race, barrier in divergent flow, or
    /// shuffle from a lane that other flow has; each is shown with its line where left out
    #[arg(long)]
    pub(crate) strict: bool,
    /// Count at each execution of each block, histograms too, and derive nothing (the rule on CPU
    /// drivers, and where the self-test failed for control flow that the shader uses)
    #[arg(long)]
    pub(crate) exact: bool,
    /// Count without subgroup operations, as on devices whose own cannot be trusted: lanes exactly,
    /// executions as estimates
    #[arg(long, hide = true, conflicts_with = "exact")]
    pub(crate) estimate: bool,
    /// Seed of generated data
    #[arg(long, default_value_t = crate::kernel::SEED)]
    pub(crate) seed: u64,
    /// Operations that a simulated subgroup, or instructions that a wave of `radv:F/W`, may execute before it
    /// is stopped
    #[arg(long, default_value_t = 1 << 26, value_name = "N", value_parser = count::parse)]
    pub(crate) steps: u64,
    /// The same of all subgroups or waves of a launch together
    #[arg(
        long,
        default_value_t = crate::run::simulator::OPERATIONS_MAX,
        value_name = "N",
        value_parser = count::parse
    )]
    pub(crate) operations: u64,
    /// Mebibytes that the shader's buffers and textures may take before it is refused; preparing and
    /// checking a launch takes up to three times as many
    #[arg(long, default_value_t = 640, value_name = "MIB")]
    pub(crate) memory_max: u64,
    /// Seconds without a word from a device after which its process is ended
    #[arg(long, default_value_t = crate::run::worker::SILENCE_MAX.as_secs(), value_name = "SECONDS")]
    pub(crate) time_limit: u64,
    /// Count only; take no times
    #[arg(long)]
    pub(crate) no_timing: bool,
    /// On `cuda:N`, read no hardware counters: the answer comes earlier
    #[arg(long)]
    pub(crate) no_counters: bool,
}

/// Arguments of `profile`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProfileArguments {
    /// Shaders in WGSL or SPIR-V, captured dispatches, or folders of them; `-` reads one from standard input
    #[arg(value_name = "SHADER", required = true)]
    pub(crate) shaders: Vec<PathBuf>,
    /// How it is launched, counted and timed.
    #[command(flatten)]
    pub(crate) how: LaunchArguments,
    /// Write a launch file beside the shader to start from, and run nothing
    #[arg(long, conflicts_with_all = ["launch", "device", "fail_on", "export_json", "out"])]
    pub(crate) init: bool,
    /// Profile again whenever a shader, the launch file or a file that it names is saved, or a shader is new
    /// in a folder, and show what changed from the last run that went well
    #[arg(long, conflicts_with = "init")]
    pub(crate) watch: bool,
    /// Write advice, findings and what --fail-on found as SARIF 2.1.0; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Print them as annotations in place of the tables
    #[arg(long, value_name = "FORM", value_parser = ["github"])]
    pub(crate) annotations: Option<String>,
    /// Print a line of JSON a run in place of the tables: each line's figures, advice, findings
    #[arg(long, conflicts_with = "annotations")]
    pub(crate) json_lines: bool,
    /// Write stacks of dispatch, functions and line for speedscope.app; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_speedscope: Option<PathBuf>,
    /// Exit with 1 where a line, or the whole, meets this condition: `efficiency<0.5`,
    /// `active_lanes<=16 && share>0.1`
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_on: Option<String>,
    /// On the simulator, count under so many random orders of workgroups as well, where what they
    /// write for each other decides anything, and where a launch has several dispatches; --fail-on then judges
    /// the worst
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub(crate) schedules: u64,
    /// Try every change that could save anything, however long it takes; as many as fit into the time of the
    /// profile itself, or two seconds, where left out
    #[arg(long)]
    pub(crate) what_if: bool,
    /// On `cuda:N`, and always on `radv:F/W`, show each line's machine instructions with how often they ran and
    /// their lanes
    #[arg(long)]
    pub(crate) sass: bool,
    /// Folder for the result file and the page, which must not hold a result yet; a new folder under
    /// `lanescope-results` where left out
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the record as JSON here too; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
}

/// Reads `X,Y,Z`; Y and Z may be left out.
fn workgroups(text: &str) -> Result<[u32; 3], String> {
    let max = crate::kernel::limits::WORKGROUPS_PER_DIMENSION_MAX;
    let mut grid = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("three counts at most: X,Y,Z".to_owned());
    }
    for (count, part) in grid.iter_mut().zip(parts) {
        *count = part.trim().parse().ok().filter(|count| (1..=max).contains(count)).ok_or_else(
            || format!("`{part}` is no count of workgroups from 1 to {max}; an example is 64,1,1"),
        )?;
    }
    Ok(grid)
}

/// Arguments of `doctor`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Device; every one that works where left out
    #[arg(short, long, value_name = "ID")]
    pub(crate) device: Vec<String>,
    /// Machine-readable output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `list`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArguments {
    /// Families or kernels; all where left out
    #[arg(value_name = "FAMILY|KERNEL")]
    pub(crate) kernels: Vec<String>,
    /// A folder of families, laid out as the catalogue's own, to list as well
    #[arg(long, value_name = "DIR")]
    pub(crate) shaders: Option<PathBuf>,
    /// Show parameters and the claims that each kernel tests
    #[arg(short, long)]
    pub(crate) long: bool,
    /// Machine-readable output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArguments {
    /// Result files, packed by gzip, by xz or not, or folders that hold one; the newest under
    /// `lanescope-results` where left out
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Folder for charts and page; beside the result file where left out
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// One page of all records, a row a device and width: `gallery.html`. A folder stands for all records beneath it;
    /// files that are no records are named and left out
    #[arg(long, requires = "files", conflicts_with = "peers")]
    pub(crate) gallery: bool,
    /// Rows of `lab peers`, for a table in the page
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,
    /// Write a copy of one record to share: file names stand in the place of paths, and shaders keep their
    /// text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gallery", "peers", "out"])]
    pub(crate) share: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArguments {
    /// What to compare with: a result file, a folder that holds one, or a shader
    pub(crate) a: PathBuf,
    /// What is compared: of the same kind
    pub(crate) b: PathBuf,
    /// How two shaders are launched, counted and timed: both in the same way.
    #[command(flatten)]
    pub(crate) how: LaunchArguments,
    /// Exit with 1 where a launch of B meets this condition; figures are B's over A's:
    /// `slots>1.05`, `time>1.10`, `operations>1 && efficiency<1`
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_on: Option<String>,
    /// Folder for the page, and of two shaders for the result file; of two shaders a new folder under
    /// `lanescope-results` where left out
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the comparison as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    /// Write the comparison as Markdown, for a pull request; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
}
