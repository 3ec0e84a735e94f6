//! WGSL as browsers take it: Chromium compiles every text that lanescope has or writes.
//!
//! Input: the catalogue, each kernel at its quick point, the corpus in `tests/wgsl`, and the probes of
//! `src/run/probes`, whose texts alone are compiled. Output:
//! trials, one for each [`Form`]: the text as committed, and what `program::portable` writes of the
//! plain module and of those that count, by each method. All go to one session of Chromium, which
//! begins with the first trial that asks for it.
//!
//! naga, which everything else here goes through, does not ask for all that WGSL asks for: uniform
//! flow, parentheses, extensions by name. Tint does, the compiler of Chrome, Edge and Android. What
//! it refuses all the same stands in [`ALLOWED`] with the reason; a line too many there is a
//! failure as well. Every message is kept in `target/tmp/portable.json`. What naga writes for
//! Vulkan goes to a validator ([`spirv`]), what it writes for DX12 to its compiler ([`dxc`]). `docs/contributing/portable-wgsl.md` says what was found.

pub(crate) mod chromium;
mod dxc;
mod spirv;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use lanescope::instrument::{CounterScheme, Instrumented, Options};
use lanescope::kernel::{Catalogue, DeviceClass, Launch, SEED};
use lanescope::program::{Needs, Overrides, Parsed, Program, portable};
use lanescope::run::launched::programs;
use libtest_mimic::Trial;
use naga::Module;
use rayon::prelude::*;

use crate::support::trial_needing;
use chromium::{Session, Text, Verdict};

/// What is compiled of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The text as committed, with what a kernel's parameters put in.
    Own,
    /// What is written of the module without counters.
    Plain,
    /// What is written of the module that counts.
    Counted(CounterScheme),
}

/// Every form, and what trials call it.
const FORMS: [(&str, Form); 6] = [
    ("own_texts", Form::Own),
    ("plain", Form::Plain),
    ("executed", Form::Counted(CounterScheme::Executed)),
    ("histogram", Form::Counted(CounterScheme::Histogram)),
    ("derived", Form::Counted(CounterScheme::Derived)),
    ("estimated", Form::Counted(CounterScheme::Estimated)),
];

/// A shader that Tint refuses, in its own text or in what is written of it.
struct Allowed {
    /// As [`Item::shader`].
    shader: &'static str,
    /// Whether the own text is refused.
    own: bool,
    /// Whether what is written, in each form, is refused.
    written: bool,
    /// A part of the message.
    says: &'static str,
    /// A feature with which it is taken.
    unless: Option<&'static str>,
    /// Why it may be.
    reason: &'static str,
}

/// What Tint refuses, exactly.
const ALLOWED: [Allowed; 5] = [
    Allowed {
        shader: "tests/ballot_present",
        own: true,
        written: false,
        says: "no matching call to 'subgroupBallot()'",
        unless: None,
        reason: "a ballot without a predicate is naga's own; what is written has one",
    },
    Allowed {
        shader: "tests/subgroup_barrier",
        own: true,
        written: true,
        says: "unresolved call target 'subgroupBarrier'",
        unless: None,
        reason: "a barrier of the subgroup alone is naga's own, and nothing in WGSL says it",
    },
    Allowed {
        shader: "tests/directives",
        own: true,
        written: false,
        says: "extension 'f16' is not allowed in the current environment",
        unless: Some("shader-f16"),
        reason: "SwiftShader has no f16; the text asks for it and uses none, so none is written",
    },
    Allowed {
        shader: "tests/half_precision",
        own: true,
        written: true,
        says: "extension 'f16' is not allowed in the current environment",
        unless: Some("shader-f16"),
        reason: "SwiftShader has no f16",
    },
    Allowed {
        shader: "tests/half_storage",
        own: true,
        written: true,
        says: "extension 'f16' is not allowed in the current environment",
        unless: Some("shader-f16"),
        reason: "SwiftShader has no f16",
    },
];

