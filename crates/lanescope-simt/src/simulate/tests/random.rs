//! Random structured programs: what must be the same at every width, policy and schedule.
//!
//! Input: seeds from proptest. A program without subgroup operations computes the same words, and
//! executes each block with the same number of lanes, at every width; at width 1 executions are lanes,
//! and a wider subgroup never executes a block more often than a narrower one in total.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::units::random::SplitMix64;

/// Writes a program from a sequence of choices.
struct Writer {
    text: String,
    choices: SplitMix64,
    depth: u32,
    loops: u32,
    switches: u32,
    statements: u32,
    function: bool,
    continuing: bool,
}

impl Writer {
    /// A number below `count`.
    fn choose(&mut self, count: usize) -> usize {
        self.choices.below(count)
    }

    fn value(&mut self) -> String {
        match self.choose(6) {
            0 => format!("{}u", self.choose(7)),
            1 => "i".to_owned(),
            2 => "a".to_owned(),
            3 => "b".to_owned(),
            4 => format!("arr[(a + {}u) % 4u]", self.choose(4)),
            _ => "v.y".to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.value(), self.value());
        match self.choose(4) {
            0 => format!("{left} % 3u == {right} % 3u"),
            1 => format!("{left} < {right}"),
            2 => format!("(({left} ^ {right}) & 1u) == 0u && a != 5u"),
            _ => format!("{left} % 2u == 0u || b % 4u == {}u", self.choose(4)),
        }
    }

    fn assign(&mut self) {
        let value = self.value();
        let number = self.choose(9);
        let statement = match self.choose(7) {
            0 => format!("a = a * 3u + {value};"),
            1 => format!("b ^= {value} << {number}u;"),
            2 => format!("arr[b % 4u] += {value};"),
            3 => format!("v = v.yx + vec2({value}, {number}u);"),
            4 => format!("let t = a; a = b; b = t + {value};"),
            5 if self.function => format!("a += helper(&b, {value});"),
            _ => format!("b += {value} / ({number}u - (a % 3u));"),
        };
        writeln!(self.text, "{{ {statement} }}").unwrap();
    }

