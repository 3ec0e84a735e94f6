//! Control flow, and the masks of active lanes.
//!
//! Input: the trees of `program::structure`. Output: C++. The module's page says how masks are
//! tracked; here a construct is *tracked* where a subgroup operation is reachable inside it, or where
//! a lane may leave it for the end of a tracked construct around it, or of a tracked function.

mod reach;

use std::fmt::Write as _;

use naga::{Expression, Handle, Statement, SwitchValue};

use self::reach::{Ending, ending, subgroups_in_node, waits};
pub(super) use self::reach::{subgroups_in, tracked};
use super::frame::{EnclosingConstruct, TranslatedFunction};
use super::text::{bare, negate};
use super::{Result, Writer};
use crate::program::{Body, Case, Node, Straight};

/// Where a construct stands in its function.
#[derive(Clone, Copy, Debug)]
struct ConstructPlace {
    /// Whether it is in a sequence that ends the function.
    outermost: bool,
    /// Whether nothing follows it.
    tail: bool,
}

impl<'a> Writer<'a> {
    /// Whether lanes that part at a construct must be accounted for.
    ///
    /// With `tail`, nothing follows the construct in its function: a lane that returns leaves nobody
    /// waiting.
    fn tracks_construct(&self, frame: &TranslatedFunction<'a>, node: &Node, tail: bool) -> bool {
        if !frame.tracked {
            return false;
        }
        // Lanes that stay inside and ask nobody need no mask: C++'s own branches do.
        let exits = node.exits();
        let breaks = frame.constructs.last().is_some_and(|around| around.tracked);
        let continues = frame.constructs.iter().rev().find(|around| around.repeats);
        subgroups_in_node(&self.tracked, node)
            || (exits.returns && !tail)
            || (exits.breaks && breaks)
            || (exits.continues && continues.is_some_and(|around| around.tracked))
    }

    /// Whether anything in a body asks for its mask.
    fn wants_mask(&self, frame: &TranslatedFunction<'a>, nodes: &[Node]) -> bool {
        nodes.iter().any(|node| match node {
            Node::Straight(_) => subgroups_in_node(&self.tracked, node),
            Node::If { .. } | Node::Switch { .. } | Node::Loop { .. } => {
                self.tracks_construct(frame, node, false)
            }
        })
    }

    /// Writes a function's body.
    pub(super) fn body(&mut self, frame: &mut TranslatedFunction<'a>, body: &Body) -> Result<()> {
        self.nodes(frame, &body.nodes, true)
    }

    /// Writes nodes; `outermost` where nothing follows them in the function.
    fn nodes(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        nodes: &[Node],
        outermost: bool,
    ) -> Result<()> {
        for (index, node) in nodes.iter().enumerate() {
            let rest = &nodes[index + 1..];
            let tail = outermost && rest.is_empty();
            let waits = match node {
                Node::Straight(straight) => {
                    self.straight(frame, straight, outermost)?;
                    false
                }
                Node::If { condition, accept, reject, span } => {
                    frame.span = *span;
                    let place = ConstructPlace { outermost, tail };
                    self.branch(frame, node, (*condition, accept, reject), place)?
                }
                Node::Switch { selector, cases, span } => {
                    frame.span = *span;
                    self.switch(frame, node, (*selector, cases), tail)?
                }
                Node::Loop { body, continuing, break_if, span } => {
                    frame.span = *span;
                    let before = index.checked_sub(1).and_then(|before| nodes.get(before));
                    self.repeat(frame, node, (body, continuing), *break_if, before)?
                }
            };
            // Lanes that wait must pass over what follows; those that do not go on among themselves.
            if waits && !rest.is_empty() {
                return self.rest(frame, rest, outermost);
            }
        }
        Ok(())
    }

    /// Writes what follows a construct that some lanes leave for farther away.
    fn rest(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        rest: &[Node],
        outermost: bool,
    ) -> Result<()> {
        // The vote stands before the `if`: CUDA asks all lanes of a mask to come to the same ballot, those
        // that leave too.
        let mask = if self.wants_mask(frame, rest) {
            let name = self.namer.call("mask");
            let ballot = format!("__ballot_sync({}, leaving == STAYS)", frame.mask);
            frame.put(None, &format!("const u32 {name} = {ballot};"));
            name
        } else {
            frame.mask.clone()
        };
        let (mask, direct) = (
            std::mem::replace(&mut frame.mask, mask),
            // At a function's end nobody waits for those that return.
            std::mem::replace(&mut frame.direct, outermost),
        );
        frame.open(None, "if (leaving == STAYS) {");
        self.nodes(frame, rest, outermost)?;
        frame.close("}");
        (frame.mask, frame.direct) = (mask, direct);
        Ok(())
    }