/// Faults that naga lets through, as they stood in the catalogue once, and what Tint says of each.
const PLANTED: [(&str, &str, &str); 4] = [
    (
        "a barrier behind a struct that also holds the lane",
        "'workgroupBarrier' must only be called from uniform control flow",
        "struct Lane { lane: u32, narrow: bool }
         @compute @workgroup_size(64)
         fn main(@builtin(local_invocation_index) lane: u32) {
             let at = Lane(lane, false);
             if (at.narrow) { workgroupBarrier(); }
         }",
    ),
    (
        "operators that need parentheses",
        "mixing '>>' and '&' requires parenthesis",
        "@compute @workgroup_size(64)
         fn main(@builtin(local_invocation_index) i: u32) { let a = i >> 1u & 1u; }",
    ),
    (
        "subgroups without their extension",
        "without extension 'subgroups'",
        "@compute @workgroup_size(64) fn main() { let a = subgroupAdd(1u); }",
    ),
    (
        "a leader test without its directive",
        "must only be called from subgroup uniform control flow",
        "enable subgroups;
         @compute @workgroup_size(64)
         fn main(@builtin(local_invocation_index) i: u32) {
             if (i > 3u) { let leads = i == subgroupBroadcastFirst(i); }
         }",
    ),
];

/// A text that is to be compiled.
struct Item {
    /// `family/name` of the catalogue, `tests/name` of the corpus, `probes/name`.
    shader: String,
    /// The dispatch or entry point, where there may be several.
    part: String,
    form: Form,
    /// Or why there is none.
    text: Result<Text, String>,
    /// What it takes beyond WebGPU's defaults, where a pipeline is made of it.
    beyond: Vec<String>,
}

/// Why a text is refused.
struct Refusal {
    /// Its errors.
    errors: Vec<String>,
    /// Every message, a line each.
    words: String,
}

impl Refusal {
    /// Whether every error is the one that a line of the list names.
    fn is_as_listed(&self, allowed: &Allowed) -> bool {
        self.errors.iter().all(|error| error.contains(allowed.says))
    }
}

/// Every text, and what was said of it.
struct Compiled {
    items: Vec<Item>,
    /// Of each item that has a text, by its number.
    verdicts: BTreeMap<usize, Verdict>,
    /// Of each of [`PLANTED`].
    planted: Vec<Verdict>,
    session: Session,
}

/// A trial for each form, one for the list, and one that shows that faults are found.
pub(crate) fn trials() -> Vec<Trial> {
    let forms = FORMS.map(|(name, form)| {
        (format!("chromium_takes_{name}"), Box::new(move || takes(form)) as Box<Check>)
    });
    let others: [(String, Box<Check>); 3] = [
        ("pipelines_fail_beyond_the_default_limits_alone".to_owned(), Box::new(pipelines)),
        ("what_chromium_refuses_is_listed_with_reasons".to_owned(), Box::new(list_is_exact)),
        ("faults_that_naga_lets_through_are_found".to_owned(), Box::new(faults_are_found)),
    ];
    let validated: [(String, Box<Check>); 2] = [
        ("the_validator_takes_what_goes_to_vulkan".to_owned(), Box::new(spirv::takes)),
        ("the_validator_finds_a_module_without_its_end".to_owned(), Box::new(spirv::finds)),
    ];
    let chromium = chromium::program().is_some();
    let forms = forms.into_iter().chain(others);
    let forms = forms.map(|(name, check)| trial(&name, check, "chromium", chromium));
    let installed = spirv::is_installed();
    let validated = validated.into_iter();
    let validated = validated.map(|(name, check)| trial(&name, check, spirv::PROGRAM, installed));
    let for_dx12: [(String, Box<Check>); 2] = [
        ("dxc_compiles_what_goes_to_dx12".to_owned(), Box::new(dxc::takes)),
        ("dxc_finds_a_text_without_its_end".to_owned(), Box::new(dxc::finds)),
    ];
    let has_dxc = dxc::is_installed();
    let for_dx12 =
        for_dx12.into_iter().map(|(name, check)| trial(&name, check, dxc::NAME, has_dxc));
    let reasons = || {
        let missing = own_texts().iter().filter_map(reasonless).collect::<Vec<String>>();
        if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
    };
    let reasons = Trial::test("portable::what_is_switched_off_has_its_reason_before_it", reasons);
    forms.chain(validated).chain(for_dx12).chain([reasons]).collect()
}

