//! The folder of a captured dispatch, written.
//!
//! Input: a dispatch with its contents read back. Output: the shader, `launch.toml` and files of raw bytes. The
//! format is that of lanescope's launch files; nothing of wgpu is known here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The version of the format.
const VERSION: u32 = 1;

/// A shader as the program handed it over.
#[derive(Clone, Debug)]
pub(crate) enum ShaderText {
    /// WGSL.
    Wgsl(String),
    /// SPIR-V.
    #[cfg_attr(
        not(feature = "spirv"),
        expect(dead_code, reason = "such shaders are not seen then")
    )]
    SpirV(Vec<u32>),
    /// What has no text that could be kept, in words.
    Other(&'static str),
}

/// Contents by group and binding.
#[derive(Debug)]
pub(crate) struct Bytes {
    /// Of the buffer: a number that those which share memory have in common; and where its part begins and how
    /// long it is. Nothing of a texture.
    pub(crate) part: Option<MemoryPart>,
    pub(crate) group: u32,
    pub(crate) binding: u32,
    /// Before the dispatch; of a part all of the memory that is shared.
    pub(crate) before: Vec<u8>,
    /// After it, where it may have been written.
    pub(crate) after: Option<Vec<u8>>,
    /// More lines of the table, without the fill.
    pub(crate) lines: Vec<String>,
}

/// A part of memory that several bindings may share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryPart {
    pub(crate) memory: usize,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Everything of a dispatch.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) shader: ShaderText,
    pub(crate) entry_point: Option<String>,
    pub(crate) constants: Vec<(String, f64)>,
    pub(crate) memory_zeroed: bool,
    pub(crate) workgroups: [u32; 3],
    /// The arguments of an indirect dispatch, in place of workgroups.
    pub(crate) indirect: Option<Vec<u8>>,
    pub(crate) immediates: Vec<u8>,
    pub(crate) buffers: Vec<Bytes>,
    pub(crate) textures: Vec<Bytes>,
    /// Tables of samplers.
    pub(crate) samplers: Vec<Vec<String>>,
    pub(crate) missing: Vec<String>,
    /// Provenance: key and value as TOML writes it.
    pub(crate) notes: Vec<(&'static str, String)>,
}

/// A text as TOML writes it.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Files of a folder: contents that are the same are written once.
struct Files<'a> {
    folder: &'a Path,
    by_hash: BTreeMap<String, String>,
    notes: BTreeMap<String, (u64, String)>,
}

impl Files<'_> {
    /// Writes a file, and gives its name; of contents that are there already the name that they have.
    fn add(&mut self, name: &str, bytes: &[u8]) -> std::io::Result<String> {
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(known) = self.by_hash.get(&hash) {
            return Ok(known.clone());
        }
        write(&self.folder.join(name), bytes)?;
        self.by_hash.insert(hash.clone(), name.to_owned());
        self.notes.insert(name.to_owned(), (bytes.len() as u64, hash));
        Ok(name.to_owned())
    }
}

#[expect(clippy::disallowed_methods, reason = "the folder that the program's user asked for")]
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::write(path, bytes)
}

impl Captured {
    /// Writes the folder.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub(crate) fn write(mut self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut files = Files { folder, by_hash: BTreeMap::new(), notes: BTreeMap::new() };
        let shader = match &self.shader {
            ShaderText::Wgsl(text) => files.add("shader.wgsl", text.as_bytes())?,
            ShaderText::SpirV(words) => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                files.add("shader.spv", &bytes)?
            }
            ShaderText::Other(what) => {
                self.missing.push(format!("the shader: {what}"));
                "shader.wgsl".to_owned()
            }
        };
        let mut text = String::new();
        if !self.immediates.is_empty() {
            let name = files.add("immediates.bin", &self.immediates)?;
            text += &format!("immediates = {{ file = {} }}\n", quote(&name));
        }
        if !self.memory_zeroed {
            text += "workgroup_memory_zeroed = false\n";
        }
        let mut tables = String::new();
        for buffer in &self.buffers {
            tables += &resource("buffers", buffer, &mut files)?;
        }
        for texture in &self.textures {
            tables += &resource("textures", texture, &mut files)?;
        }
        for lines in &self.samplers {
            tables += &format!("\n[[samplers]]\n{}\n", lines.join("\n"));
        }
        if let Some(arguments) = &self.indirect {
            let name = files.add("indirect.bin", arguments)?;
            tables += &format!(
                "\n[[buffers]]\nname = \"indirect arguments\"\nfill = {{ file = {} }}\n",
                quote(&name)
            );
        }
        let entry_point = self.entry_point.take().or_else(|| self.shader.only_entry_point());
        tables += &format!(
            "\n[[dispatches]]\nentry_point = {}\n",
            quote(entry_point.as_deref().unwrap_or("main"))
        );
        tables += &match (&self.indirect, self.workgroups) {
            (Some(_), _) => "indirect = { buffer = \"indirect arguments\" }\n".to_owned(),
            (None, [x, y, z]) => format!("workgroups = [{x}, {y}, {z}]\n"),
        };
        if !self.constants.is_empty() {
            tables += "\n[overrides]\n";
            for (name, value) in &self.constants {
                tables += &format!("{} = {value:?}\n", quote(name));
            }
        }
        text += &tables;
        text += &format!("\n[capture]\nversion = {VERSION}\nshader = {}\n", quote(&shader));
        for (key, value) in &self.notes {
            text += &format!("{key} = {value}\n");
        }
        let missing: Vec<String> = self.missing.iter().map(|what| quote(what)).collect();
        text += &format!("missing = [{}]\n", missing.join(", "));
        for (name, (bytes, hash)) in &files.notes {
            text += &format!(
                "\n[capture.files.{}]\nbytes = {bytes}\nsha256 = \"{hash}\"\n",
                quote(name)
            );
        }
        write(&folder.join("launch.toml"), text.as_bytes())
    }
}

