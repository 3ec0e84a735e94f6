//! The pages for browsers, in Chromium on SwiftShader's WebGPU: the one that measures, and the one on
//! which one pastes a shader.
//!
//! Input: pages of `lanescope::web`. Output: trials. Each opens a page from disk, presses its button
//! and reads what it shows and keeps. What a device lacks is played by a few lines before or behind
//! the worker's own: every step of what may be missing ends in a sentence, with a record or without.

mod access;
mod browser;
mod measuring;
mod paste;
mod pictures;
mod reading;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use lanescope::analyze::Work;
use lanescope::kernel::{Catalogue, DeviceClass, Kernel};
use lanescope::record::{DeviceKind, Measurement, Method, Output, Run, Status, Tag, Trust, flag};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Runner};
use lanescope::units::text::{percent, ratio};
use lanescope::units::{Ratio, Width};
use lanescope::{store, web};
use libtest_mimic::Trial;

use crate::portable::chromium;
use crate::support::trial_needing;
use browser::{Browser, is_local, with_worker};

/// The longest run of a page.
const RUN_MAX: Duration = Duration::from_secs(240);

/// The most bytes of a page of the usual kernels.
const PAGE_BYTES_MAX: usize = 155_000;

/// The most bytes of what a link says.
const LINK_BYTES_MAX: u64 = 2048;

/// Lanes of SwiftShader's subgroups.
const LANES: u32 = 4;

/// Says what is wrong.
type Check = fn() -> Result<(), String>;

/// The trials, skipped where there is no browser, unless that is required.
pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 16] = [
        ("counts_are_the_simulators_and_outputs_right", whole),
        ("a_falsified_counter_is_shown_as_different", falsified),
        ("what_is_missing_ends_in_a_sentence", missing),
        ("timestamps_are_used_where_they_are_fine_enough", clocks),
        ("what_ends_a_device_costs_no_result", ending),
        ("keys_and_a_narrow_screen_are_enough", access::keys_and_targets),
        ("inputs_have_the_bytes_of_this_program", measuring::bytes),
        ("widths_that_can_be_fixed_are_each_counted", measuring::widths),
        ("the_whole_catalogue_counts_as_the_simulator", measuring::catalogue_whole),
        ("a_record_is_saved_and_shared", measuring::check_saved),
        ("what_times_do_not_tell_is_said", measuring::noise),
        ("a_browser_that_cannot_unpack_is_told", measuring::old_browser),
        ("links_tell_no_folder_and_are_followed", measuring::links),
        ("a_lost_device_keeps_what_was_counted", measuring::lost),
        ("pages_are_read_on_every_screen", reading::on_every_screen),
        ("pages_are_printed_on_a4", reading::on_paper),
    ];
    let chromium = chromium::program().is_some();
    let trials = checks.into_iter().map(|(name, check)| trial(name, check, "chromium", chromium));
    let audited = chromium && access::axe().is_some();
    let audit = trial("axe_finds_nothing", access::nothing_found, "axe", audited);
    let galleries = trial("axe_finds_nothing_in_a_gallery", access::gallery, "axe", audited);
    let pages = trial("axe_finds_nothing_in_reports", reading::by_everybody, "axe", audited);
    let pasted: [(&str, Check); 7] = [
        ("paste_has_the_native_figures", paste::native_figures),
        ("paste_shows_lines_at_once", paste::lines_at_once),
        ("paste_has_limits_and_links", paste::limits_and_links),
        ("paste_is_stopped_and_goes_on", paste::stopped_and_gone_on),
        ("paste_counts_on_a_gpu", paste::on_a_gpu),
        ("paste_says_what_it_does_not_take", paste::what_it_does_not_take),
        ("paste_saves_the_record_of_the_core", paste::saved),
    ];
    let core = chromium && paste::core().is_some();
    let pasted = pasted.into_iter().map(|(name, check)| trial(name, check, "paste", core));
    let everybody = trial("paste_is_for_everybody", paste::for_everybody, "paste", core && audited);
    let asked = core && pictures::folder().is_some();
    let pictures = trial("pictures", pictures::make, "LANESCOPE_PICTURES", asked);
    trials.chain([audit, galleries, pages]).chain(pasted).chain([everybody, pictures]).collect()
}

