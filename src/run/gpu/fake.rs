//! A device for tests: memory of the processor, kernels that the simulator runs, and a clock that
//! only its work advances.
//!
//! Input: what [`Gpu`] gives. Output: what a device would do, the instrumented modules included, and a
//! log of it. It takes grids from nowhere but the host, so that they are read back.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use super::{
    Clock, Compiler, Gpu, GpuDispatch, GpuLimits, GpuRunner, GpuSample, Grid, Shader, Slot, Stamps,
    Uses,
};
use crate::record::{Device, DeviceKind};
use crate::run::back_end::WarmUpRule;
use crate::run::probes::words;
use crate::run::sampling::Ticks;
use crate::run::simulator::SimulatorRunner;
use crate::run::{RunError, RunErrorKind, Runner as _};
use crate::simulate::{Compiled, Config, Fma, Memory, Reconvergence, Schedule};
use crate::units::Width;

/// Lanes of its subgroups.
pub(super) const WIDTH: u32 = 8;

/// Virtual nanoseconds that an operation of a subgroup takes.
pub(super) const STEP_NS: u64 = 1000;

/// Virtual nanoseconds that a timestamp takes.
pub(super) const STAMP_NS: u64 = 5000;

/// How many times too short a time is that a timer tells which lies.
const LIE: u64 = 10_000;

/// Virtual nanoseconds that a timer which leaps tells too much.
const LEAP_NS: u64 = 60_000_000_000;

/// Bytes of the device.
pub(super) type Bytes = Rc<RefCell<Vec<u8>>>;

/// The device.
#[derive(Default)]
pub(super) struct FakeGpu {
    now_ns: Cell<u64>,
    /// What was done, a line each.
    pub(super) log: RefCell<Vec<String>>,
    /// The most workgroups of any kernel that are there at once.
    pub(super) resident_max: Cell<Option<u32>>,
    /// The playing of a sample with this number, and all after it, find the device lost.
    pub(super) lost_at: Cell<Option<u32>>,
    /// From the playing of this number on, its timestamps tell a tenth of a per mille of the time.
    pub(super) lies_from: Cell<Option<u32>>,
    /// The playing of this number tells of a minute more than passed.
    pub(super) leaps_at: Cell<Option<u32>>,
    /// The entry points that were compiled ahead, in the order of their names; nothing where none are.
    pub(super) compiled_ahead: Option<Arc<Mutex<Vec<String>>>>,
    played: Cell<u32>,
}

/// A kernel over its buffers.
pub(super) struct FakeKernel {
    entry_point: String,
    compiled: Compiled,
    immediates: Vec<u8>,
    bound: Vec<(u32, u32, Bytes)>,
}

/// A sample.
pub(super) struct FakeRecorded {
    work: Vec<(Rc<FakeKernel>, [u32; 3])>,
    repeats: u32,
    before: u32,
    resets: Vec<(Bytes, Bytes)>,
    stamps: Stamps,
}

/// A runner of the device, by [`GpuRunner::probed`].
pub(super) fn runner(calibrate: bool) -> GpuRunner<FakeGpu> {
    let simulator = SimulatorRunner::new(Width::new(WIDTH).unwrap(), 1);
    let device = Device {
        id: "fake:0".to_owned(),
        kind: DeviceKind::Wgpu,
        gives: Some(crate::run::wgpu::GIVES),
        // No clock is to be brought up.
        cpu_driver: true,
        subgroup_width_run: None,
        lane_is_local_index_mod_width: None,
        trust: None,
        fma_fused: None,
        packing: None,
        ..simulator.device().clone()
    };
    let calibrate = calibrate.then_some(WarmUpRule::Whole);
    GpuRunner::probed(FakeGpu::default(), device, calibrate).unwrap()
}

impl FakeGpu {
    fn note(&self, line: String) {
        self.log.borrow_mut().push(line);
    }

