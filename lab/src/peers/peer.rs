//! The other side: a program that takes one sample for each line it reads.
//!
//! Input: a command and its arguments. Output: nanoseconds a call. The process is ended when the
//! peer is dropped: its standard input closes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running peer.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts `command`, words separated by spaces, with `arguments`, and waits until it is ready.
    pub(crate) fn start(command: &str, arguments: &[String]) -> Result<Self> {
        let mut words = command.split_whitespace();
        let program = words.next().context("the peer's command is empty")?;
        let mut child = Command::new(program)
            .args(words)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{command} cannot be started"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the peer has no output")?);
        let mut peer = Self { child, input, output };
        let line = peer.line()?;
        if line != "ready" {
            bail!("{command} {} said {line:?}, not ready", arguments.join(" "));
        }
        Ok(peer)
    }

    /// Takes a sample: nanoseconds a call.
    pub(crate) fn sample(&mut self) -> Result<f64> {
        writeln!(self.input.as_mut().context("the peer has no input")?)?;
        let line = self.line()?;
        line.parse().with_context(|| format!("the peer said {line:?}, no number"))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended = self.child.wait();
    }
}
