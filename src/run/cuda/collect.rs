//! Reading hardware counters of a launch, in processes that do nothing else.
//!
//! Input: a device's number, a launch, which part of the counters. Output: [`Collected`]: figures of
//! the launch by NVIDIA's names, or one dispatch's machine code with what its instructions did;
//! [`merge`] puts the parts together. The modules are the plain ones that are timed elsewhere. What
//! cannot be read is a sentence, never a zero: no library, no permission, records that were dropped,
//! outputs that came out wrong.
//!
//! Each part has a process of its own. CUPTI 13.0 gives records of instructions once in a process:
//! after the first reading, or a second setting up, there are none; 12.8 does.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

use super::cupti::{Cupti, CuptiError, Interface, Metric, Ranges, Record, Sass};
use super::device::{CudaDevice, CudaKernel};
use super::disassembly::{Disassembler, DisassemblyError};
use super::driver::{self, DriverDevice};
use super::nvrtc::Image;
use super::runner::CudaRunner;
use crate::kernel::Launch;
use crate::record::{Counter, CountersFrom, Instruction, MachineCode};
use crate::run::back_end::CountersPart;
use crate::run::counting::verify;
use crate::run::gpu::{Gpu as _, GpuDispatch, Prepared, resident_counter};
use crate::run::{Collected, RunError};

/// Counts of instructions: executions, lanes, lanes that no predicate turned off.
const INSTRUCTIONS: [&str; 3] = [
    "smsp__sass_inst_executed",
    "smsp__sass_thread_inst_executed",
    "smsp__sass_thread_inst_executed_pred_on",
];

/// The unit of all [`INSTRUCTIONS`], of which CUPTI gives none: that of the same figures by range.
const INSTRUCTION: &str = "instruction";

/// Figures of a whole launch; those that a chip lacks are left out.
const FIGURES: [&str; 32] = [
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "smsp__inst_executed.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.avg.per_cycle_active",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "lts__t_sectors.sum",
    "lts__t_requests.sum",
    "smsp__average_inst_executed_per_warp.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "smsp__cycles_elapsed.sum",
    "sm__cycles_elapsed.sum",
];

/// Dispatches of a launch whose instructions are counted, each in a process of its own.
const DISPATCHES_MAX: usize = 16;

/// Passes after which a device is taken not to end.
const PASSES_MAX: u32 = 256;

/// The folder that translations put the user's sources in, and their own file in it.
const SOURCES: &str = "/lanescope/";
const OWN_SOURCE: &str = "/lanescope/prelude.cu";

/// Why a part of the figures is not there.
#[derive(Debug, thiserror::Error)]
enum CollectError {
    #[error(transparent)]
    Cupti(#[from] CuptiError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the outputs came out wrong: {0}")]
    Outputs(String),
    #[error("{0}")]
    Other(String),
}

/// CUPTI on an open device.
struct Counters {
    cupti: Cupti,
    chip: CString,
    number: usize,
}

/// A launch that is run over and over.
struct Replay<'a> {
    runner: &'a CudaRunner,
    launch: &'a Launch,
    prepared: Prepared<CudaDevice>,
    /// What the buffers hold at first.
    contents: BTreeMap<String, Vec<u8>>,
}

/// The parts of the counters of a launch, in the order in which [`merge`] takes them; `setup` says of
/// each dispatch whether it only makes ready what is timed, and is left out.
pub fn parts(setup: &[bool]) -> Vec<CountersPart> {
    std::iter::once(CountersPart::Figures)
        .chain(timed_dispatches(setup).map(CountersPart::Instructions))
        .collect()
}

/// The dispatches whose instructions are counted.
fn timed_dispatches(setup: &[bool]) -> impl Iterator<Item = usize> {
    (0..setup.len()).filter(|index| !setup[*index]).take(DISPATCHES_MAX)
}