/// The table of a buffer or a texture.
fn resource(list: &str, given: &Bytes, files: &mut Files<'_>) -> std::io::Result<String> {
    let (group, binding) = (given.group, given.binding);
    let stem = match given.part {
        Some(part) => format!("memory_{}", part.memory),
        None => format!("texture_{group}_{binding}"),
    };
    let file = |name: &str| match given.part {
        Some(part) => format!(
            "{{ name = {}, offset = {}, bytes = {} }}",
            quote(name),
            part.offset,
            part.bytes
        ),
        None => quote(name),
    };
    let before = files.add(&format!("{stem}.bin"), &given.before)?;
    let mut text = format!("\n[[{list}]]\ngroup = {group}\nbinding = {binding}\n");
    for line in &given.lines {
        text += &format!("{line}\n");
    }
    text += &format!("fill = {{ file = {} }}\n", file(&before));
    if let Some(after) = &given.after {
        let after = files.add(&format!("{stem}.after.bin"), after)?;
        text += &format!("after = {}\n", file(&after));
    }
    Ok(text)
}

impl ShaderText {
    /// The compute entry point, where there is one alone.
    fn only_entry_point(&self) -> Option<String> {
        let names = match self {
            Self::Wgsl(text) => wgsl_entry_points(text),
            Self::SpirV(words) => spirv_entry_points(words),
            Self::Other(_) => return None,
        };
        match &names[..] {
            [name] => Some(name.clone()),
            _ => None,
        }
    }
}

/// The functions marked `@compute`, by their text without comments.
fn wgsl_entry_points(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let marked = text.split("@compute").skip(1);
    let name = |rest: &str| {
        let after = rest.split_once("fn ")?.1.trim_start();
        let name: String =
            after.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        (!name.is_empty()).then_some(name)
    };
    marked.filter_map(name).collect()
}

/// A text of WGSL without its comments, of which those in blocks nest.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    let mut depth = 0_u32;
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("/*") {
            (depth, rest) = (depth + 1, &rest[2..]);
        } else if depth > 0 && rest.starts_with("*/") {
            (depth, rest) = (depth - 1, &rest[2..]);
        } else if depth == 0 && rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else {
            if depth == 0 {
                kept.push(letter);
            }
            rest = &rest[letter.len_utf8()..];
        }
    }
    kept
}

/// The names after `OpEntryPoint GLCompute`.
fn spirv_entry_points(words: &[u32]) -> Vec<String> {
    const ENTRY_POINT: u32 = 15;
    const COMPUTE: u32 = 5;
    let mut names = Vec::new();
    let mut rest = words.get(5..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        let length = usize::try_from(first >> 16).unwrap_or(usize::MAX);
        let Some((instruction, after)) = rest.split_at_checked(length.max(1)) else { break };
        if first & 0xffff == ENTRY_POINT && instruction.get(1) == Some(&COMPUTE) {
            let bytes = instruction[3..].iter().flat_map(|word| word.to_le_bytes());
            let name: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
            names.push(String::from_utf8_lossy(&name).into_owned());
        }
        rest = after;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_entry_point_is_found() {
        let text = "// @compute fn no() {}\n/* @compute /* nested */ fn no() */\n\
                    @compute @workgroup_size(8, 8)\nfn main_2(a: u32) {}";
        let only = |text: &str| ShaderText::Wgsl(text.to_owned()).only_entry_point();
        assert_eq!(only(text).as_deref(), Some("main_2"));
        assert_eq!(only(&format!("{text} @workgroup_size(1) @compute fn b() {{}}")), None);
        let name = u32::from_le_bytes(*b"ab\0\0");
        let words = [0, 0, 0, 0, 0, 1 << 16, 4 << 16 | 15, 5, 1, name];
        assert_eq!(spirv_entry_points(&words), ["ab"]);
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
    }
}