/// Every text as it is committed, with the name of its shader.
fn own_texts() -> Vec<(String, String)> {
    let kernels = launches().into_iter().map(|launch| (launch.kernel, launch.source));
    let corpus = crate::corpus::texts();
    let corpus = corpus.into_iter().map(|(name, text)| (format!("tests/{name}"), text));
    kernels.chain(corpus).chain(probes()).collect()
}

/// What is wrong where a text switches a diagnostic off without saying why in the line before.
fn reasonless((shader, text): &(String, String)) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let off = lines.iter().position(|line| line.starts_with("diagnostic(off, subgroup"))?;
    let before = off.checked_sub(1).map_or("", |line| lines[line]);
    (!before.starts_with("//")).then(|| format!("{shader}, line {}: no reason before it", off + 1))
}

/// A check by a program, as a trial: skipped without the program, unless that is required.
fn trial(name: &str, check: Box<Check>, program: &str, installed: bool) -> Trial {
    let missing = (!installed).then(|| format!("{program} is not installed"));
    trial_needing(format!("portable::{name}"), missing, program, check)
}

/// A check, and what it finds.
type Check = dyn FnOnce() -> Result<(), String> + Send;

/// Everything compiled, once.
fn compiled() -> Result<&'static Compiled, String> {
    static COMPILED: OnceLock<Result<Compiled, String>> = OnceLock::new();
    COMPILED.get_or_init(compile).as_ref().map_err(Clone::clone)
}

fn compile() -> Result<Compiled, String> {
    let items = items();
    let mut numbers = Vec::new();
    let mut texts = Vec::new();
    for (number, item) in items.iter().enumerate() {
        if let Ok(text) = &item.text {
            numbers.push(number);
            texts.push(text.clone());
        }
    }
    let planted = |(_, _, wgsl): (_, _, &str)| Text { wgsl: wgsl.to_owned(), entry_point: None };
    texts.extend(PLANTED.map(planted));
    let mut session = chromium::compile(&texts)?;
    let planted = session.verdicts.split_off(numbers.len());
    let verdicts = numbers.into_iter().zip(session.verdicts.drain(..)).collect();
    let compiled = Compiled { items, verdicts, planted, session };
    compiled.keep();
    Ok(compiled)
}

impl Compiled {
    /// Writes every message to a file.
    #[expect(clippy::disallowed_methods, reason = "what a test leaves for whoever reads on")]
    fn keep(&self) {
        let verdicts = self.verdicts.iter().map(|(number, verdict)| {
            let Item { shader, part, form, .. } = &self.items[*number];
            serde_json::json!({
                "shader": shader, "part": part, "form": name(*form), "verdict": verdict,
            })
        });
        let verdicts: Vec<serde_json::Value> = verdicts.collect();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("portable.json");
        std::fs::write(path, serde_json::to_string_pretty(&verdicts).unwrap()).unwrap();
    }

    /// What is said of an item that is refused: its errors, and all messages in words.
    fn refusal(&self, number: usize) -> Option<Refusal> {
        let item = &self.items[number];
        if let Err(why) = &item.text {
            return Some(Refusal { errors: vec![why.clone()], words: why.clone() });
        }
        // A text without a verdict would be a fault of this test's.
        let messages = &self.verdicts[&number].messages;
        let lines: Vec<String> = messages
            .iter()
            .map(|message| format!("{} {}: {}", message.kind, message.line, message.message))
            .collect();
        let errors = messages.iter().filter(|message| message.kind == "error");
        let errors: Vec<String> = errors.map(|error| error.message.clone()).collect();
        (!errors.is_empty()).then(|| Refusal { errors, words: lines.join("\n    ") })
    }

    /// The lines of the list that hold with this adapter.
    fn allowed(&self) -> impl Iterator<Item = &'static Allowed> {
        let has = |feature: &str| self.session.features.iter().any(|f| f == feature);
        ALLOWED.iter().filter(move |allowed| !allowed.unless.is_some_and(has))
    }
}

impl Allowed {
    /// Whether a line is about an item.
    fn is_of(&self, item: &Item) -> bool {
        let form = if item.form == Form::Own { self.own } else { self.written };
        item.shader == self.shader && form
    }
}

/// What trials call a form.
fn name(form: Form) -> &'static str {
    FORMS.iter().find(|(_, other)| *other == form).map_or("", |(name, _)| name)
}

