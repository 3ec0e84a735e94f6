//! The catalogue's kernels in CUDA C++, without a GPU.
//!
//! Input: the kernels, NVRTC, the system's C++ compiler. Output: checks. NVRTC compiles them; on a
//! processor, with lanes that have a program counter each, they give what their references say; and
//! what one program counter a subgroup makes of a lock is shown on the simulator, by the same lock in
//! WGSL.

use std::collections::BTreeMap;

use lanescope::kernel::reference::{OutputVerdict, check};
use lanescope::kernel::{Catalogue, DeviceClass, Kernel, KernelLanguage, Launch, SEED};
use lanescope::record::{Method, Output, Value};
use lanescope::run::cuda::embedded::native_text;
use lanescope::run::cuda::nvrtc::Nvrtc;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Runner};
use lanescope::units::Width;
use libtest_mimic::Trial;
use rayon::prelude::*;

use super::lockstep::native;
use crate::support::trials_of;

/// The first architecture with `__match_any_sync`, and one before it, in NVRTC's words.
const MATCHES: [&str; 2] = ["compute_70", "compute_60"];

/// Trials that need nothing.
pub(super) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("cuda::one_program_counter_lets_one_lane_have_the_lock", one_program_counter),
        ("cuda::kernels_in_cuda_are_refused_elsewhere", refused),
    ])
}

fn launch(kernel: &Kernel, chosen: &[(&str, Value)]) -> Launch {
    let chosen = chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    kernel.launch(DeviceClass::Quick, &chosen, SEED).unwrap_or_else(|error| panic!("{error}"))
}

/// Every kernel compiles; `match` from the architecture on that has the instruction.
pub(super) fn compile(compiler: &Nvrtc, architecture: u32) {
    let catalogue = Catalogue::embedded().unwrap();
    let native: Vec<&Kernel> =
        catalogue.all().filter(|kernel| kernel.language == KernelLanguage::Cuda).collect();
    assert!(native.len() >= 7, "{}", native.len());
    for kernel in native {
        let target = format!("compute_{architecture}");
        let text = native_text(&format!("{}.cu", kernel.id), &kernel.source);
        let compiled = compiler.compile_for(&text, &target);
        compiled.unwrap_or_else(|error| panic!("{} for {target}: {error}", kernel.id));
        if kernel.family() == "match" && compiler.architectures().contains(&60) {
            let compiles = MATCHES.map(|target| compiler.compile_for(&text, target).is_ok());
            assert_eq!(compiles, [true, false], "{}", kernel.id);
        }
    }
}

/// Every kernel whose workgroups need not be there together, on a processor, against its reference;
/// those whose workgroups do run one after the other, as where too many are launched.
pub(super) fn runs() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut launches = Vec::new();
    for kernel in catalogue.all().filter(|kernel| kernel.language == KernelLanguage::Cuda) {
        let mut points = kernel.points(&BTreeMap::new());
        if kernel.family() == "coalesced_group" {
            // Other numbers of lanes than those near half.
            points.push(BTreeMap::from([("density".to_owned(), Value::Real(0.95))]));
        }
        for mut point in points {
            // Whole workgroups where a kernel takes no others.
            let n = if kernel.family() == "occupancy" { 256 } else { 1000 };
            for (name, value) in [("workgroups", 1), ("n", n)] {
                if kernel.description.parameters.contains_key(name) {
                    point.insert(name.to_owned(), Value::Integer(value));
                }
            }
            launches.push(kernel.launch(DeviceClass::Quick, &point, SEED).unwrap());
        }
    }
    assert!(launches.len() >= 14, "{}", launches.len());
    launches.par_iter().for_each(|launch| {
        let (kernel, parameters) = (&launch.kernel, &launch.parameters);
        let outputs =
            native(launch).unwrap_or_else(|error| panic!("{kernel} {parameters:?}: {error}"));
        match check(launch, &outputs).unwrap() {
            OutputVerdict::Verified => {}
            other => panic!("{kernel} {parameters:?}: {other:?}"),
        }
    });
    too_many(&catalogue);
    mistakes(&catalogue);
}

/// The words of an output.
fn words(outputs: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<u32> {
    outputs[name].as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Where workgroups cannot run together, all but the last give up, and nothing hangs.
fn too_many(catalogue: &Catalogue) {
    let kernel = catalogue.kernel("grid_sync/barrier").unwrap();
    let launch = launch(kernel, &[("workgroups", Value::Integer(3))]);
    let outputs = native(&launch).unwrap();
    assert_eq!(words(&outputs, "outcome"), [2, 2, 1]);
    // For workgroups that fit, which three do on any GPU, that is wrong.
    assert!(matches!(check(&launch, &outputs).unwrap(), OutputVerdict::Mismatch(_)));
}

/// The article's reduction is not the sum, and the references can tell.
fn mistakes(catalogue: &Catalogue) {
    let kernel = catalogue.kernel("coalesced_group/reduction").unwrap();
    let form = |form: &str| {
        let form = Value::Name(form.to_owned());
        launch(kernel, &[("form", form), ("n", Value::Integer(1000))])
    };
    let published = native(&form("published")).unwrap();
    assert!(matches!(check(&form("published"), &published).unwrap(), OutputVerdict::Verified));
    assert!(matches!(check(&form("corrected"), &published).unwrap(), OutputVerdict::Mismatch(_)));
    let covered = words(&published, "covered_by_size");
    assert!(covered.iter().zip(0_u32..).any(|(covered, size)| *covered != 0 && *covered < size));
}

/// One program counter a subgroup: the holder waits after the loop for lanes that wait for the lock.
fn one_program_counter() {
    let catalogue = Catalogue::embedded().unwrap();
    let kernel = catalogue.kernel("reconvergence/bounded_lock").unwrap();
    for (form, each) in [("after_loop", 1.0), ("inside_loop", 32.0)] {
        let launch = launch(kernel, &[("form", Value::Name(form.to_owned()))]);
        let mut simulator = SimulatorRunner::new(Width::new(32).unwrap(), STEPS_MAX);
        let options = CountRequest::once(Method::Executed);
        let counted = simulator.count_once(&launch, &options).unwrap();
        assert_eq!(counted.checked.output, Output::Verified, "{form}: {:?}", counted.checked);
        for subgroup in counted.outputs_shown["got"].chunks(32) {
            assert_eq!(subgroup.iter().sum::<f64>().to_bits(), f64::to_bits(each), "{form}");
        }
    }
}

/// What is no WGSL is refused with a sentence by every other device.
fn refused() {
    let catalogue = Catalogue::embedded().unwrap();
    let launch = launch(catalogue.kernel("match/any").unwrap(), &[]);
    let mut simulator = SimulatorRunner::new(Width::new(32).unwrap(), STEPS_MAX);
    let options = CountRequest::once(Method::Executed);
    let error = simulator.count_once(&launch, &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "match/any is not available on this device: it is CUDA C++, for what WGSL cannot say, and \
         runs on cuda:N alone"
    );
}