/// A check that needs something, as a trial: skipped without, unless that is required.
fn trial(name: &str, check: Check, needed: &str, is_there: bool) -> Trial {
    let missing = (!is_there).then(|| format!("{needed} is not there"));
    trial_needing(format!("web::{name}"), missing, needed, check)
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::embedded().unwrap())
}

/// A page of the self-test, a kernel and its baseline.
fn small_page() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| {
        let ids = ["five_patterns/uniform", "five_patterns/branch_by_lane"];
        let kernels: Vec<&Kernel> = ids.iter().map(|id| catalogue().kernel(id).unwrap()).collect();
        web::page(catalogue(), &kernels).unwrap().html
    })
}

/// Opens a page, presses its button, and waits until it says that it is done.
fn measure(browser: &mut Browser, html: &str) -> Result<(), String> {
    browser.show(html, "")?;
    browser.wait_for("!document.getElementById('start').disabled", RUN_MAX)?;
    browser.value("document.getElementById('start').click()")?;
    browser.wait_for("!state.running", RUN_MAX)
}

/// The record that a page would save.
fn record(browser: &mut Browser) -> Result<Run, String> {
    let text = browser.text("file().text()")?;
    store::decode(text.as_bytes(), Path::new("result.json")).map_err(|error| error.to_string())
}

/// Says what does not hold.
fn hold(holds: bool, what: &str, shown: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}; the page says:\n{shown}")) }
}

/// Every block of every kernel has the simulator's counts, as it counts them here; outputs are
/// right; nothing was asked for; the record and the link say what the page says.
fn whole() -> Result<(), String> {
    let page = web::page(catalogue(), &web::usual(catalogue())).map_err(|e| e.to_string())?;
    let bytes = page.html.len();
    hold(bytes <= PAGE_BYTES_MAX, &format!("the page has {bytes} bytes"), "")?;
    hold(page.left_out.is_empty(), "kernels are left out", &page.left_out.join("\n"))?;
    let mut browser = Browser::open()?;
    measure(&mut browser, &page.html)?;
    let shown = browser.text("document.body.innerText")?;
    let run = record(&mut browser)?;
    agree(&run, &shown)?;
    answer(&run, &mut browser)?;
    let foreign: Vec<&String> = browser.requests.iter().filter(|url| !is_local(url)).collect();
    hold(foreign.is_empty(), &format!("the page asked for {foreign:?}"), &shown)?;
    policy(&mut browser)?;
    link(&mut browser, &page.html)?;
    report(&run)
}

