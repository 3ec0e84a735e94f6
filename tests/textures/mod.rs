//! Textures: ten kernels as users write them, every format, and random programs of loads and filters.
//!
//! Input: the shaders of `tests/textures/wgsl`, and shaders made here. Output: trials, and checks for each
//! driver. A kernel runs on the simulator with made-up contents and nothing is reported; on a driver its
//! blocks execute as often and with as many lanes as the simulator says. Loads and stores of every
//! format that the driver has give the same bits; filtered reads lie within 1/256 of the range.

use std::path::Path;

use lanescope::kernel::{Description, Launch, SEED};
use lanescope::record;
use lanescope::run::launched::programs;
use lanescope::run::profile::{self, ProfileRequest};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, RunErrorKind, Runner};
use lanescope::texture::{SampledKind, TextureFormat};
use lanescope::units::{Width, random::SplitMix64};
use libtest_mimic::Trial;

use crate::corpus::parts_at_rows;
use crate::devices;
use crate::support::agreement::wider_than_processor;
use crate::support::drivers::Driver;
use crate::support::side_by_side::compare_launch;

/// How far a filtered read may lie from the simulator's, where texels are from 0 to 1. With vectors of 512 bits
/// lavapipe filters 8-bit texels in 8-bit numbers, along each axis rounded down.
fn filter_tolerance(driver: &Driver) -> f64 {
    if driver.family == "lavapipe" && driver.width == 16 { 2.0 / 255.0 } else { 1.0 / 256.0 }
}

/// Kernels whose lanes need not be the simulator's: family of drivers, kernel, why.
const EXEMPT: [(&str, &str, &str); 1] =
    [("swiftshader", "sdf_march", "a march of 64 steps ends by the last bit of a length")];

/// Formats whose bits need not be the simulator's: family, format, why.
const ROUNDED: [(&str, TextureFormat, &str); 4] = [
    ("lavapipe", TextureFormat::Rgba8UnormSrgb, "the curve is a polynomial, off by up to 0.0012"),
    ("lavapipe", TextureFormat::Bgra8UnormSrgb, "the curve is a polynomial, off by up to 0.0012"),
    ("swiftshader", TextureFormat::Rgba8UnormSrgb, "the curve is rounded otherwise"),
    ("swiftshader", TextureFormat::Bgra8UnormSrgb, "the curve is rounded otherwise"),
];

/// Random programs.
const PROGRAMS: u64 = 24;

/// A shader's launch; `described` is a launch file's text.
fn launch(name: &str, source: &str, described: &str, n: u64) -> Launch {
    let description = Description::parse_launch_file("t.toml", described);
    let description = description.unwrap_or_else(|error| panic!("{error}"));
    let request = ProfileRequest {
        file: format!("{name}.wgsl"),
        name: name.to_owned(),
        source: source.to_owned(),
        derived: None,
        description: Some(("t.toml".to_owned(), description)),
        entry_point: None,
        workgroups: None,
        n: Some(n),
        seed: SEED,
    };
    let prepared = profile::prepare(&request, &mut |file| Err(format!("no file {file}")));
    prepared.unwrap_or_else(|error| panic!("{error}\n{source}")).launch
}

/// The kernels: name and text.
fn kernels() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/textures/wgsl");
    let mut kernels: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    kernels.sort();
    assert_eq!(kernels.len(), 10);
    kernels
}

/// A trial for each kernel on the simulator.
pub(crate) fn trials() -> Vec<Trial> {
    let kernel = |(name, text): (String, String)| {
        Trial::test(format!("textures::{name}"), move || {
            for width in [4, 32, 64] {
                let mut simulator = SimulatorRunner::new(Width::new(width).unwrap(), STEPS_MAX);
                let launch = launch(&name, &text, "", 4096);
                let request = CountRequest::once(record::Method::Executed);
                let counted = simulator.count_once(&launch, &request).unwrap();
                assert_eq!(counted.flags, [], "the simulator reports at {width}");
                let written = counted.outputs_sha256.keys().cloned().collect::<Vec<_>>();
                assert!(!written.is_empty());
                // Grids are as large as their textures, so that what guards them never returns.
                let counts = &counted.dispatches[0].counts;
                let idle = counts.iter().filter(|count| count.executions.0 == 0).count();
                assert!(idle * 5 <= counts.len(), "{idle} blocks of {name} are idle");
            }
            Ok(())
        })
    };
    kernels().into_iter().map(kernel).collect()
}

