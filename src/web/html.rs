//! Puts the page's file together.
//!
//! Input: the page's data. Output: HTML whose policy allows its own scripts and styles, by their
//! hashes, a worker made from its own text, and nothing else: no request can leave. The data are JSON,
//! deflated, in base64; elements of a type that is no script hold them and the worker's text.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use sha2::{Digest, Sha256};

use super::WebError;
use super::data::Data;
use crate::kernel::reference;

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const WORKER: &str = include_str!("worker.js");
/// What the visitor's side is made of, in the order in which it stands in the page.
const SCRIPTS: [&str; 3] =
    [include_str!("figures.js"), include_str!("record.js"), include_str!("page.js")];

/// Digits of the hash by which a link says of which page it is.
const PAGE_DIGITS: usize = 12;

/// Writes the page.
pub(super) fn assemble(data: &Data) -> Result<String, WebError> {
    let json = serde_json::to_vec(data)?;
    let page: String =
        Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&json)?;
    let packed = base64(&encoder.finish()?);
    let style = squeezed(STYLE);
    let script = squeezed(&SCRIPTS.concat());
    let worker =
        squeezed(WORKER).replace("/*REFERENCES*/", &references(&String::from_utf8_lossy(&json)));
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; worker-src blob:; base-uri 'none'; \
         form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let parts = [
        ("{{policy}}", policy.as_str()),
        ("{{style}}", &style),
        ("{{version}}", env!("CARGO_PKG_VERSION")),
        ("{{page}}", &page[..PAGE_DIGITS]),
        ("{{worker}}", &worker),
        ("{{script}}", &script),
        ("{{data}}", &packed),
    ];
    // The frame is cut once: what is put in is not looked at again.
    let mut html = FRAME.to_owned();
    for (mark, text) in parts.iter().rev() {
        html = html.replacen(mark, text, 1);
    }
    Ok(html)
}

/// The references in JavaScript, of files of which the data name one.
fn references(json: &str) -> String {
    let used = |text: &&&str| {
        let names = text.split('"').skip(1).step_by(2).filter(|name| name.contains('/'));
        names.into_iter().any(|name| json.contains(&format!("\"reference\":{{\"name\":\"{name}\"")))
    };
    let used = reference::JAVASCRIPT.iter().filter(used).map(|text| squeezed(text));
    used.map(|text| format!("{},", text.trim_end())).collect()
}

/// A text without the lines that are comments, and without indentation: what a browser needs.
fn squeezed(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A source of a policy that allows a text.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |group: &[u8]| {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit =
            move |place: usize| char::from(DIGITS[(bits >> (18 - 6 * place) & 63) as usize]);
        let count = group.len();
        (0..4).map(move |place| if place <= count { digit(place) } else { '=' })
    };
    bytes.chunks(3).flat_map(digits).collect()
}
