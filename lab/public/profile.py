#!/usr/bin/env python3
"""Profiles each shader under a folder with made-up data, and says what came of it.

    profile.py LANESCOPE FOLDER [--log FILE]              .wgsl and .spv on sim:32: a table, each refusal
    profile.py LANESCOPE FOLDER --against wgpu:0          500 with textures, drawn at random: executions and
               [--width 8] [--draw 500] [--seed 1]        lanes of each line, on the simulator and there

Each compute entry point of WGSL is one kernel. One that naga finds invalid, or that is no whole WGSL, counts
apart. A kernel is profiled where its measurement is ok; one whose overrides have no values is tried again with
the launch file that `--init` writes. Of SPIR-V, operations (those of the IR times executions) count as on a line
where that line of the text that is shown holds any text. What a --log holds is not run again.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile

LIMITS = ["--steps", "2000000", "--no-timing"]
# WGSL, SPIR-V: elements, and operations in all.
SIZES = {".wgsl": ["--n", "4096", "--operations", "200000000"],
         ".spv": ["--n", "256", "--operations", "100000000"]}
TEXTURES = re.compile(r"\btexture_(?!external)\w+|:\s*sampler\b|:\s*sampler_comparison\b")
# Besides what naga finds invalid: what no WGSL is, and names that stand in no entry point of the whole text.
INVALID = re.compile(r"is not valid WGSL|does not validate|has no compute entry point|is GLSL|is HLSL")
NO_VALUE = re.compile(r"the shader gives no value to ")
# What lanescope says where the limits above ended a kernel.
LIMITED = re.compile(r"operations in all|step limit|--memory-max|time limit|takes longer")
CRASHED = re.compile(r"panicked|signal|ended without|bug in lanescope")
OUTCOMES = ["profiled", "by --init", "limit", "too long", "refused", "crashed", "invalid"]


def stripped(text):
    """WGSL without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def kernels(folder):
    """Each kernel: its file, its entry point (none of SPIR-V), whether its file binds textures."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".spv":
            yield path, None, False
        elif path.suffix == ".wgsl":
            text = stripped(path.read_text(encoding="utf-8", errors="replace"))
            textures = bool(TEXTURES.search(text))
            for entry in dict.fromkeys(re.findall(r"@compute\b.*?\bfn\s+(\w+)", text, flags=re.S)):
                yield path, entry, textures


def named(folder, path, entry):
    """A kernel's name in logs and tables."""
    return f"{path.relative_to(folder)}" + (f" {entry}" if entry else "")


def run(program, paths, entry, device, seconds, options=()):
    """The exit status (None where so many seconds passed), standard error, and the record, where there is one."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "profile", *paths, "--device", device, "--out", f"{out}/run", *LIMITS,
                   *SIZES[paths[0].suffix], *(["--entry", entry] if entry else []), *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   errors="replace", start_new_session=True)
        try:
            words = process.communicate(timeout=seconds)[1]
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            words, status = process.communicate()[1], None
        record = pathlib.Path(out, "run/result.json")
        return status, words, json.loads(record.read_text()) if record.is_file() else None


def run_by_init(program, path, entry, seconds):
    """The same on sim:32 with the launch file that `--init` writes, which needs a copy of the shader beside it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "shader.wgsl")
        shutil.copy(path, copy)
        subprocess.run([program, "profile", copy, "--entry", entry, "--init", *SIZES[".wgsl"][:2]],
                       capture_output=True, timeout=seconds)
        launch = copy.with_suffix(".toml")
        # It names the entry point.
        return run(program, [copy], None, "sim:32", seconds, ["--launch", launch])


def operations(record):
    """Operations times executions, and those on a line with text."""
    measurement = record["measurements"][0]
    lines = record["sources"][measurement["source_sha256"]]["text"].split("\n")
    total = placed = 0
    for dispatch in measurement["dispatches"]:
        for block, told in zip(dispatch["blocks"], record["block_tables"][dispatch["block_table"]]):
            # A block that is a jump alone has no operations, and tells no lines.
            for line, number in told.get("lines", {}).items():
                share = number * block["executions"]
                total += share
                placed += share if 0 < int(line) <= len(lines) and lines[int(line) - 1].strip() else 0
    return total, placed


