//! The decoder against LLVM's disassembler, which is started for it.
//!
//! Input: `llvm-mc` of any version that knows gfx1030. Output: every number of every format is an opcode here
//! where it is one there, by the same name; every instruction of the code that lanescope brings is printed by
//! LLVM under the mnemonic that stands here.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use lanescope::amd::decode;
use lanescope::amd::fields::Format;
use lanescope::run::radv::brought;

/// What `LANESCOPE_REQUIRE` calls it.
pub(crate) const REQUIRED: &str = "llvm-mc";

const PROGRAMS: [&str; 4] = ["llvm-mc", "llvm-mc-14", "llvm-mc-15", "llvm-mc-19"];

/// Formats with the number of opcodes that their field has room for; what is above is another format's.
const FORMATS: [(Format, u16); 13] = [
    (Format::Sop2, 0x60),
    (Format::Sopk, 0x1d),
    (Format::Sop1, 1 << 8),
    (Format::Sopc, 1 << 7),
    (Format::Sopp, 1 << 7),
    (Format::Smem, 1 << 8),
    (Format::Vop2, 0x3e),
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

/// Instructions of an opcode with plain operands, register 0 or 0: as one of them it can be printed, by what
/// sources it takes.
fn plain(format: Format, code: u16) -> Vec<Vec<u32>> {
    let code = u32::from(code);
    let (vector, vcc) = (256, 106);
    let two = vector | vector << 9;
    let sources = [two | vector << 18, two, two | vcc << 18, 0];
    match format {
        Format::Sop2 => vec![vec![0x8000_0000 | code << 23]],
        Format::Sopk => vec![vec![0xb000_0000 | code << 23]],
        Format::Sop1 => vec![vec![0xbe80_0000 | code << 8]],
        Format::Sopc => vec![vec![0xbf00_0000 | code << 16]],
        Format::Sopp => vec![vec![0xbf80_0000 | code << 16]],
        Format::Smem => vec![vec![0xf400_0000 | code << 18, 0xfa00_0000]],
        Format::Vop2 => vec![vec![code << 25 | vector], vec![code << 25 | vector, 0]],
        Format::Vop1 => vec![vec![0x7e00_0000 | code << 9 | vector]],
        Format::Vopc => vec![vec![0x7c00_0000 | code << 17 | vector]],
        Format::Vop3 => sources.map(|sources| vec![0xd400_0000 | code << 16, sources]).to_vec(),
        Format::Vop3p => {
            sources.map(|sources| vec![0xcc00_4000 | code << 16, 0x1800_0000 | sources]).to_vec()
        }
        // Of the workgroup's memory, and of that of all.
        Format::Ds => [0, 1 << 17].map(|all| vec![0xd800_0000 | code << 18 | all, 0]).to_vec(),
        Format::Mubuf => vec![vec![0xe000_0000 | code << 18, 0x8000_0000]],
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

/// Opcodes of which one is here and not there, or by another name, as `format: here, there`.
fn differences() -> Vec<String> {
    let program = program().unwrap();
    let mut found = Vec::new();
    for (format, count) in FORMATS {
        let forms: Vec<(u16, Vec<u32>)> = (0..count)
            .flat_map(|code| plain(format, code).into_iter().map(move |words| (code, words)))
            .collect();
        let words: Vec<Vec<u32>> = forms.iter().map(|(_, words)| words.clone()).collect();
        let [narrow, wide] = [32, 64].map(|wave| printed(program, &words, wave).unwrap());
        let mut there: BTreeMap<u16, String> = BTreeMap::new();
        let mut here: BTreeMap<u16, String> = BTreeMap::new();
        for ((code, words), printed) in forms.iter().zip(narrow.into_iter().zip(wide)) {
            if let Some(name) = printed.0.or(printed.1) {
                there.insert(*code, stem(&name).to_owned());
            }
            if let Ok(instruction) = decode(words, 0) {
                here.insert(*code, stem(&instruction.mnemonic()).to_owned());
            }
        }
        for code in 0..count {
            let (here, there) = (here.get(&code), there.get(&code));
            if here != there {
                let name =
                    |name: Option<&String>| name.map_or("nothing", String::as_str).to_owned();
                found.push(format!("{format:?}: {}, {}", name(here), name(there)));
            }
        }
    }
    found
}

/// Instructions of codes of which LLVM prints another mnemonic, by what stands here and there; and how many
/// different ones there were.
fn misprints(codes: &[(u32, &[u32])]) -> (usize, BTreeMap<Vec<u32>, String>) {
    let program = program().unwrap();
    let mut all = 0;
    let mut found = BTreeMap::new();
    for wave in [32, 64] {
        let mut mnemonics: BTreeMap<Vec<u32>, String> = BTreeMap::new();
        for (_, words) in codes.iter().filter(|(waves, _)| *waves == wave) {
            let mut at = 0;
            while at < words.len() {
                let instruction = decode(words, at).unwrap();
                mnemonics
                    .insert(words[at..at + instruction.length].to_vec(), instruction.mnemonic());
                at += instruction.length;
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

/// Opcodes that are known on one side alone, as [`differences`] words them: those for other stages than compute,
/// for debuggers and for what all workgroups share, which are refused as unknown numbers; and long forms that
/// LLVM's opcodes do not have and no compiler writes.
const DIFFERENT: [&str; 23] = [
    "Sopk: nothing, s_version",
    "Sop1: nothing, s_rfe_b64",
    "Sopp: nothing, s_wakeup",
    "Sopp: nothing, s_endpgm_saved",
    "Sopp: nothing, s_endpgm_ordered_ps_done",
    "Sopp: nothing, s_code_end",
    "Sopp: nothing, s_wait_idle",
    "Vop1: nothing, v_pipeflush",
    "Vop1: nothing, v_clrexcp",
    "Vop3: nothing, v_pipeflush",
    "Vop3: nothing, v_clrexcp",
    "Vop3: nothing, v_interp_p1_f32",
    "Vop3: nothing, v_interp_p2_f32",
    "Vop3: nothing, v_interp_mov_f32",
    "Ds: nothing, ds_gws_sema_release_all",
    "Ds: nothing, ds_gws_sema_v",
    "Ds: nothing, ds_gws_sema_p",
    "Vop3: v_dot2c_f32_f16, nothing",
    "Vop3: v_dot4c_i32_i8, nothing",
    "Vop3: v_pk_fmac_f16, nothing",
    "Vop3: v_readfirstlane_b32, nothing",
    "Vop3: v_swap_b32, nothing",
    "Vop3: v_swaprel_b32, nothing",
];

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
    // The known misprint, whose words are fixtures of the decoder's own tests: a load into registers of which the
    // last are VCC.
    let known = |words: &Vec<u32>| {
        let instruction = decode(words, 0).unwrap();
        instruction.mnemonic() == "s_buffer_load_dwordx4" && instruction.destination == 104
    };
    let unknown: Vec<_> = found.iter().filter(|(words, _)| !known(words)).collect();
    assert!(all > 5_000 && unknown.is_empty(), "{all} instructions; {unknown:#x?}");
}
