//! A dispatch that was copied out of a running program: where its contents come from, and what the
//! program's own dispatch left.
//!
//! Input: `[capture]` of a launch file. Output: plain data. Folders are opened and checked, and outputs
//! compared, elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::generate::hexadecimal;
use crate::layout::Shape;

/// Where a launch file's contents come from. A folder with this is refused where a file is not as it says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureDescription {
    /// The version of the folder's format: 1.
    pub version: u32,
    /// The shader's file, WGSL or SPIR-V.
    pub shader: String,
    /// The program that dispatched it.
    pub program: Option<String>,
    /// The label of the pipeline, or of the pass.
    pub label: Option<String>,
    /// Which of the dispatches that matched was taken, from 0.
    pub nth: Option<u64>,
    /// The program's frame, from 0.
    pub frame: Option<u64>,
    /// The GPU or CPU driver that it ran on.
    pub adapter: Option<String>,
    /// That one's driver.
    pub driver: Option<String>,
    /// The interface, in wgpu's words.
    pub backend: Option<String>,
    /// wgpu's version.
    pub wgpu: Option<String>,
    /// What wrote the folder.
    pub captured_by: Option<String>,
    /// What could not be read, a sentence each.
    #[serde(default)]
    pub missing: Vec<String>,
    /// How far floats may lie from the program's own, relative to the larger.
    #[serde(default = "tolerance_relative")]
    pub tolerance_relative: f64,
    /// The same in the element's unit.
    #[serde(default = "tolerance_absolute")]
    pub tolerance_absolute: f64,
    /// Every other file of the folder.
    #[serde(default)]
    pub files: BTreeMap<String, FileNote>,
}

fn tolerance_relative() -> f64 {
    1e-4
}

fn tolerance_absolute() -> f64 {
    1e-6
}

/// What a file of a folder must be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileNote {
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes in hexadecimal.
    pub sha256: String,
}

impl CaptureDescription {
    /// Where it comes from, a sentence.
    pub fn sentence(&self) -> String {
        let label = self.label.as_deref().filter(|label| !label.is_empty());
        let mut text = match (label, self.nth) {
            (Some(label), Some(nth)) => format!("Dispatch {nth} of `{label}`"),
            (Some(label), None) => format!("A dispatch of `{label}`"),
            (None, Some(nth)) => format!("Dispatch {nth}"),
            (None, None) => "A dispatch".to_owned(),
        };
        if let Some(frame) = self.frame {
            text += &format!(" in frame {frame}");
        }
        if let Some(program) = &self.program {
            text += &format!(" of {program}");
        }
        text += ", captured";
        if let Some(adapter) = &self.adapter {
            text += &format!(" on {adapter}");
        }
        let with = [&self.backend, &self.driver].into_iter().flatten();
        let with: Vec<&str> = with.map(String::as_str).filter(|word| !word.is_empty()).collect();
        if !with.is_empty() {
            text += &format!(" ({})", with.join(", "));
        }
        if let Some(wgpu) = &self.wgpu {
            text += &format!(" with wgpu {wgpu}");
        }
        text.push('.');
        for missing in &self.missing {
            text += &format!(" Not read: {missing}.");
        }
        text
    }
}

/// What a buffer or a texture held after the program's own dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct After {
    /// Its bytes.
    #[serde(with = "hexadecimal")]
    pub bytes: Vec<u8>,
    /// How a buffer lies in memory; words are compared where it is not known.
    pub shape: Option<Shape>,
    /// How far floats may lie apart, relative to the larger.
    pub tolerance_relative: f64,
    /// The same in the element's unit.
    pub tolerance_absolute: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_is_known() {
        let text = "version = 1\nshader = \"s.wgsl\"\nprogram = \"boids\"\nlabel = \"step\"\nnth = 3\n\
                    frame = 50\nadapter = \"llvmpipe\"\nbackend = \"vulkan\"\nwgpu = \"30.0.1\"\n\
                    missing = [\"a binding array\"]\n";
        let capture: CaptureDescription = toml::from_str(text).unwrap();
        assert_eq!(
            capture.sentence(),
            "Dispatch 3 of `step` in frame 50 of boids, captured on llvmpipe (vulkan) with wgpu \
             30.0.1. Not read: a binding array."
        );
    }
}
