//! A runner that needs no GPU: translations compiled by the system's C++ compiler, each thread of a
//! block a fiber.
//!
//! Input: launches. Output: counts and outputs, as from a device of 32 lanes. `lockstep.hpp` stands in
//! for CUDA: it lets lanes run in a random order and holds them at `_sync` functions until all of the
//! mask are there, so that a wrong mask is a deadlock or a fault rather than luck. It is slow, and
//! measures no time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use lanescope::instrument::{CounterScheme, Instrumented, Options as Instrumentation};
use lanescope::kernel::{Launch, Workgroups};
use lanescope::program::Program;
use lanescope::record::{self, Backend, Device, DeviceKind, Output};
use lanescope::run::launched::{outputs_sha256, programs};
use lanescope::run::{
    Checked, CountRequest, Counted, CountedDispatch, RunError, RunErrorKind, Runner,
};
use lanescope::translate::{Checks, Options, Parameter, Translated, WIDTH, cuda};
use lanescope::units::Width;
use tempfile::TempDir;

/// What the translation says with the machine's instructions, and what a processor has.
const INSTRUCTIONS: [(&str, &str); 3] = [
    ("asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(value));", "bits = half_of(value);"),
    ("asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(bits));", "value = float_of(bits);"),
    (
        "asm(\"fma.rn.f16 %0, %1, %2, %3;\" : \"=h\"(bits) : \"h\"(a.bits), \"h\"(b.bits), \
         \"h\"(c.bits));",
        "bits = half_fma(a.bits, b.bits, c.bits);",
    ),
];

/// The compiler.
pub(crate) const COMPILER: &str = "g++";

/// How it compiles.
const FLAGS: [&str; 7] = [
    "-std=c++20",
    "-O1",
    "-w",
    "-U_FORTIFY_SOURCE",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-aggressive-loop-optimizations",
];

/// Whether there is a compiler.
pub(crate) fn missing() -> Option<String> {
    let found = Command::new(COMPILER).arg("--version").output();
    found.err().map(|error| format!("{COMPILER} cannot be run: {error}"))
}

/// The runner.
#[derive(Debug)]
pub(crate) struct Lockstep {
    device: Device,
}

impl Lockstep {
    pub(crate) fn new() -> Self {
        let width = Width::new(WIDTH).ok();
        let device = Device {
            name: "lockstep".to_owned(),
            driver: COMPILER.to_owned(),
            cpu_driver: true,
            subgroup_width_min: width,
            subgroup_width_max: width,
            subgroup_width_run: width,
            lane_is_local_index_mod_width: Some(true),
            fma_fused: Some(true),
            ..Device::unmeasured("lockstep", DeviceKind::Cuda, Backend::Interpreter)
        };
        Self { device }
    }
}

fn failed(message: impl Into<String>) -> RunError {
    RunError::new(RunErrorKind::Driver, message)
}

/// `main`, which reads the buffers from a file one after the other, runs the grid, and writes them.
fn main_of(translated: &Translated, sizes: &BTreeMap<(u32, u32), u64>, grid: [u32; 3]) -> String {
    let mut text = "int main(int, char** names) {\n    std::vector<void*> given;\n".to_owned();
    text += "    std::ifstream input(names[1], std::ios::binary);\n";
    text += "    std::vector<std::vector<uint64_t>> buffers;\n    std::vector<size_t> sizes;\n";
    for size in sizes.values() {
        writeln!(
            text,
            "    buffers.emplace_back({size} / 8 + 3); sizes.push_back({size});\n    \
             input.read((char*)buffers.back().data(), {size});"
        )
        .unwrap();
    }
    text += "    std::vector<void*> addresses;\n    \
             for (auto& buffer : buffers) { addresses.push_back(buffer.data()); }\n";
    for (number, parameter) in translated.parameters.iter().enumerate() {
        match parameter {
            Parameter::Buffer { group, binding } => {
                let index = sizes.keys().position(|key| *key == (*group, *binding)).unwrap();
                writeln!(text, "    given.push_back(&addresses[{index}]);").unwrap();
            }
            Parameter::Lengths(lengths) => {
                let values: Vec<String> = lengths
                    .iter()
                    .map(|length| {
                        let size = sizes[&(length.group, length.binding)];
                        let elements = (size - u64::from(length.offset)) / u64::from(length.stride);
                        format!("{elements}u")
                    })
                    .collect();
                let values = values.join(", ");
                writeln!(text, "    static unsigned p{number}[] = {{{values}}};").unwrap();
                writeln!(text, "    given.push_back(p{number});").unwrap();
            }
            Parameter::Immediates { size } => {
                writeln!(text, "    alignas(16) static char p{number}[{size}];").unwrap();
                writeln!(text, "    input.read(p{number}, {size});").unwrap();
                writeln!(text, "    given.push_back(p{number});").unwrap();
            }
        }
    }
    text += &fill_constants(translated, sizes);
    let [x, y, z] = grid;
    let [a, b, c] = translated.block;
    let kernel = &translated.kernel;
    write!(
        text,
        "    parameters = given.data();
    body = [] {{ call(wgsl::{kernel}); }};
    gridDim = {{{x}, {y}, {z}}};
    blockDim = {{{a}, {b}, {c}}};
    for (unsigned i = 0; i < {x}; i++) {{
        for (unsigned j = 0; j < {y}; j++) {{
            for (unsigned k = 0; k < {z}; k++) {{ blockIdx = {{i, j, k}}; run_block(); }}
        }}
    }}
    std::ofstream output(names[2], std::ios::binary);
    for (size_t i = 0; i < buffers.size(); i++) {{
        output.write((const char*)buffers[i].data(), sizes[i]);
    }}
    return output.good() ? 0 : 2;
}}
"
    )
    .unwrap();
    text
}

