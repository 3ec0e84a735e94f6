//! What a module needs that a device may lack, in words.
//!
//! Input: a module, and the features and limits of an open device. Output: nothing, or an error that
//! names the first thing that is missing and a way out, where wgpu's own message fills a page. It
//! makes no module and asks no driver.

use naga::Module;
use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use wgpu::{Features, Limits};

use super::super::{RunError, RunErrorKind};
use crate::program::{Needs, guard};

/// A feature of WGSL that devices may lack.
struct Optional {
    feature: Features,
    capability: Capabilities,
    /// What a user calls it.
    name: &'static str,
    /// What to write instead.
    instead: &'static str,
}

const OPTIONAL: [Optional; 12] = [
    Optional {
        feature: Features::SHADER_F16,
        capability: Capabilities::SHADER_FLOAT16,
        name: "half-precision floats (f16)",
        instead: "use f32",
    },
    Optional {
        feature: Features::SHADER_F64,
        capability: Capabilities::FLOAT64,
        name: "double-precision floats (f64)",
        instead: "use f32",
    },
    Optional {
        feature: Features::SHADER_INT64_ATOMIC_MIN_MAX,
        capability: Capabilities::SHADER_INT64_ATOMIC_MIN_MAX,
        name: "atomics of 64-bit integers",
        instead: "use 32 bits",
    },
    Optional {
        feature: Features::SHADER_INT64_ATOMIC_ALL_OPS,
        capability: Capabilities::SHADER_INT64_ATOMIC_ALL_OPS,
        name: "atomics of 64-bit integers beyond min and max",
        instead: "use 32 bits",
    },
    Optional {
        feature: Features::SHADER_INT64,
        capability: Capabilities::SHADER_INT64,
        name: "64-bit integers (i64, u64)",
        instead: "use 32 bits",
    },
    Optional {
        feature: Features::SHADER_FLOAT32_ATOMIC,
        capability: Capabilities::SHADER_FLOAT32_ATOMIC,
        name: "atomics of floats",
        instead: "use integers",
    },
    Optional {
        feature: Features::SUBGROUP_BARRIER,
        capability: Capabilities::SUBGROUP_BARRIER,
        name: "subgroupBarrier",
        instead: "use workgroupBarrier",
    },
    Optional {
        feature: Features::SUBGROUP,
        capability: Capabilities::SUBGROUP,
        name: "subgroup operations",
        instead: "use workgroup memory",
    },
    Optional {
        feature: Features::IMMEDIATES,
        capability: Capabilities::IMMEDIATES,
        name: "immediate data (var<immediate>)",
        instead: "use a uniform buffer",
    },
    Optional {
        feature: Features::TEXTURE_INT64_ATOMIC,
        capability: Capabilities::TEXTURE_INT64_ATOMIC,
        name: "atomics of 64-bit texels",
        instead: "use 32 bits",
    },
    Optional {
        feature: Features::TEXTURE_ATOMIC,
        capability: Capabilities::TEXTURE_ATOMIC,
        name: "atomics of texels",
        instead: "use a storage buffer",
    },
    Optional {
        feature: Features::TEXTURE_FORMAT_16BIT_NORM,
        capability: Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS,
        name: "storage textures of 16-bit normalised numbers",
        instead: "use floats",
    },
];

/// Checks that a device with these features and limits can run a module.
///
/// # Errors
///
/// [`RunErrorKind::Unsupported`] with what is missing.
pub(super) fn check(
    file: &str,
    module: &Module,
    features: Features,
    limits: &Limits,
) -> Result<(), RunError> {
    let unsupported = |message: String| RunError::new(RunErrorKind::Unsupported, message);
    for optional in OPTIONAL.iter().filter(|optional| !features.contains(optional.feature)) {
        if needs(file, module, optional.capability)? {
            let Optional { name, instead, .. } = optional;
            return Err(unsupported(format!(
                "{file} uses {name}, which this device does not offer; {instead}, or choose another \
                 device"
            )));
        }
    }
    for entry in &module.entry_points {
        let size = entry.workgroup_size;
        let sizes = [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ];
        let invocations = size.iter().map(|size| u64::from(*size)).product::<u64>();
        let most = limits.max_compute_invocations_per_workgroup;
        if invocations > u64::from(most) || size.iter().zip(sizes).any(|(size, max)| *size > max) {
            let [x, y, z] = size;
            return Err(unsupported(format!(
                "{file}: `{}` has workgroups of {x}×{y}×{z}; this device takes at most {most} \
                 invocations, {}×{}×{} along the dimensions; make workgroups smaller",
                entry.name, sizes[0], sizes[1], sizes[2]
            )));
        }
    }
    let bytes = Needs::from_module(module).workgroup_bytes;
    let most = limits.max_compute_workgroup_storage_size;
    if bytes > u64::from(most) {
        return Err(unsupported(format!(
            "{file} takes {bytes} bytes of workgroup memory; this device has {most}; make its \
             var<workgroup> smaller"
        )));
    }
    Ok(())
}

