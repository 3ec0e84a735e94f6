//! A browser that a test drives: Chromium without a window, told what to do through pipes.
//!
//! Input: pages on disk, expressions. Output: their values, and every address that was asked for.
//! The protocol is Chromium's own (`DevTools`): messages of JSON, each ended by a zero byte, on the
//! files 3 and 4. It ends with the value, and waits for nothing longer than it is told.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::portable::chromium;

/// The longest wait for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(240);

/// Between two looks at a page.
const PAUSE: Duration = Duration::from_millis(100);

/// A running browser with one page.
pub(super) struct Browser {
    child: Child,
    to: File,
    /// Wakes the reader when all is over.
    wake: File,
    heard: Receiver<Value>,
    next: u64,
    session: String,
    /// Every address that a page or a worker asked for.
    pub(super) requests: BTreeSet<String>,
    folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.wake.write_all(b"\0");
    }
}

impl Browser {
    /// Starts it with an empty page.
    pub(super) fn open() -> Result<Self, String> {
        let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
        let program = chromium::program().ok_or("chromium is not installed")?;
        let folder = tempfile::tempdir().map_err(|error| failed("no folder", error))?;
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            let made = Command::new("mkfifo").arg(&path).status();
            made.map_err(|error| failed("mkfifo", error))?;
            // Open for both: nobody waits for the other side.
            let opened = OpenOptions::new().read(true).write(true).open(&path);
            opened.map_err(|error| failed("no pipe", error)).map(|file| (path, file))
        };
        let (to_path, to) = pipe("to")?;
        let (from_path, from) = pipe("from")?;
        let wake = from.try_clone().map_err(|error| failed("no pipe", error))?;
        let log = File::create(folder.path().join("stderr")).map_err(|e| failed("no log", e))?;
        let child = Command::new("sh")
            .arg("-c")
            .arg(r#"in="$0"; out="$1"; shift; exec "$@" 3<"$in" 4>"$out""#)
            .args([&to_path, &from_path])
            .arg(program)
            .args(chromium::ARGUMENTS)
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| failed("chromium does not start", error))?;
        let (sender, heard) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(from).split(0).map_while(Result::ok);
            for message in messages.take_while(|message| !message.is_empty()) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let requests = BTreeSet::new();
        let session = String::new();
        let mut browser = Self { child, to, wake, heard, next: 1, session, requests, folder };
        browser.attach()?;
        Ok(browser)
    }

    fn attach(&mut self) -> Result<(), String> {
        let target = self.ask("Target.createTarget", &json!({"url": "about:blank"}))?;
        let asked = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.ask("Target.attachToTarget", &asked)?;
        session["sessionId"].as_str().unwrap_or_default().clone_into(&mut self.session);
        self.ask("Page.enable", &json!({}))?;
        self.ask("Network.enable", &json!({}))?;
        // Workers of the page are heard too.
        let workers = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        self.ask("Target.setAutoAttach", &workers)?;
        Ok(())
    }

    /// Opens a text as a page on disk, with what stands behind the address.
    #[expect(clippy::disallowed_methods, reason = "a page that a test opens")]
    pub(super) fn show(&mut self, html: &str, fragment: &str) -> Result<(), String> {
        let path = self.folder.path().join("page.html");
        std::fs::write(&path, html).map_err(|error| format!("no page: {error}"))?;
        // The same file with another fragment would not be loaded again.
        self.ask("Page.navigate", &json!({"url": "about:blank"}))?;
        let url = format!("file://{}{fragment}", path.display());
        self.ask("Page.navigate", &json!({"url": url}))?;
        self.wait_for("document.readyState === 'complete'", ANSWER_MAX)
    }

    /// Opens a text as a page of a server on this machine, with what stands behind the address; gives the
    /// address.
    pub(super) fn serve(&mut self, html: &str, fragment: &str) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("no server: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = format!("http://{}/", listener.local_addr().map_err(failed)?);
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
        let answer = format!("{head}Content-Length: {}\r\n\r\n{html}", html.len());
        // It answers as long as the test runs; a connection that breaks off is the browser's matter.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.read(&mut [0; 1 << 14]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        self.ask("Page.navigate", &json!({"url": format!("{address}{fragment}")}))?;
        self.wait_for("document.readyState === 'complete'", ANSWER_MAX)?;
        Ok(address)
    }

    /// The value of an expression in the page; promises are waited for.
    pub(super) fn value(&mut self, expression: &str) -> Result<Value, String> {
        let asked = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let answer = self.ask("Runtime.evaluate", &asked)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(format!("{expression}: {details}")),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// The value of an expression that is a text.
    pub(super) fn text(&mut self, expression: &str) -> Result<String, String> {
        Ok(self.value(expression)?.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until a condition holds in the page.
    #[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
    pub(super) fn wait_for(&mut self, condition: &str, limit: Duration) -> Result<(), String> {
        let begun = Instant::now();
        while self.value(&format!("Boolean({condition})")) != Ok(Value::Bool(true)) {
            if begun.elapsed() > limit {
                let shown = self.text("document.body.innerText");
                return Err(format!("{condition} does not come to hold; the page says {shown:?}"));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Sends a command of the protocol and waits for its answer.
    pub(super) fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.send(id, method, parameters, &self.session.clone())?;
        loop {
            let message = match self.heard.recv_timeout(ANSWER_MAX) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Err(format!("no answer to {method}")),
                Err(RecvTimeoutError::Disconnected) => return Err("the browser ended".to_owned()),
            };
            if message["id"] == json!(id) {
                return match message.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].clone()),
                };
            }
            self.notice(&message)?;
        }
    }

    /// Keeps what is told without being asked.
    fn notice(&mut self, message: &Value) -> Result<(), String> {
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = message["params"]["request"]["url"].as_str().unwrap_or_default();
                self.requests.insert(url.to_owned());
            }
            Some("Target.attachedToTarget") => {
                let worker = message["params"]["sessionId"].as_str().unwrap_or_default();
                let id = self.next;
                self.next += 1;
                self.send(id, "Network.enable", &json!({}), worker)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn send(
        &mut self,
        id: u64,
        method: &str,
        parameters: &Value,
        session: &str,
    ) -> Result<(), String> {
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let text = format!("{message}\0");
        self.to.write_all(text.as_bytes()).map_err(|error| format!("the browser ended: {error}"))
    }
}

/// Whether a text is an address of the machine's own disk or of the page's own making.
pub(super) fn is_local(url: &str) -> bool {
    let local = ["file://", "blob:", "data:", "about:"];
    local.iter().any(|scheme| url.starts_with(scheme))
}

/// A page whose worker has `before` in front of its text and `after` behind.
pub(super) fn with_worker(html: &str, before: &str, after: &str) -> String {
    const BEGIN: &str = r#"<script type="text/plain" id="worker">"#;
    let (head, rest) = html.split_once(BEGIN).unwrap_or((html, ""));
    let (worker, tail) = rest.split_once("</script>").unwrap_or((rest, ""));
    format!("{head}{BEGIN}{before}\n{worker}\n{after}</script>{tail}")
}