/// Puts the [`parts`] of a launch's counters together: counts of instructions are summed where every
/// dispatch has them.
pub fn merge(setup: &[bool], parts: Vec<Collected>) -> Collected {
    let dispatches = setup.iter().filter(|setup| !**setup).count();
    let mut complete = parts.len() == dispatches + 1;
    let mut parts = parts.into_iter();
    let mut whole = parts.next().unwrap_or_default();
    let mut sums: Vec<Counter> = Vec::new();
    whole.machine_code = vec![None; setup.len()];
    for (dispatch, part) in timed_dispatches(setup).zip(parts) {
        complete &= !part.counters.is_empty();
        if sums.is_empty() {
            sums = part.counters;
        } else {
            complete &= sums.len() == part.counters.len();
            for (sum, counter) in sums.iter_mut().zip(part.counters) {
                sum.value += counter.value;
            }
        }
        whole.machine_code[dispatch] = part.machine_code.into_iter().next().flatten();
        for why in part.missing {
            if !whole.missing.contains(&why) {
                whole.missing.push(why);
            }
        }
        whole.from = whole.from.or(part.from);
    }
    if dispatches > DISPATCHES_MAX {
        whole.missing.push(format!(
            "the instructions of the first {DISPATCHES_MAX} of {dispatches} dispatches were counted, \
             and there are no sums over all"
        ));
    }
    if complete {
        whole.counters.extend(sums);
    }
    whole
}

/// Reads a part of the counters of a launch on device `cuda:<number>`.
///
/// # Errors
///
/// What opening the device, compiling and running give. What CUPTI cannot do is part of the result.
pub fn collect(number: usize, launch: &Launch, part: CountersPart) -> Result<Collected, RunError> {
    let runner = CudaRunner::open_for_counters(number)?;
    let counters = match Counters::open(&runner.gpu.driver, number) {
        Ok(counters) => counters,
        Err(error) => {
            let missing = vec![format!("no hardware counters: {error}")];
            return Ok(Collected { missing, ..Collected::default() });
        }
    };
    let replay = Replay::new(&runner, launch)?;
    let mut collected = Collected::default();
    let disassembler = Disassembler::find();
    match part {
        CountersPart::Figures => match counters.figures(&replay) {
            Ok(figures) => collected.counters = figures,
            Err(error) => {
                collected.missing.push(format!("no figures of the whole launch: {error}"));
            }
        },
        CountersPart::Instructions(dispatch) => match counters.instructions(&replay, dispatch) {
            Ok((sums, mut code)) => {
                collected.counters = sums;
                if let Err(error) = add_texts(disassembler.as_ref(), &replay, dispatch, &mut code) {
                    collected.missing.push(error.to_string());
                }
                collected.machine_code = vec![code];
            }
            Err(error) => collected.missing.push(format!("no counts of instructions: {error}")),
        },
    }
    collected.from = Some(counters.from(disassembler.as_ref().ok()));
    Ok(collected)
}

/// Whether counters can be read on device `cuda:<number>`, by taking hold of them.
///
/// # Errors
///
/// What opening the device gives, and inside, a sentence that says what is missing and how to get it.
pub fn available(number: usize) -> Result<Result<CountersFrom, String>, RunError> {
    let gpu = DriverDevice::open(number, driver::find(number)?)?;
    let take = || -> Result<CountersFrom, CuptiError> {
        let counters = Counters::open(&gpu, number)?;
        let Counters { cupti, chip, .. } = &counters;
        Ranges::open(cupti, &gpu, chip, &FIGURES)?;
        let (sass, _) = Sass::begin(cupti, &gpu, number, chip, &INSTRUCTIONS)?;
        sass.end()?;
        Ok(counters.from(Disassembler::find().as_ref().ok()))
    };
    Ok(take().map_err(|error| error.to_string()))
}

impl Counters {
    fn open(gpu: &DriverDevice, number: usize) -> Result<Self, CuptiError> {
        let cupti = Cupti::load(gpu.facts.cuda_version)?;
        cupti.initialize()?;
        cupti.supports(gpu, Interface::Ranges)?;
        cupti.supports(gpu, Interface::Sass)?;
        let chip = cupti.chip(number)?;
        Ok(Self { cupti, chip, number })
    }

    fn from(&self, disassembler: Option<&Disassembler>) -> CountersFrom {
        CountersFrom {
            library: self.cupti.path().display().to_string(),
            version: self.cupti.version(),
            chip: self.chip.to_string_lossy().into_owned(),
            disassembler: disassembler.map(|tool| tool.words().to_owned()),
        }
    }