    /// The log since the last call.
    pub(super) fn take_log(&self) -> Vec<String> {
        self.log.take()
    }

    /// How many samples were played.
    pub(super) fn played(&self) -> u32 {
        self.played.get()
    }

    fn workgroups(grid: &Grid<Bytes>) -> [u32; 3] {
        match grid {
            Grid::Direct(workgroups) => *workgroups,
            Grid::Indirect(..) => panic!("grids are read back"),
        }
    }

    /// Runs a kernel on the simulator, and advances the clock by what its subgroups did.
    fn execute(&self, kernel: &FakeKernel, workgroups: [u32; 3]) -> Result<(), RunError> {
        let wanted: u32 = workgroups.iter().product();
        if self.resident_max.get().is_some_and(|most| wanted > most) {
            return Err(RunError::new(RunErrorKind::Unsupported, "too many at once"));
        }
        let mut memory = Memory::new();
        memory.set_immediates(&kernel.immediates);
        for (group, binding, bytes) in &kernel.bound {
            memory.bind(*group, *binding, &bytes.borrow());
        }
        let config = Config {
            width: Width::new(WIDTH).unwrap(),
            reconvergence: Reconvergence::Maximal,
            fma: Fma::Fused,
            steps_max: 1 << 24,
            operations_max: u64::MAX,
            schedule: Schedule::InOrder,
            strict: true,
            threads: Some(1),
            zero_workgroup_memory: true,
        };
        let outcome = kernel.compiled.run(workgroups, &mut memory, &config).unwrap();
        for (group, binding, bytes) in &kernel.bound {
            *bytes.borrow_mut() = memory.bytes(*group, *binding).unwrap();
        }
        self.now_ns.set(self.now_ns.get() + outcome.steps * STEP_NS);
        Ok(())
    }

    fn stamp(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + STAMP_NS);
        self.now_ns.get()
    }
}

impl Gpu for FakeGpu {
    type Buffer = Bytes;
    type Kernel = Rc<FakeKernel>;
    type Recorded = FakeRecorded;

    const TAKES_INDIRECT_GRIDS: bool = false;

    fn limits(&self) -> GpuLimits {
        GpuLimits {
            storage_bytes_max: 1 << 20,
            uniform_bytes_max: 1 << 16,
            memory_bytes: Some(1 << 24),
            workgroups_max: [64; 3],
            subgroups: true,
        }
    }

    fn clock(&self) -> Option<Clock> {
        Some(Clock::Counter { period_ns: 1.0 })
    }

    fn machine_ns(&self) -> f64 {
        crate::units::approximate(self.now_ns.get())
    }

    fn buffer(&self, name: &str, size: u64, _: Uses) -> Result<Bytes, RunError> {
        self.note(format!("make {name}"));
        Ok(Rc::new(RefCell::new(vec![0; usize::try_from(size).unwrap()])))
    }

    fn size(&self, buffer: &Bytes) -> u64 {
        buffer.borrow().len() as u64
    }

    fn write(&self, buffer: &Bytes, offset: u64, bytes: &[u8]) -> Result<(), RunError> {
        let offset = usize::try_from(offset).unwrap();
        buffer.borrow_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, buffer: &Bytes, offset: u64, size: u64) -> Result<Vec<u8>, RunError> {
        let (offset, size) = (usize::try_from(offset).unwrap(), usize::try_from(size).unwrap());
        Ok(buffer.borrow()[offset..offset + size].to_vec())
    }

    fn copy(&self, from: &Bytes, to: &Bytes) -> Result<(), RunError> {
        let content = from.borrow().clone();
        *to.borrow_mut() = content;
        Ok(())
    }

    fn clear(&self, buffer: &Bytes) -> Result<(), RunError> {
        buffer.borrow_mut().fill(0);
        Ok(())
    }

