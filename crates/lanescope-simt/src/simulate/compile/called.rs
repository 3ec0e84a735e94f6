//! Which call a block is compiled for.
//!
//! Input: calls as they are inlined, and blocks as they are compiled. Output: a number for each copy of a
//! block, and the tree of calls. Where a function is inlined for the first time its blocks have their own
//! numbers; each time after, new ones. It counts nothing.

use std::collections::BTreeMap;

use crate::program::{Location, Program};
use crate::simulate::op::CopyId;
use crate::simulate::table::InlinedCall;
use crate::units::BlockId;

/// The most copies of blocks, and the most calls, that are counted by themselves: more are counted with the
/// first, and calls are not told apart.
const CALLED_MAX: usize = 2048;

/// The calls so far.
#[derive(Debug)]
pub(super) struct Called {
    /// The block of each copy.
    copies: Vec<BlockId>,
    /// The calls, a caller before whom it calls.
    calls: Vec<InlinedCall>,
    /// Whether there were too many, so that copies stand for several.
    merged: bool,
    /// How many of the copies are the blocks themselves.
    blocks: usize,
    /// The call that is being compiled.
    current: usize,
    /// By function whether it was inlined already; the entry point is the last.
    inlined: Vec<bool>,
    /// The copies of the calls that are not the first of their function.
    numbers: BTreeMap<(usize, BlockId), CopyId>,
}

impl Called {
    /// None yet.
    pub(super) fn new(program: &Program) -> Self {
        let blocks: Vec<BlockId> = program.blocks().iter().map(|block| block.id).collect();
        Self {
            blocks: blocks.len(),
            copies: blocks,
            calls: Vec::new(),
            merged: false,
            current: 0,
            inlined: vec![false; program.structure().functions.len() + 1],
            numbers: BTreeMap::new(),
        }
    }

    /// The table of copies and the calls, these empty where they are not told apart.
    pub(super) fn finish(mut self) -> (Vec<BlockId>, Vec<InlinedCall>) {
        for call in &mut self.calls {
            call.copies.sort_unstable();
            call.copies.dedup();
        }
        (self.copies, if self.merged { Vec::new() } else { self.calls })
    }

    /// Enters a function that is called at `at`; gives what to [leave](Self::leave) with.
    pub(super) fn enter(&mut self, number: usize, name: &str, at: Location) -> Entered {
        let entered = Entered(self.current);
        if self.calls.len() == CALLED_MAX {
            self.merged = true;
        }
        if !self.merged {
            let from = (!self.calls.is_empty()).then_some((self.current, at));
            let again = std::mem::replace(&mut self.inlined[number], true);
            self.current = self.calls.len();
            self.calls.push(InlinedCall {
                function: name.to_owned(),
                from,
                copies: Vec::new(),
                again,
            });
        }
        entered
    }

    /// Goes back to the caller.
    pub(super) fn leave(&mut self, Entered(caller): Entered) {
        self.current = caller;
    }

    /// The copy of a block in the call at hand.
    pub(super) fn copy(&mut self, block: BlockId) -> CopyId {
        let index = block.0;
        let Some(call) = self.calls.get_mut(self.current).filter(|_| !self.merged) else {
            return index;
        };
        if !call.again {
            call.copies.push(index);
            return index;
        }
        let key = (self.current, block);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let number = u32::try_from(self.copies.len()).unwrap_or(u32::MAX);
        if self.copies.len() - self.blocks == CALLED_MAX || number == u32::MAX {
            self.merged = true;
            return index;
        }
        self.copies.push(block);
        call.copies.push(number);
        self.numbers.insert(key, number);
        number
    }
}

/// The call from which a function was entered.
#[derive(Debug)]
pub(super) struct Entered(usize);
