"""Puts the times of multisplit and of its peers into `peers.json`.

python3 multisplit_rows.py OURS CUB TORCH COPY_BYTES_PER_S PEERS_JSON

OURS, CUB and TORCH are the JSON lines of `examples/split_speed`, `multisplit.cu` and
`multisplit_torch.py`, taken one after the other on one machine. Rows of the same work, size and peer
are replaced, others are left as they are. A case whose result was wrong ends the program.
"""

import json
import sys

# What must be read and written for an element, in bytes: keys once, outputs once, and keys again
# where nothing smaller is kept of them.
BYTES = {"permutation_8": 12, "pairs_8": 20, "pairs_256": 20}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def work_of(case):
    parts = case.split(":")
    mode, classes, log2_n = parts[0], int(parts[-2]), int(parts[-1])
    name = {"order": "permutation", "pairs": "pairs"}.get(mode)
    return f"{name}_{classes}", 1 << log2_n


def main():
    ours_path, cub_path, torch_path, rate, target = sys.argv[1:]
    ours = {}
    for line in lines(ours_path):
        assert line["right"], line
        work, n = work_of(line["case"])
        best = ours.get((work, n))
        if work in BYTES and (best is None or line["median_us"] < best):
            ours[work, n] = line["median_us"]
    peers = {}
    for line in lines(cub_path):
        assert line["right"], line
        if line["bits"] == 3:
            peers["permutation_8", line["n"], "cub"] = line["median_us"]
            peers["pairs_8", line["n"], "cub"] = line["median_us"]
        if line["bits"] == 8:
            peers["pairs_256", line["n"], "cub"] = line["median_us"]
    for line in lines(torch_path):
        assert line["right"], line
        if line["classes"] == 8 and line["dtype"] == "torch.int32":
            peers["permutation_8", line["n"], "torch"] = line["median_us"]
    rows = []
    for (work, n, peer), peer_us in sorted(peers.items()):
        if (work, n) not in ours:
            continue
        us = ours[work, n]
        moved = BYTES[work] * n
        rows.append({
            "work": work, "n": n, "peer": peer, "peer_median_ns": peer_us * 1e3,
            "device": "wgpu:0", "median_ns": us * 1e3, "speed_ratio": peer_us / us,
            "bytes_moved": moved,
            "copy_rate_ratio": moved / (us * 1e-6) / float(rate), "cold": False,
        })
    try:
        with open(target, encoding="utf-8") as file:
            document = json.load(file)
    except FileNotFoundError:
        document = {"schema": 1, "rows": []}
    new = {(row["work"], row["n"], row["peer"], row["device"]) for row in rows}
    kept = [r for r in document["rows"] if (r["work"], r["n"], r["peer"], r["device"]) not in new]
    document["rows"] = kept + rows
    with open(target, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