/// The page answers its own question with the record's figures, in words that it explains.
fn answer(run: &Run, browser: &mut Browser) -> Result<(), String> {
    let patterns = run
        .measurements
        .iter()
        .filter(|measurement| measurement.kernel.starts_with("five_patterns/"));
    // Of the sizes of a launch the first is what was counted; a larger one was timed.
    let shares: BTreeMap<String, f64> = patterns
        .rev()
        .map(|measurement| {
            let key = format!("{} {:?}", measurement.kernel, measurement.parameters.get("form"));
            (key, 1.0 - measurement.active_lanes_mean.unwrap_or_default() / f64::from(LANES))
        })
        .collect();
    let mean = shares.values().sum::<f64>() / shares.len() as f64;
    let (most, share) = shares.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let most = most.split(' ').next().unwrap();
    // Of forms that are the same to a percent the page shows the first, which is sealed.
    let is_sealed = |key: &str| key.split(' ').next() == Some(most) && key.contains("sealed");
    let share = shares.iter().find(|(key, _)| is_sealed(key)).map_or(*share, |(_, share)| *share);
    let three = browser.text("String($('sentences').children.length)")?;
    hold(three == "3", "the answer has three sentences", &three)?;
    let told = browser.text("$('sentences').innerText + $('runs').innerText")?;
    let operations = |kernel: &str| {
        let is_it = |measurement: &&Measurement| {
            let form = measurement.parameters.get("form").map(ToString::to_string);
            measurement.kernel == kernel
                && form.as_deref() == Some("sealed")
                && measurement.time.is_some()
        };
        let timed = run.measurements.iter().find(is_it);
        let timed = timed.ok_or_else(|| format!("{kernel} was not timed"))?;
        Ok::<f64, String>(Work::from_measurement(timed).subgroup_operations as f64)
    };
    let predicted = operations(most)? / operations("five_patterns/uniform")?;
    let expected = [
        format!("Of {LANES} lanes a subgroup, {} wait on average over 5 ", percent(Ratio(mean))),
        format!("; most wait in {most}, sealed: {}.", percent(Ratio(share))),
        format!(
            "runs subgroups of {LANES} lanes: a kernel measured it. The browser reports 4 too."
        ),
        format!("{most}, sealed takes "),
        "× its baseline's time (95 % interval: ".to_owned(),
        format!("; counts predict {}×.", ratio(predicted)),
    ];
    for words in expected {
        hold(told.contains(&words), &format!("{words:?} is not there"), &told)?;
    }
    // What has no n has its size, and what has no time says so.
    let row = "[...document.querySelectorAll('#tables tr')].find((one) => one.innerText.startsWith('image_tiles')).innerText";
    let row = browser.text(row)?;
    let sized = row.contains("256 × 128") && row.contains("not timed");
    hold(sized, "neither a size nor why there is no time", &row)?;
    let words = browser.text("$('words').querySelector('ul').textContent")?;
    let count = words.split_whitespace().count();
    hold(count <= 90, &format!("{count} words explain the others"), &words)?;
    let explained = ["sealed", "published", "predicted", "equal blocks", "grain", "trips, 256"];
    for word in explained {
        hold(words.contains(word), &format!("{word} is not explained"), &words)?;
    }
    Ok(())
}

/// Whether a record's counts are those of a simulator of the width that ran.
fn agree(run: &Run, shown: &str) -> Result<(), String> {
    let [device] = &run.devices[..] else { return Err("one device is expected".to_owned()) };
    hold(device.kind == DeviceKind::Web && device.id.starts_with("web:"), &device.id, shown)?;
    let width = device.subgroup_width_run.map(Width::lanes);
    hold(width == Some(LANES), &format!("it runs {width:?} lanes"), shown)?;
    hold(device.trust == Some(Trust::Observed), "the self-test did not pass", shown)?;
    hold(device.self_test.len() == 16, "parts of the self-test are missing", shown)?;
    hold(flag::has(&device.flags, &Tag::Unattested), "it is not marked as unattested", shown)?;
    let mut simulator = SimulatorRunner::new(Width::new(LANES).unwrap(), STEPS_MAX);
    let (mut blocks, mut verified, mut timed) = (0, 0, 0);
    for measurement in &run.measurements {
        let name = format!("{} {:?}", measurement.kernel, measurement.parameters);
        hold(
            measurement.status == Status::Ok,
            &format!("{name} failed: {:?}", measurement.error),
            shown,
        )?;
        let kernel = catalogue().kernel(&measurement.kernel).unwrap();
        let launch =
            kernel.launch(DeviceClass::Quick, &measurement.parameters, measurement.seed).unwrap();
        let counted = simulator.count_once(&launch, &CountRequest::once(Method::Executed));
        let counted = counted.map_err(|error| error.message)?;
        for (on_page, other) in measurement.dispatches.iter().zip(&counted.dispatches) {
            hold(on_page.blocks.len() == other.counts.len(), &format!("{name}: blocks"), shown)?;
            for (block, other) in on_page.blocks.iter().zip(&other.counts) {
                let same = block.executions == other.executions && block.lanes == other.lanes;
                hold(same, &format!("{name}, block {}: {block:?} ≠ {other:?}", block.id), shown)?;
                blocks += 1;
            }
        }
        if launch.reference.is_some() {
            let right = measurement.output == Output::Verified;
            hold(
                right,
                &format!("{name}: {:?} {:?}", measurement.output, measurement.error),
                shown,
            )?;
            verified += 1;
        }
        timed += usize::from(measurement.time.is_some());
    }
    let text = format!("{blocks} blocks, {verified} outputs, {timed} times");
    hold(blocks > 200 && verified >= 14 && timed >= 10, &text, shown)
}