    /// Figures of the whole launch.
    fn figures(&self, replay: &Replay<'_>) -> Result<Vec<Counter>, CollectError> {
        let gpu = &replay.runner.gpu.driver;
        let (mut ranges, metrics) = Ranges::open(&self.cupti, gpu, &self.chip, &FIGURES)?;
        let mut passes = 0;
        loop {
            replay.fill()?;
            ranges.start()?;
            replay.run()?;
            passes += 1;
            if ranges.stop()? {
                break;
            }
            if passes == PASSES_MAX {
                let what = format!("no end of passes after {passes}");
                return Err(CuptiError::Unexpected { what }.into());
            }
        }
        replay.verify()?;
        let values = ranges.values()?;
        // A ratio of nothing, such as sectors a request without requests, is no figure.
        let known = metrics.into_iter().zip(values).filter(|(_, value)| value.is_finite());
        let figures = known.map(|(metric, value)| counter(metric, value));
        Ok(figures.chain(replay.read_kernel_resources()?).collect())
    }

    /// What the instructions of one dispatch did, and the sums over them; no code where it had no
    /// workgroups.
    fn instructions(
        &self,
        replay: &Replay<'_>,
        dispatch: usize,
    ) -> Result<(Vec<Counter>, Option<MachineCode>), CollectError> {
        let gpu = &replay.runner.gpu.driver;
        let doing = format!("counting instructions of {}", replay.launch.kernel);
        replay.fill()?;
        let mut found = None;
        for (index, work) in replay.timed_work() {
            if index != dispatch {
                replay.runner.gpu.run(&[work], &doing)?;
                continue;
            }
            let (sass, metrics) =
                Sass::begin(&self.cupti, gpu, self.number, &self.chip, &INSTRUCTIONS)?;
            replay.runner.gpu.run(&[work], &doing)?;
            let records = sass.read()?;
            sass.end()?;
            let launched = replay.runner.gpu.launches(&[work])?;
            if records.is_empty() != launched.iter().all(|launch| launch.grid.contains(&0)) {
                let what = format!("{} records of dispatch {index}", records.len());
                return Err(CuptiError::Unexpected { what }.into());
            }
            let CudaKernel { image, function, .. } = work.0;
            let code = self.machine_code(replay.launch, image, function, &records)?;
            found = Some((sums(metrics, &code), (!records.is_empty()).then_some(code)));
        }
        replay.verify()?;
        found.ok_or_else(|| CollectError::Other(format!("there is no dispatch {dispatch}")))
    }

    /// What a dispatch's records say, with the source lines of the instructions.
    fn machine_code(
        &self,
        launch: &Launch,
        image: &Image,
        function: &str,
        records: &[Record],
    ) -> Result<MachineCode, CollectError> {
        let name = CString::new(function)
            .map_err(|_| CollectError::Other("a kernel's name has a zero".to_owned()))?;
        let line = |offset: u32| self.source_line(&image.bytes, &name, offset);
        machine_code(&launch.file, &image.architecture, function, records, &line)
            .map_err(CollectError::Other)
    }

    /// The source file and line of an instruction, as the translation wrote it.
    fn source_line(&self, cubin: &[u8], function: &CStr, offset: u32) -> Option<(String, u32)> {
        let (folder, file, line) = self.cupti.correlate(cubin, function, offset)?;
        Some((format!("{}/{file}", folder.trim_end_matches('/')), line))
    }
}

impl<'a> Replay<'a> {
    fn new(runner: &'a CudaRunner, launch: &'a Launch) -> Result<Self, RunError> {
        let prepared = runner.prepare(launch, None)?;
        let written = launch.buffers.iter().filter(|_| !launch.repeatable);
        let contents =
            written.map(|buffer| (buffer.name.clone(), launch.contents(buffer))).collect();
        Ok(Self { runner, launch, prepared, contents })
    }

    /// Makes the buffers as they were at first, where running the launch again needs it.
    fn fill(&self) -> Result<(), RunError> {
        for (name, content) in &self.contents {
            self.runner.gpu.write(&self.prepared.buffers[name], 0, content)?;
        }
        if self.launch.repeatable {
            return Ok(());
        }
        self.runner.set_up(self.launch, &self.prepared)
    }

