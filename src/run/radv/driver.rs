//! Mesa's RADV on hardware that is not there: SPIR-V in, machine code out.
//!
//! Input: SPIR-V words, an entry point, bindings, a wave size. Output: [`Output`], what the driver
//! says about the compiled code. The only place that sees Vulkan through ash. The family is the
//! environment's: `RADV_FORCE_FAMILY` is set for the process that calls this, before it starts.
//! Nothing is executed: the device has no hardware.

#![expect(unsafe_code, reason = "Vulkan's functions are C")]

use std::ffi::{CStr, CString};
use std::ptr;

use ash::vk;

use super::compiled::ToCompile;

/// The extension that gives code, texts and statistics.
const EXECUTABLES: &CStr = vk::KHR_PIPELINE_EXECUTABLE_PROPERTIES_NAME;

/// A device that compiles.
pub(super) struct Compiler {
    /// The device's name.
    pub(super) name: String,
    /// The driver's name and version.
    pub(super) driver: String,
    device: ash::Device,
    executables: ash::khr::pipeline_executable_properties::Device,
    instance: ash::Instance,
    // The library must outlive what it gave.
    _entry: ash::Entry,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Compiler").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What is to be compiled, and for which wave size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    /// The module, its entry point and its buffers.
    pub(super) of: &'a ToCompile,
    /// Lanes of a wave: 32 or 64.
    pub(super) wave: u32,
}

/// What the driver says about compiled code.
#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    /// Figures by name.
    pub(super) statistics: Vec<(String, u64)>,
    /// Texts by name: NIR, ACO IR, the listing.
    pub(super) texts: Vec<(String, String)>,
    /// The pipeline cache, which holds the code itself.
    pub(super) cache: Vec<u8>,
}

type Failure = String;

fn to_failure(doing: &str) -> impl Fn(vk::Result) -> Failure + '_ {
    move |error| format!("{doing} failed: {error}")
}

impl Compiler {
    /// Opens the first device of a family without hardware.
    ///
    /// # Errors
    ///
    /// A sentence that says what is missing.
    pub(super) fn open() -> Result<Self, Failure> {
        // SAFETY: loading the system's Vulkan library runs its initialisers; this process exists for
        // nothing else.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| format!("there is no Vulkan library: {error}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structures live until the call returns.
        let instance =
            unsafe { entry.create_instance(&info, None) }.map_err(|error| {
                format!("starting Vulkan failed: {error}; Debian and Ubuntu have RADV in mesa-vulkan-drivers")
            })?;
        // SAFETY: the instance is alive; so in all calls below.
        let devices = unsafe { instance.enumerate_physical_devices() }
            .map_err(to_failure("listing Vulkan's devices"))?;
        for physical in devices {
            let (name, driver) = describe(&instance, physical);
            if !driver.starts_with("radv") || !shows_code(&instance, physical) {
                continue;
            }
            let device = device(&instance, physical).map_err(to_failure("opening the device"))?;
            let executables =
                ash::khr::pipeline_executable_properties::Device::new(&instance, &device);
            return Ok(Self { name, driver, device, executables, instance, _entry: entry });
        }
        // SAFETY: nothing of the instance is used behind this.
        unsafe { instance.destroy_instance(None) };
        Err("Mesa's RADV gives no device without hardware here; Debian and Ubuntu have it in \
             mesa-vulkan-drivers"
            .to_owned())
    }

    /// Compiles.
    ///
    /// # Errors
    ///
    /// A sentence with the driver's word.
    pub(super) fn compile(&self, input: &Input<'_>) -> Result<Output, Failure> {
        let mut made = Made { device: &self.device, layouts: Vec::new(), rest: Vec::new() };
        let layout = made.layout(input).map_err(to_failure("making a pipeline layout"))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&input.of.words);
        // SAFETY: the words are SPIR-V that naga wrote; the structures live until the call returns.
        let module = unsafe { self.device.create_shader_module(&info, None) }
            .map_err(to_failure("making a shader module"))?;
        made.rest.push(Thing::Module(module));
        let name =
            CString::new(input.of.entry_point.as_str()).map_err(|error| error.to_string())?;
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
            .required_subgroup_size(input.wave);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&name)
            .push_next(&mut size);
        let cache_info = vk::PipelineCacheCreateInfo::default();
        // SAFETY: as above.
        let cache = unsafe { self.device.create_pipeline_cache(&cache_info, None) }
            .map_err(to_failure("making a pipeline cache"))?;
        made.rest.push(Thing::Cache(cache));
        let shown = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
            | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        // What is shown is not kept in the cache, so the same is compiled twice.
        let mut pipelines = Vec::new();
        for info in [info.flags(shown), info] {
            // SAFETY: as above; layout, module and cache are alive.
            let pipeline = unsafe { self.device.create_compute_pipelines(cache, &[info], None) }
                .map_err(|(_, error)| to_failure("compiling")(error))?;
            made.rest.extend(pipeline.iter().copied().map(Thing::Pipeline));
            pipelines.extend(pipeline);
        }
        // SAFETY: the cache is alive.
        let bytes = unsafe { self.device.get_pipeline_cache_data(cache) }
            .map_err(to_failure("reading the pipeline cache"))?;
        let shown = pipelines.first().copied().unwrap_or_default();
        self.read_output(shown, bytes)
    }

    fn read_output(&self, pipeline: vk::Pipeline, cache: Vec<u8>) -> Result<Output, Failure> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline is alive and was made to be asked.
        let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&info) }
            .map_err(to_failure("reading the statistics"))?;
        let statistics = statistics.iter().map(|statistic| {
            let name = statistic.name_as_c_str().unwrap_or_default().to_string_lossy();
            // SAFETY: RADV's figures are all of 64 bits.
            (name.into_owned(), unsafe { statistic.value.u64 })
        });
        let statistics = statistics.collect();
        let texts = self.texts(&info).map_err(to_failure("reading the listing"))?;
        Ok(Output { statistics, texts, cache })
    }

    /// The texts: asked for their sizes first, then for what they hold.
    fn texts(
        &self,
        info: &vk::PipelineExecutableInfoKHR<'_>,
    ) -> Result<Vec<(String, String)>, vk::Result> {
        let ask = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        let (device, mut count) = (self.device.handle(), 0);
        // SAFETY: with no array it gives the number only.
        unsafe { ask(device, info, &raw mut count, ptr::null_mut()) }.result()?;
        let empty = vk::PipelineExecutableInternalRepresentationKHR::default();
        let mut found = vec![empty; count as usize];
        // SAFETY: the array has as many elements as were said; with no memory it gives sizes only.
        unsafe { ask(device, info, &raw mut count, found.as_mut_ptr()) }.result()?;
        let mut memory: Vec<Vec<u8>> = found.iter().map(|text| vec![0; text.data_size]).collect();
        for (text, bytes) in found.iter_mut().zip(&mut memory) {
            text.p_data = bytes.as_mut_ptr().cast();
        }
        // SAFETY: each element's memory is as large as its size says.
        unsafe { ask(device, info, &raw mut count, found.as_mut_ptr()) }.result()?;
        let named = found.iter().zip(&memory).map(|(text, bytes)| {
            let name = text.name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
            (name, String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned())
        });
        Ok(named.collect())
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: nothing of them is in use: whatever a compilation made ended with it.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// What one compilation makes, let go at its end.
struct Made<'a> {
    device: &'a ash::Device,
    layouts: Vec<vk::DescriptorSetLayout>,
    rest: Vec<Thing>,
}

