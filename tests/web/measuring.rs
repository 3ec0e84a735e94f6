//! More of the page that measures: the bytes of its inputs, widths that are fixed, the whole catalogue, and
//! what a visitor keeps and hands on.
//!
//! Input: pages of `lanescope::web`. Output: trials, as beside it. Bytes and counts are held against those that
//! this program makes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use lanescope::kernel::generate::{self, Fill};
use lanescope::kernel::{DeviceClass, Kernel, SEED, ScalarType};
use lanescope::record::{Method, Output, Run, Status, Tag, Value as Parameter, flag};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Runner};
use lanescope::units::Width;
use lanescope::{store, web};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::browser::{Browser, is_local, with_worker};
use super::{LANES, LINK_BYTES_MAX, RUN_MAX, catalogue, hold, measure, policy, record, small_page};

/// The longest run of the page of the whole catalogue.
const WHOLE_MAX: Duration = Duration::from_secs(1500);

/// A page that waits ten times as long for its device: a CPU driver on a busy machine takes a while to compile a
/// sort, and how long a page waits is held elsewhere. Its script is not the one whose hash its policy names.
fn patient(html: &str) -> Result<String, String> {
    let limits = [
        ("SILENCE_MS = 60000", "SILENCE_MS = 600000"),
        ("SILENT_MS = 20000", "SILENT_MS = 200000"),
    ];
    limits.iter().try_fold(html.to_owned(), |html, (usual, longer)| {
        hold(html.contains(usual), &format!("the page does not say {usual}"), "")?;
        Ok(html.replacen(usual, longer, 1))
    })
}

/// A page of every kernel.
fn whole_page() -> &'static web::Page {
    static PAGE: OnceLock<web::Page> = OnceLock::new();
    PAGE.get_or_init(|| {
        let kernels: Vec<&Kernel> = catalogue().kernels().collect();
        web::page(catalogue(), &kernels).unwrap()
    })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a page whose worker does `answer` in the place of measuring; gives what it says.
fn ask_worker(
    browser: &mut Browser,
    html: &str,
    answer: &str,
    given: &str,
) -> Result<Value, String> {
    let after = format!(
        "onmessage = ({{ data: {{ data: page, given }} }}) => {{ data = page; {answer} }};"
    );
    browser.show(&with_worker(html, "", &after), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    browser.value(&format!(
        "new Promise((resolve, reject) => {{
           const asked = worker_of('worker');
           asked.onmessage = (event) => resolve(event.data);
           asked.onerror = (event) => reject(new Error(event.message));
           asked.postMessage({{ data, given: {given} }});
         }})"
    ))
}

/// What a fill is called here.
fn name_of(fill: &Value) -> String {
    let Some((kind, content)) = fill.as_object().and_then(|fill| fill.iter().next()) else {
        return fill.as_str().unwrap_or_default().to_owned();
    };
    format!("{kind} {}", content["scalar"].as_str().unwrap_or_default()).trim_end().to_owned()
}

/// Each kind of fill that the page works out, with bounds that round, are negative, or lie outside of the type.
fn fills() -> Vec<Fill> {
    let mut fills = vec![
        Fill::Zero,
        Fill::Words(vec![0, 1, 0x8000_0000, u32::MAX]),
        Fill::Bytes(vec![0, 1, 127, 128, 255, 10]),
    ];
    for scalar in [ScalarType::F32, ScalarType::U32, ScalarType::I32] {
        let bounds = [(0.0, 1.0), (-3.7, 12.3), (0.0, 1e9), (-1e12, 1e12), (5.0, 5.0)];
        fills.extend(bounds.map(|(low, high)| Fill::Uniform { scalar, low, high }));
        let series = [(0.0, 1.0), (-2.5, 0.1), (1e9, 1e7), (7.0, -1.0)];
        fills.extend(series.map(|(first, step)| Fill::Series { scalar, first, step }));
    }
    fills
}

