//! Chromium as a compiler of WGSL: it has Tint in it, as Chrome, Edge and Android have.
//!
//! Input: texts. Output: a [`Session`], what Chromium says of each. The program is started without
//! a window, with SwiftShader as its GPU, in a folder of its own, and gets one page from a server
//! on loopback that hands out texts and takes verdicts. Neither speaks to another machine, and both
//! end with the session, at the latest after [`SECONDS_MAX`]. No text is run.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The longest session.
const SECONDS_MAX: u64 = 420;

/// The longest wait for the other side of a connection.
const CONNECTION_SECONDS_MAX: u64 = 30;

/// Texts that the page takes at a time.
const BATCH: usize = 32;

/// The most bytes of a request: what is said of a batch, with room.
const REQUEST_BYTES_MAX: usize = 64 << 20;

/// Names of the program, the first that is there counts.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The page.
const PAGE: &str = include_str!("page.html");

/// How it is started: without a window, WebGPU on the GPU that it brings, and no word to anyone.
pub(crate) const ARGUMENTS: [&str; 13] = [
    "--headless",
    // What is compiled is ours; as root, and in a container, there is no sandbox.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--enable-unsafe-webgpu",
    "--enable-features=Vulkan",
    "--use-vulkan=swiftshader",
    "--use-webgpu-adapter=swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pings",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// A text to compile.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Text {
    /// The text.
    pub(crate) wgsl: String,
    /// Where a pipeline is made as well, its entry point.
    pub(crate) entry_point: Option<String>,
}

/// What is said of a text.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Verdict {
    /// Every message of the compiler.
    pub(crate) messages: Vec<Message>,
    /// Why there is no pipeline, where one was asked for and the text was taken.
    pub(crate) pipeline: Option<String>,
}

/// A message of the compiler.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Message {
    /// `error`, `warning` or `info`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// What it says.
    pub(crate) message: String,
}

/// What a session gave.
#[derive(Debug)]
pub(crate) struct Session {
    /// The adapter's vendor and architecture.
    pub(crate) adapter: String,
    /// Its features, of those that the texts may use.
    pub(crate) features: Vec<String>,
    /// A verdict for each text.
    pub(crate) verdicts: Vec<Verdict>,
    /// How long it took.
    pub(crate) seconds: f64,
}

/// What the page says last.
#[derive(Debug, Deserialize)]
struct Done {
    adapter: String,
    features: Vec<String>,
    trouble: Option<String>,
}

/// What the page has said so far.
#[derive(Default)]
struct Heard {
    verdicts: Vec<Verdict>,
    done: Option<Result<Done, String>>,
}

/// The program, where it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|path| path.is_file())
}

/// Ends when it goes out of scope.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Compiles texts.
pub(crate) fn compile(texts: &[Text]) -> Result<Session, String> {
    #[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
    let begun = Instant::now();
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let program = program().ok_or("chromium is not installed")?;
    let folder = tempfile::tempdir().map_err(|error| failed("no folder for chromium", error))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| failed("no server on loopback", error))?;
    let address = listener.local_addr().map_err(|error| failed("no server on loopback", error))?;
    let log = folder.path().join("stderr");
    let stderr = std::fs::File::create(&log).map_err(|error| failed("no log", error))?;
    let mut browser = Command::new(program)
        .args(ARGUMENTS)
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("http://{address}/"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map(Running)
        .map_err(|error| failed("chromium does not start", error))?;
    let heard = serve(&listener, texts, &mut browser, begun);
    drop(browser);
    let Heard { verdicts, done } = heard;
    let count = verdicts.len();
    let trouble = |why: &str| {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        format!("{why}, {count} of {} texts compiled; chromium says:\n{log}", texts.len())
    };
    let done = done.ok_or_else(|| trouble("chromium ended, or took too long"))?;
    let Done { adapter, features, trouble: problem } = done.map_err(|error| trouble(&error))?;
    match problem {
        Some(said) => Err(trouble(&said)),
        None if count != texts.len() => Err(trouble("the page left texts out")),
        None => Ok(Session { adapter, features, verdicts, seconds: begun.elapsed().as_secs_f64() }),
    }
}

/// Answers the page until it is done, the browser has ended, or it has taken too long.
fn serve(listener: &TcpListener, texts: &[Text], browser: &mut Running, begun: Instant) -> Heard {
    let heard = Mutex::new(Heard::default());
    let limit = Duration::from_secs(SECONDS_MAX);
    // A browser opens connections beforehand, on which nothing comes: each has a thread of its own.
    std::thread::scope(|scope| {
        while begun.elapsed() < limit {
            let is_done = heard.lock().is_ok_and(|heard| heard.done.is_some());
            if is_done || !matches!(browser.0.try_wait(), Ok(None)) {
                break;
            }
            match listener.accept() {
                Ok((stream, _)) => {
                    let heard = &heard;
                    // A connection that breaks off is the browser's matter: it asks again or not.
                    scope.spawn(move || answer(stream, texts, heard).ok());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        // Connections that are still open end with it.
        let _ = browser.0.kill();
    });
    heard.into_inner().unwrap_or_default()
}

/// Answers one request.
fn answer(mut stream: TcpStream, texts: &[Text], heard: &Mutex<Heard>) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(CONNECTION_SECONDS_MAX)))?;
    stream.set_write_timeout(Some(Duration::from_secs(CONNECTION_SECONDS_MAX)))?;
    let Some((path, body)) = request(&mut stream)? else { return Ok(()) };
    let (kind, content) = match path.as_str() {
        "/" => ("text/html", PAGE.to_owned()),
        path => match path.strip_prefix("/texts/").and_then(|number| number.parse().ok()) {
            Some(number) => ("application/json", batch(texts, number)?),
            None => {
                take(path, &body, heard);
                ("text/plain", String::new())
            }
        },
    };
    let length = content.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(content.as_bytes())
}

/// A batch of texts, empty past the last.
fn batch(texts: &[Text], number: usize) -> std::io::Result<String> {
    let batch = texts.chunks(BATCH).nth(number).unwrap_or_default();
    Ok(serde_json::to_string(batch)?)
}

/// Takes what the page says.
fn take(path: &str, body: &[u8], heard: &Mutex<Heard>) {
    let Ok(mut heard) = heard.lock() else { return };
    let wrong = |error: serde_json::Error| format!("the page's {path} cannot be read: {error}");
    match path {
        "/verdicts" => match serde_json::from_slice::<Vec<Verdict>>(body) {
            Ok(verdicts) => heard.verdicts.extend(verdicts),
            Err(error) => heard.done = Some(Err(wrong(error))),
        },
        "/done" => heard.done = Some(serde_json::from_slice(body).map_err(wrong)),
        // An icon, say.
        _ => {}
    }
}

/// Path and body of a request; `None` if the other side has none.
fn request(stream: &mut TcpStream) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        let count = stream.read(&mut chunk)?;
        if count == 0 || bytes.len() > chunk.len() {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let length = head.lines().filter_map(|line| line.split_once(':'));
    let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.filter_map(|(_, n)| n.trim().parse().ok()).next().unwrap_or(0);
    if length > REQUEST_BYTES_MAX {
        return Ok(None);
    }
    let mut body = bytes.split_off(end);
    while body.len() < length {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(None);
        }
        body.extend_from_slice(&chunk[..count]);
    }
    Ok(Some((path, body)))
}
