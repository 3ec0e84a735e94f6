//! What to do about wasted lanes: changes that were tried, with what they saved.
//!
//! Input: one device's part of a profile. Output: [`Advice`], what saves most first, and [`remarks`] on
//! what was tried and is not worth it, or could not be tried. Nothing is run here: the trials are in
//! the record ([`WhatIf`](crate::record::WhatIf)). A record without trials gets no advice but on barriers.
//!
//! # What a card claims
//!
//! A trial gives the executions of each block after a change, on the same data. What it saves *alone* is
//! Σ operations × (executions before − executions after), with what other blocks cost more taken off. Two changes may save
//! the same executions, as when two lines part the same lanes. So that cards together never claim more than
//! there is, the one that saves most claims all that it saves, block by block; each next one only what no card before it
//! has claimed of that block. Where less than [`GAIN_SHARE_MIN`] of all subgroup operations is left there is no
//! card; the card that has claimed it names the line.

mod barrier;
mod card;
mod cards;
mod memory;
mod rule;
#[cfg(test)]
mod tests;

use super::profile::{DeviceProfile, Profile};
pub use card::{Advice, GAIN_SHARE_MIN};
pub use cards::{looked_at, remarks};
pub use rule::Rule;

/// Gives the advice for one device: barriers first, then what saves most, then what a model of memory says.
pub fn advice(device: &DeviceProfile) -> Vec<Advice> {
    let Some(width) = device.column.width else { return Vec::new() };
    let mut list = barrier::find_divergent_barriers(device, width);
    list.extend(cards::make_cards(device, width));
    list.extend(memory::make_cards(device, width));
    list
}

/// Gives the advice for every device of a profile, device by device.
pub fn advice_of(profile: &Profile) -> Vec<Advice> {
    let mut list: Vec<Advice> = profile.devices.iter().flat_map(advice).collect();
    for card in &mut list {
        let shares = profile.devices.iter().filter_map(|device| {
            let width = device.column.width?;
            Some((width, cards::find_share_alone(device, card)?))
        });
        card.at_widths = shares.collect();
        card.at_widths.sort_by_key(|(width, _)| *width);
        card.at_widths.dedup_by_key(|(width, _)| *width);
    }
    list
}