/// The page's script makes the bytes that this program makes: of every buffer of the catalogue, at both of the
/// sizes at which launches are counted, and of each kind of fill.
pub(super) fn bytes() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let answer = "postMessage(data.launches.map((launch, number) => launch.sizes.slice(0, 2).map((size) => ({
        kernel: data.template.measurements[number].kernel, parameters: size.parameters, reals: size.reals ?? [],
        buffers: size.buffers.map(([, fill], i) =>
          ({ name: launch.buffers[i].name, fill: fill.bytes ? 'bytes' : fill, sha256: sha256(contents(launch, size, i)) })) }))).flat());";
    let sizes = ask_worker(&mut browser, &whole_page().html, answer, "null")?;
    let (mut compared, mut kinds) = (0, BTreeSet::new());
    for size in sizes.as_array().into_iter().flatten() {
        let kernel = catalogue().kernel(size["kernel"].as_str().unwrap_or_default()).unwrap();
        let mut parameters: BTreeMap<String, Parameter> =
            serde_json::from_value(size["parameters"].clone()).map_err(|e| e.to_string())?;
        for name in size["reals"].as_array().into_iter().flatten() {
            let value = parameters.get_mut(name.as_str().unwrap_or_default()).unwrap();
            if let Parameter::Integer(whole) = *value {
                *value = Parameter::Real(whole as f64);
            }
        }
        let launch = kernel.launch(DeviceClass::Quick, &parameters, SEED).unwrap();
        let buffers = size["buffers"].as_array().unwrap();
        hold(buffers.len() == launch.buffers.len(), &format!("{}: buffers", kernel.id), "")?;
        for (on_page, buffer) in buffers.iter().zip(&launch.buffers) {
            let right = sha256(&launch.contents(buffer));
            let what = format!("{} {parameters:?}, {}: {on_page}", kernel.id, buffer.name);
            hold(on_page["sha256"] == right && on_page["name"] == buffer.name, &what, "")?;
            kinds.insert(name_of(&on_page["fill"]));
            compared += 1;
        }
    }
    hold(compared > 400, &format!("{compared} buffers were compared"), "")?;
    // Sizes that end within an element, and within what several are made at a time.
    let asked: Vec<(Fill, u64, String)> = fills()
        .into_iter()
        .flat_map(|fill| [4, 1000, 65_540].map(|size| (fill.clone(), size, format!("of {size}"))))
        .collect();
    let given: Vec<Value> = asked
        .iter()
        .map(|(fill, size, name)| {
            let stream = generate::stream(SEED, name);
            json!([size, fill, [stream >> 32, stream & u64::from(u32::MAX)]])
        })
        .collect();
    let answer = "postMessage(given.map(([size, fill, stream]) =>
        sha256(contents({ buffers: [{ stream }] }, { buffers: [[size, fill]] }, 0))));";
    let found = ask_worker(&mut browser, small_page(), answer, &json!(given).to_string())?;
    let mut tried = BTreeSet::new();
    for ((fill, size, name), found) in asked.iter().zip(found.as_array().unwrap()) {
        let right = sha256(&generate::contents(fill, SEED, name, *size));
        hold(*found == right, &format!("{fill:?}, {size} bytes: other bytes"), "")?;
        tried.insert(name_of(&serde_json::to_value(fill).unwrap()));
    }
    hold(kinds.is_subset(&tried), &format!("the catalogue has {kinds:?}; tried: {tried:?}"), "")
}

/// An adapter that says that it runs these widths, and lets a text choose.
fn adapter(min: u32, max: u32) -> String {
    let getter = |name: &str, width: u32| {
        format!(
            "Object.defineProperty(GPUAdapterInfo.prototype, '{name}', {{ get() {{ return {width}; }} }});"
        )
    };
    getter("subgroupMinSize", min) + &getter("subgroupMaxSize", max)
}

