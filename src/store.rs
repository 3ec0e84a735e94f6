//! Results on disk: one file an invocation, whole while it goes on.
//!
//! Input: a [`Run`] and what is added to it while it goes on. Output: a JSON file that, at every
//! moment, loads and holds everything that was added until a pause of `saver` before: a tenth of a second, or twenty
//! times as long as a save takes. Nothing is computed here, and raw results are never edited: a store only
//! appends. `-` for standard input or output is the command line's affair.
//!
//! # How a file survives a kill
//!
//! Each save writes the whole record to a hidden file in the same folder, flushes it to the disk and
//! renames it over the last one, at most ten times a second (`saver`): what was added within the last pause may
//! be lost. The parts are encoded once, when they are added: a save only joins
//! them, one device, measurement or source a line. A rename within a folder replaces the name at once, so a reader, or
//! whoever comes after a SIGKILL or a power cut, finds either the old record or the new one. What
//! a kill may leave behind is the hidden file, named for the process; it is not a result.

mod check;
mod read;
mod saver;
#[cfg(test)]
mod tests;
mod written;

pub use read::read_file;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use indexmap::IndexMap;
use lzma_rust2::XzReader;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::record::{Device, Measurement, PEERS_SCHEMA, Peers, Run, SCHEMA, Source};
use crate::units::visible::visible_json;
use saver::{Save, Saver};
use written::{Block1, Counts, Dispatch, TablesText};

/// The largest file that [`load`] reads, in bytes: a limit against reading something else whole.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The most that a packed file may unpack to, in bytes: some ten times the largest that lanescope wrote. What half a
/// megabyte says a thousand times over takes no gigabytes so.
const UNPACKED_BYTES_MAX: u64 = 256 << 20;

/// What a folder's result file is called.
pub const NAMES: [&str; 3] = ["result.json", "result.json.gz", "result.json.xz"];

/// How the names of result files end: plain, or packed by gzip or xz.
pub const ENDINGS: [&str; 3] = [".json", ".json.gz", ".json.xz"];

/// The bytes that begin whatever gzip packed (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes that begin whatever xz packed (The .xz File Format 1.2.1, 2.1.1.1).
const XZ: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

/// Why results could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file, or the hidden one beside it, could not be written.
    #[error("cannot write results to {}", path.display())]
    Write {
        /// The result file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The record cannot be expressed in JSON.
    #[error("cannot express the results for {} in JSON", path.display())]
    Encode {
        /// The result file.
        path: PathBuf,
        /// What the encoder said.
        source: serde_json::Error,
    },
    /// A number that JSON has no form for, such as an infinite time.
    #[error("the results for {} would not load again", path.display())]
    NotReadable {
        /// The result file.
        path: PathBuf,
        /// What the decoder said.
        source: serde_json::Error,
    },
    /// The file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What gzip packed is larger than any result file.
    #[error("{} unpacks to over {bytes} bytes, the most that is unpacked here: if it is a record, unpack it first", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes that were read.
        bytes: u64,
    },
    /// The file is no JSON, or not of the format's shape.
    #[error("{}:{line}:{column}: not a lanescope result file", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the decoder said.
        source: serde_json::Error,
    },
    /// The file names another tool as the one that wrote it.
    #[error("{} was written by `{name}`, not by lanescope", path.display())]
    OtherTool {
        /// The file.
        path: PathBuf,
        /// What it says.
        name: String,
    },
    /// The file's parts do not fit together.
    #[error("{}: not a whole lanescope result file: {what}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What does not fit, as a clause.
        what: String,
    },
    /// The file has a format that this version does not know.
    #[error(
        "{} has results schema {found}, and this lanescope reads schemas 1 and {SCHEMA}: use the \
         version that wrote it",
        path.display()
    )]
    UnknownSchema {
        /// The file.
        path: PathBuf,
        /// The schema that it names.
        found: u64,
    },
}

/// A result file that grows while an invocation goes on. What is added is saved at once, or at the end of a
/// pause where a save was made just before; [`Store::flush`] and dropping it save all.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    saver: Saver<RecordFile>,
}

impl Store {
    /// Writes `run` to `path`, in whose folder it also keeps a hidden file while it saves.
    ///
    /// Missing folders are made; a file that is already there is replaced.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`] where the folder or file cannot be written, [`StoreError::NotReadable`]
    /// for a value that would not load again.
    pub fn create(path: &Path, run: &Run) -> Result<Self, StoreError> {
        if let Some(folder) = folder(path) {
            fs::create_dir_all(folder)
                .map_err(|source| StoreError::Write { path: path.to_owned(), source })?;
        }
        let file = RecordFile { path: path.to_owned(), parts: Parts::encode(run, path)? };
        Ok(Self { path: path.to_owned(), saver: Saver::create(file)? })
    }

