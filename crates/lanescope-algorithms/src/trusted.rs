//! Shader modules without run-time checks: the only `unsafe` of `algorithms`.

use wgpu::{Device, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks};

/// Creates a module without bounds, loop-bound and division checks.
///
/// Callers give the texts of this crate alone, with numbers that they have checked: every access
/// lies inside the bindings whose sizes were checked before, and every loop ends.
#[expect(
    unsafe_code,
    reason = "wgpu offers modules without run-time checks through an unsafe function only"
)]
pub(super) fn shader_module(
    device: &Device,
    descriptor: ShaderModuleDescriptor<'_>,
) -> ShaderModule {
    // SAFETY: by the contract above the shader stays inside its bindings and ends.
    unsafe { device.create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked()) }
}
