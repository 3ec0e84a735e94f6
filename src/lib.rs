//! lanescope shows which lanes a GPU wastes; this page is the map of its code.
//!
//! Input: nothing, it has only modules. Output: the library that the program of the same name is
//! made of. What a user does with it stands in README.md.
//!
//! # From above
//!
//! Threads of a GPU run in lockstep groups, *subgroups* (warps, wavefronts) of *W* lanes. Where the
//! lanes of one subgroup branch apart, it runs every path, and the lanes that are masked out are
//! wasted. lanescope runs WGSL compute kernels and counts, for each *basic block*, its *executions*
//! (how often a subgroup executed it) and its *lanes* (how many were active, summed over the
//! executions). It times the same kernels without counters, and runs them on a simulator of any width,
//! so that a device can be held against a definition, and a time against a prediction.
//!
//! # How data flow
//!
//! ```text
//!   shaders/<family>/<name>.toml + .wgsl                                    child process
//!          │                                                            ┌───────────────────┐
//!       kernel ── Launch ──► run::session ── run::worker ══ JSON lines ═╡ run::wgpu         │
//!          (one point of     │    ▲                                     │  or run::cuda     │
//!           a sweep)         │    │ counts, times, verdicts             │  program          │
//!                            ▼    │                                     │  instrument       │
//!              run::simulator ────┤                                     │  translate (CUDA) │
//!               program           │                                     │  run::sampling    │
//!               simulate          │                                     │  a GPU's driver   │
//!                                 ▼                                     └───────────────────┘
//!                            run::measure ── record::Measurement ──► store ──► result.json
//!                                                                                 │
//!                        terminal ◄── cli ◄──┬── analyze (typed tables) ◄── record::Run
//!                        *.svg    ◄── chart ─┤
//!                        *.html   ◄── report ┘
//! ```
//!
//! [`web`] makes a page of launches, which does in a browser what `run` does here, and whose record
//! enters at `report`; and a page on which one pastes a shader, which holds all from `kernel` to `report`
//! but for `run`'s devices, as a WASM module (`lab/wasm`).
//!
//! A shader of the user's own enters at [`run::profile`], which makes a launch of what the shader's
//! bindings ask for ([`program::reflect`]) and of a launch file in the catalogue's format.
//!
//! [`cli`] begins and ends it: it chooses kernels and devices, is notified of each finished measurement,
//! gives it to [`store`], and at the end has tables, charts and page made from the record. `report`
//! and `compare` enter at the record, and need no device.
//!
//! # The map
//!
//! | module | what it is | may use | alone uses the crate |
//! |---|---|---|---|
//! | [`units`] | newtypes: width, block number, executions, lanes, nanoseconds, bytes, ratio | – | – |
//! | [`layout`] | how a variable that the host binds lies in memory, as plain data | – | – |
//! | [`binary`] | a shader in SPIR-V, or WGSL that a preprocessor wrote, and the files of its source, as plain data | – | – |
//! | [`texture`] | formats, extents and samplers of textures, and what reading one gives: plain data | – | – |
//! | [`statistics`] | median, noise, intervals, paired ratio, stop rule: pure functions | units | – |
//! | [`occupancy`] | how many workgroups a core holds, from published limits: pure functions | units | – |
//! | [`partition`] | how a stable partition by class is cut: one plan for the library function and for the catalogue's experiments, so that what is measured is what the library runs; arithmetic over limits | – | – |
//! | [`shaders`] | the WGSL of the algorithms, which the catalogue counts and times | – | – |
//! | [`record`] | the result format; the types' documentation is its specification | units | – |
//! | [`mapping`] | machine instructions beside the blocks of the source, and what became of each branch: AMD's code and NVIDIA's by one rule | units, record | – |
//! | [`program`] | the only door to naga's front end: WGSL or SPIR-V in, numbered basic blocks out, and why each is entered | units, layout, binary, texture | naga, `spirv` |
//! | [`simulate`] | the SIMT interpreter; its page is the semantics | units, texture, program | naga |
//! | [`instrument`] | IR → IR: adds counters of executions and lanes | units, program | naga |
//! | [`translate`] | IR → CUDA C++, with tracked masks of active lanes | units, program | naga |
//! | [`amd`] | AMD's machine code (gfx10.3), decoded and executed; knows no driver | – | – |
//! | [`kernel`] | the catalogue and its format, seeded contents, CPU references, [`kernel::Launch`] | units, layout, binary, texture, record, partition, shaders | minijinja in `kernel/formula` |
//! | [`run`] | devices, child processes, sampling, sessions, the self-test | units, layout, binary, texture, statistics, record, mapping, program, simulate, instrument, translate, amd, kernel | naga in `run/wgpu`, naga in `run/radv`, wgpu in `run/wgpu`, cudarc in `run/cuda`, ash in `run/radv` |
//! | [`algorithms`] | reduce, scan, sort, compaction, softmax and multisplit as library functions over a caller's device, buffers and encoder | partition, shaders | wgpu |
//! | [`store`] | results on disk, whole at every moment | units, record | – |
//! | [`analyze`] | records → typed tables: efficiency, agreement, plausibility, comparison, profiles, advice, latencies, occupancy curves, instruments side by side, what sorting gains, what compilers did to branches | units, record, mapping, statistics, occupancy | – |
//! | [`claims`] | the ledger of published claims, and what records say of each: rules, verdicts, the figures that decided; knows no kernel's name | units, record, kernel, occupancy, analyze | – |
//! | [`present`] | tables as typed cells, each listed once; terminal, Markdown, CSV | units, record, analyze, claims | `comfy_table`, csv |
//! | [`chart`] | the list of all figures of a run, each once; figures → SVG | units, record, analyze, present | `plotters_backend`, `plotters_svg` |
//! | [`report`] | records → one HTML page | units, record, analyze, claims, present, chart | minijinja |
//! | [`web`] | pages for browsers: one that measures (texts by `instrument`, expectations by the simulator), and the core of one that profiles what is pasted; opens no device | units, record, program, instrument, kernel, run, store, analyze, present, report | – |
//! | [`testing`] | a user's shader in a user's tests: counts on the simulator, assertions | units, simulate, record, kernel, run | – |
//! | [`cli`] | the command line; what prints | all above | clap, anyhow |
//! | `main` | starts the command line | cli | – |
//!
//! `tests/architecture` reads this table, every `use` and every path of the sources, and fails on
//! any edge that the table does not allow. `units` to `translate` without the four between, and
//! `layout`, `binary` and `texture`, are the package `lanescope-simt`; `partition`, `shaders` and `algorithms` are
//! `lanescope-algorithms`; the rest is this package, which shows all of them under their names.
//! `lanescope-capture` stands beside them and uses none: it copies a dispatch out of a running wgpu program
//! into a folder, which enters at [`run::profile`] as a launch file does.
//!
//! There is no module of what a user brings: its text is read in [`program`] and its launch file in [`kernel`], as
//! the catalogue's own are. What the file leaves out is worked out in [`run::profile`], which tries a launch on the
//! simulator of [`run`] to see whether it can be afforded, and so cannot stand below it.
//!
//! Outside `src`: `shaders` holds every kernel, and the ledger of the claims that they test;
//! `results/records` holds committed runs, and `docs/findings` what was found in them;
//! `benches` measures the simulator.
//!
//! # Invariants
//!
//! Many say what is *not* there.
//!
//! - **No driver in the parent.** A GPU's driver is opened in a child process only
//!   ([`run::worker`]). A device that hangs or is lost costs that process, and never a result.
//! - **No wgpu outside [`run::wgpu`], no CUDA outside [`run::cuda`].** Everyone else speaks to
//!   [`run::Runner`].
//! - **Nothing of CUDA to build or to start.** Its libraries are looked for when a `cuda:N` is asked
//!   for; a missing one is a sentence.
//! - **No `__activemask`.** Which lanes are active is worked out in the translation ([`translate`]),
//!   not asked of the machine; only kernels in CUDA C++ that are about it ask.
//! - **No second numbering.** Blocks are numbered in [`program::structure`]; simulator, instrumenter
//!   and translation walk its tree, so that they cannot number differently.
//! - **No counters in what is timed**, and no times of what is counted. A kernel with counters
//!   gives the same outputs as without.
//! - **No hidden inference in counts.** A device is asked which lanes are there, at each execution of a
//!   block, or of those from which the others' counts follow by arithmetic ([`instrument`]); a record says
//!   which (`method`), and the self-test measures whether its lanes reconverge.
//! - **No way back from [`analyze`].** A record holds a measurement and what follows from it alone.
//!   Ratios between kernels, agreement and plausibility are made anew each time, so that old
//!   records profit from better analysis.
//! - **No zero for what is missing.** What was not measured is `null` or absent.
//! - **No clock outside [`run`]**, but for `store::saver`, which spaces its saves, and the progress that
//!   [`cli`] shows; no file written outside [`store`] and [`cli`], nothing printed
//!   outside [`cli`]. A disassembler reads files only: its input lies in the system's temporary
//!   folder while it runs ([`run::cuda::disassembly`]).
//! - **No hardware counter beside anything else.** They are read in processes that neither time nor
//!   count otherwise ([`run::cuda::collect`]).
//! - **No global state**, and no random thing without a recorded or fixed seed. The maps that are
//!   walked have an order: the same input gives the same bytes.
//! - **No endless waiting.** Children have a limit of silence, simulated subgroups a limit of
//!   operations, sampling a budget. Reaching one is an error that says so.
//! - **No `unsafe`** but in nine files: `run/wgpu/trusted.rs` and `lanescope-algorithms`' `trusted.rs`, wgpu's
//!   call for modules without run-time checks; `run/cuda/driver.rs`, `run/cuda/nvrtc.rs` and, in `run/cuda/cupti`,
//!   `library.rs`, `ranges.rs` and `sass.rs`, which call NVIDIA's C libraries;
//!   `run/radv/driver.rs`, which calls Vulkan; and `cli/mod.rs`, which has a signal ignored. In `lanescope-capture` methods carry the word where
//!   wgpu's traits do; they do nothing that is unsafe.
//!
//! # Where the tests are
//!
//! The head of `tests/main.rs` lists them all, those beside the code too. `.ci/run` runs them with lavapipe
//! and SwiftShader installed, where a skipped test is a failure.

#![cfg_attr(
    not(feature = "devices"),
    allow(dead_code, reason = "what devices alone use stands idle without them")
)]

pub use lanescope_algorithms as algorithms;
pub use lanescope_algorithms::{partition, shaders};
pub use lanescope_simt::{
    amd, binary, instrument, layout, program, simulate, texture, translate, units,
};

pub mod analyze;
pub mod chart;
pub mod claims;
#[cfg(feature = "devices")]
pub mod cli;
#[cfg(test)]
mod fixtures;
pub mod kernel;
pub mod mapping;
pub mod occupancy;
pub mod present;
pub mod record;
pub mod report;
pub mod run;
pub mod statistics;
pub mod store;
pub mod testing;
#[cfg(test)]
mod tests;
pub mod web;
