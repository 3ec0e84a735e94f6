//! A program of two passes, in which a picture decides how long the second works.
//!
//! Input: the number of frames, 51 where none is given, and which of them is marked for RenderDoc; words that say what
//! else is tried. Output: a checksum of what it computed.
//!
//! ```text
//! cargo run --release -p lanescope-capture --example two_passes
//! LANESCOPE_CAPTURE="frame=0,50" cargo run --release -p lanescope-capture --example two_passes
//! lanescope profile captures/frame_00050
//! ```
//!
//! | word | what is tried |
//! |---|---|
//! | `capture=WORDS` | the program asks for a capture itself, by a call in place of the environment |
//! | `spirv` | the second pass is handed over as SPIR-V, which the package's feature `spirv` captures |
//! | `early` | a buffer of the second pass is made before the device is wrapped: it cannot be read |
//!
//! `paint` draws spots that grow from frame to frame into a texture; `march` reads it and turns as often as a
//! pixel is bright. Each frame is recorded on a thread of its own, and submitted by the first. Lines that a program
//! needs for being captured are marked with `capture:`.

use std::error::Error;

use lanescope_capture::CaptureRequest;
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu30 as wgpu;

const PAINT: &str = "
struct Frame { number: u32, size: u32 }
@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var picture: texture_storage_2d<rgba8unorm, write>;
override spots: u32 = 1;

@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) at: vec3<u32>) {
    if (at.x >= frame.size || at.y >= frame.size) {
        return;
    }
    var light = 0.02;
    for (var spot = 0u; spot < spots; spot++) {
        let center = vec2<i32>(vec2(37u * spot + frame.number, 61u * spot) % frame.size);
        let apart = vec2<i32>(at.xy) - center;
        let radius = i32(4u + frame.number / 4u);
        if (apart.x * apart.x + apart.y * apart.y < radius * radius) {
            light += 0.3;
        }
    }
    textureStore(picture, at.xy, vec4(light, 0.0, 0.0, 1.0));
}";

const MARCH: &str = "
struct Frame { number: u32, size: u32 }
@group(0) @binding(0) var<uniform> frame: Frame;
@group(1) @binding(0) var picture: texture_2d<f32>;
@group(1) @binding(1) var nearest: sampler;
// Two halves of one buffer.
@group(2) @binding(0) var<storage> even: array<u32>;
@group(2) @binding(1) var<storage> odd: array<u32>;
@group(3) @binding(0) var<storage, read_write> sums: array<u32>;
var<immediate> seed: u32;

@compute @workgroup_size(64)
fn march(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2(id.x % frame.size, id.x / frame.size);
    let place = (vec2<f32>(at) + 0.5) / f32(frame.size);
    let light = textureSampleLevel(picture, nearest, place, 0.0).x;
    let turns = u32(round(light * 255.0));
    var sum = seed;
    for (var turn = 0u; turn < turns; turn++) {
        if ((sum & 1u) == 0u) {
            sum = sum * 5u + even[turn % arrayLength(&even)];
        } else {
            sum = sum * 3u + odd[turn % arrayLength(&odd)];
        }
    }
    sums[id.x] += sum;
}";

/// Pixels along a side.
const SIZE: u32 = 128;

/// Where RenderDoc begins and ends a capture of a program that presents nothing.
const BEGIN: &str = "capture-marker,begin_capture";
const END: &str = "capture-marker,end_capture";

/// Bytes between two frames' uniforms: what every device can be offset by.
const STRIDE: u32 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let sum = pollster::block_on(run(&Options::read(std::env::args().skip(1))?))?;
    // The only line of output: the same whether a capture was asked for or not.
    #[expect(clippy::print_stdout, reason = "an example says what it computed")]
    {
        println!("{sum:016x}");
    }
    Ok(())
}

