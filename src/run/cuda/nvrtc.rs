//! NVRTC: CUDA C++ to machine code, in this process.
//!
//! Input: a text and an architecture. Output: a cubin, or PTX where NVRTC is older than the device;
//! the compiler's own messages where it refuses. The library is looked for when it is asked for: in
//! `LANESCOPE_NVRTC` (a file or a folder), where the system looks, and where CUDA's installer puts it.
//! The library is called directly rather than through cudarc, which finds no version 13 and panics
//! where there is none. This is one of the files that may hold `unsafe`: it calls C.

#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

/// The environment variable that names NVRTC's file or folder; of several, as in `PATH`, the first
/// that is there counts.
pub const VARIABLE: &str = "LANESCOPE_NVRTC";

/// Where CUDA's installer puts libraries.
const FOLDERS: [&str; 3] =
    ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64"];

/// Names of the library, newest first.
const NAMES: [&str; 6] = [
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so",
    "nvrtc64_130_0.dll",
    "nvrtc64_120_0.dll",
    "libnvrtc.dylib",
];

/// The oldest NVRTC whose assembler is used for `sm_90` and newer; the driver assembles for older ones.
const ASSEMBLER_MIN: (u32, u32) = (12, 8);

/// NVRTC's success.
const SUCCESS: c_int = 0;

/// NVRTC's answer to a text that it does not accept.
const COMPILATION: c_int = 6;

/// A loaded NVRTC.
pub struct Nvrtc {
    functions: Functions,
    version: (u32, u32),
    architectures: Vec<u32>,
    path: PathBuf,
    /// What the functions point into; NVRTC looks its second library up by name, so that one must
    /// stay loaded too.
    _libraries: Vec<Library>,
}

impl std::fmt::Debug for Nvrtc {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Nvrtc")
            .field("version", &self.version)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Why NVRTC gave no machine code.
#[derive(Debug, thiserror::Error)]
pub enum NvrtcError {
    /// There is no NVRTC.
    #[error(
        "NVRTC, CUDA's compiler library, was not found{tried}; install it with `pip install \
         nvidia-cuda-nvrtc-cu12` or CUDA's toolkit, and name its folder in {VARIABLE}"
    )]
    Missing {
        /// What was tried, worded.
        tried: String,
    },
    /// A library that is there cannot be used.
    #[error("{path} is no NVRTC that can be used: {why}", path = path.display())]
    Unusable {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The text was refused.
    #[error("NVRTC refuses the translation, please report it:\n{log}")]
    Refused {
        /// NVRTC's messages.
        log: String,
    },
    /// NVRTC failed otherwise.
    #[error("NVRTC failed while it {doing} (code {code})")]
    Failed {
        /// What it was doing.
        doing: &'static str,
        /// Its number for the failure.
        code: i32,
    },
}

/// What the device's driver loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// A cubin, or PTX with a final zero.
    pub bytes: Vec<u8>,
    /// What it was compiled for: `sm_90`, or `compute_90` for PTX.
    pub architecture: String,
}

/// An opaque program.
type Handle = *mut c_void;

/// The functions that are called, of which NVRTC's documentation gives the signatures.
struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    architectures_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    architectures: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    log_size: Sizing,
    log: Filling,
    cubin_size: Sizing,
    cubin: Filling,
    ptx_size: Sizing,
    ptx: Filling,
}

type Sizing = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Filling = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