def outcome(status, words, record):
    """What came of a kernel, in a word or two, and lanescope's reason."""
    measurement = record["measurements"][0] if record and record["measurements"] else None
    if measurement and measurement["status"] == "ok" and status == 0:
        return "profiled", ""
    reason = " ".join(((measurement or {}).get("error") or words).split())
    reason = reason[max(reason.find("lanescope: "), 0):][:600]
    if status is None:
        return "too long", reason
    if status < 0 or CRASHED.search(words + reason):
        return "crashed", reason
    if measurement is None and INVALID.search(words):
        return "invalid", reason
    return ("limit" if LIMITED.search(reason) else "refused"), reason


def form(reason):
    """A reason without names and numbers, so that alike ones count together."""
    reason = re.sub(r"\S*/\S*|`[^`]*`|\"[^\"]*\"", "…", reason)
    return re.sub(r"\d[\d,.]*", "#", reason)[:160]


def remembered(log):
    """The rows of a log by kernel."""
    lines = log.read_text(encoding="utf-8").splitlines() if log and log.is_file() else []
    return {row["kernel"]: row for row in map(json.loads, lines)}


def remember(log, row):
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def print_table(rows):
    """Kernels by what came of them, those with textures once more, and each form of reason with its first kernel."""
    print("| kernels | " + " | ".join(OUTCOMES) + " | profiled of the valid |")
    print("|---" * (len(OUTCOMES) + 2) + "|")
    for name, chosen in [("all", rows), ("with textures", [row for row in rows if row["textures"]])]:
        count = collections.Counter(row["outcome"] for row in chosen)
        valid = len(chosen) - count["invalid"]
        good = count["profiled"] + count["by --init"]
        cells = [str(count[word]) for word in OUTCOMES] + [f"{100 * good / valid:.2f} %" if valid else "–"]
        print(f"| {name}: {len(chosen)} | " + " | ".join(cells) + " |")
    for word in ["limit", "too long", "refused", "crashed"]:
        forms = collections.defaultdict(list)
        for row in rows:
            if row["outcome"] == word:
                forms[form(row["reason"])].append(row)
        for alike in sorted(forms.values(), key=len, reverse=True):
            print(f"{word}, {len(alike)}: {alike[0]['kernel']}: {alike[0]['reason'][:400]}")


def profile_each(program, folder, log, seconds):
    known, rows, total, placed = remembered(log), [], 0, 0
    for path, entry, textures in kernels(folder):
        kernel = named(folder, path, entry)
        row = known.get(kernel)
        if row is None:
            status, words, record = run(program, [path], entry, "sim:32", seconds)
            word, reason = outcome(status, words, record)
            if word == "refused" and NO_VALUE.search(words):
                again, why = outcome(*run_by_init(program, path, entry, seconds))
                word, reason = ("by --init", reason) if again == "profiled" else (again, why)
            row = {"kernel": kernel, "outcome": word, "reason": reason, "textures": textures}
            if word == "profiled" and path.suffix == ".spv":
                row["operations"] = operations(record)
            remember(log, row)
        rows.append(row)
        total += row.get("operations", [0, 0])[0]
        placed += row.get("operations", [0, 0])[1]
    print_table(rows)
    if total:
        print(f"{100 * placed / total:.2f} % of {total} operations of SPIR-V on a line")


def by_line(record, measurement):
    """Executions and lanes of each line of a measurement: sums over blocks of operations times each."""
    lines = collections.Counter()
    for number, dispatch in enumerate(measurement["dispatches"]):
        for block, told in zip(dispatch["blocks"], record["block_tables"][dispatch["block_table"]]):
            for line, count in told.get("lines", {}).items():
                lines[number, int(line), "executions"] += count * block["executions"]
                lines[number, int(line), "lanes"] += count * block["lanes"]
    return lines