/// What the command line says.
struct Options {
    frames: u32,
    /// The frame that is marked for RenderDoc.
    marked: Option<u32>,
    /// What the program asks for itself.
    request: Option<CaptureRequest>,
    spirv: bool,
    early: bool,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options =
            Self { frames: 51, marked: None, request: None, spirv: false, early: false };
        let mut numbers = Vec::<u32>::new();
        for word in words {
            match (word.as_str(), word.strip_prefix("capture=")) {
                ("spirv", _) => options.spirv = true,
                ("early", _) => options.early = true,
                (_, Some(asked)) => options.request = Some(CaptureRequest::parse(asked)?),
                (number, None) => numbers.push(number.parse()?),
            }
        }
        let mut numbers = numbers.into_iter();
        options.frames = numbers.next().unwrap_or(options.frames);
        options.marked = numbers.next();
        Ok(options)
    }
}

/// Pipelines and what they bind.
struct Passes {
    paint: wgpu::ComputePipeline,
    march: wgpu::ComputePipeline,
    groups: [wgpu::BindGroup; 5],
    grid: wgpu::Buffer,
    sums: wgpu::Buffer,
}

async fn run(options: &Options) -> Result<u64, Box<dyn Error>> {
    // With WGPU_DEBUG=1 labels and markers reach the driver.
    let from_environment = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(from_environment);
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
    let limits = wgpu::Limits { max_immediate_size: 4, ..wgpu::Limits::default() };
    let descriptor = wgpu::DeviceDescriptor {
        required_features: wgpu::Features::IMMEDIATES,
        required_limits: limits,
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = adapter.request_device(&descriptor).await?;
    let early = options.early.then(|| halves(&device));
    let (device, queue) = match &options.request {
        Some(request) => lanescope_capture::wrap_with(device, queue, request.clone()),
        None => lanescope_capture::wrap(device, queue)?, // capture: the first line
    };
    let halves = early.unwrap_or_else(|| halves(&device));
    let passes = Passes::new(&device, options, &halves)?;
    for frame in 0..options.frames {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if options.marked == Some(frame) {
            encoder.insert_debug_marker(BEGIN);
        }
        // Commands may be recorded on any thread.
        std::thread::scope(|scope| {
            scope.spawn(|| passes.encode(&mut encoder, frame));
        });
        if options.marked == Some(frame) {
            encoder.insert_debug_marker(END);
        }
        queue.submit([encoder.finish()]);
        lanescope_capture::end_frame(&device); // capture: the second, where frames are meant
    }
    checksum(&device, &queue, &passes.sums)
}

impl Passes {
    fn new(
        device: &wgpu::Device,
        options: &Options,
        halves: &wgpu::Buffer,
    ) -> Result<Self, Box<dyn Error>> {
        let (frame, entry) = uniforms(device, options.frames);
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = picture.create_view(&wgpu::TextureViewDescriptor::default());
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor::default());
        // Not made to be copied from, which a capture sees to.
        let grid = [SIZE * SIZE / 64, 1, 1].map(u32::to_le_bytes).concat();
        let grid = buffer(device, &grid, wgpu::BufferUsages::INDIRECT);
        let sums = buffer(
            device,
            &vec![0; (SIZE * SIZE * 4) as usize],
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        );
        let stored = wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: wgpu::TextureFormat::Rgba8Unorm,
            view_dimension: wgpu::TextureViewDimension::D2,
        };
        let sampled = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let storage = |read_only| wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = wgpu::BindingResource::TextureView(&view);
        let half = |offset| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: halves,
                offset,
                size: wgpu::BufferSize::new(256),
            })
        };
        let layouts = [
            layout(device, &[entry, stored]),
            layout(device, &[entry]),
            layout(device, &[sampled, filtering]),
            layout(device, &[storage(true), storage(true)]),
            layout(device, &[storage(false)]),
        ];
        let resources = [
            vec![uniform(&frame), texture.clone()],
            vec![uniform(&frame)],
            vec![texture, wgpu::BindingResource::Sampler(&sampler)],
            vec![half(0), half(256)],
            vec![sums.as_entire_binding()],
        ];
        let mut made = layouts.iter().zip(resources).map(|(l, r)| group(device, l, r));
        let groups = std::array::from_fn(|_| made.next().unwrap_or_else(|| unreachable!()));
        let source = wgpu::ShaderSource::Wgsl(PAINT.into());
        let paint = pipeline(device, "paint", source, &layouts[..1], 0, &[("spots", 12.0)]);
        let source =
            if options.spirv { to_spirv(MARCH)? } else { wgpu::ShaderSource::Wgsl(MARCH.into()) };
        let march = pipeline(device, "march", source, &layouts[1..], 4, &[]);
        drop(made);
        Ok(Self { paint, march, groups, grid, sums })
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder, frame: u32) {
        let [painted, frames, sampled, halves, summed] = &self.groups;
        let offset = [frame * STRIDE];
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.paint);
        pass.set_bind_group(0, painted, &offset);
        pass.dispatch_workgroups(SIZE / 8, SIZE / 8, 1);
        pass.set_pipeline(&self.march);
        pass.set_bind_group(0, frames, &offset);
        for (index, group) in (1..).zip([sampled, halves, summed]) {
            pass.set_bind_group(index, group, &[]);
        }
        pass.set_immediates(0, &(frame + 1).to_le_bytes());
        pass.dispatch_workgroups_indirect(&self.grid, 0);
    }
}

