//! What an entry point takes of a device, as WebGPU's limits count it.
//!
//! Input: a module with one entry point, plain or instrumented, without overrides. Output:
//! [`Needs`]. It knows no device; [`Needs::DEFAULTS`] is what WebGPU promises on every one.

use naga::proc::Layouter;
use naga::{AddressSpace, Module};

/// What an entry point takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Storage buffers that it binds.
    pub storage_buffers: u32,
    /// Invocations of a workgroup.
    pub invocations: u32,
    /// Bytes of workgroup memory, each variable rounded up to 16.
    pub workgroup_bytes: u64,
}

impl Needs {
    /// What every device of WebGPU has where nothing more is asked for: the defaults of
    /// `maxStorageBuffersPerShaderStage`, `maxComputeInvocationsPerWorkgroup` and
    /// `maxComputeWorkgroupStorageSize` (<https://www.w3.org/TR/webgpu/#limits>).
    pub const DEFAULTS: Self =
        Self { storage_buffers: 8, invocations: 256, workgroup_bytes: 16 << 10 };

    /// What a module's entry point takes; types that naga cannot lay out count nothing.
    pub fn from_module(module: &Module) -> Self {
        let mut layouter = Layouter::default();
        let known = layouter.update(module.to_ctx()).is_ok();
        let mut needs = Self {
            storage_buffers: 0,
            invocations: module
                .entry_points
                .first()
                .map_or(1, |e| e.workgroup_size.iter().product()),
            workgroup_bytes: 0,
        };
        for (_, variable) in module.global_variables.iter() {
            if matches!(variable.space, AddressSpace::Storage { .. }) {
                needs.storage_buffers += 1;
            } else if variable.space == AddressSpace::WorkGroup && known {
                let size = u64::from(layouter[variable.ty].size);
                needs.workgroup_bytes += size.next_multiple_of(16);
            }
        }
        needs
    }

    /// The most of both in each respect.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            storage_buffers: self.storage_buffers.max(other.storage_buffers),
            invocations: self.invocations.max(other.invocations),
            workgroup_bytes: self.workgroup_bytes.max(other.workgroup_bytes),
        }
    }

    /// What lies beyond WebGPU's defaults, in words with the default behind: empty if all is
    /// within.
    pub fn beyond_defaults(self) -> Vec<String> {
        let Self { storage_buffers, invocations, workgroup_bytes } = Self::DEFAULTS;
        let mut beyond = Vec::new();
        if self.storage_buffers > storage_buffers {
            beyond.push(format!("{} storage buffers ({storage_buffers})", self.storage_buffers));
        }
        if self.invocations > invocations {
            beyond.push(format!("{} invocations a workgroup ({invocations})", self.invocations));
        }
        if self.workgroup_bytes > workgroup_bytes {
            let bytes = self.workgroup_bytes;
            beyond.push(format!("{bytes} bytes of workgroup memory ({workgroup_bytes})"));
        }
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    fn needs(text: &str) -> Needs {
        let parsed = Parsed::new("t.wgsl", text).unwrap();
        Needs::from_module(parsed.resolve("main", &Overrides::new()).unwrap().module())
    }

    #[test]
    fn what_the_entry_point_reaches_is_counted() {
        let found = needs(
            "override N: u32 = 5u;
             @group(0) @binding(0) var<storage, read> a: array<u32>;
             @group(0) @binding(1) var<storage, read_write> b: array<u32>;
             @group(0) @binding(2) var<storage> not_reached: array<u32>;
             @group(0) @binding(3) var<uniform> u: vec4<u32>;
             var<workgroup> w: array<u32, N>;
             var<workgroup> x: u32;
             @compute @workgroup_size(8, 4)
             fn main() { x = 1u; w[0] = x; b[0] = a[0] + u.x + w[1]; }",
        );
        assert_eq!(found, Needs { storage_buffers: 2, invocations: 32, workgroup_bytes: 32 + 16 });
        assert_eq!(found.beyond_defaults(), Vec::<String>::new());
    }

    #[test]
    fn what_lies_beyond_the_defaults_is_named() {
        let found = needs(
            "var<workgroup> w: array<u32, 5000>;
             @compute @workgroup_size(512) fn main() { w[0] = 1u; }",
        );
        let exceeded =
            found.most(Needs { storage_buffers: 9, ..Needs::DEFAULTS }).beyond_defaults();
        assert_eq!(
            exceeded,
            [
                "9 storage buffers (8)",
                "512 invocations a workgroup (256)",
                "20000 bytes of workgroup memory (16384)"
            ]
        );
    }
}
