//! What a record says of its kernels beside what was measured: enough to make tables, charts and page
//! of it without the program's own catalogue.
//!
//! Input: a kernel's description at the time of measurement. Output: [`KernelNote`]. No figure of it
//! was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Value;
use crate::units::Width;

/// What is known of a kernel and is no measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelNote {
    /// The question that it asks, one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The kernel, by its full name, whose time its own is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Mean active lanes that somebody published for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// A speed-up over its baseline that somebody published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_speedup: Option<PublishedSpeedup>,
    /// What it gives, the name of its reference: kernels of one result do the same work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The parameters that curves may run along, those that matter most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// The stage of a launch that each entry point belongs to, such as `sort`; an entry point that is
    /// not here is a stage of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, String>,
}

/// A parameter of a kernel that curves may run along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The parameter.
    pub name: String,
    /// The value that it usually has: where not all launches can be shown, those that have it are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Value>,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Mean active lanes, in lanes.
    pub active_lanes_mean: f64,
    /// The hardware that it was published for.
    pub hardware: String,
    /// That hardware's width where it is known: the figure is comparable at this width only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_width: Option<Width>,
}

/// A published speed-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedSpeedup {
    /// The baseline's time over the kernel's: 2 is twice as fast.
    pub factor: f64,
    /// The parameter `n` that it was published for.
    pub n: i64,
    /// The hardware that it was published for.
    pub hardware: String,
}
