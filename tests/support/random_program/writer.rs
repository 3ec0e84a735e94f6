//! The choices of which a random program is made.
//!
//! Input: a seed and [`Options`]. Output: the statements of a module. What programs are is said one
//! module up.

use super::{LOOP_LIMIT, Options, Piece, SKETCH_ROW, Statement, TOTALS, WAITING};

/// The most iterations of all loops of an invocation, but for one that is to reach [`LOOP_LIMIT`].
const ITERATIONS_MAX: u64 = 8_000;

/// One program in so many has a loop that reaches the limit: it takes a hundred times as long as others.
const LONG_LOOP_EACH: u64 = 64;

/// Which function is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    /// Calls nobody.
    Inner,
    /// Calls the inner one.
    Outer,
    /// The entry point, calls both.
    Entry,
}

/// Where the next statement stands.
#[derive(Clone, Copy, Debug)]
struct StatementPlace {
    function: Function,
    depth: u32,
    /// Whether `break` has a loop or switch to leave.
    breaks: bool,
    /// Whether `continue` has a loop.
    continues: bool,
    /// Whether it may return.
    returns: bool,
    /// The most times that an invocation comes here in one call.
    visits: u64,
}

/// Writes a program from a sequence of choices.
#[derive(Debug)]
pub(super) struct Writer {
    options: Options,
    choices: u64,
    /// Statements still to be written in this function; then only assignments.
    room: u32,
    /// Iterations of loops still allowed in this function.
    iterations: u64,
    /// Iterations that a call of the inner and of the outer function may take.
    costs: [u64; 2],
    /// Bodies of statements written so far.
    bodies: u32,
    /// Calls still allowed in this function: drivers put the callee in each one's place.
    calls: u32,
    /// Numbers for the names of variables.
    names: u32,
    /// Forms of conditions of the statement being written.
    noted: Vec<&'static str>,
}

/// Variables of every function.
const VARIABLES: &str =
    "var arr = array<u32, 4>(1u, 2u, 3u, 4u);\nvar v = vec2(a, 9u);\nvar s = i32(b) - 40;";

