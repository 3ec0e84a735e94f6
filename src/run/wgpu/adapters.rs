//! Which adapters there are, which can be used, and why others cannot.
//!
//! Input: the environment (`WGPU_BACKEND`, `WGPU_ADAPTER_NAME` keep their meaning). Output:
//! [`Listed`] adapters; those that work are numbered `wgpu:0`, `wgpu:1`, …

use std::collections::BTreeSet;

use wgpu::{
    Adapter, Backends, DeviceType, DownlevelFlags, Instance, InstanceDescriptor, InstanceFlags,
};

use super::gpu::WgpuDevice;
use crate::record::Backend;
use crate::run::back_end::{Listed, Listing};

/// An adapter, and the device that it gave where it is not left out.
pub(super) struct FoundAdapter {
    pub(super) listed: Listed,
    pub(super) device: Option<WgpuDevice>,
}

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

/// What is listed of adapters.
pub(super) fn listing(found: &[FoundAdapter]) -> Listing {
    let devices = found.iter().map(|adapter| adapter.listed.clone()).collect();
    Listing { devices, compiles: true, ..Listing::default() }
}

/// The adapter numbered `number`, with its device.
pub(super) fn select(found: Vec<FoundAdapter>, number: usize) -> Option<(Listed, WgpuDevice)> {
    let id = Some(format!("wgpu:{number}"));
    let FoundAdapter { listed, device } =
        found.into_iter().find(|adapter| adapter.listed.id == id)?;
    Some((listed, device?))
}

/// All adapters; `notice` is called before each is opened.
pub(super) fn enumerate(notice: &mut dyn FnMut()) -> Vec<FoundAdapter> {
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
        let opened = match hidden {
            true => Err("WGPU_ADAPTER_NAME names another".to_owned()),
            false => open(&adapter),
        };
        let (device, left_out) = match opened {
            Ok(device) => (Some(device), None),
            Err(why) => (None, Some(why)),
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
        found.push(FoundAdapter { listed, device });
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

/// The device of an adapter, or why it cannot be used.
fn open(adapter: &Adapter) -> Result<WgpuDevice, String> {
    let flags = adapter.get_downlevel_capabilities().flags;
    if !flags.contains(DownlevelFlags::COMPUTE_SHADERS) {
        return Err("it has no compute shaders".to_owned());
    }
    // "Null hardware" drivers compile and enumerate, and fail only here.
    WgpuDevice::open(adapter).map_err(|error| format!("it gives no device: {}", error.message))
}
