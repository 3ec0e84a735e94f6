//! CUPTI, NVIDIA's library for hardware counters: looked for, loaded and called.
//!
//! Input: a device's number, machine code. Output: the library, the chip, the source lines of
//! instructions; CUPTI's failures as sentences. The library is looked for when it is
//! asked for: in `LANESCOPE_CUPTI` (a file or a folder), where the system looks, and where CUDA's
//! installer puts it. What is asked of it, and when, is decided in `collect`. This is one of the files
//! that may hold `unsafe`: it calls C, with the structures of `layout`.

#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use super::super::driver::DriverDevice;
use super::error::{CuptiError, SUCCESS, VARIABLE, failure};
use super::layout as c;
use super::layout::Parameters;

/// Where CUDA's installer puts it.
const FOLDERS: [&str; 5] = [
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    "/opt/cuda/extras/CUPTI/lib64",
    "/usr/lib/x86_64-linux-gnu",
];

/// Names of the library for drivers of CUDA 13, and of CUDA 12.
const NAMES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];

/// The packages that bring it, likewise.
const PACKAGES: [&str; 2] = ["nvidia-cuda-cupti", "nvidia-cuda-cupti-cu12"];

/// The driver's version from which on CUPTI 13 can be used.
const CUDA_13: i32 = 13_000;

/// The libraries that CUPTI loads by name, in its own folder.
const COMPANIONS: [&str; 2] = ["libnvperf_host.so", "libnvperf_target.so"];

/// A loaded CUPTI.
pub struct Cupti {
    pub(super) functions: Functions,
    version: u32,
    path: PathBuf,
}

impl std::fmt::Debug for Cupti {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cupti")
            .field("version", &self.version)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// What CUPTI says of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Metric {
    /// NVIDIA's name.
    pub(in super::super) name: String,
    /// NVIDIA's unit; empty where it gives none.
    pub(in super::super) unit: String,
    /// NVIDIA's description.
    pub(in super::super) description: String,
}

/// Declares the functions that take one structure each.
macro_rules! functions {
    ($($name:ident = $symbol:literal: $type:ident,)*) => {
        /// The functions that are called.
        pub(super) struct Functions {
            result_string: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
            version: unsafe extern "C" fn(*mut u32) -> c_int,
            $(pub(super) $name: unsafe extern "C" fn(*mut c::$type) -> c_int,)*
        }

        impl Functions {
            fn new(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: names and signatures are those of CUPTI's headers.
                unsafe {
                    Ok(Self {
                        result_string: *library.get(b"cuptiGetResultString\0")?,
                        version: *library.get(b"cuptiGetVersion\0")?,
                        $($name: *library.get(concat!($symbol, "\0").as_bytes())?,)*
                    })
                }
            }
        }
    };
}

functions! {
    initialize = "cuptiProfilerInitialize": ProfilerInitialize,
    supported = "cuptiProfilerDeviceSupported": DeviceSupported,
    availability = "cuptiProfilerGetCounterAvailability": Availability,
    chip_name = "cuptiDeviceGetChipName": ChipName,
    host_initialize = "cuptiProfilerHostInitialize": HostInitialize,
    host_deinitialize = "cuptiProfilerHostDeinitialize": HostDeinitialize,
    metric_properties = "cuptiProfilerHostGetMetricProperties": MetricProperties,
    add_metrics = "cuptiProfilerHostConfigAddMetrics": AddMetrics,
    config_size = "cuptiProfilerHostGetConfigImageSize": ConfigSize,
    config = "cuptiProfilerHostGetConfigImage": Config,
    evaluate = "cuptiProfilerHostEvaluateToGpuValues": Evaluate,
    range_enable = "cuptiRangeProfilerEnable": RangeEnable,
    range_disable = "cuptiRangeProfilerDisable": RangeDisable,
    range_start = "cuptiRangeProfilerStart": RangeStart,
    range_stop = "cuptiRangeProfilerStop": RangeStop,
    range_push = "cuptiRangeProfilerPushRange": RangePush,
    range_pop = "cuptiRangeProfilerPopRange": RangePop,
    range_decode = "cuptiRangeProfilerDecodeData": RangeDecode,
    range_data_size = "cuptiRangeProfilerGetCounterDataSize": RangeDataSize,
    range_data_initialize = "cuptiRangeProfilerCounterDataImageInitialize": RangeDataInitialize,
    range_set_config = "cuptiRangeProfilerSetConfig": RangeSetConfig,
    range_data_info = "cuptiRangeProfilerGetCounterDataInfo": RangeDataInfo,
    sass_properties = "cuptiSassMetricsGetProperties": SassProperties,
    sass_set_config = "cuptiSassMetricsSetConfig": SassSetConfig,
    sass_unset_config = "cuptiSassMetricsUnsetConfig": SassUnsetConfig,
    sass_enable = "cuptiSassMetricsEnable": SassEnable,
    sass_disable = "cuptiSassMetricsDisable": SassDisable,
    sass_data_properties = "cuptiSassMetricsGetDataProperties": SassDataProperties,
    sass_flush = "cuptiSassMetricsFlushData": SassFlush,
    correlate = "cuptiGetSassToSourceCorrelation": Correlation,
}