    /// The dispatches that do not only make ready what is timed, with their numbers.
    fn timed_work(&self) -> impl Iterator<Item = (usize, GpuDispatch<'_, CudaDevice>)> {
        let all = self.prepared.work.iter().map(|(kernel, grid)| (kernel, grid)).enumerate();
        all.filter(|(index, _)| !self.launch.dispatches[*index].setup)
    }

    /// Runs the launch, and waits.
    fn run(&self) -> Result<(), RunError> {
        let work = self.prepared.dispatches(self.launch, false);
        self.runner.gpu.run(&work, &format!("reading counters of {}", self.launch.kernel))
    }

    /// What the driver says of the compiled kernels: of several dispatches the most that one of them takes,
    /// and the fewest workgroups. A cooperative kernel's workgroups are in its record already.
    fn read_kernel_resources(&self) -> Result<Vec<Counter>, RunError> {
        let driver = &self.runner.gpu.driver;
        let (mut given, mut resident_max) = ([0, 0], None);
        for (_, (kernel, _)) in self.timed_work() {
            let found = driver.given_to_lanes(&kernel.kernel)?;
            given = [0, 1].map(|at| given[at].max(found[at]));
            if !kernel.kernel.is_cooperative() {
                let resident = driver.resident(&kernel.kernel, kernel.block.iter().product())?;
                resident_max = Some(resident_max.map_or(resident, |most: u32| most.min(resident)));
            }
        }
        let counter = |name: &str, value: u32, unit: &str, attribute: &str| Counter {
            name: name.to_owned(),
            value: f64::from(value),
            unit: unit.to_owned(),
            description: format!("what the compiled kernel takes of each lane: {attribute}"),
        };
        let registers =
            counter("registers_per_lane", given[0], "registers", "CU_FUNC_ATTRIBUTE_NUM_REGS");
        let local = counter(
            "local_bytes_per_lane",
            given[1],
            "bytes",
            "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
        );
        Ok([registers, local].into_iter().chain(resident_max.map(resident_counter)).collect())
    }

    /// Checks the outputs of the last run.
    fn verify(&self) -> Result<(), CollectError> {
        let outputs = self.runner.outputs(self.launch, &self.prepared.buffers)?;
        match verify(self.launch, &outputs)?.mismatch {
            Some(mismatch) => Err(CollectError::Outputs(mismatch)),
            None => Ok(()),
        }
    }
}

/// The sums over a dispatch's instructions, by the figures' names.
#[expect(clippy::cast_precision_loss, reason = "counters are real numbers in records")]
fn sums(metrics: Vec<Metric>, code: &MachineCode) -> Vec<Counter> {
    let sum = |figure: fn(&Instruction) -> u64| {
        code.instructions.iter().map(|instruction| u128::from(figure(instruction))).sum::<u128>()
            as f64
    };
    let sums = [
        sum(|instruction| instruction.inst_executed),
        sum(|instruction| instruction.thread_inst_executed),
        sum(|instruction| instruction.thread_inst_executed_pred_on),
    ];
    let with_unit = |metric| Metric { unit: INSTRUCTION.to_owned(), ..metric };
    metrics.into_iter().zip(sums).map(|(metric, sum)| counter(with_unit(metric), sum)).collect()
}

fn counter(metric: Metric, value: f64) -> Counter {
    let Metric { name, unit, description } = metric;
    Counter { name, value, unit, description }
}

/// Puts records together: `line` gives an instruction's source file and line.
fn machine_code(
    file: &str,
    architecture: &str,
    function: &str,
    records: &[Record],
    line: &dyn Fn(u32) -> Option<(String, u32)>,
) -> Result<MachineCode, String> {
    let mut instructions = Vec::new();
    for Record { function: found, offset, values } in records {
        if found != function {
            return Err(format!("CUPTI gave instructions of `{found}`, not of `{function}` alone"));
        }
        let [inst_executed, thread_inst_executed, thread_inst_executed_pred_on] = values[..] else {
            return Err(format!("CUPTI gave {} figures of an instruction", values.len()));
        };
        let place = line(*offset).filter(|(path, _)| path.starts_with(SOURCES));
        let place = place.filter(|(path, _)| path != OWN_SOURCE).map(|(_, line)| line);
        instructions.push(Instruction {
            offset_bytes: *offset,
            file: place.map(|_| file.to_owned()),
            line: place,
            text: None,
            inst_executed,
            thread_inst_executed,
            thread_inst_executed_pred_on,
        });
    }
    Ok(MachineCode {
        function: function.to_owned(),
        architecture: architecture.to_owned(),
        instructions,
        sha256: None,
        arms: Vec::new(),
        near: Vec::new(),
    })
}

