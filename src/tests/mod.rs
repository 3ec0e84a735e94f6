//! Tests of lanescope's packages that need the catalogue, which those packages do not know.
//!
//! Input: the catalogue's kernels at small sizes, and random programs. Output: assertions on counting,
//! on what the back ends write, on plans of partitions. What needs no catalogue is tested where it is.

use std::collections::BTreeMap;

use crate::instrument::{CounterScheme, Options};
use crate::kernel::{Catalogue, DeviceClass, SEED, Workgroups};
use crate::program::{Overrides, Parsed, Program};
use crate::record::Value;
use crate::simulate::{Config, Fma, Reconvergence, Schedule};
use crate::units::Width;

mod algorithms;
mod derived;
mod emission;
mod estimated;
mod partition;

#[path = "../../tests/support/random_program/mod.rs"]
#[expect(dead_code, reason = "shrinking is for the side-by-side runs")]
mod random_program;

const OPTIONS: Options = Options {
    method: CounterScheme::Executed,
    subgroup_width_max: 128,
    counter_bytes_max: 1 << 20,
    workgroups: None,
};

const METHODS: [CounterScheme; 3] =
    [CounterScheme::Executed, CounterScheme::Histogram, CounterScheme::Derived];

/// The most invocations of the catalogue's launches that run here.
const INVOCATIONS_MAX: u32 = 2048;

/// A buffer's place and bytes.
type Bound = (u32, u32, Vec<u8>);

/// A dispatch of the catalogue that the simulator runs in no time.
struct SmallDispatch {
    kernel: String,
    program: Program,
    workgroups: [u32; 3],
    buffers: Vec<Bound>,
}

fn program(text: &str) -> Program {
    let parsed = Parsed::new("t.wgsl", text).unwrap();
    let entry = parsed.entry_points()[0].to_owned();
    parsed.resolve(&entry, &Overrides::new()).unwrap()
}

fn config(width: u32) -> Config {
    Config {
        width: Width::new(width).unwrap(),
        reconvergence: Reconvergence::Maximal,
        fma: Fma::Fused,
        steps_max: 1 << 28,
        operations_max: u64::MAX,
        schedule: Schedule::InOrder,
        strict: false,
        threads: Some(1),
        zero_workgroup_memory: true,
    }
}

/// Every direct dispatch of the catalogue at about 500 elements that is small enough.
fn small_dispatches() -> Vec<SmallDispatch> {
    let catalogue = Catalogue::embedded().unwrap();
    let mut found = Vec::new();
    for kernel in catalogue.kernels() {
        let with = |n: Option<i64>| {
            let mut chosen = BTreeMap::<String, Value>::new();
            if let Some(n) = n.filter(|_| kernel.defaults(DeviceClass::Quick).contains_key("n")) {
                chosen.insert("n".to_owned(), Value::Integer(n));
            }
            kernel.launch(DeviceClass::Quick, &chosen, SEED)
        };
        // Some take certain sizes only.
        let launch = with(Some(500)).or_else(|_| with(Some(512))).or_else(|_| with(None)).unwrap();
        let parsed = Parsed::new(&launch.file, &launch.source).unwrap();
        for dispatch in &launch.dispatches {
            let Workgroups::Direct(workgroups) = dispatch.workgroups else {
                continue;
            };
            let program = parsed.resolve(&dispatch.entry_point, &launch.overrides).unwrap();
            // What occupies whole devices would take the simulator minutes.
            let size: u32 = program.workgroup_size().iter().chain(&workgroups).product();
            if size > INVOCATIONS_MAX {
                continue;
            }
            let bound = program.bindings().unwrap().into_iter().map(|binding| {
                let buffer = launch.buffer(&binding.name).unwrap();
                (binding.group, binding.binding, launch.contents(buffer))
            });
            let buffers = bound.collect();
            let kernel = launch.kernel.clone();
            found.push(SmallDispatch { kernel, program, workgroups, buffers });
        }
    }
    assert!(found.len() > 30, "only {} dispatches", found.len());
    found
}