impl Cupti {
    /// Finds and loads the CUPTI that goes with a driver of CUDA `cuda_version` (13000 for 13.0).
    ///
    /// # Errors
    ///
    /// [`CuptiError::Missing`] where there is none, [`CuptiError::Unusable`] where what is there is too
    /// old or something else.
    pub fn load(cuda_version: i32) -> Result<Self, CuptiError> {
        let mut names = NAMES;
        if cuda_version < CUDA_13 {
            names.swap(0, 1);
        }
        let package = PACKAGES[usize::from(cuda_version < CUDA_13)];
        let missing = |tried: String| CuptiError::Missing { tried, package };
        if let Some(named) = std::env::var_os(VARIABLE) {
            let mut last = missing(format!(": {VARIABLE} is empty"));
            for place in std::env::split_paths(&named) {
                match Self::load_from(&place, cuda_version) {
                    Ok(found) => return Ok(found),
                    Err(error) => last = error,
                }
            }
            return Err(last);
        }
        let mut last = missing(format!(" where the system looks, nor in {}", FOLDERS[0]));
        let installed = FOLDERS.iter().filter_map(|folder| inside(Path::new(folder), &names));
        for file in names.iter().map(PathBuf::from).chain(installed) {
            match Self::open(&file) {
                Ok(found) => return Ok(found),
                // A name that the system does not find is no news.
                Err(CuptiError::Missing { .. }) => {}
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Loads CUPTI from a file, or from a folder that holds it.
    ///
    /// # Errors
    ///
    /// [`CuptiError::Missing`] where it is not there, [`CuptiError::Unusable`] where it is too old or
    /// something else.
    pub fn load_from(place: &Path, cuda_version: i32) -> Result<Self, CuptiError> {
        let mut names = NAMES;
        if cuda_version < CUDA_13 {
            names.swap(0, 1);
        }
        let package = PACKAGES[usize::from(cuda_version < CUDA_13)];
        match inside(place, &names) {
            Some(file) => Self::open(&file),
            None => {
                let tried = format!(" in {}", place.display());
                Err(CuptiError::Missing { tried, package })
            }
        }
    }

    fn open(path: &Path) -> Result<Self, CuptiError> {
        let unusable = |why: String| CuptiError::Unusable { path: path.to_owned(), why };
        let beside = path.parent().filter(|folder| folder.is_absolute()).into_iter();
        let companions = beside.flat_map(|folder| COMPANIONS.map(|name| folder.join(name)));
        // SAFETY: the libraries have no initialisers with preconditions.
        let opened = companions.filter_map(|file| unsafe { Library::new(file) }.ok());
        // The driver calls CUPTI back until the process ends: it must never be unloaded.
        opened.for_each(std::mem::forget);
        // SAFETY: CUPTI's initialisers have no preconditions.
        let library = unsafe { Library::new(path) }.map_err(|error| {
            if path.is_absolute() {
                return unusable(error.to_string());
            }
            CuptiError::Missing { tried: String::new(), package: PACKAGES[0] }
        })?;
        let functions = Functions::new(&library).map_err(|error| unusable(error.to_string()))?;
        std::mem::forget(library);
        let mut version = 0;
        // SAFETY: the number outlives the call. Without a driver CUPTI does not say its version.
        if unsafe { (functions.version)(&raw mut version) } != SUCCESS {
            version = 0;
        }
        let path = if path.is_absolute() { path.to_owned() } else { find_mapped(path) };
        Ok(Self { functions, version, path })
    }

    /// The file, or the name by which the system found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version in words.
    pub fn version(&self) -> String {
        version_words(self.version)
    }

    /// Calls a function with its structure.
    ///
    /// # Safety
    ///
    /// Each pointer of `parameters` is null or good for what the function's documentation says of it.
    pub(super) unsafe fn call<T>(
        &self,
        doing: &'static str,
        function: unsafe extern "C" fn(*mut T) -> c_int,
        parameters: &mut T,
    ) -> Result<(), CuptiError> {
        // SAFETY: as promised.
        let code = unsafe { function(ptr::from_mut(parameters)) };
        if code == SUCCESS {
            return Ok(());
        }
        let mut text: *const c_char = ptr::null();
        // SAFETY: CUPTI gives a text of its own, which stays.
        let named = unsafe { (self.functions.result_string)(code, &raw mut text) } == SUCCESS;
        // SAFETY: the text ends with a zero.
        let name = if named { unsafe { words(text) } } else { format!("code {code}") };
        Err(failure(doing, code, name))
    }

    /// Prepares CUPTI in this process; wanted before anything else.
    pub(in super::super) fn initialize(&self) -> Result<(), CuptiError> {
        let mut parameters = c::ProfilerInitialize::new();
        // SAFETY: there are no pointers.
        unsafe { self.call("began", self.functions.initialize, &mut parameters) }
    }

    /// The chip of the device with this number.
    pub(in super::super) fn chip(&self, number: usize) -> Result<CString, CuptiError> {
        let mut parameters = c::ChipName { device: number, ..c::ChipName::new() };
        // SAFETY: there are no pointers to follow.
        unsafe { self.call("asked for the chip", self.functions.chip_name, &mut parameters) }?;
        // SAFETY: CUPTI gives a text of its own.
        let name = unsafe { words(parameters.chip) };
        CString::new(name).map_err(|_| CuptiError::Unexpected { what: "a chip's name".to_owned() })
    }

    /// Asks whether one of CUPTI's interfaces works on an open device, and says why where it does not.
    pub(in super::super) fn supports(
        &self,
        gpu: &DriverDevice,
        interface: Interface,
    ) -> Result<(), CuptiError> {
        let api = match interface {
            Interface::Ranges => 0,
            Interface::Sass => 2,
        };
        let mut asked =
            c::DeviceSupported { device: gpu.handle(), api, ..c::DeviceSupported::new() };
        // SAFETY: there are no pointers.
        unsafe { self.call("asked what is supported", self.functions.supported, &mut asked) }?;
        let reasons = [
            (asked.architecture, "the architecture"),
            (asked.sli, "SLI"),
            (asked.virtual_gpu, "a virtual GPU"),
            (asked.confidential, "confidential computing"),
            (asked.mining, "a mining processor"),
            (asked.wsl, "WSL"),
        ];
        check_support(asked.supported, &reasons)
    }

    /// The source line of an instruction: folder, file, line; `None` if the code does not say.
    pub(in super::super) fn correlate(
        &self,
        cubin: &[u8],
        function: &CStr,
        offset: u32,
    ) -> Option<(String, String, u32)> {
        let mut parameters = c::Correlation {
            cubin: cubin.as_ptr().cast(),
            cubin_size: cubin.len(),
            function: function.as_ptr(),
            offset: offset.into(),
            ..c::Correlation::new()
        };
        // SAFETY: code and name outlive the call; CUPTI gives two texts, which are ours to free.
        let found = unsafe {
            self.call("looked for a source line", self.functions.correlate, &mut parameters)
        };
        // SAFETY: the texts are CUPTI's, each with its zero, and read once.
        let [file, folder] =
            [parameters.file, parameters.folder].map(|text| unsafe { take_text(text) });
        found.ok()?;
        (parameters.line > 0).then_some((folder, file, parameters.line))
    }
}

/// A part of CUPTI that a device may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Interface {
    /// Figures of whole launches.
    Ranges,
    /// Counts of instructions.
    Sass,
}

/// Reads what CUPTI says of a device: `answers` are those by which it is `supported`.
fn check_support(supported: c_int, answers: &[(c_int, &str)]) -> Result<(), CuptiError> {
    const UNSUPPORTED: c_int = 1;
    const DISABLED: c_int = 2;
    if supported != UNSUPPORTED && supported != DISABLED {
        return Ok(());
    }
    let against: Vec<&str> = answers
        .iter()
        .filter(|(answer, _)| [UNSUPPORTED, DISABLED].contains(answer))
        .map(|(_, name)| *name)
        .collect();
    let why = match &against[..] {
        [] => "the device does not support it".to_owned(),
        names => format!("not with {}", names.join(", ")),
    };
    Err(CuptiError::Unsupported { why })
}

/// The file that the system found for a library's name, where it tells; else the name.
fn find_mapped(name: &Path) -> PathBuf {
    let wanted = name.to_string_lossy();
    let stem = wanted.split(".so").next().unwrap_or_default();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let found = files.find(|file| {
        file.rsplit('/').next().is_some_and(|file| file.starts_with(&format!("{stem}.so")))
    });
    found.map_or_else(|| name.to_owned(), PathBuf::from)
}

/// The file of the library in a place, which may be that file.
fn inside(place: &Path, names: &[&str]) -> Option<PathBuf> {
    if place.is_file() {
        return Some(place.to_owned());
    }
    if let Some(found) = names.iter().map(|name| place.join(name)).find(|file| file.exists()) {
        return Some(found);
    }
    // On Windows the name has the version.
    let mut found: Vec<PathBuf> = std::fs::read_dir(place)
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|file| {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("cupti64_") && name.ends_with(".dll")
        })
        .collect();
    found.sort();
    found.pop()
}

/// CUPTI's number for its version, in words.
fn version_words(version: u32) -> String {
    // From CUDA 13 on the number says it; before, it counted up.
    match version {
        100_000.. => format!("CUPTI {}.{} ({version})", version / 10_000, version / 100 % 100),
        24 => "CUPTI of CUDA 12.6 (24)".to_owned(),
        26 => "CUPTI of CUDA 12.8 (26)".to_owned(),
        27 | 28 => format!("CUPTI of CUDA 12.9 ({version})"),
        0 => "CUPTI of a version that it does not say".to_owned(),
        _ => format!("CUPTI {version}"),
    }
}

/// A text of CUPTI's.
///
/// # Safety
///
/// The pointer is null, or a text with its zero.
pub(super) unsafe fn words(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as promised.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A text that CUPTI allocated for its caller, which is freed where the allocator is known to be the
/// same.
///
/// # Safety
///
/// The pointer is null, or a text with its zero that nobody else reads.
unsafe fn take_text(text: *mut c_char) -> String {
    // SAFETY: as promised.
    let copied = unsafe { words(text) };
    #[cfg(unix)]
    {
        unsafe extern "C" {
            fn free(memory: *mut std::ffi::c_void);
        }
        // SAFETY: CUPTI's documentation leaves it to the caller; null may be freed.
        unsafe { free(text.cast()) };
    }
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_well() {
        let words = [130_001, 130_500, 26, 28, 22].map(version_words);
        let expected = [
            "CUPTI 13.0 (130001)",
            "CUPTI 13.5 (130500)",
            "CUPTI of CUDA 12.8 (26)",
            "CUPTI of CUDA 12.9 (28)",
            "CUPTI 22",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_missing_library_is_a_sentence_that_says_how_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let message = |version| Cupti::load_from(folder.path(), version).unwrap_err().to_string();
        assert!(message(13_000).contains("pip install nvidia-cuda-cupti`"), "{}", message(13_000));
        assert!(message(12_040).contains("pip install nvidia-cuda-cupti-cu12`"));
        assert!(message(13_000).contains("LANESCOPE_CUPTI") && !message(13_000).contains('\n'));
        std::fs::File::create_new(folder.path().join("libcupti.so.13")).unwrap();
        let error = Cupti::load_from(folder.path(), 13_000).unwrap_err();
        assert!(matches!(error, CuptiError::Unusable { .. }), "{error}");
    }

    #[test]
    fn a_device_without_support_says_what_stands_against_it() {
        let answers = [(3, "SLI"), (1, "WSL"), (2, "a virtual GPU")];
        assert!(check_support(3, &answers).is_ok() && check_support(0, &answers).is_ok());
        let why = check_support(1, &answers).unwrap_err().to_string();
        assert!(why.ends_with("not with WSL, a virtual GPU"), "{why}");
    }
}
