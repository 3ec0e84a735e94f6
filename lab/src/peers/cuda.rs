//! Our side through CUDA: the catalogue's kernels that hold the library's WGSL, translated.
//!
//! Input: a work, a size, a number of copies of the buffers. Output: nanoseconds a call. The library
//! itself works on wgpu's devices alone; its functions are these kernels with these parameters.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use lanescope::algorithms::SoftmaxTuning;
use lanescope::kernel::{Catalogue, DeviceClass, SEED};
use lanescope::record::Value;
use lanescope::run::Runner as _;
use lanescope::run::back_end::WarmUpRule;
use lanescope::run::cuda::CudaRunner;
use lanescope::run::cuda::copies::Copies;

use super::ours::Work;

/// Invocations of a workgroup at most, on every NVIDIA GPU.
const WORKGROUP_MAX: u32 = 1024;

/// An open device.
pub(crate) struct Cuda {
    runner: CudaRunner,
    catalogue: Catalogue,
}

impl Cuda {
    /// Opens `cuda:<number>`.
    pub(crate) fn open(number: usize) -> Result<Self> {
        Ok(Self {
            runner: CudaRunner::open(number, Some(WarmUpRule::Whole))?,
            catalogue: Catalogue::embedded()?,
        })
    }

    /// How rows name it: beside the same GPU through Vulkan.
    pub(crate) fn name(&self) -> String {
        format!("{} (CUDA)", self.runner.device().name)
    }

    /// The copy rate as lanescope measures it for its records, in bytes a second.
    pub(crate) fn copy_rate(&self) -> Result<f64> {
        self.runner.device().copy_bytes_per_s.context("it has no timer")
    }

    /// Compiles the work, runs it once on each copy of its buffers and verifies what they wrote.
    pub(crate) fn ready(
        &mut self,
        work: Work,
        (n, columns): (u64, u32),
        copies: usize,
    ) -> Result<Copies> {
        let Some((kernel, parameters)) = choices(work, n, columns)? else {
            bail!("{} has no kernel that is one launch of the catalogue's", work.name());
        };
        let kernel = self.catalogue.kernel(kernel).with_context(|| format!("no {kernel}"))?;
        let launch = kernel.launch(DeviceClass::Gpu, &parameters, SEED)?;
        let mut made = self.runner.copies(&launch, copies)?;
        self.sample(&mut made, u32::try_from(copies)?)?;
        self.verify(&made)?;
        Ok(made)
    }

    /// Takes a sample of so many calls on the copies in turn: nanoseconds a call.
    pub(crate) fn sample(&self, copies: &mut Copies, repeats: u32) -> Result<f64> {
        Ok(self.runner.sample_copies(copies, repeats)?)
    }

    /// Verifies every copy's output again.
    pub(crate) fn verify(&self, copies: &Copies) -> Result<()> {
        Ok(self.runner.verify_copies(copies)?)
    }
}

/// The kernel with the library's WGSL and the parameters that the library's choice for a large GPU
/// comes to; nothing for what is several kernels.
fn choices(
    work: Work,
    n: u64,
    columns: u32,
) -> Result<Option<(&'static str, BTreeMap<String, Value>)>> {
    let integer = |value: u32| Value::Integer(i64::from(value));
    let mut parameters = BTreeMap::from([("n".to_owned(), Value::Integer(i64::try_from(n)?))]);
    let kernel = match work {
        Work::ReduceF32 => "reduce/device",
        Work::ScanU32 => "scan/device",
        Work::SoftmaxF32 => {
            let tuning = SoftmaxTuning::of_workgroups(WORKGROUP_MAX, columns);
            parameters.insert("columns".to_owned(), integer(columns));
            parameters.insert("workgroup_size".to_owned(), integer(tuning.workgroup_size));
            parameters.insert("items".to_owned(), integer(tuning.items));
            "softmax/rows"
        }
        _ => return Ok(None),
    };
    Ok(Some((kernel, parameters)))
}
