//! What all GPUs have in common: preparing, counting, timing, warming up and probing, written once
//! over [`Gpu`], which `run/wgpu` and `run/cuda` implement.
//!
//! Input: an open device behind the trait, and launches. Output: [`GpuRunner`], a
//! [`Runner`](super::Runner). No graphics API is seen here; what a back end must give is buffers,
//! kernels and timestamps, and nothing of launches, counters or stop rules.
//!
//! | file | what it does |
//! |---|---|
//! | `device` | the runner: an open device and what is kept with it |
//! | `runner` | what it does: which launch is counted and timed when |
//! | `launches` | a launch's buffers, kernels and grids |
//! | `inputs` | contents that stay on the device from launch to launch |
//! | `ahead` | launches that are compiled before they are counted or timed |
//! | `counted` | launches with counters |
//! | `timed` | launches between timestamps |
//! | `stages` | single dispatches between timestamps |
//! | `warm` | warms the device up before timing |
//! | `probe` | what is measured of the device itself |

mod ahead;
mod counted;
mod device;
mod inputs;
mod launches;
pub(crate) mod probe;
mod runner;
mod stages;
mod timed;
mod warm;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::instrument::Instrumented;
use crate::kernel::Launch;
use crate::program::Program;
use crate::run::clock::Stopwatch;
use crate::run::launched::not_available;
use crate::run::sampling::Ticks;
use crate::run::{RunError, RunErrorKind};
use crate::texture::{SamplerSettings, TextureClass, TextureLayout, TextureView};

pub(crate) use counted::resident_counter;
pub use device::GpuRunner;
pub(super) use launches::Buffers;
pub(super) use timed::Prepared;