    /// Adds a device, or replaces the one of the same id.
    ///
    /// # Errors
    ///
    /// As [`Store::create`], and what an earlier save met. A part that does not encode is not kept, so that
    /// one bad value does not spoil what follows; one that could not be written is tried again with the
    /// next save.
    pub fn append_device(&mut self, device: &Device) -> Result<(), StoreError> {
        self.saver.change(|file| {
            file.parts.devices.insert(device.id.clone(), encode_part(device, &file.path)?);
            Ok(())
        })
    }

    /// Adds a finished measurement.
    ///
    /// # Errors
    ///
    /// As [`Store::append_device`].
    pub fn append(&mut self, measurement: &Measurement) -> Result<(), StoreError> {
        self.saver.change(|file| file.parts.add(measurement, &file.path))
    }

    /// Replaces a measurement, by its place; one at a place that there is not is added.
    ///
    /// # Errors
    ///
    /// As [`Store::append_device`].
    pub fn replace(&mut self, index: usize, measurement: &Measurement) -> Result<(), StoreError> {
        self.saver.change(|file| {
            file.parts.add(measurement, &file.path)?;
            let last = file.parts.measurements.len() - 1;
            if index < last {
                file.parts.measurements.swap_remove(index);
            }
            Ok(())
        })
    }

    /// Adds a source's text under its SHA-256 in hexadecimal, which the next save writes.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotReadable`] for a value that would not load again: it is not kept.
    pub fn add_source(&mut self, sha256: &str, source: &Source) -> Result<(), StoreError> {
        self.saver.change_later(|file| {
            if !file.parts.sources.contains_key(sha256) {
                file.parts.sources.insert(sha256.to_owned(), encode_part(source, &file.path)?);
            }
            Ok(())
        })
    }

    /// Saves what is not saved yet.
    ///
    /// # Errors
    ///
    /// What this save met, or an earlier one that nobody was told of.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.saver.flush()
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What is written, and where to.
#[derive(Debug)]
struct RecordFile {
    path: PathBuf,
    parts: Parts,
}

impl Save for RecordFile {
    type Error = StoreError;

    /// Writes the whole record beside the file, flushes it and renames it over the last one.
    fn save(&mut self) -> Result<(), StoreError> {
        let hidden = self.hidden_path();
        let written = write_flushed(&hidden, &self.parts)
            .and_then(|()| fs::rename(&hidden, &self.path))
            .and_then(|()| flush_folder(&self.path));
        written.map_err(|source| {
            // The write failed and is reported; that its remains may stay is the lesser evil.
            drop(fs::remove_file(&hidden));
            StoreError::Write { path: self.path.clone(), source }
        })
    }
}

impl RecordFile {
    /// Names the hidden file: in the same folder, so that the rename cannot cross file systems.
    fn hidden_path(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
    }
}

/// A record whose growing parts are already JSON.
#[derive(Debug)]
struct Parts {
    /// The keys that do not grow, with their values.
    head: String,
    /// Devices by their ids, in the order of use.
    devices: IndexMap<String, String>,
    measurements: Vec<String>,
    /// What the program says of blocks, by the SHA-256 of the table.
    block_tables: TablesText,
    /// Sources by their SHA-256.
    sources: BTreeMap<String, String>,
}

impl Parts {
    /// Encodes each part of `run`; `path` is only named in errors.
    fn encode(run: &Run, path: &Path) -> Result<Self, StoreError> {
        // In full, so that a new key of the record cannot be forgotten here.
        let Run {
            schema,
            counting_rule,
            tool,
            started_utc,
            argv,
            host,
            kernels,
            devices,
            measurements,
            sources,
        } = run;
        let head = [
            ("schema", encode_part(schema, path)?),
            ("counting_rule", encode_part(counting_rule, path)?),
            ("tool", encode_part(tool, path)?),
            ("started_utc", encode_part(started_utc, path)?),
            ("argv", encode_part(argv, path)?),
            ("host", encode_part(host, path)?),
            ("kernels", encode_part(kernels, path)?),
        ]
        .map(|(key, value)| format!("\"{key}\":{value},\n"))
        .concat();
        let devices = devices
            .iter()
            .map(|device| Ok((device.id.clone(), encode_part(device, path)?)))
            .collect::<Result<_, StoreError>>()?;
        let sources = sources
            .iter()
            .map(|(sha256, source)| Ok((sha256.clone(), encode_part(source, path)?)))
            .collect::<Result<_, StoreError>>()?;
        let (none, tables) = (Vec::new(), TablesText::new());
        let mut parts = Self { head, devices, measurements: none, block_tables: tables, sources };
        measurements.iter().try_for_each(|measurement| parts.add(measurement, path))?;
        Ok(parts)
    }

