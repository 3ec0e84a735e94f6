//! SPIR-V from its words to lines: modules made from the GLSL in `fixtures` by `fixtures/make`.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, any, prop, proptest};
use spirv::{Decoration, Op, StorageClass};

use super::read_spirv;
use super::words::{Instruction, Instructions};
use crate::binary::SpirV;
use crate::program::{Overrides, Parsed, Program, ProgramError};

const TRIPS: &str = include_str!("fixtures/trips.comp");
const COMMON: &str = include_str!("fixtures/common.glsl");
const MODULES: [&[u8]; 6] = [
    include_bytes!("fixtures/trips.g.spv"),
    include_bytes!("fixtures/trips.gvs.spv"),
    include_bytes!("fixtures/bytes.g.spv"),
    include_bytes!("fixtures/rewritten.g.spv"),
    include_bytes!("fixtures/skips.dxc.spv"),
    include_bytes!("fixtures/skips.slang.spv"),
];
const BYTES: &[u8] = MODULES[2];
const REWRITTEN: &[u8] = MODULES[3];
const DXC: &[u8] = MODULES[4];
const SLANG: &[u8] = MODULES[5];

fn parse(bytes: &[u8]) -> Result<Parsed, ProgramError> {
    Parsed::from_spirv("x.spv", &read_spirv("x.spv", bytes)?)
}

fn program(bytes: &[u8], overrides: &[(&str, f64)]) -> Result<Program, ProgramError> {
    let given: Overrides = overrides.iter().map(|(name, v)| ((*name).to_owned(), *v)).collect();
    parse(bytes)?.resolve("main", &given)
}

/// The line of the text in which a part of it stands first.
fn line_of(program: &Program, part: &str) -> u32 {
    let at = program.text().original().find(part).unwrap_or_else(|| panic!("no {part}"));
    program.text().location(at).line
}

#[test]
fn figures_stand_on_the_lines_of_the_source_and_of_what_it_includes() {
    for bytes in &MODULES[..2] {
        let program = program(bytes, &[]).unwrap();
        let text = program.text();
        assert_eq!(text.file(), "x.spv");
        assert!(text.original().starts_with(TRIPS), "{}", text.original());
        assert!(text.original().ends_with(COMMON), "{}", text.original());
        let parts: Vec<(&str, u32)> =
            text.parts().iter().map(|part| (part.name.as_str(), part.first_line)).collect();
        assert_eq!(parts, [("trips.comp", 1), ("./common.glsl", line_of(&program, COMMON))]);
        let lines: BTreeSet<u32> =
            program.blocks().iter().flat_map(|block| block.lines.keys().copied()).collect();
        let expected = [
            "uint index =",
            "uint count =",
            "if (count",
            "result.sums[index] = work",
            "result.sums[index] = 7u",
            "uint sum = value",
            "for (uint i",
            "sum = sum * 3u",
            "return sum",
        ];
        for part in expected {
            assert!(lines.contains(&line_of(&program, part)), "{part}: {lines:?}");
        }
        let others: Vec<u32> = lines
            .iter()
            .copied()
            .filter(|line| expected.iter().all(|part| line_of(&program, part) != *line))
            .collect();
        // What copies the built-in values stands where the entry point begins.
        assert_eq!(others, [line_of(&program, "void main")]);
    }
}

/// HLSL by DXC, and the same text as Slang, each with lines by `DebugLine` and the text.
#[test]
fn figures_of_hlsl_and_of_slang_stand_on_their_lines() {
    for (bytes, file) in [(DXC, "skips.hlsl"), (SLANG, "/tmp/slang/skips.hlsl")] {
        let program = program(bytes, &[]).unwrap();
        assert_eq!(program.text().parts()[0].name, file);
        let lines: BTreeSet<u32> =
            program.blocks().iter().flat_map(|block| block.lines.keys().copied()).collect();
        let computing = ["count = sums", "for (uint i", "if (i % 3", "sum * 3", "sums[id] = sum"];
        // What names a value, jumps or ends computes nothing.
        let expected = BTreeSet::from(computing.map(|part| line_of(&program, part)));
        assert_eq!(lines, expected, "{file}");
        let condition = line_of(&program, "if (i % 3");
        let flows = program.flows();
        let mut steps = flows.iter().flat_map(|flow| &flow.path);
        assert!(steps.any(|step| step.line == condition), "{file}");
    }
}

