//! Random structured WGSL programs over integers, each from one seed.
//!
//! Input: a seed and [`Options`]. Output: a [`Program`], a tree of statements that is written as
//! WGSL, counted by form, and made smaller a statement at a time. It runs nothing.
//!
//! Every program has one entry point, two functions that call one another, an `output` buffer of a
//! word an invocation at binding 0, and [`TOTALS`] atomic words at binding 1, each of which only one
//! kind of commutative operation touches. What it computes is defined: integers only, atomics whose
//! result nobody reads, barriers in uniform flow, subgroup operations over the active invocations,
//! and shuffles that keep only what came from an invocation that a ballot showed active.
//!
//! Some programs read texels of `picture` inside its bounds and write each invocation's own of `sketch`; some have a
//! loop of about [`LOOP_LIMIT`] turns; in some workgroups hand a number on by an atomic word, each when it is its
//! turn. How often one waits there ([`WAITING`]) nobody can say beforehand.

mod writer;

use std::collections::BTreeMap;
use std::fmt;

use writer::Writer;

/// Words of the buffer `totals`.
pub(crate) const TOTALS: u64 = 6;

/// Texels of the picture along x and y, on the first of its two levels.
pub(crate) const PICTURE: [u32; 2] = [8, 6];

/// Texels of the sketch along x.
pub(crate) const SKETCH_ROW: u32 = 16;

/// The turns after which lavapipe leaves loops.
pub(crate) const LOOP_LIMIT: u64 = 65_535;

/// The function in which a workgroup waits for its turn.
pub(crate) const WAITING: &str = "wait_for_turn";

/// The fewest basic blocks of a program.
pub(crate) const BLOCKS_MIN: usize = 20;

/// What programs may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether there are subgroup operations: what is computed then depends on the width.
    pub(crate) subgroups: bool,
    /// Whether an `if` that leaves a loop or a function does anything else before it leaves.
    pub(crate) busy_exits: bool,
    /// Whether there is any `switch`.
    pub(crate) switches: bool,
    /// Whether there are textures.
    pub(crate) textures: bool,
    /// Whether some programs have a loop of about [`LOOP_LIMIT`] turns.
    pub(crate) long_loops: bool,
    /// Whether workgroups of some programs hand a number on.
    pub(crate) exchange: bool,
}

impl Options {
    /// Everything.
    pub(crate) const ALL: Self =
        Self { textures: true, long_loops: true, exchange: true, ..Self::BUFFERS };

    /// Buffers alone, short loops, and nothing that workgroups hand on.
    pub(crate) const BUFFERS: Self = Self {
        subgroups: true,
        busy_exits: true,
        switches: true,
        textures: false,
        long_loops: false,
        exchange: false,
    };
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Invocations a workgroup, in one dimension.
    pub(crate) workgroup_size: u32,
    /// Workgroups, in one dimension.
    pub(crate) workgroups: u32,
    module: Statement,
}

/// A statement: text with bodies of statements in it.
#[derive(Clone, Debug)]
struct Statement {
    forms: Vec<&'static str>,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Body(Vec<Statement>),
}

impl Program {
    /// The program of a seed: the shortest in a series of growing ones that has [`BLOCKS_MIN`]
    /// basic blocks, of which `blocks` tells the number in a text.
    pub(crate) fn new(seed: u64, options: Options, blocks: &dyn Fn(&str) -> usize) -> Self {
        for bodies in (6..).step_by(2) {
            let program = Self::of_bodies(seed, options, bodies);
            if blocks(&program.to_string()) >= BLOCKS_MIN {
                return program;
            }
        }
        unreachable!("a program grows with its bodies")
    }

    /// The program of a seed with at least so many bodies of statements.
    fn of_bodies(seed: u64, options: Options, bodies: u32) -> Self {
        let mut writer = Writer::new(seed, options);
        let workgroup_size = [24, 32, 48, 64, 100][writer.pick(5)];
        let module = writer.module(workgroup_size, bodies);
        Self { workgroup_size, workgroups: 2, module }
    }

    /// How many statements of each form there are.
    pub(crate) fn forms(&self) -> BTreeMap<&'static str, u64> {
        let mut forms = BTreeMap::new();
        self.module.visit(&mut |statement| {
            for form in &statement.forms {
                *forms.entry(*form).or_default() += 1;
            }
        });
        forms
    }

    /// Whether a loop takes about [`LOOP_LIMIT`] turns, or as many as it takes until a workgroup has its turn.
    pub(crate) fn may_loop_long(&self) -> bool {
        let long = |form: &&str| form.contains("many turns") || form.contains("between workgroups");
        self.forms().keys().any(long)
    }

    /// How many statements there are.
    pub(crate) fn len(&self) -> usize {
        let mut count = 0;
        self.module.visit(&mut |_| count += 1);
        count
    }

    /// The program without statement `index`, counted as [`Program::forms`] goes through them, and
    /// without what stands inside it; `None` if there is no such statement.
    pub(crate) fn without(&self, index: usize) -> Option<Self> {
        let mut smaller = self.clone();
        smaller.module.remove(&mut (index + 1)).then_some(smaller)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.module.write(formatter, 0)
    }
}

impl Statement {
    /// Calls `see` for this statement, unless it is the module itself, and for all inside it.
    fn visit(&self, see: &mut impl FnMut(&Self)) {
        for piece in &self.pieces {
            let Piece::Body(body) = piece else { continue };
            for statement in body {
                see(statement);
                statement.visit(see);
            }
        }
    }

    /// Removes the statement that `left` reaches 0 at; tells whether there was one.
    fn remove(&mut self, left: &mut usize) -> bool {
        for piece in &mut self.pieces {
            let Piece::Body(body) = piece else { continue };
            for index in 0..body.len() {
                *left -= 1;
                if *left == 0 {
                    body.remove(index);
                    return true;
                }
                if body[index].remove(left) {
                    return true;
                }
            }
        }
        false
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    for line in text.lines() {
                        writeln!(formatter, "{:1$}{line}", "", depth * 4)?;
                    }
                }
                Piece::Body(body) => {
                    for statement in body {
                        statement.write(formatter, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}
