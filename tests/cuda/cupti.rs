//! CUPTI without a GPU: its structures are laid out as its own headers say, and it can be loaded.
//!
//! Input: folders with CUPTI's headers in `LANESCOPE_CUPTI_INCLUDE`, the system's C++ compiler; folders
//! with the library in `LANESCOPE_CUPTI`. Output: checks, and why they cannot be made here. The headers
//! need no CUDA toolkit: the few types of `cuda.h` that they mention are written beside them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lanescope::run::cuda::cupti::layout::{self, Layout};
use lanescope::run::cuda::cupti::{Cupti, VARIABLE};

/// Folders with CUPTI's headers, as in `PATH`.
const INCLUDE: &str = "LANESCOPE_CUPTI_INCLUDE";

/// The version of CUPTI, by its own number, whose headers the layouts were written from.
const WRITTEN_FROM: u64 = 24;

/// What CUPTI's headers mention of CUDA's.
const CUDA: &str = "#pragma once
#include <stddef.h>
#include <stdint.h>
typedef struct CUctx_st *CUcontext;
typedef int CUdevice;
typedef struct CUfunc_st *CUfunction;
typedef unsigned long long CUdeviceptr;
";

/// Why layouts cannot be checked here; `None` if they can.
pub(super) fn headers_missing() -> Option<String> {
    folders(INCLUDE).is_empty().then(|| format!("{INCLUDE} names no folder of CUPTI's headers"))
}

/// Why no CUPTI can be loaded here; `None` if one can.
pub(super) fn library_missing() -> Option<String> {
    folders(VARIABLE).is_empty().then(|| format!("{VARIABLE} names no CUPTI"))
}

fn folders(variable: &str) -> Vec<PathBuf> {
    let named = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// Every CUPTI that is named can be loaded and has what is called.
pub(super) fn loads() {
    for place in folders(VARIABLE) {
        let cupti = Cupti::load_from(&place, 13_000).unwrap();
        assert!(cupti.version().starts_with("CUPTI "), "{}", cupti.version());
    }
}

/// Each structure has the fields of its C twin at the same places, and says as much of its size as
/// the version that it was written from; newer versions only append.
pub(super) fn layouts() {
    let layouts = layout::all();
    assert!(layouts.len() > 30);
    for folder in folders(INCLUDE) {
        let answer = asked(&folder, &layouts);
        let mut words = answer.split_whitespace().map(|word| word.parse::<u64>().unwrap());
        let version = words.next().unwrap();
        let mut next = || words.next().unwrap();
        for layout in &layouts {
            let place = format!("{} in {}", layout.name, folder.display());
            let size = next();
            assert!(size >= layout.size as u64, "{place}: {size} bytes");
            assert!(version != WRITTEN_FROM || size == layout.size as u64, "{place}: {size} bytes");
            if let Some(says) = layout.says {
                let theirs = next();
                assert!(theirs >= says as u64, "{place} says {theirs}");
                assert!(version != WRITTEN_FROM || theirs == says as u64, "{place} says {theirs}");
            }
            for (field, offset) in &layout.fields {
                assert_eq!(next(), *offset as u64, "{field} of {place}");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn save(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

/// Has a program compiled that prints the version and each structure's figures, and runs it.
fn asked(folder: &Path, layouts: &[Layout]) -> String {
    let mut program = String::from("#include <cstdio>\n#include <cuda.h>\n");
    let headers =
        ["version", "result", "target", "profiler_target", "profiler_host", "range_profiler"];
    for header in headers.into_iter().chain(["sass_metrics", "pcsampling"]) {
        writeln!(program, "#include <cupti_{header}.h>").unwrap();
    }
    program += "static void p(size_t n) { printf(\"%zu\\n\", n); }\n";
    program += "int main() {\np(CUPTI_API_VERSION);\n";
    for Layout { name, says, fields, .. } in layouts {
        writeln!(program, "p(sizeof({name}));").unwrap();
        if says.is_some() {
            let parameters = name.ends_with("CorrelationParams");
            let suffix = if parameters { "Size" } else { "_STRUCT_SIZE" };
            writeln!(program, "p({name}{suffix});").unwrap();
        }
        for (field, _) in fields {
            writeln!(program, "p(offsetof({name}, {field}));").unwrap();
        }
    }
    program += "}\n";
    let work = tempfile::tempdir().unwrap();
    let at = |name: &str| work.path().join(name);
    save(&at("cuda.h"), CUDA);
    save(&at("layouts.cpp"), &program);
    let compiled = Command::new("c++")
        .arg("-I")
        .arg(work.path())
        .arg("-I")
        .arg(folder)
        .arg(at("layouts.cpp"))
        .arg("-o")
        .arg(at("layouts"))
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{}: {complaint}", folder.display());
    String::from_utf8(Command::new(at("layouts")).output().unwrap().stdout).unwrap()
}