/// Of several widths those are counted that the browser runs when a text fixes them; another is named and costs
/// nothing, and where none can be fixed, what runs is counted.
pub(super) fn widths() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let ids = |run: &Run| run.devices.iter().map(|device| device.id.clone()).collect::<Vec<_>>();
    measure(&mut browser, &with_worker(small_page(), &adapter(4, 8), ""))?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    hold(
        shown.contains("Nothing was counted at 8 lanes"),
        "the refused width is not named",
        &shown,
    )?;
    let fixed = ids(&run).len() == 1 && ids(&run)[0].ends_with("-w4");
    hold(fixed, &format!("{:?}", ids(&run)), &shown)?;
    let equal = browser.value("[all_blocks(4).total > 100, all_blocks(4).different.length]")?;
    hold(equal == json!([true, 0]), &format!("counts at the fixed width: {equal}"), &shown)?;
    let known = run.measurements.iter().all(|measurement| {
        measurement.subgroup_width.map(Width::lanes) == Some(LANES)
            && !flag::has(&measurement.flags, &Tag::WidthNotKnownWhenTimed)
    });
    hold(known, "the record does not have the fixed width", &shown)?;
    // A browser that takes the text and runs another width.
    let ignored = adapter(4, 8)
        + "const made = GPUDevice.prototype.createShaderModule;
           GPUDevice.prototype.createShaderModule = function (asked) {
             return made.call(this, { ...asked, code: asked.code.replace('@subgroup_size(8) ', '') }); };";
    measure(&mut browser, &with_worker(small_page(), &ignored, ""))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("its subgroups have 4 lanes"), "the other width is not named", &shown)?;
    hold(ids(&record(&mut browser)?).len() == 1, "a width is made up", &shown)?;
    // Two widths have a table and a device each.
    let believed = "const honest = find_width;
        find_width = async (width) => { await honest(width); if (width !== null) seen.width_run = width; };";
    measure(&mut browser, &with_worker(small_page(), &ignored, believed))?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    let both = ids(&run).len() == 2 && ids(&run)[1].ends_with("-w8");
    hold(
        both && shown.contains("At 4 lanes") && shown.contains("At 8 lanes"),
        "two tables",
        &shown,
    )?;
    let differ = browser.value("[4, 8].map((width) => all_blocks(width).different.length > 0)")?;
    hold(differ == json!([false, true]), &format!("a false width: {differ}"), &shown)?;
    measure(&mut browser, &with_worker(small_page(), &adapter(8, 16), ""))?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    let [device] = &run.devices[..] else { return Err(format!("{:?}", ids(&run))) };
    let measured = device.subgroup_width_run.map(Width::lanes) == Some(LANES);
    let flagged = flag::has(&device.flags, &Tag::SubgroupWidthMisreported);
    hold(measured && flagged && !run.measurements.is_empty(), "what runs is not counted", &shown)
}