impl Functions {
    fn new(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: the names and signatures are those of NVRTC's documentation, unchanged since 11.2.
        unsafe {
            Ok(Self {
                version: *library.get(b"nvrtcVersion\0")?,
                architectures_count: *library.get(b"nvrtcGetNumSupportedArchs\0")?,
                architectures: *library.get(b"nvrtcGetSupportedArchs\0")?,
                create: *library.get(b"nvrtcCreateProgram\0")?,
                compile: *library.get(b"nvrtcCompileProgram\0")?,
                destroy: *library.get(b"nvrtcDestroyProgram\0")?,
                log_size: *library.get(b"nvrtcGetProgramLogSize\0")?,
                log: *library.get(b"nvrtcGetProgramLog\0")?,
                cubin_size: *library.get(b"nvrtcGetCUBINSize\0")?,
                cubin: *library.get(b"nvrtcGetCUBIN\0")?,
                ptx_size: *library.get(b"nvrtcGetPTXSize\0")?,
                ptx: *library.get(b"nvrtcGetPTX\0")?,
            })
        }
    }
}

/// A program that is destroyed with its owner.
struct Program<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is destroyed once.
        unsafe { (self.functions.destroy)(&raw mut self.handle) };
    }
}

impl Nvrtc {
    /// Finds and loads NVRTC.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Missing`] where there is none, [`NvrtcError::Unusable`] for the one that
    /// [`VARIABLE`] names.
    pub fn load() -> Result<Self, NvrtcError> {
        if let Some(named) = std::env::var_os(VARIABLE) {
            let mut last = NvrtcError::Missing { tried: format!(": {VARIABLE} is empty") };
            for place in std::env::split_paths(&named) {
                match Self::load_from(&place) {
                    Ok(found) => return Ok(found),
                    Err(error) => last = error,
                }
            }
            return Err(last);
        }
        for name in NAMES {
            if let Ok(found) = Self::open(Path::new(name)) {
                return Ok(found);
            }
        }
        for folder in FOLDERS {
            if let Ok(found) = Self::load_from(Path::new(folder)) {
                return Ok(found);
            }
        }
        Err(NvrtcError::Missing {
            tried: format!(" where the system looks, nor in {}", FOLDERS[0]),
        })
    }

    /// Loads NVRTC from a file, or from a folder that holds it.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Missing`] where it is not there, [`NvrtcError::Unusable`] where it is something
    /// else.
    pub fn load_from(place: &Path) -> Result<Self, NvrtcError> {
        if place.is_file() {
            return Self::open(place);
        }
        match NAMES.into_iter().map(|name| place.join(name)).find(|path| path.exists()) {
            Some(path) => Self::open(&path),
            None => Err(NvrtcError::Missing { tried: format!(" in {}", place.display()) }),
        }
    }