#[test]
fn a_loop_that_is_left_from_within_a_switch_is_refused_with_its_line() {
    // The switch has a second case, so that it cannot be taken away.
    let two_cases = changed(SLANG, |module| {
        let switch = module.list.iter_mut().find(|i| i.op == Op::Switch).unwrap();
        let default = switch.word(1);
        switch.words.extend([1, default]);
    });
    let what = "a loop that is left from within a switch";
    assert_refused(&two_cases, SLANG, "for (uint i", what);
}

#[test]
fn an_if_lies_on_the_line_of_its_condition() {
    let program = program(MODULES[0], &[]).unwrap();
    let condition = line_of(&program, "if (count");
    let branches: Vec<u32> =
        program.flows().iter().flat_map(|flow| flow.path.iter().map(|step| step.line)).collect();
    assert!(branches.contains(&condition), "{branches:?}");
    let loops = line_of(&program, "for (uint i");
    assert!(branches.iter().all(|line| [condition, loops].contains(line)), "{branches:?}");
}

#[test]
fn without_a_source_figures_stand_on_the_wgsl_that_naga_writes() {
    let bare = changed(MODULES[0], |module| {
        module.list.retain(|i| !matches!(i.op, Op::String | Op::Source | Op::Line | Op::NoLine));
    });
    let program = program(&bare, &[]).unwrap();
    let text = program.text().original();
    assert!(text.contains("loop {") && text.contains("if "), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    for block in program.blocks() {
        for line in block.lines.keys() {
            let code = lines[*line as usize - 1].trim();
            assert!(!code.is_empty() && !code.starts_with("fn ") && code != "}", "{line}: {code}");
        }
    }
    // The same program as with lines.
    let counts = |program: &Program| -> Vec<u64> {
        program.blocks().iter().map(|block| block.ops).collect()
    };
    assert_eq!(counts(&program), counts(&self::program(MODULES[0], &[]).unwrap()));
}

#[test]
fn constants_take_values_and_decide_sizes() {
    let sizes = |program: &Program| {
        let module = program.module();
        let shelf =
            module.global_variables.iter().find(|(_, v)| v.name.as_deref() == Some("shelf"));
        let (_, shelf) = shelf.unwrap();
        (program.workgroup_size(), module.types[shelf.ty].inner.size(module.to_ctx()))
    };
    let given = [("FACTOR", 5.0), ("7", 32.0)];
    assert_eq!(sizes(&program(REWRITTEN, &given).unwrap()), ([32, 1, 1], 4 * 11));
    assert_eq!(sizes(&program(REWRITTEN, &[]).unwrap()), ([1, 1, 1], 4 * 7));
    let names: Vec<String> =
        parse(REWRITTEN).unwrap().overrides().into_iter().map(|constant| constant.name).collect();
    assert_eq!(names, ["FACTOR", "NOTHING", "SHIFT", "DOUBLED", "constant_7"]);
    for (name, value, part) in [
        ("FACTOR", 1.5, "must be a whole number from 0"),
        ("SHIFT", 3e9, "must be a whole number from -2147483648"),
        ("OTHER", 1.0, "the module has: FACTOR, NOTHING, SHIFT, DOUBLED, constant_7"),
    ] {
        let error = program(REWRITTEN, &[(name, value)]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_naga_cannot_hold_is_named_with_its_line() {
    let error = program(BYTES, &[]).unwrap_err().to_string();
    assert!(error.starts_with("bytes.comp:9: lanescope cannot take 8-bit numbers"), "{error}");
    let error = parse(b"\x03\x02\x23\x07").unwrap_err().to_string();
    assert!(error.contains("shorter than SPIR-V's header"), "{error}");
    let cut = &MODULES[0][..24];
    let error = parse(cut).unwrap_err().to_string();
    assert!(error.contains("cut off in the instruction at word"), "{error}");
    let error = parse(&MODULES[0][..MODULES[0].len() - 3]).unwrap_err().to_string();
    assert!(error.contains("no whole number of words"), "{error}");
}

/// A module in which something is changed.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Instructions)) -> Vec<u8> {
    let (chunks, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = chunks.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut module = Instructions::read(&words).unwrap();
    change(&mut module);
    module.write().iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Puts types and variables before the first line that is said, which is that of the first function.
fn declare(module: &mut Instructions, declared: Vec<Instruction>) {
    let at = module.list.iter().position(|i| i.op == Op::Line).unwrap();
    module.list.splice(at..at, declared);
}

/// Holds that a module made from a shader is refused on the line on which a part of its text stands.
fn assert_refused(changed: &[u8], from: &[u8], part: &str, what: &str) {
    let program = program(from, &[]).unwrap();
    let (file, line) = (&program.text().parts()[0].name, line_of(&program, part));
    let error = parse(changed).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{file}:{line}: lanescope cannot take {what}")), "{error}");
}

/// The operations of each block and their lines.
fn blocks(bytes: &[u8]) -> Vec<String> {
    let program = program(bytes, &[]).unwrap();
    program.blocks().iter().map(|block| format!("{} {:?}", block.ops, block.lines)).collect()
}

#[test]
fn how_loads_and_stores_access_memory_changes_nothing() {
    // MakePointerVisible or MakePointerAvailable, and NonPrivatePointer; then a scope.
    let modern = changed(REWRITTEN, |module| {
        for instruction in &mut module.list {
            match instruction.op {
                Op::Load => instruction.words.extend([0x30, 1]),
                Op::Store => instruction.words.extend([0x28, 1]),
                _ => {}
            }
        }
    });
    assert_ne!(modern, REWRITTEN);
    assert_eq!(blocks(&modern), blocks(REWRITTEN));
}

/// Declares a buffer of bytes, and gives its number.
fn declare_bytes(module: &mut Instructions) -> u32 {
    let [narrow, array, block, pointer, variable] =
        std::array::from_fn(|_| module.fresh().unwrap());
    let class = StorageClass::StorageBuffer as u32;
    let declared = vec![
        Instruction::new(Op::TypeInt, vec![narrow, 8, 0]),
        Instruction::new(Op::TypeRuntimeArray, vec![array, narrow]),
        Instruction::new(Op::TypeStruct, vec![block, array]),
        Instruction::new(Op::TypePointer, vec![pointer, class, block]),
        Instruction::new(Op::Variable, vec![pointer, variable, class]),
    ];
    declare(module, declared);
    let entry = module.list.iter_mut().find(|i| i.op == Op::EntryPoint);
    entry.unwrap().words.push(variable);
    variable
}

/// Has the code ask for the length of a buffer's array, before it stores anything.
fn ask_length(module: &mut Instructions, variable: u32) {
    let length = module.fresh().unwrap();
    let int = module.list.iter().find(|i| i.op == Op::TypeInt && i.words[1..] == [32, 0]);
    let words = vec![int.unwrap().words[0], length, variable, 0];
    let store = module.list.iter().position(|i| i.op == Op::Store).unwrap();
    module.list.insert(store, Instruction::new(Op::ArrayLength, words));
}

/// Declares a buffer of floats at set 0 and binding 0, whose length the code asks for.
fn declare_floats(module: &mut Instructions) {
    let [float, array, block, pointer, variable] = std::array::from_fn(|_| module.fresh().unwrap());
    let class = StorageClass::StorageBuffer as u32;
    let declared = vec![
        Instruction::new(Op::TypeFloat, vec![float, 32]),
        Instruction::new(Op::TypeRuntimeArray, vec![array, float]),
        Instruction::new(Op::TypeStruct, vec![block, array]),
        Instruction::new(Op::TypePointer, vec![pointer, class, block]),
        Instruction::new(Op::Variable, vec![pointer, variable, class]),
    ];
    declare(module, declared);
    let decorated = vec![
        Instruction::new(Op::Decorate, vec![array, Decoration::ArrayStride as u32, 4]),
        Instruction::new(Op::Decorate, vec![block, Decoration::Block as u32]),
        Instruction::new(Op::MemberDecorate, vec![block, 0, Decoration::Offset as u32, 0]),
        Instruction::new(Op::Decorate, vec![variable, Decoration::DescriptorSet as u32, 0]),
        Instruction::new(Op::Decorate, vec![variable, Decoration::Binding as u32, 0]),
    ];
    let at = module.list.iter().position(|i| i.op == Op::Decorate).unwrap();
    module.list.splice(at..at, decorated);
    ask_length(module, variable);
}

/// A module whose first buffer may not be written.
fn read_only(bytes: &[u8]) -> Vec<u8> {
    changed(bytes, |module| {
        let is_first = |i: &Instruction| {
            i.op == Op::Decorate && i.words[1..] == [Decoration::Binding as u32, 0]
        };
        let at = module.list.iter().position(is_first).unwrap();
        let variable = module.list[at].words[0];
        let forbidden = vec![variable, Decoration::NonWritable as u32];
        module.list.insert(at, Instruction::new(Op::Decorate, forbidden));
    })
}

/// A module whose two buffers have the same binding.
fn shared_binding(bytes: &[u8]) -> Vec<u8> {
    changed(bytes, |module| {
        for instruction in module.list.iter_mut().filter(|i| i.op == Op::Decorate) {
            if instruction.words[1] == Decoration::Binding as u32 {
                instruction.words[2] = 0;
            }
        }
    })
}

/// What a module binds: each variable's binding, and whether it may be written.
fn bound(bytes: &[u8]) -> Vec<(u32, bool)> {
    let program = program(bytes, &[]).unwrap();
    let variables = program.module().global_variables.iter();
    let bound = variables.filter_map(|(_, variable)| {
        let naga::AddressSpace::Storage { access } = variable.space else { return None };
        Some((variable.binding?.binding, access.contains(naga::StorageAccess::STORE)))
    });
    bound.collect()
}

#[test]
fn variables_of_one_type_at_one_binding_are_one() {
    let apart = read_only(MODULES[0]);
    let shared = shared_binding(&apart);
    assert_eq!(bound(&apart), [(0, false), (1, true)]);
    // What either may be written through may be written.
    assert_eq!(bound(&shared), [(0, true)]);
    assert_eq!(blocks(&shared), blocks(&apart));
}

#[test]
fn bytes_are_left_out_where_no_code_takes_them_and_refused_with_the_line_that_does() {
    let unused = changed(MODULES[0], |module| {
        declare_bytes(module);
    });
    assert_eq!(blocks(&unused), blocks(MODULES[0]));
    let counted = changed(MODULES[0], |module| {
        let variable = declare_bytes(module);
        ask_length(module, variable);
    });
    assert_refused(&counted, MODULES[0], "uint index =", "8-bit numbers");
}

#[test]
fn what_naga_refuses_without_a_place_has_the_line_that_takes_it() {
    let shared = changed(MODULES[0], declare_floats);
    let what = "variables that share set 0 and binding 0 (";
    assert_refused(&shared, MODULES[0], "uint count =", what);
    let infinite = changed(REWRITTEN, |module| {
        let quarter =
            |i: &&mut Instruction| i.op == Op::Constant && i.words[2..] == [0.25_f32.to_bits()];
        module.list.iter_mut().find(quarter).unwrap().words[2] = f32::INFINITY.to_bits();
    });
    assert_refused(&infinite, REWRITTEN, "modf(", "a constant that is infinite or no number");
    let longer = changed(REWRITTEN, |module| {
        let ballot = module.list.iter_mut().find(|i| i.op == Op::GroupNonUniformBallot);
        ballot.unwrap().words.push(1);
    });
    let what = "OpGroupNonUniformBallot with 5 operands";
    assert_refused(&longer, REWRITTEN, "uvec4 odd = subgroupBallot", what);
}

#[test]
fn the_other_order_of_bytes_is_read_as_well() {
    let swapped: Vec<u8> =
        MODULES[0].chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
    assert!(SpirV::is(&swapped) && SpirV::is(MODULES[0]) && !SpirV::is(b"fn main"));
    assert_eq!(read_spirv("x", &swapped).unwrap(), read_spirv("x", MODULES[0]).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    /// Whatever words there are, there is a program or an error.
    #[test]
    fn words_that_are_changed_never_panic(
        which in 0..MODULES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), any::<u8>()), 1..6),
    ) {
        let mut words: Vec<u32> = MODULES[which]
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        for (index, value, way) in changes {
            let at = index.index(words.len());
            // Most words are ids and small numbers.
            match way % 4 {
                0 => words[at] = value,
                1 => words[at] = value % 200,
                2 => words[at] = words[at].wrapping_add(value % 3).wrapping_sub(1),
                _ => {
                    words.remove(at);
                }
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Ok(parsed) = parse(&bytes) {
            for entry in parsed.entry_points() {
                let _ = parsed.resolve(entry, &Overrides::new()).map(|program| program.interface());
            }
        }
    }
}
