//! The pages that the program writes, as people read them: on a laptop and on a phone, on paper, in the dark,
//! by keyboard and without a script.
//!
//! Input: pages of committed records and of examples. Output: what is wrong with one. A page that measures is
//! [`super::access`]'s.

use std::time::Duration;

use serde_json::{Value, json};

use super::access::{axe, press};
use super::browser::{Browser, is_local};
use super::hold;
use crate::records;

/// What the name of a committed record follows, among arguments.
const RECORD: &str = "record:";

/// A page: its name, what makes it, its file, whether it is printed on sheets that lie, and whether a cell shows
/// its figures when it is reached.
struct Page {
    name: &'static str,
    arguments: &'static [&'static str],
    file: &'static str,
    lies: bool,
    has_cells: bool,
}

/// One of each kind; the claims' page is that of the record with the fewest devices.
const PAGES: [Page; 5] = [
    Page {
        name: "run",
        arguments: &["report", "record:h100-vulkan/five_patterns-default"],
        file: "report.html",
        lies: false,
        has_cells: true,
    },
    Page {
        name: "claims",
        arguments: &["report", "record:swiftshader/claims-all"],
        file: "report.html",
        lies: false,
        has_cells: false,
    },
    Page {
        name: "profile",
        arguments: &[
            "profile",
            "examples/raymarch.wgsl",
            "--device",
            "sim:32",
            "--device",
            "sim:64",
        ],
        file: "report.html",
        lies: false,
        has_cells: true,
    },
    Page {
        name: "compare",
        arguments: &[
            "compare",
            "examples/blur.wgsl",
            "examples/blur_64.wgsl",
            "--device",
            "sim:32",
            "--device",
            "sim:64",
        ],
        file: "compare.html",
        lies: false,
        has_cells: false,
    },
    Page {
        name: "gallery",
        arguments: &[
            "report",
            "--gallery",
            "results/records/swiftshader",
            "results/records/h200-vulkan",
        ],
        file: "gallery.html",
        lies: true,
        has_cells: false,
    },
];

/// The widths of a phone and of a laptop, in CSS pixels.
const WIDTHS: [u32; 2] = [390, 1300];

/// The widths of what is printed on A4 between margins of 14 mm, in CSS pixels of which an inch has 96: on sheets
/// that stand, and that lie.
const PAPER: [u32; 2] = [687, 1016];

/// Those sheets, 210 and 297 mm in points of which an inch has 72, as Chromium writes them.
const SHEETS: [&str; 2] = ["[0 0 594.95996 841.91998]", "[0 0 841.91998 594.95996]"];

/// The least size of letters on a phone, in CSS pixels: of texts, and of figures.
const LETTERS_MIN: [f64; 2] = [11.0, 9.0];

/// Words of tables that are broken in their middle; where a line may end by itself, they are two.
const BROKEN: &str = r"(() => {
  const broken = new Set(), range = document.createRange();
  for (const cell of document.querySelectorAll('td, th')) {
    // Code is cut where it must be.
    if (!cell.checkVisibility() || cell.closest('.code')) continue;
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      for (const word of text.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((at) => Math.round(at.top)));
        if (lines.size > 1 && word[0].length < 24) broken.add(word[0]);
      }
    }
  }
  return [...broken];
})()";

/// Rows of tables that are shown and say nothing.
const EMPTY_ROWS: &str = "[...document.querySelectorAll('tr')].filter((row) => row.checkVisibility() \
    && !row.innerText.trim()).length";

/// The smallest letters of texts and of figures, with what is written in them.
const LETTERS: &str = r"(() => {
  const least = [[1e9, ''], [1e9, '']];
  for (const one of document.querySelectorAll('body *')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !one.checkVisibility() || one.closest('.sheet')) continue;
    const drawn = one.closest('svg');
    const scale = drawn ? drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width : 1;
    const size = parseFloat(getComputedStyle(one).fontSize) * (scale || 1);
    const kind = drawn ? 1 : 0;
    if (size < least[kind][0]) least[kind] = [size, one.textContent.trim().slice(0, 60)];
  }
  return least;
})()";

/// No page needs a script or another file; none is wider than its screen; tables keep words whole, and have no
/// rows of nothing; letters can be read on a phone.
pub(super) fn on_every_screen() -> Result<(), String> {
    let mut browser = Browser::open()?;
    for page in &PAGES {
        let html = made(page)?;
        let name = page.name;
        let scripts = html.contains("<script") || html.contains(" onclick=");
        hold(!scripts, &format!("{name} has a script"), "")?;
        browser.ask("Emulation.setScriptExecutionDisabled", &json!({"value": true}))?;
        browser.show(&html, "")?;
        for width in WIDTHS {
            screen(&mut browser, width)?;
            for open in [false, true] {
                if open {
                    open_all(&mut browser)?;
                }
                let what = format!("{name} at {width} px, opened: {open}");
                let wide = browser.value("document.documentElement.scrollWidth")?;
                hold(wide == width, &format!("{what}: {wide} pixels wide"), "")?;
                let broken = browser.value(BROKEN)?;
                hold(broken == json!([]), &format!("{what}: broken words {broken}"), "")?;
                let empty = browser.value(EMPTY_ROWS)?;
                hold(empty == 0, &format!("{what}: {empty} rows of nothing"), "")?;
                let letters = browser.value(LETTERS)?;
                for (kind, least) in LETTERS_MIN.into_iter().enumerate() {
                    let large = letters[kind][0].as_f64().is_some_and(|size| size >= least);
                    hold(large, &format!("{what}: letters {}", letters[kind]), "")?;
                }
            }
        }
    }
    let foreign: Vec<&String> = browser.requests.iter().filter(|url| !is_local(url)).collect();
    hold(foreign.is_empty(), &format!("pages asked for {foreign:?}"), "")?;
    // What is looked for is found where it is put in.
    let planted = "<table><tr><td style='width:3ch;overflow-wrap:anywhere;display:block'>devices<tr><td></table>";
    browser.show(planted, "")?;
    let found = browser.value(&format!("[{BROKEN}.length, {EMPTY_ROWS}]"))?;
    hold(found == json!([1, 1]), &format!("a broken word and an empty row give {found}"), "")
}

