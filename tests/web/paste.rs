//! The page on which one pastes a shader, in Chromium, around the module that `lab/wasm/build` makes.
//!
//! Input: the module, which `LANESCOPE_PASTE_CORE` names. Output: trials. Figures are held against those that
//! this program counts natively; a GPU's against the simulator's.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use lanescope::analyze::Work;
use lanescope::kernel::SEED;
use lanescope::program::Parsed;
use lanescope::record::{Method, Value as Parameter};
use lanescope::run::measure::{Results, measurement};
use lanescope::run::profile::ProfileRequest;
use lanescope::run::profile::pilot::prepare_affordable;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Runner};
use lanescope::units::Width;
use lanescope::{store, web};
use serde_json::{Value, json};

use super::browser::{Browser, is_local};
use super::{access, hold, policy};
use crate::corpus;

/// The variable that names the module.
const CORE: &str = "LANESCOPE_PASTE_CORE";

/// The most bytes of the module with its unpacker, packed as the page holds them.
const CORE_BYTES_MAX: usize = 1_215_000;

/// The longest wait for anything.
const RUN_MAX: Duration = Duration::from_secs(120);

/// From asking to the lines being there, of [`RAYMARCH`] with 65,536 invocations, in milliseconds.
const SHOWN_MS_MAX: f64 = 2000.0;

const RAYMARCH: &str = include_str!("../../examples/raymarch.wgsl");

/// Elements of the corpus' arrays.
const ELEMENTS: u64 = 300;

/// Lanes of SwiftShader's subgroups.
const LANES: u32 = 4;

/// Lanes in a branch by data, and trips by data: whole numbers, the same on every device.
const WHOLE: &str = "@group(0) @binding(0) var<storage, read> seeds: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&steps)) { return; }
    var n = seeds[id.x] % 1000u + 1u;
    var count = 0u;
    while (n != 1u && count < 200u) {
        if (n % 2u == 0u) { n = n / 2u; } else { n = 3u * n + 1u; }
        count += 1u;
    }
    steps[id.x] = count;
}
";

/// A loop that takes longer than anybody waits.
const ENDLESS: &str = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 4000000u; i++) { sum = sum * 3u + i; }
    a[id.x] = sum;
}
";

/// The module, where it is there.
pub(super) fn core() -> Option<PathBuf> {
    std::env::var_os(CORE).map(PathBuf::from).filter(|path| path.is_file())
}

/// The page.
fn page() -> Result<&'static str, String> {
    static PAGE: OnceLock<Result<String, String>> = OnceLock::new();
    let made = PAGE.get_or_init(|| {
        let path = core().ok_or_else(|| format!("{CORE} names no module"))?;
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let unpacker = read(&path.with_file_name("examples/unpack.wasm"))?;
        web::paste_page(&read(&path)?, &unpacker).map_err(|error| error.to_string())
    });
    made.as_deref().map_err(Clone::clone)
}

fn open() -> Result<Browser, String> {
    let mut browser = Browser::open()?;
    browser.show(page()?, "")?;
    browser.wait_for("!document.getElementById('run').disabled", RUN_MAX)?;
    Ok(browser)
}

/// Puts a shader in, chooses widths and n.
fn fill(browser: &mut Browser, source: &str, widths: &[u32], n: &str) -> Result<(), String> {
    let (source, widths, n) = (json!(source), json!(widths), json!(n));
    browser.value(&format!(
        "$('wgsl').value = {source}; $('n').value = {n};
         for (const box of document.querySelectorAll('[name=width]')) box.checked = {widths}.includes(Number(box.value));"
    ))?;
    Ok(())
}

/// Presses a button and waits until what it does is done; gives what the page says.
fn press(browser: &mut Browser, button: &str) -> Result<String, String> {
    browser.value(&format!("$('{button}').click()"))?;
    browser.wait_for("!state.running", RUN_MAX)?;
    browser.text("document.body.innerText")
}

