#!/usr/bin/env python3
"""Compiles ncnn's Vulkan shaders with glslangValidator -g, as ncnn compiles them for 32-bit floats.

    ncnn.py NCNN OUT        NCNN: a checkout of Tencent/ncnn; OUT: a folder for the .spv

ncnn puts macros before each shader (src/gpu.cpp, compile_spirv_module). They are read there: the branches
that are taken where every option is off, but use_shader_local_memory. What does not compile is printed.
"""
import pathlib
import re
import subprocess
import sys


def taken(condition):
    """Whether a condition over options holds, all of them off but one."""
    text = condition.replace("opt.use_shader_local_memory", "True")
    text = re.sub(r"opt\.\w+|support_\w+", "False", text)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    try:
        return bool(eval(text, {"__builtins__": {}}))
    except (NameError, SyntaxError):
        return True


def macros(source):
    """The macros, name and text."""
    body = source[source.index("int compile_spirv_module(const char* comp_data, int comp_data_size"):]
    body = body[:body.index('custom_defines.append("ncnn_glsl_version"')]
    found, open_, before, pending = [], [], {}, None
    for line in map(str.strip, body.split("\n")):
        depth = len(open_)
        if chosen := re.match(r"(else )?if \((.*)\)$", line):
            holds = taken(chosen[2])
            pending = holds and not (chosen[1] and before.get(depth))
            before[depth] = holds or bool(chosen[1] and before.get(depth))
        elif line == "else":
            pending = not before.get(depth)
        elif line == "{":
            open_.append(True if pending is None else pending)
            pending = None
        elif line == "}" and open_:
            open_.pop()
        elif all(open_) and (made := re.match(r'custom_defines\.append\("(.*?)", (.*)\);$', line)):
            text = re.match(r'(?:\w+ \? "[^"]*" : )?"(.*)"$', made[2])
            found.append((made[1], text[1] if text else made[2]))
    return found


def main():
    ncnn, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    given = macros((ncnn / "src/gpu.cpp").read_text()) + [("NCNN_shader_local_memory", "1")]
    options = [f"-D{name}={text}" for name, text in given]
    compiled = 0
    for shader in sorted((ncnn / "src/layer/vulkan/shader").glob("*.comp")):
        command = ["glslangValidator", "-V", "-g", "--target-env", "vulkan1.1", *options]
        command += [f"-I{shader.parent}", "-o", out / f"{shader.name}.spv", shader]
        result = subprocess.run(command, capture_output=True, text=True)
        compiled += result.returncode == 0
        if result.returncode:
            errors = [line for line in result.stdout.split("\n") if line.startswith("ERROR")]
            print(shader.name, errors[:1])
    print(f"{compiled} compiled with {len(given)} macros")


main()