/// Compiles a shader ahead, on any thread; one that is refused says so when it is compiled for good.
pub type Compiler = Arc<dyn Fn(&Shader<'_>) + Send + Sync>;

/// An open device, as its interface gives it. Everything is done in the order of the calls; what
/// reads waits for what was submitted before.
///
/// Errors are those of [`RunErrorKind`]; one that
/// [ends the device](RunErrorKind::ends_device) leaves it unusable.
pub trait Gpu: Sized {
    /// Memory of the device; a copy of the handle is the same memory.
    type Buffer: Clone;
    /// A compiled dispatch with its buffers bound; it keeps them alive.
    type Kernel;
    /// A sample that can be run over and over.
    type Recorded;

    /// Whether the device takes grids from buffers by itself; otherwise they are read back, and the
    /// work is submitted with what they hold.
    const TAKES_INDIRECT_GRIDS: bool;

    /// What the device can hold and dispatch.
    fn limits(&self) -> GpuLimits;

    /// What its timestamps are; `None` if it takes none.
    fn clock(&self) -> Option<Clock>;

    /// The machine's clock, which says whether the device's can be right: nanoseconds since some moment.
    fn machine_ns(&self) -> f64 {
        static START: OnceLock<Stopwatch> = OnceLock::new();
        let since = START.get_or_init(Stopwatch::start).elapsed();
        since.unwrap_or_default().as_secs_f64() * 1e9
    }

    /// Makes a buffer of `size` bytes, all zero.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::OutOfMemory`] and what the driver says.
    fn buffer(&self, name: &str, size: u64, uses: Uses) -> Result<Self::Buffer, RunError>;

    /// Makes a texture, all zero. It is written, read and copied as buffers are, whole: its bytes are
    /// packed texels, level by level.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] where the device has no such textures, and what the driver says.
    fn texture(
        &self,
        name: &str,
        _layout: &TextureLayout,
        _uses: TextureUses,
    ) -> Result<Self::Buffer, RunError> {
        Err(RunError::new(RunErrorKind::Unsupported, only_buffers("texture", name)))
    }

    /// Makes a sampler.
    ///
    /// # Errors
    ///
    /// As [`Gpu::texture`].
    fn sampler(&self, name: &str, _settings: &SamplerSettings) -> Result<Self::Buffer, RunError> {
        Err(RunError::new(RunErrorKind::Unsupported, only_buffers("sampler", name)))
    }

    /// Makes a buffer, or a texture, of the size of another, to copy it to and fro.
    ///
    /// # Errors
    ///
    /// As [`Gpu::buffer`].
    fn alike(&self, name: &str, other: &Self::Buffer) -> Result<Self::Buffer, RunError> {
        self.buffer(name, self.size(other), Uses::default())
    }

    /// A buffer's size in bytes, as asked for.
    fn size(&self, buffer: &Self::Buffer) -> u64;

    /// Copies bytes into a buffer after `offset` bytes; both are multiples of four.
    ///
    /// # Errors
    ///
    /// What the driver says.
    fn write(&self, buffer: &Self::Buffer, offset: u64, bytes: &[u8]) -> Result<(), RunError>;

    /// Waits, and reads `size` bytes of a buffer after `offset` bytes; both are multiples of four.
    ///
    /// # Errors
    ///
    /// What went wrong in anything that was submitted before, and what the driver says.
    fn read(&self, buffer: &Self::Buffer, offset: u64, size: u64) -> Result<Vec<u8>, RunError>;

    /// Copies all of a buffer into another of its size.
    ///
    /// # Errors
    ///
    /// What the driver says.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer) -> Result<(), RunError>;

    /// Makes all bytes of a buffer zero.
    ///
    /// # Errors
    ///
    /// What the driver says.
    fn clear(&self, buffer: &Self::Buffer) -> Result<(), RunError>;

    /// Compiles a shader and binds its buffers.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] where the device lacks what the shader needs,
    /// [`RunErrorKind::Panicked`] where a translation is at fault, and what the compiler says.
    fn compile(
        &self,
        shader: &Shader<'_>,
        slots: &[Slot<'_, Self::Buffer>],
    ) -> Result<Self::Kernel, RunError>;

    /// What compiles shaders on other threads, so that [`Gpu::compile`] has less to do; nothing where a device
    /// gains nothing by it.
    fn compiler(&self) -> Option<Compiler> {
        None
    }

    /// Compiles the dispatches of a launch that is not written in WGSL, in order.
    ///
    /// # Errors
    ///
    /// [`RunErrorKind::Unsupported`] where the device does not take the language.
    fn compile_native(
        &self,
        launch: &Launch,
        _buffers: &BTreeMap<String, Self::Buffer>,
    ) -> Result<Vec<Self::Kernel>, RunError> {
        Err(RunError::new(RunErrorKind::Unsupported, not_available(&launch.kernel)))
    }

    /// The most workgroups of a kernel that the device holds at once, where the kernel asks for all
    /// of them to be there: such a dispatch of more is refused by [`Gpu::run`] with
    /// [`RunErrorKind::Unsupported`].
    ///
    /// # Errors
    ///
    /// What the driver says.
    fn resident_max(&self, _kernel: &Self::Kernel) -> Result<Option<u32>, RunError> {
        Ok(None)
    }

    /// Runs dispatches once, one after the other, and waits. `doing` is for messages.
    ///
    /// # Errors
    ///
    /// What goes wrong while they run.
    fn run(&self, work: &[GpuDispatch<'_, Self>], doing: &str) -> Result<(), RunError>;

    /// Records a sample, to be submitted as a whole.
    ///
    /// # Errors
    ///
    /// What the driver says.
    fn record(&self, sample: &GpuSample<'_, Self>, doing: &str)
    -> Result<Self::Recorded, RunError>;

    /// Runs a recorded sample, waits, and gives its timestamps: one pair about the whole, or one a
    /// dispatch of each repeat, in order.
    ///
    /// # Errors
    ///
    /// What goes wrong while it runs.
    fn play(&self, recorded: &Self::Recorded, doing: &str) -> Result<Vec<Ticks>, RunError>;
}

/// A kernel with its grid.
pub type GpuDispatch<'a, G> = (&'a <G as Gpu>::Kernel, &'a Grid<<G as Gpu>::Buffer>);

/// What a device can hold and dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLimits {
    /// The most bytes of a buffer that shaders read or write.
    pub storage_bytes_max: u64,
    /// The most bytes of a uniform buffer.
    pub uniform_bytes_max: u64,
    /// All of the device's memory in bytes; `None` if it does not say.
    pub memory_bytes: Option<u64>,
    /// The most workgroups along x, y and z.
    pub workgroups_max: [u32; 3],
    /// Whether shaders may use subgroup operations.
    pub subgroups: bool,
}

/// What a device's timestamps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// Ticks of a counter that runs on, a tick every so many nanoseconds.
    Counter {
        /// Nanoseconds a tick.
        period_ns: f64,
    },
    /// Spans in nanoseconds: of a pair, only the difference says something.
    Spans,
}

/// What a buffer is used for, beside being read and written by shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// It is bound as a uniform buffer.
    pub uniform: bool,
    /// A dispatch takes its grid from it.
    pub indirect: bool,
}

/// What a texture is used for, beside being filled and read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextureUses {
    /// It is bound as a sampled texture.
    pub sampled: bool,
    /// It is bound as a storage texture.
    pub stored: bool,
    /// It is changed by atomic operations.
    pub atomic: bool,
}

/// Why a texture or a sampler cannot be made.
fn only_buffers(what: &str, name: &str) -> String {
    format!(
        "`{name}` is a {what}, which this kind of device does not run: the simulator does, and a device \
         through wgpu"
    )
}

/// What to make a kernel from.
#[derive(Clone, Copy, Debug)]
pub struct Shader<'a> {
    /// The program, which the counting module was made from where there is one.
    pub program: &'a Program,
    /// The module that counts, to be compiled in the program's place.
    pub counting: Option<&'a Instrumented>,
    /// Whether it goes without run-time checks.
    pub trusted: bool,
    /// Whether workgroup memory begins as zeros.
    pub zero_memory: bool,
    /// The bytes of its immediate address space.
    pub immediates: &'a [u8],
}

