//! The languages that naga writes.
//!
//! Input: nothing. Output: their names.
/// A language that naga writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetLanguage {
    /// For Vulkan.
    SpirV,
    /// For Metal.
    Msl,
    /// For DX12.
    Hlsl,
    /// For browsers.
    Wgsl,
}

impl std::fmt::Display for TargetLanguage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::SpirV => "SPIR-V",
            Self::Msl => "MSL",
            Self::Hlsl => "HLSL",
            Self::Wgsl => "WGSL",
        })
    }
}