    /// Writes a body in a scope that is open, with the mask of its lanes; `tail` where nothing
    /// follows it in its function.
    fn arm(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        body: &Body,
        mask: Option<String>,
        tail: bool,
    ) -> Result<()> {
        let mask = mask.unwrap_or_else(|| frame.mask.clone());
        let (mask, direct) =
            (std::mem::replace(&mut frame.mask, mask), std::mem::replace(&mut frame.direct, tail));
        self.nodes(frame, &body.nodes, tail)?;
        (frame.mask, frame.direct) = (mask, direct);
        Ok(())
    }

    // If

    /// Writes a branch; whether some lanes now wait to leave.
    fn branch(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        node: &Node,
        (condition, accept, reject): (Handle<Expression>, &Body, &Body),
        ConstructPlace { outermost, tail }: ConstructPlace,
    ) -> Result<bool> {
        let line = self.line(frame.span);
        let text = self.value(frame, condition)?;
        // The condition itself was written above, for what it may load or call.
        if accept.nodes.is_empty() && reject.nodes.is_empty() {
            return Ok(false);
        }
        if !self.tracks_construct(frame, node, tail) {
            if accept.nodes.is_empty() {
                frame.open(line, &format!("if ({}) {{", bare(&negate(&text))));
                self.arm(frame, reject, None, tail)?;
            } else {
                frame.open(line, &format!("if ({}) {{", bare(&text)));
                self.arm(frame, accept, None, tail)?;
                if !reject.nodes.is_empty() {
                    frame.close("} else {");
                    frame.open(None, "");
                    self.arm(frame, reject, None, tail)?;
                }
            }
            frame.close("}");
            return Ok(false);
        }
        let text = self.named_condition(frame, line, &text);
        // Where all lanes have the same condition they stay together: no vote.
        let alike = self.is_uniform(frame, condition);
        if self.leave_at_once(frame, (&text, alike), accept, reject, outermost)? {
            return Ok(false);
        }
        let parent = frame.mask.clone();
        // Only arms that use their mask get a ballot.
        let wanted = [accept, reject].map(|body| self.wants_mask(frame, &body.nodes));
        let mut masks = [None, None];
        if alike {
            masks = wanted.map(|wanted| wanted.then(|| parent.clone()));
        } else if wanted != [false, false] {
            let name = self.namer.call("mask");
            // One vote gives both masks: the other arm's lanes are the rest.
            let (asked, arm) = if wanted[0] { (text.clone(), 0) } else { (negate(&text), 1) };
            let ballot = format!("__ballot_sync({parent}, {})", bare(&asked));
            frame.put(line, &format!("const u32 {name} = {ballot};"));
            masks[arm] = Some(name.clone());
            if wanted == [true, true] {
                let other = self.namer.call("mask");
                frame.put(line, &format!("const u32 {other} = {parent} & ~{name};"));
                masks[1] = Some(other);
            }
        }
        let [first, second] = masks;
        if accept.nodes.is_empty() {
            frame.open(line, &format!("if ({}) {{", bare(&negate(&text))));
            self.arm(frame, reject, second, tail)?;
        } else {
            frame.open(line, &format!("if ({}) {{", bare(&text)));
            self.arm(frame, accept, first, tail)?;
            if !reject.nodes.is_empty() {
                frame.close("} else {");
                frame.open(None, "");
                self.arm(frame, reject, second, tail)?;
            }
        }
        frame.close("}");
        Ok(waits(node.exits(), tail))
    }

