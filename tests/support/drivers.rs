//! The drivers that tests run on, where they are installed: CPU drivers of Vulkan, and CUDA where there is an NVIDIA
//! GPU.

use std::path::Path;

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
    /// What the ids of its back end's devices begin with.
    prefix: &'static str,
    /// Whether it reports another width than it runs.
    lies: bool,
    /// Whether long checks leave it out: other configurations stand for its driver and its width.
    left_out_of_long: bool,
    /// Whether it is there for its width alone: another configuration of the same driver is run always.
    pub(crate) stands_for_a_width: bool,
    /// Whether an endless loop runs until its process is ended.
    keeps_endless_loops: bool,
}

/// A check of one driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// Which drivers it is for.
    needs: Needs,
    pub(crate) run: fn(&Driver),
}

/// What a driver must be like for a check.
#[derive(Clone, Copy, Debug)]
struct Needs {
    /// One that reports another width than it runs, rather than one that does not.
    lies: bool,
    /// The check depends on the width and on the driver, but not on both together, and is long.
    long: bool,
    /// What wgpu offers or naga writes for it, or the library over a device of wgpu's.
    wgpu: bool,
    /// One that does not leave endless loops by itself.
    endless_loops: bool,
}

impl Check {
    /// A check for every driver that reports the width that it runs.
    pub(crate) const fn new(name: &'static str, run: fn(&Driver)) -> Self {
        let needs = Needs { lies: false, long: false, wgpu: false, endless_loops: false };
        Self { name, needs, run }
    }

    /// The same for drivers that report another width.
    pub(crate) const fn lying(mut self) -> Self {
        self.needs.lies = true;
        self
    }

    /// The same without the configurations that others stand for.
    pub(crate) const fn long(mut self) -> Self {
        self.needs.long = true;
        self
    }

    /// The same for drivers that wgpu reaches alone.
    pub(crate) const fn wgpu(mut self) -> Self {
        self.needs.wgpu = true;
        self
    }

    /// The same for drivers that do not leave endless loops by themselves.
    pub(crate) const fn endless_loops(mut self) -> Self {
        self.needs.endless_loops = true;
        self
    }

    /// Whether it is long.
    pub(crate) fn is_long(&self) -> bool {
        self.needs.long
    }

    /// Whether it is for this driver.
    pub(crate) fn is_for(&self, driver: &Driver) -> bool {
        let Needs { lies, long, wgpu, endless_loops } = self.needs;
        driver.lies == lies
            && !(long && driver.left_out_of_long)
            && (!wgpu || driver.prefix == "wgpu")
            && (!endless_loops || driver.keeps_endless_loops)
    }
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
        prefix: "wgpu",
        lies: false,
        left_out_of_long: false,
        stands_for_a_width: true,
        // It leaves endless loops by itself.
        keeps_endless_loops: false,
    }
}

impl Driver {
    /// Every configuration that tests run on.
    pub(crate) fn all() -> [Self; 6] {
        [
            // SwiftShader has 4 lanes too, and lavapipe runs at 8 and 16.
            Self { left_out_of_long: true, ..lavapipe("lavapipe_4", "128", 4) },
            Self { stands_for_a_width: false, ..lavapipe("lavapipe_8", "256", 8) },
            lavapipe("lavapipe_16", "512", 16),
            // Reports 32 and runs 16.
            Self { lies: true, ..lavapipe("lavapipe_lying", "1024", 16) },
            Self {
                name: "swiftshader",
                family: "swiftshader",
                manifests: SWIFTSHADER,
                bits: None,
                width: 4,
                prefix: "wgpu",
                lies: false,
                left_out_of_long: false,
                stands_for_a_width: false,
                keeps_endless_loops: true,
            },
            Self {
                name: "cuda",
                family: "cuda",
                manifests: &[],
                bits: None,
                width: 32,
                prefix: "cuda",
                lies: false,
                left_out_of_long: false,
                stands_for_a_width: false,
                // Not tried: nothing but a driver's own limit would end it.
                keeps_endless_loops: false,
            },
        ]
    }

    fn manifest(&self) -> Option<&'static str> {
        self.manifests.iter().copied().find(|path| Path::new(path).exists())
    }

    /// Why the driver cannot be used, where it cannot.
    pub(crate) fn missing(&self) -> Option<String> {
        if self.prefix == "cuda" {
            let listed = lanescope::run::cuda::list();
            let compiler = if listed.compiles { None } else { listed.path };
            return listed.trouble.or(compiler);
        }
        self.manifest().is_none().then(|| format!("{} is not installed", self.family))
    }

    /// The id of its device.
    pub(crate) fn device(&self) -> String {
        format!("{}:0", self.prefix)
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
