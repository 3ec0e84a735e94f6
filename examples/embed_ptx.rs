//! Compiles the PTX that lanescope brings for machines with NVIDIA's driver and no NVRTC.
//!
//! Input: NVRTC of the version that `embedded::MADE_WITH` names, in a folder that `LANESCOPE_NVRTC`
//! names. Output: the files of `src/run/cuda/ptx`, those of earlier translations removed.
//!
//! ```sh
//! pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.4.127
//! LANESCOPE_NVRTC=nvrtc/nvidia/cuda_nvrtc/lib cargo run --release --example embed_ptx
//! ```

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::path::Path;

use anyhow::ensure;
use lanescope::run::cuda::embedded::{ARCHITECTURE, ENDING, MADE_WITH, packed, sources};
use lanescope::run::cuda::nvrtc::Nvrtc;
use rayon::prelude::*;

#[expect(clippy::disallowed_methods, reason = "writes files of the checkout")]
fn main() -> anyhow::Result<()> {
    let compiler = Nvrtc::load()?;
    ensure!(
        compiler.version() == MADE_WITH,
        "NVRTC {MADE_WITH:?} is needed, {} is {:?}",
        compiler.path().display(),
        compiler.version()
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run/cuda/ptx");
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.to_str().is_some_and(|path| path.ends_with(ENDING)) {
            std::fs::remove_file(path)?;
        }
    }
    let compiled: Vec<(String, Vec<u8>)> = sources()?
        .into_par_iter()
        .map(|(name, source)| Ok((name, compiler.compile_for(&source, ARCHITECTURE)?.bytes)))
        .collect::<anyhow::Result<_>>()?;
    let (mut ptx_bytes, mut file_bytes) = (0, 0);
    let count = compiled.len();
    for (name, mut ptx) in compiled {
        ptx.retain(|byte| *byte != 0);
        let file = packed(&ptx)?;
        ptx_bytes += ptx.len();
        file_bytes += file.len();
        std::fs::write(folder.join(name), file)?;
    }
    println!("{count} files in {}: {file_bytes} bytes, unpacked {ptx_bytes}", folder.display());
    Ok(())
}