impl Writer {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        Self {
            options,
            // Neighbouring seeds must not give neighbouring choices.
            choices: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1,
            room: 0,
            iterations: 0,
            costs: [0; 2],
            calls: 0,
            bodies: 0,
            names: 0,
            noted: Vec::new(),
        }
    }

    /// A number below `count`.
    fn choose(&mut self, count: u64) -> u64 {
        self.choices =
            self.choices.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.choices >> 33) % count
    }

    /// An index below `count`.
    pub(super) fn pick(&mut self, count: u32) -> usize {
        usize::try_from(self.choose(u64::from(count))).unwrap_or(usize::MAX)
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// A statement of a form, with the forms of the conditions in it.
    fn statement_of(&mut self, form: &'static str, pieces: Vec<Piece>) -> Statement {
        let mut forms = std::mem::take(&mut self.noted);
        forms.push(form);
        Statement { forms, pieces }
    }

    fn line(&mut self, form: &'static str, text: String) -> Statement {
        self.statement_of(form, vec![Piece::Text(text)])
    }

    /// The whole module.
    pub(super) fn module(&mut self, size: u32, bodies: u32) -> Statement {
        let mut pieces = vec![Piece::Text(head(self.options, size))];
        let functions = [
            (Function::Inner, "fn inner(p: ptr<function, u32>, i: u32) -> u32 {", 3, 60),
            (Function::Outer, "fn outer(p: ptr<function, u32>, i: u32) -> u32 {", 3, 400),
        ];
        for (index, (function, head, room, iterations)) in functions.into_iter().enumerate() {
            (self.room, self.iterations, self.calls) = (room, iterations, 1);
            let opening = format!("{head}\nvar a = i;\nvar b = *p;\n{VARIABLES}");
            let place = StatementPlace {
                function,
                depth: 0,
                breaks: false,
                continues: false,
                returns: true,
                visits: 1,
            };
            let body = self.body(place, 3);
            self.costs[index] = iterations - self.iterations;
            pieces.extend([
                Piece::Text(opening),
                Piece::Body(body),
                Piece::Text("*p = b + u32(s);\nreturn a + v.x;\n}".to_owned()),
            ]);
        }
        pieces.push(Piece::Text(entry(self.options, size)));
        pieces.push(Piece::Body(self.entry_body(bodies)));
        pieces.push(Piece::Text("finish(i, a, b + arr[2] + v.x + u32(s));\n}".to_owned()));
        Statement { forms: Vec::new(), pieces }
    }

    /// The entry point: uniform flow with barriers first, then a part that may return early.
    fn entry_body(&mut self, bodies: u32) -> Vec<Statement> {
        let place = StatementPlace {
            function: Function::Entry,
            depth: 0,
            breaks: false,
            continues: false,
            returns: false,
            visits: 1,
        };
        (self.iterations, self.calls) = (ITERATIONS_MAX, 2);
        let mut body = Vec::new();
        // Barriers make drivers for CPUs slow to compile, so one program in four has them.
        if self.choose(4) == 0 {
            self.room = 3;
            body.extend(self.body(place, 3));
            body.push(self.exchange(place));
        }
        if self.options.exchange && self.choose(4) == 0 {
            self.room = 2;
            body.push(self.hand_on(place));
        }
        if self.options.long_loops && self.choose(LONG_LOOP_EACH) == 0 {
            body.push(self.long_loop());
        }
        // The functions are in the program only where somebody calls them.
        body.push(self.call(place));
        let place = StatementPlace { returns: true, ..place };
        while self.bodies < bodies {
            self.room = 4;
            body.extend(self.body(place, 3));
        }
        body
    }

    /// One to `count` statements.
    fn body(&mut self, place: StatementPlace, count: u64) -> Vec<Statement> {
        (0..1 + self.choose(count)).map(|_| self.statement(place)).collect()
    }

    fn arm(&mut self, place: StatementPlace) -> Piece {
        self.bodies += 1;
        Piece::Body(self.body(StatementPlace { depth: place.depth + 1, ..place }, 2))
    }

    fn statement(&mut self, place: StatementPlace) -> Statement {
        if place.depth > 4 || self.room == 0 {
            return self.assign();
        }
        self.room -= 1;
        match self.choose(if self.options.textures { 18 } else { 16 }) {
            0..=2 => self.assign(),
            3 | 4 => self.branch(place),
            5 if self.options.switches => self.switch(place),
            6..=8 => self.repeat(place),
            9 | 10 => self.leave(place),
            11 => self.atomic(),
            12 => self.call(place),
            13 | 14 if self.options.subgroups => self.subgroup(),
            15 if self.options.subgroups => self.shuffle(),
            16 => self.read_texel(),
            17 if place.function == Function::Entry => self.write_texel(),
            _ => self.branch(place),
        }
    }

    /// A texel of the picture, wherever its place is worked out to be.
    fn read_texel(&mut self) -> Statement {
        let (x, y) = (self.value(), self.value());
        let (level, component) = (self.choose(2), self.choose(4));
        let text = format!("a ^= texel({x}, {y}, {level}u)[(b + {component}u) % 4u];");
        self.line("textureLoad", text)
    }

    /// The invocation's own texel of the sketch.
    fn write_texel(&mut self) -> Statement {
        let value = self.value();
        let place = format!("vec2(i % {SKETCH_ROW}u, i / {SKETCH_ROW}u)");
        let text = format!("textureStore(sketch, {place}, vec4({value}, 0u, 0u, 1u));");
        self.line("textureStore", text)
    }

    /// A loop of some invocations that takes about as many turns as lavapipe lets a loop take.
    fn long_loop(&mut self) -> Statement {
        let (k, limit) = (self.name('k'), self.name('n'));
        let low = LOOP_LIMIT - 6;
        let opening = format!("let {limit} = {low}u + (b ^ i) % 12u;\nvar {k} = 0u;");
        let condition = format!("(i & {}u) == {}u", 31, self.choose(24));
        let inside = Piece::Body(vec![self.assign()]);
        let (form, head, tail) = match self.choose(3) {
            0 => (
                "while of many turns",
                format!("while {k} < {limit} {{\n    {k} += 1u;"),
                "}".to_owned(),
            ),
            1 => (
                "loop of many turns with break if",
                "loop {".to_owned(),
                format!(
                    "    continuing {{\n        {k} += 1u;\n        break if {k} >= {limit};\n    }}\n}}"
                ),
            ),
            _ => (
                "loop of many turns with break",
                format!("loop {{\n    if {k} >= {limit} {{ break; }}\n    {k} += 1u;"),
                "}".to_owned(),
            ),
        };
        let pieces = vec![
            Piece::Text(format!("if {condition} {{\n{opening}\n{head}")),
            inside,
            Piece::Text(format!("{tail}\n}}")),
        ];
        self.statement_of(form, pieces)
    }

    /// What one workgroup hands on to the next, through the lower bits of a word whose upper ones say whose turn it
    /// is.
    fn hand_on(&mut self, place: StatementPlace) -> Statement {
        let value = self.value();
        let next = format!("((group + 1u) << 24u) | ((handed * 5u + {value}) & 0xffffffu)");
        let (form, text) = match self.choose(3) {
            0 => ("atomicStore between workgroups", format!("atomicStore(&turn, {next});")),
            1 => ("atomicExchange between workgroups", format!("atomicExchange(&turn, {next});")),
            _ => (
                "atomicAdd between workgroups",
                format!("atomicAdd(&turn, ({next}) - ((group << 24u) | handed));"),
            ),
        };
        let first = format!(
            "if lane_of_workgroup == 0u {{\n    handed = {WAITING}();\n}}\nworkgroupBarrier();\na ^= handed;"
        );
        let pieces = vec![
            Piece::Text(first),
            self.arm(place),
            Piece::Text(format!(
                "workgroupBarrier();\nif lane_of_workgroup == 0u {{\n    {text}\n}}"
            )),
        ];
        self.statement_of(form, pieces)
    }

    fn value(&mut self) -> String {
        match self.choose(9) {
            // A number that nobody folds: naga refuses divisions by a constant zero.
            0 => format!("(nought + {}u)", self.choose(7)),
            1 | 2 => "i".to_owned(),
            3 => "a".to_owned(),
            4 => "b".to_owned(),
            5 => format!("arr[(a + {}u) % 4u]", self.choose(4)),
            6 => "v.y".to_owned(),
            7 => "u32(s)".to_owned(),
            _ => {
                let number = self.choose(20);
                match self.choose(6) {
                    0 => "countOneBits(a)".to_owned(),
                    1 => "reverseBits(b)".to_owned(),
                    2 => "firstLeadingBit(b | 1u)".to_owned(),
                    3 => "firstTrailingBit(a | 256u)".to_owned(),
                    4 => format!("extractBits(a, {number}u, 9u)"),
                    _ => format!("insertBits(a, b, {number}u, 5u)"),
                }
            }
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.value(), self.value());
        let forms = if self.options.subgroups { 10 } else { 7 };
        match self.choose(forms) {
            0 | 1 => format!("{left} % 3u == {right} % 3u"),
            2 => format!("{left} < {right}"),
            3 => {
                self.noted.push("condition with &&");
                format!("(({left} ^ {right}) & 1u) == 0u && a != 5u")
            }
            4 => {
                self.noted.push("condition with ||");
                format!("{left} % 2u == 0u || b % 4u == {}u", self.choose(4))
            }
            5 => format!("s < i32({left} % 64u)"),
            6 => format!("(i & {}u) != 0u", 1 << self.choose(6)),
            7 => {
                self.noted.push("condition with subgroupAny");
                format!("subgroupAny({left} % 7u == {}u)", self.choose(7))
            }
            8 => {
                self.noted.push("condition with subgroupAll");
                format!("subgroupAll({left} % 5u != {}u)", self.choose(5))
            }
            _ => {
                self.noted.push("condition with subgroupElect's meaning");
                format!("lane == subgroupBroadcastFirst(lane) || {left} < {right}")
            }
        }
    }

    fn assign(&mut self) -> Statement {
        let value = self.value();
        let number = self.choose(9);
        let text = match self.choose(10) {
            0 => format!("a = a * 3u + {value};"),
            1 => format!("b ^= {value} << {number}u;"),
            2 => format!("arr[b % 4u] += {value};"),
            3 => format!("v = v.yx + vec2({value}, {number}u);"),
            4 => {
                let name = self.name('t');
                format!("let {name} = a;\na = b;\nb = {name} + {value};")
            }
            5 => format!("b += {value} / ({number}u - (a % 3u));"),
            6 => format!("s = s / (i32({value} % 5u) - 2) - {number};"),
            7 => format!("s = clamp(s ^ i32({value}), -900, abs(s % 700) + 3);"),
            8 => format!("a = select(a + 1u, a % ({value} % 8u), b % 2u == 0u);"),
            _ => format!("a = max(a >> ({value} % 32u), min(b, {value})) + {number}u;"),
        };
        self.line("assignment", text)
    }

    fn branch(&mut self, place: StatementPlace) -> Statement {
        let condition = self.condition();
        let forms = std::mem::take(&mut self.noted);
        let mut pieces = vec![Piece::Text(format!("if {condition} {{")), self.arm(place)];
        let form = match self.choose(4) {
            0 | 1 => {
                pieces.extend([Piece::Text("} else {".to_owned()), self.arm(place)]);
                "if else"
            }
            2 => {
                let middle = self.value();
                pieces.push(Piece::Text(format!("}} else if ({middle} & 2u) == 2u {{")));
                pieces.push(self.arm(place));
                pieces.extend([Piece::Text("} else {".to_owned()), self.arm(place)]);
                "if else if else"
            }
            _ => "if",
        };
        pieces.push(Piece::Text("}".to_owned()));
        self.noted = forms;
        self.statement_of(form, pieces)
    }

    fn switch(&mut self, place: StatementPlace) -> Statement {
        let selector = self.value();
        let signed = self.choose(3) == 0;
        let place = StatementPlace { breaks: true, ..place };
        let head = if signed {
            format!("switch i32({selector} % 6u) - 2 {{")
        } else {
            format!("switch {selector} % 6u {{")
        };
        let labels = if signed {
            ["-2, 1", "-1", "0, 2, default", "7", "3"]
        } else {
            ["0, 3", "1", "default", "2, 4", "9"]
        };
        let mut pieces = vec![Piece::Text(head)];
        let first = self.pick(3);
        let count = 3 + self.pick(3);
        for offset in 0..count {
            let label = labels[(first + offset) % 5];
            let head = if label == "default" {
                "default: {".to_owned()
            } else {
                format!("case {label}: {{")
            };
            pieces.extend([Piece::Text(head), self.arm(place), Piece::Text("}".to_owned())]);
        }
        // The default arm is the third; a choice that left it out still needs one.
        if !(0..count).any(|offset| (first + offset) % 5 == 2) {
            pieces.extend([Piece::Text("default: {".to_owned()), self.arm(place)]);
            pieces.push(Piece::Text("}".to_owned()));
        }
        pieces.push(Piece::Text("}".to_owned()));
        self.statement_of(if signed { "switch over i32" } else { "switch over u32" }, pieces)
    }

    /// A loop, where its iterations still fit.
    fn repeat(&mut self, place: StatementPlace) -> Statement {
        let trips = 1 + self.choose(3);
        // Two more from `% 3u`, and a last look at the condition.
        let iterations = place.visits * (trips + 3);
        if iterations > self.iterations {
            return self.assign();
        }
        self.iterations -= iterations;
        let place = StatementPlace { breaks: true, continues: true, visits: iterations, ..place };
        let k = self.name('k');
        let bound = ["i", "b", "a", "lane_of_workgroup"][self.pick(4)];
        let limit = self.name('n');
        let opening = format!("let {limit} = {trips}u + {bound} % 3u;\nvar {k} = 0u;");
        let end = Piece::Text("}".to_owned());
        match self.choose(5) {
            0 => {
                let head = format!(
                    "let {limit} = {trips}u + {bound} % 3u;\nfor (var {k} = 0u; {k} < {limit}; {k}++) {{"
                );
                let pieces = vec![Piece::Text(head), self.arm(place), end];
                self.statement_of("for", pieces)
            }
            1 => {
                let head = format!("{opening}\nwhile {k} < {limit} {{\n    {k} += 1u;");
                let pieces = vec![Piece::Text(head), self.arm(place), end];
                self.statement_of("while", pieces)
            }
            2 => {
                let head = format!(
                    "{opening}\nloop {{\n    if {k} >= {limit} {{ break; }}\n    {k} += 1u;"
                );
                let pieces = vec![Piece::Text(head), self.arm(place), end];
                self.statement_of("loop", pieces)
            }
            3 => {
                let head = format!("{opening}\nloop {{");
                let body = self.arm(place);
                let step = self.continuing();
                let tail = format!("    break if {k} >= {limit} || a % 11u == 7u;\n}}}}");
                let pieces = vec![
                    Piece::Text(head),
                    body,
                    Piece::Text(format!("    continuing {{\n    {k} += 1u;")),
                    Piece::Body(vec![step]),
                    Piece::Text(tail),
                ];
                self.statement_of("loop with continuing and break if", pieces)
            }
            _ => {
                let head = format!(
                    "{opening}\nloop {{\n    if {k} >= {limit} {{ break; }}\n    {k} += 1u;"
                );
                let body = self.arm(place);
                let condition = self.condition();
                let again = Piece::Text(format!("    if {condition} {{ continue; }}"));
                let noted = std::mem::take(&mut self.noted);
                let pieces = vec![
                    Piece::Text(head),
                    body,
                    again,
                    self.arm(place),
                    Piece::Text("    break;\n}".to_owned()),
                ];
                self.noted = noted;
                self.statement_of("loop that ends in break", pieces)
            }
        }
    }

    /// What stands in `continuing`.
    fn continuing(&mut self) -> Statement {
        match self.choose(3) {
            0 if self.options.subgroups => self.subgroup(),
            1 => {
                let condition = self.condition();
                let noted = std::mem::take(&mut self.noted);
                let inside = Piece::Body(vec![self.assign()]);
                self.noted = noted;
                let pieces = vec![
                    Piece::Text(format!("if {condition} {{")),
                    inside,
                    Piece::Text("}".to_owned()),
                ];
                self.statement_of("if in continuing", pieces)
            }
            _ => self.assign(),
        }
    }

    /// An `if` that leaves a loop, a switch or the function.
    fn leave(&mut self, place: StatementPlace) -> Statement {
        let condition = self.condition();
        let (form, way) = match self.choose(4) {
            0 | 1 if place.breaks => ("break", "    break;\n}"),
            2 if place.continues => ("continue", "    continue;\n}"),
            3 if place.returns && place.function == Function::Entry => {
                ("return", "    finish(i, a, b);\n    return;\n}")
            }
            3 if place.returns => ("return", "    return a + 1u;\n}"),
            _ => return self.assign(),
        };
        let noted = std::mem::take(&mut self.noted);
        let mut pieces = vec![Piece::Text(format!("if {condition} {{"))];
        if self.options.busy_exits && self.choose(2) == 0 {
            pieces.push(self.arm(place));
        }
        pieces.push(Piece::Text(way.to_owned()));
        self.noted = noted;
        self.statement_of(form, pieces)
    }

    fn call(&mut self, place: StatementPlace) -> Statement {
        let value = self.value();
        let (name, cost) = match (place.function, self.choose(3)) {
            (Function::Inner, _) => return self.assign(),
            (Function::Entry, 0 | 1) => ("outer", self.costs[1]),
            (Function::Outer, _) | (Function::Entry, _) => ("inner", self.costs[0]),
        };
        let cost = cost * place.visits;
        if cost > self.iterations || self.calls == 0 {
            return self.assign();
        }
        self.iterations -= cost;
        self.calls -= 1;
        let pointer = if self.choose(2) == 0 { ("&a", "b") } else { ("&b", "a") };
        let text = format!("{} += {name}({}, {value});", pointer.1, pointer.0);
        self.line("call with a pointer", text)
    }

    /// An atomic whose result nobody reads.
    fn atomic(&mut self) -> Statement {
        let value = self.value();
        let word = self.choose(TOTALS);
        let operation =
            ["Add", "Max", "Xor", "Or", "Min", "And"][usize::try_from(word).unwrap_or(0)];
        self.line("atomic", format!("atomic{operation}(&totals[{word}], {value} ^ 5u);"))
    }

    /// An operation over the invocations of the subgroup that are active.
    fn subgroup(&mut self) -> Statement {
        let value = self.value();
        let (form, text) = match self.choose(12) {
            0 => ("subgroupAdd", format!("a += subgroupAdd({value});")),
            1 => ("subgroupMin", format!("b ^= subgroupMin({value});")),
            2 => ("subgroupMax", format!("s -= subgroupMax(i32({value}) >> 3u);")),
            3 => ("subgroupOr", format!("a ^= subgroupOr({value});")),
            4 => ("subgroupXor", format!("b += subgroupXor({value});")),
            5 => ("subgroupAnd", format!("b += subgroupAnd({value});")),
            6 => ("subgroupMul", format!("v.y ^= subgroupMul({value} | 1u);")),
            7 => (
                "subgroupBallot",
                format!("a += countOneBits(subgroupBallot({value} % 2u == 0u).x);"),
            ),
            8 => ("subgroupBroadcastFirst", format!("b += subgroupBroadcastFirst({value});")),
            9 => ("subgroupInclusiveAdd", format!("a ^= subgroupInclusiveAdd({value});")),
            10 => ("subgroupExclusiveAdd", format!("b ^= subgroupExclusiveAdd({value});")),
            _ => ("subgroupAdd of a vector", format!("v += subgroupAdd(vec2(a, {value}));")),
        };
        self.line(form, text)
    }

    /// Values from other invocations, kept where a ballot showed them active.
    fn shuffle(&mut self) -> Statement {
        let (ballot, from) = (self.name('w'), self.name('l'));
        let value = self.value();
        let number = 1 + self.choose(3);
        let (form, source) = match self.choose(5) {
            0 | 1 => ("subgroupShuffle", format!("({value}) % lanes")),
            2 => ("subgroupShuffleXor", format!("lane ^ {number}u")),
            3 => ("subgroupShuffleUp", format!("lane - {number}u")),
            _ => ("subgroupShuffleDown", format!("lane + {number}u")),
        };
        let head = format!(
            "let {ballot} = subgroupBallot(true);\nlet {from} = {source};\n\
             let {from}_active = {from} < lanes && ({ballot}[({from} / 32u) % 4u] >> ({from} % 32u) & 1u) == 1u;"
        );
        let tail = if form == "subgroupShuffle" {
            format!("a += subgroupShuffle(b, select(lane, {from}, {from}_active));")
        } else {
            format!("a += select(b, {form}(b, {number}u), {from}_active);")
        };
        self.line(form, format!("{head}\n{tail}"))
    }

    /// Barriers around an exchange through workgroup memory, sometimes in a loop of all.
    fn exchange(&mut self, place: StatementPlace) -> Statement {
        let shift = 1 + self.choose(30);
        let text = format!(
            "words[lane_of_workgroup] = a + b;\nworkgroupBarrier();\n\
             b ^= words[(lane_of_workgroup + {shift}u) % workgroup_size];\nworkgroupBarrier();"
        );
        if self.choose(2) == 0 {
            return self.line("barriers", text);
        }
        let k = self.name('k');
        let inside = StatementPlace { visits: 2, ..place };
        let pieces = vec![
            Piece::Text(format!("for (var {k} = 0u; {k} < 2u; {k}++) {{")),
            self.arm(inside),
            Piece::Text(text),
            Piece::Text("}".to_owned()),
        ];
        self.statement_of("barriers in a uniform loop", pieces)
    }
}