    fn block(&mut self) {
        self.depth += 1;
        for _ in 0..=self.choose(3) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn statement(&mut self) {
        self.statements += 1;
        if self.depth > 5 || self.statements > 60 {
            return self.assign();
        }
        match self.choose(9) {
            0..=2 => self.assign(),
            3 | 4 => {
                let condition = self.condition();
                writeln!(self.text, "if {condition} {{").unwrap();
                self.block();
                if self.choose(2) == 0 {
                    self.text.push_str("} else {\n");
                    self.block();
                }
                self.text.push_str("}\n");
            }
            5 => {
                let selector = self.value();
                writeln!(self.text, "switch ({selector}) % 5u {{ case 0u, 3u: {{").unwrap();
                self.switches += 1;
                self.block();
                self.text.push_str("} default: {\n");
                self.block();
                self.text.push_str("} case 1u: {\n");
                self.block();
                self.switches -= 1;
                self.text.push_str("} }\n");
            }
            6 | 7 => self.repeat(),
            _ => self.leave(),
        }
    }

    fn repeat(&mut self) {
        if self.loops >= 3 {
            return self.assign();
        }
        let (name, trips) = (self.statements, 1 + self.choose(5));
        self.loops += 1;
        let (switches, continuing) =
            (std::mem::take(&mut self.switches), std::mem::take(&mut self.continuing));
        if self.choose(2) == 0 {
            writeln!(
                self.text,
                "for (var k{name} = 0u; k{name} < {trips}u + i % 3u; k{name}++) {{"
            )
            .unwrap();
            self.block();
            self.text.push_str("}\n");
        } else {
            writeln!(self.text, "var k{name} = 0u; loop {{").unwrap();
            self.block();
            writeln!(self.text, "continuing {{ k{name} += 1u;").unwrap();
            self.assign();
            writeln!(self.text, "break if k{name} > {trips}u || a % 11u == 7u; }} }}").unwrap();
        }
        self.loops -= 1;
        (self.switches, self.continuing) = (switches, continuing);
    }

    fn leave(&mut self) {
        let condition = self.condition();
        let way = match self.choose(4) {
            0 if self.loops > 0 || self.switches > 0 => "break;",
            1 if self.loops > 0 => "continue;",
            2 => {
                if self.function {
                    "finish(i, a, b); return;"
                } else {
                    "return a + 1u;"
                }
            }
            _ => "a ^= 77u;",
        };
        writeln!(self.text, "if {condition} {{ {way} }}").unwrap();
    }
}

/// A program from a seed.
pub(super) fn write(seed: u64) -> String {
    let mut writer = Writer {
        text: String::new(),
        choices: SplitMix64::new(seed),
        depth: 0,
        loops: 0,
        switches: 0,
        statements: 0,
        function: false,
        continuing: false,
    };
    let variables = "var arr = array<u32, 4>(1u, 2u, 3u, 4u); var v = vec2(a, 9u);";
    writer.text.push_str(
        "@group(0) @binding(0) var<storage, read_write> output: array<u32>;
         fn finish(i: u32, a: u32, b: u32) { output[i] = a * 31u + b; }
         fn helper(p: ptr<function, u32>, i: u32) -> u32 {
         var a = i; var b = *p;\n",
    );
    writer.text.push_str(variables);
    writer.statements = 40;
    writer.block();
    writer.text.push_str("*p = b + 1u; return a; }\n");
    writer.function = true;
    writer.statements = 0;
    writer.text.push_str(
        "@compute @workgroup_size(48) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
         let i = id.x; var a = i; var b = i * 7u;\n",
    );
    writer.text.push_str(variables);
    while writer.statements < 60 {
        writer.block();
    }
    writer.text.push_str("finish(i, a, b + arr[2] + v.x); }\n");
    writer.text
}

/// Executions and lanes of every block.
type Counts = Vec<(u64, u64)>;

/// The outputs and counts.
fn execute(text: &str, config: &Config) -> (Vec<u32>, Counts) {
    let (output, outcome, _) =
        run(text, [2, 1, 1], 96, &[0], config).unwrap_or_else(|trap| panic!("{trap}\n{text}"));
    let counts = outcome.blocks.iter().map(|block| (block.executions.0, block.lanes.0));
    (output, counts.collect())
}

fn agree(seed: u64) {
    let text = write(seed);
    let (output, alone) = execute(&text, &Config { steps_max: 1 << 30, ..config(1) });
    assert!(alone.len() >= 20, "{text}");
    assert!(alone.iter().all(|&(executions, lanes)| executions == lanes), "{text}");
    let mut executions_before: u64 = alone.iter().map(|counts| counts.0).sum();
    for width in [4, 32, 128] {
        let steps_max = 1 << 30;
        let maximal = Config { steps_max, ..config(width) };
        let late = Config { reconvergence: Reconvergence::Late, ..maximal };
        let unfair = Config { schedule: Schedule::Unfair { seed }, threads: Some(3), ..maximal };
        let (found, counts) = execute(&text, &maximal);
        assert_eq!(found, output, "width {width}\n{text}");
        let lanes =
            |counts: &[(u64, u64)]| counts.iter().map(|counts| counts.1).collect::<Vec<_>>();
        assert_eq!(lanes(&counts), lanes(&alone), "width {width}\n{text}");
        let executions = counts.iter().map(|counts| counts.0).sum();
        assert!(executions <= executions_before, "width {width}\n{text}");
        executions_before = executions;
        let (found, apart) = execute(&text, &late);
        assert_eq!((found, lanes(&apart)), (output.clone(), lanes(&alone)), "late {width}\n{text}");
        for (late, maximal) in apart.iter().zip(&counts) {
            assert!(late.0 >= maximal.0, "late {width}\n{text}");
        }
        assert_eq!(execute(&text, &unfair), (output.clone(), counts), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_agree_at_every_width(seed in any::<u64>()) {
        agree(seed);
    }
}
