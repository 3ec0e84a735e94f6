//! Shader modules without run-time checks: the only `unsafe` of `run/wgpu`.

use wgpu::{Device, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks};

/// Creates a module without bounds, loop-bound and division checks.
///
/// The checks cost up to nine times the time of a tight loop, so what is timed has none. Callers
/// give catalogue kernels, whose accesses stay inside their buffers and whose loops end, and the
/// shaders of users who say `trusted = true`.
#[expect(
    unsafe_code,
    reason = "wgpu offers modules without run-time checks through an unsafe function only"
)]
pub(super) fn shader_module(
    device: &Device,
    descriptor: ShaderModuleDescriptor<'_>,
) -> ShaderModule {
    // SAFETY: the process that runs this owns nothing but the device and dies with it; shaders are
    // trusted by the contract above.
    unsafe { device.create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked()) }
}