    /// Encodes a measurement, and the block tables that it names.
    fn add(&mut self, measurement: &Measurement, path: &Path) -> Result<(), StoreError> {
        let (compact, tables) = written::split(measurement)
            .map_err(|source| StoreError::Encode { path: path.to_owned(), source })?;
        self.measurements.push(encode_part(&compact, path)?);
        self.block_tables.extend(tables);
        Ok(())
    }

    /// Writes the record: a line for each device, measurement, block table and source, so that an error's line
    /// says which it is in.
    fn write(&self, writer: &mut impl Write) -> std::io::Result<()> {
        write!(writer, "{{{}\"devices\":[", self.head)?;
        write_joined(writer, self.devices.values())?;
        write!(writer, "],\n\"measurements\":[")?;
        write_joined(writer, &self.measurements)?;
        write!(writer, "],\n\"block_tables\":{{")?;
        write_joined(writer, &with_keys(&self.block_tables))?;
        write!(writer, "}},\n\"sources\":{{")?;
        write_joined(writer, &with_keys(&self.sources))?;
        writeln!(writer, "}}}}")
    }
}

/// Puts the keys before the values.
fn with_keys(parts: &BTreeMap<String, String>) -> Vec<String> {
    parts.iter().map(|(key, part)| format!("{}:{part}", quote_key(key))).collect()
}

/// Writes the parts with commas between them, each on a line of its own.
fn write_joined<'a>(
    writer: &mut impl Write,
    parts: impl IntoIterator<Item = &'a String>,
) -> std::io::Result<()> {
    for (index, part) in parts.into_iter().enumerate() {
        write!(writer, "{}\n{part}", if index == 0 { "" } else { "," })?;
    }
    Ok(())
}

/// Quotes a key as JSON does.
fn quote_key(key: &str) -> String {
    serde_json::Value::from(key).to_string()
}

/// Encodes one part as JSON on one line, and makes sure that it loads again.
fn encode_part<T: Serialize + DeserializeOwned>(
    part: &T,
    path: &Path,
) -> Result<String, StoreError> {
    let text = serde_json::to_string(part)
        .map_err(|source| StoreError::Encode { path: path.to_owned(), source })?;
    // JSON has no infinity and no NaN: the encoder writes null, which a plain number cannot be read
    // from. Better to refuse the value now than the whole file later. A browser keeps no files, and its core is small.
    #[cfg(feature = "devices")]
    serde_json::from_slice::<T>(text.as_bytes())
        .map_err(|source| StoreError::NotReadable { path: path.to_owned(), source })?;
    Ok(text)
}

/// Reads a result file, or one that gzip or xz packed (`result.json.gz`, `result.json.xz`), as long
/// sweeps say much the same of every launch; of a folder the one of these names that it holds.
///
/// # Errors
///
/// [`StoreError::Read`] and [`StoreError::TooLarge`] where there is nothing readable,
/// [`StoreError::UnknownSchema`] where another version wrote it, [`StoreError::Malformed`] with line
/// and column otherwise.
pub fn load(path: &Path) -> Result<Run, StoreError> {
    let within = NAMES.map(|name| path.join(name));
    let path = within.iter().find(|file| file.is_file()).map_or(path, PathBuf::as_path);
    let unreadable = |source| StoreError::Read { path: path.to_owned(), source };
    if path.is_dir() {
        let message = format!("the folder holds none of {}", NAMES.join(", "));
        return Err(unreadable(std::io::Error::new(std::io::ErrorKind::NotFound, message)));
    }
    let text = read_file(path, FILE_BYTES_MAX).map_err(unreadable)?;
    decode(&text, path)
}