/// Whether a valid module is not valid where `capability` is missing.
fn needs(file: &str, module: &Module, capability: Capabilities) -> Result<bool, RunError> {
    let verdict = guard(file, "validated", || {
        let mut validator =
            Validator::new(ValidationFlags::all(), Capabilities::all() - capability);
        let subgroups = capability != Capabilities::SUBGROUP;
        if subgroups {
            validator.subgroup_stages(ShaderStages::all());
            validator.subgroup_operations(SubgroupOperationSet::all());
        } else {
            validator.subgroup_stages(ShaderStages::empty());
            validator.subgroup_operations(SubgroupOperationSet::empty());
        }
        validator.validate(module).is_err()
    });
    verdict.map_err(|error| RunError::new(RunErrorKind::Panicked, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    /// What is said of a shader on a device without some features.
    fn check_without(text: &str, without: Features) -> Result<(), String> {
        let program = Parsed::new("t.wgsl", text).unwrap().resolve("main", &Overrides::new());
        let limits = Limits::default();
        check("t.wgsl", program.unwrap().module(), Features::all() - without, &limits).map_err(
            |error| {
                assert_eq!(error.kind, RunErrorKind::Unsupported);
                error.message
            },
        )
    }

    fn shader(body: &str) -> String {
        format!(
            "enable f16;\n@group(0) @binding(0) var<storage, read_write> o: array<f32>;
             @group(0) @binding(1) var<storage, read_write> a: atomic<u64>;
             struct I {{ n: u32 }}
             var<immediate> i: I;
             @compute @workgroup_size(64)
             fn main(@builtin(local_invocation_index) id: u32) {{ {body} }}"
        )
    }

    #[test]
    fn each_feature_is_named_where_it_is_missing_and_used() {
        let cases = [
            (Features::SHADER_F16, "o[id] = f32(f16(id) * 2h);", "(f16)"),
            (Features::SHADER_F64, "o[id] = f32(f64(id) * 2lf);", "(f64)"),
            (Features::SHADER_INT64, "o[id] = f32(u64(id) * 3lu);", "(i64, u64)"),
            (Features::SHADER_INT64_ATOMIC_ALL_OPS, "atomicAdd(&a, 1lu);", "beyond min and max"),
            (Features::SUBGROUP, "o[id] = subgroupAdd(1f);", "subgroup operations"),
            (Features::SUBGROUP_BARRIER, "subgroupBarrier();", "subgroupBarrier"),
            (Features::IMMEDIATES, "o[id] = f32(i.n);", "immediate data"),
        ];
        for (feature, body, words) in cases {
            assert_eq!(check_without(&shader(body), Features::empty()), Ok(()), "{body}");
            let message = check_without(&shader(body), feature).unwrap_err();
            assert!(message.starts_with("t.wgsl uses "), "{message}");
            assert!(message.contains(words) && message.contains("; use "), "{message}");
            assert!(!message.contains('\n') && message.len() < 160, "{message}");
            assert_eq!(check_without(&shader("o[id] = 1.0;"), feature), Ok(()), "it is not used");
        }
    }

    #[test]
    fn limits_are_named() {
        let large = "@compute @workgroup_size(32, 16, 2) fn main() {}";
        let message = check_without(large, Features::empty()).unwrap_err();
        assert!(
            message.contains("`main` has workgroups of 32×16×2; this device takes at most 256")
        );
        let memory = "var<workgroup> w: array<u32, 5000>;
            @compute @workgroup_size(64) fn main() { w[1] = 1u; }";
        let message = check_without(memory, Features::empty()).unwrap_err();
        assert!(message.contains("takes 20000 bytes of workgroup memory; this device has 16384"));
    }
}
