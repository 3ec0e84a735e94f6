"""PyTorch's softmax, one sample for each line that is read from standard input.

Usage: softmax.py softmax_f32 N COLUMNS SETS REPEATS

N elements in rows of COLUMNS; SETS copies are used in turn, 1 for a warm cache; REPEATS calls lie
between the two events of a sample. Prints "ready" once the result has been verified, then
nanoseconds a call for each line. Outputs are written in place of older ones (`out=`), so that no
allocation is timed.
"""

import sys

import torch


def main():
    if len(sys.argv) != 6 or sys.argv[1] != "softmax_f32":
        sys.exit(__doc__)
    n, columns, sets, repeats = (int(argument) for argument in sys.argv[2:])
    rows = n // columns
    generator = torch.Generator(device="cuda").manual_seed(1)
    shape = (rows, columns)
    first = torch.rand(shape, generator=generator, device="cuda") * 8 - 4
    inputs = [first] + [first.clone() for _ in range(sets - 1)]
    outputs = [torch.empty_like(first) for _ in range(sets)]
    torch.softmax(inputs[0], dim=1, out=outputs[0])
    expected = torch.softmax(inputs[0][:64].double().cpu(), dim=1)
    difference = (outputs[0][:64].double().cpu() - expected).abs().max().item()
    if difference > 1e-6:
        sys.exit(f"softmax is off by {difference}")
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    print("ready", flush=True)
    at = 0
    for _ in sys.stdin:
        # As on our side: one call that is not timed goes before.
        torch.softmax(inputs[at], dim=1, out=outputs[at])
        at = (at + 1) % sets
        begin.record()
        for _ in range(repeats):
            torch.softmax(inputs[at], dim=1, out=outputs[at])
            at = (at + 1) % sets
        end.record()
        end.synchronize()
        print(f"{begin.elapsed_time(end) * 1e6 / repeats:.3f}", flush=True)


main()
