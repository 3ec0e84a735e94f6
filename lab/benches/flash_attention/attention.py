"""FlashAttention beside attention that writes its matrix out: times, rates, and what a core holds.

    python3 attention.py                 times, medians of 21 samples in turn
    ncu --kernel-name regex:flash --launch-count 1 --metrics \
        sm__warps_active.avg.pct_of_peak_sustained_active,sm__maximum_warps_per_active_cycle_pct,\
launch__registers_per_thread,launch__shared_mem_per_block,launch__block_size,launch__grid_size \
        python3 attention.py --once      the occupancy of the same kernel

Lines with commas: head dimension, sequence, form, milliseconds, TFLOP/s (four multiplications and
additions a head dimension for each pair of query and key). f16, 16 heads; batch times sequence is 16,384.
The two forms' results are compared first.
"""

import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

HEADS, ROWS = 16, 16_384


def flash(q, k, v):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def written_out(q, k, v):
    scores = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    return torch.matmul(torch.softmax(scores, -1), v)


def sample(form, inputs, calls=5):
    form(*inputs)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        form(*inputs)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def inputs(dimension, sequence):
    shape = (ROWS // sequence, HEADS, sequence, dimension)
    torch.manual_seed(1)
    return [torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3)]


if "--once" in sys.argv:
    flash(*inputs(64, 4096))
    torch.cuda.synchronize()
    sys.exit()

print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
print("head_dimension,sequence,form,milliseconds,tflop_per_s")
for dimension in (64, 128):
    for sequence in (1024, 4096):
        given = inputs(dimension, sequence)
        difference = (flash(*given).float() - written_out(*given).float()).abs().max().item()
        assert difference < 5e-3, difference
        operations = 4 * HEADS * ROWS * sequence * dimension
        times = {flash: [], written_out: []}
        for warm in range(20):
            sample(flash, given)
        for _ in range(21):
            for form, taken in times.items():
                taken.append(sample(form, given))
        for form, taken in times.items():
            median = statistics.median(taken)
            rate = operations / (median * 1e-3) / 1e12
            print(f"{dimension},{sequence},{form.__name__},{median:.4f},{rate:.1f}")
