//! The pictures of both pages in `docs/browser.md`: made again, where `LANESCOPE_PICTURES` names a folder.
//!
//! Input: the pages. Output: PNG files, at the widths of a laptop and of a phone. Run after a change of what
//! people see: `LANESCOPE_PICTURES=docs/screens cargo test --release -- web::pictures`.

use std::path::PathBuf;

use lanescope::web;
use serde_json::json;

use super::browser::Browser;
use super::{RUN_MAX, catalogue, measure, paste};

/// The variable that names the folder.
const PICTURES: &str = "LANESCOPE_PICTURES";

/// Name, width and height, in CSS pixels.
type Screen = (&'static str, u32, u32);

/// The folder, where one is named.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os(PICTURES).map(PathBuf::from)
}

/// Makes the pictures.
pub(super) fn make() -> Result<(), String> {
    let page = web::page(catalogue(), &web::usual(catalogue())).map_err(|e| e.to_string())?;
    let mut browser = Browser::open()?;
    measure(&mut browser, &page.html)?;
    take(&mut browser, [("browser-1300", 1300, 1500), ("browser-390", 390, 1900)])?;
    paste::count_example(&mut browser)?;
    take(&mut browser, [("paste-1300", 1300, 1500), ("paste-390", 390, 1900)])
}

#[expect(clippy::disallowed_methods, reason = "pictures that were asked for")]
fn take(browser: &mut Browser, screens: [Screen; 2]) -> Result<(), String> {
    let folder = folder().ok_or_else(|| format!("{PICTURES} names no folder"))?;
    for (name, width, height) in screens {
        let mobile = width < 500;
        let screen =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        browser.ask("Emulation.setDeviceMetricsOverride", &screen)?;
        browser.ask("Emulation.setScrollbarsHidden", &json!({"hidden": true}))?;
        browser.value("scrollTo(0, 0)")?;
        browser.wait_for(&format!("innerWidth === {width}"), RUN_MAX)?;
        let taken = browser.ask("Page.captureScreenshot", &json!({"format": "png"}))?;
        let png = decode(taken["data"].as_str().unwrap_or_default());
        let path = folder.join(format!("{name}.png"));
        std::fs::write(&path, png).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Bytes from base64 (RFC 4648, section 4).
pub(super) fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(u32::from(c - b'A')),
        b'a'..=b'z' => Some(u32::from(c - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(c - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    bytes.collect()
}
