//! Collective algorithms as library functions over a caller's device, buffers and encoder.
//!
//! Input: a `wgpu::Device` with `wgpu::Features::SUBGROUP`, buffers, a number of elements.
//! Output: commands recorded into the caller's pass or encoder. Nothing is submitted, waited for or
//! read back here, and no buffer of the caller's is made.
//!
//! | function | in | out |
//! |---|---|---|
//! | [`Reduce`] | n elements | 1 element |
//! | [`Scan`] | n elements | n elements, and the sum of all |
//! | [`Compact`] | n elements and a flag for each | those whose flag is set, in order, and their number |
//! | [`Softmax`] | rows of f32 | rows of f32 |
//! | [`multisplit::Multisplit`] | n class ids | the order by class, as a permutation or as pairs |
//! | [`sort::Sort`] | n keys of u32, i32 or f32, with a payload or without | both in the keys' order |
//!
//! The WGSL ([`shaders`]) is that of lanescope's catalogue, so that what lanescope counts and times is what these functions run. Any subgroup width from 4 to 128
//! will do; as everywhere in lanescope, invocation i of a workgroup is taken to be lane i modulo the
//! width, which `lanescope doctor` checks.
//!
//! Buffers are read and written as vectors of four: a buffer's size must reach to the end of the last
//! vector, n · 4 bytes rounded up to 16. Elements beyond n are neither used nor changed. An array
//! larger than a binding may be is worked on in parts, except by [`Softmax`].
//!
//! ```
//! # // Without a GPU or a CPU driver with subgroups there is nothing to run this on.
//! # use wgpu::{BufferDescriptor, BufferUsages, DeviceDescriptor, Features, Instance, MapMode};
//! # let adapters = pollster::block_on(Instance::default().enumerate_adapters(wgpu::Backends::all()));
//! # let found = adapters.into_iter().find_map(|adapter| {
//! #     let descriptor = DeviceDescriptor {
//! #         required_features: Features::SUBGROUP,
//! #         required_limits: adapter.limits(),
//! #         ..DeviceDescriptor::default()
//! #     };
//! #     pollster::block_on(adapter.request_device(&descriptor)).ok()
//! # });
//! # let Some((device, queue)) = found else {
//! #     let required = std::env::var("LANESCOPE_REQUIRE").unwrap_or_default();
//! #     assert!(required.is_empty(), "there is no device, and {required} are required");
//! #     return Ok(());
//! # };
//! # let buffer = |label, size, usage| {
//! #     let mapped_at_creation = false;
//! #     device.create_buffer(&BufferDescriptor { label, size, usage, mapped_at_creation })
//! # };
//! # let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
//! # let input = &buffer(Some("input"), 4000, usage);
//! # let output = &buffer(Some("output"), 16, usage);
//! # let readable = buffer(None, 4, BufferUsages::COPY_DST | BufferUsages::MAP_READ);
//! # let bytes: Vec<u8> = (1..=1000).flat_map(|i| (i as f32).to_le_bytes()).collect();
//! # queue.write_buffer(input, 0, &bytes);
//! # let n = 1000;
//! use lanescope_algorithms::{Element, Operation, Reduce, ReduceTuning};
//!
//! // Once for each type and operation:
//! let tuning = ReduceTuning::for_device(&device);
//! let sum = Reduce::new(&device, Element::F32, Operation::Add, tuning)?;
//! // Once for each array; the scratch can serve several:
//! let scratch = sum.scratch(&device, n);
//! let call = sum.prepare(&device, input, n, output, &scratch)?;
//! // As often as there are new contents:
//! let mut encoder = device.create_command_encoder(&Default::default());
//! call.encode(&mut encoder);
//! # encoder.copy_buffer_to_buffer(output, 0, &readable, 0, 4);
//! queue.submit([encoder.finish()]);
//! # readable.slice(..).map_async(MapMode::Read, |mapped| mapped.unwrap());
//! # device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
//! # let result = f32::from_le_bytes(readable.slice(..).get_mapped_range()?[..4].try_into()?);
//! // The elements were 1 to 1000:
//! assert_eq!(result, 500_500.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

//!
//! Without the feature `wgpu` only [`partition`], the plan of a partition by class, and [`shaders`]
//! are there.

pub mod partition;
pub mod shaders;

#[cfg(feature = "wgpu")]
mod collective;
#[cfg(feature = "wgpu")]
pub mod multisplit;
#[cfg(feature = "wgpu")]
pub mod sort;
#[cfg(feature = "wgpu")]
mod trusted;

#[cfg(feature = "wgpu")]
pub use collective::{
    AlgorithmError, Compact, CompactCall, Element, Flags, Operation, Reduce, ReduceCall,
    ReduceScratch, ReduceTuning, Scan, ScanCall, ScanKind, ScanScratch, ScanTuning, Softmax,
    SoftmaxCall, SoftmaxTuning,
};
