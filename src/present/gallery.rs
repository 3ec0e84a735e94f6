//! The tables of a gallery: devices, and what their kernels show.
//!
//! Input: a gallery. Output: tables.

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
    let of = if unattested { "unattested" } else { "attested" };
    let mut tables = vec![devices(of, &chosen)];
    let efficiency =
        |figures: &GalleryFigures| Cell::from_option(figures.efficiency(), Cell::Percent);
    let time = |figures: &GalleryFigures| Cell::from_option(figures.time_ratio(), Cell::Factor);
    let patterns = |device: &'_ GalleryDevice| device.patterns.clone();
    let grain = |device: &'_ GalleryDevice| device.grain.clone();
    tables.extend(launches(format!("Patterns: lanes active, {of}"), &chosen, patterns, efficiency));
    tables.extend(launches(
        format!("Patterns: time over the baseline's, {of}"),
        &chosen,
        patterns,
        time,
    ));
    tables.extend(launches(format!("Grain: lanes active, {of}"), &chosen, grain, efficiency));
    tables
}

/// A row a device.
fn devices(of: &str, chosen: &[(&GalleryKey, &GalleryDevice)]) -> Table {
    let columns = ["device", "interface", "drivers"].map(Column::words);
    let figures = ["records", "widths", "self-test", "launches", "wrong outputs"];
    let mut table = Table::new(
        format!("Devices, {of}"),
        columns.into_iter().chain(figures.map(Column::figures)),
    );
    for (key, device) in chosen {
        let widths: Vec<String> = device.widths.iter().map(ToString::to_string).collect();
        let passed = device.self_test.values().filter(|passed| **passed).count();
        let test = (!device.self_test.is_empty())
            .then(|| Cell::text(format!("{passed} of {}", device.self_test.len())));
        let [ended, wrong] = device.launches.map(|count| Cell::Count(u128::from(count)));
        table.rows.push(vec![
            Cell::text(key.name.clone()),
            Cell::text(key.backend.name()),
            Cell::text(device.drivers.iter().cloned().collect::<Vec<_>>().join("; ")),
            Cell::Count(u128::from(device.records)),
            Cell::text(widths.join(", ")),
            test.unwrap_or_else(Cell::none),
            ended,
            wrong,
        ]);
    }
    table
}

/// The most launches that a table shows.
const LAUNCHES_MAX: usize = 12;

/// A row a device, a column a launch, those that most devices have; nothing where no device has a figure.
fn launches(
    title: String,
    chosen: &[(&GalleryKey, &GalleryDevice)],
    figures: impl Fn(&GalleryDevice) -> BTreeMap<String, GalleryFigures>,
    cell: impl Fn(&GalleryFigures) -> Cell,
) -> Option<Table> {
    let of_devices: Vec<_> = chosen.iter().map(|(_, device)| figures(device)).collect();
    let mut devices: BTreeMap<&String, usize> = BTreeMap::new();
    for name in of_devices.iter().flat_map(BTreeMap::keys) {
        *devices.entry(name).or_default() += 1;
    }
    let mut names: Vec<&String> = devices.keys().copied().collect();
    names.sort_by_key(|name| std::cmp::Reverse(devices[name]));
    let left_out = names.len().saturating_sub(LAUNCHES_MAX);
    names.truncate(LAUNCHES_MAX);
    let columns = std::iter::once(Column::words("device"))
        .chain(names.iter().map(|name| Column::figures((*name).clone())));
    let mut table = Table::new(title, columns);
    for ((key, _), figures) in chosen.iter().zip(&of_devices) {
        let own = Cell::text(device(key));
        let cells = names.iter().map(|name| figures.get(*name).map_or_else(Cell::none, &cell));
        table.rows.push(std::iter::once(own).chain(cells).collect());
    }
    if left_out > 0 {
        let more = count_text(left_out as u128, "more launch");
        table.notes.push(format!("{more}, which fewer devices have, left out."));
    }
    let any = table.rows.iter().any(|row| row.iter().skip(1).any(|cell| !cell.is_missing()));
    any.then_some(table)
}

/// A row for each verdict on a claim, with the devices of which it was found; nothing without rows.
pub fn gallery_claims<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, &'a [GalleryKey])>,
) -> Option<Table> {
    let columns = ["claim", "verdict", "devices"].map(Column::words);
    let mut table = Table::new("Claims that differ between devices", columns);
    for (claim, verdict, keys) in rows {
        let devices: Vec<String> = keys.iter().map(device).collect();
        let cells = [claim.to_owned(), verdict.to_owned(), devices.join("; ")];
        table.rows.push(cells.map(Cell::text).to_vec());
    }
    (!table.rows.is_empty()).then_some(table)
}

/// What a table of launches calls a device.
fn device(key: &GalleryKey) -> String {
    format!("{} ({})", key.name, key.backend.name())
}
