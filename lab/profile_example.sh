#!/usr/bin/env bash
# Writes docs/compare.md: a shader profiled, advice taken, compared, a gate; every block is what the
# program printed. `lab/profile_example.sh [PROGRAM]`, in the repository's root. The timed parts are those that
# `lab/loop_times` left in lab/loop, one for each machine.
set -euo pipefail
program=$(realpath "${1:-target/release/lanescope}")
page=$PWD/docs/compare.md
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export NO_COLOR=1 MESA_SHADER_CACHE_DISABLE=true
cd "$(dirname "$0")/.."

# Runs a command as a reader would type it, with its output in a block; lines that `$2` finds are left out.
show() {
  local shown=$1 without=${2:-^$}
  printf '```text\n$ lanescope %s\n' "$shown"
  # shellcheck disable=SC2086
  (cd examples && "$program" $shown --out "$results/$RANDOM$RANDOM" 2>&1 || echo "(exit code $?)") |
    grep -vE "$without|^(Page|Results): |no adapter is used" | sed 's/ *$//'
  printf '```\n\n'
}

# Runs a gate: what the condition says, and the exit code.
gate() {
  local code=0 said
  # shellcheck disable=SC2086
  said=$(cd examples && "$program" $1 --out "$results/$RANDOM$RANDOM" 2>&1 >/dev/null) || code=$?
  # A shell takes a bare `>` for a file.
  printf '```text\n$ lanescope %s; echo $?\n' "${1/slots>1.01/\'slots>1.01\'}"
  grep '^--fail-on' <<<"$said" || true
  printf '%s\n```\n\n' "$code"
}

sim="--launch blur.toml --device sim:32"
{
  cat <<'TEXT'
# The loop: profile, change, compare, keep

Made by `lab/profile_example.sh`; every block is what the program printed in the folder `examples`, shortened: the timed
blocks end before the tables of parts. The blocks of the simulator are the same on every machine; those of an H200 and
an H100 were printed on their day, and have some sentences in other words. Times are of the
machine that the page was made on.

`blur.wgsl` blurs the rows of an image, 256 pixels wide; `blur.toml` says what it is launched with.

## Profile

TEXT
  show "profile blur.wgsl $sim" '│'
  cat <<'TEXT'
One card: workgroups of 48 leave every second subgroup half empty. The simulator has tried 32, 64, 128 and 256: of those that take about as little, 64 fills subgroups of 64 lanes too.

## Take the advice, and compare

`blur_64.wgsl` is the same text with `@workgroup_size(64)`. `compare` takes two shaders, launches both in the same way, and
says first what else differs.

TEXT
  show "compare blur.wgsl blur_64.wgsl $sim"
  cat <<'TEXT'
## A change that does not pay

The branch at the border looks like waste. `blur_clamped.wgsl` has none: it reads inside the row whatever happens, and weighs
with 0 what lies outside. All lanes are full now:

TEXT
  show "compare blur_64.wgsl blur_clamped.wgsl $sim"
  cat <<'TEXT'
Efficiency is a share, and lane slots are the cost: they are the same but for a thousandth, since what idle lanes did not do
all lanes now do. `profile` had said it beforehand: `select` in place of the branch saves nothing. What such a change costs
on a machine, times say, [below](#with-times).

## Keep it: a gate

In continuous integration the condition is on B's figures over A's. The change passes; a commit that takes it back fails:

TEXT
  gate "compare blur.wgsl blur_64.wgsl $sim --fail-on slots>1.01"
  gate "compare blur_64.wgsl blur.wgsl $sim --fail-on slots>1.01"
  cat <<'TEXT'
`--export-markdown` writes what a pull request shows; `.github/actions/compare` does both with a release's program (it has
not been seen running yet).

## With times

On a device with a clock both are timed side by side, round by round, and the interval decides whether they are told apart.
The whole and each dispatch have a time; a function and a line have none, since no device has a clock for them: their cost is
their lane slots. A gate on the time fails where the whole interval lies beyond the bound, so that noise fails no build.
TEXT
  cat <<'TEXT'

Below each machine stand more shaders to which the same was done (`lab/loop_examples`): three of the tests' corpus,
two in the manner of kernels that everybody has seen, a flock and a tree of sums, and two public kernels, wgpu's Collatz and the
flock of the WebGPU samples, which are not in this repository (and were not at hand on the H200). Advice was taken where there was any, also
where it promised nothing; what the last column says is the time's verdict, on the simulator that of lane slots.

TEXT
  for part in lab/loop/*.md; do
    cat "$part"
    echo
  done
  cat <<'TEXT'
Lane slots are what a change costs a machine of the simulator's kind; a time has the last word. The flock without its branches
takes more lane slots and less time on the H200: there a branch costs more than what it skips. The ragged rows, sorted, cost
more in both: the advice leaves out the sort, and here it costs more than it saves.

How long `profile` takes from the command to the table and to its end there, beside Nsight Compute on the same kernel:
[turnaround.txt](../results/other/lab/turnaround.txt), and on an H200 on an earlier day, by `lab/turnaround`.

What `profile` says of a time: idle lanes explain at most `time × (1 − efficiency)`, and no more than what memory leaves; memory
explains at least the bytes that must be moved over the copy rate that was measured; what neither explains, it says.

## While editing, and for other tools

| command | what it gives |
|---|---|
| `profile SHADER --watch` | profiles at each save of shader, launch file, data, or a source that a `.spv` was compiled from, and shows what changed from the last good run; errors end nothing |
| `profile SHADER --json-lines --watch` | a line of JSON a run: `event` is `profile` with `marks` (file, line, columns, bytes, kind, level, message, figures, what advice saves), or `error` with its `message` |
| [`examples/neovim`](../examples/neovim/lanescope.lua) | the same in Neovim: `19.0 / 32` at the end of each line, advice and findings as diagnostics; tried in version 0.7.2 |
| `profile SHADER --export-json FILE` | the record with the same `marks`; [format.md](format.md#the-record) and its JSON Schema |
| `profile SHADER --annotations github` | advice, findings and what `--fail-on` found as annotations of a pull request |
| `profile SHADER --sarif FILE` | the same as SARIF 2.1.0 |
| `profile SHADER --export-speedscope FILE` | stacks of dispatch, functions (by call site) and line for speedscope.app |
| `profile A.wgsl B.wgsl`, `profile FOLDER` | many shaders, each device opened once, a page each |
| `lanescope::testing` | the same counts in `#[test]`s: `examples/shader_test.rs` |
TEXT
} > "$page"
