//! A program, compiled for the simulator.
//!
//! Input: a validated program. Output: its register program, for any number of launches; and what a dispatch of it may
//! leave by the order of workgroups.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::Postponed;
use super::compile;
use super::config::INVOCATIONS_MAX;
use super::error::SimulateError;
use super::op::{At, Combination, Op, Owner, ROOT_WORKGROUP, Reg, Touch};
use super::table::{Code, Root};
use crate::program::Program;

/// A program, compiled for the simulator.
#[derive(Debug)]
pub struct Compiled {
    pub(super) code: Code,
    pub(super) file: String,
    pub(super) workgroup_size: [u32; 3],
}

impl Compiled {
    /// Compiles a program.
    ///
    /// # Errors
    ///
    /// [`SimulateError::Unsupported`] with the expression and its line where the program uses what
    /// the simulator does not run, [`SimulateError::Limit`] and [`SimulateError::Invocations`]
    /// where it is too large.
    pub fn new(program: &Program) -> Result<Self, SimulateError> {
        Self::with(program, None)
    }

    /// Compiles a program as if the body of a loop were split at a branch: see [`Postponed`].
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub fn postponing(program: &Program, postponed: Postponed) -> Result<Self, SimulateError> {
        Self::with(program, Some(postponed))
    }

    fn with(program: &Program, postponed: Option<Postponed>) -> Result<Self, SimulateError> {
        let workgroup_size = program.workgroup_size();
        let invocations = workgroup_size.iter().map(|&size| u64::from(size)).product();
        if invocations > INVOCATIONS_MAX {
            return Err(SimulateError::Invocations { invocations, max: INVOCATIONS_MAX });
        }
        Ok(Self {
            code: compile::compile(program, postponed)?,
            file: program.text().file().to_owned(),
            workgroup_size,
        })
    }

    /// Instructions of the register program.
    pub fn instructions(&self) -> usize {
        self.code.ops.len()
    }

    /// Registers of a subgroup: words of each lane.
    pub fn registers(&self) -> usize {
        self.code.registers
    }

    /// Whether the program has a barrier.
    pub fn has_barriers(&self) -> bool {
        self.code.barriers
    }

    /// The buffers and textures, by group and binding, that a dispatch may leave otherwise under another order of
    /// workgroups, or of subgroups of one, as far as its instructions tell. There are none where no atomic's order
    /// decides a value: no old value is used, none is read that is changed too, and changes are by one operation that
    /// commutes; or each invocation has its own. Else they are all that it writes, but for those of which atomics alone
    /// are changed, by one operation that commutes and values that no order decides.
    pub fn find_left_by_order(&self, workgroups: [u32; 3]) -> BTreeSet<(u32, u32)> {
        let code = &self.code;
        let mut found = AtomicUses::default();
        for op in &code.ops {
            if let Op::Atomic { with, .. } = *op {
                let atomic = code.atomics[with as usize];
                let change = match atomic.combination {
                    Combination::Commutes(number) => AtomicChange::Commutes(number),
                    Combination::Overwrites | Combination::Compares | Combination::Rounds => {
                        AtomicChange::Ordered
                    }
                };
                if !self.is_fixed(atomic.value, &atomic.at) {
                    found.written.insert(atomic.at.root);
                }
                if self.is_shared(&atomic.at, workgroups) {
                    // An old value that is used, too.
                    found.by_order |= atomic.touch == Touch::Write;
                    found.change(&atomic.at, change);
                }
            } else if let Op::MemoryStore { src, at, .. } = *op {
                let at = &code.accesses[at as usize];
                found.written.insert(at.root);
                if at.atomic && self.is_shared(at, workgroups) {
                    let mut builtins = code.builtins.iter();
                    let is_one_value = self.is_fixed(src, at)
                        && !builtins.any(|(_, _, register)| *register == src);
                    let stores = AtomicChange::Stores(src);
                    found.change(at, if is_one_value { stores } else { AtomicChange::Ordered });
                }
            } else if let Op::Load { at, .. } = *op {
                let at = &code.accesses[at as usize];
                // Of a workgroup's own memory what lies behind a barrier is the same in each order.
                let behind = at.root == ROOT_WORKGROUP && code.barriers;
                if at.atomic && !behind && self.is_shared(at, workgroups) {
                    found.read.insert(at.root);
                }
            } else if let Op::Texture { with } = *op {
                found.written.insert(code.textures[with as usize].root);
            }
        }
        let read_too = found.read.iter().any(|root| found.changes.contains_key(root));
        if !found.by_order && !read_too {
            return BTreeSet::new();
        }
        let written = found.written.iter().filter(|root| code.written[usize::from(**root)]);
        let place = |root: &u16| match code.roots[usize::from(*root)] {
            Root::Buffer { group, binding, .. } | Root::Texture { group, binding, .. } => {
                Some((group, binding))
            }
            Root::Workgroup | Root::Immediates { .. } => None,
        };
        written.filter_map(place).collect()
    }