/// Every page fits on A4, all of its tables and figures, and is printed on it.
pub(super) fn on_paper() -> Result<(), String> {
    let mut browser = Browser::open()?;
    for page in &PAGES {
        browser.show(&made(page)?, "")?;
        let paper = PAPER[usize::from(page.lies)];
        screen(&mut browser, paper)?;
        browser.ask("Emulation.setEmulatedMedia", &json!({"media": "print"}))?;
        let over = browser.value(
            "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility())
             .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
             .map((one) => one.outerHTML.slice(0, 120)).slice(0, 3)",
        )?;
        hold(over == json!([]), &format!("{} runs over the paper: {over}", page.name), "")?;
        let wide = browser.value("document.documentElement.scrollWidth")?;
        hold(wide == paper, &format!("{}: {wide} pixels wide on paper", page.name), "")?;
        let printed = json!({"preferCSSPageSize": true, "printBackground": true});
        let printed = browser.ask("Page.printToPDF", &printed)?;
        let pdf = super::pictures::decode(printed["data"].as_str().unwrap_or_default());
        let pdf = String::from_utf8_lossy(&pdf);
        let sheet = pdf.contains(&format!("/MediaBox {}", SHEETS[usize::from(page.lies)]));
        hold(sheet, &format!("{} is not printed on A4", page.name), "")?;
        browser.ask("Emulation.setEmulatedMedia", &json!({"media": ""}))?;
    }
    Ok(())
}

/// axe-core finds nothing, on a phone in light and on a laptop in dark, with all that can be opened open; and keys
/// reach everything.
pub(super) fn by_everybody() -> Result<(), String> {
    let script = axe().ok_or("axe-core is not there")?;
    let script = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
    let mut browser = Browser::open()?;
    for page in &PAGES {
        browser.show(&made(page)?, "")?;
        browser.value(&format!("{script}; true"))?;
        open_all(&mut browser)?;
        // Hundreds of lines are like the first, and what is above the claims is like the page of a run: axe-core
        // would take minutes.
        let alike = if page.name == "claims" { "main > :not(h1, #judged)" } else { ALIKE };
        browser.value(&format!(
            "document.querySelectorAll('{alike}').forEach((one) => one.remove())"
        ))?;
        for (scheme, width) in ["light", "dark"].into_iter().zip(WIDTHS) {
            screen(&mut browser, width)?;
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.ask("Emulation.setEmulatedMedia", &media)?;
            let found: Value = browser.value(
                "axe.run().then(({ violations }) => violations.map((one) =>
                   [one.id, one.impact, one.nodes.length, one.nodes[0].html]))",
            )?;
            hold(found == json!([]), &format!("{}, {scheme}: {found:#}", page.name), "")?;
        }
        keys(&mut browser, page)?;
    }
    Ok(())
}

/// Lines of sources that are like those before.
const ALIKE: &str = "table.source tr:nth-child(n + 45)";

/// The Tab key reaches links, figures and tables that scroll, and what is folded, one after the other; a line's
/// figures that are reached show their histogram.
fn keys(browser: &mut Browser, page: &Page) -> Result<(), String> {
    browser.value("window.reached = new Set(); document.activeElement.blur(); scrollTo(0, 0)")?;
    let stops = browser.value(
        "[...document.querySelectorAll('a[href], summary, [tabindex]')].filter((one) => one.checkVisibility()).length",
    )?;
    let stops = stops.as_u64().unwrap_or(0);
    let mut shown = false;
    for _ in 0..stops {
        press(browser, "Tab", 9)?;
        let is_shown = browser.value(
            "(() => { const one = document.activeElement; reached.add(one);
               const sheet = one.querySelector(':scope > .sheet');
               return sheet !== null && getComputedStyle(sheet).display === 'block'; })()",
        )?;
        shown |= is_shown == true;
        if shown {
            break;
        }
    }
    let reached = browser.value("reached.delete(document.body), reached.size")?;
    let all = page.has_cells || reached == stops;
    let what = format!("{}: keys reach {reached} of {stops}, cells: {shown}", page.name);
    hold(all && shown == page.has_cells && stops > 0, &what, "")
}

/// The text of a page, as the program makes it.
fn made(page: &Page) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_lanescope"))
        .args(page.arguments.iter().map(|argument| match argument.strip_prefix(RECORD) {
            Some(name) => records::file(name).into_os_string(),
            None => argument.into(),
        }))
        .arg("--out")
        .arg(folder.path().join("out"))
        .output()
        .map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&made.stderr);
    hold(made.status.success(), &format!("{} is not made", page.name), &told)?;
    let path = folder.path().join("out").join(page.file);
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", page.name))
}

fn screen(browser: &mut Browser, width: u32) -> Result<(), String> {
    let screen = json!({
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500,
    });
    browser.ask("Emulation.setDeviceMetricsOverride", &screen)?;
    browser.ask("Emulation.setScrollbarsHidden", &json!({"hidden": true}))?;
    browser.wait_for(&format!("innerWidth === {width}"), Duration::from_secs(20))
}

fn open_all(browser: &mut Browser) -> Result<(), String> {
    // One source is open as it is, and the others are like it.
    let all =
        "document.querySelectorAll('details:not(.source)').forEach((one) => { one.open = true; })";
    browser.value(all).map(|_| ())
}