/// The policy holds: neither a script that is put in nor a request gets through.
fn policy(browser: &mut Browser) -> Result<(), String> {
    let tried = browser.value(
        "(async () => {
            const broken = [];
            document.addEventListener('securitypolicyviolation', (e) => broken.push(e.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.injected = true';
            document.body.append(script);
            const styled = document.createElement('p');
            styled.setAttribute('style', 'color: red');
            document.body.append(styled);
            const fetched = await fetch('http://127.0.0.1:9/').then(() => true, () => false);
            await new Promise((done) => setTimeout(done, 200));
            return [window.injected === true, fetched, broken.sort().join()];
        })()",
    )?;
    let expected = serde_json::json!([false, false, "connect-src,script-src-elem,style-src-attr"]);
    hold(tried == expected, &format!("the policy lets through: {tried}"), "")
}

/// A link opens to the same table.
fn link(browser: &mut Browser, html: &str) -> Result<(), String> {
    const TABLE: &str = "document.getElementById('tables').innerText";
    let table = browser.text(TABLE)?;
    let fragment = browser.text("to_link(state, document.getElementById('page').textContent)")?;
    let bytes = fragment.len() as u64;
    hold(bytes <= LINK_BYTES_MAX, &format!("the link has {bytes} bytes"), &fragment)?;
    browser.show(html, &format!("#{fragment}"))?;
    browser.wait_for("state.opened", RUN_MAX)?;
    let opened = browser.text(TABLE)?;
    hold(opened == table, &format!("the link opens to another table:\n{opened}\n{table}"), "")?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("Unattested"), "the table is not marked as unattested", &shown)?;
    browser.show(html, "#r=AAAA")?;
    browser.wait_for("document.getElementById('status').textContent.includes('garbled')", RUN_MAX)
}

/// `lanescope report` shows the record beside a simulator's of the same width.
#[expect(clippy::disallowed_methods, reason = "a record that a test hands over")]
fn report(run: &Run) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let bytes = store::encode(run, &file).map_err(|error| error.to_string())?;
    std::fs::write(&file, bytes).unwrap();
    let program = || std::process::Command::new(env!("CARGO_BIN_EXE_lanescope"));
    let size = format!("n={}", 16384);
    let simulated = folder.path().join("simulated");
    let counted = program()
        .args(["run", "--device", "sim:4", "-a", &size, "--out"])
        .arg(&simulated)
        .output()
        .unwrap();
    hold(counted.status.success(), "the simulator", &String::from_utf8_lossy(&counted.stderr))?;
    let both = program().arg("report").args([&file, &simulated]).output().unwrap();
    let text = String::from_utf8_lossy(&both.stdout).into_owned();
    let told = String::from_utf8_lossy(&both.stderr).into_owned();
    hold(both.status.success(), "the report fails", &told)?;
    let devices = ["web:", "sim:4"].iter().all(|device| text.contains(device));
    hold(devices && !text.contains("differs_from_simulator"), "the report", &text)
}

