//! Which adapters there are, which can be used, and why others cannot.
//!
//! Input: the environment (`WGPU_BACKEND`, `WGPU_ADAPTER_NAME` keep their meaning). Output:
//! [`Listed`] adapters; those that work are numbered `wgpu:0`, `wgpu:1`, …

use std::collections::BTreeSet;

use wgpu::{
    Adapter, Backends, DeviceDescriptor, DeviceType, DownlevelFlags, Instance, InstanceDescriptor,
    InstanceFlags,
};

use crate::record::Backend;
use crate::run::back_end::{Listed, Listing};

/// The instance that all of lanescope's devices come from: no validation layers, and no extra
/// dispatch inside passes for the sake of indirect calls, which would be timed.
pub(super) fn instance() -> Instance {
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    let all = Backends::VULKAN | Backends::METAL | Backends::DX12;
    descriptor.backends = Backends::from_env().unwrap_or(all);
    descriptor.flags = InstanceFlags::empty();
    descriptor.backend_options = wgpu::BackendOptions::from_env_or_default();
    Instance::new(descriptor)
}

/// Lists every adapter; `notice` is called before each is opened.
pub fn list(notice: &mut dyn FnMut()) -> Listing {
    let devices = enumerate(notice).into_iter().map(|(listed, _)| listed).collect();
    Listing { devices, compiles: true, ..Listing::default() }
}

/// The adapter numbered `number`.
pub(super) fn open(number: usize) -> Option<(Listed, Adapter)> {
    let id = Some(format!("wgpu:{number}"));
    enumerate(&mut || {}).into_iter().find(|(listed, _)| listed.id == id)
}

/// All adapters; `notice` is called before each is opened.
fn enumerate(notice: &mut dyn FnMut()) -> Vec<(Listed, Adapter)> {
    let wanted = std::env::var("WGPU_ADAPTER_NAME").ok().map(|name| name.to_lowercase());
    let all = Backends::from_env().unwrap_or(Backends::all());
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut number = 0;
    for adapter in pollster::block_on(instance().enumerate_adapters(all)) {
        notice();
        let info = adapter.get_info();
        let place = (info.backend.to_str(), info.device_pci_bus_id.clone());
        let identity = (info.name.clone(), info.driver.clone(), info.driver_info.clone(), place);
        if !seen.insert(identity) {
            continue;
        }
        let hidden = wanted.as_ref().is_some_and(|part| !info.name.to_lowercase().contains(part));
        let left_out = if hidden {
            Some("WGPU_ADAPTER_NAME names another".to_owned())
        } else {
            unusable(&adapter)
        };
        let id = left_out.is_none().then(|| {
            number += 1;
            format!("wgpu:{}", number - 1)
        });
        let listed = Listed {
            id,
            name: info.name,
            backend: backend(info.backend),
            cpu_driver: info.device_type == DeviceType::Cpu,
            left_out,
        };
        found.push((listed, adapter));
    }
    found
}

/// The interface in the record's words.
pub(super) fn backend(backend: wgpu::Backend) -> Backend {
    match backend {
        wgpu::Backend::Noop => Backend::Noop,
        wgpu::Backend::Vulkan => Backend::Vulkan,
        wgpu::Backend::Metal => Backend::Metal,
        wgpu::Backend::Dx12 => Backend::Dx12,
        wgpu::Backend::Gl => Backend::Gl,
        wgpu::Backend::BrowserWebGpu => Backend::WebGpu,
    }
}

/// Why an adapter cannot be used, where it cannot.
fn unusable(adapter: &Adapter) -> Option<String> {
    let flags = adapter.get_downlevel_capabilities().flags;
    if !flags.contains(DownlevelFlags::COMPUTE_SHADERS) {
        return Some("it has no compute shaders".to_owned());
    }
    // "Null hardware" drivers compile and enumerate, and fail only here.
    let descriptor =
        DeviceDescriptor { required_limits: adapter.limits(), ..DeviceDescriptor::default() };
    let device = pollster::block_on(adapter.request_device(&descriptor));
    device.err().map(|error| format!("it gives no device: {error}"))
}
