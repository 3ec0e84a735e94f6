//! Shader modules without run-time checks: the only `unsafe` of `algorithms`.
//!
//! Input: a text of this package, finished. Output: its module.

use std::borrow::Cow;

use wgpu::{
    Backend, Device, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource,
};

/// The line by which a text asks for subgroups.
pub(super) const ENABLE_SUBGROUPS: &str = "enable subgroups;";

/// Creates a module without bounds, loop-bound and division checks.
///
/// A browser has to be asked for subgroups; naga 30 has them without, and takes no text that asks.
///
/// Callers give the texts of this crate alone, with numbers that they have checked: every access
/// lies inside the bindings whose sizes were checked before, and every loop ends.
#[expect(
    unsafe_code,
    reason = "wgpu offers modules without run-time checks through an unsafe function only"
)]
pub(super) fn shader_module(device: &Device, label: &str, text: &str) -> ShaderModule {
    let text = if device.adapter_info().backend == Backend::BrowserWebGpu {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(ENABLE_SUBGROUPS, ""))
    };
    let source = ShaderSource::Wgsl(text);
    let descriptor = ShaderModuleDescriptor { label: Some(label), source };
    // SAFETY: by the contract above the shader stays inside its bindings and ends.
    unsafe { device.create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked()) }
}