    fn compile(
        &self,
        shader: &Shader<'_>,
        slots: &[Slot<'_, Bytes>],
    ) -> Result<Rc<FakeKernel>, RunError> {
        let entry_point = shader.entry_point().to_owned();
        self.note(format!("compile {entry_point}"));
        let program = match shader.counting {
            Some(made) => shader.program.with_module(made.module().clone(), made.info().clone()),
            None => shader.program.clone(),
        };
        Ok(Rc::new(FakeKernel {
            entry_point,
            compiled: Compiled::new(&program).unwrap(),
            immediates: shader.immediates.to_vec(),
            bound: slots.iter().map(|s| (s.group, s.binding, Rc::clone(s.buffer))).collect(),
        }))
    }

    fn compiler(&self) -> Option<Compiler> {
        let list = Arc::clone(self.compiled_ahead.as_ref()?);
        Some(Arc::new(move |shader| {
            let how = if shader.counting.is_some() { "counting" } else { "plain" };
            let mut list = list.lock().unwrap();
            list.push(format!("{how} {}", shader.entry_point()));
            list.sort();
        }))
    }

    fn resident_max(&self, _: &Rc<FakeKernel>) -> Result<Option<u32>, RunError> {
        Ok(self.resident_max.get())
    }

    fn run(&self, work: &[GpuDispatch<'_, Self>], doing: &str) -> Result<(), RunError> {
        for (kernel, grid) in work {
            let workgroups = Self::workgroups(grid);
            self.note(format!("{doing}: {} {}", kernel.entry_point, words_of(workgroups)));
            self.execute(kernel, workgroups)?;
        }
        Ok(())
    }

    fn record(&self, sample: &GpuSample<'_, Self>, _: &str) -> Result<FakeRecorded, RunError> {
        let GpuSample { work, repeats, before, resets, stamps } = sample;
        let work = work.iter().map(|(kernel, grid)| (Rc::clone(kernel), Self::workgroups(grid)));
        Ok(FakeRecorded {
            work: work.collect(),
            repeats: *repeats,
            before: *before,
            resets: resets.to_vec(),
            stamps: *stamps,
        })
    }

    fn play(&self, recorded: &FakeRecorded, doing: &str) -> Result<Vec<Ticks>, RunError> {
        let FakeRecorded { work, repeats, before, resets, stamps } = recorded;
        self.note(format!("{doing}: {before} before {repeats}, {stamps:?}"));
        self.played.set(self.played.get() + 1);
        if self.lost_at.get().is_some_and(|number| self.played.get() >= number) {
            return Err(RunError::new(RunErrorKind::DeviceLost, "gone"));
        }
        let run = |times: u32, each: &mut dyn FnMut()| -> Result<(), RunError> {
            resets.iter().try_for_each(|(from, to)| self.copy(from, to))?;
            for _ in 0..times {
                for (kernel, workgroups) in work {
                    self.execute(kernel, *workgroups)?;
                    each();
                }
            }
            Ok(())
        };
        if *before > 0 {
            run(*before, &mut || {})?;
        }
        let mut moments = vec![self.stamp()];
        run(*repeats, &mut || {
            if *stamps == Stamps::Between {
                moments.push(self.stamp());
            }
        })?;
        if *stamps == Stamps::Around {
            moments.push(self.stamp());
        }
        let lie = self.lies_from.get().is_some_and(|number| self.played.get() >= number);
        let leap_ns = if self.leaps_at.get() == Some(self.played.get()) { LEAP_NS } else { 0 };
        let pairs = moments.windows(2).map(|pair| (pair[0], pair[1]));
        let told = |(begin, end)| match lie {
            true => Ticks { begin, end: begin + (end - begin) / LIE },
            false => Ticks { begin, end: end + leap_ns },
        };
        Ok(pairs.map(told).collect())
    }
}

fn words_of([x, y, z]: [u32; 3]) -> String {
    format!("{x}×{y}×{z}")
}

/// The words of a buffer.
pub(super) fn content(buffer: &Bytes) -> Vec<u32> {
    words(&buffer.borrow())
}