/// What fills constant memory.
fn fill_constants(translated: &Translated, sizes: &BTreeMap<(u32, u32), u64>) -> String {
    let mut text = String::new();
    for constant in &translated.constants {
        let key = (constant.group, constant.binding);
        let index = sizes.keys().position(|found| *found == key).unwrap();
        let (name, size) = (&constant.name, constant.size);
        let all = size * constant.copies;
        writeln!(text, "    static_assert(sizeof(wgsl::{name}) == {all});").unwrap();
        for copy in 0..constant.copies {
            let to = format!("(char*)&wgsl::{name} + {copy} * {size}");
            writeln!(text, "    memcpy({to}, addresses[{index}], {size});").unwrap();
        }
    }
    text
}

/// What stands before every translation, compiled beforehand once a process: the compiler takes as long
/// for it as for a translation.
#[expect(clippy::disallowed_methods, reason = "a test hands over by files")]
fn header() -> &'static Path {
    static HEADER: OnceLock<PathBuf> = OnceLock::new();
    HEADER.get_or_init(|| {
        let shims = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lockstep");
        std::fs::create_dir_all(&folder).unwrap();
        let include = |name: &str| format!("#include \"{}\"\n", shims.join(name).display());
        let text = include("lockstep.hpp") + &include("native.hpp");
        // Another process may compile it too: whoever is last puts the same in the same place.
        let file = |ending: &str| folder.join(format!("{}{ending}", std::process::id()));
        std::fs::write(file(".hpp"), text).unwrap();
        let compiled = Command::new(COMPILER)
            .args(FLAGS)
            .args(["-x", "c++-header", "-o"])
            .args([file(".gch"), file(".hpp")])
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{COMPILER} refuses lockstep.hpp: {log}");
        let header = folder.join("lockstep.hpp");
        std::fs::rename(file(".gch"), folder.join("lockstep.hpp.gch")).unwrap();
        std::fs::rename(file(".hpp"), &header).unwrap();
        header
    })
}

/// Compiles and runs a translation over buffers.
#[expect(clippy::disallowed_methods, reason = "a test hands over by files")]
fn run(
    translated: &Translated,
    buffers: &mut BTreeMap<(u32, u32), Vec<u8>>,
    immediates: &[u8],
    grid: [u32; 3],
) -> Result<(), RunError> {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut source = translated.source.clone();
    for (machine, processor) in INSTRUCTIONS {
        source = source.replace(machine, processor);
    }
    let sizes = buffers.iter().map(|(place, bytes)| (*place, bytes.len() as u64)).collect();
    let whole = format!("{source}\n#line 1 \"main\"\n{}", main_of(translated, &sizes, grid));
    std::fs::write(path("kernel.cpp"), &whole).unwrap();
    let mut input: Vec<u8> = buffers.values().flatten().copied().collect();
    input.extend(immediates);
    std::fs::write(path("input"), input).unwrap();
    let compiled = Command::new(COMPILER)
        .args(FLAGS)
        .arg("-include")
        .arg(header())
        .arg("-o")
        .args([path("kernel"), path("kernel.cpp")])
        .output()
        .unwrap();
    if !compiled.status.success() {
        let log = String::from_utf8_lossy(&compiled.stderr).into_owned();
        let log: String = log.lines().take(12).collect::<Vec<_>>().join("\n");
        return Err(failed(format!("{COMPILER} refuses the translation:\n{log}")));
    }
    let ran = Command::new(path("kernel")).args([path("input"), path("output")]).output().unwrap();
    if !ran.status.success() {
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        return Err(failed(format!("the translation failed ({}): {errors}", ran.status)));
    }
    let output = std::fs::read(path("output")).unwrap();
    let mut rest = output.as_slice();
    for bytes in buffers.values_mut() {
        let (words, after) = rest.split_at(bytes.len());
        bytes.copy_from_slice(words);
        rest = after;
    }
    Ok(())
}