    fn open(path: &Path) -> Result<Self, NvrtcError> {
        let unusable = |error: libloading::Error| NvrtcError::Unusable {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let mut libraries = builtins(path);
        // SAFETY: NVRTC's initialisers have no preconditions.
        let library = unsafe { Library::new(path) }.map_err(unusable)?;
        let functions = Functions::new(&library).map_err(unusable)?;
        libraries.push(library);
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: each pointer is to a number that outlives the call.
        let codes = unsafe {
            [
                (functions.version)(&raw mut major, &raw mut minor),
                (functions.architectures_count)(&raw mut count),
            ]
        };
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for as many numbers as NVRTC has just said.
        let code = unsafe { (functions.architectures)(architectures.as_mut_ptr()) };
        if codes != [SUCCESS; 2] || code != SUCCESS {
            let why = "it does not say its version or architectures".to_owned();
            return Err(NvrtcError::Unusable { path: path.to_owned(), why });
        }
        let number = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(Self {
            functions,
            version: (number(major), number(minor)),
            architectures: architectures.into_iter().map(number).collect(),
            path: path.to_owned(),
            _libraries: libraries,
        })
    }

    /// The version: major, minor.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The architectures that it compiles for, as 90 for `sm_90`.
    pub fn architectures(&self) -> &[u32] {
        &self.architectures
    }

    /// The file, or the name by which the system found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compiles `source` for compute capability `capability` (90 for 9.0): to machine code, or to PTX
    /// of the newest architecture up to it where NVRTC does not know the device's, or assembles badly.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Refused`] with NVRTC's messages, [`NvrtcError::Failed`].
    pub fn compile(&self, source: &str, capability: u32) -> Result<Image, NvrtcError> {
        // The assembler of NVRTC 12.4 crashes on one counting random program in thirteen for sm_90.
        let assembles = self.version >= ASSEMBLER_MIN || capability < 90;
        if self.architectures.contains(&capability) && assembles {
            return self.compile_for(source, &format!("sm_{capability}"));
        }
        let older = self.architectures.iter().copied().filter(|arch| *arch <= capability).max();
        let older = older.ok_or(NvrtcError::Failed { doing: "chose an architecture", code: 0 })?;
        self.compile_for(source, &format!("compute_{older}"))
    }

    /// Compiles `source` for an architecture by its name: `sm_90` gives a cubin, `compute_90` PTX.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Refused`] with NVRTC's messages, [`NvrtcError::Failed`].
    pub fn compile_for(&self, source: &str, architecture: &str) -> Result<Image, NvrtcError> {
        let text = CString::new(source)
            .map_err(|_| NvrtcError::Refused { log: "a zero byte in the text".to_owned() })?;
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: the text ends with a zero and outlives the program; there are no headers.
        let code = unsafe {
            (self.functions.create)(
                &raw mut handle,
                text.as_ptr(),
                c"translation.cu".as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        if code != SUCCESS {
            return Err(NvrtcError::Failed { doing: "took the text", code });
        }
        let program = Program { functions: &self.functions, handle };
        let architecture_option = format!("--gpu-architecture={architecture}");
        // Multiplications and additions stay apart: the simulator fuses nothing but `fma`.
        let options = [
            architecture_option.as_str(),
            "--std=c++20",
            "--fmad=false",
            "--generate-line-info",
            "--disable-warnings",
        ];
        let options: Vec<CString> =
            options.into_iter().filter_map(|option| CString::new(option).ok()).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: `count` strings, each with its zero, which outlive the call.
        let code = unsafe { (self.functions.compile)(program.handle, count, pointers.as_ptr()) };
        if code != SUCCESS {
            let log = program.read(self.functions.log_size, self.functions.log)?;
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
            return Err(match code {
                COMPILATION => NvrtcError::Refused { log },
                _ => NvrtcError::Failed { doing: "compiled", code },
            });
        }
        let machine_code = architecture.starts_with("sm_");
        let bytes = if machine_code {
            program.read(self.functions.cubin_size, self.functions.cubin)?
        } else {
            program.read(self.functions.ptx_size, self.functions.ptx)?
        };
        Ok(Image { bytes, architecture: architecture.to_owned() })
    }
}

impl Program<'_> {
    /// Reads one of the program's results.
    fn read(&self, size: Sizing, fill: Filling) -> Result<Vec<u8>, NvrtcError> {
        let mut bytes = 0;
        // SAFETY: the handle is valid, the number outlives the call.
        let code = unsafe { size(self.handle, &raw mut bytes) };
        if code != SUCCESS {
            return Err(NvrtcError::Failed { doing: "gave a result's size", code });
        }
        let mut result = vec![0_u8; bytes];
        // SAFETY: there is room for as many bytes as NVRTC has just said.
        let code = unsafe { fill(self.handle, result.as_mut_ptr().cast()) };
        if code != SUCCESS {
            return Err(NvrtcError::Failed { doing: "gave a result", code });
        }
        Ok(result)
    }
}

/// Loads the library that NVRTC asks for by name, from NVRTC's own folder.
fn builtins(path: &Path) -> Vec<Library> {
    let Some(folder) = path.parent().filter(|folder| folder.is_absolute()) else {
        return Vec::new();
    };
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("libnvrtc-builtins.so.") || name.starts_with("nvrtc-builtins64")
        })
        .collect();
    names.sort();
    // SAFETY: the library has no initialisers with preconditions.
    names.into_iter().filter_map(|name| unsafe { Library::new(name) }.ok()).collect()
}
