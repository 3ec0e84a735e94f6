//! Contents that only are read, kept on the device from launch to launch.
//!
//! Input: the buffers of a launch that no shader of it writes. Output: the device's buffers with these
//! contents, made and sent once for all launches in a row that want the same. What a launch does not
//! want is let go before anything new is made, so that keeping takes no memory that a launch lacks.

use wgpu::{Buffer, BufferUsages};

use super::gpu::Gpu;
use crate::kernel::{Launch, generate::Fill};

/// The inputs of the last launch.
#[derive(Default)]
pub(super) struct Inputs {
    kept: Vec<Kept>,
}

/// A buffer, and all that its contents follow from.
struct Kept {
    name: String,
    fill: Fill,
    seed: u64,
    size: u64,
    usage: BufferUsages,
    buffer: Buffer,
}

impl Inputs {
    /// Lets go what a launch does not want.
    pub(super) fn retain(&mut self, launch: &Launch) {
        self.kept.retain(|kept| launch.buffers.iter().any(|wanted| kept.holds(launch, wanted)));
    }

    /// A buffer that no shader writes, with its contents: one that is kept, or a new one.
    pub(super) fn get(
        &mut self,
        gpu: &Gpu,
        launch: &Launch,
        wanted: &crate::kernel::Buffer,
        usage: BufferUsages,
    ) -> Buffer {
        let known = self.kept.iter().find(|kept| kept.usage == usage && kept.holds(launch, wanted));
        if let Some(known) = known {
            return known.buffer.clone();
        }
        let buffer = gpu.filled(launch, wanted, usage);
        self.kept.push(Kept {
            name: wanted.name.clone(),
            fill: wanted.fill.clone(),
            seed: launch.seed,
            size: wanted.size,
            usage,
            buffer: buffer.clone(),
        });
        buffer
    }
}

impl Kept {
    fn holds(&self, launch: &Launch, wanted: &crate::kernel::Buffer) -> bool {
        (self.seed, self.size) == (launch.seed, wanted.size)
            && self.name == wanted.name
            && self.fill == wanted.fill
    }
}
