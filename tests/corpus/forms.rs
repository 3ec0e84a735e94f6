//! Which forms of statements a module uses, as naga sees it.
//!
//! Input: a parsed module. Output: names of forms. Every statement of naga's is matched, so that a
//! new kind does not compile here, and [`required`] says which forms the corpus must have together:
//! all that a compute shader of WGSL over buffers can take.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use naga::{
    AddressSpace, AtomicFunction, Barrier, Block, BuiltIn, CollectiveOperation, Direction,
    Expression, Function, GatherMode, Handle, Module, Statement, SubgroupOperation, SwitchCase,
    SwitchValue, TypeInner,
};

/// Names of forms.
pub(crate) type Forms = BTreeSet<String>;

/// What encloses a statement, from the function inwards.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    loops: u32,
    switches: u32,
    /// What a `break` leaves.
    breaks: Option<&'static str>,
    conditional: bool,
}

/// The forms that the corpus must have together.
pub(crate) fn required() -> Forms {
    let mut forms = Forms::new();
    let mut add = |names: &[&str]| forms.extend(names.iter().map(|&name| name.to_owned()));
    add(&["if", "if else", "else if", "empty arm", "block in a block", "empty function"]);
    add(&["switch of u32", "switch of i32", "switch in a switch", "switch in a loop"]);
    add(&["case that shares the next one's arm", "default last", "default before a case"]);
    add(&["default that shares an arm", "default alone", "empty case"]);
    add(&["loop", "loop with continuing", "loop with break if", "loop in a loop"]);
    add(&["loop three deep", "loop in a function called", "loop with an empty body"]);
    add(&["break of a loop", "break of a switch", "break without a condition"]);
    add(&["continue", "continue in a switch"]);
    add(&["return of a value", "return in an if", "return in a loop", "return in a switch"]);
    add(&["call with a result", "call without a result", "call in a loop", "call in an if"]);
    add(&["store to function memory", "store to private memory", "store to workgroup memory"]);
    add(&["store to storage memory", "atomic store to storage memory"]);
    add(&["atomic store to workgroup memory", "variable in uniform memory"]);
    add(&["variable in immediate memory", "pointer argument to function memory"]);
    add(&["pointer argument to private memory", "workgroupUniformLoad"]);
    for (space, kinds) in [("storage", &["u32", "i32"][..]), ("workgroup", &["u32", "i32"])] {
        for kind in kinds {
            add(&[&format!("atomic Add in {space} memory of {kind}")]);
            add(&[&format!("atomic CompareExchange in {space} memory of {kind}")]);
        }
    }
    for operation in ["Subtract", "And", "ExclusiveOr", "InclusiveOr", "Min", "Max", "Exchange"] {
        add(&[&format!("atomic {operation}")]);
    }
    for barrier in ["WORK_GROUP", "STORAGE", "SUB_GROUP", "TEXTURE"] {
        add(&[&format!("barrier {barrier}")]);
    }
    add(&["ballot of a predicate", "ballot of those present"]);
    for mode in ["BroadcastFirst", "Broadcast", "Shuffle", "ShuffleDown", "ShuffleUp"] {
        add(&[&format!("gather {mode}")]);
    }
    for mode in ["ShuffleXor", "QuadBroadcast", "QuadSwapX", "QuadSwapY", "QuadSwapDiagonal"] {
        add(&[&format!("gather {mode}")]);
    }
    for operation in ["All", "Any", "Min", "Max", "And", "Or", "Xor", "Add", "Mul"] {
        add(&[&format!("subgroup {operation} Reduce")]);
    }
    for operation in ["Add", "Mul"] {
        add(&[&format!("subgroup {operation} InclusiveScan")]);
        add(&[&format!("subgroup {operation} ExclusiveScan")]);
    }
    for builtin in ["GlobalInvocationId", "LocalInvocationId", "LocalInvocationIndex"] {
        add(&[&format!("built-in {builtin}")]);
    }
    for builtin in ["WorkGroupId", "NumWorkGroups", "NumSubgroups", "SubgroupId"] {
        add(&[&format!("built-in {builtin}")]);
    }
    add(&["built-in SubgroupSize", "built-in SubgroupInvocationId", "built-ins in a struct"]);
    add(&["no built-in", "no local index", "workgroups of 1 dimensions"]);
    add(&["workgroups of 2 dimensions", "workgroups of 3 dimensions", "workgroup of an override"]);
    add(&["all 4 bind groups", "all 8 storage buffers", "no buffer", "several entry points"]);
    add(&["override", "numbered override", "f16", "matrix", "struct", "run-time array"]);
    forms
}

