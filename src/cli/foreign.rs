//! Shaders in other languages than WGSL: what they are, and the way from there.
//!
//! Input: a text that is no WGSL. Output: a sentence for whoever gave it, or nothing. It
//! translates nothing, and is asked only of what could not be read.

/// Says what a text that is no WGSL is; `None` if that is not known.
pub(crate) fn text(file: &str, text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim_start).enumerate();
    let line_with = |starts: &[&str]| {
        lines().find(|(_, line)| starts.iter().any(|start| line.starts_with(start)))
    };
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let by_name = [".comp", ".glsl"].iter().any(|ending| file.ends_with(ending));
    if by_name
        || line_with(&["#version"]).is_some()
        || any(&["gl_GlobalInvocationID", "local_size_x"])
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
            let said = text("x", given).expect(given);
            assert!(said.contains(words), "{given}: {said}");
        }
        assert_eq!(text("x", "fn main() { let = 3; }"), None);
        assert!(text("x.comp", "void main() {}").is_some_and(|said| said.contains("is GLSL")));
    }
}