/// A counter that is falsified is shown, and nothing else is.
fn falsified() -> Result<(), String> {
    let html = with_worker(
        small_page(),
        "",
        "const right = decode; let decoded = 0;
         decode = (how, words) => {
           const counts = right(how, words);
           if (++decoded === data.launches.length) counts[0][0] += 1;
           return counts;
         };",
    );
    let mut browser = Browser::open()?;
    measure(&mut browser, &html)?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("Blocks that differ: 1"), "the block is not shown", &shown)?;
    hold(shown.contains("others do not, in branch_by_lane"), "no sentence says so", &shown)?;
    let bad = browser.value("document.querySelectorAll('td.bad').length")?;
    hold(bad == 1, &format!("{bad} cells are marked"), &shown)?;
    // A reference that expects another thing finds every output wrong.
    let after = "const exact = steps; steps = (a, b, times) => exact(a * 1.001, b, times);";
    measure(&mut browser, &with_worker(small_page(), "", after))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("mismatch"), "a wrong output is not shown", &shown)?;
    let run = record(&mut browser)?;
    let wrong = run.measurements.iter().any(|measurement| measurement.output == Output::Mismatch);
    hold(wrong, "a wrong output is not recorded", &shown)
}

/// What a page's worker finds missing, and what then stands in the page and in the record.
fn missing() -> Result<(), String> {
    let without = |feature: &str| {
        format!(
            "const has = Object.getOwnPropertyDescriptor(GPUAdapter.prototype, 'features').get;
             Object.defineProperty(GPUAdapter.prototype, 'features', {{ get() {{
               return new Set([...has.call(this)].filter((name) => name !== '{feature}')); }} }});"
        )
    };
    let mut browser = Browser::open()?;
    let refusals = [
        ("Object.defineProperty(navigator, 'gpu', { value: undefined });", "offers no WebGPU"),
        (
            "Object.defineProperty(navigator, 'gpu', { value: undefined });
             Object.defineProperty(self, 'isSecureContext', { value: false });",
            "this page came by plain http",
        ),
        ("navigator.gpu.requestAdapter = async () => null;", "gives this page no adapter"),
        (
            "GPUAdapter.prototype.requestDevice = async () => { throw new Error('no memory'); };",
            "gives this page no adapter",
        ),
        ("throw new Error('no worker.');", "no worker): try another browser or a newer driver."),
    ];
    for (before, sentence) in refusals {
        measure(&mut browser, &with_worker(small_page(), before, ""))?;
        let shown = browser.text("document.body.innerText")?;
        hold(shown.contains(sentence), &format!("after {before}"), &shown)?;
        hold(shown.contains("128 lanes"), "the simulator's table is missing", &shown)?;
        let saved = browser.value("document.getElementById('share').hidden")?;
        hold(saved == true, "a record is offered", &shown)?;
    }
    measure(&mut browser, &with_worker(small_page(), &without("subgroups"), ""))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("offers this page no subgroup operations"), "no sentence", &shown)?;
    let run = record(&mut browser)?;
    let [device] = &run.devices[..] else { return Err("one device is expected".to_owned()) };
    hold(device.subgroup_width_run.is_none(), "a width was made up", &shown)?;
    hold(device.trust == Some(Trust::Unknown), "it is trusted", &shown)?;
    for measurement in &run.measurements {
        let estimated = measurement.method == Some(Method::Estimated);
        let flagged = flag::has(&measurement.flags, &Tag::WidthAssumed);
        hold(estimated && flagged, &format!("{} is not an estimate", measurement.kernel), &shown)?;
    }
    // Lanes are exact, and of these kernels what is estimated is too.
    let differ = browser.value("all_blocks(null).different.length")?;
    hold(differ == 0, "estimates differ", &shown)?;
    measure(&mut browser, &with_worker(small_page(), &without("timestamp-query"), ""))?;
    let shown = browser.text("document.body.innerText")?;
    hold(shown.contains("There are no timestamps here"), "no sentence", &shown)?;
    let run = record(&mut browser)?;
    let mut timed =
        run.measurements.iter().filter(|measurement| measurement.time.is_some()).peekable();
    hold(timed.peek().is_some(), "nothing was timed", &shown)?;
    let flagged = timed.all(|measurement| flag::has(&measurement.flags, &Tag::WallClock));
    hold(flagged, "the wall clock is not flagged", &shown)
}

