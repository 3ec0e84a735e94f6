//! The interpreter against values worked out by hand.
//!
//! Input: [`cases`], one line an instruction; small programs as words. Output: none, only whether
//! they hold.

mod cases;
mod listing;
mod programs;

use super::decode::decode;
use super::fields::{EXEC, VCC};
use super::opcodes::OpcodeAction;
use super::wave::Wave;

/// One instruction with registers before and after.
pub(super) struct Case {
    /// As an assembler takes it.
    text: &'static str,
    /// Its words.
    words: &'static [u32],
    /// Registers before.
    before: &'static str,
    /// Registers after: those that are named are compared.
    after: &'static str,
}

/// The values of a register: one for all lanes, or one for each of the first lanes.
fn values(text: &str) -> Vec<u32> {
    if text == "lane" {
        return (0..64).collect();
    }
    text.split(',').map(value).collect()
}

fn value(text: &str) -> u32 {
    let real = |text: &str| text.parse::<f32>().map(f32::to_bits).ok();
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.contains('.') || text == "nan" || text == "inf" => real(text),
        None => text.parse().ok(),
    }
    .unwrap_or_else(|| panic!("{text:?} is no value"))
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().map(|pair| pair.split_once('=').unwrap())
}

/// The scalar register of a name.
fn scalar(name: &str) -> Option<u8> {
    match name {
        "exec" => Some(EXEC),
        "vcc" => Some(VCC),
        "null" => Some(super::fields::NULL),
        _ => name.strip_prefix('s').and_then(|number| number.parse().ok()),
    }
}

fn vector(name: &str) -> u8 {
    name.strip_prefix('v').and_then(|number| number.parse().ok()).unwrap()
}

fn prepared(case: &Case, width: u32) -> Wave {
    let mut wave = Wave::new(width, 16);
    for (name, given) in pairs(case.before) {
        let given = values(given);
        match (name, scalar(name)) {
            ("scc", _) => wave.scc = given[0] != 0,
            (_, Some(register)) => wave.set_scalar(register, given[0]),
            _ => {
                for lane in 0..width as usize {
                    let value = given.get(lane).copied().unwrap_or(given[0]);
                    wave.set_lane(vector(name), lane, value);
                }
            }
        }
    }
    wave
}

/// Executes the case at a width and compares every register that it names.
fn check(case: &Case, width: u32) {
    let instruction = decode(case.words, 0).unwrap();
    assert_eq!(instruction.length, case.words.len(), "{}", case.text);
    let name = case.text.split_whitespace().next().unwrap();
    let printed = instruction.mnemonic();
    // The assembler leaves out the suffix where the operands decide.
    let alike =
        printed == name || printed == format!("{name}_e32") || printed == format!("{name}_e64");
    assert!(alike, "{printed} for {}", case.text);
    let mut wave = prepared(case, width);
    let exec = wave.exec();
    match instruction.row.run {
        OpcodeAction::Scalar(act)
        | OpcodeAction::Vector(act)
        | OpcodeAction::VectorToScalar(act)
        | OpcodeAction::Lane(act) => {
            act(&mut wave, &instruction);
        }
        other => panic!("{}: {other:?}", case.text),
    }
    for (name, expected) in pairs(case.after) {
        let expected = values(expected);
        match (name, scalar(name)) {
            ("scc", _) => assert_eq!(wave.scc, expected[0] != 0, "{}: scc", case.text),
            (_, Some(register)) => {
                let got = wave.scalar(register);
                assert_eq!(got, expected[0], "{}: {name} is {got:#x}", case.text);
            }
            _ => {
                let all = expected.len() == 1;
                for lane in 0..if all { width as usize } else { expected.len() } {
                    if all && exec >> lane & 1 == 0 {
                        continue;
                    }
                    let wanted = if all { expected[0] } else { expected[lane] };
                    let got = wave.lane(vector(name), lane);
                    assert_eq!(got, wanted, "{}: {name} of lane {lane} is {got:#x}", case.text);
                }
            }
        }
    }
}