/// Subgroup operations and lane operations that this program counts at 32 lanes, or why none.
fn native(file: &str, source: &str, entry: Option<&str>, n: u64) -> Result<[u64; 2], String> {
    let request = ProfileRequest {
        file: file.to_owned(),
        name: file.trim_end_matches(".wgsl").to_owned(),
        source: source.to_owned(),
        derived: None,
        description: None,
        entry_point: entry.map(str::to_owned),
        workgroups: None,
        n: Some(n),
        seed: SEED,
    };
    let mut read = |_: &str| Err("no file is read".to_owned());
    let launch = prepare_affordable(&request, &mut read).map_err(|e| e.to_string())?.launch;
    let mut simulator = SimulatorRunner::new(Width::W32, STEPS_MAX);
    let request = CountRequest::once(Method::Executed);
    let counted = simulator.count_once(&launch, &request).map_err(|e| e.to_string())?;
    let results = Results { counted: Some(counted), ..Results::default() };
    let device = simulator.device().clone();
    let measured = measurement(&device, &launch, results).map_err(|e| e.to_string())?;
    let work = Work::from_measurement(&measured);
    Ok([work.subgroup_operations, work.lane_operations].map(|sum| u64::try_from(sum).unwrap()))
}

/// Opens the page, and counts its example.
pub(super) fn count_example(browser: &mut Browser) -> Result<(), String> {
    browser.show(page()?, "")?;
    browser.wait_for("!document.getElementById('run').disabled", RUN_MAX)?;
    browser.value("$('example').click()")?;
    press(browser, "run").map(|_| ())
}

/// The raymarcher and every shader of the corpus have the native figures exactly, and what naga refuses
/// is refused in the same words.
pub(super) fn native_figures() -> Result<(), String> {
    let mut browser = open()?;
    let mut shaders = vec![("raymarch".to_owned(), RAYMARCH.to_owned(), 65_536)];
    let texts = corpus::texts();
    shaders.extend(texts.into_iter().map(|(name, text)| (name, text, ELEMENTS)));
    let mut compared = 0;
    for (name, source, n) in shaders {
        let file = format!("{name}.wgsl");
        let entry =
            Parsed::new(&file, &source).ok().map(|parsed| parsed.entry_points()[0].to_owned());
        let asked = json!([file, source, entry, n]);
        let found = browser.value(&format!(
            "(async ([file, source, entry, n]) => {{
               try {{
                 await ask({{ ...opening(), file, source, entry, n }});
                 const {{ subgroup_operations, lane_operations }} = await ask({{ do: 'count', width: 32 }});
                 return [subgroup_operations, lane_operations];
               }} catch (error) {{ return error.message; }}
             }})({asked})"
        ))?;
        let expected = match native(&file, &source, entry.as_deref(), n) {
            Ok(figures) => json!(figures),
            Err(why) => json!(why),
        };
        hold(found == expected, &format!("{name}: {found} and natively {expected}"), "")?;
        compared += usize::from(found.is_array());
    }
    hold(compared > 80, &format!("{compared} shaders were compared"), "")?;
    let wrong = "@compute @workgroup_size(64) fn main() { let a = b; }";
    fill(&mut browser, wrong, &[32], "")?;
    let shown = press(&mut browser, "run")?;
    let expected = Parsed::new("shader.wgsl", wrong).map(|_| ()).unwrap_err().to_string();
    let trouble = browser.text("$('trouble').textContent")?;
    hold(trouble == expected, &format!("the diagnostic is not naga's own: {expected}"), &shown)
}

/// Within two seconds the lines are there; they are those of `profile`'s page, with advice; nothing was asked
/// for; the policy holds; the record can be read.
pub(super) fn lines_at_once() -> Result<(), String> {
    let page = page()?;
    let bytes_of = |id: &str| {
        let text =
            page.split_once(&format!("id=\"{id}\">")).and_then(|(_, rest)| rest.split_once('<'));
        text.map(|(text, _)| text.trim().len() / 4 * 3)
            .ok_or_else(|| format!("no {id} in the page"))
    };
    let packed = bytes_of("core")? + bytes_of("unpacker")?;
    hold(packed <= CORE_BYTES_MAX, &format!("the core has {packed} bytes"), "")?;
    let mut browser = open()?;
    fill(&mut browser, RAYMARCH, &[32], "65536")?;
    let mut fastest = f64::MAX;
    let mut shown = String::new();
    // Other tests run beside this one.
    for _ in 0..4 {
        shown = press(&mut browser, "run")?;
        let ms = browser.value("state.shown_ms")?.as_f64().unwrap_or(f64::MAX);
        fastest = fastest.min(ms);
        if fastest <= SHOWN_MS_MAX {
            break;
        }
    }
    hold(fastest <= SHOWN_MS_MAX, &format!("the lines took {fastest} ms"), &shown)?;
    for words in ["Source, line by line", "Advice", "sim:32", "Lanes along time"] {
        hold(shown.contains(words), &format!("{words:?} is not there"), &shown)?;
    }
    let bars = browser.value(
        "[...document.querySelectorAll('.bar > span')].filter((one) => one.style.width).length",
    )?;
    hold(bars.as_u64() > Some(3), "bars have no length", &shown)?;
    let record = browser.text("ask({ do: 'record' })")?;
    let path = Path::new("result.json");
    let run = store::decode(record.as_bytes(), path).map_err(|error| error.to_string())?;
    hold(run.measurements.len() == 1, "the record has not what was counted", &record)?;
    policy(&mut browser)?;
    let foreign: Vec<&String> = browser.requests.iter().filter(|url| !is_local(url)).collect();
    let local = foreign.iter().all(|url| url.starts_with("http://127.0.0.1:9/"));
    hold(local, &format!("the page asked for {foreign:?}"), &shown)
}