/// The forms of a module.
pub(crate) fn find_forms(module: &Module) -> Forms {
    let mut forms = Forms::new();
    for (_, function) in module.functions.iter() {
        let mut walk = FormWalk { module, function, forms: &mut forms };
        walk.arguments();
        walk.body(&function.body, Inside::default());
        let loops =
            function.body.iter().any(|statement| matches!(statement, Statement::Loop { .. }));
        if loops {
            forms.insert("loop in a function called".to_owned());
        }
    }
    for entry in &module.entry_points {
        let mut walk = FormWalk { module, function: &entry.function, forms: &mut forms };
        walk.built_ins();
        walk.body(&entry.function.body, Inside::default());
        let dimensions =
            entry.workgroup_size.iter().rposition(|&size| size > 1).map_or(1, |d| d + 1);
        forms.insert(format!("workgroups of {dimensions} dimensions"));
        if entry.workgroup_size_overrides.is_some() {
            forms.insert("workgroup of an override".to_owned());
        }
    }
    globals(module, &mut forms);
    forms
}

/// What the declarations of a module use.
fn globals(module: &Module, forms: &mut Forms) {
    let mut add = |name: &str, there: bool| {
        if there {
            forms.insert(name.to_owned());
        }
    };
    let bound = || module.global_variables.iter().filter_map(|(_, v)| Some((v, v.binding?)));
    let groups: BTreeSet<u32> = bound().map(|(_, place)| place.group).collect();
    let storage = bound().filter(|(v, _)| matches!(v.space, AddressSpace::Storage { .. })).count();
    add("all 4 bind groups", groups == (0..4).collect());
    add("all 8 storage buffers", storage == 8);
    add("no buffer", bound().next().is_none());
    add("several entry points", module.entry_points.len() > 1);
    add("override", module.overrides.iter().next().is_some());
    add("numbered override", module.overrides.iter().any(|(_, o)| o.id.is_some()));
    for (_, variable) in module.global_variables.iter() {
        add("variable in uniform memory", variable.space == AddressSpace::Uniform);
        add("variable in immediate memory", variable.space == AddressSpace::Immediate);
    }
    for (_, ty) in module.types.iter() {
        let half = |scalar: naga::Scalar| scalar == naga::Scalar::F16;
        add("f16", matches!(ty.inner, TypeInner::Scalar(scalar) if half(scalar)));
        add("matrix", matches!(ty.inner, TypeInner::Matrix { .. }));
        add("struct", matches!(ty.inner, TypeInner::Struct { .. }));
        let dynamic = matches!(ty.inner, TypeInner::Array { size: naga::ArraySize::Dynamic, .. });
        add("run-time array", dynamic);
    }
}

/// A walk through one function.
struct FormWalk<'a> {
    module: &'a Module,
    function: &'a Function,
    forms: &'a mut Forms,
}

