//! Whether everybody can use the page: by keyboard, with a screen reader, on a narrow screen.
//!
//! Input: a page. Output: what is wrong. What a screen reader needs is checked by
//! [axe-core](https://github.com/dequelabs/axe-core), a script that `LANESCOPE_AXE` names; `.ci/run` gets it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::browser::Browser;
use super::{RUN_MAX, hold, small_page};

/// The variable that names the script.
const AXE: &str = "LANESCOPE_AXE";

/// The narrowest screen, and the height of it, in CSS pixels.
const NARROW: [u32; 2] = [360, 740];

/// The least height and width of what is pressed, in CSS pixels.
const TARGET_MIN: f64 = 44.0;

/// The script, where it is there.
pub(super) fn axe() -> Option<PathBuf> {
    std::env::var_os(AXE).map(PathBuf::from).filter(|path| path.is_file())
}

/// On a narrow screen nothing runs over, targets are large enough, and keys are all it takes.
pub(super) fn keys_and_targets() -> Result<(), String> {
    let mut browser = Browser::open()?;
    narrow(&mut browser)?;
    browser.show(small_page(), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    press(&mut browser, "Tab", 9)?;
    let focused = browser.text("document.activeElement.id")?;
    hold(focused == "start", &format!("the first key goes to {focused:?}"), "")?;
    press(&mut browser, "Enter", 13)?;
    browser.wait_for("state.running", RUN_MAX)?;
    browser.wait_for("!state.running", RUN_MAX)?;
    let width = browser.value("document.documentElement.scrollWidth")?;
    hold(width == NARROW[0], &format!("the page is {width} pixels wide"), "")?;
    let small = browser.value(&format!(
        "[...document.querySelectorAll('button, summary, a')].filter((one) => one.offsetParent)
         .map((one) => [one.id || one.textContent, one.getBoundingClientRect()])
         .filter(([, at]) => at.height < {TARGET_MIN} || at.width < {TARGET_MIN}).map(([name]) => name)"
    ))?;
    hold(small == json!([]), &format!("targets are too small: {small}"), "")?;
    // All nine columns are in sight, each with its name.
    let over = browser.value(
        "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length",
    )?;
    hold(over == 0, "a table runs over", "")?;
    let names = browser.value(
        "[...document.querySelectorAll('tbody tr:first-child td')].map((one) => [one.dataset.label, getComputedStyle(one, '::before').content.includes(one.dataset.label)])",
    )?;
    let names = names.as_array().map_or(&[][..], Vec::as_slice);
    let named = names.len() == 8 && names.iter().all(|name| name[1] == true);
    hold(named, &format!("columns: {names:?}"), "")?;
    let live = browser.value("document.querySelectorAll('[aria-live=polite]').length")?;
    hold(live == 2, "what is going on is not announced", "")
}

/// Neither before nor after measuring, in light or dark, is there anything that axe-core finds.
pub(super) fn nothing_found() -> Result<(), String> {
    let script = axe().ok_or_else(|| format!("{AXE} names no script"))?;
    let script = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
    let mut browser = Browser::open()?;
    browser.ask("Page.setBypassCSP", &json!({"enabled": true}))?;
    narrow(&mut browser)?;
    browser.show(small_page(), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    for measured in [false, true] {
        if measured {
            browser.value("document.getElementById('start').click()")?;
            browser.wait_for("!state.running", RUN_MAX)?;
            browser.value(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
            )?;
        }
        for scheme in ["light", "dark"] {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.ask("Emulation.setEmulatedMedia", &media)?;
            let found = browser.value(&format!(
                "{script}; axe.run().then(({{ violations }}) => violations.map((one) =>
                   [one.id, one.impact, one.nodes.map((node) => node.html)]))"
            ))?;
            let what = format!("measured: {measured}, {scheme}: {found:#}");
            hold(found == json!([]), &what, "")?;
        }
    }
    // A fault that is put in is found.
    let found: Value = browser.value(
        "document.getElementById('start').textContent = '';
         axe.run().then(({ violations }) => violations.map((one) => one.id))",
    )?;
    hold(found == json!(["button-name"]), &format!("a nameless button gives {found}"), "")
}

/// Neither in light nor in dark does axe-core find anything in a gallery, which is no wider than a phone.
pub(super) fn gallery() -> Result<(), String> {
    let script = axe().ok_or_else(|| format!("{AXE} names no script"))?;
    let script = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_lanescope"))
        .args(["report", "--gallery", "results/records/swiftshader", "results/records/h200-vulkan"])
        .arg("--out")
        .arg(folder.path())
        .output()
        .map_err(|error| error.to_string())?;
    hold(made.status.success(), "no gallery", &String::from_utf8_lossy(&made.stderr))?;
    let page = std::fs::read_to_string(folder.path().join("gallery.html"));
    let page = page.map_err(|error| error.to_string())?;
    // Devices of 4 and of 32 lanes do not agree on every claim.
    let claims = page.split_once("<h2>Claims that differ between devices</h2>");
    let rows = claims.map_or(0, |(_, claims)| claims.matches("W\u{a0}=\u{a0}4").count());
    hold(rows > 0, "no claims differ", &page)?;
    let mut browser = Browser::open()?;
    narrow(&mut browser)?;
    browser.show(&page, "")?;
    for scheme in ["light", "dark"] {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.ask("Emulation.setEmulatedMedia", &media)?;
        let found = browser.value(&format!(
            "{script}; axe.run().then(({{ violations }}) => violations.map((one) =>
               [one.id, one.impact, one.nodes.map((node) => node.html)]))"
        ))?;
        hold(found == json!([]), &format!("{scheme}: {found:#}"), "")?;
    }
    // A cell that stays in sight takes its line along.
    let shared = browser.value(
        "[...document.querySelectorAll('.scroll table')].filter((one) =>
           getComputedStyle(one.querySelector('th')).position !== 'sticky'
           || getComputedStyle(one).borderCollapse !== 'separate').length",
    )?;
    hold(shared == 0, &format!("{shared} tables leave lines behind"), "")?;
    let tables = browser.value("document.querySelectorAll('table').length")?;
    let width = browser.value("document.documentElement.scrollWidth")?;
    hold(
        width == NARROW[0] && tables.as_u64() > Some(3),
        &format!("{width} px, {tables} tables"),
        "",
    )
}

pub(super) fn narrow(browser: &mut Browser) -> Result<(), String> {
    let [width, height] = NARROW;
    let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": true});
    browser.ask("Emulation.setDeviceMetricsOverride", &screen).map(|_| ())
}

pub(super) fn press(browser: &mut Browser, key: &str, code: u32) -> Result<(), String> {
    for kind in ["keyDown", "keyUp"] {
        let text = if key == "Enter" && kind == "keyDown" { "\r" } else { "" };
        let event = json!({
            "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text,
        });
        browser.ask("Input.dispatchKeyEvent", &event)?;
    }
    Ok(())
}
