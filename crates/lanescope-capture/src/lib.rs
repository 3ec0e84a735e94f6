#![doc = include_str!("../README.md")]
//!
//! # From inside
//!
//! wgpu lets a program bring a back end of its own. [`wrap`] makes one that hands every call on to the
//! device that it was given, and looks at what goes by: shaders, pipelines, bind groups, dispatches.
//! A dispatch that is meant ends the compute pass, has its contents copied, and goes on in a new pass, so
//! that the GPU does the same work in the same order. While a capture is asked for, buffers and textures are
//! made with `COPY_SRC` beside what the program says. Where none is asked for, [`wrap`] gives back what it
//! was given.

#![cfg_attr(
    all(feature = "wgpu-29", feature = "wgpu-30"),
    expect(clippy::duplicate_mod, reason = "each version of wgpu has types of its own")
)]

mod folder;
mod request;

pub use request::{BYTES_MAX, CaptureRequest, RequestError, VARIABLE};

/// For programs with wgpu 30.
#[cfg(feature = "wgpu-30")]
#[path = "."]
pub mod v30 {
    use wgpu30 as wgpu;

    /// The version that folders name.
    const WGPU: &str = "30";

    /// What this version of wgpu has alone.
    macro_rules! only_30 {
        ($($item:tt)*) => { $($item)* };
    }
    macro_rules! only_29 {
        ($($item:tt)*) => {};
    }

    mod compute;
    mod device;
    mod encoder;
    mod render;
    mod resource;
    mod session;

    fn mapped_bytes(slice: &wgpu::BufferSlice<'_>) -> Result<Vec<u8>, wgpu::MapRangeError> {
        slice.get_mapped_range().map(|view| view.to_vec())
    }

    pub use device::{end_frame, plain, wrap, wrap_with};
}

#[cfg(feature = "wgpu-30")]
pub use v30::{end_frame, plain, wrap, wrap_with};

/// For programs with wgpu 29.
#[cfg(feature = "wgpu-29")]
#[path = "."]
pub mod v29 {
    use wgpu29 as wgpu;

    /// The version that folders name.
    const WGPU: &str = "29";

    /// What this version of wgpu has alone.
    macro_rules! only_29 {
        ($($item:tt)*) => { $($item)* };
    }
    macro_rules! only_30 {
        ($($item:tt)*) => {};
    }

    mod compute;
    mod device;
    mod encoder;
    mod render;
    mod resource;
    mod session;

    fn mapped_bytes(slice: &wgpu::BufferSlice<'_>) -> Result<Vec<u8>, std::convert::Infallible> {
        Ok(slice.get_mapped_range().to_vec())
    }

    pub use device::{end_frame, plain, wrap, wrap_with};
}

#[cfg(all(feature = "wgpu-29", not(feature = "wgpu-30")))]
pub use v29::{end_frame, plain, wrap, wrap_with};

#[cfg(not(any(feature = "wgpu-29", feature = "wgpu-30")))]
compile_error!("lanescope-capture needs the feature of the program's wgpu: wgpu-30 or wgpu-29");