/// Timestamps in steps of 100 µs are used, those in steps of 1 ms are not.
fn clocks() -> Result<(), String> {
    let mut browser = Browser::open()?;
    for (step_ns, clock) in [(100_000, "timestamps"), (1_000_000, "wall")] {
        let after = format!(
            "const fine = read_stamps;
             read_stamps = (content) => fine(content).map((ns) => ns / {step_ns}n * {step_ns}n);"
        );
        measure(&mut browser, &with_worker(small_page(), "", &after))?;
        let shown = browser.text("document.body.innerText")?;
        let used = browser.text("state.seen.clock")?;
        hold(used == clock, &format!("steps of {step_ns} ns: {used}"), &shown)?;
        let run = record(&mut browser)?;
        let times: BTreeMap<&str, f64> = run
            .measurements
            .iter()
            .filter_map(|measurement| {
                Some((measurement.kernel.as_str(), measurement.time.as_ref()?.median_ns.0))
            })
            .collect();
        hold(times.len() == 2, &format!("times: {times:?}"), &shown)?;
        let quantum = run.devices[0].timestamp_quantum_ns.map(|ns| ns.0);
        let expected = (clock == "timestamps").then_some(f64::from(step_ns));
        // Steps that are seen are multiples of the timer's.
        let right = quantum.zip(expected).map_or(quantum == expected, |(q, e)| q % e == 0.0);
        hold(right, &format!("the step is {quantum:?}"), &shown)?;
    }
    Ok(())
}

/// A lost device, one that does not answer and a dispatch of over two seconds: what was counted
/// stays, and the launch is tried again at a quarter of its size.
fn ending() -> Result<(), String> {
    let mut browser = Browser::open()?;
    let ends = [
        (
            "const whole = count;
             count = async (number, at, width) => {
               if (data.launches[number].part === null && at === 0) setTimeout(() => device.destroy());
               return whole(number, at, width);
             };",
            "The device was lost",
        ),
        (
            "const patient = wait; let counting = false; const whole = count;
             count = (number, at, width) => { counting = data.launches[number].part === null && at === 0; return whole(number, at, width); };
             wait = (promise, limit) => counting ? patient(new Promise(() => {}), 100) : patient(promise, limit);",
            "The device did not answer",
        ),
        (
            "const quick = submit; const whole = count; let slow = 0;
             count = (number, at, width) => { slow = data.launches[number].part === null && at === 0 ? 2500 : 0; return whole(number, at, width); };
             submit = async (work, repeats) => await quick(work, repeats) + slow;",
            "Many systems end a dispatch after two seconds",
        ),
    ];
    for (after, sentence) in ends {
        measure(&mut browser, &with_worker(small_page(), "", after))?;
        let shown = browser.text("document.body.innerText")?;
        hold(shown.contains(sentence), &format!("after {after}"), &shown)?;
        let run = record(&mut browser)?;
        hold(run.devices[0].self_test.len() == 16, "results are gone", &shown)?;
        let smaller = run.measurements.iter().filter(|measurement| {
            measurement.parameters.get("n").is_some_and(|n| n.to_string() == "4096")
        });
        hold(smaller.count() > 0, "nothing was tried at a quarter of its size", &shown)?;
        let whole = run.measurements.iter().all(|measurement| measurement.status == Status::Ok);
        hold(whole, "a launch is left out", &shown)?;
        let differ = browser.value("all_blocks(null).different.length")?;
        hold(differ == 0, "counts differ", &shown)?;
    }
    Ok(())
}