impl FormWalk<'_> {
    fn add(&mut self, name: impl Into<String>) {
        self.forms.insert(name.into());
    }

    fn add_if(&mut self, there: bool, name: &str) {
        if there {
            self.add(name);
        }
    }

    fn arguments(&mut self) {
        for argument in &self.function.arguments {
            if let TypeInner::Pointer { space, .. } = self.module.types[argument.ty].inner {
                self.add(format!("pointer argument to {} memory", name_of(space)));
            }
        }
        let nothing = self.function.body.iter().all(|s| matches!(s, Statement::Return { .. }));
        self.add_if(nothing && self.function.result.is_none(), "empty function");
    }

    fn built_ins(&mut self) {
        let mut found: Vec<BuiltIn> = Vec::new();
        for argument in &self.function.arguments {
            match (&argument.binding, &self.module.types[argument.ty].inner) {
                (Some(naga::Binding::BuiltIn(builtin)), _) => found.push(*builtin),
                (None, TypeInner::Struct { members, .. }) => {
                    self.add("built-ins in a struct");
                    for member in members {
                        if let Some(naga::Binding::BuiltIn(builtin)) = member.binding {
                            found.push(builtin);
                        }
                    }
                }
                (given, _) => panic!("a compute shader takes built-ins only: {given:?}"),
            }
        }
        self.add_if(found.is_empty(), "no built-in");
        self.add_if(!found.contains(&BuiltIn::LocalInvocationIndex), "no local index");
        for builtin in found {
            self.add(format!("built-in {builtin:?}"));
        }
    }

    fn body(&mut self, block: &Block, inside: Inside) {
        for statement in block.iter() {
            self.statement(statement, inside);
        }
    }

    fn statement(&mut self, statement: &Statement, inside: Inside) {
        match *statement {
            Statement::Emit(_) => {}
            Statement::Block(ref inner) => {
                self.add("block in a block");
                self.body(inner, inside);
            }
            Statement::If { condition: _, ref accept, ref reject } => {
                self.branch(accept, reject, inside);
            }
            Statement::Switch { selector: _, ref cases } => self.switch(cases, inside),
            Statement::Loop { ref body, ref continuing, break_if } => {
                self.endless(body, continuing, break_if.is_some(), inside);
            }
            Statement::Break => {
                self.add(format!("break of a {}", inside.breaks.expect("there is one")));
                self.add_if(!inside.conditional, "break without a condition");
            }
            Statement::Continue => {
                self.add("continue");
                self.add_if(inside.breaks == Some("switch"), "continue in a switch");
            }
            Statement::Return { value } => {
                self.add_if(value.is_some(), "return of a value");
                self.add_if(inside.conditional, "return in an if");
                self.add_if(inside.loops > 0, "return in a loop");
                self.add_if(inside.switches > 0, "return in a switch");
            }
            Statement::ControlBarrier(barrier) => self.barrier(barrier),
            Statement::Store { pointer, value: _ } => self.store(pointer),
            Statement::Atomic { pointer, ref fun, value: _, result: _ } => {
                self.atomic(pointer, fun);
            }
            Statement::WorkGroupUniformLoad { .. } => self.add("workgroupUniformLoad"),
            Statement::Call { function: _, arguments: _, result } => {
                let with = if result.is_some() { "with" } else { "without" };
                self.add(format!("call {with} a result"));
                self.add_if(inside.loops > 0, "call in a loop");
                self.add_if(inside.conditional, "call in an if");
            }
            Statement::SubgroupBallot { result: _, predicate } => {
                let what = if predicate.is_some() { "a predicate" } else { "those present" };
                self.add(format!("ballot of {what}"));
            }
            Statement::SubgroupGather { mode, .. } => self.gather(mode),
            Statement::SubgroupCollectiveOperation { op, collective_op, .. } => {
                self.collective(op, collective_op);
            }
            // Fragment shaders, textures, ray tracing, and what only other languages than WGSL have.
            Statement::Kill
            | Statement::MemoryBarrier(_)
            | Statement::ImageStore { .. }
            | Statement::ImageAtomic { .. }
            | Statement::RayQuery { .. }
            | Statement::RayPipelineFunction(_)
            | Statement::CooperativeStore { .. } => {
                panic!("no compute shader of the corpus can have {statement:?}")
            }
        }
    }

    fn branch(&mut self, accept: &Block, reject: &Block, inside: Inside) {
        self.add(if reject.is_empty() { "if" } else { "if else" });
        self.add_if(accept.is_empty(), "empty arm");
        let last = reject.last().is_some_and(|s| matches!(s, Statement::If { .. }));
        self.add_if(last, "else if");
        let inside = Inside { conditional: true, ..inside };
        self.body(accept, inside);
        self.body(reject, inside);
    }

    fn switch(&mut self, cases: &[SwitchCase], inside: Inside) {
        self.add_if(inside.switches > 0, "switch in a switch");
        self.add_if(inside.loops > 0, "switch in a loop");
        self.add_if(cases.len() == 1, "default alone");
        let last = cases.len() - 1;
        let mut shares = false;
        for (index, SwitchCase { value, body, fall_through }) in cases.iter().enumerate() {
            match value {
                SwitchValue::U32(_) => self.add("switch of u32"),
                SwitchValue::I32(_) => self.add("switch of i32"),
                SwitchValue::Default => {
                    self.add(if index == last { "default last" } else { "default before a case" });
                    self.add_if(shares || *fall_through, "default that shares an arm");
                }
            }
            self.add_if(*fall_through, "case that shares the next one's arm");
            self.add_if(body.is_empty() && !fall_through, "empty case");
            shares = *fall_through;
            let switches = inside.switches + 1;
            self.body(body, Inside { switches, breaks: Some("switch"), ..inside });
        }
    }

    fn endless(&mut self, body: &Block, continuing: &Block, break_if: bool, inside: Inside) {
        self.add("loop");
        self.add_if(!continuing.is_empty(), "loop with continuing");
        self.add_if(break_if, "loop with break if");
        self.add_if(inside.loops > 0, "loop in a loop");
        self.add_if(inside.loops > 1, "loop three deep");
        // A `for` without statements still has its condition.
        self.add_if(body.len() <= 3, "loop with an empty body");
        let loops = inside.loops + 1;
        let inside = Inside { loops, breaks: Some("loop"), ..inside };
        self.body(body, Inside { conditional: false, ..inside });
        self.body(continuing, inside);
    }

    fn barrier(&mut self, barrier: Barrier) {
        for (name, _) in barrier.iter_names() {
            self.add(format!("barrier {name}"));
        }
    }

    /// The variable that a pointer leads to: its memory, and whether it is atomic.
    fn target(&self, pointer: Handle<Expression>) -> (String, &'static str) {
        let space = self.space(pointer);
        let kind = match space {
            AddressSpace::Storage { .. } | AddressSpace::WorkGroup => self.atomic_kind(pointer),
            AddressSpace::Function
            | AddressSpace::Private
            | AddressSpace::Uniform
            | AddressSpace::Handle
            | AddressSpace::Immediate
            | AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => "",
        };
        (name_of(space).to_owned(), kind)
    }

    fn space(&self, pointer: Handle<Expression>) -> AddressSpace {
        let expression = &self.function.expressions[pointer];
        if let Expression::Access { base, .. } | Expression::AccessIndex { base, .. } = *expression
        {
            return self.space(base);
        }
        if let Expression::GlobalVariable(variable) = *expression {
            return self.module.global_variables[variable].space;
        }
        if let Expression::FunctionArgument(index) = *expression {
            let ty = self.function.arguments[index as usize].ty;
            return self.module.types[ty].inner.pointer_space().expect("a pointer");
        }
        AddressSpace::Function
    }

    /// `u32` or `i32` where a pointer leads to an atomic, else nothing.
    fn atomic_kind(&self, pointer: Handle<Expression>) -> &'static str {
        let mut typifier = naga::front::Typifier::new();
        let context = naga::proc::ResolveContext::with_locals(
            self.module,
            &self.function.local_variables,
            &self.function.arguments,
        );
        typifier.grow(pointer, &self.function.expressions, &context).expect("it validated");
        let inner = typifier.get(pointer, &self.module.types);
        let TypeInner::Pointer { base, .. } = *inner else { return "" };
        let TypeInner::Atomic(scalar) = self.module.types[base].inner else { return "" };
        match scalar {
            naga::Scalar::I32 => "i32",
            naga::Scalar::U32 => "u32",
            other => panic!("no shader of the corpus has atomics of {other:?}"),
        }
    }

    fn store(&mut self, pointer: Handle<Expression>) {
        let (space, kind) = self.target(pointer);
        let how = if kind.is_empty() { "store" } else { "atomic store" };
        self.add(format!("{how} to {space} memory"));
    }

    fn atomic(&mut self, pointer: Handle<Expression>, fun: &AtomicFunction) {
        let (space, kind) = self.target(pointer);
        let name = match *fun {
            AtomicFunction::Add => "Add",
            AtomicFunction::Subtract => "Subtract",
            AtomicFunction::And => "And",
            AtomicFunction::ExclusiveOr => "ExclusiveOr",
            AtomicFunction::InclusiveOr => "InclusiveOr",
            AtomicFunction::Min => "Min",
            AtomicFunction::Max => "Max",
            AtomicFunction::Exchange { compare: None } => "Exchange",
            AtomicFunction::Exchange { compare: Some(_) } => "CompareExchange",
        };
        self.add(format!("atomic {name}"));
        self.add(format!("atomic {name} in {space} memory of {kind}"));
    }

    fn gather(&mut self, mode: GatherMode) {
        self.add(match mode {
            GatherMode::BroadcastFirst => "gather BroadcastFirst",
            GatherMode::Broadcast(_) => "gather Broadcast",
            GatherMode::Shuffle(_) => "gather Shuffle",
            GatherMode::ShuffleDown(_) => "gather ShuffleDown",
            GatherMode::ShuffleUp(_) => "gather ShuffleUp",
            GatherMode::ShuffleXor(_) => "gather ShuffleXor",
            GatherMode::QuadBroadcast(_) => "gather QuadBroadcast",
            GatherMode::QuadSwap(Direction::X) => "gather QuadSwapX",
            GatherMode::QuadSwap(Direction::Y) => "gather QuadSwapY",
            GatherMode::QuadSwap(Direction::Diagonal) => "gather QuadSwapDiagonal",
        });
    }

    fn collective(&mut self, operation: SubgroupOperation, how: CollectiveOperation) {
        let operation = match operation {
            SubgroupOperation::All => "All",
            SubgroupOperation::Any => "Any",
            SubgroupOperation::Add => "Add",
            SubgroupOperation::Mul => "Mul",
            SubgroupOperation::Min => "Min",
            SubgroupOperation::Max => "Max",
            SubgroupOperation::And => "And",
            SubgroupOperation::Or => "Or",
            SubgroupOperation::Xor => "Xor",
        };
        let how = match how {
            CollectiveOperation::Reduce => "Reduce",
            CollectiveOperation::InclusiveScan => "InclusiveScan",
            CollectiveOperation::ExclusiveScan => "ExclusiveScan",
        };
        self.add(format!("subgroup {operation} {how}"));
    }
}

/// What WGSL calls a memory.
fn name_of(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Function => "function",
        AddressSpace::Private => "private",
        AddressSpace::WorkGroup => "workgroup",
        AddressSpace::Uniform => "uniform",
        AddressSpace::Storage { .. } => "storage",
        AddressSpace::Immediate => "immediate",
        AddressSpace::Handle
        | AddressSpace::TaskPayload
        | AddressSpace::RayPayload
        | AddressSpace::IncomingRayPayload => panic!("no memory of a compute shader over buffers"),
    }
}
