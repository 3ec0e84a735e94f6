# For which architectures NVRTC compiles masked shuffles, votes and matches.
#
#   python3 architectures.py <a folder with libnvrtc.so.*> ...
#
# Lines with commas: NVRTC's version, architecture, intrinsic, compiled or refused. Wheels of NVRTC come
# from PyPI (nvidia-cuda-nvrtc-cu11, nvidia-cuda-nvrtc-cu12); 11.8 still takes the architecture 3.5, no
# wheel takes 3.0, which CUDA 11 dropped.

import ctypes
import glob
import os
import sys

INTRINSICS = {
    "__shfl_down_sync": "__shfl_down_sync(0xffffffffu, v, 1)",
    "__ballot_sync": "__ballot_sync(0xffffffffu, v & 1)",
    "__syncwarp": "(__syncwarp(), v)",
    "__match_any_sync": "__match_any_sync(0xffffffffu, v)",
    "__reduce_add_sync": "__reduce_add_sync(0xffffffffu, v)",
}
TEXT = 'extern "C" __global__ void main_(unsigned* out) {{ unsigned v = out[threadIdx.x]; ' \
    "out[threadIdx.x] = {}; }}"


def compiles(library, text, architecture):
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"text.cu", 0, None, None)
    assert made == 0, made
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture=compute_{architecture}".encode())
    code = library.nvrtcCompileProgram(program, 1, options)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    # 0: done; 6: the text does not compile. Anything else is no answer.
    assert code in (0, 6), code
    return code == 0


def architectures(library):
    count = ctypes.c_int()
    assert library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    found = (ctypes.c_int * count.value)()
    assert library.nvrtcGetSupportedArchs(found) == 0
    return list(found)


print("nvrtc,architecture,intrinsic,outcome")
for folder in sys.argv[1:]:
    names = glob.glob(os.path.join(folder, "libnvrtc.so.*"))
    assert len(names) == 1, names
    library = ctypes.CDLL(names[0])
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    for architecture in architectures(library):
        for name, use in INTRINSICS.items():
            outcome = "compiled" if compiles(library, TEXT.format(use), architecture) else "refused"
            print(f"{major.value}.{minor.value},{architecture},{name},{outcome}")
