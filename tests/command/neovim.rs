//! The example for an editor, in a real one: Neovim without a screen.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{program, trial_needing};

/// A branch that 8 of 32 lanes take, and a loop in it.
const SHADER: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
    var v = a[g.x];
    if g.x % 32u < 8u {
        for (var i = 0u; i < 50u; i++) { v = v * 3u + i; }
    }
    a[g.x] = v;
}
";

/// What a person does: starts it, waits for figures, saves another text, one that is wrong, stops it. Each time
/// the line of the loop has the virtual text at its end and the buffer so many diagnostics, which are noted.
const SESSION: &str = r#"
local noted = {}
local function at_end(line)
  local space = vim.api.nvim_get_namespaces().lanescope
  local marks = vim.api.nvim_buf_get_extmarks(0, space, { line - 1, 0 }, { line - 1, -1 }, { details = true })
  for _, mark in ipairs(marks) do
    if mark[4].virt_text then return mark[4].virt_text[1][1] end
  end
end
local function note(until_it)
  vim.wait(60000, until_it, 50)
  local errors = 0
  for _, one in ipairs(vim.diagnostic.get(0)) do
    if one.severity == vim.diagnostic.severity.ERROR then errors = errors + 1 end
  end
  table.insert(noted, { text = at_end(6) or "", diagnostics = #vim.diagnostic.get(0), errors = errors })
end
local function save(from, to)
  vim.cmd("silent %s/" .. from .. "/" .. to .. "/")
  vim.cmd("silent write")
end
Lanescope.start({ "--n", "1024", "--device", "sim:32" })
note(function() return at_end(6) ~= nil end)
local before = at_end(6)
save("< 8u", "< 16u")
note(function() return at_end(6) ~= before end)
save("var v = ", "var v : = ")
note(function()
  return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) > 0
end)
save("var v : = ", "var v = ")
note(function()
  return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 0
end)
Lanescope.stop()
vim.fn.writefile({ vim.json.encode(noted) }, "noted.json")
vim.cmd("qall!")
"#;

pub(super) fn trial() -> Trial {
    let title = "command::neovim_shows_lanes_at_the_end_of_lines";
    let asked = Command::new("nvim").arg("--version").output();
    let missing = asked.is_err().then(|| "nvim is not there".to_owned());
    trial_needing(title, missing, "neovim", shows)
}

fn shows() {
    let folder = TempDir::new().unwrap();
    program::write(&folder.path().join("a.wgsl"), SHADER);
    program::write(&folder.path().join("session.lua"), SESSION);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/neovim/lanescope.lua");
    let environment = program::command(folder.path(), &[]);
    let mut nvim = Command::new("nvim");
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => nvim.env(name, value),
            None => nvim.env_remove(name),
        };
    }
    let output = nvim
        .current_dir(folder.path())
        .env("LANESCOPE", program::path())
        .args(["--headless", "--clean", "-n", "a.wgsl"])
        .arg("-c")
        .arg(format!("luafile {}", plugin.display()))
        .args(["-c", "luafile session.lua"])
        .output()
        .unwrap();
    let (_, stdout, stderr) = program::parts(&output);
    let noted = std::fs::read_to_string(folder.path().join("noted.json"));
    let noted = noted.unwrap_or_else(|error| panic!("{error}\n{stdout}\n{stderr}"));
    let noted: Vec<Value> = serde_json::from_str(&noted).unwrap();
    let text = |index: usize| noted[index]["text"].as_str().unwrap().to_owned();
    assert_eq!([text(0), text(1), text(3)], ["8.0 / 32", "16.0 / 32", "16.0 / 32"], "{noted:?}");
    assert!(noted[0]["diagnostics"].as_u64().unwrap() > 0, "advice is shown: {noted:?}");
    let errors = |index: usize| noted[index]["errors"].as_u64().unwrap();
    assert_eq!([errors(0), errors(2), errors(3)], [0, 1, 0], "{noted:?}");
}
