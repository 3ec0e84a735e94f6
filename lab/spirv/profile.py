#!/usr/bin/env python3
"""Profiles each .spv under a folder on sim:32 with made-up data, and says what came of it.

    profile.py LANESCOPE FOLDER     LANESCOPE: the program

A module counts where its measurement is ok. Operations are those of the IR times executions; they count as
on a line where that line of the text that is shown holds any text.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMITS = ["--n", "256", "--steps", "2000000", "--operations", "100000000", "--no-timing"]


def counted(record):
    """Operations, and those on a line with text; nothing where the measurement is not ok."""
    run = json.loads(record.read_text())
    one = run["measurements"][0]
    if one.get("status") != "ok":
        return None
    lines = run["sources"][one["source_sha256"]]["text"].split("\n")
    total = placed = 0
    for dispatch in one["dispatches"]:
        for block, told in zip(dispatch["blocks"], run["block_tables"][dispatch["block_table"]]):
            # A block that is a jump alone has no operations, and tells no lines.
            lines_told = told.get("lines", {})
            for line, operations in lines_told.items():
                share = operations * block["executions"]
                total += share
                placed += share if 0 < int(line) <= len(lines) and lines[int(line) - 1].strip() else 0
    return total, placed


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    modules = sorted(folder.rglob("*.spv"))
    good = total = placed = 0
    for module in modules:
        out = pathlib.Path(tempfile.mkdtemp())
        command = [program, "profile", module, "--device", "sim:32", "--out", out / "run", *LIMITS]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found = counted(out / "run/result.json") if (out / "run/result.json").is_file() else None
        shutil.rmtree(out)
        if found:
            good, total, placed = good + 1, total + found[0], placed + found[1]
        else:
            said = " ".join(result.stderr.split())
            at = max(said.find("failed: "), said.find("lanescope: "), 0)
            said = re.sub(r"\S*/", "", said[at:])
            print(f"{module.relative_to(folder)}: exit {result.returncode}: {said[:300]}")
    share = 100 * placed / max(total, 1)
    print(f"{good} of {len(modules)} modules profiled; {share:.2f} % of {total} operations on a line")


main()
