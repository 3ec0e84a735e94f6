//! What is to be captured, as a program or its environment says it.
//!
//! Input: words such as `label=blur nth=0,50`. Output: [`CaptureRequest`], which says of a dispatch whether it is
//! meant. It counts nothing.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment variable that asks for a capture.
pub const VARIABLE: &str = "LANESCOPE_CAPTURE";

/// Bytes of contents where nothing is asked for: 256 MiB.
pub const BYTES_MAX: u64 = 1 << 28;

/// Which dispatches are captured, and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureRequest {
    /// The folder, made where it is not there; each dispatch is a folder in it.
    pub folder: PathBuf,
    /// A part of the label of the pipeline or, where that has none, of the compute pass; every dispatch where
    /// nothing is given.
    pub label: Option<String>,
    /// Which of the dispatches that match, from 0; all where empty.
    pub nth: Vec<u64>,
    /// The frames, from 0, that [`end_frame`](crate::end_frame) ends; all where empty.
    pub frames: Vec<u64>,
    /// Bytes of contents in all: what would go beyond is named and left out.
    pub bytes_max: u64,
    /// What the folders say of the program: its name.
    pub program: String,
}

/// Why words ask for nothing that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError(String);

impl std::fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for RequestError {}

impl Default for CaptureRequest {
    fn default() -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(|path| path.file_stem());
        Self {
            folder: PathBuf::from("captures"),
            label: None,
            nth: Vec::new(),
            frames: Vec::new(),
            bytes_max: BYTES_MAX,
            program: program.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        }
    }
}

impl CaptureRequest {
    /// What the environment asks for; `None` if [`VARIABLE`] is not set, is empty or `0`.
    ///
    /// # Errors
    ///
    /// As [`CaptureRequest::parse`].
    pub fn from_environment() -> Result<Option<Self>, RequestError> {
        match std::env::var(VARIABLE) {
            Ok(text) if !["", "0"].contains(&text.trim()) => Self::parse(&text).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads words: `1` for everything, or any of `folder=DIR`, `label=PART`, `nth=0,50`, `frame=0,50`,
    /// `bytes=N`, with spaces between them.
    ///
    /// # Errors
    ///
    /// A sentence that quotes the word.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let mut request = Self::default();
        for word in text.split_whitespace().filter(|word| *word != "1") {
            let wrong = || {
                RequestError(format!(
                    "{VARIABLE}: `{word}` is none of 1, folder=DIR, label=PART, nth=0,50, frame=0,50, \
                     bytes=N"
                ))
            };
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            let numbers = || value.split(',').map(|number| number.parse().map_err(|_| wrong()));
            match key {
                "folder" => request.folder = PathBuf::from(value),
                "label" => request.label = Some(value.to_owned()),
                "nth" => request.nth = numbers().collect::<Result<_, _>>()?,
                "frame" => request.frames = numbers().collect::<Result<_, _>>()?,
                "bytes" => request.bytes_max = value.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(request)
    }

    /// Whether a dispatch of this label is counted among those that match.
    pub(crate) fn matches(&self, label: &str) -> bool {
        self.label.as_deref().is_none_or(|part| label.contains(part))
    }

    /// Whether the n-th that matches, in this frame, is meant.
    pub(crate) fn is_meant(&self, nth: u64, frame: u64) -> bool {
        (self.nth.is_empty() || self.nth.contains(&nth))
            && (self.frames.is_empty() || self.frames.contains(&frame))
    }
}

/// How many devices of this process capture into a folder so far; one more does from now on.
pub(crate) fn join(folder: &Path) -> usize {
    static JOINED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
    let earlier = joined.iter().filter(|known| known.as_path() == folder).count();
    joined.push(folder.to_path_buf());
    earlier
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_is_meant() {
        let request = CaptureRequest::parse("label=blur nth=0,50 folder=a/b bytes=1024").unwrap();
        assert_eq!(request.folder, PathBuf::from("a/b"));
        assert_eq!(request.bytes_max, 1024);
        assert!(request.matches("blur along x") && !request.matches("step"));
        assert!(request.is_meant(50, 7) && !request.is_meant(1, 0));
        let frame = CaptureRequest::parse("frame=3").unwrap();
        assert!(frame.matches("") && frame.is_meant(9, 3) && !frame.is_meant(9, 2));
        assert!(CaptureRequest::parse("1").unwrap().is_meant(5, 5));
        for wrong in ["all", "nth=x", "bytes=-1", "size=3"] {
            let message = CaptureRequest::parse(wrong).unwrap_err().to_string();
            assert!(message.contains(&format!("`{wrong}`")), "{message}");
        }
    }

    #[test]
    fn devices_of_one_folder_are_told_apart() {
        let [shared, other] = ["a folder of two devices", "another folder"].map(Path::new);
        assert_eq!([join(shared), join(other), join(shared)], [0, 0, 1]);
    }
}
