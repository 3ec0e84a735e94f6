//! Running the program as a user does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lanescope::record::Run;
use tempfile::TempDir;

/// The program under test.
pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_lanescope"))
}

/// The program in an environment without any driver, in a folder of its own.
pub(crate) fn command(folder: &Path, environment: &[(String, String)]) -> Command {
    let mut command = Command::new(path());
    command
        .current_dir(folder)
        .env_remove("WGPU_BACKEND")
        .env_remove("WGPU_ADAPTER_NAME")
        .env_remove("LP_NATIVE_VECTOR_WIDTH")
        .env("VK_DRIVER_FILES", "/nonexistent/no_driver.json")
        .env("NO_COLOR", "1")
        .envs(environment.iter().map(|(name, value)| (name, value)));
    command
}

/// Runs the program to its end.
pub(crate) fn run(
    folder: &TempDir,
    environment: &[(String, String)],
    arguments: &[&str],
) -> Output {
    command(folder.path(), environment).args(arguments).output().unwrap()
}

/// Writes an input of a test.
#[expect(clippy::disallowed_methods, reason = "a test makes its own input")]
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::write(path, text).unwrap();
}

/// The exit code, standard output and standard error.
pub(crate) fn parts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Runs the program and reads the record that it left in `out`.
pub(crate) fn record(
    folder: &TempDir,
    environment: &[(String, String)],
    arguments: &[&str],
) -> (i32, Run, String) {
    let mut all = arguments.to_vec();
    all.extend(["--out", "out"]);
    let (code, _, stderr) = parts(&run(folder, environment, &all));
    let file = folder.path().join("out").join("result.json");
    let run = lanescope::store::load(&file).unwrap_or_else(|e| panic!("{e}\n{stderr}"));
    (code, run, stderr)
}
