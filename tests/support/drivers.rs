//! The drivers that tests run on, where they are installed, and what makes them required: CPU drivers
//! of Vulkan, and CUDA where there is an NVIDIA GPU.

use std::path::Path;

use lanescope::run::worker::Interface;

/// A driver in one configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driver {
    /// What tests call it.
    pub(crate) name: &'static str,
    /// What `LANESCOPE_REQUIRE` calls it.
    pub(crate) family: &'static str,
    /// Places of its manifest, the first that is there counts.
    manifests: &'static [&'static str],
    /// lavapipe's vector width in bits.
    bits: Option<&'static str>,
    /// The width that it runs, in lanes.
    pub(crate) width: u32,
    /// By which interface its device is reached.
    pub(crate) interface: Interface,
}

const LAVAPIPE: &[&str] = &[
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.json",
];

const SWIFTSHADER: &[&str] =
    &["/usr/lib/chromium/vk_swiftshader_icd.json", "/usr/lib64/chromium/vk_swiftshader_icd.json"];

const fn lavapipe(name: &'static str, bits: &'static str, width: u32) -> Driver {
    Driver {
        name,
        family: "lavapipe",
        manifests: LAVAPIPE,
        bits: Some(bits),
        width,
        interface: Interface::Wgpu,
    }
}

impl Driver {
    /// Every configuration that tests run on.
    pub(crate) fn all() -> [Self; 6] {
        [
            lavapipe("lavapipe_4", "128", 4),
            lavapipe("lavapipe_8", "256", 8),
            lavapipe("lavapipe_16", "512", 16),
            // Reports 32 and runs 16.
            lavapipe("lavapipe_lying", "1024", 16),
            Self {
                name: "swiftshader",
                family: "swiftshader",
                manifests: SWIFTSHADER,
                bits: None,
                width: 4,
                interface: Interface::Wgpu,
            },
            Self {
                name: "cuda",
                family: "cuda",
                manifests: &[],
                bits: None,
                width: 32,
                interface: Interface::Cuda,
            },
        ]
    }

    /// Whether a check is for this configuration.
    ///
    /// Long checks of what depends on the width and on the driver, but not on both together, leave
    /// lavapipe's 4 lanes out: SwiftShader has 4, and lavapipe runs them at 8 and 16.
    pub(crate) fn takes(&self, check: &str) -> bool {
        match check {
            "collectives_are_right"
            | "estimates_bound_what_is_executed"
            | "sort_then_dispatch_is_right" => {
                !["lavapipe_lying", "lavapipe_4"].contains(&self.name)
            }
            "partitions_are_stable_and_right" => {
                !["lavapipe_lying", "lavapipe_4"].contains(&self.name)
                    && self.interface == Interface::Wgpu
            }
            "misreported_width_is_flagged" => self.name == "lavapipe_lying",
            // lavapipe leaves endless loops by itself.
            "endless_loop_costs_its_process_only" => self.name == "swiftshader",
            // CUDA binds whatever there is memory for.
            "what_is_too_large_is_refused_with_its_limit" => {
                self.name != "lavapipe_lying" && self.family != "cuda"
            }
            // What wgpu offers or naga writes for it, and the library over a device of wgpu's.
            "a_device_without_subgroups_is_estimated"
            | "what_a_device_lacks_is_named"
            | "a_panic_of_naga_costs_its_device_only"
            | "dispatches_are_timed_within_their_launch"
            | "the_librarys_collectives_are_right_again_and_again" => {
                self.name != "lavapipe_lying" && self.interface == Interface::Wgpu
            }
            _ => self.name != "lavapipe_lying",
        }
    }

    fn manifest(&self) -> Option<&'static str> {
        self.manifests.iter().copied().find(|path| Path::new(path).exists())
    }

    /// Why the driver cannot be used, where it cannot.
    pub(crate) fn missing(&self) -> Option<String> {
        if self.interface == Interface::Cuda {
            let listed = lanescope::run::cuda::list();
            let compiler = listed.compiles.then_some(()).ok_or(listed.path);
            return listed.trouble.or(compiler.err());
        }
        self.manifest().is_none().then(|| format!("{} is not installed", self.family))
    }

    /// Whether its absence is a failure.
    pub(crate) fn required(&self) -> bool {
        required(self.family)
    }

    /// The id of its device.
    pub(crate) fn device(&self) -> String {
        format!("{}:0", self.interface.prefix())
    }

    /// The environment in which a process sees this driver alone.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let mut variables = vec![
            ("VK_DRIVER_FILES".to_owned(), self.manifest().unwrap_or_default().to_owned()),
            ("MESA_SHADER_CACHE_DISABLE".to_owned(), "true".to_owned()),
        ];
        if let Some(bits) = self.bits {
            variables.push(("LP_NATIVE_VECTOR_WIDTH".to_owned(), bits.to_owned()));
        }
        variables
    }
}

/// Whether `LANESCOPE_REQUIRE` names something.
pub(crate) fn required(what: &str) -> bool {
    let required = std::env::var("LANESCOPE_REQUIRE").unwrap_or_default();
    required.split(',').any(|name| name.trim() == what)
}
