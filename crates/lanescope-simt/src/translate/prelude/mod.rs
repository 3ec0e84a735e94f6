//! What stands before the translated functions: types and helper functions, only as used.
//!
//! Input: the names that the translation asks for. Output: their C++ text, each after what it needs.
//! The texts are the `.cuh` files beside this one: in them a line `//# name: other, another` begins a
//! piece and names those that it needs, which stand before it; what stands before the first such
//! line is for readers. Functions that go component by component over vectors are made where they
//! are needed ([`Prelude::lift`]).
//!
//! Integer rules are WGSL's and those of `simulate`: `x / 0` is x, `x % 0` is 0, the most negative
//! number divided by −1 is itself; conversions from floats saturate to the outermost values that the
//! float type holds exactly, and give 0 for NaN.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use indexmap::IndexMap;

/// The files, in an order in which each piece follows what it needs.
const FILES: [&str; 8] = [
    include_str!("types.cuh"),
    include_str!("flow.cuh"),
    include_str!("memory.cuh"),
    include_str!("subgroups.cuh"),
    include_str!("integers.cuh"),
    include_str!("conversions.cuh"),
    include_str!("floats.cuh"),
    include_str!("packing.cuh"),
];

/// WGSL's names of scalar types, which stand before everything.
const ALIASES: &str = include_str!("aliases.cuh");

/// All pieces.
static PIECES: LazyLock<Vec<Piece>> =
    LazyLock::new(|| FILES.into_iter().flat_map(pieces).collect());

/// A named part of the prelude.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    /// What the translation asks for.
    name: &'static str,
    /// Pieces that it needs.
    needs: Vec<&'static str>,
    /// C++, without its last line's end.
    text: &'static str,
}

/// The pieces of a file.
fn pieces(file: &'static str) -> impl Iterator<Item = Piece> {
    file.split("\n//# ").skip(1).map(|piece| {
        let (head, text) = piece.split_once('\n').unwrap_or((piece, ""));
        let (name, needs) = head.split_once(": ").unwrap_or((head, ""));
        let needs = needs.split(", ").filter(|need| !need.is_empty()).collect();
        // The empty line before the next piece is no part of this one.
        Piece { name, needs, text: text.trim_end_matches('\n') }
    })
}

/// The pieces that a translation uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Prelude {
    used: BTreeSet<usize>,
    /// Functions made for this module, by signature, each after what it calls.
    lifted: IndexMap<String, String>,
}

impl Prelude {
    /// Takes a piece and all that it needs.
    ///
    /// # Panics
    ///
    /// When there is no such piece, which is lanescope's fault.
    pub(super) fn need(&mut self, name: &str) {
        let Some(index) = PIECES.iter().position(|piece| piece.name == name) else {
            panic!("the prelude has no piece `{name}`");
        };
        if self.used.insert(index) {
            for other in &PIECES[index].needs {
                self.need(other);
            }
        }
    }

    /// Declares a function by its signature, unless it is there.
    pub(super) fn lift(&mut self, signature: String, body: &str) {
        if !self.lifted.contains_key(&signature) {
            let text = format!("DEVICE {signature} {{\n{body}}}\n");
            self.lifted.insert(signature, text);
        }
    }

    /// Whether the function is there.
    pub(super) fn has(&self, signature: &str) -> bool {
        self.lifted.contains_key(signature)
    }

    /// The text before the module's own types.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for piece in pieces(ALIASES).chain(self.used.iter().map(|index| PIECES[*index].clone())) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(piece.text);
            text.push('\n');
        }
        for function in self.lifted.values() {
            text.push('\n');
            text.push_str(function);
        }
        text
    }
}

/// The names that pieces declare, and those of functions made where needed.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PIECES.iter().map(|piece| piece.name).chain(MADE)
}

/// WGSL's functions: [`Prelude::lift`] is asked for them by these names.
const MADE: [&str; 101] = [
    "abs",
    "acos",
    "acosh",
    "all",
    "any",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "countLeadingZeros",
    "countOneBits",
    "countTrailingZeros",
    "cross",
    "degrees",
    "determinant",
    "distance",
    "dot",
    "dot4I8Packed",
    "dot4U8Packed",
    "exp",
    "exp2",
    "extractBits",
    "faceForward",
    "firstLeadingBit",
    "firstTrailingBit",
    "floor",
    "fma",
    "fract",
    "frexp",
    "insertBits",
    "inverse",
    "inverseSqrt",
    "ldexp",
    "length",
    "log",
    "log2",
    "max",
    "min",
    "mix",
    "modf",
    "normalize",
    "outer",
    "pack2x16float",
    "pow",
    "quantizeToF16",
    "radians",
    "reflect",
    "refract",
    "reverseBits",
    "round",
    "saturate",
    "select",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sqrt",
    "step",
    "tan",
    "tanh",
    "transpose",
    "trunc",
    "bitcast",
    "convert",
    "isNan",
    "isInf",
    "multiply",
    "invocation_index",
    "shuffle",
    "broadcast_first",
    "subgroupAdd",
    "subgroupMul",
    "subgroupMin",
    "subgroupMax",
    "subgroupAnd",
    "subgroupOr",
    "subgroupXor",
    "subgroupInclusiveAdd",
    "subgroupInclusiveMul",
    "subgroupInclusiveMin",
    "subgroupInclusiveMax",
    "subgroupInclusiveAnd",
    "subgroupInclusiveOr",
    "subgroupInclusiveXor",
    "subgroupExclusiveAdd",
    "subgroupExclusiveMul",
    "subgroupExclusiveMin",
    "subgroupExclusiveMax",
    "subgroupExclusiveAnd",
    "subgroupExclusiveOr",
    "subgroupExclusiveXor",
    "subgroupAll",
    "subgroupAny",
    "component",
    "minor",
    "compare_exchange",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stand_after_what_they_need() {
        for (index, piece) in PIECES.iter().enumerate() {
            for need in &piece.needs {
                let at = PIECES.iter().position(|other| other.name == *need);
                assert!(at.is_some_and(|at| at < index), "{} needs {need} before", piece.name);
            }
        }
    }

    #[test]
    fn a_line_of_its_own_begins_a_piece() {
        let file = "// For readers.\n\n//# a\n// Why.\nint a;\n\n//# b: a, c\nint b;\n\nint d;\n";
        let (a, b) = ("// Why.\nint a;", "int b;\n\nint d;");
        assert_eq!(
            pieces(file).collect::<Vec<_>>(),
            [
                Piece { name: "a", needs: vec![], text: a },
                Piece { name: "b", needs: vec!["a", "c"], text: b },
            ]
        );
    }

    #[test]
    fn every_piece_has_a_name_of_its_own_and_a_text() {
        let names: BTreeSet<&str> = PIECES.iter().map(|piece| piece.name).collect();
        assert_eq!(names.len(), PIECES.len());
        assert!(PIECES.len() >= 60, "{}", PIECES.len());
        for piece in PIECES.iter() {
            let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(piece.name.chars().all(word), "{:?}", piece.name);
            assert!(!piece.text.is_empty() && !piece.text.contains("//#"), "{}", piece.name);
        }
    }
}
