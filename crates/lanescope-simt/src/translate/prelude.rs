//! What stands before the translated functions: types and helper functions, only as used.
//!
//! Input: the names that the translation asks for. Output: their C++ text, each after what it needs.
//! The texts are in `prelude/pieces.rs`; functions that go component by component over vectors are
//! made where they are needed ([`Prelude::lift`]).

mod pieces;

use std::collections::BTreeSet;

use indexmap::IndexMap;

use self::pieces::PIECES;

/// A named part of the prelude.
struct Piece {
    /// What the translation asks for.
    name: &'static str,
    /// Pieces that it needs.
    needs: &'static [&'static str],
    /// C++.
    text: &'static str,
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
            for other in PIECES[index].needs {
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
        let mut text = String::from(ALIASES);
        for index in &self.used {
            text.push('\n');
            text.push_str(PIECES[*index].text.trim_start_matches('\n'));
        }
        for function in self.lifted.values() {
            text.push('\n');
            text.push_str(function);
        }
        text
    }
}

/// WGSL's names of scalar types.
const ALIASES: &str = "\
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define DEVICE static __device__ __forceinline__
";

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
            for need in piece.needs {
                let at = PIECES.iter().position(|other| other.name == *need);
                assert!(at.is_some_and(|at| at < index), "{} needs {need} before", piece.name);
            }
        }
    }
}