/// Every kernel of the catalogue that a page can hold is taken by Chromium, has the simulator's counts in every
/// block, and no wrong output.
pub(super) fn catalogue_whole() -> Result<(), String> {
    let page = whole_page();
    let mut browser = Browser::open()?;
    let html = patient(&page.html)?;
    browser.ask("Page.setBypassCSP", &json!({"enabled": true}))?;
    browser.show(&with_worker(&html, "", "time_all = async () => {};"), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    browser.value("document.getElementById('start').click()")?;
    browser.wait_for("!state.running", WHOLE_MAX)?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    let left_out = page.left_out.len();
    let there: BTreeSet<&str> =
        run.measurements.iter().map(|measurement| measurement.kernel.as_str()).collect();
    let portable = catalogue().kernels().count();
    hold(
        there.len() + left_out >= portable,
        &format!("{} kernels of {portable}", there.len()),
        &shown,
    )?;
    short_link(&mut browser)?;
    let mut simulator = SimulatorRunner::new(Width::new(LANES).unwrap(), STEPS_MAX);
    let (mut blocks, mut verified, mut failed) = (0, 0, Vec::new());
    for measurement in &run.measurements {
        let name = format!("{} {:?}", measurement.kernel, measurement.parameters);
        if measurement.status != Status::Ok {
            failed.push(format!("{name}: {:?}", measurement.error));
            continue;
        }
        let kernel = catalogue().kernel(&measurement.kernel).unwrap();
        let launch =
            kernel.launch(DeviceClass::Quick, &measurement.parameters, measurement.seed).unwrap();
        hold(measurement.output != Output::Mismatch, &format!("{name}: wrong output"), &shown)?;
        verified += usize::from(measurement.output == Output::Verified);
        if launch.exempt_from_agreement.is_some() {
            continue;
        }
        let counted = simulator.count_once(&launch, &CountRequest::once(Method::Executed));
        let counted = counted.map_err(|error| format!("{name}: {}", error.message))?;
        for (on_page, other) in measurement.dispatches.iter().zip(&counted.dispatches) {
            let same = on_page.blocks.len() == other.counts.len()
                && on_page.blocks.iter().zip(&other.counts).all(|(block, other)| {
                    block.executions == other.executions && block.lanes == other.lanes
                });
            hold(same, &format!("{name}: counts differ"), &shown)?;
            blocks += on_page.blocks.len();
        }
    }
    // JavaScript writes 1.0 as 1; a record of the page has the parameters that this program's have.
    let real = run.measurements.iter().flat_map(|measurement| measurement.parameters.values());
    let whole = real.filter(|value| matches!(value, Parameter::Real(real) if real.fract() == 0.0));
    hold(whole.count() > 0, "no real parameter is a whole number", "")?;
    hold(failed.is_empty(), &format!("refused or failed: {failed:#?}"), &shown)?;
    let text = format!("{blocks} blocks, {verified} outputs");
    hold(blocks > 7000 && verified >= 55, &text, &shown)
}

/// A link holds the whole catalogue with times, whose digits no packing makes shorter.
fn short_link(browser: &mut Browser) -> Result<(), String> {
    let bytes = browser.value(
        "(async () => {
           let timed = 0;
           for (const result of state.results.values()) {
             if (!data.launches[result.launch].timed || !result.dispatches) continue;
             timed++;
             result.timed = { size: result.size };
             result.samples = Array.from({ length: 9 }, (_, round) =>
               ({ round, begin: 0, end: 1e6 * (1 + Math.random()), repeats: 1, before: 0, size: result.size }));
           }
           return [timed, (await to_link(state, $('page').textContent)).length];
         })()",
    )?;
    let right = bytes[0].as_u64() > Some(50) && bytes[1].as_u64() <= Some(LINK_BYTES_MAX);
    hold(right, &format!("launches with times and bytes of the link: {bytes}"), "")
}

/// The record that is saved, and the one that is shared, are those of the page; what takes time is told.
pub(super) fn check_saved() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let folder = tempfile::tempdir().unwrap();
    let downloads = json!({"behavior": "allow", "downloadPath": folder.path()});
    browser.ask("Page.setDownloadBehavior", &downloads)?;
    // Chromium on a desktop has no sheet to share with.
    let sheet = "navigator.canShare = () => true;
        navigator.share = async ({ files: [file] }) => {
          if (window.refused) throw new Error('nobody is there');
          window.given = [file.name, await file.text()]; };";
    browser.ask("Page.addScriptToEvaluateOnNewDocument", &json!({"source": sheet}))?;
    browser.show(small_page(), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    let ready = browser.text("$('status').textContent")?;
    hold(ready.contains("launches"), "it does not say how much there is to do", &ready)?;
    browser.value("document.getElementById('start').click()")?;
    browser.wait_for(
        r"$('progress').value > 0 && /^\d+ of \d+ launches counted, \d+ s so far; .* about \d+ s more/.test($('time').textContent)",
        RUN_MAX,
    )?;
    browser.wait_for("!state.running", RUN_MAX)?;
    let shown = browser.text("document.body.innerText")?;
    let hidden = browser.value("$('going').hidden")?;
    let ended = browser
        .value(r"$('status').textContent.match(/Done in \d+ s: (\d+) of (\d+) launches/)")?;
    hold(
        hidden == true && ended.as_array().is_some_and(|all| all[1] == all[2]),
        "the end",
        &shown,
    )?;
    browser.value("$('save').click()")?;
    let path = folder.path().join("result.json");
    browser.wait_for("$('shared').textContent.startsWith('Saved')", RUN_MAX)?;
    let mut saved = None;
    for _ in 0..100 {
        saved = store::load(&path).ok();
        if saved.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let run = record(&mut browser)?;
    hold(saved.as_ref() == Some(&run), "the saved record is another", &shown)?;
    browser.value("$('send').click()")?;
    browser.wait_for("window.given", RUN_MAX)?;
    let given = browser.value("window.given")?;
    let text = given[1].as_str().unwrap_or_default();
    let sent =
        store::decode(text.as_bytes(), Path::new("result.json")).map_err(|e| e.to_string())?;
    hold(sent == run && given[0] == "result.json", "another record is shared", &shown)?;
    let private = browser.text("location.pathname")?;
    let folder = Path::new(&private).parent().unwrap().to_string_lossy().into_owned();
    hold(!text.contains(&folder) && !text.contains("file:"), "the record has a path", text)?;
    browser.value("window.refused = true; $('send').click()")?;
    browser.wait_for("$('shared').textContent.includes('nobody is there')", RUN_MAX)?;
    progress(&mut browser)
}

/// The time left falls while a launch runs, and is not known where the launch takes longer than was thought; what
/// is stopped is not called done.
fn progress(browser: &mut Browser) -> Result<(), String> {
    let told = browser.value(
        "(() => {
           const kept = state.results;
           Object.assign(state, { results: new Map([...kept].slice(0, 5)), rest: null });
           const told = [10, 20, 40].map((seconds) => {
             state.begun = performance.now() - 1000 * seconds;
             show_progress();
             return $('time').textContent;
           });
           state.results = kept;
           return told;
         })()",
    )?;
    let expected = ["about 30 s more", "about 20 s more", "slow launches: the time left is not"];
    for (told, expected) in told.as_array().into_iter().flatten().zip(expected) {
        let told = told.as_str().unwrap_or_default();
        hold(told.contains(expected), &format!("not {expected}"), told)?;
    }
    browser.value("$('start').click()")?;
    browser.wait_for("state.results.size > 2", RUN_MAX)?;
    browser.value("$('stop').click()")?;
    let told = browser.text("$('status').textContent")?;
    let right = browser.value(
        r"/^Stopped after \d+ s, \d+ of 20 launches done\.$/.test($('status').textContent)",
    )?;
    hold(right == true && !told.contains("Done"), "a stop", &told)
}

