//! Shaders in other languages than WGSL, and files that stand beside shaders: what they are, and the way from there.
//!
//! Input: a text that is no WGSL. Output: a sentence for whoever gave it, or nothing. It
//! translates nothing, and is asked only of what could not be read, or is TOML by its name.

use std::path::Path;

use super::captured;
use crate::kernel::family;

/// Says what a TOML file is that was given in place of a shader, and the command that it is for; `None` if it is none
/// by its name. `is_file` says whether there is a file at a path.
pub(super) fn toml(path: &Path, text: &str, is_file: impl Fn(&Path) -> bool) -> Option<String> {
    let ending = path.extension()?;
    if !ending.eq_ignore_ascii_case("toml") {
        return None;
    }
    let file = path.display();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_family = path.file_name().is_some_and(|name| name == family::FILE);
    if is_family || is_file(&folder.join(family::FILE)) {
        let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let family = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (what, named) = match is_family {
            true => ("describes a family of kernels", family),
            false => ("describes a kernel of a family", format!("{family}/{}", name(path))),
        };
        let families = match folder.parent() {
            Some(above) if above != Path::new("") => above.to_owned(),
            Some(_) if folder != Path::new("") => Path::new(".").to_owned(),
            _ => full.parent().unwrap_or(Path::new(".")).to_owned(),
        };
        return Some(format!(
            "{file} {what} and is no shader: `lanescope run {named} --shaders {}` runs it",
            families.display()
        ));
    }
    if path.file_name().is_some_and(|name| name == captured::LAUNCH) && captured::is_capture(text) {
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        return Some(format!(
            "{file} is the launch file of a captured dispatch and no shader: give its folder, `lanescope profile {}`",
            folder.display()
        ));
    }
    let shaders = ["wgsl", "spv"].map(|ending| path.with_extension(ending));
    let shader = shaders.iter().find(|shader| is_file(shader));
    let shader = shader.map_or("SHADER.wgsl".to_owned(), |shader| shader.display().to_string());
    Some(format!(
        "{file} is a TOML file and no shader; a launch file says how a shader is launched, and stands behind --launch: \
         `lanescope profile {shader} --launch {file}`"
    ))
}

/// Says what a text that is no WGSL is; `None` if that is not known.
pub(crate) fn text(file: &str, text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim_start).enumerate();
    let line_with = |starts: &[&str]| {
        lines().find(|(_, line)| starts.iter().any(|start| line.starts_with(start)))
    };
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // WGSL may name what it likes `gl_GlobalInvocationID`, as what was translated to it does.
    let is_wgsl = any(&["@compute"]);
    let by_name = [".comp", ".glsl"].iter().any(|ending| file.ends_with(ending));
    if by_name
        || line_with(&["#version"]).is_some()
        || (!is_wgsl && any(&["gl_GlobalInvocationID", "local_size_x"]))
    {
        return Some(format!(
            "{file} is GLSL, and lanescope reads WGSL and SPIR-V: `glslangValidator -V -g -S comp {file} \
             -o shader.spv` makes SPIR-V of it whose lines are the GLSL's, then `lanescope profile \
             shader.spv`"
        ));
    }
    if any(&["[numthreads(", "RWStructuredBuffer"]) {
        return Some(format!(
            "{file} is HLSL, and lanescope reads WGSL and SPIR-V: `dxc -spirv -T cs_6_6 -E main \
             -fspv-debug=vulkan-with-source -Fo shader.spv {file}` makes SPIR-V of it whose lines are the \
             HLSL's, then `lanescope profile shader.spv`"
        ));
    }
    if any(&["<metal_stdlib>", "[[thread_position_in_grid]]"]) {
        return Some(format!("{file} is Metal's language, and lanescope reads WGSL and SPIR-V"));
    }
    if any(&["__global__"]) {
        return Some(format!(
            "{file} is CUDA C++, and lanescope reads WGSL and SPIR-V: what a kernel of yours does, write in WGSL"
        ));
    }
    let (index, line) =
        line_with(&["#import", "#define_import_path", "#include", "#define", "#if", "#ifdef"])?;
    let word = line.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
    let number = index + 1;
    Some(format!(
        "{file}:{number}: `{word}` is a preprocessor's and not WGSL's (naga_oil has it, which Bevy uses): \
         give lanescope the text that the preprocessor writes, or a dispatch that the running program writes \
         down with lanescope-capture"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_named_with_a_way_out() {
        for (given, words) in [
            ("#version 450\nvoid main() {}", "glslangValidator -V -g"),
            ("layout(local_size_x = 64) in;", "is GLSL"),
            ("[numthreads(64, 1, 1)] void main() {}", "dxc -spirv"),
            ("#include <metal_stdlib>\nkernel void f() {}", "Metal"),
            ("__global__ void f() {}", "CUDA"),
            ("// one\n  #import bevy_pbr::view", "x:2: `#import` is a preprocessor's"),
            ("#ifdef A\n#endif", "x:1: `#ifdef`"),
        ] {
            let hint = text("x", given).expect(given);
            assert!(hint.contains(words), "{given}: {hint}");
        }
        assert_eq!(text("x", "fn main() { let = 3; }"), None);
        let translated = "@compute @workgroup_size(SIZE) fn main(\
                          @builtin(global_invocation_id) gl_GlobalInvocationID: vec3u) {}";
        assert_eq!(text("x.wgsl", translated), None);
        assert!(text("x.comp", "void main() {}").is_some_and(|hint| hint.contains("is GLSL")));
    }

    #[test]
    fn a_toml_file_in_place_of_a_shader_is_named_with_the_command_that_it_is_for() {
        let files = ["k/f/family.toml", "k/f/one.toml", "a/blur.toml", "a/blur.wgsl"];
        let is_file = |path: &Path| files.iter().any(|file| path == Path::new(file));
        for (file, text, command) in [
            ("k/f/family.toml", "", "`lanescope run f --shaders k` runs it"),
            ("k/f/one.toml", "", "`lanescope run f/one --shaders k` runs it"),
            ("a/blur.toml", "", "`lanescope profile a/blur.wgsl --launch a/blur.toml`"),
            ("b/other.toml", "", "`lanescope profile SHADER.wgsl --launch b/other.toml`"),
            ("c/launch.toml", "[capture]\nshader = \"s\"", "`lanescope profile c`"),
            ("launch.toml", "[capture]", "`lanescope profile .`"),
        ] {
            let hint = toml(Path::new(file), text, is_file).expect(file);
            assert!(hint.starts_with(file) && hint.contains(command), "{file}: {hint}");
        }
        assert_eq!(toml(Path::new("a/blur.wgsl"), "", is_file), None);
    }
}
