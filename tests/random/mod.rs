//! Random programs: the generator, agreement with each driver, and that a disagreement is found.
//!
//! A thousand programs a driver run in `.ci/run`, through `lab agreement`; here some.

use lanescope::kernel::Launch;
use lanescope::record::Device;
use lanescope::run::simulator::{STEPS_MAX, SimulatorRunner};
use lanescope::run::{CountRequest, Counted, RunError, RunErrorKind, Runner, TimeOptions, Timed};
use lanescope::units::Width;
use libtest_mimic::Trial;

use crate::devices::open;
use crate::support::agreement::{compare, program, smallest, unaffected, wider_than_processor};
use crate::support::drivers::Driver;
use crate::support::random_program::Options;
use crate::support::side_by_side::line_of;
use crate::support::trials_of;

const OPTIONS: Options = Options::ALL;

/// How many programs run on each driver here.
const PROGRAMS: u64 = 40;

/// Checks that need no driver.
pub(crate) fn trials() -> Vec<Trial> {
    trials_of(&[
        ("random::every_form_is_written", every_form),
        ("random::planted_disagreements_are_found_and_shrunk", planted),
        ("random::a_simulator_agrees_with_itself", honest),
        ("random::a_loop_that_was_cut_off_explains_what_comes_after_it", explained),
    ])
}

/// Simulator and device agree on outputs, executions, lanes and histograms. Where lavapipe's vectors are
/// wider than the processor's, a program may end its process; the next one runs.
pub(crate) fn agree(driver: &Driver) {
    let mut device = open(driver, 60).unwrap();
    let width = device.device().subgroup_width_run.unwrap();
    assert_eq!(width.lanes(), driver.width);
    let mut simulator = SimulatorRunner::new(width, STEPS_MAX);
    let may_end = wider_than_processor(device.device());
    let mut ended = Vec::new();
    // Other seeds than `.ci/run` takes.
    for seed in 1_000_000..1_000_000 + PROGRAMS {
        let program = program(seed, OPTIONS);
        let comparison = match compare(&program, seed, &mut device, &mut simulator) {
            Err(error) if may_end && error.kind == RunErrorKind::DeviceLost => {
                assert!(error.message.contains("SIGSEGV"), "seed {seed}: {error}");
                ended.push(seed);
                device = open(driver, 60).unwrap();
                continue;
            }
            other => other.unwrap(),
        };
        assert!(comparison.blocks >= 20, "seed {seed}: {} blocks", comparison.blocks);
        assert!(comparison.blocks_idle < comparison.blocks, "seed {seed} executed nothing");
        assert!(comparison.lanes >= comparison.executions, "seed {seed}: an issue without lanes");
        assert!(
            comparison.differences.is_empty(),
            "seed {seed}: {:#?}\n{program}",
            comparison.differences
        );
    }
    assert!(ended.len() as u64 * 4 <= PROGRAMS, "the driver's process ended in {ended:?}");
}

/// Over a thousand programs each form of statement that divergence can come from is written.
fn every_form() {
    let mut forms = std::collections::BTreeMap::new();
    for seed in 0..1000 {
        for (form, count) in program(seed, OPTIONS).forms() {
            *forms.entry(form).or_insert(0) += count;
        }
    }
    for form in [
        "if",
        "if else",
        "if else if else",
        "switch over u32",
        "switch over i32",
        "for",
        "while",
        "loop",
        "loop with continuing and break if",
        "loop that ends in break",
        "if in continuing",
        "break",
        "continue",
        "return",
        "call with a pointer",
        "atomic",
        "barriers",
        "barriers in a uniform loop",
        "subgroupAdd",
        "subgroupBallot",
        "subgroupShuffle",
        "subgroupShuffleXor",
        "subgroupShuffleUp",
        "subgroupShuffleDown",
        "condition with subgroupAny",
        "condition with &&",
        "textureLoad",
        "textureStore",
        "while of many turns",
        "loop of many turns with break if",
        "loop of many turns with break",
        "atomicStore between workgroups",
        "atomicExchange between workgroups",
        "atomicAdd between workgroups",
    ] {
        assert!(forms.get(form).is_some_and(|count| *count > 0), "no `{form}` in {forms:#?}");
    }
}

/// What is changed in honest counts.
type Lie = fn(&mut Counted);

/// A simulator that reports something else for programs whose text contains a word.
#[derive(Debug)]
struct Liar {
    honest: SimulatorRunner,
    word: &'static str,
    lie: Lie,
}