    /// Writes a branch of which one arm's lanes all leave, where nobody waits for them: they break
    /// or return as in C++, and the mask is that of the others from then on. Whether it was written.
    /// The condition comes with whether it is the same in all lanes.
    fn leave_at_once(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        (condition, alike): (&str, bool),
        accept: &Body,
        reject: &Body,
        outermost: bool,
    ) -> Result<bool> {
        let line = self.line(frame.span);
        let in_loop =
            frame.constructs.last().is_some_and(|around| around.repeats && around.tracked);
        let possible = |body: &Body| match ending(body) {
            Some(Ending::Break) => frame.direct && in_loop,
            Some(Ending::Return) => frame.direct && outermost,
            None => false,
        };
        let (gone, asked, others) = if possible(accept) && !reject.exits().any() {
            (accept, condition.to_owned(), reject)
        } else if possible(reject) && !accept.exits().any() {
            (reject, negate(condition), accept)
        } else {
            return Ok(false);
        };
        let mask = frame.mask.clone();
        let leavers = if alike || !self.wants_mask(frame, &gone.nodes) {
            None
        } else {
            let name = self.namer.call("mask");
            let ballot = format!("__ballot_sync({mask}, {})", bare(&asked));
            frame.put(line, &format!("const u32 {name} = {ballot};"));
            Some(name)
        };
        let stay = match &leavers {
            Some(leavers) => format!("{mask} & ~{leavers}"),
            None => format!("__ballot_sync({mask}, {})", bare(&negate(&asked))),
        };
        if alike {
            // All of them leave, or none.
        } else if in_loop {
            // The loop's own variable: the next iteration must not ask the lanes that left.
            frame.put(line, &format!("{mask} = {stay};"));
        } else {
            let name = self.namer.call("mask");
            frame.put(line, &format!("const u32 {name} = {stay};"));
            frame.mask = name;
        }
        frame.open(line, &format!("if ({}) {{", bare(&asked)));
        let outer = std::mem::replace(&mut frame.mask, leavers.unwrap_or(mask));
        // Only the jump at the end may leave directly: before it all lanes of the arm are still needed.
        let (before, last) = gone.nodes.split_at(gone.nodes.len() - 1);
        let direct = std::mem::replace(&mut frame.direct, false);
        self.nodes(frame, before, false)?;
        frame.direct = true;
        self.nodes(frame, last, outermost)?;
        frame.direct = direct;
        frame.close("}");
        frame.mask = outer;
        self.nodes_inline(frame, others)?;
        Ok(true)
    }

    /// Writes the arm of the lanes that stay, in a scope of its own.
    fn nodes_inline(&mut self, frame: &mut TranslatedFunction<'a>, body: &Body) -> Result<()> {
        if body.nodes.is_empty() {
            return Ok(());
        }
        frame.open(None, "{");
        self.arm(frame, body, None, false)?;
        frame.close("}");
        Ok(())
    }