def measurements_of(path, record):
    """The measurements of a shader in the record of several, which its text tells."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    texts = {key: source["text"] for key, source in record["sources"].items()} if record else {}
    measurements = record["measurements"] if record else []
    return [measurement for measurement in measurements if texts.get(measurement["source_sha256"]) == text]


def has_short_rows(dispatch, width):
    """Whether a workgroup has several rows that fill no subgroups: a driver may begin a subgroup at each."""
    x, y, z = dispatch["workgroup_size"]
    return y * z > 1 and x % width != 0


def difference(kernel, path, result):
    """How a kernel's lines differ between two devices, as a row of a log."""
    status, words, record = result
    measurements = measurements_of(path, record)
    good = [measurement for measurement in measurements if measurement["status"] == "ok"]
    if len(good) < 2:
        errors = [f"{bad['device']}: {bad['error']}" for bad in measurements if bad["status"] != "ok"]
        words = "it took too long" if status is None else "; ".join(errors) or words
        word = "invalid" if INVALID.search(words) else "not on both"
        return {"kernel": kernel, "outcome": word, "reason": " ".join(words.split())[:600]}
    here, there = by_line(record, good[0]), by_line(record, good[1])
    apart = sorted(key for key in here.keys() | there.keys() if here[key] != there[key])
    width = good[1]["subgroup_width"]
    rows = any(has_short_rows(dispatch, width) for dispatch in good[1]["dispatches"])
    rows = rows and not any(what == "lanes" for _, _, what in apart)
    shown = (f"line {line} {what} {here[n, line, what]} and {there[n, line, what]}" for n, line, what in apart[:4])
    return {"kernel": kernel, "outcome": "equal" if not apart else "rows" if rows else "different",
            "reason": ", ".join(shown), "flags": [measurement["flags"] for measurement in good]}


def batches(drawn):
    """Kernels that one run can take: those of files with one kernel together, others alone."""
    several = collections.Counter(path for path, _, _ in drawn)
    alone = [[kernel] for kernel in drawn if several[kernel[0]] > 1]
    together = [kernel for kernel in drawn if several[kernel[0]] == 1]
    return [together[at:at + 20] for at in range(0, len(together), 20)] + alone


def compare_drawn(program, folder, arguments):
    drawn = [kernel for kernel in kernels(folder) if kernel[2]]
    random.Random(arguments.seed).shuffle(drawn)
    drawn, devices = drawn[:arguments.draw], f"sim:{arguments.width},{arguments.against}"
    known = remembered(arguments.log)
    left = [kernel for kernel in drawn if named(folder, *kernel[:2]) not in known]
    for batch in batches(left):
        entry = batch[0][1] if len(batch) == 1 else None
        result = run(program, [path for path, _, _ in batch], entry, devices, 8 * arguments.seconds)
        for path, entry, _ in batch:
            kernel = named(folder, path, entry)
            row = difference(kernel, path, result)
            if len(batch) > 1 and row["outcome"] in ("not on both", "invalid"):
                alone = run(program, [path], entry, devices, 4 * arguments.seconds)
                row = difference(kernel, path, alone)
            remember(arguments.log, row)
            known[kernel] = row
    rows = [known[named(folder, path, entry)] for path, entry, _ in drawn]
    for row in rows:
        if row["outcome"] not in ("equal", "invalid"):
            print(f"{row['outcome']}: {row['kernel']}: {row['reason']}")
    count = collections.Counter(row["outcome"] for row in rows)
    print(", ".join(f"{number} {word}" for word, number in count.items()) + f" of {len(rows)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--against")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--draw", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.against:
        compare_drawn(arguments.program, arguments.folder, arguments)
    else:
        profile_each(arguments.program, arguments.folder, arguments.log, arguments.seconds)


main()