/// Shows as the page does what it would have measured: of `branch_by_lane` times so many times its baseline's,
/// each of `rounds`; gives its row, the answer and what stands beneath the drift.
fn show_times(browser: &mut Browser, baseline_ms: &Value, ratios: &Value) -> Result<Value, String> {
    browser.value(&format!(
        "((baseline, ratios) => {{
           for (const result of state.results.values()) {{
             if (data.launches[result.launch].part !== null) continue;
             const own = (i) => (data.launches[result.launch].baseline === null ? 1 : ratios[i]);
             result.timed = {{ size: result.size, output: 'verified' }};
             result.samples = baseline.map((ms, round) => ({{ round, begin: 0, end: 1e6 * ms * own(round), repeats: 1, before: 0, size: result.size }}));
           }}
           render();
           const row = [...document.querySelectorAll('#tables tr')].find((one) => one.innerText.startsWith('branch_by_lane, sealed'));
           const drift = [...document.querySelectorAll('figure')].find((one) => one.querySelector('h3').textContent === 'Drift');
           return [row.cells[3].textContent, $('sentences').innerText, drift.querySelector('figcaption').textContent,
             [...drift.querySelectorAll('text')].map((one) => one.textContent).join(), document.querySelectorAll('line.interval').length];
         }})({baseline_ms}, {ratios})"
    ))
}

