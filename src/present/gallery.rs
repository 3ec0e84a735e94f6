//! The tables of a gallery: devices, and what their kernels show.
//!
//! Input: a gallery. Output: tables. Patterns and grain have tables of their own in which nothing is left
//! out; of other launches those are shown that most devices have.

use std::collections::BTreeMap;

use super::{Cell, Column, Table, count_text};
use crate::analyze::{Gallery, GalleryDevice, GalleryFigures, GalleryKey};

/// The tables of the devices whose records are, or are not, attested; none where there are no such.
pub fn gallery(gallery: &Gallery, unattested: bool) -> Vec<Table> {
    let chosen = gallery.devices.iter().filter(|(key, _)| key.unattested == unattested);
    let chosen: Vec<(&GalleryKey, &GalleryDevice)> = chosen.collect();
    if chosen.is_empty() {
        return Vec::new();
    }
    let attested = if unattested { "unattested" } else { "attested" };
    let mut tables = vec![devices(attested, &chosen)];
    let efficiency: Figure = |figures| Cell::from_option(figures.efficiency(), Cell::Percent);
    let time: Figure = |figures| Cell::from_option(figures.time_ratio(), Cell::Factor);
    let of_devices: [(&str, Launches, usize); 3] = [
        ("Patterns", |device| &device.patterns, usize::MAX),
        ("Grain", |device| &device.grain, usize::MAX),
        ("Other launches", |device| &device.others, OTHERS_MAX),
    ];
    for (what, figures, most) in of_devices {
        for (quantity, cell) in [("lanes active", efficiency), ("time over the baseline's", time)] {
            let title = format!("{what}: {quantity}, {attested}");
            tables.extend(launches(title, &chosen, figures, cell, most));
        }
    }
    tables
}

/// A cell of a launch's figures.
type Figure = fn(&GalleryFigures) -> Cell;

/// Launches of a device, by name.
type Launches = fn(&GalleryDevice) -> &BTreeMap<String, GalleryFigures>;

/// A row a device and width.
fn devices(attested: &str, chosen: &[(&GalleryKey, &GalleryDevice)]) -> Table {
    let columns = ["device", "interface", "drivers"].map(Column::words);
    let figures = ["records", "width", "self-test", "launches", "wrong outputs"];
    let mut table = Table::new(
        format!("Devices, {attested}"),
        columns.into_iter().chain(figures.map(Column::figures)),
    );
    for (key, device) in chosen {
        let [ended, wrong] = device.launches.map(|count| Cell::Count(u128::from(count)));
        table.rows.push(vec![
            Cell::text(key.name.clone()),
            Cell::text(key.backend.name()),
            Cell::text(device.drivers.iter().cloned().collect::<Vec<_>>().join("; ")),
            Cell::Count(u128::from(device.records)),
            Cell::from_option(key.width, |width| Cell::Count(u128::from(width.lanes()))),
            self_test(device),
            ended,
            wrong,
        ]);
    }
    let of_other_rules = chosen.iter().map(|(_, device)| device.of_other_rules).sum::<u64>();
    if of_other_rules > 0 {
        let launches = count_text(u128::from(of_other_rules), "launch");
        table.notes.push(format!(
            "The active lanes of {launches} are left out: they were counted by another rule, as one by \
             which a jump is an operation."
        ));
    }
    table
}

/// How many parts of the self-test passed, with the names of those that failed.
fn self_test(device: &GalleryDevice) -> Cell {
    let parts = &device.self_test;
    if parts.is_empty() {
        return Cell::none();
    }
    let failed: Vec<&str> =
        parts.iter().filter(|(_, passed)| !**passed).map(|(part, _)| part.as_str()).collect();
    let passed = Cell::text(format!("{} of {} passed", parts.len() - failed.len(), parts.len()));
    match failed.is_empty() {
        true => passed,
        false => passed.with(format!("failed: {}", failed.join(", "))),
    }
}

/// The most columns of launches that are neither patterns nor about grain.
const OTHERS_MAX: usize = 12;

/// A row a device and width, a column a launch: the `most` that most devices have; `None` if no device
/// has a figure.
fn launches(
    title: String,
    chosen: &[(&GalleryKey, &GalleryDevice)],
    figures: Launches,
    cell: Figure,
    most: usize,
) -> Option<Table> {
    let of_devices: Vec<_> = chosen.iter().map(|(_, device)| figures(device)).collect();
    let mut devices: BTreeMap<&String, usize> = BTreeMap::new();
    for name in of_devices.iter().flat_map(|launches| launches.keys()) {
        *devices.entry(name).or_default() += 1;
    }
    let mut names: Vec<&String> = devices.keys().copied().collect();
    names.sort_by_key(|name| std::cmp::Reverse(devices[name]));
    let left_out = names.len().saturating_sub(most);
    names.truncate(most);
    names.sort_by_cached_key(|name| in_order(name));
    let columns = std::iter::once(Column::words("device"))
        .chain(names.iter().map(|name| Column::figures((*name).clone())));
    let mut table = Table::new(title, columns);
    for ((key, _), figures) in chosen.iter().zip(&of_devices) {
        let label = Cell::text(device(key));
        let cells = names.iter().map(|name| figures.get(*name).map_or_else(Cell::none, cell));
        table.rows.push(std::iter::once(label).chain(cells).collect());
    }
    if left_out > 0 {
        let more = count_text(left_out as u128, "more launch");
        table.notes.push(format!("{more}, which fewer devices have, left out."));
    }
    let any = table.rows.iter().any(|row| row.iter().skip(1).any(|cell| !cell.is_missing()));
    any.then_some(table)
}

/// A name's place among others: its words by letters, its numbers by their values.
fn in_order(name: &str) -> Vec<(String, u128)> {
    let mut parts: Vec<(String, u128)> = vec![(String::new(), 0)];
    let mut was_digit = false;
    for letter in name.chars() {
        match letter.to_digit(10) {
            Some(digit) => {
                if let Some((_, number)) = parts.last_mut() {
                    *number = number.saturating_mul(10).saturating_add(digit.into());
                }
            }
            None if was_digit => parts.push((letter.to_string(), 0)),
            None => {
                if let Some((word, _)) = parts.last_mut() {
                    word.push(letter);
                }
            }
        }
        was_digit = letter.is_ascii_digit();
    }
    parts
}

/// A row for each verdict on a claim, with the devices of which it was found; nothing without rows.
pub fn gallery_claims<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, &'a BTreeMap<GalleryKey, u64>)>,
) -> Option<Table> {
    let columns = ["claim", "verdict", "devices"].map(Column::words);
    let mut table = Table::new("Claims that differ between devices", columns);
    for (claim, verdict, keys) in rows {
        let named = |(key, records): (&GalleryKey, &u64)| {
            let records = count_text(u128::from(*records), "record");
            let unattested = if key.unattested { ", unattested" } else { "" };
            format!("{} ({records}{unattested})", device(key))
        };
        let devices: Vec<String> = keys.iter().map(named).collect();
        let cells = [claim.to_owned(), verdict.to_owned(), devices.join("; ")];
        table.rows.push(cells.map(Cell::text).to_vec());
    }
    (!table.rows.is_empty()).then_some(table)
}

/// What a table of launches calls a device at a width.
fn device(key: &GalleryKey) -> String {
    let width =
        key.width.map_or("width not known".to_owned(), |width| format!("W\u{a0}=\u{a0}{width}"));
    format!("{} ({}), {width}", key.name, key.backend.name())
}