    /// Whether several invocations of a dispatch may access one element.
    fn is_shared(&self, at: &At, workgroups: [u32; 3]) -> bool {
        let ([_, y, z], [_, depth, height]) = (workgroups, self.workgroup_size);
        let in_line = [y, z, depth, height] == [1; 4];
        !in_line || self.code.owners[usize::from(at.root)] != Owner::Invocation
    }

    /// Whether the registers of an access hold constants, built-in values or lengths, which are the first.
    fn is_fixed(&self, register: Reg, at: &At) -> bool {
        usize::from(register) + usize::from(at.count) <= self.code.constants.len()
    }
}

/// How an atomic is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtomicChange {
    /// By an operation that commutes with itself, of this number.
    Commutes(u8),
    /// To the constant of this register.
    Stores(Reg),
    /// To what the order makes of it.
    Ordered,
}

/// What a program does with atomics that several invocations may access.
#[derive(Debug, Default)]
struct AtomicUses {
    /// By memory the first change.
    changes: BTreeMap<u16, AtomicChange>,
    /// The memories of which an atomic is read.
    read: BTreeSet<u16>,
    /// The memories that are written, or whose atomics do not end up the same in each order.
    written: BTreeSet<u16>,
    /// Whether the order decides a value.
    by_order: bool,
}

impl AtomicUses {
    /// Notes a change.
    fn change(&mut self, at: &At, change: AtomicChange) {
        let first = *self.changes.entry(at.root).or_insert(change);
        if first != change || change == AtomicChange::Ordered {
            self.by_order = true;
            self.written.insert(at.root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Overrides, Parsed};

    /// The bindings that a dispatch of four workgroups, in so many rows, leaves by their order.
    fn left(body: &str, rows: u32) -> Vec<u32> {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> list: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{ {body} }}"
        );
        let parsed = Parsed::new("t.wgsl", &text).unwrap();
        let program = parsed.resolve("main", &Overrides::new()).unwrap();
        let found = Compiled::new(&program).unwrap().find_left_by_order([4, rows, 1]);
        found.into_iter().map(|(_, binding)| binding).collect()
    }

    #[test]
    fn what_atomics_leave_by_their_order_is_found() {
        let none: [u32; 0] = [];
        // Where an element comes to lie follows the order; how many there are does not.
        assert_eq!(left("list[atomicAdd(&count, 1u)] = id.x;", 1), [2]);
        assert_eq!(left("atomicAdd(&bins[id.x % 7u], id.x);", 1), none);
        let two = "atomicAdd(&bins[id.x % 7u], 1u); atomicMax(&bins[id.x % 5u], 1u);";
        assert_eq!(left(two, 1), [1]);
        // Each invocation has its own, unless there are rows with the same x.
        let each = "list[id.x] = atomicExchange(&bins[id.x], 1u);";
        assert_eq!(left(each, 1), none);
        assert_eq!(left(each, 2), [1, 2]);
        // What is read is there before, unless it is changed too.
        let read = "list[id.x] = atomicLoad(&bins[id.x % 7u]);";
        assert_eq!(left(read, 1), none);
        assert_eq!(left(&format!("atomicAdd(&bins[id.x % 5u], 1u); {read}"), 1), [2]);
        // One value is one, whoever stores it last.
        assert_eq!(left("atomicStore(&count, 0u);", 1), none);
        assert_eq!(left("atomicStore(&count, id.x);", 1), [0]);
    }
}
