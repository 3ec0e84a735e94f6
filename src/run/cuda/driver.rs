//! CUDA's driver: a device, its memory, kernels, launches, events and graphs, with every error as a
//! value.
//!
//! Input: images that the driver loads, bytes, grids. Output: bytes and durations. It knows nothing of
//! WGSL. Everything is on one stream, and each method that reads waits for it. This is one of the
//! files that may hold `unsafe`: it calls C.

#![expect(unsafe_code, reason = "calls CUDA's driver")]

use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::result::{self, DriverError, device, event, graph, module, stream};
use cudarc::driver::sys;

use super::nvrtc::Image;
use crate::run::gpu::Stamps;
use crate::run::{RunError, RunErrorKind};

/// How long a submission may take before this process says that it hangs; the parent's
/// own limit of silence comes first.
const SUBMISSION_LIMIT: Duration = Duration::from_hours(1);

/// Static workgroup memory of a block at most, on every NVIDIA GPU.
pub(super) const WORKGROUP_BYTES_MAX: u32 = 48 << 10;

/// Blocks along x, y and z at most.
pub(super) const GRID_MAX: [u32; 3] = [i32::MAX.cast_unsigned(), 65_535, 65_535];

/// What the driver says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: String,
    /// CUDA's version that the driver has, as 13000 for 13.0.
    pub(super) cuda_version: i32,
    /// As 90 for 9.0.
    pub(super) capability: u32,
    pub(super) multiprocessors: i32,
    pub(super) warp_size: i32,
    /// All of the device's memory in bytes.
    pub(super) memory_bytes: u64,
}

/// An open device.
pub(super) struct DriverDevice {
    opened: Rc<Opened>,
    pub(super) facts: Facts,
}

/// The device's primary context and the stream that everything goes through.
struct Opened {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Whether something never came back: giving things back would wait for it.
    hung: Cell<bool>,
}

/// Memory of the device.
pub struct DriverBuffer {
    address: sys::CUdeviceptr,
    /// Its size in bytes, as asked for.
    pub(super) size: u64,
    opened: Rc<Opened>,
}

impl std::fmt::Debug for DriverBuffer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Buffer").field("size", &self.size).finish_non_exhaustive()
    }
}

/// A kernel with the module that holds it.
pub(super) struct LoadedKernel {
    module: sys::CUmodule,
    function: sys::CUfunction,
    /// Whether its launches ask for all workgroups to be on the device at once.
    cooperative: bool,
    opened: Rc<Opened>,
}

/// A value that a kernel takes.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// A buffer's address.
    Address(u64),
    /// A structure's bytes; the first byte is aligned to 16.
    Bytes(Vec<u128>),
}

/// A kernel with what it takes.
pub(super) struct DriverLaunch<'a> {
    pub(super) kernel: &'a LoadedKernel,
    pub(super) arguments: &'a [Argument],
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
}

/// What a sample runs.
///
/// A device that has waited, if only for the last sample to be read, is not at its speed at once, and
/// a processor that submits one thing after the other may be slower than the device: so the same work
/// goes before, untimed, and all of it is one submission, a graph.
pub(super) struct DriverSample<'a> {
    /// The dispatches of a launch.
    pub(super) launches: &'a [DriverLaunch<'a>],
    /// How often they run between the events.
    pub(super) repeats: u32,
    /// How often they run before.
    pub(super) before: u32,
    /// What is copied before either, from and to: the first contents of buffers.
    pub(super) resets: &'a [(&'a DriverBuffer, &'a DriverBuffer)],
    /// Where events are recorded.
    pub(super) stamps: Stamps,
}

/// A sample that was recorded, to be submitted at once.
pub struct Recorded {
    graph: sys::CUgraphExec,
    /// The events, in the order in which they happen.
    events: Vec<Event>,
    opened: Rc<Opened>,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Recorded")
            .field("events", &self.events.len())
            .finish_non_exhaustive()
    }
}

/// Makes a driver's failure an error with words.
fn to_run_error(doing: &str, error: DriverError) -> RunError {
    let name = error.error_name().ok().and_then(|name| name.to_str().ok()).unwrap_or("no name");
    let words = error.error_string().ok().and_then(|text| text.to_str().ok()).unwrap_or("");
    RunError::new(kind_of(error.0), format!("{doing} failed: {name}, {words}"))
}