/// A shader, n or a link over a limit is refused in a sentence; a link opens to the same lines; and one
/// that unpacks to more than it may is not read to its end.
pub(super) fn limits_and_links() -> Result<(), String> {
    let mut browser = open()?;
    let large = format!("{WHOLE}//{}", " ".repeat(web::SOURCE_BYTES_MAX));
    fill(&mut browser, &large, &[32], "")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("this page's limit"), "a large shader is not refused", &shown)?;
    fill(&mut browser, WHOLE, &[32], "900000000")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("this page's limit"), "a large n is not refused", &shown)?;
    fill(&mut browser, WHOLE, &[8, 32], "5000")?;
    press(&mut browser, "run")?;
    const LINES: &str = "document.querySelector('#result table.source').innerText";
    let lines = browser.text(LINES)?;
    let fragment = browser.text("to_link()")?;
    browser.show(page()?, &format!("#{fragment}"))?;
    browser.wait_for("state.shown_ms !== null && !state.running", RUN_MAX)?;
    let opened = browser.text(LINES)?;
    hold(opened == lines, &format!("a link opens to other lines:\n{opened}"), &lines)?;
    let source = browser.text("$('wgsl').value")?;
    hold(source == WHOLE, "a link opens to another shader", &source)?;
    // Without a text nothing of the last one stays, and nothing can be done with it.
    fill(&mut browser, " ", &[8], "")?;
    let shown = press(&mut browser, "run")?;
    let empty = "There is no text yet: paste a shader, or open a file.";
    let told = browser.value("[$('status').textContent, $('result').hidden, $('save').disabled, $('gpu').disabled, $('trouble').textContent]")?;
    hold(told == json!([empty, true, true, true, ""]), &format!("no text: {told}"), &shown)?;
    let bomb = browser.text(
        "through(new CompressionStream('deflate-raw'), new Uint8Array(1 << 24)).then((bytes) => 's=' + to_url(bytes))",
    )?;
    for (fragment, why) in [(bomb.as_str(), "it is too long"), ("s=AAAA", "it is cut or garbled")] {
        browser.show(page()?, &format!("#{fragment}"))?;
        let told = format!("$('status').textContent.includes({})", json!(why));
        browser.wait_for(&told, RUN_MAX)?;
    }
    Ok(())
}

/// A texture of which data decide a branch: the simulator counts it, with contents that are made up.
const TEXTURE: &str = "@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&found)) { return; }
    if (textureLoad(image, vec2<u32>(id.x % 4u, 0u), 0).x > 0.5) { found[id.x] = 1u; }
}
";

/// What the page says that it does not do is refused in a sentence, and what it says that it does is done; a link
/// of a page on a disk tells no folder.
pub(super) fn what_it_does_not_take() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let clipboard = "Object.defineProperty(navigator, 'clipboard', { value: {
        async writeText(text) { window.copied = text; } } });";
    browser.ask("Page.addScriptToEvaluateOnNewDocument", &json!({"source": clipboard}))?;
    browser.show(page()?, "")?;
    browser.wait_for("!document.getElementById('run').disabled", RUN_MAX)?;
    let told = browser.text("document.querySelector('header details').textContent")?;
    for words in ["no SPIR-V", "no times", "textures", "immediate data", "lanescope profile"] {
        hold(told.contains(words), &format!("{words} is not told"), &told)?;
    }
    fill(&mut browser, TEXTURE, &[32], "256")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("Source, line by line"), "a texture is not counted", &shown)?;
    hold(shown.contains("A GPU cannot run it from this page"), "no sentence on the GPU", &shown)?;
    let closed = browser.value("$('gpu').disabled")?;
    hold(closed == true, "the GPU is offered", &shown)?;
    browser.value("$('link').click()")?;
    browser.wait_for("window.copied", RUN_MAX)?;
    let out = browser.text("window.copied + $('status').textContent + location.hash")?;
    let private = browser.text("location.pathname")?;
    let is_clean = !out.contains(&private) && !out.contains("file:");
    hold(is_clean && out.starts_with("#s="), "the link has a path", &out)?;
    let fragment = browser.text("window.copied")?;
    let address = browser.serve(page()?, &fragment)?;
    browser.wait_for("state.shown_ms !== null && !state.running", RUN_MAX)?;
    browser.value("window.copied = ''; $('link').click()")?;
    browser.wait_for("window.copied", RUN_MAX)?;
    let copied = browser.text("window.copied")?;
    hold(copied == format!("{address}{fragment}"), "the link of a server's page", &copied)
}