impl<'a> Shader<'a> {
    /// The file's name.
    pub fn file(&self) -> &'a str {
        self.program.text().file()
    }

    /// The entry point's name.
    pub fn entry_point(&self) -> &'a str {
        &self.program.entry_point().name
    }
}

/// A buffer, a texture or a sampler that a shader binds.
#[derive(Debug)]
pub struct Slot<'a, B> {
    /// The bind group.
    pub group: u32,
    /// The binding in it.
    pub binding: u32,
    /// How the shader uses it.
    pub kind: SlotKind,
    /// The buffer.
    pub buffer: &'a B,
}

impl<B> Clone for Slot<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Slot<'_, B> {}

/// How a buffer is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// As a uniform buffer.
    Uniform,
    /// As storage that is only read.
    ReadOnly,
    /// As storage.
    ReadWrite,
    /// A texture, as the shader's variable sees it.
    Texture(TextureView, TextureClass),
    /// A sampler.
    Sampler,
}

/// The grid of a dispatch.
#[derive(Clone, Debug)]
pub enum Grid<B> {
    /// So many workgroups along x, y and z.
    Direct([u32; 3]),
    /// Three words in a buffer, after so many bytes.
    Indirect(B, u64),
}

/// What a sample runs.
///
/// A device that has waited, if only for the last sample to be read, is not at its speed at once: so
/// the same work goes before, in the same submission, without timestamps.
pub struct GpuSample<'a, G: Gpu> {
    /// The dispatches of a launch.
    pub work: &'a [GpuDispatch<'a, G>],
    /// How often they run between the timestamps.
    pub repeats: u32,
    /// How often they run before.
    pub before: u32,
    /// What is copied before either, from and to: the first contents of buffers.
    pub resets: &'a [(G::Buffer, G::Buffer)],
    /// Where timestamps are taken.
    pub stamps: Stamps,
}

impl<G: Gpu> std::fmt::Debug for GpuSample<'_, G> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { work, repeats, before, resets, stamps } = self;
        let mut shown = formatter.debug_struct("Sample");
        shown.field("dispatches", &work.len()).field("repeats", repeats).field("before", before);
        shown.field("resets", &resets.len()).field("stamps", stamps).finish()
    }
}

/// Where a sample takes timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// Before the first dispatch and after the last repeat's last.
    Around,
    /// After each dispatch, and before the first.
    Between,
}
