//! SPIR-V that naga does not read as it is: the rewritten module computes what the original says.

use super::config;
use crate::program::{Overrides, Parsed, Program, read_spirv};
use crate::simulate::{Compiled, Memory};

const REWRITTEN: &[u8] = include_bytes!("../../program/spirv/fixtures/rewritten.g.spv");

/// One text by DXC as HLSL, and as Slang.
const SKIPS: [&[u8]; 2] = [
    include_bytes!("../../program/spirv/fixtures/skips.dxc.spv"),
    include_bytes!("../../program/spirv/fixtures/skips.slang.spv"),
];

/// Words that the shader writes for each invocation.
const WORDS: usize = 24;

/// Structures that it copies.
const PAIRS: [[u32; 2]; 2] = [[9, 2], [8, 3]];

fn program(module: &[u8], overrides: &[(&str, f64)]) -> Program {
    let given: Overrides = overrides.iter().map(|(name, v)| ((*name).to_owned(), *v)).collect();
    let parsed = Parsed::from_spirv("x.spv", &read_spirv("x.spv", module).unwrap());
    parsed.unwrap().resolve("main", &given).unwrap_or_else(|error| panic!("{error}"))
}

/// What the shader writes at a lane of a full subgroup of `width`.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "words are what is written"
)]
fn expected(lane: u32, width: u32) -> [u32; WORDS] {
    let product = u64::from(0xffff_fff1 - lane) * 0x8000_0003;
    let signed = (i64::from(lane) - 9) * 0x4000_0001;
    let (sum, carry) = 0xffff_fff8_u32.overflowing_add(lane);
    let (difference, borrow) = lane.overflowing_sub(5);
    let quarter = f64::from(lane) * 0.25 + 1.0;
    [
        (product >> 32) as u32,
        product as u32,
        (signed >> 32) as u32,
        signed as u32,
        sum,
        carry.into(),
        difference,
        borrow.into(),
        width / 2,
        lane.div_ceil(2),
        lane / 2,
        1,
        width - 1,
        lane % 2,
        1 - lane % 2,
        u32::from(lane == 0),
        u32::from(width <= 64),
        0,
        lane / 2,
        (lane as i32 - 4).rem_euclid(3) as u32,
        (quarter.fract() * 4.0) as u32,
        quarter.trunc() as u32,
        11 + 3 + 100,
        lane % 11 + PAIRS[lane as usize % 2][0] - PAIRS[lane as usize % 2][1],
    ]
}

#[test]
fn what_is_rewritten_computes_the_same() {
    for width in [16, 32, 64, 128] {
        let given = [("FACTOR", 5.0), ("SHIFT", 1.0), ("DOUBLED", 1.0), ("7", f64::from(width))];
        let program = program(REWRITTEN, &given);
        let mut memory = Memory::new();
        memory.bind(0, 0, &vec![0; WORDS * 4 * width as usize]);
        let pairs: Vec<u8> = PAIRS.as_flattened().iter().flat_map(|w| w.to_le_bytes()).collect();
        memory.bind(0, 1, &pairs);
        let compiled = Compiled::new(&program).unwrap();
        compiled.run([1, 1, 1], &mut memory, &config(width)).unwrap();
        let words = written(&memory);
        for (lane, found) in (0..width).zip(words.chunks(WORDS)) {
            assert_eq!(found, expected(lane, width), "lane {lane} of {width}");
        }
    }
}

/// The words that a shader left at its first binding.
fn written(memory: &Memory) -> Vec<u32> {
    let bytes = memory.bytes(0, 0).unwrap();
    bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
}

/// A loop in which `continue` stands, which Slang writes as a switch of one case from within which the loop is left.
#[test]
fn loops_of_dxc_and_slang_end_where_their_text_says() {
    let sum = |count: u32| {
        let taken = (0..count).filter(|i| i % 3 != 1);
        taken.fold(0_u32, |sum, i| sum.wrapping_mul(3).wrapping_add(i))
    };
    let counts: Vec<u32> = (0..64).map(|lane| lane * 7 % 20).collect();
    let expected: Vec<u32> = counts.iter().map(|count| sum(*count)).collect();
    for module in SKIPS {
        let program = program(module, &[]);
        let mut memory = Memory::new();
        let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        memory.bind(0, 0, &bytes);
        let compiled = Compiled::new(&program).unwrap();
        compiled.run([1, 1, 1], &mut memory, &config(32)).unwrap();
        assert_eq!(written(&memory), expected);
    }
}