/// A ratio stands with its interval; one that is not told apart from 1 is not said to cost time; noise is named,
/// and so are the lowest and the highest of the rounds; and a link tells the same.
pub(super) fn noise() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let untimed = with_worker(small_page(), "", "time_all = async () => {};");
    measure(&mut browser, &untimed)?;
    let shown = browser.text("$('sentences').innerText")?;
    hold(shown.contains("There are no times to compare."), "times are made up", &shown)?;
    let steady = json!([100, 99, 97, 100, 101, 100, 102, 100, 108]);
    let has = |told: &Value, at: usize, words: &str| {
        let text = told[at].as_str().unwrap_or_default();
        hold(text.contains(words), &format!("{words:?} is not there"), &told.to_string())
    };
    let lacks = |told: &Value, at: usize, words: &str| {
        let text = told[at].as_str().unwrap_or_default();
        hold(!text.contains(words), &format!("{words:?} is there"), &told.to_string())
    };
    let firm = json!([2.0, 2.01, 1.99, 2.0, 2.02, 1.98, 2.0, 2.01, 2.0]);
    let told = show_times(&mut browser, &steady, &firm)?;
    has(&told, 0, "2.000× (")?;
    lacks(&told, 0, "told apart")?;
    lacks(&told, 0, "noisy")?;
    has(&told, 1, "branch_by_lane, sealed takes 2.000× its baseline's time (95 % interval: ")?;
    lacks(&told, 1, "noisy")?;
    has(&told, 2, "Time of uniform, sealed in 9 rounds")?;
    has(&told, 2, "lowest −3.0 %, highest +8.0 %.")?;
    has(&told, 3, "time against the first round")?;
    has(&told, 3, "rounds 1 to 9")?;
    hold(told[4] == 2, "an interval is not drawn", &told.to_string())?;
    let unsure = json!([1.38, 0.9, 1.5, 0.95, 1.4, 0.97, 1.6, 1.38, 0.9]);
    let told = show_times(&mut browser, &steady, &unsure)?;
    has(&told, 0, "1.380× (0.9")?;
    has(&told, 0, "), not told apart from 1, noisy")?;
    has(
        &told,
        1,
        "The time of branch_by_lane, sealed is not told apart from its baseline's: 1.380× (",
    )?;
    has(&told, 1, "These times are noisy.")?;
    lacks(&told, 1, " takes ")?;
    // Few rounds are noise, too, and a link keeps all of it.
    let told = show_times(&mut browser, &json!([100, 100, 100]), &json!([2.0, 2.0, 2.0]))?;
    has(&told, 0, "2.000× (2.000× to 2.000×), noisy")?;
    let fragment = browser.text("to_link(state, $('page').textContent)")?;
    browser.show(&untimed, &format!("#{fragment}"))?;
    browser.wait_for("state.opened", RUN_MAX)?;
    let opened = browser.text("$('tables').innerText + $('sentences').innerText")?;
    let kept = opened.contains("2.000× (2.000× to 2.000×), noisy") && opened.contains("are noisy.");
    hold(kept, "a link leaves out what is not firm", &opened)
}

/// A browser that cannot unpack the page's data is told so; nothing else is there to press.
pub(super) fn old_browser() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let old = json!({"source": "delete window.DecompressionStream;"});
    browser.ask("Page.addScriptToEvaluateOnNewDocument", &old)?;
    browser.show(small_page(), "")?;
    browser.wait_for("$('status').textContent.includes('cannot unpack')", RUN_MAX)?;
    let closed = browser.value("$('start').disabled")?;
    let shown = browser.text("document.body.innerText")?;
    hold(closed == true && shown.contains("there is no record"), "a button is open", &shown)
}