/// Unpacks what gzip or xz packed; nothing for what neither did.
fn unpack(text: &[u8], path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let packed: Box<dyn Read + '_> = if text.starts_with(&GZIP) {
        Box::new(GzDecoder::new(text))
    } else if text.starts_with(&XZ) {
        Box::new(XzReader::new(text, false))
    } else {
        return Ok(None);
    };
    let mut plain = Vec::new();
    packed
        .take(UNPACKED_BYTES_MAX + 1)
        .read_to_end(&mut plain)
        .map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    if plain.len() as u64 > UNPACKED_BYTES_MAX {
        let bytes = UNPACKED_BYTES_MAX;
        return Err(StoreError::TooLarge { path: path.to_owned(), bytes });
    }
    Ok(Some(plain))
}

/// Reads the rows of a file that `lab peers` wrote.
///
/// # Errors
///
/// As [`load`].
pub fn load_peers(path: &Path) -> Result<Peers, StoreError> {
    let text = read_file(path, FILE_BYTES_MAX)
        .map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let text = visible_json(&text);
    match schema(&text, path)? {
        found if found == u64::from(PEERS_SCHEMA) => decode_as(&text, path),
        found => Err(StoreError::UnknownSchema { path: path.to_owned(), found }),
    }
}

/// Reads a record from `text`, packed or not; `path` is what messages call it, such as `standard
/// input`. One of schema 1 becomes one of [`SCHEMA`], with its own figures and counting rule 1.
///
/// # Errors
///
/// As [`load`]; of reading, where what is packed does not unpack.
pub fn decode(text: &[u8], path: &Path) -> Result<Run, StoreError> {
    let plain = unpack(text, path)?;
    // Names and texts of a record come from anywhere: nothing that is shown of them steers or hides.
    let text = &*visible_json(plain.as_deref().unwrap_or(text));
    // The schema first: a file of another version is refused as that, not for a key it lacks.
    let inconsistent = |what| StoreError::Inconsistent { path: path.to_owned(), what };
    let mut run = match schema(text, path)? {
        1 => written::of_schema_1(decode_as::<Run<Dispatch<Block1>>>(text, path)?)
            .map_err(inconsistent)?,
        found if found == u64::from(SCHEMA) => {
            let run = decode_as::<Run<Dispatch<Counts>>>(text, path)?;
            written::join(run, decode_as(text, path)?).map_err(inconsistent)?
        }
        found => return Err(StoreError::UnknownSchema { path: path.to_owned(), found }),
    };
    check::check(&run).map_err(inconsistent)?;
    run.devices.iter_mut().for_each(Device::keep_names_on_lines);
    Ok(run)
}

/// The name of the tool that writes records.
const TOOL: &str = "lanescope";

/// The number of a file's format; a file that names another tool is refused as that.
fn schema(text: &[u8], path: &Path) -> Result<u64, StoreError> {
    /// The keys that every schema has.
    #[derive(Deserialize)]
    struct Head {
        schema: u64,
        tool: Option<serde_json::Value>,
    }
    let head = decode_as::<Head>(text, path)?;
    let name =
        |tool: &serde_json::Value| Some(tool.get("name").unwrap_or(tool).as_str()?.to_owned());
    match head.tool.as_ref().and_then(name) {
        Some(name) if name != TOOL => Err(StoreError::OtherTool { path: path.to_owned(), name }),
        _ => Ok(head.schema),
    }
}

fn decode_as<T: DeserializeOwned>(text: &[u8], path: &Path) -> Result<T, StoreError> {
    serde_json::from_slice(text).map_err(|source| StoreError::Malformed {
        path: path.to_owned(),
        line: source.line(),
        column: source.column(),
        source,
    })
}

/// Encodes a whole record as [`Store`] writes it; `path` is what messages call the result.
///
/// # Errors
///
/// [`StoreError::Encode`] and [`StoreError::NotReadable`].
pub fn encode(run: &Run, path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::new();
    Parts::encode(run, path)?
        .write(&mut text)
        .map_err(|source| StoreError::Write { path: path.to_owned(), source })?;
    Ok(text)
}

/// Returns the folder of `path` where it names one.
fn folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// Writes the record to a new file at `path` and waits until it is on the disk.
fn write_flushed(path: &Path, parts: &Parts) -> std::io::Result<()> {
    let mut writer = BufWriter::new(File::create(path)?);
    parts.write(&mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_all()
}

/// Waits until the folder's entry for `path` is on the disk, where the system can do so.
#[cfg(unix)]
fn flush_folder(path: &Path) -> std::io::Result<()> {
    File::open(folder(path).unwrap_or(Path::new(".")))?.sync_all()
}

/// Does nothing: elsewhere a folder cannot be opened as a file, and renames are journalled.
#[cfg(not(unix))]
fn flush_folder(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
