//! What must hold of the action for pull requests: its script is run as GitHub's runner does, with a stand-in
//! for `gh`.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::program;

/// The action's file.
const ACTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions/compare/action.yml");

const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = a[g.x];
    for (var i = 0u; i < 8u; i++) { v = v * 3u + 1u; }
    a[g.x] = v;
}
";

/// The script of the action's last step.
fn script() -> String {
    let text = std::fs::read_to_string(ACTION).unwrap();
    let (_, script) = text.rsplit_once("run: |\n").unwrap();
    let lines: Vec<&str> = script.lines().map(|line| line.trim_start_matches("        ")).collect();
    lines.join("\n")
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@b.invalid"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository whose base branch holds `before`, with `after` in its work tree; the base's commit.
fn repository(before: &str, after: &str) -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    let shader = folder.path().join("a.wgsl");
    program::write(&shader, before);
    program::write(&folder.path().join("b.wgsl"), after);
    git(folder.path(), &["add", "a.wgsl"]);
    git(folder.path(), &["commit", "--quiet", "--message", "base"]);
    let base = git(folder.path(), &["rev-parse", "HEAD"]);
    git(folder.path(), &["remote", "add", "origin", "."]);
    program::write(&shader, after);
    (folder, base)
}

/// Runs the script; what was commented stands in `commented`, how in `asked`.
fn run(folder: &TempDir, base: &str, shader: &str) -> Output {
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    // Asked for comments it gives the id in `id`, where there is one; else it keeps what is commented.
    let gh = "#!/bin/sh\necho \"$*\" >> asked\n\
              case \"$*\" in *--paginate*) cat id 2>/dev/null; exit 0 ;; esac\n\
              [ -e forbidden ] && exit 1\nfor last; do :; done\ncp \"${last#body=@}\" commented\n";
    program::write(&bin.join("gh"), gh);
    let made = Command::new("chmod").arg("+x").arg(bin.join("gh")).status().unwrap();
    assert!(made.success());
    Command::new("bash")
        .current_dir(folder.path())
        .args(["-c", &script()])
        .envs([
            ("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())),
            ("VK_DRIVER_FILES", "/nonexistent/no_driver.json".to_owned()),
            ("SHADER", shader.to_owned()),
            ("LAUNCH", String::new()),
            ("DEVICE", "sim:32".to_owned()),
            ("CONDITION", "slots>1.05".to_owned()),
            ("PROGRAM", program::path().display().to_string()),
            ("BASE", base.to_owned()),
            ("NUMBER", "7".to_owned()),
            ("REPOSITORY", "o/r".to_owned()),
            ("RUNNER_TEMP", folder.path().display().to_string()),
        ])
        .output()
        .unwrap()
}

/// A shader that grew worse fails, and the table is commented once, then renewed; what is new or no pull request passes.
pub(super) fn compares_and_comments() {
    let (folder, base) = repository(SHADER, &SHADER.replace("< 8u", "< 16u"));
    let output = run(&folder, &base, "a.wgsl");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("--fail-on: "), "{stderr}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let commented = read("commented");
    assert!(commented.contains("lane slots") && commented.contains("| worse |"), "{commented}");
    assert!(commented.starts_with("<!-- lanescope compare: a.wgsl -->\n"), "{commented}");
    assert!(commented.contains("base/a.wgsl"), "no path of the runner: {commented}");
    assert!(!commented.contains(&*folder.path().display().to_string()), "{commented}");
    let posted = "api --method POST repos/o/r/issues/7/comments --field body=@";
    let asked = || read("asked").lines().last().unwrap().to_owned();
    assert!(asked().starts_with(posted), "{}", asked());
    program::write(&folder.path().join("id"), "41\n42\n");
    let output = run(&folder, &base, "a.wgsl");
    assert_eq!(output.status.code(), Some(1));
    assert!(asked().starts_with("api --method PATCH repos/o/r/issues/comments/42 "), "{}", asked());
    // Who may not comment is warned, and the condition decides all the same.
    program::write(&folder.path().join("forbidden"), "");
    let output = run(&folder, &base, "a.wgsl");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("::warning::"), "{output:?}");
    let before = read("asked");

    let output = run(&folder, &base, "b.wgsl");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("b.wgsl is new"), "{output:?}");
    let output = run(&folder, "", "a.wgsl");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read("asked"), before, "nothing was asked since");

    let (folder, base) = repository(SHADER, &SHADER.replace("* 3u", "* 5u"));
    let output = run(&folder, &base, "a.wgsl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("commented").exists());

    // What cannot be read is told by the program, with its own exit code, and no comment is made of nothing.
    let (folder, base) = repository(SHADER, "fn main( {");
    let output = run(&folder, &base, "a.wgsl");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("commented").exists());
}