/// A link of a page on a disk tells no folder; one of a page on a server is whole; a page that is open follows
/// one, makes no record of it, and reads none to its end that unpacks to more than it may.
pub(super) fn links() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let clipboard = "Object.defineProperty(navigator, 'clipboard', { value: {
        async writeText(text) { if (window.closed_to_all) throw new Error('no'); window.copied = text; } } });";
    browser.ask("Page.addScriptToEvaluateOnNewDocument", &json!({"source": clipboard}))?;
    measure(&mut browser, small_page())?;
    let table = browser.text("$('tables').innerText")?;
    let private = browser.text("location.pathname")?;
    for closed in [false, true] {
        browser.value(&format!("window.copied = ''; window.closed_to_all = {closed}; $('shared').textContent = ''; $('link').click()"))?;
        browser.wait_for("$('shared').textContent.includes('#') ", RUN_MAX)?;
        let told = browser.text("$('shared').textContent")?;
        let copied = browser.text("window.copied")?;
        let out = format!("{told} {copied}");
        hold(!out.contains(&private) && !out.contains("file:"), "the link has a path", &out)?;
        hold(out.contains("#r="), "there is no link", &out)?;
        hold(told.contains("This page is a file"), "nothing says that a part is missing", &told)?;
    }
    let hash = browser.text("location.hash")?;
    hold(hash.is_empty(), "the address bar has the link beside the path", &hash)?;
    let fragment = browser.text("to_link(state, $('page').textContent)")?;
    // From a server: the whole address, and the policy holds there too.
    let address = browser.serve(small_page(), "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    browser.value(&format!("location.hash = {}", json!(fragment)))?;
    browser.wait_for("state.opened", RUN_MAX)?;
    let opened = browser.text("$('tables').innerText")?;
    hold(opened == table, &format!("another table:\n{opened}"), &table)?;
    let keeps = browser.value("$('share').hidden")?;
    hold(keeps == true, "a link's figures are offered as a record", "")?;
    browser.value("window.copied = ''; $('link').click()")?;
    browser.wait_for("window.copied", RUN_MAX)?;
    let copied = browser.text("window.copied")?;
    hold(copied == format!("{address}#{fragment}"), "the link of a server's page", &copied)?;
    let foreign: Vec<&String> = browser
        .requests
        .iter()
        .filter(|url| !is_local(url) && !url.starts_with(&address))
        .collect();
    hold(foreign.is_empty(), &format!("the page asked for {foreign:?}"), "")?;
    policy(&mut browser)?;
    let bomb = browser.text(
        "through(new CompressionStream('deflate-raw'), new Uint8Array(1 << 24)).then((bytes) => 'r=' + to_url(bytes))",
    )?;
    let wrong = browser.text(
        "through(new CompressionStream('deflate-raw'), new TextEncoder().encode(JSON.stringify([2, $('page').textContent, [], [], [[9999, null, 0, 0, 0]]]))).then((bytes) => 'r=' + to_url(bytes))",
    )?;
    for (link, why) in
        [(bomb, "it is too long"), (wrong, "garbled"), ("r=AAAA".to_owned(), "garbled")]
    {
        browser.value(&format!("$('status').textContent = ''; location.hash = {}", json!(link)))?;
        browser.wait_for(&format!("$('status').textContent.includes({})", json!(why)), RUN_MAX)?;
    }
    Ok(())
}

/// A device that is lost in every launch of full size costs none of them; one that is lost in every launch
/// ends with a sentence and a record of what failed; and one that is gone for good keeps what was counted.
pub(super) fn lost() -> Result<(), String> {
    let usual = web::page(catalogue(), &web::usual(catalogue())).map_err(|e| e.to_string())?;
    let mut browser = Browser::open()?;
    let lost_if = |condition: &str| {
        format!(
            "const whole = count;
             count = async (number, at, width) => {{
               if ({condition}) device.destroy();
               return whole(number, at, width);
             }};"
        )
    };
    let large = lost_if("at === 0 && data.launches[number].sizes.length > 1");
    measure(&mut browser, &with_worker(&usual.html, "", &large))?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    let counted = run.measurements.iter().all(|measurement| measurement.status == Status::Ok);
    let kernels: BTreeSet<&str> =
        run.measurements.iter().map(|measurement| measurement.kernel.as_str()).collect();
    let all = kernels.len() == web::usual(catalogue()).len();
    hold(counted && all, &format!("{} kernels", kernels.len()), &shown)?;
    hold(shown.contains("and so is all that follows"), "no sentence", &shown)?;
    measure(&mut browser, &with_worker(small_page(), "", &lost_if("true")))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("It ended early: the device was lost"), "no sentence", &shown)?;
    let run = record(&mut browser)?;
    let failed = run.measurements.iter().all(|measurement| measurement.status == Status::Failed);
    hold(failed && !run.measurements.is_empty(), "no record of what failed", &shown)?;
    // The browser gives no device after the first was lost.
    let gone = lost_if("number === 5");
    let html = with_worker(small_page(), "", &gone);
    let html = html.replacen("worker = worker_of(\"worker\");", "worker = worker_of(\"worker\"); if (workers > 1) worker.postMessage = () => setTimeout(() => heard({ kind: 'failed', code: 'no_adapter', message: 'none' }));", 1);
    browser.ask("Page.setBypassCSP", &json!({"enabled": true}))?;
    measure(&mut browser, &html)?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("gives this page no device any more"), "no sentence", &shown)?;
    let run = record(&mut browser)?;
    hold(run.measurements.len() >= 5, "what was counted is gone", &shown)
}