/// The record that is saved is the core's to the byte: a real parameter of 1.0 stays one.
pub(super) fn saved() -> Result<(), String> {
    let mut browser = open()?;
    let folder = tempfile::tempdir().unwrap();
    let downloads = json!({"behavior": "allow", "downloadPath": folder.path()});
    browser.ask("Page.setDownloadBehavior", &downloads)?;
    fill(&mut browser, WHOLE, &[32], "")?;
    let launch = json!(
        "[parameters]
         n = { description = 'elements', default = 256 }
         share = { description = 'a share', default = 1.0 }
         [[buffers]]
         name = 'seeds'
         type = 'u32'
         elements = 'n'
         fill = { uniform = [0, '1000 * share'] }
         [[buffers]]
         name = 'steps'
         type = 'u32'
         elements = 'n'
         [[dispatches]]
         entry_point = 'main'
         workgroups = 'ceil(n / 64)'"
    );
    browser.value(&format!("$('launch').value = {launch}"))?;
    let shown = press(&mut browser, "run")?;
    browser.value("$('save').click()")?;
    let path = folder.path().join("result.json");
    let mut run = store::load(&path);
    for _ in 0..100 {
        if run.is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        run = store::load(&path);
    }
    let run = run.map_err(|error| format!("{error}; the page says:\n{shown}"))?;
    let share = run.measurements[0].parameters.get("share");
    hold(share == Some(&Parameter::Real(1.0)), &format!("the parameter is {share:?}"), &shown)
}

/// What is stopped ends, and what is asked next is answered by a core made anew; so it is after a time limit.
pub(super) fn stopped_and_gone_on() -> Result<(), String> {
    let mut browser = open()?;
    fill(&mut browser, ENDLESS, &[32], "65536")?;
    browser.value("$('run').click()")?;
    browser.wait_for("$('status').textContent.startsWith('Counting at 32')", RUN_MAX)?;
    browser.value("$('stop').click()")?;
    browser.wait_for("!state.running", Duration::from_secs(5))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("It was stopped."), "nothing says that it was stopped", &shown)?;
    fill(&mut browser, WHOLE, &[32], "1000")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("Source, line by line"), "nothing comes after a stop", &shown)?;
    // A fault of the core's own ends it and is told, and the next question is answered.
    browser.value("ask({ do: 'page' }); state.core.onmessage({ data: { id: state.asked, fault: 'planted' } })")?;
    let ended = browser.value("state.core === null")?;
    hold(ended == true, "a fault does not end the core", "")?;
    // A subgroup that never ends reaches a limit, which is told.
    let slow = ENDLESS.replace("4000000u", "400000000u");
    fill(&mut browser, &slow, &[32], "64")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("operations"), "a limit is not told", &shown)?;
    fill(&mut browser, WHOLE, &[32], "1000")?;
    let shown = press(&mut browser, "run")?;
    hold(shown.contains("Source, line by line"), "nothing comes after a limit", &shown)
}

