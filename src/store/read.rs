//! Files read up to a limit, whatever they say of their length.
//!
//! Input: a path and the most bytes. Output: the bytes. A regular file is read to its end or the limit; a
//! pipe or a device besides no longer than [`ENDLESS_TIME_MAX`] and no further than
//! [`ENDLESS_BYTES_MAX`], since neither need ever end.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long a pipe or a device may take to its end.
const ENDLESS_TIME_MAX: Duration = Duration::from_secs(20);

/// The most bytes that are read of a pipe or a device.
const ENDLESS_BYTES_MAX: u64 = 256 << 20;

/// Reads a file.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::FileTooLarge`] where there is more than the limit,
/// [`io::ErrorKind::TimedOut`] where what is no regular file does not end in time.
pub fn read_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe that nobody writes to would wait as well, so it is asked first.
    if fs::metadata(path)?.is_file() {
        return read_open(path, bytes_max);
    }
    let (sender, read) = channel();
    let owned_path = path.to_owned();
    thread::spawn(move || sender.send(read_open(&owned_path, bytes_max.min(ENDLESS_BYTES_MAX))));
    read.recv_timeout(ENDLESS_TIME_MAX).unwrap_or_else(|_| {
        let seconds = ENDLESS_TIME_MAX.as_secs();
        let message = format!("it is no regular file, and did not end within {seconds} s");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

fn read_open(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("it has over {bytes_max} bytes, the limit");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