impl Runner for Liar {
    fn device(&self) -> &Device {
        self.honest.device()
    }

    fn count(
        &mut self,
        launch: &Launch,
        request: &CountRequest,
        notice: &mut dyn FnMut(),
    ) -> Result<Vec<Counted>, RunError> {
        let mut counted = self.honest.count(launch, request, notice)?;
        if launch.source.contains(self.word) {
            counted.iter_mut().for_each(|counted| (self.lie)(counted));
        }
        Ok(counted)
    }

    fn time(
        &mut self,
        launches: &[Launch],
        options: &TimeOptions,
        done: &mut dyn FnMut(usize),
    ) -> Vec<Result<Option<Timed>, RunError>> {
        self.honest.time(launches, options, done)
    }
}

fn pair(word: &'static str, lie: Lie) -> (Liar, SimulatorRunner) {
    let simulator = || SimulatorRunner::new(Width::new(8).unwrap(), STEPS_MAX);
    (Liar { honest: simulator(), word, lie }, simulator())
}

/// One issue, one lane, one bin, one word of the outputs: each is noticed, and what is left of the
/// program still has the statement that brought it about and little else.
fn planted() {
    let lies: [(&str, &str, u64, Lie); 4] = [
        ("    continue;", " executions and ", 1, |counted| {
            counted.dispatches[0].counts[0].executions.0 += 1;
        }),
        ("subgroupShuffleXor(", " lanes, simulated ", 1, |counted| {
            let last = counted.dispatches[0].counts.last_mut().unwrap();
            last.lanes.0 += 1;
        }),
        ("while ", "buffer `output` differs", 1, |counted| {
            counted.outputs_sha256.insert("output".to_owned(), "0".to_owned());
        }),
        // Histograms are counted for every eighth seed.
        ("switch ", "histogram", 8, |counted| {
            let bins = counted.dispatches[0].counts[0].histogram.as_mut().unwrap();
            bins.rotate_left(1);
        }),
    ];
    for (word, message, step, lie) in lies {
        let (mut liar, mut simulator) = pair(word, lie);
        let seed = (1..)
            .map(|number| number * step)
            .find(|seed| program(*seed, Options::BUFFERS).to_string().contains(word))
            .unwrap();
        let program = program(seed, Options::BUFFERS);
        let found = compare(&program, seed, &mut liar, &mut simulator).unwrap();
        assert_eq!(found.differences.len(), 1, "{word}: {:#?}", found.differences);
        assert!(found.differences[0].contains(message), "{word}: {:?}", found.differences);
        let (small, differences) = smallest(&program, seed, &mut liar, &mut simulator).unwrap();
        let text = small.to_string();
        assert!(text.contains(word), "{text}");
        assert_eq!(differences.len(), 1, "{differences:#?}");
        assert!(small.len() * 3 < program.len(), "{} of {}: {text}", small.len(), program.len());
    }
}

/// Without a lie nothing differs.
fn honest() {
    let (mut liar, mut simulator) = pair("no such word", |_| {});
    for seed in 1..40 {
        let found = compare(&program(seed, OPTIONS), seed, &mut liar, &mut simulator).unwrap();
        assert_eq!(found.differences, [""; 0], "seed {seed}");
    }
}

/// Only what stands before the statement of the first loop that was cut off is left to differ for another reason.
fn explained() {
    let text = "fn wait_for_turn() -> u32 {
    loop { }
}
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = id.x;
    if a > 3u {
        a += 1u;
    } else {
        a += 2u;
    }
    for (var k = 0u; k < 2u; k++) {
        a += 3u;
        while a < 9u {
            a += 1u;
        }
    }
    if a == 0u {
        handed = wait_for_turn();
    }
    while a < 70000u {
        a += 1u;
    }
}
";
    // All up to the loop around the one that was cut off.
    assert_eq!(unaffected(text, &[14]), 5..12);
    assert_eq!(unaffected(text, &[14, 21]), 5..12);
    // What another workgroup hands on may come from behind.
    assert_eq!(unaffected(text, &[21]), 5..18);
    // A function may be called from anywhere.
    assert_eq!(unaffected(text, &[2]), 0..0);
    assert_eq!(unaffected(text, &[2, 21]), 0..0);
    let block = "block 3 at line 12: 5 executions and 9 lanes, simulated 5 and 8";
    assert_eq!((line_of(block), line_of("buffer `output` differs")), (Some(12), None));
}
