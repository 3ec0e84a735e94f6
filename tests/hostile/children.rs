//! A device's process ends with its parent, however that ended.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::drivers::Driver;
use crate::support::program;

/// How long a child may outlive its parent.
const OUTLIVES_MAX: Duration = Duration::from_millis(200);

/// Every check that needs no driver.
pub(super) const CHECKS: [(&str, fn()); 1] =
    [("a_child_ends_where_its_input_does", its_input_ends)];

/// Waits for something up to a limit; gives how long that took.
fn wait_for(limit: Duration, mut done: impl FnMut() -> bool) -> Option<Duration> {
    #[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
    let start = Instant::now();
    while start.elapsed() < limit {
        if done() {
            return Some(start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// The pipe is what every system has.
fn its_input_ends() {
    let folder = TempDir::new().unwrap();
    let mut child = program::command(folder.path(), &[])
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits for requests");
    drop(child.stdin.take());
    let took = wait_for(OUTLIVES_MAX, || child.try_wait().unwrap().is_some());
    assert!(took.is_some(), "it outlives its input");
}

/// The children of a process, by their numbers: who says that it is their parent.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|number| parent_of(*number) == Some(parent)).collect()
}

#[cfg(target_os = "linux")]
fn parent_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in brackets, and may hold any.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut rest = rest.split_whitespace();
    (rest.next()? != "Z").then(|| rest.next()?.parse().ok())?
}

/// A parent that is killed takes the child along in the middle of its driver's work.
#[cfg(target_os = "linux")]
pub(super) fn killed_parent(driver: &Driver) {
    for moment in [20, 150, 400, 900, 1500] {
        let folder = TempDir::new().unwrap();
        let mut parent = start(&folder, driver);
        let mut found = Vec::new();
        let begun = wait_for(Duration::from_secs(20), || {
            found = children(parent.id());
            !found.is_empty()
        });
        assert!(begun.is_some(), "no child was started");
        std::thread::sleep(Duration::from_millis(moment));
        found.extend(children(parent.id()));
        parent.kill().unwrap();
        let ended =
            wait_for(OUTLIVES_MAX, || found.iter().all(|child| parent_of(*child).is_none()));
        parent.wait().unwrap();
        assert!(ended.is_some(), "{found:?} outlive their parent, killed after {moment} ms");
    }
}

#[cfg(target_os = "linux")]
fn start(folder: &TempDir, driver: &Driver) -> Child {
    program::command(folder.path(), &driver.environment())
        .args(["five_patterns", "--device", "wgpu:0", "--budget", "60", "--out", "o"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