fn buffer(device: &wgpu::Device, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
}

/// A buffer of which the second pass binds both halves.
fn halves(device: &wgpu::Device) -> wgpu::Buffer {
    let words: Vec<u8> = (0..128_u32).flat_map(|word| (word * word).to_le_bytes()).collect();
    buffer(device, &words, wgpu::BufferUsages::STORAGE)
}

/// A uniform for each frame, and how one is bound.
fn uniforms(device: &wgpu::Device, frames: u32) -> (wgpu::Buffer, wgpu::BindingType) {
    let mut bytes = vec![0; (frames.max(1) * STRIDE) as usize];
    for (frame, uniform) in (0..frames).zip(bytes.chunks_exact_mut(STRIDE as usize)) {
        uniform[..4].copy_from_slice(&frame.to_le_bytes());
        uniform[4..8].copy_from_slice(&SIZE.to_le_bytes());
    }
    let entry = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    (buffer(device, &bytes, wgpu::BufferUsages::UNIFORM), entry)
}

fn uniform(buffer: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: 0,
        size: wgpu::BufferSize::new(8),
    })
}

fn layout(device: &wgpu::Device, types: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
        .zip(types)
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: *ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &entries,
    })
}

fn group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: Vec<wgpu::BindingResource<'_>>,
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

/// A shader as programs have it whose shaders are compiled beforehand.
#[cfg(feature = "spirv")]
fn to_spirv(text: &str) -> Result<wgpu::ShaderSource<'static>, Box<dyn Error>> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text)?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module)?;
    let options = naga::back::spv::Options::default();
    let words = naga::back::spv::write_vec(&module, &info, &options, None)?;
    Ok(wgpu::ShaderSource::SpirV(words.into()))
}

#[cfg(not(feature = "spirv"))]
fn to_spirv(_: &str) -> Result<wgpu::ShaderSource<'static>, Box<dyn Error>> {
    Err("SPIR-V takes the package's feature `spirv`".into())
}

fn pipeline(
    device: &wgpu::Device,
    label: &str,
    source: wgpu::ShaderSource<'_>,
    layouts: &[wgpu::BindGroupLayout],
    immediate_size: u32,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    let module =
        device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source });
    let layouts: Vec<Option<&wgpu::BindGroupLayout>> = layouts.iter().map(Some).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &layouts,
        immediate_size,
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(&layout),
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions {
            constants,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    })
}

/// FNV-1a over the sums.
fn checksum(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    sums: &wgpu::Buffer,
) -> Result<u64, Box<dyn Error>> {
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: sums.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(sums, 0, &read, 0, sums.size());
    queue.submit([encoder.finish()]);
    let slice = read.slice(..);
    slice.map_async(wgpu::MapMode::Read, |_| {});
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let hashed = slice.get_mapped_range()?.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(hashed)
}
