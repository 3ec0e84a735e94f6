//! Records with damage: a small one that a run wrote, changed where and how an input's bytes say.
//!
//! Input: bytes. Output: the text of a record. Three bytes are a change: two choose a place in the tree of
//! JSON, one what stands there then.

use serde_json::{Value, json};

/// A record of two kernels on two simulators, with histograms.
const RECORD: &str = include_str!("../record.json");

/// The record, and the place of every value in it.
#[derive(Debug)]
pub struct Base {
    record: Value,
    places: Vec<String>,
}

impl Base {
    /// Reads the record.
    ///
    /// # Panics
    ///
    /// Where it is no JSON.
    pub fn new() -> Self {
        let record: Value = serde_json::from_str(RECORD).expect("a record");
        let mut places = Vec::new();
        add_places(&record, "", &mut places);
        Self { record, places }
    }

    /// The record with the changes that the bytes say.
    pub fn changed(&self, data: &[u8]) -> Vec<u8> {
        let mut record = self.record.clone();
        for change in data.chunks_exact(3).take(16) {
            let place = usize::from(change[0]) << 8 | usize::from(change[1]);
            let place = &self.places[place % self.places.len()];
            if let Some(value) = record.pointer_mut(place) {
                change_value(value, change[2]);
            }
        }
        record.to_string().into_bytes()
    }
}

impl Default for Base {
    fn default() -> Self {
        Self::new()
    }
}

fn add_places(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            add_places(value, &format!("{at}/{key}"), places);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, value)| {
            add_places(value, &format!("{at}/{index}"), places);
        }),
        _ => {}
    }
}

fn change_value(value: &mut Value, how: u8) {
    let long = "x/".repeat(1 << (how >> 4));
    let number = value.as_f64();
    *value = match how & 15 {
        0 => json!(null),
        1 => json!(0),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!(-1e-308),
        6 => json!(long),
        7 => json!("\u{1b}[2J\u{202e}\0<script>&\"'"),
        8 => json!("../../x"),
        9 => json!([]),
        10 => json!({}),
        11 => json!(number.map_or(1.0, |number| number * 2.0)),
        12 => json!(number.map_or(1, |_| 1_u64 << (how >> 4) << (how >> 4))),
        13 => json!([value.clone(), value.clone()]),
        14 => json!(vec![7; 1 << (how >> 4)]),
        _ => json!({ "tag": "loop_cut_off", "lines": [u32::MAX] }),
    };
}