fn open(driver: &Driver) -> (impl Runner, SimulatorRunner) {
    let simulator = SimulatorRunner::new(Width::new(driver.width).unwrap(), STEPS_MAX);
    (devices::open(driver, 60).unwrap(), simulator)
}

/// Executions and lanes of every kernel are the simulator's.
pub(crate) fn kernels_agree(driver: &Driver) {
    let (mut device, mut simulator) = open(driver);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, text) in kernels() {
        let mut launch = launch(&name, &text, "", 4096);
        let program = programs(&launch).unwrap()[0].clone();
        // Floats may be rounded otherwise; formats are compared by themselves.
        for texture in &mut launch.textures {
            texture.output &= texture.layout.format.kind() == SampledKind::Uint;
        }
        for method in [record::Method::Executed, record::Method::Derived] {
            match compare_launch(
                &launch,
                None,
                CountRequest::once(method),
                &mut device,
                &mut simulator,
            ) {
                Ok(_)
                    if EXEMPT
                        .iter()
                        .any(|(f, n, _)| (*f, *n) == (driver.family, name.as_str())) => {}
                Ok(found) => {
                    compared += 1;
                    let named = |message: &String| format!("{name}, {method:?}: {message}");
                    wrong.extend(found.differences.iter().map(named));
                    if !parts_at_rows(driver, &program) {
                        wrong.extend(found.differences_in_issues.iter().map(named));
                    }
                }
                // Atomics of texels and some formats are optional.
                Err(error) if error.kind == RunErrorKind::Unsupported => {}
                Err(error) => wrong.push(format!("{name}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 14, "{compared} of 20 compared");
}

/// The type of a format's components in WGSL, and a range of them that the format holds.
fn components(format: TextureFormat) -> (&'static str, [f64; 2]) {
    let [least, greatest] = format.range(format.components() - 1);
    match format.kind() {
        SampledKind::Uint => ("u32", [0.0, (greatest + 1.0).min(4_294_967_295.0)]),
        SampledKind::Sint => ("i32", [least, greatest.min(2_147_483_647.0)]),
        // Beyond what normalised formats hold.
        SampledKind::Float | SampledKind::Depth if least == 0.0 => ("f32", [-0.25, 1.5]),
        SampledKind::Float | SampledKind::Depth => ("f32", [-2.0, 2.0]),
    }
}

/// Stores to every format that the driver stores to, and loads from every one that it samples.
#[expect(clippy::too_many_lines, reason = "stores, loads and what is said of them")]
pub(crate) fn formats_agree(driver: &Driver) {
    let (mut device, mut simulator) = open(driver);
    let (mut wrong, mut stored, mut loaded) = (Vec::new(), 0, 0);
    for &format in TextureFormat::ALL.iter().filter(|f| **f != TextureFormat::R64Uint) {
        let (scalar, [low, high]) = components(format);
        let store = format!(
            "@group(0) @binding(0) var<storage> values: array<vec4<{scalar}>>;
             @group(0) @binding(1) var image: texture_storage_2d<{format}, write>;
             @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 textureStore(image, vec2(id.x % 64, id.x / 64), values[id.x]);
             }}"
        );
        let values = format!(
            "[[buffers]]\nname = \"values\"\ntype = \"{scalar}\"\nelements = \"4 * n\"\n\
             fill = {{ uniform = [{low}, {high}] }}\n\
             [[textures]]\nname = \"image\"\nsize = [64, 64]\n"
        );
        let [least, greatest] = format.range(0);
        let (least, greatest) = (least.max(-2e9).max(low), greatest.min(2e9).min(high));
        let texture = if format.kind() == SampledKind::Depth {
            (
                "texture_depth_2d",
                "vec4(textureLoad(image, vec2(id.x % 64, id.x / 64), 0))".to_owned(),
            )
        } else {
            ("texture_2d", "textureLoad(image, vec2(id.x % 64, id.x / 64), 0)".to_owned())
        };
        let declared = match format.kind() {
            SampledKind::Depth => texture.0.to_owned(),
            _ => format!("{}<{scalar}>", texture.0),
        };
        let load = format!(
            "@group(0) @binding(0) var<storage, read_write> output: array<vec4<u32>>;
             @group(0) @binding(1) var image: {declared};
             @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 output[id.x] = bitcast<vec4<u32>>({});
             }}",
            texture.1
        );
        let texels = format!(
            "[[textures]]\nname = \"image\"\nformat = \"{format}\"\nsize = [64, 64]\n\
             fill = {{ uniform = [{least}, {greatest}] }}\n"
        );
        let is_storage = lanescope::program::Parsed::new("t.wgsl", &store).is_ok();
        for (text, described, count) in
            [(&store, &values, &mut stored), (&load, &texels, &mut loaded)]
        {
            if !is_storage && std::ptr::eq(text, &store) {
                continue;
            }
            let launch = launch(format.name(), text, described, 4096);
            let request = CountRequest::once(record::Method::Executed);
            match compare_launch(&launch, None, request, &mut device, &mut simulator) {
                Ok(found) => {
                    *count += 1;
                    let rounded =
                        ROUNDED.iter().any(|(f, g, _)| (*f, *g) == (driver.family, format));
                    // Vulkan leaves the rounding of stored halves and packed floats open.
                    let half = driver.family == "swiftshader"
                        && (format.name().ends_with("16float")
                            || format == TextureFormat::Rg11b10Ufloat)
                        && std::ptr::eq(text, &store);
                    if !rounded && !half {
                        let named = |message: &String| format!("{format}: {message}");
                        wrong.extend(found.differences.iter().map(named));
                    }
                }
                Err(error) if error.kind == RunErrorKind::Unsupported => {}
                Err(error) => wrong.push(format!("{format}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{stored} stored, {loaded} loaded:\n{}", wrong.join("\n"));
    assert!(stored >= 15 && loaded >= 30, "{stored} stored, {loaded} loaded");
}

/// A random program of reads: its text and its launch file.
#[expect(clippy::too_many_lines, reason = "a program's text from top to bottom")]
fn random_program(seed: u64) -> (String, String) {
    let mut random = SplitMix64::new(seed);
    let mut pick = |all: &[&str]| all[random.below(all.len())].to_owned();
    let view = pick(&["1d", "2d", "2d", "2d_array", "3d", "cube"]);
    let (mut at, size, integers) = match view.as_str() {
        "1d" => ("p.x", "size = [37]", "i32(p.x * 40.0) - 2"),
        "3d" => ("p", "size = [9, 6, 5]\nmip_levels = \"full\"", "vec3<i32>(p * 7.0)"),
        "cube" => ("p - 0.45", "size = [16, 16]\nmip_levels = \"full\"", ""),
        "2d_array" => (
            "p.xy",
            "size = [20, 11]\nlayers = 3\nmip_levels = \"full\"",
            "vec2<i32>(p.xy * 14.0) - 1",
        ),
        _ => ("p.xy", "size = [20, 11]\nmip_levels = \"full\"", "vec2<i32>(p.xy * 14.0) - 1"),
    };
    let array = if view == "2d_array" { ", i % 3" } else { "" };
    if view != "cube" {
        at = match at {
            "p.x" => "p.x * 3.0 - 1.0",
            "p" => "p * 3.0 - 1.0",
            _ => "p.xy * 3.0 - 1.0",
        };
    }
    let mut lines = Vec::new();
    for _ in 0..3 {
        let kind = pick(&["load", "sample", "gather", "grad", "sample"]);
        lines.push(match (kind.as_str(), view.as_str()) {
            ("load", "1d") => format!("sum = textureLoad(t, {integers}, 0);"),
            ("load", view) if view != "cube" => {
                let level = pick(&["0", "1", "i % 4"]);
                format!("sum = textureLoad(t, {integers}{array}, {level});")
            }
            ("gather", "2d" | "2d_array" | "cube") => {
                let component = pick(&["0", "1", "2", "3"]);
                format!("sum = textureGather({component}, t, s, {at}{array});")
            }
            ("grad", "2d" | "2d_array") => {
                let step = pick(&["0.05", "0.1", "0.2"]);
                format!(
                    "sum = textureSampleGrad(t, s, {at}{array}, vec2({step}, 0.0), vec2(0.0, 0.0));"
                )
            }
            (_, "1d") => format!("sum = textureSampleLevel(t, s, {at}, 0.0);"),
            _ => {
                let level = pick(&["0.0", "1.0", "0.5", "p.z * 3.0"]);
                let offset =
                    if view == "2d" { pick(&["", ", vec2(1, -2)"]) } else { String::new() };
                format!("sum = textureSampleLevel(t, s, {at}{array}, {level}{offset});")
            }
        });
        // What is loaded is exact, so that lanes may part by it.
        if lines.last().is_some_and(|line| line.contains("textureLoad")) {
            lines.push("if (sum.x > 0.5) { sum = sum.yxzw; }".to_owned());
        }
        lines.push("out[i * 3 + k] = sum; k++;".to_owned());
    }
    let text = format!(
        "@group(0) @binding(0) var<storage> places: array<vec4<f32>>;
         @group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
         @group(0) @binding(2) var t: texture_{view}<f32>;
         @group(0) @binding(3) var s: sampler;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let i = id.x; let p = places[i].xyz; var sum = vec4<f32>(); var k = 0u;
             {}
         }}",
        lines.join("\n             ")
    );
    let filter = pick(&["linear", "nearest"]);
    let mipmap = pick(&["linear", "nearest"]);
    let mode = pick(&["clamp-to-edge", "repeat", "mirror-repeat"]);
    let limit = pick(&["", "lod_max = 1.0\n", "lod_min = 1.0\n"]);
    let format = pick(&["rgba8unorm", "rgba16float", "rgba8unorm-srgb", "r8unorm"]);
    let described = format!(
        "[[textures]]\nname = \"t\"\nformat = \"{format}\"\n{size}\nfill = {{ noise = [0, 1] }}\n\
         [[samplers]]\nname = \"s\"\nfilter = \"{filter}\"\nmipmap_filter = \"{mipmap}\"\n\
         address = \"{mode}\"\n{limit}\
         [[buffers]]\nname = \"out\"\ntype = \"f32\"\nelements = \"12 * n\"\nshown = true\noutput = true\n"
    );
    (text, described)
}

/// What random programs read is the simulator's, within the precision of a filter; counts are equal.
pub(crate) fn random_reads_agree(driver: &Driver) {
    let (mut device, mut simulator) = open(driver);
    let (mut wrong, mut values, mut exact) = (Vec::new(), 0_usize, 0_usize);
    let wide = wider_than_processor(device.device());
    let tolerance = if wide { 16.0 / 255.0 } else { filter_tolerance(driver) };
    for seed in 0..PROGRAMS {
        let (text, described) = random_program(seed);
        // SwiftShader does not read across the edges of a cube's faces.
        if driver.family == "swiftshader" && text.contains("texture_cube") {
            continue;
        }
        // Vectors wider than the processor's read the curve of sRGB wrongly.
        if wide && described.contains("-srgb") {
            continue;
        }
        let launch = launch(&format!("random_{seed}"), &text, &described, 256);
        let request = CountRequest::once(record::Method::Executed);
        let expected = simulator.count_once(&launch, &request).unwrap();
        let found = match device.count_once(&launch, &request) {
            Ok(found) => found,
            Err(error) => {
                wrong.push(format!("program {seed}: {error}\n{text}"));
                continue;
            }
        };
        for (block, (one, other)) in
            expected.dispatches[0].counts.iter().zip(&found.dispatches[0].counts).enumerate()
        {
            if (one.executions, one.lanes) != (other.executions, other.lanes) {
                wrong.push(format!("program {seed}, block {block}: counts differ\n{text}"));
            }
        }
        let (expected_values, other) =
            (&expected.outputs_shown["out"], &found.outputs_shown["out"]);
        assert_eq!(expected_values.len(), 12 * 256);
        values += expected_values.len();
        exact += expected_values.iter().zip(other).filter(|(a, b)| a == b).count();
        let far: Vec<String> = expected_values
            .iter()
            .zip(other)
            .enumerate()
            .filter(|(_, (a, b))| (**a - **b).abs() > tolerance || a.is_nan() != b.is_nan())
            .map(|(at, (a, b))| format!("{at}: {a} simulated, {b}"))
            .collect();
        if !far.is_empty() {
            let some = far.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
            let count = far.len();
            wrong.push(format!("program {seed}: {count} values, {some}\n{text}\n{described}"));
        }
    }
    assert!(wrong.is_empty(), "{exact} of {values} exact\n{}", wrong.join("\n"));
    assert!(exact * 4 > values, "{exact} of {values} exact");
}