enum Thing {
    Layout(vk::PipelineLayout),
    Module(vk::ShaderModule),
    Cache(vk::PipelineCache),
    Pipeline(vk::Pipeline),
}

impl Made<'_> {
    fn layout(&mut self, input: &Input<'_>) -> Result<vk::PipelineLayout, vk::Result> {
        let groups = input.of.bindings.iter().map(|(group, ..)| group + 1).max().unwrap_or(0);
        for group in 0..groups {
            let members = input.of.bindings.iter().filter(|(owner, ..)| *owner == group);
            let bindings: Vec<_> = members
                .map(|(_, binding, uniform)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                        .descriptor_type(if *uniform {
                            vk::DescriptorType::UNIFORM_BUFFER
                        } else {
                            vk::DescriptorType::STORAGE_BUFFER
                        })
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the structures live until the call returns.
            self.layouts.push(unsafe { self.device.create_descriptor_set_layout(&info, None) }?);
        }
        let range = vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(input.of.immediate_bytes);
        let ranges = if input.of.immediate_bytes > 0 { vec![range] } else { Vec::new() };
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&self.layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: as above; the set layouts are alive.
        let layout = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        self.rest.push(Thing::Layout(layout));
        Ok(layout)
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for thing in self.rest.drain(..).rev() {
            // SAFETY: each was made by this device, is let go once, and before what it was made of.
            unsafe {
                match thing {
                    Thing::Layout(layout) => self.device.destroy_pipeline_layout(layout, None),
                    Thing::Module(module) => self.device.destroy_shader_module(module, None),
                    Thing::Cache(cache) => self.device.destroy_pipeline_cache(cache, None),
                    Thing::Pipeline(pipeline) => self.device.destroy_pipeline(pipeline, None),
                }
            }
        }
        for layout in self.layouts.drain(..) {
            // SAFETY: as above.
            unsafe { self.device.destroy_descriptor_set_layout(layout, None) };
        }
    }
}

/// The device's name, and its driver's with the version.
fn describe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> (String, String) {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the chain is well formed and lives until the call returns.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let name = properties.properties.device_name_as_c_str().unwrap_or_default().to_string_lossy();
    let name = name.into_owned();
    let driver_name = driver.driver_name_as_c_str().unwrap_or_default().to_string_lossy();
    let info = driver.driver_info_as_c_str().unwrap_or_default().to_string_lossy();
    (name, format!("{driver_name} {info}"))
}

/// Whether a device shows its code.
fn shows_code(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    // SAFETY: the physical device is the instance's.
    let found = unsafe { instance.enumerate_device_extension_properties(physical) };
    let named = |extension: &vk::ExtensionProperties| {
        extension.extension_name_as_c_str().is_ok_and(|name| name == EXECUTABLES)
    };
    found.is_ok_and(|extensions| extensions.iter().any(named))
}

/// Opens a device with every feature that it has.
fn device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> Result<ash::Device, vk::Result> {
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
    let mut of_11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut of_12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut of_13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut executables)
        .push_next(&mut of_11)
        .push_next(&mut of_12)
        .push_next(&mut of_13);
    // SAFETY: the chain is well formed and lives until the call returns.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    // The modules are the ones that are timed, without checks of their own or of the driver's.
    features.features.robust_buffer_access = vk::FALSE;
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let extensions = [EXECUTABLES.as_ptr()];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut features);
    // SAFETY: as above.
    unsafe { instance.create_device(physical, &info, None) }
}
