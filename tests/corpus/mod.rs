//! The corpus: every shader of `tests/wgsl`, each a plausible kernel of its own.
//!
//! Input: the folder; a shader is a file, and a new one needs no line here. Output: trials. Each
//! shader loads, is instrumented, and is written in every language with and without counters; its
//! table of lines on `sim:32` is that of its snapshot; on each driver its counts and outputs are those
//! of the simulator. Together the shaders use every form of statement ([`forms`]).
//!
//! The snapshot is `tests/wgsl/lines.snap`. After a change that is meant to alter counts, or for
//! a new shader, renew it with `INSTA_UPDATE=always cargo test --release --test main corpus`, and
//! read the difference before it is committed.

mod forms;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lanescope::instrument::{CounterScheme, Instrumented, Options};
use lanescope::kernel::{Launch, SEED};
use lanescope::layout::Shape;
use lanescope::program::{Emission, Overrides, Parsed, Program, TargetLanguage, emit_all};
use lanescope::record::{self, Flag, Tag};
use lanescope::run::measure::{Results, measurement};
use lanescope::run::profile::{self, Prepared, ProfileRequest};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Counted, RunErrorKind, Runner};
use lanescope::units::Width;
use libtest_mimic::Trial;

use crate::devices;
use crate::support::drivers::Driver;
use crate::support::side_by_side::{Comparison, compare_launch};

/// Elements of run-time arrays: no multiple of any workgroup's size.
const ELEMENTS: u64 = 300;

/// Shaders whose counts need not agree between devices, each with the reason.
const EXEMPT: [(&str, &str); 1] =
    [("hash_table_insert", "who finds a slot taken depends on the order of workgroups")];

/// Shaders that a driver lacks a feature for: family, shader, and what its refusal must name.
const LACKING: [(&str, &str, &str); 2] =
    [("swiftshader", "half_precision", "(f16)"), ("swiftshader", "half_storage", "(f16)")];

/// What a back-end of naga's does not write: shader, language, and what the refusal must name.
const UNWRITTEN: [(&str, TargetLanguage, &str); 1] =
    [("subgroup_barrier", TargetLanguage::Hlsl, "SUBGROUP_BARRIER")];

/// A pointer to a part of what a pointer leads to, as an argument: naga 30 validates it, and panics
/// when it writes SPIR-V.
pub(crate) const PANICS: &str = "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
struct Pair { a: u32, b: u32 }
fn increase(value: ptr<function, u32>) { *value += 1u; }
fn both(pair: ptr<function, Pair>) { increase(&(*pair).a); increase(&(*pair).b); }
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var pair = Pair(id.x, 1u);
    both(&pair);
    output[id.x] = pair.a;
}";

/// A trial for each shader, one for the lines of all, and one for their forms.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("corpus::together_they_use_every_form", || {
            every_form_is_used();
            Ok(())
        }),
        Trial::test("corpus::a_panic_of_naga_is_an_error_that_names_the_stage", || {
            panics_are_errors();
            Ok(())
        }),
        Trial::test("corpus::lines_are_those_of_the_snapshot", || {
            lines_are_those_of_the_snapshot();
            Ok(())
        }),
    ];
    for shader in Shader::all() {
        let title = format!("corpus::{}", shader.name);
        trials.push(Trial::test(title, move || {
            shader.is_written_with_and_without_counters(&shader.program());
            Ok(())
        }));
    }
    trials
}

/// What every shader's `lanescope profile` runs, but for those whose counts need not agree.
pub(crate) fn launches() -> Vec<Launch> {
    let shaders = Shader::all();
    let compared = shaders.iter().filter(|shader| shader.exempt().is_none());
    compared.map(|shader| shader.launch(&shader.program())).collect()
}

/// What `lanescope profile` runs of shaders with a uniform buffer that is a vector of three alone.
pub(crate) fn launches_of_threes() -> [Launch; 4] {
    Shader::threes().map(|shader| shader.launch(&shader.program()))
}

/// Every shader's name and text.
pub(crate) fn texts() -> Vec<(String, String)> {
    Shader::all().into_iter().map(|shader| (shader.name, shader.text)).collect()
}

