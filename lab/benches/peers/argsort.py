"""PyTorch's stable argsort of class ids, one sample for each line that is read from standard input.

Usage: argsort.py permutation_8 N SETS REPEATS

N class ids below 8, as int32; SETS copies are used in turn, 1 for a warm cache; REPEATS calls lie
between the two events of a sample. Prints "ready" once the result has been verified, then
nanoseconds a call for each line.
"""

import sys

import torch


def main():
    if len(sys.argv) != 5 or sys.argv[1] != "permutation_8":
        sys.exit(__doc__)
    n, sets, repeats = (int(argument) for argument in sys.argv[2:])
    generator = torch.Generator(device="cuda").manual_seed(1)
    first = torch.randint(0, 8, (n,), dtype=torch.int32, device="cuda", generator=generator)
    keys = [first] + [first.clone() for _ in range(sets - 1)]
    order = torch.argsort(keys[0], stable=True)
    ordered = keys[0][order]
    steps, places = ordered[1:] - ordered[:-1], order[1:] - order[:-1]
    if not bool(((steps > 0) | ((steps == 0) & (places > 0))).all()):
        sys.exit("argsort is not the stable order")
    del order, ordered, steps, places
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    print("ready", flush=True)
    at = 0
    for _ in sys.stdin:
        # As on our side: one call that is not timed goes before.
        torch.argsort(keys[at], stable=True)
        at = (at + 1) % sets
        begin.record()
        for _ in range(repeats):
            torch.argsort(keys[at], stable=True)
            at = (at + 1) % sets
        end.record()
        end.synchronize()
        print(f"{begin.elapsed_time(end) * 1e6 / repeats:.3f}", flush=True)


main()
