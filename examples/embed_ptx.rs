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
use lanescope::run::cuda::embedded::{ARCHITECTURE, FAMILIES, MADE_WITH, sources};
use lanescope::run::cuda::nvrtc::Nvrtc;

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
        if path.extension().is_some_and(|extension| extension == "ptx") {
            std::fs::remove_file(path)?;
        }
    }
    let (mut count, mut bytes) = (0, 0);
    for (name, source) in sources()? {
        let mut ptx = compiler.compile_for(&source, ARCHITECTURE)?.bytes;
        ptx.retain(|byte| *byte != 0);
        count += 1;
        bytes += ptx.len();
        std::fs::write(folder.join(name), ptx)?;
    }
    println!("{count} files, {bytes} bytes in {}", folder.display());
    println!("of {} and the probes; every other kernel needs NVRTC", FAMILIES.join(", "));
    Ok(())
}