impl Runner for Lockstep {
    fn device(&self) -> &Device {
        &self.device
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        _: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let method = match (request.method, request.histogram) {
            (record::Method::Estimated, _) => CounterScheme::Estimated,
            (_, true) => CounterScheme::Histogram,
            (record::Method::Derived, false) => CounterScheme::Derived,
            (record::Method::Executed, false) => CounterScheme::Executed,
        };
        let mut contents: BTreeMap<String, Vec<u8>> =
            launch.buffers.iter().map(|b| (b.name.clone(), launch.contents(b))).collect();
        let mut dispatches = Vec::new();
        for (dispatch, program) in launch.dispatches.iter().zip(programs(launch)?.iter()) {
            let Workgroups::Direct(grid) = dispatch.workgroups else {
                return Err(RunError::new(RunErrorKind::Unsupported, "an indirect dispatch"));
            };
            let counts = count_dispatch(program, method, &mut contents, launch, grid)?;
            dispatches.push(CountedDispatch {
                workgroups: Some(grid),
                counts,
                calls: Vec::new(),
                iterations_max: None,
                incomplete: false,
            });
        }
        contents.retain(|name, _| launch.buffers.iter().any(|b| b.output && b.name == *name));
        Ok(vec![Counted {
            trace: None,
            width: self.device.subgroup_width_run,
            method: request.method,
            dispatches,
            outputs_sha256: outputs_sha256(&contents),
            checked: Checked { output: Output::Unchecked, mismatch: None },
            runtime_checks: !launch.trusted,
            flags: Vec::new(),
            counters: Vec::new(),
            outputs_shown: BTreeMap::new(),
            answer_ns: None,
        }])
    }
}

/// Runs a dispatch with counters.
fn count_dispatch(
    program: &Program,
    method: CounterScheme,
    contents: &mut BTreeMap<String, Vec<u8>>,
    launch: &Launch,
    grid: [u32; 3],
) -> Result<Vec<lanescope::instrument::Count>, RunError> {
    let how = Instrumentation {
        method,
        subgroup_width_max: WIDTH,
        counter_bytes_max: 1 << 20,
        workgroups: Some(grid),
    };
    let made = Instrumented::new(program, &how).map_err(|error| failed(error.to_string()))?;
    let options = Options {
        checks: if launch.trusted { Checks::Unchecked } else { Checks::Checked },
        zero_memory: launch.workgroup_memory_zeroed,
    };
    let translated = cuda(made.module(), made.info(), program.text(), &options)
        .map_err(|error| RunError::new(RunErrorKind::Unsupported, error.to_string()))?;
    let place = made.counters();
    let mut buffers = BTreeMap::new();
    let bindings = program.bindings().map_err(|error| failed(error.to_string()))?;
    for binding in &bindings {
        buffers.insert((binding.group, binding.binding), contents[&binding.name].clone());
    }
    let empty = vec![0; usize::try_from(place.size).unwrap()];
    buffers.insert((place.group, place.binding), empty);
    run(&translated, &mut buffers, &launch.immediates, grid)?;
    for binding in bindings {
        let bytes = buffers[&(binding.group, binding.binding)].clone();
        contents.insert(binding.name, bytes);
    }
    made.decode(&buffers[&(place.group, place.binding)])
        .ok_or_else(|| failed("derived counts contradict one another"))
}

/// Runs a launch in CUDA C++; its outputs by name.
pub(crate) fn native(launch: &Launch) -> Result<BTreeMap<String, Vec<u8>>, RunError> {
    let mut buffers: BTreeMap<(u32, u32), Vec<u8>> =
        (0..).zip(&launch.buffers).map(|(at, b)| ((0, at), launch.contents(b))).collect();
    for dispatch in &launch.dispatches {
        let Workgroups::Direct(grid) = dispatch.workgroups else {
            return Err(RunError::new(RunErrorKind::Unsupported, "an indirect dispatch"));
        };
        let block = dispatch.native.ok_or_else(|| failed("no workgroup size"))?.workgroup_size;
        let given = buffers
            .keys()
            .map(|(group, binding)| Parameter::Buffer { group: *group, binding: *binding });
        let parameters = given.collect();
        let leaves = "static const bool leaves = ended_may_be_named = true;";
        let source = format!("{leaves}\nnamespace wgsl {{\n{}\n}}", launch.source);
        let kernel = dispatch.entry_point.clone();
        let translated = Translated {
            source,
            kernel,
            parameters,
            constants: Vec::new(),
            block,
            workgroup_bytes: 0,
        };
        run(&translated, &mut buffers, &[], grid)?;
    }
    let named = launch.buffers.iter().zip(buffers.into_values());
    let outputs = named.filter(|(buffer, _)| buffer.output);
    Ok(outputs.map(|(buffer, bytes)| (buffer.name.clone(), bytes)).collect())
}