    /// A condition that can be written several times.
    fn named_condition(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        text: &str,
    ) -> String {
        if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return text.to_owned();
        }
        let name = self.namer.call("condition");
        frame.put(line, &format!("const bool {name} = {};", bare(text)));
        name
    }

    // Switch

    /// Writes a switch; whether some lanes now wait to leave.
    fn switch(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        node: &Node,
        (selector, cases): (Handle<Expression>, &[Case]),
        tail: bool,
    ) -> Result<bool> {
        let line = self.line(frame.span);
        let text = self.value(frame, selector)?;
        let tracked = self.tracks_construct(frame, node, tail);
        if cases.iter().any(|case| case.fall_through && !case.body.nodes.is_empty()) {
            return Err(self.unsupported("case that falls through into another", frame.span));
        }
        frame.constructs.push(EnclosingConstruct { repeats: false, tracked, label: None });
        // All masks are made before the switch, while all of its lanes can still vote.
        let masks = if tracked { self.arm_masks(frame, &text, cases) } else { Vec::new() };
        frame.open(line, &format!("switch ({}) {{", bare(&text)));
        let mut labels = String::new();
        for (number, case) in cases.iter().enumerate() {
            match case.value {
                SwitchValue::I32(value) => {
                    let _ = write!(labels, "case {value}: ");
                }
                SwitchValue::U32(value) => {
                    let _ = write!(labels, "case {value}u: ");
                }
                SwitchValue::Default => labels.push_str("default: "),
            }
            if case.fall_through {
                continue;
            }
            frame.open(None, &format!("{}{{", std::mem::take(&mut labels)));
            let mask = masks.get(number).cloned().flatten();
            self.arm(frame, &case.body, mask, tail)?;
            frame.put(None, "break;");
            frame.close("}");
        }
        frame.close("}");
        frame.constructs.pop();
        if !tracked {
            return Ok(false);
        }
        // Behind the switch, who waited to leave it has left it.
        let breaks = cases.iter().any(|case| case.body.exits().breaks);
        if breaks && frame.leaving {
            frame.put(None, "if (leaving == BREAKS) { leaving = STAYS; }");
        }
        Ok(waits(node.exits(), tail))
    }

    /// Writes the masks of a switch's arms: for each case its arm's, where that asks for one.
    fn arm_masks(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        selector: &str,
        cases: &[Case],
    ) -> Vec<Option<String>> {
        let equals = |value: SwitchValue| match value {
            SwitchValue::I32(value) => Some(format!("{selector} == {value}")),
            SwitchValue::U32(value) => Some(format!("{selector} == {value}u")),
            SwitchValue::Default => None,
        };
        let all: Vec<String> = cases.iter().filter_map(|case| equals(case.value)).collect();
        let mut masks = Vec::new();
        let mut named: Vec<Option<String>> = Vec::new();
        for case in cases {
            named.push(equals(case.value));
            if case.fall_through {
                masks.push(None);
                continue;
            }
            let values: Option<Vec<String>> = std::mem::take(&mut named).into_iter().collect();
            if !self.wants_mask(frame, &case.body.nodes) {
                masks.push(None);
                continue;
            }
            let chosen = match values {
                Some(values) => values.join(" || "),
                None => {
                    // Everybody else's, whatever values share the default's arm.
                    let guards = cases_of_default(cases, &equals);
                    let others: Vec<String> =
                        all.iter().filter(|test| !guards.contains(test)).cloned().collect();
                    if others.is_empty() {
                        "true".to_owned()
                    } else {
                        format!("!({})", others.join(" || "))
                    }
                }
            };
            let name = self.namer.call("mask");
            let ballot = format!("__ballot_sync({}, {chosen})", frame.mask);
            frame.put(None, &format!("const u32 {name} = {ballot};"));
            masks.push(Some(name));
        }
        masks
    }

    // Loop

    /// Writes a loop; whether some lanes now wait to leave.
    fn repeat(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        node: &Node,
        (body, continuing): (&Body, &Body),
        break_if: Option<Handle<Expression>>,
        before: Option<&Node>,
    ) -> Result<bool> {
        let span = frame.span;
        let number = frame.loops;
        // `materialise` numbers a loop before those inside it.
        frame.loops += 1;
        for handle in frame.bake.hoisted.get(&number).cloned().unwrap_or_default() {
            let ty = self.expression_type(frame, handle)?;
            let name = self.variable_name(frame, handle);
            frame.put(None, &format!("{ty} {name};"));
            frame.values.insert(handle, name);
        }
        if self.tracks_construct(frame, node, false) {
            let around = frame.counters.len();
            frame.counters.extend(self.counters(frame, (body, continuing), before));
            let waits = self.write_tracked_loop(frame, node, body, continuing, break_if);
            frame.counters.truncate(around);
            return waits;
        }
        // C++'s `continue` would skip `continuing`: it becomes a jump to before it.
        let plain = continuing.nodes.is_empty() && break_if.is_none();
        let label = (body.exits().continues && !plain).then(|| self.namer.call("continuing"));
        let construct = EnclosingConstruct { repeats: true, tracked: false, label: label.clone() };
        frame.constructs.push(construct);
        frame.open(self.line(span), "while (true) {");
        if label.is_some() {
            frame.open(None, "{");
        }
        self.arm(frame, body, None, false)?;
        if let Some(label) = label {
            frame.close("}");
            // A label stands before a statement.
            frame.put(None, &format!("{label}:;"));
        }
        self.arm(frame, continuing, None, false)?;
        if let Some(condition) = break_if {
            let text = self.value(frame, condition)?;
            frame.put(self.line(span), &format!("if ({}) {{ break; }}", bare(&text)));
        }
        frame.close("}");
        frame.constructs.pop();
        Ok(false)
    }

    fn write_tracked_loop(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        node: &Node,
        body: &Body,
        continuing: &Body,
        break_if: Option<Handle<Expression>>,
    ) -> Result<bool> {
        let span = frame.span;
        // The loop has a mask of its own, which lanes that leave go out of iteration by iteration.
        let mask = self.namer.call("mask");
        frame.put(self.line(span), &format!("u32 {mask} = {};", frame.mask));
        frame.constructs.push(EnclosingConstruct { repeats: true, tracked: true, label: None });
        frame.open(self.line(span), "while (true) {");
        let outer = std::mem::replace(&mut frame.mask, mask.clone());
        let direct = std::mem::replace(&mut frame.direct, true);
        let leaving = std::mem::replace(&mut frame.leaving, false);
        self.nodes(frame, &body.nodes, false)?;
        // Whether the body noted that lanes leave: where all jumped at once, nobody waits.
        let waits = frame.leaving;
        frame.leaving |= leaving;
        let exits = body.exits();
        if waits && (exits.breaks || exits.returns) {
            let goes_on = if exits.continues {
                "leaving == STAYS || leaving == CONTINUES"
            } else {
                "leaving == STAYS"
            };
            frame.put(None, &format!("{mask} = __ballot_sync({mask}, {goes_on});"));
            frame.put(None, &format!("if (!({goes_on})) {{ break; }}"));
        }
        // Who waited to continue goes on in `continuing`, as every lane that came to the body's end.
        if waits && exits.continues {
            frame.put(None, "leaving = STAYS;");
        }
        self.nodes(frame, &continuing.nodes, false)?;
        if let Some(condition) = break_if {
            let text = self.value(frame, condition)?;
            let text = self.named_condition(frame, self.line(span), &text);
            if !self.is_uniform(frame, condition) {
                frame.put(None, &format!("{mask} = __ballot_sync({mask}, {});", negate(&text)));
            }
            frame.put(None, &format!("if ({text}) {{ break; }}"));
        }
        frame.close("}");
        frame.constructs.pop();
        (frame.mask, frame.direct) = (outer, direct);
        // Behind the loop, who waited to leave it has left it; a lane that returns still waits.
        if waits && exits.breaks {
            frame.put(None, "if (leaving == BREAKS) { leaving = STAYS; }");
        }
        Ok(waits && node.exits().returns)
    }

    // Leaving

    /// Writes a basic block.
    fn straight(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        straight: &Straight,
        outermost: bool,
    ) -> Result<()> {
        for (statement, span) in &straight.statements {
            let known = span.to_range().is_some_and(|range| range.end > 0);
            if known {
                frame.span = *span;
            }
            let line = self.line(*span);
            if let Statement::Break = *statement {
                self.leave(frame, line);
            } else if let Statement::Continue = *statement {
                self.skip(frame, line);
            } else if let Statement::Return { value } = *statement {
                self.return_from(frame, line, value, outermost)?;
            } else {
                self.statement(frame, statement, *span)?;
            }
        }
        Ok(())
    }

    fn leave(&self, frame: &mut TranslatedFunction<'a>, line: Option<u32>) {
        let around = frame.constructs.last();
        let tracked = around.is_some_and(|around| around.tracked);
        // In a switch C++'s `break` leaves the switch alone, so that only loops are left by a jump.
        let jumps = frame.direct && around.is_some_and(|around| around.repeats);
        if tracked && !jumps {
            frame.leaving = true;
            frame.put(line, "leaving = BREAKS;");
        } else {
            frame.put(line, "break;");
        }
    }

    fn skip(&self, frame: &mut TranslatedFunction<'a>, line: Option<u32>) {
        let around = frame.constructs.iter().rev().find(|around| around.repeats).cloned();
        match around {
            Some(EnclosingConstruct { tracked: true, .. }) => {
                frame.leaving = true;
                frame.put(line, "leaving = CONTINUES;");
            }
            Some(EnclosingConstruct { label: Some(label), .. }) => {
                frame.put(line, &format!("goto {label};"));
            }
            Some(_) | None => frame.put(line, "continue;"),
        }
    }

    fn return_from(
        &mut self,
        frame: &mut TranslatedFunction<'a>,
        line: Option<u32>,
        value: Option<Handle<Expression>>,
        outermost: bool,
    ) -> Result<()> {
        let text = match value {
            Some(value) => Some(self.value(frame, value)?),
            None => None,
        };
        let line = line.or_else(|| {
            value.and_then(|value| self.line(frame.function.expressions.get_span(value)))
        });
        // Nothing of the function follows, or nothing in it asks for a mask: nobody waits for this lane.
        if !frame.tracked || outermost {
            match text {
                Some(text) => frame.put(line, &format!("return {};", bare(&text))),
                None => frame.put(line, "return;"),
            }
            return Ok(());
        }
        if let Some(text) = text {
            frame.result = true;
            frame.put(line, &format!("result = {};", bare(&text)));
        }
        frame.leaving = true;
        frame.put(line, "leaving = RETURNS;");
        Ok(())
    }
}

/// The tests of the values that share the default's arm.
fn cases_of_default(cases: &[Case], equals: &dyn Fn(SwitchValue) -> Option<String>) -> Vec<String> {
    let mut tests = Vec::new();
    for case in cases {
        tests.push(case.value);
        if case.fall_through {
            continue;
        }
        if tests.contains(&SwitchValue::Default) {
            return tests.into_iter().filter_map(equals).collect();
        }
        tests.clear();
    }
    Vec::new()
}