/// What a driver's failure means for the device.
pub(super) fn kind_of(result: sys::CUresult) -> RunErrorKind {
    match result {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => RunErrorKind::OutOfMemory,
        sys::CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => RunErrorKind::Unsupported,
        // These leave the context unusable.
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | sys::CUresult::CUDA_ERROR_LAUNCH_FAILED
        | sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | sys::CUresult::CUDA_ERROR_ASSERT
        | sys::CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | sys::CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | sys::CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | sys::CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | sys::CUresult::CUDA_ERROR_UNKNOWN => RunErrorKind::DeviceLost,
        _ => RunErrorKind::Driver,
    }
}

/// The bytes that a buffer of `size` takes.
fn allocation_size(size: u64) -> usize {
    usize::try_from(size.next_multiple_of(16).max(16)).unwrap_or(usize::MAX)
}

/// Whether CUDA's driver library is there; asked before anything of cudarc's is called, which would
/// panic without.
pub(super) fn present() -> bool {
    // SAFETY: the library's initialisers have no preconditions.
    unsafe { sys::is_culib_present() }
}

/// Initialises the driver and counts its devices.
///
/// # Errors
///
/// [`RunErrorKind::NoDevice`] with a sentence: no driver library, or one that finds no GPU.
pub(super) fn count() -> Result<usize, RunError> {
    let none = |message: String| RunError::new(RunErrorKind::NoDevice, message);
    if !present() {
        return Err(none(
            "NVIDIA's driver is not installed: there is no CUDA driver library. Install the driver, \
             which brings it, or choose a device that needs none of it, such as sim:32"
                .into(),
        ));
    }
    result::init().map_err(|error| {
        none(format!(
            "NVIDIA's driver finds no GPU: {}",
            to_run_error("initialising CUDA", error).message
        ))
    })?;
    let count =
        device::get_count().map_err(|error| to_run_error("counting CUDA devices", error))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// What the driver says of device `number`.
///
/// # Errors
///
/// What the driver says.
pub(super) fn facts(number: usize) -> Result<Facts, RunError> {
    let ordinal = i32::try_from(number).unwrap_or(i32::MAX);
    let asked = |error| to_run_error(&format!("asking cuda:{number}"), error);
    let found = device::get(ordinal).map_err(asked)?;
    // SAFETY: the device handle is the driver's own.
    let attribute = |attribute| unsafe { device::get_attribute(found, attribute) }.map_err(asked);
    use sys::CUdevice_attribute_enum as A;
    let major = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let mut version = 0;
    // SAFETY: the number outlives the call.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(asked)?;
    // SAFETY: the device handle is the driver's own.
    let memory = unsafe { device::total_mem(found) }.map_err(asked)?;
    Ok(Facts {
        name: device::get_name(found).map_err(asked)?.trim_end_matches('\0').to_owned(),
        cuda_version: version,
        capability: u32::try_from(10 * major + minor).unwrap_or(0),
        multiprocessors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_size: attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        memory_bytes: memory as u64,
    })
}

/// What the driver says of device `number`, where there is one.
///
/// # Errors
///
/// [`RunErrorKind::NoDevice`] where there is no such device.
pub(super) fn find(number: usize) -> Result<Facts, RunError> {
    let count = count()?;
    if number >= count {
        let message = format!("there is no device cuda:{number}; CUDA's driver has {count}");
        return Err(RunError::new(RunErrorKind::NoDevice, message));
    }
    facts(number)
}

impl DriverDevice {
    /// Opens device `number`, of which [`find`] gave the facts.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub(super) fn open(number: usize, facts: Facts) -> Result<Self, RunError> {
        let doing = format!("opening cuda:{number}");
        let opening = |error| to_run_error(&doing, error);
        let device = device::get(i32::try_from(number).unwrap_or(0)).map_err(opening)?;
        // SAFETY: the device handle is the driver's own; the context is released when `Opened` drops.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(opening)?;
        // SAFETY: the context was just retained.
        unsafe { result::ctx::set_current(context) }.map_err(opening)?;
        let stream = stream::create(stream::StreamKind::NonBlocking).map_err(opening)?;
        Ok(Self {
            opened: Rc::new(Opened { device, context, stream, hung: Cell::new(false) }),
            facts,
        })
    }

    /// The driver's number for the device.
    pub(super) fn handle(&self) -> c_int {
        self.opened.device
    }

    /// The driver's context, for CUPTI; it is valid as long as this device is open.
    pub(super) fn context(&self) -> *mut c_void {
        self.opened.context.cast()
    }

    /// Makes PTX machine code for this device, with its source lines.
    pub(super) fn assemble(&self, image: &Image) -> Result<Image, RunError> {
        let doing = format!("making machine code of {}", image.architecture);
        let wrong = |error: DriverError| to_run_error(&doing, error);
        let mut option = sys::CUjit_option::CU_JIT_GENERATE_LINE_INFO;
        let mut value = std::ptr::without_provenance_mut::<c_void>(1);
        let mut link = Link(std::ptr::null_mut());
        let (mut code, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: option and value outlive the calls; the text ends with a zero and outlives them; the
        // code that comes out lives as long as the link, and is copied.
        let bytes = unsafe {
            sys::cuLinkCreate_v2(1, &raw mut option, &raw mut value, &raw mut link.0)
                .result()
                .map_err(wrong)?;
            sys::cuLinkAddData_v2(
                link.0,
                sys::CUjitInputType::CU_JIT_INPUT_PTX,
                image.bytes.as_ptr().cast_mut().cast(),
                image.bytes.len(),
                c"translation.ptx".as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
            .result()
            .map_err(wrong)?;
            sys::cuLinkComplete(link.0, &raw mut code, &raw mut size).result().map_err(wrong)?;
            std::slice::from_raw_parts(code.cast::<u8>(), size).to_vec()
        };
        let architecture =
            format!("sm_{}, assembled from {}", self.facts.capability, image.architecture);
        Ok(Image { bytes, architecture })
    }

    /// Makes a buffer of `size` bytes, of which all are zero.
    pub(super) fn buffer(&self, size: u64) -> Result<DriverBuffer, RunError> {
        let doing = || format!("making a buffer of {size} bytes");
        let bytes = allocation_size(size);
        // SAFETY: the memory is zeroed before anybody reads it, and freed when the buffer drops.
        let address =
            unsafe { result::malloc_sync(bytes) }.map_err(|e| to_run_error(&doing(), e))?;
        let buffer = DriverBuffer { address, size, opened: Rc::clone(&self.opened) };
        self.clear(&buffer)?;
        Ok(buffer)
    }

    /// Makes all bytes of a buffer zero.
    pub(super) fn clear(&self, buffer: &DriverBuffer) -> Result<(), RunError> {
        let (doing, bytes) = ("clearing a buffer", allocation_size(buffer.size));
        // SAFETY: the buffer has so many bytes.
        unsafe { result::memset_d8_async(buffer.address, 0, bytes, self.opened.stream) }
            .map_err(|error| to_run_error(doing, error))?;
        self.wait(doing)
    }

    /// Copies bytes into a buffer, at its start or after `offset`.
    pub(super) fn write(
        &self,
        buffer: &DriverBuffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), RunError> {
        let doing = "filling a buffer";
        if offset + bytes.len() as u64 > buffer.size {
            return Err(RunError::new(RunErrorKind::BadInput, "a buffer's content is too long"));
        }
        // SAFETY: the range lies inside the buffer; the copy is waited for before `bytes` ends.
        unsafe { result::memcpy_htod_async(buffer.address + offset, bytes, self.opened.stream) }
            .map_err(|error| to_run_error(doing, error))?;
        self.wait(doing)
    }

    /// Submits a copy of all of a buffer to another of its size.
    pub(super) fn copy(
        &self,
        from: &DriverBuffer,
        to: &DriverBuffer,
        doing: &str,
    ) -> Result<(), RunError> {
        let bytes = usize::try_from(from.size.min(to.size)).unwrap_or(0);
        // SAFETY: both ranges lie inside their buffers, which outlive the copy, since every reader
        // waits for the stream.
        unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, self.opened.stream) }
            .map_err(|error| to_run_error(doing, error))
    }

    /// Reads `size` bytes of a buffer after `offset`.
    pub(super) fn read(
        &self,
        buffer: &DriverBuffer,
        offset: u64,
        size: u64,
    ) -> Result<Vec<u8>, RunError> {
        let doing = "reading a buffer";
        if offset + size > buffer.size {
            return Err(RunError::new(RunErrorKind::BadInput, "a buffer is read past its end"));
        }
        self.wait(doing)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        // SAFETY: the range lies inside the buffer, and there is room for it; the call waits.
        unsafe { result::memcpy_dtoh_sync(&mut bytes, buffer.address + offset) }
            .map_err(|error| to_run_error(doing, error))?;
        Ok(bytes)
    }

    /// Loads a kernel.
    pub(super) fn load(&self, image: &Image, name: &str) -> Result<LoadedKernel, RunError> {
        let doing = format!("loading the kernel `{name}` ({})", image.architecture);
        let name = CString::new(name)
            .map_err(|_| RunError::new(RunErrorKind::BadInput, "a kernel's name has a zero"))?;
        // SAFETY: a cubin carries its own length, PTX ends with a zero.
        let module = unsafe { module::load_data(image.bytes.as_ptr().cast::<c_void>()) }
            .map_err(|error| to_run_error(&doing, error))?;
        // SAFETY: the module was just loaded.
        match unsafe { module::get_function(module, name) } {
            Ok(function) => {
                let opened = Rc::clone(&self.opened);
                Ok(LoadedKernel { module, function, cooperative: false, opened })
            }
            Err(error) => {
                // SAFETY: nobody has the module.
                let _ = unsafe { module::unload(module) };
                Err(to_run_error(&doing, error))
            }
        }
    }

    /// Fills a variable of a kernel's constant memory with `copies` of the first `size` bytes of a
    /// buffer, and waits.
    pub(super) fn hold(
        &self,
        kernel: &LoadedKernel,
        name: &str,
        (size, copies): (u32, u32),
        from: &DriverBuffer,
    ) -> Result<(), RunError> {
        let doing = format!("filling `{name}` in constant memory");
        let wrong = |error| to_run_error(&doing, error);
        let symbol = CString::new(name)
            .map_err(|_| RunError::new(RunErrorKind::BadInput, "a variable's name has a zero"))?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; address, size and name outlive the call.
        let found = unsafe {
            let (to, bytes) = (&raw mut address, &raw mut bytes);
            sys::cuModuleGetGlobal_v2(to, bytes, kernel.module, symbol.as_ptr()).result()
        };
        match found {
            // The compiler has left out what the kernel does not use.
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)) => return Ok(()),
            other => other.map_err(wrong)?,
        }
        // A `vec3` alone is bound as 16 bytes, and declared as the 12 that it has.
        let padded =
            copies == 1 && bytes < size as usize && bytes.next_multiple_of(16) == size as usize;
        let size = if padded { bytes } else { size as usize };
        let all = size * copies as usize;
        if allocation_size(from.size) < size || bytes < all {
            let message = format!("{doing}: {size} bytes of {}, {all} into {bytes}", from.size);
            return Err(RunError::new(RunErrorKind::BadInput, message));
        }
        for copy in 0..u64::from(copies) {
            let to = address + copy * size as u64;
            // SAFETY: both ranges are inside what they are of, which outlives the copy: it is waited
            // for.
            unsafe { result::memcpy_dtod_async(to, from.address, size, self.opened.stream) }
                .map_err(wrong)?;
        }
        self.wait(&doing)
    }

    fn launch(&self, launch: &DriverLaunch<'_>, doing: &str) -> Result<(), RunError> {
        if launch.grid.contains(&0) {
            return Ok(());
        }
        let mut pointers: Vec<*mut c_void> = launch
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Address(address) => std::ptr::from_ref(address).cast_mut().cast(),
                Argument::Bytes(bytes) => bytes.as_ptr().cast_mut().cast(),
            })
            .collect();
        let [x, y, z] = launch.grid;
        let [a, b, c] = launch.block;
        // SAFETY: the driver copies as many bytes of each argument as the kernel's parameter has,
        // which are the ones that the translation lists; the buffers outlive the launch, since every
        // reader waits for the stream.
        unsafe {
            let submit = match launch.kernel.cooperative {
                true => result::launch_cooperative_kernel,
                false => result::launch_kernel,
            };
            let function = launch.kernel.function;
            submit(function, (x, y, z), (a, b, c), 0, self.opened.stream, &mut pointers)
        }
        .map_err(|error| to_run_error(doing, error))
    }

    /// How many workgroups of so many invocations the device holds at once.
    pub(super) fn resident(
        &self,
        kernel: &LoadedKernel,
        invocations: u32,
    ) -> Result<u32, RunError> {
        let size = i32::try_from(invocations).unwrap_or(i32::MAX);
        let mut count = 0;
        // SAFETY: the kernel is loaded, and the number outlives the call.
        unsafe {
            let asked = &raw mut count;
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(asked, kernel.function, size, 0)
        }
        .result()
        .map_err(|error| to_run_error("asking how many workgroups fit", error))?;
        let each = count.saturating_mul(self.facts.multiprocessors);
        Ok(u32::try_from(each).unwrap_or(0))
    }

    /// What the driver's compiler gave each lane of a kernel: registers, and bytes of memory of its own.
    pub(super) fn given_to_lanes(&self, kernel: &LoadedKernel) -> Result<[u32; 2], RunError> {
        use sys::CUfunction_attribute_enum as A;
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: the kernel is loaded, and the number outlives the call.
            unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, kernel.function) }
                .result()
                .map_err(|error| to_run_error("asking for a kernel's registers", error))?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let registers = ask(A::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        Ok([registers, ask(A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?])
    }

    /// Runs launches one after the other, and waits.
    pub(super) fn run(&self, launches: &[DriverLaunch<'_>], doing: &str) -> Result<(), RunError> {
        for launch in launches {
            self.launch(launch, doing)?;
        }
        self.wait(doing)
    }

    /// Records a sample.
    pub(super) fn record(
        &self,
        sample: &DriverSample<'_>,
        doing: &str,
    ) -> Result<Recorded, RunError> {
        let recording = |error| to_run_error(&format!("recording: {doing}"), error);
        let dispatches = sample.launches.len() * sample.repeats as usize;
        let spans = if sample.stamps == Stamps::Around { 1 } else { dispatches };
        let events = (0..=spans).map(|_| Event::new(doing)).collect::<Result<Vec<_>, _>>()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is the device's own, and idle.
        unsafe { stream::begin_capture(self.opened.stream, mode) }.map_err(recording)?;
        let submitted = self.submit(sample, &events, doing);
        // SAFETY: the capture was begun above.
        let captured = unsafe { stream::end_capture(self.opened.stream) }.map_err(recording);
        submitted?;
        let captured = captured?;
        // SAFETY: the graph was just captured.
        let made = unsafe { graph::instantiate(captured, sys::CUgraphInstantiate_flags(0)) };
        // SAFETY: what was instantiated keeps nothing of the graph.
        let _ = unsafe { graph::destroy(captured) };
        let opened = Rc::clone(&self.opened);
        let recorded = Recorded { graph: made.map_err(recording)?, events, opened };
        // SAFETY: graph and stream are valid.
        unsafe { graph::upload(recorded.graph, self.opened.stream) }.map_err(recording)?;
        self.wait(doing)?;
        Ok(recorded)
    }

    /// Submits all that a sample consists of: with the first event before and the last after, or one
    /// more event after each dispatch.
    fn submit(
        &self,
        sample: &DriverSample<'_>,
        events: &[Event],
        doing: &str,
    ) -> Result<(), RunError> {
        let DriverSample { launches, repeats, before, resets, stamps } = sample;
        let reset = || resets.iter().try_for_each(|(from, to)| self.copy(from, to, doing));
        let all = |times: u32| (0..times).flat_map(|_| *launches);
        let stamp = |event: &Event| event.record_inside(self.opened.stream, doing);
        if *before > 0 {
            reset()?;
            all(*before).try_for_each(|launch| self.launch(launch, doing))?;
        }
        reset()?;
        let mut events = events.iter();
        events.next().map_or(Ok(()), stamp)?;
        for launch in all(*repeats) {
            self.launch(launch, doing)?;
            if *stamps == Stamps::Between {
                events.next().map_or(Ok(()), stamp)?;
            }
        }
        events.next().map_or(Ok(()), stamp)
    }

    /// Takes a sample: the times from each of its events to the next, in nanoseconds.
    pub(super) fn take_sample(
        &self,
        recorded: &Recorded,
        doing: &str,
    ) -> Result<Vec<f64>, RunError> {
        let wrong = |error| to_run_error(doing, error);
        // SAFETY: graph and stream are valid.
        unsafe { graph::launch(recorded.graph, self.opened.stream) }.map_err(wrong)?;
        self.wait(doing)?;
        let spans = recorded.events.windows(2).map(|pair| {
            // SAFETY: both events were recorded and have happened.
            let milliseconds = unsafe { event::elapsed(pair[0].0, pair[1].0) }.map_err(wrong)?;
            Ok(f64::from(milliseconds) * 1e6)
        });
        spans.collect()
    }

    /// Waits for everything that was submitted.
    pub(super) fn wait(&self, doing: &str) -> Result<(), RunError> {
        let end = Event::new(doing)?;
        // SAFETY: event and stream are valid.
        unsafe { event::record(end.0, self.opened.stream) }.map_err(|e| to_run_error(doing, e))?;
        self.wait_for(&end, doing)
    }

    fn wait_for(&self, end: &Event, doing: &str) -> Result<(), RunError> {
        #[expect(clippy::disallowed_methods, reason = "a limit on waiting, in `run`")]
        let start = Instant::now();
        loop {
            // SAFETY: the event is valid.
            match unsafe { event::query(end.0) } {
                Ok(()) => return Ok(()),
                Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => {}
                Err(error) => return Err(to_run_error(doing, error)),
            }
            let waited = start.elapsed();
            if waited > SUBMISSION_LIMIT {
                self.opened.hung.set(true);
                let seconds = SUBMISSION_LIMIT.as_secs();
                let message = format!("{doing} did not return within {seconds} s");
                return Err(RunError::new(RunErrorKind::TimeLimit, message));
            }
            if waited > Duration::from_millis(2) {
                std::thread::sleep(Duration::from_micros(100));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl LoadedKernel {
    /// The same kernel, launched so or not: with the driver seeing to it that all workgroups are on
    /// the device at once, or refusing.
    pub(super) fn cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }

    /// Whether its launches are cooperative.
    pub(super) fn is_cooperative(&self) -> bool {
        self.cooperative
    }
}

impl DriverBuffer {
    /// The argument that names the buffer.
    pub(super) fn argument(&self) -> Argument {
        Argument::Address(self.address)
    }
}

impl Argument {
    /// A structure by value.
    pub(super) fn bytes(content: &[u8]) -> Self {
        let mut words = Vec::new();
        for chunk in content.chunks(16) {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u128::from_ne_bytes(word));
        }
        // Never an empty allocation: the driver may look at the address.
        words.push(0);
        Self::Bytes(words)
    }
}

/// Machine code that the driver is making; null before it is.
struct Link(sys::CUlinkState);

impl Drop for Link {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the link was created, and is destroyed once.
            let _ = unsafe { sys::cuLinkDestroy(self.0) };
        }
    }
}

/// A moment on the stream.
struct Event(sys::CUevent);

impl Event {
    fn new(doing: &str) -> Result<Self, RunError> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        event::create(flags).map(Self).map_err(|error| to_run_error(doing, error))
    }

    /// Records the event on a stream that is captured: each run of the graph then records it.
    fn record_inside(&self, stream: sys::CUstream, doing: &str) -> Result<(), RunError> {
        let flags = sys::CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL as u32;
        // SAFETY: event and stream are valid; the graph's owner keeps the event.
        unsafe { sys::cuEventRecordWithFlags(self.0, stream, flags) }
            .result()
            .map_err(|error| to_run_error(doing, error))
    }
}

// What the driver says of things that are given back is of no use to anybody. After a hang nothing is
// given back: this process is about to be ended.

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event was created here and is destroyed once.
        let _ = unsafe { event::destroy(self.0) };
    }
}

impl Drop for DriverBuffer {
    fn drop(&mut self) {
        if self.opened.hung.get() {
            return;
        }
        // SAFETY: the memory was allocated here and is freed once; the driver waits for its users.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

impl Drop for LoadedKernel {
    fn drop(&mut self) {
        if self.opened.hung.get() {
            return;
        }
        // SAFETY: the module was loaded here and is unloaded once.
        let _ = unsafe { module::unload(self.module) };
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if self.opened.hung.get() {
            return;
        }
        // SAFETY: the graph was instantiated here and is destroyed once.
        let _ = unsafe { graph::exec_destroy(self.graph) };
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.hung.get() {
            return;
        }
        // SAFETY: the stream was created, and the context retained, when this was made.
        unsafe {
            let _ = stream::destroy(self.stream);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