/// A file of the corpus.
struct Shader {
    name: String,
    text: String,
}

impl Shader {
    /// Shaders whose uniform buffer is a vector of three words, which has no padding behind it, or ends with one.
    fn threes() -> [Self; 4] {
        ["vec3u", "vec3i", "vec3f", "array<vec3u, 2>"].map(|ty| {
            let part = match ty {
                "array<vec3u, 2>" => "p[1].z",
                "vec3f" => "p.z * 100.0",
                _ => "p.z",
            };
            let text = format!(
                "@group(0) @binding(0) var<uniform> p: {ty};
                @group(0) @binding(1) var<storage, read_write> o: array<u32>;
                @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
                    if id.x >= arrayLength(&o) {{ return; }}
                    if id.x % 3u == u32({part}) % 3u {{ o[id.x] = u32({part}); }}
                }}"
            );
            Self { name: format!("uniform of {ty}"), text }
        })
    }

    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl");
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
            .collect();
        paths.sort();
        paths
            .into_iter()
            .map(|path| Self {
                name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
                text: std::fs::read_to_string(path).unwrap(),
            })
            .collect()
    }

    fn file(&self) -> String {
        format!("{}.wgsl", self.name)
    }

    fn parsed(&self) -> Parsed {
        Parsed::new(&self.file(), &self.text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The program of the first entry point, with the overrides' defaults.
    fn program(&self) -> Program {
        let parsed = self.parsed();
        parsed
            .resolve(parsed.entry_points()[0], &Overrides::new())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// What `lanescope profile` runs without being told more than n.
    fn launch(&self, program: &Program) -> Launch {
        let request = ProfileRequest {
            file: self.file(),
            name: self.name.clone(),
            source: self.text.clone(),
            derived: None,
            description: None,
            entry_point: Some(program.entry_point().name.clone()),
            workgroups: None,
            n: Some(ELEMENTS),
            seed: SEED,
        };
        let prepared = profile::prepare(&request, &mut |file| Err(format!("no file {file}")));
        let Prepared { mut launch, interfaces, .. } = prepared.unwrap_or_else(|e| panic!("{e}"));
        // Floats may be rounded otherwise; what follows from them is in the counts.
        for resource in interfaces.iter().flat_map(|interface| &interface.resources) {
            let buffer = launch.buffers.iter_mut().find(|buffer| buffer.name == resource.name);
            buffer.unwrap().output &= !has_floats(&resource.shape);
        }
        launch
    }

    fn exempt(&self) -> Option<&'static str> {
        EXEMPT.iter().find(|(name, _)| *name == self.name).map(|(_, reason)| *reason)
    }

    /// Plain, counted in registers and counted with histograms, in SPIR-V, MSL, HLSL and WGSL.
    fn is_written_with_and_without_counters(&self, program: &Program) {
        let methods = [
            CounterScheme::Executed,
            CounterScheme::Histogram,
            CounterScheme::Derived,
            CounterScheme::Estimated,
        ];
        let counted = methods.map(|method| {
            let options = Options {
                method,
                subgroup_width_max: 128,
                counter_bytes_max: 1 << 22,
                workgroups: None,
            };
            Instrumented::new(program, &options).unwrap_or_else(|error| panic!("{error}"))
        });
        let modules = counted.iter().map(Instrumented::module);
        for module in [program.module()].into_iter().chain(modules) {
            let emissions = emit_all(module, program.text()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(emissions.len(), 4);
            for Emission { language, result } in emissions {
                let lacking =
                    UNWRITTEN.iter().find(|(name, l, _)| *name == self.name && *l == language);
                match (result, lacking) {
                    (Ok(bytes), None) => assert!(!bytes.is_empty(), "{language}"),
                    (Ok(_), Some(_)) => panic!("{language} is written after all"),
                    (Err(error), Some((_, _, what))) if error.to_string().contains(what) => {}
                    (Err(error), _) => panic!("{error}"),
                }
            }
        }
    }

    /// The table of lines on the simulator, which reports nothing but what every shuffle by a
    /// distance does at the edge.
    fn simulated_lines(&self) -> String {
        let launch = self.launch(&self.program());
        let width = Width::new(32).unwrap();
        let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
        let counted =
            simulator.count_once(&launch, &CountRequest::once(record::Method::Executed)).unwrap();
        let wrong = |flag: &&Flag| !matches!(flag.tag, Tag::EdgeSource | Tag::DependsOnSchedule);
        assert_eq!(counted.flags.iter().find(wrong), None, "reported of {}", self.name);
        self.table(&launch, &simulator, counted)
    }

    /// The table of the lines that were counted, each with its source.
    fn table(&self, launch: &Launch, simulator: &SimulatorRunner, counted: Counted) -> String {
        let results = Results { counted: Some(counted), ..Results::default() };
        let measurement = measurement(simulator.device(), launch, results).unwrap();
        let dispatch = &measurement.dispatches[0];
        let lines = dispatch.lines();
        let mut table = format!(
            "{}: workgroups {:?} of {:?}, {} blocks\n  ops   slots    lanes active of 32, line\n",
            dispatch.entry_point,
            dispatch.workgroups.unwrap(),
            dispatch.workgroup_size,
            dispatch.blocks.len(),
        );
        for (number, source) in (1..).zip(self.text.lines()) {
            let Some(line) = lines.iter().find(|line| line.line == number) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
            let active = line.lane_operations as f64 / line.subgroup_operations as f64;
            let active = if active.is_nan() { "-".to_owned() } else { format!("{active:.2}") };
            let (subgroups, lanes) = (line.subgroup_operations, line.lane_operations);
            let (operations, source) = (line.operations, source.trim());
            let counts = format!("{operations:5} {subgroups:7} {lanes:8} {active:>6}");
            writeln!(table, "{counts} {number:4}| {source}").unwrap();
        }
        let last = u32::try_from(self.text.lines().count()).unwrap();
        assert!(lines.iter().all(|line| (1..=last).contains(&line.line)));
        table
    }
}

/// Operations, executions and active lanes of every line of every shader are those of the snapshot.
fn lines_are_those_of_the_snapshot() {
    let tables = Shader::all().into_iter().map(|shader| {
        let table = shader.simulated_lines();
        format!("{}\n{table}", shader.file())
    });
    insta::with_settings!({
        snapshot_path => "../wgsl",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!("lines", tables.collect::<Vec<_>>().join("\n")) });
}

/// Whether a driver forms other subgroups than the simulator: lavapipe begins one at each row of a
/// workgroup, so that a row that is no multiple of the width leaves lanes idle. Lanes and outputs
/// must be the same all the same; the shaders of this corpus that use subgroups have one row.
pub(crate) fn parts_at_rows(driver: &Driver, program: &Program) -> bool {
    let [row, columns, layers] = program.workgroup_size();
    driver.family == "lavapipe" && columns * layers > 1 && row % driver.width != 0
}

fn has_floats(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar { scalar, .. } | Shape::Vector { scalar, .. } => scalar.is_float(),
        Shape::Matrix { scalar, .. } => scalar.is_float(),
        Shape::Array { element, .. } => has_floats(element),
        Shape::Struct { fields, .. } => fields.iter().any(|field| has_floats(&field.shape)),
    }
}

/// A back-end that panics costs its language only, and the message says whose fault it is.
fn panics_are_errors() {
    let shader = Shader { name: "panics".to_owned(), text: PANICS.to_owned() };
    let emissions = emit_all(shader.program().module(), shader.program().text()).unwrap();
    let [spir_v, msl, hlsl, wgsl] = &emissions[..] else { panic!("{emissions:?}") };
    let message = spir_v.result.as_ref().unwrap_err().to_string();
    assert!(
        message.starts_with("naga panicked while it emitted SPIR-V for panics.wgsl"),
        "{message}"
    );
    let others = [msl, hlsl, wgsl];
    assert!(others.iter().all(|emission| emission.result.is_ok()), "{emissions:?}");
}

/// Nothing that a compute shader over buffers can say is left out of the corpus.
fn every_form_is_used() {
    let mut used = forms::Forms::new();
    let mut directives = forms::Forms::new();
    let shaders = Shader::all();
    assert!(shaders.len() >= 60, "{} shaders", shaders.len());
    for shader in &shaders {
        used.extend(forms::find_forms(shader.parsed().module()));
        for word in ["enable f16", "enable subgroups", "requires ", "diagnostic(", "const_assert "]
        {
            if shader.text.lines().any(|line| line.trim_start().starts_with(word)) {
                directives.insert(word.to_owned());
            }
        }
    }
    assert_eq!(directives.len(), 5, "{directives:?}");
    let missing: Vec<_> = forms::required().difference(&used).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "no shader of tests/wgsl has these forms");
}

