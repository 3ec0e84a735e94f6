"""Where the multiply-adds of NVIDIA's Vulkan compiler have their operands.

    export __GL_SHADER_DISK_CACHE=1 __GL_SHADER_DISK_CACHE_PATH=cache
    lanescope run uniform -a form=sealed --device wgpu:0
    python3 vulkan_code.py cache/GLCache/*/*/*.bin

The driver keeps what it has compiled in a file of zstd frames (`zstd` must be installed). In each frame
the 16-byte instructions of sm_70 and newer are looked for whose low nine bits say FFMA; bits 9 to 11
say which operand is no register. Prints the frames that have a hundred or more, as
`FFMA,form,count,destination,operands`.
"""

import collections
import struct
import subprocess
import sys

MAGIC = b"\x28\xb5\x2f\xfd"
FORMS = {1: "registers", 2: "immediate c", 3: "constant c", 4: "immediate b", 5: "constant b",
         6: "uniform register b", 7: "uniform register c"}


def frames(data):
    """Every frame of the file, unpacked; what is no frame gives nothing."""
    parts = data.split(MAGIC)[1:]
    for part in parts:
        ran = subprocess.run(["zstd", "-dcq"], input=MAGIC + part, capture_output=True)
        if ran.stdout:
            yield ran.stdout


def multiply_adds(code, start):
    """The multiply-adds among 16-byte instructions after `start`."""
    found = collections.Counter()
    for at in range(start, len(code) - 15, 16):
        low, high = struct.unpack_from("<QQ", code, at)
        if low & 0x1FF == 0x023:
            form = FORMS.get(low >> 9 & 7, "unknown")
            text = f"R{low >> 16 & 255},R{low >> 24 & 255} R{high & 255}"
            if form == "constant c":
                text += f" constant+{(low >> 40 & 0x3FFF) * 4:#x}"
            elif form == "registers":
                text = f"R{low >> 16 & 255},R{low >> 24 & 255} R{low >> 32 & 255} R{high & 255}"
            found[(form, text)] += 1
    return found


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        data = file.read()
    for number, code in enumerate(frames(data)):
        best = max((multiply_adds(code, start) for start in (0, 4, 8, 12)), key=lambda c: c.total())
        if best.total() >= 100:
            print(f"frame {number}, {len(code)} bytes")
            for (form, text), count in best.most_common(4):
                print(f"FFMA,{form},{count},{text}")
