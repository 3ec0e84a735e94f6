//! Flags put in plain words.
//!
//! Input: the words of records and of this module. Output: sentences for people who know GPUs but
//! not lanescope. No figure is made here.

use super::{Catalogue, device_label, parameters_text, summary};
use crate::record::Run;

/// A flag with where it was found and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The flag's word.
    pub flag: String,
    /// What it means.
    pub explanation: String,
    /// Devices, or device and kernel, at which it was found, in the order of measurement.
    pub places: Vec<String>,
}

/// Collects the flags of devices and measurements, each once, with every place.
pub fn findings(run: &Run, catalogue: &Catalogue) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut add =
        |flag: &str, place: String| match found.iter_mut().find(|finding| finding.flag == flag) {
            Some(finding) => finding.places.push(place),
            None => found.push(Finding {
                flag: flag.to_owned(),
                explanation: explain(flag).to_owned(),
                places: vec![place],
            }),
        };
    for device in &run.devices {
        for flag in &device.flags {
            add(flag, device_label(run, &device.id));
        }
    }
    for device in summary(run, catalogue).devices {
        for row in device.rows {
            let parameters = parameters_text(&row.parameters, &[]);
            for flag in &row.flags {
                let kernel = &row.kernel;
                let parameters =
                    if parameters.is_empty() { String::new() } else { format!(" ({parameters})") };
                add(flag, format!("{kernel}{parameters} on {}", device.label));
            }
        }
    }
    found
}

/// Returns what a flag means, in one or two sentences.
pub fn explain(flag: &str) -> &'static str {
    match flag {
        "subgroup_width_misreported" => {
            "The driver reports another subgroup width than the device runs. Figures are for the \
             width that was measured in a kernel."
        }
        "self_test_failed" => {
            "In at least one small kernel the device's issues were not those of maximal \
             reconvergence; doctor says in which form of control flow. Counts show what the device \
             did, and may differ from the simulator's where that form is used."
        }
        "no_subgroups" => {
            "The adapter offers no subgroup operations: `run` times it and counts nothing, `profile` \
             counts lanes and estimates issues. On \
             DX12 they need the DXC compiler: put dxcompiler.dll beside the program (FXC has none)."
        }
        "no_timestamps" => {
            "The adapter offers no timestamps: lanes were counted, and nothing was timed."
        }
        "width_assumed" => {
            "The device does not say how many lanes its subgroups have: estimates and efficiency are \
             for 32."
        }
        "width_not_known_when_counted" => {
            "The driver may choose another subgroup width for each module, and the counted one's is \
             not known: efficiency is over the width that a probe found."
        }
        "width_not_known_when_timed" => {
            "The device may run several widths, and which one it chose for the timed kernel is not \
             known; it may differ from the width of the counts."
        }
        "stop_rule_not_met" => {
            "The time ran out before the samples were quiet enough. The interval says how far the \
             median can be trusted."
        }
        "work_removed_by_compiler" => {
            "The multiply-adds that were counted cannot be done in the measured time at this \
             device's calibrated peak: the compiler removed work from the timed kernel. Its time \
             is no cost of divergence, so its ratio is not shown."
        }
        "baseline_work_removed" => {
            "The compiler removed work from the kernel that this one is compared with, so the \
             ratio is not shown."
        }
        "not_interleaved" => {
            "The kernel and its baseline were not sampled side by side, so drift between them \
             cannot be told from a difference, and the ratio is not shown."
        }
        "differs_from_simulator" => {
            "Issues, lanes or histograms differ from the simulator's at the same width. Where only \
             issues differ, the device brings lanes together again elsewhere than the simulator \
             does, or packs the invocations of 2D and 3D workgroups into subgroups otherwise. Where \
             lanes differ too, branches depend on floats that the two round differently, or on the \
             order in which lanes run."
        }
        "differs_between_runs" => {
            "Two counted runs of the same launch gave different outputs or counts: what a lane reads \
             depends on which one comes first. Look for a data race, or for atomics whose order \
             matters; counts are those of the first run."
        }
        "output_mismatch" => "Outputs differ from the CPU reference by more than the tolerance.",
        "failed" => "The measurement did not finish; the reason stands under failures.",
        "width_differs" => "The two were counted at different subgroup widths.",
        "source_differs" => "The two ran different source texts.",
        "seed_differs" => "The two ran on different generated inputs.",
        "runtime_checks_differ" => {
            "Only one of the two was timed with bounds, loop and division checks."
        }
        other => explain_native(other),
    }
}

/// Returns what a flag of a kernel in CUDA C++ means.
fn explain_native(flag: &str) -> &'static str {
    match flag {
        "no_wgsl_to_count" => {
            "The kernel is CUDA C++, for what WGSL cannot say: issues and lanes are counted by lines \
             of WGSL, of which it has none. Its outputs were checked, and it was timed."
        }
        "cooperative_launch_refused" => {
            "The driver refused to launch more workgroups together than the device holds at once, as \
             it documents: nothing ran, and nothing hung."
        }
        other => explain_report(other),
    }
}

/// Returns what a report of the simulator means: a kind and a line in one word.
fn explain_report(flag: &str) -> &'static str {
    match flag {
        flag if flag.starts_with("read_out_of_bounds_line_") => {
            "On this line an index lay outside its array or buffer; the read gave zero. With --strict \
             the simulator stops there."
        }
        flag if flag.starts_with("write_out_of_bounds_line_") => {
            "On this line an index lay outside its array or buffer; the write was skipped. With \
             --strict the simulator stops there."
        }
        flag if flag.starts_with("barrier_in_divergent_control_flow_line_") => {
            "Not all invocations of a workgroup reached this barrier together, which WGSL forbids: a \
             GPU may hang here."
        }
        flag if flag.starts_with("workgroupUniformLoad_of_different_pointers_line_") => {
            "The invocations of a workgroup loaded from different places here, which WGSL forbids."
        }
        flag if flag.starts_with("value_taken_from_an_inactive_lane_line_") => {
            "A shuffle or broadcast took the value of a lane that was not active here: what it gives \
             differs between devices."
        }
        flag if flag.starts_with("loop_cut_off_line_") => {
            "More lanes came out of the loop on that line than took a way out of it. Either the driver \
             left it by itself after some number of turns (doctor shows the number), so that outputs, \
             counts and times are of a shorter loop: lavapipe does so after 65,535 turns. Or its \
             compiler left out what stands on the last way out: lavapipe's takes the length of an \
             array or vector that the loop indexes for the most turns that it can have, and what a \
             lane does after as many turns, before it leaves, is not done."
        }
        flag if flag.starts_with("shuffle_past_the_edge_of_a_subgroup_line_") => {
            "On these lines lanes asked for a lane before the first or after the last of their \
             subgroup, or one that a partial workgroup leaves empty. Scans and stencils do; what \
             comes back differs between devices and must not be used."
        }
        _ => "A word that this version of lanescope has no explanation for.",
    }
}
