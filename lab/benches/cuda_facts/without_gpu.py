# What NVIDIA's profiler and compiler say of questions that need no GPU: which metrics exist, which sizes of tiles,
# how many registers `__launch_bounds__` and a cap leave a kernel, and how many machine instructions the five patterns
# have on the architecture of the article that counted them.
#
#   python3 without_gpu.py <the folder nvidia/cu13 of the wheels>
#
# The wheels come from PyPI: nvidia-cuda-cupti, nvidia-cuda-nvrtc, nvidia-cuda-nvcc, nvidia-cuda-nvdisasm, nvidia-cuda-runtime, nvidia-cuda-cccl. Lines with
# commas: what is asked, of whom, the question, then the answer: 1 where it exists or compiles, else 0; of registers
# the registers of a thread and the bytes that it spills; of instructions how many, without those that fill up the end.

import ctypes as C
import glob
import os
import re
import subprocess
import sys
import tempfile

CHIP = "GH100"
METRICS = [
    f"smsp__{average}warps_issue_stalled_{reason}_per_issue_active.ratio"
    for average in ("", "average_")
    for reason in ("long_scoreboard", "short_scoreboard", "barrier", "not_selected", "drain")
] + [
    "smsp__warps_issue_stalled_long_scoreboard.sum",
    "smsp__inst_executed_per_warp.avg",
    "smsp__average_inst_executed_per_warp.ratio",
    "smsp__thread_inst_executed_pred_on_sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
]
TILE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(float* out) {{
    auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());
    float sum = out[threadIdx.x];
    for (int step = tile.size() / 2; step > 0; step /= 2) {{ sum += tile.shfl_down(sum, step); }}
    out[threadIdx.x] = sum;
}}
"""
# A value of each of 160 places lives from the first loop to the last.
REGISTERS = """
extern "C" __global__ void {bounds} kernel_(const float* a, float* out, int turns) {{
    float held[160];
#pragma unroll
    for (int i = 0; i < 160; i++) {{ held[i] = a[i * 256 + threadIdx.x]; }}
    for (int turn = 0; turn < turns; turn++) {{
#pragma unroll
        for (int i = 0; i < 160; i++) {{ held[i] = held[i] * held[(i + 7) % 160] + 1.0f; }}
    }}
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 160; i++) {{ sum += held[i]; }}
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}}
"""
BOUNDS = ["", "__launch_bounds__(256)", "__launch_bounds__(256, 2)", "__launch_bounds__(256, 4)"]
CAPS = [64, 32]
# The five patterns by their description: the same constants and trip counts.
PATTERNS = {
    "uniform": "for (int i = 0; i < 512; i++) v = v * 1.01f + 0.001f;",
    "branch_by_lane": """if (threadIdx.x % 2 == 0) { for (int i = 0; i < 512; i++) v = v * 1.01f + 0.001f; }
        else { for (int i = 0; i < 512; i++) v = v + 0.001f * i; }""",
    "branch_by_quad": "if (threadIdx.x % 4 == 0) { for (int i = 0; i < 2048; i++) v = v * 1.001f + 0.0001f; }",
    "early_exit": """if (v < threshold) { data[index] = v; return; }
        for (int i = 0; i < 1024; i++) v = v * 1.01f - 0.005f;""",
    "indirect_branch": """switch ((int)(v * 4.0f) % 4) {
        case 0: for (int i = 0; i < 256; i++) v *= 1.01f; break;
        case 1: for (int i = 0; i < 256; i++) v += 0.01f; break;
        case 2: for (int i = 0; i < 256; i++) v -= 0.005f; break;
        default: for (int i = 0; i < 256; i++) v *= 0.99f; break; }""",
}
PATTERN = """
extern "C" __global__ void pattern(float* data, int n, float threshold) {{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n) {{
        float v = data[index];
        {body}
        data[index] = v;
    }}
}}
"""


def structure(*fields):
    made = type("Made", (C.Structure,), {"_fields_": [("size", C.c_size_t), ("private", C.c_void_p), *fields]})()
    made.size = C.sizeof(made)
    return made


class Profiler:
    def __init__(self, folder):
        self.library = C.CDLL(os.path.join(folder, "libnvperf_host.so"))
        self.call("NVPW_InitializeHost", structure())
        chip = CHIP.encode()
        of_chip = [("chip", C.c_char_p), ("availability", C.c_void_p)]
        room = structure(*of_chip, ("bytes", C.c_size_t))
        room.chip = chip
        self.call("NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize", room)
        self.scratch = C.create_string_buffer(room.bytes)
        made = structure(("scratch", C.c_void_p), ("bytes", C.c_size_t), *of_chip,
                         ("data", C.c_void_p), ("data_bytes", C.c_size_t), ("evaluator", C.c_void_p))
        made.scratch, made.bytes, made.chip = C.cast(self.scratch, C.c_void_p), room.bytes, chip
        self.call("NVPW_CUDA_MetricsEvaluator_Initialize", made)
        self.evaluator = made.evaluator

    def call(self, name, parameters):
        code = getattr(self.library, name)(C.byref(parameters))
        assert code == 0, (name, code)

    def knows(self, metric):
        request = C.create_string_buffer(8)
        asked = structure(("evaluator", C.c_void_p), ("name", C.c_char_p), ("request", C.c_void_p),
                          ("request_bytes", C.c_size_t))
        asked.evaluator, asked.name, asked.request_bytes = self.evaluator, metric.encode(), 8
        asked.request = C.cast(request, C.c_void_p)
        code = self.library.NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(C.byref(asked))
        # 0: known; 8: an invalid name. Anything else is no answer.
        assert code in (0, 8), code
        return code == 0


class Compiler:
    def __init__(self, root):
        names = [name for name in glob.glob(os.path.join(root, "lib", "libnvrtc.so.*"))]
        assert len(names) == 1, names
        self.library, self.root = C.CDLL(names[0]), root
        major, minor = C.c_int(), C.c_int()
        assert self.library.nvrtcVersion(C.byref(major), C.byref(minor)) == 0
        self.version = f"{major.value}.{minor.value}"

    def ptx(self, text, architecture=90):
        program = C.c_void_p()
        made = self.library.nvrtcCreateProgram(C.byref(program), text.encode(), b"text.cu", 0, None, None)
        assert made == 0, made
        include = os.path.join(self.root, "include")
        options = [f"--gpu-architecture=compute_{architecture}".encode(), f"--include-path={include}".encode(),
                   f"--include-path={include}/cccl".encode()]
        code = self.library.nvrtcCompileProgram(program, len(options), (C.c_char_p * len(options))(*options))
        # 0: done; 6: the text does not compile. Anything else is no answer.
        assert code in (0, 6), code
        size = C.c_size_t()
        if code == 6:
            self.library.nvrtcGetProgramLogSize(program, C.byref(size))
            log = C.create_string_buffer(size.value)
            self.library.nvrtcGetProgramLog(program, log)
            return None, log.value.decode()
        self.library.nvrtcGetPTXSize(program, C.byref(size))
        text = C.create_string_buffer(size.value)
        self.library.nvrtcGetPTX(program, text)
        return text.value, ""

    def registers(self, bounds, cap):
        ptx, log = self.ptx(REGISTERS.format(bounds=bounds))
        assert ptx, log
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.ptx")
            with open(path, "wb") as file:
                file.write(ptx)
            options = [] if cap is None else [f"--maxrregcount={cap}"]
            tool = os.path.join(self.root, "bin", "ptxas")
            said = subprocess.run([tool, "-arch=sm_90", "-v", *options, path, "-o", os.path.join(folder, "cubin")],
                                  check=True, capture_output=True, text=True)
        said = said.stderr + said.stdout
        spilled = int(re.search(r"(\d+) bytes spill stores", said).group(1))
        return int(re.search(r"Used (\d+) registers", said).group(1)), spilled


    def instructions(self, body, architecture):
        ptx, log = self.ptx(PATTERN.format(body=body), architecture)
        assert ptx, log
        with tempfile.TemporaryDirectory() as folder:
            path, code = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
            with open(path, "wb") as file:
                file.write(ptx)
            tools = os.path.join(self.root, "bin")
            subprocess.run([os.path.join(tools, "ptxas"), f"-arch=sm_{architecture}", path, "-o", code], check=True)
            said = subprocess.run([os.path.join(tools, "nvdisasm"), "-c", code], check=True, capture_output=True, text=True)
        lines = [line for line in said.stdout.splitlines() if re.match(r"\s+/\*[0-9a-f]{4,}\*/", line)]
        # Behind the last way out stand a branch to itself and instructions that do nothing.
        while lines and re.search(r"\bNOP\b|\bBRA\b", lines[-1]):
            lines.pop()
        return len(lines)


root = sys.argv[1]
profiler = Profiler(os.path.join(root, "lib"))
for metric in METRICS:
    print(f"metric,{CHIP},{metric},{int(profiler.knows(metric))}")
compiler = Compiler(root)
for size in (1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 33, 64, 128):
    ptx, log = compiler.ptx(TILE.format(size=size))
    # What refuses a size must be its own assertion, not a missing header.
    assert ptx or "size" in log.lower(), log
    print(f"tile,NVRTC {compiler.version},{size},{int(ptx is not None)}")
for bounds in BOUNDS:
    registers, spilled = compiler.registers(bounds, None)
    print(f"registers,NVRTC {compiler.version},{bounds.replace(', ', ' ') or 'none'},{registers},{spilled}")
for cap in CAPS:
    registers, spilled = compiler.registers("", cap)
    print(f"registers,NVRTC {compiler.version},maxrregcount={cap},{registers},{spilled}")
for architecture in (86, 90):
    for name, body in PATTERNS.items():
        print(f"instructions,sm_{architecture},{name},{compiler.instructions(body, architecture)}")
