//! Flags put in plain words.
//!
//! Input: the flags of records and of the main table. Output: each once, with its explanation and the
//! places where it was found. The explanations are [`crate::record::Flag`]'s; no figure is made here.

use super::names::{device_label, parameters_text};
use super::summary::summary;
use crate::record::{Flag, Run};

/// A flag with where it was found and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The flag.
    pub flag: Flag,
    /// Devices, or device and kernel, at which it was found, in the order of measurement.
    pub places: Vec<String>,
}

/// Collects the flags of devices and measurements, each once, with every place.
pub fn findings(run: &Run) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut add =
        |flag: &Flag, place: String| match found.iter_mut().find(|finding| finding.flag == *flag) {
            Some(finding) => finding.places.push(place),
            None => found.push(Finding { flag: flag.clone(), places: vec![place] }),
        };
    for device in &run.devices {
        for flag in &device.flags {
            add(flag, device_label(run, &device.id));
        }
    }
    for device in summary(run).devices {
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
