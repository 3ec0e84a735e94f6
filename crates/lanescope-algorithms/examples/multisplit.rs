//! Sorts a buffer of class ids on a GPU of your own: the permutation, and where each class begins; with
//! a payload or a dispatch for each class where that is asked for.
//!
//! Input: class ids below `--classes` as arguments, or eight below four where there are none; a payload
//! for each. Output: the order on standard output. Exit code 1 where an id is out of range.
//!
//! `cargo run --release --example multisplit -- --classes 4 3 1 0 3 2 0`
//! `cargo run --release --example multisplit -- --payload 10,11,12 --dispatch 2 0 1`

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use anyhow::{Context, ensure};
use clap::Parser;
use lanescope_algorithms::multisplit::{
    Buffers, ClassGrids, Multisplit, Order, Pairs, check, words_of,
};
use wgpu::{
    BindGroupDescriptor, BindGroupEntry, Buffer, BufferDescriptor, BufferUsages, CommandEncoder,
    ComputePipelineDescriptor, Device, MapMode, PipelineCompilationOptions, PollType, Queue,
    ShaderModuleDescriptor, ShaderSource,
};

/// Sorts class ids.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many classes there are, 1 to 256: ids lie below it.
    #[arg(long, default_value_t = 4)]
    classes: u32,
    /// A number for each id, put into the same order.
    #[arg(long, value_delimiter = ',')]
    payload: Vec<u32>,
    /// Runs a pipeline of its own for each class on the elements of that class.
    #[arg(long)]
    dispatch: bool,
    /// Class ids.
    #[arg(default_values_t = [3, 1, 0, 3, 2, 0, 1, 3])]
    ids: Vec<u32>,
}

/// Invocations of a workgroup of [`WORK`], each with an element.
const WORK_ELEMENTS: u32 = 64;

/// What is done with the elements of a class; each class has a pipeline of its own, with another
/// `CLASS`. What elements of a class need would stand here: this tells which pipeline had each, and as
/// its how-manyth, from 0.
const WORK: &str = "
override CLASS: u32;
@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> permutation: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn work(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local_index: u32,
) {
    let number = workgroup.y * grid.x + workgroup.x;
    let place = number * 64u + local_index;
    if (place < offsets[CLASS + 1u] - offsets[CLASS]) {
        // The result goes where the element lies: no second pass puts results back.
        results[permutation[offsets[CLASS] + place]] = CLASS * 100u + place;
    }
}";

fn main() -> anyhow::Result<()> {
    let Arguments { classes, payload, dispatch, ids } = Arguments::parse();
    let n = u32::try_from(ids.len())?;
    let carried = !payload.is_empty();
    ensure!(!carried || payload.len() == ids.len(), "a payload has a number for each id");
    // A device of your own: subgroup operations are all that is asked of it.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: wgpu::Features::SUBGROUP,
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    // Buffers of your own, in lengths that are multiples of four elements.
    let [keys, values, permutation, inverse, values_sorted, keys_sorted, results] =
        [(); 7].map(|()| buffer(&device, words_of(n)));
    queue.write_buffer(&keys, 0, bytemuck::cast_slice(&ids));
    queue.write_buffer(&values, 0, bytemuck::cast_slice(&payload));
    let (offsets, status) = (buffer(&device, classes + 1), buffer(&device, 1));
    let buffers = Buffers {
        keys: &keys,
        offsets: &offsets,
        status: &status,
        order: Some(Order { permutation: &permutation, inverse: Some(&inverse) }),
        pairs: carried.then_some(Pairs {
            payload: &values,
            payload_sorted: &values_sorted,
            keys_sorted: &keys_sorted,
        }),
    };
    let split = Multisplit::new(&device, n, classes, &buffers)?;
    // An encoder of your own: other commands may stand before and after.
    let mut encoder = device.create_command_encoder(&Default::default());
    split.encode(&mut encoder);
    if dispatch {
        dispatches(&device, &mut encoder, classes, [&offsets, &permutation, &results])?;
    }
    queue.submit([encoder.finish()]);
    check(read(&device, &queue, &status, 1)?[0], classes)?;
    let places = read(&device, &queue, &permutation, ids.len())?;
    let sorted: Vec<u32> = places.iter().map(|place| ids[*place as usize]).collect();
    println!("ids          {ids:?}");
    println!("permutation  {places:?}");
    println!("inverse      {:?}", read(&device, &queue, &inverse, ids.len())?);
    println!("in order     {sorted:?}");
    if carried {
        println!("payload      {:?}", read(&device, &queue, &values_sorted, ids.len())?);
        println!("of classes   {:?}", read(&device, &queue, &keys_sorted, ids.len())?);
    }
    println!("offsets      {:?}", read(&device, &queue, &offsets, classes as usize + 1)?);
    if dispatch {
        println!("results      {:?}", read(&device, &queue, &results, ids.len())?);
    }
    Ok(())
}

/// Dispatches a pipeline for each class, with as many workgroups as its elements fill: the device knows
/// how many these are, and nobody reads them back.
fn dispatches(
    device: &Device,
    encoder: &mut CommandEncoder,
    classes: u32,
    [offsets, permutation, results]: [&Buffer; 3],
) -> anyhow::Result<()> {
    let grids = device.create_buffer(&BufferDescriptor {
        label: None,
        size: u64::from(classes) * ClassGrids::STRIDE,
        usage: BufferUsages::STORAGE | BufferUsages::INDIRECT,
        mapped_at_creation: false,
    });
    ClassGrids::new(device, offsets, classes, WORK_ELEMENTS, &grids)?.encode(encoder);
    let source = ShaderSource::Wgsl(WORK.into());
    let module = device.create_shader_module(ShaderModuleDescriptor { label: None, source });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    for class in 0..classes {
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("work"),
            compilation_options: PipelineCompilationOptions {
                constants: &[("CLASS", f64::from(class))],
                ..Default::default()
            },
            cache: None,
        });
        let bound = [(0, offsets), (1, permutation), (2, results)];
        let group = device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &bound.map(|(binding, buffer)| BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            }),
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups_indirect(&grids, ClassGrids::offset(class));
    }
    Ok(())
}

fn buffer(device: &Device, words: u32) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: None,
        size: u64::from(words) * 4,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Reads the first words of a buffer back.
fn read(device: &Device, queue: &Queue, buffer: &Buffer, words: usize) -> anyhow::Result<Vec<u32>> {
    if words == 0 {
        return Ok(Vec::new());
    }
    let size = words as u64 * 4;
    let staging = device.create_buffer(&BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
    queue.submit([encoder.finish()]);
    staging.slice(..).map_async(MapMode::Read, |_| {});
    device.poll(PollType::wait_indefinitely())?;
    let view = staging.slice(..).get_mapped_range().ok().context("the buffer is not mapped")?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}
