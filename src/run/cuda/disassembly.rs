//! Disassembling machine code with NVIDIA's tools, where one is found.
//!
//! Input: a cubin, a function's name. Output: the text of each instruction by its offset. `nvdisasm`
//! is looked for first, then `cuobjdump`: in `LANESCOPE_DISASSEMBLER` (a file or a folder), in `PATH`,
//! and where CUDA's installer puts them. The tools read files only, so that the code is in a file of
//! the system's temporary folder while they run.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable that names the disassembler's file or folder.
pub const VARIABLE: &str = "LANESCOPE_DISASSEMBLER";

/// How to get one, as a clause.
pub const HOW_TO_GET: &str = "`pip install nvidia-cuda-nvdisasm`, or CUDA's toolkit, brings nvdisasm; \
                              name its folder in LANESCOPE_DISASSEMBLER or PATH";

/// The tools.
const NAMES: [&str; 4] = ["nvdisasm", "cuobjdump", "nvdisasm.exe", "cuobjdump.exe"];

/// Where CUDA's installer puts them.
const FOLDERS: [&str; 2] = ["/usr/local/cuda/bin", "/opt/cuda/bin"];

/// How long one may work.
const LIMIT: Duration = Duration::from_secs(20);

/// A tool that disassembles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembler {
    path: PathBuf,
    /// Its name and version.
    words: String,
}

/// Why there are no texts of instructions.
#[derive(Debug, thiserror::Error)]
pub enum DisassemblyError {
    /// There is no tool.
    #[error("no disassembler was found, so that instructions have offsets alone; {HOW_TO_GET}")]
    Missing,
    /// The tool did not do its work.
    #[error("{tool} did not disassemble: {why}")]
    Failed {
        /// The tool.
        tool: String,
        /// What it said.
        why: String,
    },
}

