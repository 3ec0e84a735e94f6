//! Puts the page's file together.
//!
//! Input: the page's data. Output: HTML whose policy allows its own scripts and styles, by their
//! hashes, a worker made from its own text, and nothing else: no request can leave. The data are JSON,
//! deflated, in base64; elements of a type that is no script hold them and the worker's text. Browsers
//! inflate by themselves; lanescope's core is packed by xz, a third smaller, and its unpacker is deflated.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use lzma_rust2::{EncodeMode, LzmaOptions, MfType, XzOptions, XzWriter};
use sha2::{Digest, Sha256};

use super::WebError;
use super::data::Data;
use crate::kernel::reference;

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const WORKER: &str = include_str!("worker.js");
/// What the visitor's side is made of, in the order in which it stands in the page.
const SCRIPTS: [&str; 4] = [PARTS, FIGURES, RECORD, include_str!("page.js")];
const PARTS: &str = include_str!("parts.js");
const FIGURES: &str = include_str!("figures.js");
const RECORD: &str = include_str!("record.js");

const PASTE_FRAME: &str = include_str!("paste.html");
/// The page that the core makes has its own style, and stands in this one.
const PASTE_STYLES: [&str; 2] = [crate::report::PROFILE_STYLE, include_str!("paste.css")];
const PASTE_SCRIPTS: [&str; 4] = [PARTS, FIGURES, RECORD, include_str!("paste.js")];
const CORE_WORKER: &str = include_str!("core.js");
const EXAMPLE: &str = include_str!("../../examples/raymarch.wgsl");

/// What packs WASM best of what xz has: instructions lie at any byte, and one looks like those before it.
const XZ: LzmaOptions = LzmaOptions {
    dict_size: 1 << 23,
    lc: 4,
    lp: 0,
    pb: 0,
    mode: EncodeMode::Normal,
    nice_len: LzmaOptions::NICE_LEN_MAX,
    mf: MfType::Bt4,
    depth_limit: 1 << 10,
    preset_dict: None,
};

/// Digits of the hash by which a link says of which page it is.
const PAGE_DIGITS: usize = 12;

/// Writes the page.
pub(super) fn assemble(data: &Data) -> Result<String, WebError> {
    let json = serde_json::to_vec(data)?;
    let references = references(&String::from_utf8_lossy(&json));
    let worker = squeeze(WORKER).replace("/*REFERENCES*/", &references);
    let parts = Parts { style: squeeze(STYLE), script: squeeze(&SCRIPTS.concat()), worker };
    let texts = [("{{data}}", pack(&json)?)];
    Ok(parts.put_into(FRAME, "", &digest(&json), &texts))
}

/// Writes the paste page around lanescope's core and what unpacks it, two WASM modules.
pub(super) fn assemble_paste(core: &[u8], unpacker: &[u8]) -> Result<String, WebError> {
    let options = XzOptions { lzma_options: XZ, ..XzOptions::default() };
    let mut packer = XzWriter::new(Vec::new(), options)?;
    packer.write_all(core)?;
    let parts = Parts {
        style: squeeze(&PASTE_STYLES.concat()),
        script: squeeze(&PASTE_SCRIPTS.concat()),
        worker: squeeze(WORKER).replace("/*REFERENCES*/", ""),
    };
    let texts = [
        ("{{example}}", EXAMPLE.to_owned()),
        ("{{core_worker}}", squeeze(CORE_WORKER)),
        ("{{unpacker}}", pack(unpacker)?),
        ("{{core}}", base64(&packer.finish()?)),
    ];
    Ok(parts.put_into(PASTE_FRAME, " 'wasm-unsafe-eval'", &digest(core), &texts))
}

/// What every page has.
struct Parts {
    style: String,
    script: String,
    worker: String,
}

impl Parts {
    /// Puts the parts, and texts by their marks, into a frame; `scripts` is what else may run.
    fn put_into(self, frame: &str, scripts: &str, page: &str, texts: &[(&str, String)]) -> String {
        let Self { style, script, worker } = self;
        let policy = format!(
            "default-src 'none'; script-src '{}'{scripts}; style-src '{}'; worker-src blob:; \
             base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        let replaced = [
            ("{{policy}}", policy.as_str()),
            ("{{style}}", &style),
            ("{{version}}", env!("CARGO_PKG_VERSION")),
            ("{{page}}", &page[..PAGE_DIGITS]),
            ("{{worker}}", &worker),
            ("{{script}}", &script),
        ];
        let texts = texts.iter().map(|(mark, text)| (*mark, text.as_str()));
        // The frame is cut once: what is put in is not looked at again.
        let mut places: Vec<(usize, &str, &str)> = replaced
            .into_iter()
            .chain(texts)
            .filter_map(|(mark, text)| Some((frame.find(mark)?, mark, text)))
            .collect();
        places.sort_unstable();
        let (mut html, mut from) = (String::new(), 0);
        for (at, mark, text) in places {
            html += &frame[from..at];
            html += text;
            from = at + mark.len();
        }
        html + &frame[from..]
    }
}

/// SHA-256 in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes deflated, in base64.
fn pack(bytes: &[u8]) -> Result<String, WebError> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(base64(&encoder.finish()?))
}

/// The references in JavaScript, of files of which the data name one.
fn references(json: &str) -> String {
    let used = |text: &&&str| {
        let names = text.split('"').skip(1).step_by(2).filter(|name| name.contains('/'));
        names.into_iter().any(|name| json.contains(&format!("\"reference\":{{\"name\":\"{name}\"")))
    };
    let used = reference::JAVASCRIPT.iter().filter(used).map(|text| squeeze(text));
    used.map(|text| format!("{},", text.trim_end())).collect()
}

/// A text without the lines that are comments, and without indentation: what a browser needs.
fn squeeze(text: &str) -> String {
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
