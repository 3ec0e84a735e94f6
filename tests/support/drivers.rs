//! The CPU drivers that tests run on, where they are installed, and what makes them required.

use std::path::Path;

/// A Vulkan driver in one configuration.
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
}

const LAVAPIPE: &[&str] = &[
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.json",
];

const SWIFTSHADER: &[&str] =
    &["/usr/lib/chromium/vk_swiftshader_icd.json", "/usr/lib64/chromium/vk_swiftshader_icd.json"];

const fn lavapipe(name: &'static str, bits: &'static str, width: u32) -> Driver {
    Driver { name, family: "lavapipe", manifests: LAVAPIPE, bits: Some(bits), width }
}

impl Driver {
    /// Every configuration that tests run on.
    pub(crate) fn all() -> [Self; 5] {
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
            },
        ]
    }

    /// Whether a check is for this configuration.
    pub(crate) fn takes(&self, check: &str) -> bool {
        match check {
            "misreported_width_is_flagged" => self.name == "lavapipe_lying",
            // lavapipe leaves endless loops by itself.
            "endless_loop_costs_its_process_only" => self.name == "swiftshader",
            _ => self.name != "lavapipe_lying",
        }
    }

    fn manifest(&self) -> Option<&'static str> {
        self.manifests.iter().copied().find(|path| Path::new(path).exists())
    }

    /// Why the driver cannot be used, where it cannot.
    pub(crate) fn missing(&self) -> Option<String> {
        self.manifest().is_none().then(|| format!("{} is not installed", self.family))
    }

    /// Whether its absence is a failure.
    pub(crate) fn required(&self) -> bool {
        let required = std::env::var("LANESCOPE_REQUIRE").unwrap_or_default();
        required.split(',').any(|name| name.trim() == self.family)
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