/// What stands before the functions.
fn head(options: Options, size: u32) -> String {
    let lanes =
        if options.subgroups { "var<private> lane: u32;\nvar<private> lanes: u32;\n" } else { "" };
    let textures = if options.textures {
        "@group(0) @binding(2) var picture: texture_2d<u32>;\n\
         @group(0) @binding(3) var sketch: texture_storage_2d<r32uint, write>;\n\
         fn texel(x: u32, y: u32, level: u32) -> vec4<u32> {\n    \
         return textureLoad(picture, vec2(x, y) % textureDimensions(picture, level), level);\n}\n"
    } else {
        ""
    };
    let exchange = if options.exchange {
        format!(
            "@group(0) @binding(4) var<storage, read_write> turn: atomic<u32>;\n\
             var<private> group: u32;\nvar<workgroup> handed: u32;\n\
             fn {WAITING}() -> u32 {{\n    loop {{\n        let word = atomicLoad(&turn);\n        \
             if word >> 24u == group {{ return word & 0xffffffu; }}\n    }}\n    return 0u;\n}}\n"
        )
    } else {
        String::new()
    };
    format!(
        "@group(0) @binding(0) var<storage, read_write> output: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> totals: array<atomic<u32>, {TOTALS}>;\n\
         const workgroup_size = {size}u;\n\
         var<workgroup> words: array<u32, workgroup_size>;\n\
         var<private> lane_of_workgroup: u32;\nvar<private> nought: u32;\n{lanes}{textures}{exchange}\
         fn finish(i: u32, a: u32, b: u32) {{\n    output[i] = a * 31u + b;\n}}"
    )
}

/// The entry point's head.
fn entry(options: Options, size: u32) -> String {
    let (mut arguments, mut first) = (String::new(), String::new());
    if options.subgroups {
        arguments += ", @builtin(subgroup_invocation_id) lane_given: u32, @builtin(subgroup_size) lanes_given: u32";
        first += "lane = lane_given;\nlanes = lanes_given;\n";
    }
    if options.exchange {
        arguments += ", @builtin(workgroup_id) group_given: vec3<u32>";
        first += "group = group_given.x;\n";
    }
    format!(
        "@compute @workgroup_size({size})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32{arguments}) {{\n\
         lane_of_workgroup = local;\n{first}let i = id.x;\nvar a = i;\nvar b = i * 7u;\n{VARIABLES}"
    )
}