/// Every text of a form is taken, but for those on the list; and there is one of every shader.
fn takes(form: Form) -> Result<(), String> {
    let compiled = compiled()?;
    let mut count = 0;
    let mut refused = Vec::new();
    let mut missing: BTreeSet<String> = shaders(form);
    for (number, item) in compiled.items.iter().enumerate().filter(|(_, item)| item.form == form) {
        count += 1;
        missing.remove(&item.shader);
        let Some(why) = compiled.refusal(number) else { continue };
        let mut lines = compiled.allowed().filter(|allowed| allowed.is_of(item));
        if !lines.any(|allowed| why.is_as_listed(allowed)) {
            refused.push(format!("{} {}:\n    {}", item.shader, item.part, why.words));
        }
    }
    if !missing.is_empty() {
        return Err(format!("no text of {missing:?}"));
    }
    let all = refused.join("\n");
    refused
        .is_empty()
        .then_some(())
        .ok_or_else(|| format!("{} of {count} texts are refused:\n{all}", refused.len()))
}

/// The shaders of which a form has texts: files of the probes are compiled as they are.
fn shaders(form: Form) -> BTreeSet<String> {
    let kernels = launches().into_iter().map(|launch| launch.kernel);
    let corpus = crate::corpus::texts().into_iter().map(|(name, _)| format!("tests/{name}"));
    let probes = probes().into_iter().filter(|_| form == Form::Own).map(|(name, _)| name);
    kernels.chain(corpus).chain(probes).collect()
}

/// The texts by which a device is measured, by the names of their files.
fn probes() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run/probes");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (format!("probes/{name}"), std::fs::read_to_string(path).unwrap())
    };
    std::fs::read_dir(folder).unwrap().map(read).collect()
}

/// Of each text without counters that is taken there is a pipeline, with WebGPU's default limits,
/// but for those that `list -l` says need more.
fn pipelines() -> Result<(), String> {
    let compiled = compiled()?;
    let mut beyond = 0;
    for (number, verdict) in &compiled.verdicts {
        let Item { shader, part, beyond: needed, .. } = &compiled.items[*number];
        match &verdict.pipeline {
            Some(why) if needed.is_empty() => return Err(format!("{shader} {part}: {why}")),
            None if !needed.is_empty() => {
                let needed = needed.join(", ");
                return Err(format!("{shader} {part} needs {needed}, and has a pipeline"));
            }
            Some(_) => beyond += 1,
            None => {}
        }
    }
    // Those of `moe` that bind nine storage buffers.
    if beyond == 0 { Err("no text is beyond the limits".to_owned()) } else { Ok(()) }
}

/// Each line of the list is true: whatever it is about is refused, as it says.
#[expect(
    clippy::print_stdout,
    reason = "whoever reads the log is to see what is left out, and why"
)]
fn list_is_exact() -> Result<(), String> {
    let compiled = compiled()?;
    let Session { adapter, seconds, .. } = &compiled.session;
    let count = compiled.verdicts.len();
    println!(
        "chromium ({adapter}) compiled {count} texts in {seconds:.1} s; it refuses, as listed:"
    );
    for allowed in compiled.allowed() {
        println!("  {}: {} ({})", allowed.shader, allowed.says, allowed.reason);
        let items = compiled.items.iter().enumerate();
        let about: Vec<usize> =
            items.filter(|(_, item)| allowed.is_of(item)).map(|(number, _)| number).collect();
        if about.is_empty() {
            return Err(format!("{} is on the list and is not compiled", allowed.shader));
        }
        for number in about {
            let form = name(compiled.items[number].form);
            if !compiled.refusal(number).is_some_and(|why| why.is_as_listed(allowed)) {
                return Err(format!("{} ({form}) is not refused as listed", allowed.shader));
            }
        }
    }
    Ok(())
}

/// Each of the planted faults is taken by naga and refused by Tint.
fn faults_are_found() -> Result<(), String> {
    let compiled = compiled()?;
    for ((what, says, wgsl), verdict) in PLANTED.iter().zip(&compiled.planted) {
        Parsed::new("planted.wgsl", wgsl).map_err(|error| format!("{what}: {error}"))?;
        let mut errors = verdict.messages.iter().filter(|message| message.kind == "error");
        if !errors.any(|error| error.message.contains(says)) {
            return Err(format!("{what} is not found; chromium says {:?}", verdict.messages));
        }
    }
    Ok(())
}

