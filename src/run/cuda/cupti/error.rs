//! What CUPTI answers, and why there are no figures: sentences that say what to do.
//!
//! Input: CUPTI's codes. Output: [`CuptiError`]s. Nothing is called.

use std::ffi::c_int;
use std::path::PathBuf;

/// The environment variable that names CUPTI's file or folder; of several, as in `PATH`, the first
/// that is there counts.
pub const VARIABLE: &str = "LANESCOPE_CUPTI";

/// CUPTI's success.
pub(super) const SUCCESS: c_int = 0;

/// CUPTI's codes for a missing permission: on a machine, and under a virtual one.
const NO_PERMISSION: [c_int; 2] = [35, 40];

/// CUPTI's codes for chips and set-ups whose counters it cannot read.
const NOT_SUPPORTED: [c_int; 8] = [27, 33, 38, 41, 42, 43, 45, 46];

/// CUPTI's codes for another profiler being at work.
const BUSY: [c_int; 2] = [26, 39];

/// CUPTI's code for companion libraries that were not found.
const NOT_INITIALIZED: c_int = 15;

/// CUPTI's code for a driver that is too old for it.
const NOT_COMPATIBLE: c_int = 14;

/// Why CUPTI gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum CuptiError {
    /// There is no CUPTI.
    #[error(
        "CUPTI, which reads NVIDIA's hardware counters, was not found{tried}; install it with `pip \
         install {package}` or CUDA's toolkit, and name its folder in {VARIABLE}"
    )]
    Missing {
        /// What was tried, worded.
        tried: String,
        /// The package for the driver.
        package: &'static str,
    },
    /// A library that is there cannot be used.
    #[error(
        "{path} cannot be used: {why}; hardware counters need CUPTI of CUDA 12.6 or newer (`pip \
         install nvidia-cuda-cupti-cu12`), its folder named in {VARIABLE}",
        path = path.display()
    )]
    Unusable {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The driver keeps counters for administrators.
    #[error(
        "the driver lets only administrators read hardware counters ({name}); run as root, or load \
         it with NVreg_RestrictProfilingToAdminUsers=0 (the line `options nvidia \
         NVreg_RestrictProfilingToAdminUsers=0` in a file of /etc/modprobe.d, then restart); in a \
         container, start that with the capability SYS_ADMIN"
    )]
    NoPermission {
        /// CUPTI's name for it.
        name: String,
    },
    /// The chip, or how it is used, has no counters for CUPTI.
    #[error("CUPTI reads no hardware counters here: {why}")]
    Unsupported {
        /// CUPTI's name for it, or what it said of the device.
        why: String,
    },
    /// Another profiler has the counters.
    #[error("another profiler is reading this GPU's counters ({name}); end it and try again")]
    Busy {
        /// CUPTI's name for it.
        name: String,
    },
    /// Figures were lost.
    #[error("{count} {what} were dropped, so that the figures would be wrong")]
    Dropped {
        /// How many.
        count: usize,
        /// Of what.
        what: &'static str,
    },
    /// CUPTI failed otherwise.
    #[error("CUPTI failed while it {doing}: {name}{hint}")]
    Failed {
        /// What it was doing.
        doing: &'static str,
        /// Its name for the failure.
        name: String,
        /// What helps, as a clause that begins with its separator; empty where nothing is known to.
        hint: &'static str,
    },
    /// What CUPTI gave is not what it promises.
    #[error("CUPTI gave {what}, which cannot be used")]
    Unexpected {
        /// What.
        what: String,
    },
}

/// Words for a code that is no success; `name` is CUPTI's own.
pub(super) fn failure(doing: &'static str, code: c_int, name: String) -> CuptiError {
    match code {
        _ if NO_PERMISSION.contains(&code) => CuptiError::NoPermission { name },
        _ if NOT_SUPPORTED.contains(&code) => CuptiError::Unsupported { why: name },
        _ if BUSY.contains(&code) => CuptiError::Busy { name },
        NOT_INITIALIZED => CuptiError::Failed {
            doing,
            name,
            hint: "; it needs libnvperf_host.so and libnvperf_target.so beside it",
        },
        NOT_COMPATIBLE => CuptiError::Failed {
            doing,
            name,
            hint: "; it is made for another driver: name an older CUPTI in LANESCOPE_CUPTI",
        },
        _ => CuptiError::Failed { doing, name, hint: "" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_says_what_to_do_in_one_line() {
        let message = |code: c_int, name: &str| failure("began", code, name.to_owned()).to_string();
        let permission = message(35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
        assert!(permission.contains("NVreg_RestrictProfilingToAdminUsers=0"), "{permission}");
        assert!(permission.contains("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
        assert!(
            message(27, "CUPTI_ERROR_NOT_SUPPORTED").contains("reads no hardware counters here")
        );
        assert!(message(39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED").contains("profiler"));
        assert!(message(15, "CUPTI_ERROR_NOT_INITIALIZED").contains("libnvperf_host.so"));
        assert!(
            message(999, "CUPTI_ERROR_UNKNOWN").contains("while it began: CUPTI_ERROR_UNKNOWN")
        );
        for code in [8, 14, 15, 26, 27, 35, 40, 46, 999] {
            assert!(!message(code, "X").contains('\n'));
        }
        let dropped = CuptiError::Dropped { count: 3, what: "ranges" }.to_string();
        assert!(dropped.contains("3 ranges were dropped"));
    }
}
