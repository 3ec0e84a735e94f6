"""What a user of PyTorch would take in place of multisplit: argsort(stable=True) of class ids.

python3 multisplit_torch.py

Output: a JSON line for each case with the median of samples, each between two CUDA events around as
many sorts as make it longer than 0.4 ms; the result is checked to be the stable order.
"""

import json
import statistics

import torch


def sample(keys, repeats):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        order = torch.argsort(keys, stable=True)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end), order


def right(keys, order):
    ordered = keys[order.long()].long()
    steps = ordered[1:] - ordered[:-1]
    in_place = order[1:] > order[:-1]
    return bool(((steps > 0) | ((steps == 0) & in_place)).all())


def measure(n, classes, kind):
    generator = torch.Generator(device="cuda").manual_seed(1)
    keys = torch.randint(0, classes, (n,), device="cuda", generator=generator).to(kind)
    repeats = 1
    while sample(keys, repeats)[0] < 0.4 and repeats < 256:
        repeats *= 2
    samples = [sample(keys, repeats) for _ in range(21)]
    median = statistics.median(ms for ms, _ in samples) / repeats * 1e3
    print(json.dumps({
        "peer": "torch", "version": torch.__version__, "n": n, "classes": classes, "dtype": str(kind),
        "median_us": round(median, 2), "right": right(keys, samples[-1][1]),
    }), flush=True)


if __name__ == "__main__":
    for n in (1 << 16, 1 << 26):
        for kind in (torch.int32, torch.uint8):
            measure(n, 8, kind)
