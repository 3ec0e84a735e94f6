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

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::names::{list_text, short_name};
use super::profile::{DeviceProfile, Profile};
use crate::record::Tag;
use crate::units::{Width, text};
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
    model_at_widths(profile, &mut list);
    let tried = profile.devices.iter().filter_map(|device| {
        let width = device.column.width?;
        Some((width, cards::Tried::on(device)?))
    });
    let tried: Vec<_> = tried.collect();
    for card in &mut list {
        let shares =
            tried.iter().filter_map(|(width, tried)| Some((*width, tried.find_share_alone(card)?)));
        card.at_widths = shares.collect();
        card.at_widths.sort_by_key(|(width, _)| *width);
        card.at_widths.dedup_by_key(|(width, _)| *width);
    }
    list
}

/// Says on each card of a model what the model says of the same rule and line at the other widths at which memory was
/// looked at.
fn model_at_widths(profile: &Profile, list: &mut [Advice]) {
    let looked = profile.devices.iter().filter(|device| device.memory.is_some());
    let mut widths: Vec<Width> = looked.filter_map(|device| device.column.width).collect();
    widths.sort_unstable();
    widths.dedup();
    let known: Vec<(Rule, u32, Width, String)> = list
        .iter()
        .filter_map(|card| Some((card.rule, card.line, card.width, card.modelled.clone()?)))
        .collect();
    for card in list.iter_mut().filter(|card| card.modelled.is_some()) {
        let others = widths.iter().filter(|width| **width != card.width);
        let words = others.map(|width| {
            let place = (card.rule, card.line, *width);
            let same = known.iter().find(|(rule, line, at, _)| (*rule, *line, *at) == place);
            (*width, same.map(|(.., words)| words.clone()))
        });
        card.modelled_at = words.collect();
    }
}

/// What a profile found, in two to four sentences: how many lanes are active at which widths, which line wastes most,
/// what the first advice saves, and how far the figures can be trusted. Before them stands where a loop was cut off, or
/// may have been: how many lanes the shader keeps is not known there, and not said.
pub fn profile_overview(profile: &Profile, advice: &[Advice]) -> Vec<String> {
    let counted = || profile.devices.iter().filter(|device| !device.lines.is_empty());
    let whole = || counted().filter(|device| !device.is_cut_off());
    let name = short_name(&profile.kernel);
    let cut = cut_off(profile);
    let lanes = whole().filter_map(|device| {
        let mean = text::lanes(device.column.work.active_lanes_mean()?);
        let (width, efficiency) = (device.column.width?, text::percent(device.efficiency()?));
        Some((format!("{mean} of {width} lanes active ({efficiency})"), device))
    });
    let lanes = by_devices(lanes, "on");
    let lanes = (!lanes.is_empty()).then(|| format!("On average {name} keeps {lanes}."));
    let waste = whole().filter_map(|device| {
        let line = device.lines.first().filter(|line| line.wasted.is_some_and(|w| w > 0.0))?;
        let share = text::percent(line.wasted_share()?);
        Some((format!("line {} ({share} of all lane slots idle there)", line.line), device))
    });
    let waste = by_devices(waste, "on");
    let waste = (!waste.is_empty()).then(|| format!("What wastes most is {waste}."));
    let trust = counted()
        .map(|device| (format!("{}, {}", device.trust.name(), device.trust.meaning()), device));
    let trust = by_devices(trust, "for");
    let trust = (!trust.is_empty()).then(|| format!("How far to trust the counts: {trust}."));
    let first = find_first(advice).map(describe_first);
    cut.into_iter().chain([lanes, waste, first, trust].into_iter().flatten()).collect()
}

/// Where devices left loops by themselves, or may have, a sentence each.
fn cut_off(profile: &Profile) -> Vec<String> {
    let sentences = [
        (Tag::LoopCutOff, "was cut off", "are"),
        (Tag::LoopMayBeCutOff, "may have been cut off", "may be"),
    ];
    let sentence = |(tag, was, are): (Tag, &str, &str)| {
        let places = profile.devices.iter().filter_map(|device| {
            let flags = device.flags.iter().filter(|flag| flag.tag == tag);
            let lines: BTreeSet<u32> = flags.flat_map(|flag| flag.lines.iter().copied()).collect();
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            let words: Vec<&str> = lines.iter().map(String::as_str).collect();
            let place = if words.len() == 1 { "line" } else { "lines" };
            (!words.is_empty()).then(|| (format!("on {place} {}", list_text(&words)), device))
        });
        let places = by_devices(places, "on");
        (!places.is_empty()).then(|| {
            format!(
                "A loop {was} {places}: outputs, counts and times {are} of a shorter one there."
            )
        })
    };
    sentences.into_iter().filter_map(sentence).collect()
}

/// What is said of devices, each thing once with those that it is true of.
fn by_devices<'a>(
    places: impl Iterator<Item = (String, &'a DeviceProfile)>,
    preposition: &str,
) -> String {
    let mut groups: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (words, device) in places {
        groups.entry(words).or_default().push(&device.column.label);
    }
    let part = |(words, labels): (String, Vec<&str>)| {
        format!("{words} {preposition} {}", list_text(&labels))
    };
    groups.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

/// The advice that views show first: on a barrier, else what saves most on any device.
fn find_first(advice: &[Advice]) -> Option<&Advice> {
    let rank = |card: &Advice| (card.rule == Rule::BarrierInDivergentFlow, card.gain_share.0);
    advice.iter().reduce(|best, card| if rank(card) > rank(best) { card } else { best })
}

/// What the first advice would give, a sentence.
fn describe_first(card: &Advice) -> String {
    let begin = format!("The first advice is {} on line {}", card.rule.name(), card.line);
    match &card.modelled {
        _ if card.rule == Rule::BarrierInDivergentFlow => format!("{begin}: it is an error."),
        Some(words) => format!("{begin}, by a model: {words}."),
        None => format!(
            "{begin}: tried at {} lanes, it saves {} of the subgroup operations.",
            card.width,
            text::percent(card.gain_share)
        ),
    }
}