/// Every text.
fn items() -> Vec<Item> {
    let mut items: Vec<Item> =
        own_texts().into_iter().map(|(name, text)| own_item(name, text)).collect();
    let written: Vec<Item> = cases().par_iter().flat_map_iter(written).collect();
    items.extend(written);
    items
}

/// A shader's own text. Its overrides may have no values, so that no pipeline is made.
fn own_item(shader: String, wgsl: String) -> Item {
    let text = Ok(Text { wgsl, entry_point: None });
    Item { shader, part: String::new(), form: Form::Own, text, beyond: Vec::new() }
}

/// What is written of a program, in each form.
fn written(case: &Case) -> Vec<Item> {
    let item = |(form, module): (Form, Module)| {
        let written = portable(&module, case.program.text());
        let text = written.map_err(|error| error.to_string()).map(|written| Text {
            wgsl: written.text,
            entry_point: (form == Form::Plain).then_some(written.entry_point),
        });
        let beyond = match form {
            Form::Plain => Needs::from_module(&module).beyond_defaults(),
            Form::Own | Form::Counted(_) => Vec::new(),
        };
        Item { shader: case.shader.clone(), part: case.part.clone(), form, text, beyond }
    };
    case.modules().into_iter().map(item).collect()
}

/// A program of the catalogue or of the corpus.
struct Case {
    /// As [`Item::shader`].
    shader: String,
    /// As [`Item::part`].
    part: String,
    program: Program,
    workgroups: Option<[u32; 3]>,
}

impl Case {
    /// Its module without counters, and those that count.
    fn modules(&self) -> Vec<(Form, Module)> {
        let module = |form| match form {
            Form::Own => None,
            Form::Plain => Some((form, self.program.module().clone())),
            Form::Counted(method) => {
                let options = Options {
                    method,
                    subgroup_width_max: 128,
                    counter_bytes_max: 16 << 20,
                    workgroups: self.workgroups,
                };
                let counted = Instrumented::new(&self.program, &options).unwrap();
                Some((form, counted.module().clone()))
            }
        };
        FORMS.iter().filter_map(|(_, form)| module(*form)).collect()
    }
}

/// The catalogue's kernels at their quick points.
fn launches() -> Vec<Launch> {
    let catalogue = Catalogue::embedded().unwrap();
    let kernels = catalogue.kernels();
    let none = BTreeMap::new();
    kernels.map(|kernel| kernel.launch(DeviceClass::Quick, &none, SEED).unwrap()).collect()
}

/// Every program: of each kernel the dispatches, of each shader of the corpus the entry points.
fn cases() -> Vec<Case> {
    let kernels: Vec<Case> = launches().par_iter().flat_map_iter(of_launch).collect();
    let corpus: Vec<Case> = crate::corpus::texts().par_iter().flat_map_iter(of_text).collect();
    kernels.into_iter().chain(corpus).collect()
}

fn of_launch(launch: &Launch) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut seen = Vec::new();
    for (dispatch, program) in launch.dispatches.iter().zip(programs(launch).unwrap().iter()) {
        let workgroups = dispatch.workgroups.direct();
        // The same again gives the same text.
        let this = (&dispatch.entry_point, &dispatch.overrides, workgroups);
        if seen.contains(&this) {
            continue;
        }
        seen.push(this);
        let part = format!("{} {:?}", dispatch.entry_point, dispatch.overrides);
        cases.push(Case {
            shader: launch.kernel.clone(),
            part,
            program: program.clone(),
            workgroups,
        });
    }
    cases
}

fn of_text((name, text): &(String, String)) -> Vec<Case> {
    let parsed = Parsed::new(&format!("{name}.wgsl"), text).unwrap();
    let case = |entry: &str| Case {
        shader: format!("tests/{name}"),
        part: entry.to_owned(),
        program: parsed.resolve(entry, &Overrides::new()).unwrap(),
        workgroups: None,
    };
    parsed.entry_points().into_iter().map(case).collect()
}