impl Disassembler {
    /// Finds a tool.
    ///
    /// # Errors
    ///
    /// [`DisassemblyError::Missing`] where there is none.
    pub fn find() -> Result<Self, DisassemblyError> {
        let places: Vec<PathBuf> = match std::env::var_os(VARIABLE) {
            Some(named) => std::env::split_paths(&named).collect(),
            None => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let installed = FOLDERS.into_iter().map(PathBuf::from);
                std::env::split_paths(&path).chain(installed).collect()
            }
        };
        let named = |place: &PathBuf| place.is_file().then(|| place.clone());
        let inside = NAMES.iter().flat_map(|name| places.iter().map(move |p| p.join(name)));
        let found = places.iter().filter_map(named).chain(inside).find(|file| file.is_file());
        let path = found.ok_or(DisassemblyError::Missing)?;
        let mut tool = Self { words: name(&path), path };
        let printed = tool.run(&["--version".as_ref()])?;
        let version =
            printed.lines().find_map(|line| line.split_once("release ")).map(|(_, rest)| {
                rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>()
            });
        if let Some(version) = version {
            tool.words += &format!(" {version}");
        }
        Ok(tool)
    }

    /// The tool's name and version.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The texts of a function's instructions by offset.
    ///
    /// # Errors
    ///
    /// [`DisassemblyError::Failed`] with what the tool says.
    pub fn texts(
        &self,
        cubin: &[u8],
        function: &str,
    ) -> Result<BTreeMap<u32, String>, DisassemblyError> {
        let failed = |error: std::io::Error| self.to_error(error.to_string());
        let file = Temporary::new(cubin).map_err(failed)?;
        let option = if name(&self.path).starts_with("nvdisasm") { "-c" } else { "-sass" };
        let text = self.run(&[option.as_ref(), file.0.as_os_str()])?;
        let texts = parse(&text, function);
        if texts.is_empty() {
            return Err(self.to_error(format!("its output has no function `{function}`")));
        }
        Ok(texts)
    }

    fn to_error(&self, why: String) -> DisassemblyError {
        DisassemblyError::Failed { tool: self.words.clone(), why }
    }

    /// Runs the tool, and gives what it writes.
    fn run(&self, arguments: &[&std::ffi::OsStr]) -> Result<String, DisassemblyError> {
        let failed = |error: std::io::Error| self.to_error(error.to_string());
        let mut child = Command::new(&self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reading = std::thread::spawn(move || all_of(out));
        let complaining = std::thread::spawn(move || all_of(err));
        #[expect(clippy::disallowed_methods, reason = "a limit on waiting, in `run`")]
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if start.elapsed() > LIMIT {
                // It may be gone already, which is what is wanted.
                let _ = child.kill();
                let _ = child.wait();
                return Err(self.to_error(format!("not within {} s", LIMIT.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = reading.join().unwrap_or_default();
        let complaint = complaining.join().unwrap_or_default();
        if !status.success() {
            let last = complaint.lines().last().unwrap_or("no message").to_owned();
            return Err(self.to_error(last));
        }
        Ok(text)
    }
}

fn all_of(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What could be read before a failure is worth having.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A tool's name without folder and ending.
fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A file that goes with its owner.
struct Temporary(PathBuf);

impl Temporary {
    fn new(content: &[u8]) -> std::io::Result<Self> {
        let folder = std::env::temp_dir();
        let process = std::process::id();
        for number in 0..64_u32 {
            let path = folder.join(format!("lanescope-{process}-{number}.cubin"));
            // Nobody else's file is written over.
            match std::fs::File::options().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let made = Self(path);
                    file.write_all(content)?;
                    return Ok(made);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other("the temporary folder has too many such files"))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whoever took it away has done what is wanted.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Reads what either tool writes: a line an instruction, `/*0010*/ S2R R0, SR_TID.X ;`, after a line
/// that names the function; `nvdisasm` names the targets of branches, which become offsets here.
fn parse(text: &str, function: &str) -> BTreeMap<u32, String> {
    let section = format!(".text.{function}:");
    let heading = format!("Function : {function}");
    let mut here = false;
    let mut texts = BTreeMap::new();
    let mut labels: BTreeMap<&str, u32> = BTreeMap::new();
    let mut waiting: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line == section || line == heading {
            here = true;
        } else if [".text.", "Function : ", ".section"].iter().any(|new| line.starts_with(new)) {
            here = false;
        } else if !here {
            continue;
        } else if let Some(label) = line.strip_suffix(':') {
            waiting.push(label);
        } else if let Some((offset, instruction)) = instruction(line) {
            labels.extend(waiting.drain(..).map(|label| (label, offset)));
            texts.insert(offset, instruction.to_owned());
        }
    }
    for text in texts.values_mut() {
        if let Some((before, rest)) = text.split_once("`(")
            && let Some((label, after)) = rest.split_once(')')
            && let Some(offset) = labels.get(label)
        {
            *text = format!("{before}{offset:#x}{after}");
        }
    }
    texts
}

/// The offset and the text of an instruction's line.
fn instruction(line: &str) -> Option<(u32, &str)> {
    let (offset, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    let (text, _) = rest.split_once(';')?;
    Some((offset, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVDISASM: &str = "\
//--------------------- .text.sealed              --------------------------
	.section	.text.sealed,\"ax\",@progbits
sealed:
.text.sealed:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   BSSY B0, `(.L_x_0) ;
.L_x_1:
        /*0020*/               @P0 BRA `(.L_x_1) ;
.L_x_0:
        /*0030*/                   CALL.REL.NOINC `(somewhere) ;
        .section .text.other,\"ax\",@progbits
.text.other:
        /*0000*/                   EXIT ;
";

    const CUOBJDUMP: &str = "\
	code for sm_90
		Function : other
        /*0000*/                   NOP ;                          /* 0x00000a00ff017b82 */
		Function : sealed
	.headerflags	@\"EF_CUDA_TEXMODE_UNIFIED\"
        /*0000*/                   LDC R1, c[0x0][0x28] ;         /* 0x00000a00ff017b82 */
                                                                  /* 0x000e220000000800 */
        /*0010*/               @P0 EXIT ;                         /* 0x000000000000094d */
";

    #[test]
    fn both_tools_are_understood() {
        let texts: Vec<(u32, String)> = parse(NVDISASM, "sealed").into_iter().collect();
        let expected = [
            (0, "LDC R1, c[0x0][0x28]"),
            (16, "BSSY B0, 0x30"),
            (32, "@P0 BRA 0x20"),
            (48, "CALL.REL.NOINC `(somewhere)"),
        ];
        assert_eq!(texts, expected.map(|(offset, text)| (offset, text.to_owned())));
        let texts: Vec<(u32, String)> = parse(CUOBJDUMP, "sealed").into_iter().collect();
        let expected = [(0, "LDC R1, c[0x0][0x28]"), (16, "@P0 EXIT")];
        assert_eq!(texts, expected.map(|(offset, text)| (offset, text.to_owned())));
        assert!(parse(CUOBJDUMP, "absent").is_empty());
    }

    #[test]
    fn temporary_files_go() {
        let path = {
            let file = Temporary::new(b"code").unwrap();
            assert_eq!(std::fs::read(&file.0).unwrap(), b"code");
            file.0.clone()
        };
        assert!(!path.exists());
    }
}
