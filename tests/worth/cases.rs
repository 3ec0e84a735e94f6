//! Shaders with a known cause: how a file of them is read, profiled, edited, and profiled again.
//!
//! Input: the sections of `new.md` and `corpus.md`: a shader, the line at which its lanes are lost with the
//! change that would help, and an edit. Output: [`Checked`]: the first card of advice, and what the edit saves in an
//! ordinary profile. It opens no device.
//!
//! # Sections
//!
//! - `cause: RULE at` and a part of the line, in backquotes; `n: N` where it is not 1,024; `groups: FORMULA`
//!   where workgroups do not follow from n.
//! - `key:` and an expression of `id`: the edit orders invocations by it. A pass of its own works the keys
//!   out, a second one their ranks, and each invocation loads its number ([`Edited::own_line`]); a block `wgsl key` has
//!   functions for the expression.
//! - `with:`, or `with groups FORMULA:`, and a second shader: the edit as text.
//! - A block `toml`: a part of a launch file, for data.

use std::collections::BTreeMap;

use lanescope::analyze::{
    Advice, DeviceProfile, MemoryView, Over, Profile, Rule, advice_of, memory_view, profiles,
};
use lanescope::kernel::{Description, Launch, Workgroups};
use lanescope::program::{COUNTING_RULE, Overrides, Parsed};
use lanescope::record::{Dispatch, Host, Method, Run, SCHEMA, Tool, Trial};
use lanescope::run::measure::{self, Results, measurement};
use lanescope::run::profile::{ProfileRequest, prepare};
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::what_if::{Budget, try_changes};
use lanescope::run::{CountRequest, Runner as _};
use lanescope::units::Width;

use super::edits::{Verified, verify};

/// Elements where a section says nothing.
const ELEMENTS: u64 = 1024;

/// The file name of a shader in records.
const FILE: &str = "shader.wgsl";

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its heading.
    pub(crate) name: String,
    /// The advice that its author expects first.
    pub(crate) rule: String,
    /// The line that it names, from 1.
    pub(crate) line: u32,
    source: String,
    data: String,
    n: u64,
    groups: Option<String>,
    edit: Edit,
}

/// How a shader is edited.
#[derive(Clone, Debug)]
enum Edit {
    /// Invocations ordered by an expression, for which there may be functions.
    Key { expression: String, functions: String },
    /// Another text, in other workgroups where they are given.
    Text { source: String, groups: Option<String> },
}

/// What came out.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "`lab worth` reads what no test does")]
pub(crate) struct Checked {
    /// The first card's kind and line.
    pub(crate) first: Option<(Rule, u32)>,
    /// The costs that it says are saved: subgroup operations, or what its kind counts in the model of memory.
    pub(crate) said: u64,
    /// What an edit saves of the same, in an ordinary profile: the card's own order, loaded from a buffer, or else the edit
    /// of the section where it is of the card's kind; `None` if there is neither.
    pub(crate) saved: Option<i64>,
    /// What the section's edit saves.
    pub(crate) by_hand: i64,
    /// All of it as the shader is.
    pub(crate) before: u64,
}

/// Reads a file of sections; a shader that a section has not itself comes from `shader`.
///
/// # Panics
///
/// Where a section is not written as it must be.
pub(crate) fn read(text: &str, shader: &dyn Fn(&str) -> Option<String>) -> Vec<Case> {
    text.split("\n## ").skip(1).map(|section| case(section, shader)).collect()
}

