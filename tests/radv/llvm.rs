//! The decoder against LLVM's disassembler, which is started for it.
//!
//! Input: `llvm-mc` of any version that knows gfx1030. Output: every number of every format is an opcode here
//! where it is one there, by the same name; every instruction of the code that lanescope brings is printed by
//! LLVM under the mnemonic that stands here.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use lanescope::amd::fields::Format;
use lanescope::amd::{decode, opcodes};
use lanescope::run::radv::brought;

/// What `LANESCOPE_REQUIRE` calls it.
pub(crate) const REQUIRED: &str = "llvm-mc";

const PROGRAMS: [&str; 4] = ["llvm-mc", "llvm-mc-14", "llvm-mc-15", "llvm-mc-19"];

/// Formats with the number of opcodes that their field has room for.
const FORMATS: [(Format, u16); 13] = [
    (Format::Sop2, 1 << 7),
    (Format::Sopk, 1 << 5),
    (Format::Sop1, 1 << 8),
    (Format::Sopc, 1 << 7),
    (Format::Sopp, 1 << 7),
    (Format::Smem, 1 << 8),
    (Format::Vop2, 1 << 6),
    (Format::Vop1, 1 << 8),
    (Format::Vopc, 1 << 8),
    (Format::Vop3, 1 << 10),
    (Format::Vop3p, 1 << 7),
    (Format::Ds, 1 << 8),
    (Format::Mubuf, 1 << 7),
];

/// The program, where there is one that knows the chip.
pub(crate) fn program() -> Result<&'static str, String> {
    let knows = |name: &&&str| {
        printed(name, &[vec![0xbf81_0000]], 32).is_ok_and(|found| found[0].is_some())
    };
    PROGRAMS.iter().find(knows).copied().ok_or_else(|| "there is no llvm-mc".to_owned())
}

/// An instruction of an opcode with plain operands: register 0, or 0 where a register will not do.
fn plain(format: Format, code: u16) -> Vec<u32> {
    let code = u32::from(code);
    let vector = 256;
    let three = vector | vector << 9 | vector << 18;
    match format {
        Format::Sop2 => vec![0x8000_0000 | code << 23],
        Format::Sopk => vec![0xb000_0000 | code << 23],
        Format::Sop1 => vec![0xbe80_0000 | code << 8],
        Format::Sopc => vec![0xbf00_0000 | code << 16],
        Format::Sopp => vec![0xbf80_0000 | code << 16],
        Format::Smem => vec![0xf400_0000 | code << 18, 0xfa00_0000],
        Format::Vop2 => vec![code << 25 | vector, 0],
        Format::Vop1 => vec![0x7e00_0000 | code << 9 | vector],
        Format::Vopc => vec![0x7c00_0000 | code << 17 | vector],
        Format::Vop3 => vec![0xd400_0000 | code << 16, three],
        Format::Vop3p => vec![0xcc00_4000 | code << 16, 0x1800_0000 | three],
        Format::Ds => vec![0xd800_0000 | code << 18, 0],
        Format::Mubuf => vec![0xe000_0000 | code << 18, 0x8000_0000],
    }
}

/// What LLVM prints of each instruction; nothing where it calls it invalid.
fn printed(
    program: &str,
    instructions: &[Vec<u32>],
    wave: u32,
) -> Result<Vec<Option<String>>, String> {
    let size = format!("-mattr=+wavefrontsize{wave},-wavefrontsize{}", 96 - wave);
    // An instruction is a group, behind which stands one that tells the groups apart.
    let mut text = String::new();
    for words in instructions {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let bytes: Vec<String> = bytes.map(|byte| format!("{byte:#04x}")).collect();
        text += &format!("[{}]\n[0x2a,0x00,0x80,0xbf]\n", bytes.join(","));
    }
    let failed = |error: std::io::Error| format!("{program}: {error}");
    let mut child = Command::new(program)
        .args(["-disassemble", "-triple=amdgcn", "-mcpu=gfx1030", &size])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    // Where it ended early, what it printed is too short.
    let _ = writing.join();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Vec::new();
    let mut here: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != ".text") {
        if line.starts_with("s_nop 42") {
            found.push((here.len() == 1).then(|| here[0].clone()));
            here.clear();
        } else {
            let word = line.split_whitespace().next().unwrap_or_default();
            here.push(word.to_owned());
        }
    }
    match found.len() == instructions.len() {
        true => Ok(found),
        false => Err(format!("{program} printed {} of {}", found.len(), instructions.len())),
    }
}

/// A mnemonic without the ending of its encoding, which LLVM leaves out where only one is possible.
fn stem(name: &str) -> &str {
    let endings = ["_e32", "_e64", "_dpp8", "_dpp", "_sdwa"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Numbers whose opcode is here and not there, or by another name, each as `format number: here, there`.
pub(crate) fn differences() -> Vec<String> {
    let program = program().unwrap();
    let mut found = Vec::new();
    for (format, count) in FORMATS {
        let words: Vec<Vec<u32>> = (0..count).map(|code| plain(format, code)).collect();
        let [narrow, wide] = [32, 64].map(|wave| printed(program, &words, wave).unwrap());
        for (code, (narrow, wide)) in (0..count).zip(narrow.into_iter().zip(wide)) {
            let there = narrow.or(wide);
            let here = opcodes::row(format, code).map(|row| row.name);
            let alike = match (&there, here) {
                (Some(there), Some(here)) => stem(there) == here,
                (there, here) => there.is_none() && here.is_none(),
            };
            if !alike {
                found.push(format!("{format:?} {code:#x}: {here:?}, {there:?}"));
            }
        }
    }
    found
}

/// Instructions of a code, of which LLVM prints another mnemonic, by what stands here and there; and how many
/// different ones there were.
pub(crate) fn misprints(codes: &[(u32, &[u32])]) -> (usize, BTreeMap<Vec<u32>, String>) {
    let program = program().unwrap();
    let mut all = 0;
    let mut found = BTreeMap::new();
    for wave in [32, 64] {
        let mut mnemonics: BTreeMap<Vec<u32>, String> = BTreeMap::new();
        for (_, words) in codes.iter().filter(|(of, _)| *of == wave) {
            let mut at = 0;
            while at < words.len() {
                let one = decode(words, at).unwrap();
                mnemonics.insert(words[at..at + one.length].to_vec(), one.mnemonic());
                at += one.length;
            }
        }
        let instructions: Vec<Vec<u32>> = mnemonics.keys().cloned().collect();
        all += instructions.len();
        let there = printed(program, &instructions, wave).unwrap();
        for ((words, here), there) in mnemonics.into_iter().zip(there) {
            if there.as_deref() != Some(here.as_str()) && there.as_deref() != Some(stem(&here)) {
                found.insert(words, format!("{here}, {there:?}"));
            }
        }
    }
    (all, found)
}

/// Numbers whose opcode is here and not there, or by another name, each as [`differences`] words it.
const DIFFERENT: [&str; 0] = [];

pub(super) fn every_number_is_llvms_opcode() {
    let found = differences();
    let unknown: Vec<&String> =
        found.iter().filter(|found| !DIFFERENT.contains(&found.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

pub(super) fn every_instruction_is_printed_alike() {
    let brought = brought::embedded();
    let codes: Vec<(u32, Vec<u32>)> =
        brought.rows().values().map(|row| (row.wave, brought.words(row).to_vec())).collect();
    let codes: Vec<(u32, &[u32])> =
        codes.iter().map(|(wave, words)| (*wave, words.as_slice())).collect();
    let (all, found) = misprints(&codes);
    assert!(all > 5_000 && found.is_empty(), "{all} instructions; {found:#x?}");
}