/// Whether every subgroup of the program's workgroups is full on a driver.
fn full_subgroups(driver: &Driver, program: &Program) -> bool {
    program.workgroup_size()[0].is_multiple_of(driver.width)
}

/// Executions and lanes of every block, executed and derived, and outputs, of every shader are the
/// simulator's: one process for all of them.
pub(crate) fn agrees(driver: &Driver) {
    let mut device = devices::open(driver, 60).unwrap();
    let mut simulator = SimulatorRunner::new(Width::new(driver.width).unwrap(), STEPS_MAX);
    if driver.family != "cuda" {
        refuses_groups_that_it_lacks(&mut device);
    }
    let mut differences = Vec::new();
    let mut compared: Vec<Comparison> = Vec::new();
    for shader in Shader::all().into_iter().chain(Shader::threes()) {
        let program = shader.program();
        let launch = shader.launch(&program);
        for method in [record::Method::Executed, record::Method::Derived] {
            let derived = method == record::Method::Derived;
            let request = CountRequest::once(method);
            // lavapipe loses derived counts of some partial subgroups (docs/findings/agreement.md).
            if derived && !full_subgroups(driver, &program) {
                continue;
            }
            let lacking = LACKING
                .iter()
                .find(|(family, name, _)| *family == driver.family && *name == shader.name);
            match (compare_launch(&launch, None, request, &mut device, &mut simulator), lacking) {
                (Ok(_), Some(_)) => differences.push(format!("{}: runs after all", shader.name)),
                (Ok(comparison), None) if shader.exempt().is_none() => {
                    let how = if derived { "derived" } else { "executed" };
                    let name =
                        |difference: &String| format!("{}, {how}: {difference}", shader.name);
                    differences.extend(comparison.differences.iter().map(name));
                    if !parts_at_rows(driver, &program) {
                        differences.extend(comparison.differences_in_issues.iter().map(name));
                    }
                    compared.push(comparison);
                }
                (Ok(_), None) => {}
                (Err(error), Some((_, _, what))) if error.message.contains(what) => {}
                (Err(error), _) => differences.push(format!("{}: {error}", shader.name)),
            }
        }
    }
    let sum = |figure: &dyn Fn(&Comparison) -> u64| compared.iter().map(figure).sum::<u64>();
    let blocks = sum(&|comparison| comparison.blocks as u64);
    let idle = sum(&|comparison| comparison.blocks_idle as u64);
    assert!(
        differences.is_empty(),
        "{} shaders of {blocks} blocks compared:\n{}",
        compared.len(),
        differences.join("\n")
    );
    assert!(compared.len() >= 60 + 40 + 4, "{}", compared.len());
    // A corpus whose blocks never run would agree about nothing.
    assert!(idle * 20 < blocks, "{idle} of {blocks} blocks are idle");
    assert!(sum(&|comparison| comparison.executions) < sum(&|comparison| comparison.lanes));
}

/// A number that no device has is refused in words, before anything is made for all below it.
fn refuses_groups_that_it_lacks(device: &mut dyn Runner) {
    let text = "@group(4294967295) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(32) fn main() { output[0] = 1u; }";
    let shader = Shader { name: "far_group".to_owned(), text: text.to_owned() };
    let launch = shader.launch(&shader.program());
    let error =
        device.count_once(&launch, &CountRequest::once(record::Method::Derived)).unwrap_err();
    assert_eq!(error.kind, RunErrorKind::Unsupported, "{error}");
    assert!(error.message.contains("binds @group(4294967295); the device has"), "{error}");
}