/// Adds the texts of a dispatch's instructions, where there is a tool for it.
fn add_texts(
    disassembler: Result<&Disassembler, &DisassemblyError>,
    replay: &Replay<'_>,
    dispatch: usize,
    code: &mut Option<MachineCode>,
) -> Result<(), DisassemblyError> {
    let (Ok(tool), Some(code)) = (disassembler, code) else { return Ok(()) };
    let Some((work, _)) = replay.prepared.work.get(dispatch) else { return Ok(()) };
    let texts = tool.texts(&work.image.bytes, &work.function)?;
    for instruction in &mut code.instructions {
        instruction.text = texts.get(&instruction.offset_bytes).cloned();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(function: &str, offset: u32, values: &[u64]) -> Record {
        Record { function: function.to_owned(), offset, values: values.to_vec() }
    }

    #[test]
    fn records_get_the_lines_of_the_users_source_alone() {
        let records = [0, 16, 32, 48].map(|offset| record("main", offset, &[2, 64, 32]));
        let line = |offset: u32| match offset {
            0 => Some(("/lanescope/shaders/a.wgsl".to_owned(), 7)),
            16 => Some(("/lanescope/prelude.cu".to_owned(), 9)),
            32 => Some(("/elsewhere/b.h".to_owned(), 1)),
            _ => None,
        };
        let code = machine_code("shaders/a.wgsl", "sm_90", "main", &records, &line).unwrap();
        let lines: Vec<Option<u32>> =
            code.instructions.iter().map(|instruction| instruction.line).collect();
        assert_eq!(lines, [Some(7), None, None, None]);
        assert_eq!(code.instructions[0].file.as_deref(), Some("shaders/a.wgsl"));
        assert_eq!(code.instructions[3].thread_inst_executed_pred_on, 32);
    }

    fn part(counts: &[f64], missing: &[&str]) -> Collected {
        let counter = |value: &f64| Counter {
            name: "smsp__sass_inst_executed".to_owned(),
            value: *value,
            unit: INSTRUCTION.to_owned(),
            description: String::new(),
        };
        Collected {
            counters: counts.iter().map(counter).collect(),
            missing: missing.iter().map(|why| (*why).to_owned()).collect(),
            ..Collected::default()
        }
    }

    #[test]
    fn counts_are_summed_over_dispatches_that_all_have_them() {
        let values = |parts: Vec<Collected>| -> (Vec<f64>, Vec<String>) {
            let whole = merge(&[false, true, false], parts);
            (whole.counters.iter().map(|counter| counter.value).collect(), whole.missing)
        };
        let all = vec![part(&[9.0], &[]), part(&[1.0, 2.0], &[]), part(&[3.0, 4.0], &[])];
        assert_eq!(values(all), (vec![9.0, 4.0, 6.0], vec![]));
        let some = vec![part(&[9.0], &[]), part(&[1.0, 2.0], &[]), part(&[], &["lost"])];
        assert_eq!(values(some), (vec![9.0], vec!["lost".to_owned()]));
        assert_eq!(values(vec![part(&[9.0], &[]), part(&[1.0], &[])]).0, [9.0]);
        let parts = parts(&[false, true, false]);
        assert_eq!(
            parts,
            [CountersPart::Figures, CountersPart::Instructions(0), CountersPart::Instructions(2)]
        );
        let none = vec![part(&[], &["no CUPTI"]), part(&[], &["no CUPTI"])];
        assert_eq!(values(none), (vec![], vec!["no CUPTI".to_owned()]));
    }

    #[test]
    fn foreign_functions_and_missing_figures_are_errors() {
        let none = |_: u32| None;
        let made = |records: &[Record]| machine_code("a", "sm_90", "main", records, &none);
        assert!(made(&[record("other", 0, &[1, 1, 1])]).unwrap_err().contains("other"));
        assert!(made(&[record("main", 0, &[1, 1])]).is_err());
    }
}