fn case(section: &str, shader: &dyn Fn(&str) -> Option<String>) -> Case {
    let (name, body) = section.split_once('\n').unwrap_or((section, ""));
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in body.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(kind)) => open = Some((kind.to_owned(), String::new())),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => lines.push(line),
        }
    }
    let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let texts_of = |kind: &'static str| {
        blocks.iter().filter(move |(known, _)| known == kind).map(|(_, text)| text.clone())
    };
    let mut texts = texts_of("wgsl");
    let source = shader(name).or_else(|| texts.next());
    let source = source.unwrap_or_else(|| panic!("{name} has no shader"));
    let cause = value("cause: ").unwrap_or_else(|| panic!("{name} has no cause"));
    let (rule, part) = cause.split_once(" at ").unwrap_or_else(|| panic!("{name}: {cause}"));
    let part = part.trim_matches('`');
    let line = (1..).zip(source.lines()).find(|(_, line)| line.contains(part));
    let line = line.unwrap_or_else(|| panic!("{name}: no line has {part}")).0;
    let edit = match value("key: ") {
        Some(expression) => Edit::Key {
            expression: expression.trim_matches('`').to_owned(),
            functions: texts_of("wgsl key").collect(),
        },
        None => Edit::Text {
            source: texts.next().unwrap_or_else(|| source.clone()),
            groups: value("with groups ").map(|groups| groups.trim_end_matches(':').to_owned()),
        },
    };
    Case {
        name: name.to_owned(),
        rule: rule.to_owned(),
        line,
        source,
        data: texts_of("toml").collect(),
        n: value("n: ").map_or(ELEMENTS, |n| n.parse().unwrap_or(ELEMENTS)),
        groups: value("groups: ").map(str::to_owned),
        edit,
    }
}

impl Case {
    /// Profiles the shader and its edit on the simulator; once for each of `kept`, which says which trials count.
    ///
    /// # Panics
    ///
    /// Where the simulator refuses either.
    pub(crate) fn check(&self, width: Width, kept: &[fn(&Trial) -> bool]) -> Vec<Checked> {
        let launch =
            self.launch(&self.source, &self.data, &dispatch("main", self.groups.as_deref()));
        let mut run = profile(&launch, width);
        let trials = try_changes(&launch, width, STEPS_MAX, Budget::Everything);
        let trials = trials.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let edited = self.edited(&launch);
        let after = profile(&edited.launch, width);
        let after = &profiles(&after).remove(0).devices[0];
        let verified = verify(&launch, width, Budget::Everything);
        let verified = verified.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let check = |kept: &fn(&Trial) -> bool| {
            let mut what_if = trials.clone();
            what_if.trials.retain(kept);
            run.measurements[0].what_if = Some(what_if);
            self.checked(&profiles(&run).remove(0), (after, edited.own_line), &verified)
        };
        kept.iter().map(check).collect()
    }