/// Checks a group in waves of 32, and in waves of 64 where it does not speak of a mask of 32 lanes.
fn check_group(group: &[Case], wide: bool) {
    for case in group {
        check(case, 32);
        if wide {
            check(case, 64);
        }
    }
}

#[test]
fn scalar_arithmetic() {
    check_group(cases::SCALAR_ARITHMETIC, true);
}

#[test]
fn scalar_bits() {
    check_group(cases::SCALAR_BITS, true);
}

#[test]
fn scalar_comparisons() {
    check_group(cases::SCALAR_COMPARISONS, true);
}

#[test]
fn masks_of_lanes() {
    check_group(cases::MASKS_OF_LANES, false);
}

#[test]
fn vector_integers() {
    check_group(cases::VECTOR_INTEGERS, false);
}

#[test]
fn vector_bits() {
    check_group(cases::VECTOR_BITS, true);
}

#[test]
fn vector_reals() {
    check_group(cases::VECTOR_REALS, true);
}

#[test]
fn halves() {
    check_group(cases::HALVES, true);
}

#[test]
fn single_lanes() {
    check_group(cases::SINGLE_LANES, false);
}

#[test]
fn rows() {
    check_group(cases::ROWS, false);
}

#[test]
fn parts() {
    check_group(cases::PARTS, false);
}

#[test]
fn double() {
    check_group(cases::DOUBLE, true);
}

/// Denormal f32 are zeros with their sign where the mode flushes them, as sources and as results, and are kept where
/// it does not; f16 keep theirs in both.
#[test]
fn denormals_are_flushed_where_the_mode_says_so() {
    let result = |word: u32, kept32: u32, [a, b]: [u32; 2]| {
        let instruction = decode(&[word], 0).unwrap();
        let OpcodeAction::Vector(act) = instruction.row.run else {
            panic!("{}", instruction.mnemonic())
        };
        let mut wave = Wave::new(32, 16);
        wave.kept32 = kept32;
        wave.set_lane(0, 0, a);
        wave.set_lane(1, 0, b);
        act(&mut wave, &instruction);
        wave.lane(2, 0)
    };
    // v_add_f32_e32, v_mul_f32_e32 and v_add_f16_e32, of v2, v0, v1.
    let (add, multiply, add16) = (0x0604_0300, 0x1004_0300, 0x6404_0300);
    let (half, two, least_normal) = (0x3f00_0000, 0x4000_0000, 0x0080_0000);
    for (word, sources, flushed, kept) in [
        (add, [3, 0], 0, 3),
        (add, [0x8000_0003, 0x8000_0000], 0x8000_0000, 0x8000_0003),
        (multiply, [least_normal, half], 0, 0x0040_0000),
        (multiply, [0x0040_0000, two], 0, least_normal),
        (add16, [3, 0], 3, 3),
    ] {
        // As a wave begins, and as one whose mode keeps them.
        assert_eq!(result(word, 0x8000_0000, sources), flushed, "{word:#x} {sources:x?}");
        assert_eq!(result(word, u32::MAX, sources), kept, "{word:#x} {sources:x?}");
    }
}

/// A multiply-add rounds once: against the C library's, on random bits of every size.
#[test]
fn a_multiply_add_rounds_once() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from_bits((state >> 16) as u32)
    };
    for _ in 0..200_000 {
        let (a, b) = (next(), next());
        // Near the product half of the time, where rounding twice would show.
        let far = next();
        let near = f32::from_bits((a * b).to_bits() ^ (far.to_bits() >> 12)) * 0.5;
        for c in [far, near, -(a * b)] {
            let (got, wanted) = (super::math::fuse(a, b, c), a.mul_add(b, c));
            let alike = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
            assert!(alike, "{a:e} * {b:e} + {c:e}: {got:e}, not {wanted:e}");
        }
    }
}