/// `SwiftShader` counts what the simulator counts at its width, and the page shows both.
pub(super) fn on_a_gpu() -> Result<(), String> {
    let mut browser = open()?;
    fill(&mut browser, WHOLE, &[32], "4096")?;
    press(&mut browser, "run")?;
    let shown = press(&mut browser, "gpu")?;
    let compared = browser.value("state.compared")?;
    let equal = compared["blocks"].as_u64() > Some(5) && compared["blocks"] == compared["equal"];
    hold(equal, &format!("counts differ: {compared}"), &shown)?;
    let sentence = format!("counts what the simulator counts at {LANES} lanes");
    hold(shown.contains(&sentence), "no sentence says so", &shown)?;
    for device in ["sim:32", "sim:4", "WebGPU"] {
        hold(shown.contains(device), &format!("{device} has no column"), &shown)?;
    }
    // Counts that are not the simulator's are told by line.
    let told = browser.value(
        "ask({ do: 'gpu' }).then(async () => {
           const { devices, measurements, block_tables } = JSON.parse(await ask({ do: 'record' }));
           const own = measurements.find((one) => one.device.startsWith('web:'));
           const device = devices.find((one) => one.id === own.device);
           const dispatches = own.dispatches.map(({ blocks }) => blocks.map(({ executions, lanes }) => [executions, lanes]));
           dispatches[0][0][0] += dispatches[0][0][0] / 4;
           return ask({ do: 'measured', device, width: 4, method: 'executed', dispatches });
         })",
    )?;
    let different = told["different"].as_array().map_or(0, Vec::len);
    let counted = told["blocks"].as_u64().zip(told["equal"].as_u64());
    let right = different == 1 && counted.is_some_and(|(blocks, equal)| equal + 1 == blocks);
    hold(right, &format!("a falsified count gives {told}"), "")?;
    let sentence = told["sentence"].as_str().unwrap_or_default();
    for words in ["counts differ from the simulator's", "differ by up to 25.0 %", "may be"] {
        hold(sentence.contains(words), &format!("{words:?} is not there"), sentence)?;
    }
    Ok(())
}

/// On a narrow screen nothing runs over and targets are large enough; keys are all it takes; and axe-core finds
/// nothing serious, before and after, in light and dark.
pub(super) fn for_everybody() -> Result<(), String> {
    let script = access::axe().ok_or("axe-core is not there")?;
    let script = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
    let mut browser = Browser::open()?;
    browser.ask("Page.setBypassCSP", &json!({"enabled": true}))?;
    access::narrow(&mut browser)?;
    browser.show(page()?, "")?;
    browser.wait_for("!document.getElementById('run').disabled", RUN_MAX)?;
    fill(&mut browser, RAYMARCH, &[32, 64], "4096")?;
    for counted in [false, true] {
        if counted {
            browser.value("$('run').focus()")?;
            access::press(&mut browser, "Enter", 13)?;
            browser.wait_for("state.running", RUN_MAX)?;
            browser.wait_for("!state.running", RUN_MAX)?;
        }
        let width = browser.value("document.documentElement.scrollWidth")?;
        hold(width == 360, &format!("counted: {counted}: {width} pixels wide"), "")?;
        let small = browser.value(
            "[...document.querySelectorAll('button, summary, fieldset label, form input, #result a, #result .cell')].filter((one) => one.offsetParent)
             .filter((one) => one.type !== 'checkbox')
             .map((one) => [one.id || one.textContent, one.getBoundingClientRect()])
             .filter(([, at]) => at.height < 44 || at.width < 44).map(([name]) => name)",
        )?;
        hold(small == json!([]), &format!("targets are too small: {small}"), "")?;
        // Every column of every table is in sight, without scrolling to the side.
        let over = browser.value(
            "[...document.querySelectorAll('#result .scroll')].filter((one) => one.querySelector('table') && one.scrollWidth > one.clientWidth)
             .map((one) => one.innerText.slice(0, 80))",
        )?;
        hold(over == json!([]), &format!("tables run over: {over}"), "")?;
        let named = browser.value(
            "[...document.querySelectorAll('#result table.stacked td[data-label]')].filter((one) => one.offsetParent)
             .map((one) => getComputedStyle(one, '::before').content.length > 3)",
        )?;
        let named = named.as_array().map_or(&[][..], Vec::as_slice);
        let all = named.iter().all(|is_named| *is_named == true) && counted == (named.len() > 20);
        hold(all, &format!("counted: {counted}: {} cells have names", named.len()), "")?;
        for scheme in ["light", "dark"] {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.ask("Emulation.setEmulatedMedia", &media)?;
            let found: Value = browser.value(&format!(
                "{script}; axe.run().then(({{ violations }}) => violations
                   .filter((one) => ['serious', 'critical'].includes(one.impact))
                   .map((one) => [one.id, one.impact, one.nodes.map((node) => node.html)]))"
            ))?;
            let what = format!("counted: {counted}, {scheme}: {found:#}");
            hold(found == json!([]), &what, "")?;
        }
    }
    Ok(())
}