    /// What trials of the shader say, beside what edits save.
    ///
    /// # Panics
    ///
    /// As [`Self::check`].
    #[allow(dead_code, reason = "a test asks for it, and `lab worth` does not")]
    pub(crate) fn verify(&self, width: Width) -> Vec<Verified> {
        let launch =
            self.launch(&self.source, &self.data, &dispatch("main", self.groups.as_deref()));
        let verified = verify(&launch, width, Budget::Everything);
        verified.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Subgroup operations that full subgroups would not need, and those that another text saves in the same launch: each
    /// of `changes` is a part of the shader and what stands in its place.
    ///
    /// # Panics
    ///
    /// Where the shader has no such part, or the simulator refuses the text.
    #[allow(dead_code, reason = "a test asks for it, and `lab worth` does not")]
    pub(crate) fn idle_and_saved(&self, width: Width, changes: &[(&str, &str)]) -> [u64; 2] {
        let mut text = self.source.clone();
        for (part, other) in changes {
            assert_eq!(text.matches(part).count(), 1, "{}: {part}", self.name);
            text = text.replace(part, other);
        }
        let dispatches = dispatch("main", self.groups.as_deref());
        let [before, after] = [&self.source, &text].map(|source| {
            let launch = self.launch(source, &self.data, &dispatches);
            profile(&launch, width).measurements.remove(0).dispatches
        });
        let lanes = u64::from(width.lanes());
        let blocks = before.iter().flat_map(|dispatch| &dispatch.blocks);
        let idle = blocks
            .map(|block| block.operations * (block.executions.0 - block.lanes.0.div_ceil(lanes)));
        [idle.sum(), operations(&before, None) - operations(&after, None)]
    }

    /// The first card of a profile beside what edits save.
    fn checked(
        &self,
        profiled: &Profile,
        (after, own_line): (&DeviceProfile, Option<u32>),
        verified: &[Verified],
    ) -> Checked {
        let before = &profiled.devices[0];
        let (by_hand, all) = saved_operations(before, after, own_line);
        let cards = advice_of(profiled);
        let Some(card) = cards.first() else {
            return Checked { first: None, said: 0, saved: None, by_hand, before: all };
        };
        let first = Some((card.rule, card.line));
        let hand = |saved: i64| (card.rule.name() == self.rule).then_some(saved);
        if let Some((foretold, (saved, all))) = figures(card, before, after) {
            return Checked {
                first,
                said: foretold,
                saved: hand(saved),
                by_hand: saved,
                before: all,
            };
        }
        let tried = verified.iter().find(|verified| {
            let trial = &verified.trial;
            (Rule::from(trial.change), trial.line) == (card.rule, card.line)
                && u128::try_from(verified.said) == Ok(card.saved_alone)
        });
        let saved =
            tried.and_then(|verified| verified.saved).and_then(|saved| i64::try_from(saved).ok());
        let foretold = u64::try_from(card.saved_alone).unwrap_or(u64::MAX);
        Checked {
            first,
            said: foretold,
            saved: saved.or_else(|| hand(by_hand)),
            by_hand,
            before: all,
        }
    }

    fn launch(&self, source: &str, data: &str, dispatches: &str) -> Launch {
        let text = format!("{data}\n{dispatches}");
        let description = Description::parse("launch.toml", &text);
        let description = description.unwrap_or_else(|e| panic!("{}: {e}\n{text}", self.name));
        let request = ProfileRequest {
            file: FILE.to_owned(),
            name: self.name.clone(),
            source: source.to_owned(),
            derived: None,
            description: Some(("launch.toml".to_owned(), description)),
            entry_point: None,
            workgroups: None,
            n: Some(self.n),
            seed: 1,
        };
        let prepared = prepare(&request, &mut |name| Err(format!("no file {name}")));
        prepared.unwrap_or_else(|error| panic!("{}: {error}\n{source}", self.name)).launch
    }

    /// The edited shader, launched on the same data.
    fn edited(&self, launch: &Launch) -> Edited {
        match &self.edit {
            Edit::Text { source, groups } => {
                let groups = groups.as_deref().or(self.groups.as_deref());
                let launch = self.launch(source, &self.data, &dispatch("main", groups));
                Edited { launch, own_line: None }
            }
            Edit::Key { expression, functions } => {
                let ordered = ordered(&self.source, expression, functions, launch);
                let data = format!("{}\n{}", self.data, ordered.data);
                // The edit asks for `y`, by which a launch without workgroups would be given rows.
                let ordering = dispatch("main", Some(&ordered.workgroups));
                let dispatches = format!("{}{ordering}", ordered.dispatches);
                let launch = self.launch(&ordered.source, &data, &dispatches);
                Edited { launch, own_line: Some(ordered.own_line) }
            }
        }
    }
}

/// An edited shader's launch.
struct Edited {
    launch: Launch,
    /// The line on which an invocation loads its number: its card says that this is not counted.
    own_line: Option<u32>,
}

/// A shader whose invocations are ordered.
struct Ordered {
    source: String,
    data: String,
    dispatches: String,
    /// The workgroups of the shader as it is, by axis.
    workgroups: String,
    own_line: u32,
}

fn dispatch(entry_point: &str, groups: Option<&str>) -> String {
    let groups = groups.map_or_else(String::new, |groups| {
        let quoted: Vec<String> = groups.split(',').map(|g| format!("\"{}\"", g.trim())).collect();
        match quoted.as_slice() {
            [count] => format!("workgroups = {count}\n"),
            grid => format!("workgroups = [{}]\n", grid.join(", ")),
        }
    });
    format!("\n[[dispatches]]\nentry_point = \"{entry_point}\"\n{groups}")
}

/// Lets invocations be ordered by an expression: keys and ranks are worked out by passes of their own.
fn ordered(source: &str, expression: &str, functions: &str, launch: &Launch) -> Ordered {
    let parsed = Parsed::new(FILE, source).unwrap_or_else(|error| panic!("{error}"));
    let program = parsed.resolve("main", &Overrides::new());
    let [x, y, z] = program.unwrap_or_else(|error| panic!("{error}")).workgroup_size();
    let Workgroups::Direct([columns, rows, layers]) = launch.dispatches[0].workgroups else {
        panic!("an indirect dispatch")
    };
    assert_eq!([z, layers], [1, 1], "cases have two dimensions at most");
    let size = x * y;
    let count = size * columns * rows;
    let (head, body) = source.split_once("fn main(").unwrap_or_else(|| panic!("no main"));
    let (parameters, body) = body.split_once("{\n").unwrap_or_else(|| panic!("no body"));
    assert!(parameters.contains("@builtin(global_invocation_id) id:"), "{parameters}");
    let parameters =
        parameters.replace("global_invocation_id) id:", "global_invocation_id) ordered_at:");
    let place = format!(
        "((ordered_at.y / {y}u) * {columns}u + ordered_at.x / {x}u) * {size}u + (ordered_at.y % {y}u) * {x}u + ordered_at.x % {x}u"
    );
    let before = format!("{head}fn main({parameters}{{\n");
    let own_line = u32::try_from(before.lines().count() + 1).unwrap_or(u32::MAX);
    let passes = format!(
        "
@group(3) @binding(0) var<storage, read_write> ordered_keys: array<u32>;
@group(3) @binding(1) var<storage, read_write> ordered_places: array<u32>;
{functions}
fn ordered_id(i: u32) -> vec3u {{
    let group = i / {size}u;
    let place = i % {size}u;
    return vec3u((group % {columns}u) * {x}u + place % {x}u, (group / {columns}u) * {y}u + place / {x}u, 0u);
}}
fn ordered_key(id: vec3u) -> u32 {{ return {expression}; }}
@compute @workgroup_size(64)
fn ordered_by_key(@builtin(global_invocation_id) place: vec3u) {{
    if place.x < {count}u {{ ordered_keys[place.x] = ordered_key(ordered_id(place.x)); }}
}}
@compute @workgroup_size(64)
fn ordered_by_rank(@builtin(global_invocation_id) place: vec3u) {{
    let i = place.x;
    if i >= {count}u {{ return; }}
    let own = ordered_keys[i];
    var rank = 0u;
    for (var j = 0u; j < {count}u; j++) {{
        let other = ordered_keys[j];
        rank += u32(other > own || (other == own && j < i));
    }}
    ordered_places[rank] = i;
}}
"
    );
    let line = format!("    let id = ordered_id(ordered_places[{place}]);\n");
    let buffer = |name: &str| {
        format!(
            "\n[[buffers]]\nname = \"{name}\"\ntype = \"u32\"\nelements = {count}\nfill = \"zero\"\n"
        )
    };
    let groups = count.div_ceil(64).to_string();
    let pass = |name: &str| format!("{}setup = true\n", dispatch(name, Some(&groups)));
    Ordered {
        source: format!("{before}{line}{body}{passes}"),
        data: format!("{}{}", buffer("ordered_keys"), buffer("ordered_places")),
        dispatches: format!("{}{}", pass("ordered_by_key"), pass("ordered_by_rank")),
        workgroups: format!("{columns}, {rows}, {layers}"),
        own_line,
    }
}

/// Counts a launch and watches its memory, as `lanescope profile` does.
///
/// # Panics
///
/// Where the simulator refuses it.
pub(crate) fn profile(launch: &Launch, width: Width) -> Run {
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let counted = simulator.count_once(launch, &CountRequest::once(Method::Executed));
    let counted = counted.unwrap_or_else(|error| panic!("{}: {error}", launch.kernel));
    let results = Results { counted: Some(counted), ..Results::default() };
    let device = simulator.device().clone();
    let measured = measurement(&device, launch, results);
    let mut measured = measured.unwrap_or_else(|error| panic!("{}: {error}", launch.kernel));
    measured.memory = simulator.watch_memory(launch, 1, u64::MAX).ok();
    Run {
        schema: SCHEMA,
        counting_rule: COUNTING_RULE,
        tool: Tool::this(),
        started_utc: String::new(),
        argv: vec!["profile".to_owned(), launch.kernel.clone()],
        host: Host {
            os: String::new(),
            arch: String::new(),
            logical_cpus: 1,
            environment: BTreeMap::new(),
        },
        devices: vec![device],
        measurements: vec![measured],
        kernels: BTreeMap::new(),
        sources: BTreeMap::from([measure::source(launch)]),
    }
}

/// Subgroup operations that an edit saves, its line that is not counted left out, and all before.
fn saved_operations(
    before: &DeviceProfile,
    after: &DeviceProfile,
    own_line: Option<u32>,
) -> (i64, u64) {
    let all = operations(&before.dispatches, None);
    let rest = operations(&after.dispatches, own_line);
    (i64::try_from(all).unwrap_or(i64::MAX) - i64::try_from(rest).unwrap_or(i64::MAX), all)
}

/// Subgroup operations of dispatches that set nothing up, but for those on a line of the entry point and in
/// the function that it calls there.
fn operations(dispatches: &[Dispatch], own_line: Option<u32>) -> u64 {
    let blocks = dispatches.iter().filter(|dispatch| !dispatch.setup).flat_map(|d| &d.blocks);
    let counted = |block: &lanescope::record::Block| {
        let called = block.flow.as_ref().is_some_and(|flow| flow.function == "ordered_id");
        let added = own_line.and_then(|line| block.lines.get(&line)).copied().unwrap_or(0);
        if called { 0 } else { (block.operations - added) * block.executions.0 }
    };
    blocks.map(counted).sum()
}

/// Of a card on memory: what it says is too much, and what the edit saves of the same, with all of it.
fn figures(
    card: &Advice,
    before: &DeviceProfile,
    after: &DeviceProfile,
) -> Option<(u64, (i64, u64))> {
    let (then, now) = (memory_view(before)?, memory_view(after)?);
    if card.rule == Rule::WaitAtBarrier {
        let at =
            |view: &MemoryView| view.waits.iter().map(|wait| wait.waited_operations).sum::<u64>();
        let waited = then.waits.iter().find(|wait| wait.line == card.line)?.waited_operations;
        let others = at(&then) - waited;
        let saved = i64::try_from(at(&then) - others).ok()? - i64::try_from(at(&now)).ok()?;
        return Some((waited, (saved, at(&then))));
    }
    let kind: fn(&lanescope::analyze::MemoryRow) -> Option<Over> = match card.rule {
        Rule::ScatteredAccess => |row| row.sectors,
        Rule::BankConflict => |row| row.passes,
        Rule::CrowdedAtomic => |row| row.turns,
        _ => return None,
    };
    let here = then.rows.iter().filter(|row| row.line == card.line).filter_map(kind);
    let excess_said: u64 = here.map(|over| over.excess).sum();
    let sum = |view: &MemoryView, figure: fn(Over) -> u64| {
        view.rows.iter().filter_map(kind).map(figure).sum::<u64>()
    };
    // What an edit takes besides is none of what the card says is too much.
    let excess = |view: &MemoryView| i64::try_from(sum(view, |over| over.excess)).ok();
    Some((excess_said, (excess(&then)? - excess(&now)?, sum(&then, |over| over.taken))))
}

impl Checked {
    /// Whether the first card names a line.
    pub(crate) fn names(&self, line: u32) -> bool {
        self.first.is_some_and(|(_, named)| named == line)
    }

    /// Whether what the card says lies within so much of what the edit saves.
    pub(crate) fn is_within(&self, share: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let difference =
            |saved: i64| (self.said as f64 - saved as f64).abs() <= share * saved as f64;
        self.saved.is_some_and(difference)
    }
}
