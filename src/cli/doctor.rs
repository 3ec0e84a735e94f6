//! `lanescope doctor`: what the devices are, and whether they do what they say.

use std::io::Write;

use serde_json::json;

use super::arguments::DoctorArguments;
use super::devices::{self, Available, Choice};
use super::failure::{Exit, Failure};
use super::screen;
use crate::kernel::Catalogue;
use crate::present::fit::{fold, fold_after};
use crate::present::{self, terminal_columns};
use crate::record::{CountersFrom, Device, Packing, Tag, Trust, flag};
use crate::run::back_end::{BackEnd, OpenOptions, Places, WarmUpRule};
use crate::run::backends::BACK_ENDS;
use crate::run::cuda::disassembly::HOW_TO_GET;
use crate::run::self_test::{self, CaseResult};
use crate::run::worker::{self, SILENCE_MAX};
use crate::run::{RunError, RunErrorKind, Runner};

/// What was found of one device.
struct Examined {
    id: String,
    device: Option<Device>,
    self_test: Result<Vec<CaseResult>, RunError>,
    /// What reads hardware counters, or why nothing does; `None` if devices have none to read.
    counters: Option<Result<CountersFrom, String>>,
}

impl Examined {
    /// What the device's counts are worth; `None` if it could not be opened, or gives none of a shader's blocks.
    fn trust(&self) -> Option<Trust> {
        let device = self.device.as_ref()?;
        let passed = |cases: &Vec<CaseResult>| cases.iter().all(|case| case.differences.is_empty());
        if !device.gives().counts {
            return device.trust;
        }
        Some(if device.is_simulator() {
            Trust::Guaranteed
        } else if self.self_test.as_ref().is_ok_and(passed) {
            Trust::Observed
        } else {
            Trust::Unknown
        })
    }

    /// Whether the device did as it says and as every width must.
    fn sound(&self) -> bool {
        let honest = self
            .device
            .as_ref()
            .is_some_and(|device| !flag::has(&device.flags, &Tag::SubgroupWidthMisreported));
        let counts = match &self.self_test {
            Ok(cases) => cases.iter().all(|case| case.differences.is_empty()),
            // What cannot be tested has not failed: no subgroups, for one.
            Err(error) => error.kind == RunErrorKind::Unsupported,
        };
        honest && counts
    }
}

/// A back end that executes machine code without hardware: its first device, or why it cannot be opened.
struct Executes {
    back_end: &'static BackEnd,
    device: Result<Device, RunError>,
}

impl Executes {
    /// Opens the first device of each such back end, in a child: whether its compiler loads is seen by loading it.
    fn ask() -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for choice in devices::list_surveyed() {
            if all.iter().all(|examined| examined.back_end.prefix != choice.back_end.prefix) {
                let opened = choice.worker(&OpenOptions::usual(None), SILENCE_MAX);
                let device = opened.map(|runner| runner.device().clone());
                all.push(Self { back_end: choice.back_end, device });
            }
        }
        all
    }

    /// Whether machine code is compiled here, and what is executed where it is not, a clause.
    fn summary(&self) -> String {
        match &self.device {
            Ok(Device { driver, compiles_nothing: Some(why), .. }) => format!(
                "nothing compiles machine code here: {why}. The code that lanescope brings is executed ({driver})"
            ),
            Ok(Device { driver, .. }) => {
                format!("{driver} compiles machine code here, which is executed without a GPU")
            }
            Err(error) => format!("cannot be opened: {error}"),
        }
    }

    fn describe(&self) -> serde_json::Value {
        let device = self.device.as_ref();
        let why = match &self.device {
            Ok(device) => device.compiles_nothing.clone(),
            Err(error) => Some(error.to_string()),
        };
        json!({ "compiles": why.is_none(), "driver": device.ok().map(|device| &device.driver), "error": why })
    }
}

/// Why there is no self-test of a device that gives no counts of a shader's blocks.
const NO_COUNTERS: &str =
    "the shader has no counters here: its machine code is executed and counted";

/// Examines devices.
pub(crate) fn doctor(arguments: &DoctorArguments, out: &mut impl Write) -> Result<Exit, Failure> {
    let catalogue = Catalogue::embedded().map_err(Failure::bad_input)?;
    let ids =
        if arguments.device.is_empty() { vec!["all".to_owned()] } else { arguments.device.clone() };
    let available = Available::ask(&ids);
    let choices = devices::choose(&ids, &available)?;
    let examined: Vec<Examined> = choices.iter().map(|c| examine(c, &catalogue)).collect();
    let executes = Executes::ask();
    if arguments.json {
        let all: Vec<_> = examined.iter().map(describe).collect();
        let mut document = json!({ "devices": all });
        for back_end in &BACK_ENDS {
            let listing = available.listing(back_end);
            match &back_end.places {
                Places::Listed { json: name, drivers: Some(_), .. } => {
                    let devices = listing.map_or(&[][..], |listing| listing.devices.as_slice());
                    let faults = listing.map_or(&[][..], |listing| listing.faults.as_slice());
                    document[*name] = json!(devices);
                    document["faults"] = json!(faults);
                }
                Places::Listed { json: name, .. } => document[*name] = json!(listing),
                Places::Form { .. } => {}
            }
        }
        for executor in &executes {
            document[executor.back_end.prefix] = executor.describe();
        }
        serde_json::to_writer_pretty(&mut *out, &document).map_err(Failure::bad_input)?;
        writeln!(out)?;
    } else {
        show(&available, &executes, &examined, terminal_columns(), out)?;
        if available.lacks_adapters() {
            writeln!(out, "\n{}", devices::install_text())?;
        }
    }
    if examined.iter().all(|examined| examined.device.is_none()) {
        return Ok(Exit::NoDevice);
    }
    let lies = |examined: &Examined| examined.device.is_some() && !examined.sound();
    if available.has_faults() || examined.iter().any(lies) {
        return Ok(Exit::DriverLies);
    }
    let unopened = examined.iter().any(|examined| examined.device.is_none());
    Ok(if unopened { Exit::PartFailed } else { Exit::Done })
}

fn examine(choice: &Choice, catalogue: &Catalogue) -> Examined {
    let id = choice.id();
    // Nothing is left to tell it to when standard error is closed.
    let _ = writeln!(screen::stderr(), "examining {id} …");
    let opened: Result<Box<dyn Runner>, RunError> = if choice.back_end.in_child {
        choice
            .worker(&OpenOptions::usual(Some(WarmUpRule::Whole)), SILENCE_MAX)
            .map(|runner| Box::new(runner) as _)
    } else {
        choice.open_here(&OpenOptions::usual(Some(WarmUpRule::Whole)))
    };
    match opened {
        Ok(mut runner) => {
            let self_test = match choice.back_end.gives.counts {
                true => self_test::run(&mut *runner, catalogue),
                false => Err(RunError::new(RunErrorKind::Unsupported, NO_COUNTERS)),
            };
            let read = || worker::counters(&id).unwrap_or_else(|error| Err(error.to_string()));
            let counters = choice.back_end.gives.counters.then(read);
            Examined { id, device: Some(runner.device().clone()), self_test, counters }
        }
        Err(error) => Examined { id, device: None, self_test: Err(error), counters: None },
    }
}

/// Prints what was found, on a terminal of so many columns.
fn show(
    available: &Available,
    executes: &[Executes],
    examined: &[Examined],
    columns: Option<usize>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let adapters = devices::list(available);
    writeln!(out, "Adapters:")?;
    for line in adapters.lines() {
        let start = line.len() - line.trim_start().len();
        writeln!(out, "{}", fold_after(&line[..start], line, &" ".repeat(start + 4), columns))?;
    }
    writeln!(out)?;
    for (back_end, listing) in available.listings().filter(|(_, listing)| listing.path.is_some()) {
        writeln!(out, "{}:\n{}\n", back_end.name, fold(&listing.summary(back_end), "  ", columns))?;
    }
    for executor in executes {
        writeln!(
            out,
            "{}:\n{}\n",
            executor.back_end.name,
            fold(&executor.summary(), "  ", columns)
        )?;
    }
    let devices: Vec<Device> = examined.iter().filter_map(|e| e.device.clone()).collect();
    write!(out, "{}", present::devices(&devices).to_screen(columns))?;
    for driver in examined {
        writeln!(out, "\n{}", driver.id)?;
        for line in device_lines(driver) {
            writeln!(out, "{}", fold_after("  ", &line, "    ", columns))?;
        }
        for case in driver.self_test.iter().flatten() {
            let verdict = if case.differences.is_empty() { "ok  " } else { "FAIL" };
            let head = format!("  {verdict} {:16} ", case.name);
            let hang = " ".repeat(head.len());
            writeln!(out, "{}", fold_after(&head, &case.question, &hang, columns))?;
            for difference in &case.differences {
                writeln!(out, "{}", fold(difference, "         ", columns))?;
            }
        }
    }
    Ok(())
}

/// What is said of a device beside its self-test, a line each.
fn device_lines(driver: &Examined) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(trust) = driver.trust() {
        let [meaning, consequence] = [trust.meaning(), trust.consequence()];
        lines.push(format!("counts: {}: {meaning}; {consequence}", trust.name()));
    }
    if let Some(device) = &driver.device {
        let mapping = match device.lane_is_local_index_mod_width {
            Some(true) => "lane = local_invocation_index mod W",
            Some(false) => "lanes are numbered otherwise than local_invocation_index mod W",
            None => "how lanes are numbered is not known",
        };
        lines.push(mapping.to_owned());
        lines.push(packing(device.packing).to_owned());
        lines.extend(device.flags.iter().map(|flag| format!("{flag}: {}", flag.explanation())));
    }
    lines.extend(driver.counters.as_ref().map(counters_words));
    if let Err(error) = &driver.self_test {
        lines.push(match driver.device {
            None => format!("cannot be opened: {error}"),
            Some(_) => format!("self-test of counting not possible: {error}"),
        });
    }
    lines
}

fn describe(examined: &Examined) -> serde_json::Value {
    let self_test = match &examined.self_test {
        Ok(cases) => json!({
            "passed": cases.iter().all(|case| case.differences.is_empty()),
            "cases": cases.iter().map(|case| json!({
                "name": case.name,
                "blocks_compared": case.blocks_compared,
                "differences": case.differences,
            })).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "passed": null, "error": error.message }),
    };
    let trust = examined.trust().map(Trust::name);
    let counters = examined.counters.as_ref().map(|counters| match counters {
        Ok(from) => json!({ "available": true, "from": from }),
        Err(why) => json!({ "available": false, "error": why }),
    });
    json!({
        "counters": counters,
        "id": examined.id,
        "device": examined.device,
        "self_test": self_test,
        "trust": trust,
    })
}

/// What reads hardware counters, or why nothing does, as a sentence.
fn counters_words(counters: &Result<CountersFrom, String>) -> String {
    match counters {
        Ok(CountersFrom { library, version, chip, disassembler }) => {
            let texts =
                disassembler.clone().unwrap_or_else(|| format!("no disassembler ({HOW_TO_GET})"));
            format!("hardware counters: {version}, {library}, on {chip}; machine code: {texts}")
        }
        Err(why) => format!("no hardware counters: {why}"),
    }
}

/// How workgroups of two or three dimensions are cut into subgroups, as a clause.
fn packing(packing: Option<Packing>) -> &'static str {
    match packing {
        Some(Packing::Linear) => {
            "2D and 3D workgroups: subgroups follow local_invocation_index, and all but the last are \
             full"
        }
        Some(Packing::Rows) => {
            "2D and 3D workgroups: a subgroup begins at each row along x, so that rows which are no \
             multiple of W leave lanes idle; the simulator packs them full, and differs there"
        }
        Some(Packing::Other) => {
            "2D and 3D workgroups: subgroups follow neither local_invocation_index nor rows; the \
             simulator follows the index, and differs there"
        }
        None => "2D and 3D workgroups: where subgroups begin is not known",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::present::tests::on_every_terminal;
    use crate::program::Construct;
    use crate::record::Gives;

    /// A case of the self-test, with what differs.
    fn case(name: &str, differences: &[&str]) -> CaseResult {
        CaseResult {
            name: name.to_owned(),
            question: "Does a loop that lanes leave one by one count each turn's lanes?".to_owned(),
            construct: Construct::Loop,
            differences: differences.iter().map(|&difference| difference.to_owned()).collect(),
            executions_right: differences.is_empty(),
            lanes_right: true,
            blocks_compared: 3,
        }
    }

    /// What is found of three devices: one that passes, one that does not, and one that cannot be opened.
    fn three_devices() -> Vec<Examined> {
        let counters = Err("CUPTI is not installed".to_owned());
        let wrong = ["line 14: 512 executions were expected, and 128 counted"];
        let tests = [
            Ok(vec![case("loop_each", &[])]),
            Ok(vec![case("loop_each", &[]), case("nested_breaks", &wrong)]),
            Err(RunError::new(RunErrorKind::DeviceLost, "the driver ended its process")),
        ];
        let devices = fixtures::run().devices.into_iter().zip(tests);
        devices
            .map(|(device, self_test)| Examined {
                id: device.id.clone(),
                counters: self_test.is_ok().then(|| counters.clone()),
                device: self_test.is_ok().then_some(device),
                self_test,
            })
            .collect()
    }

    /// A compiler that is there, one that is not, and a back end that cannot be opened.
    fn executes() -> Vec<Executes> {
        let device = fixtures::run().devices.into_iter().next().expect("one at least");
        let device = Device { driver: "radv Mesa 0.0".to_owned(), ..device };
        let why = Some("there is no Vulkan library".to_owned());
        let driver = format!("{}, brought with lanescope", device.driver);
        let brought = Device { compiles_nothing: why, driver, ..device.clone() };
        let lost = RunError::new(RunErrorKind::DeviceLost, "the driver ended its process");
        let back_end = devices::list_surveyed().next().expect("one at least").back_end;
        let all = [Ok(device), Ok(brought), Err(lost)];
        all.into_iter().map(|device| Executes { back_end, device }).collect()
    }

    #[test]
    fn what_executes_machine_code_is_told_in_json() {
        let described: Vec<_> = executes().iter().map(Executes::describe).collect();
        let values = |field: &str| {
            described.iter().map(|executor| executor[field].clone()).collect::<Vec<_>>()
        };
        assert_eq!(values("compiles"), [true, false, false]);
        let driver = "radv Mesa 0.0";
        assert_eq!(
            values("driver"),
            [json!(driver), json!(format!("{driver}, brought with lanescope")), json!(null)]
        );
        assert_eq!(values("error")[..2], [json!(null), json!("there is no Vulkan library")]);
        assert!(values("error")[2].to_string().contains("the driver ended its process"));
    }

    #[test]
    fn counts_of_machine_code_have_no_trust_in_a_shaders_counters() {
        let mut found = three_devices().swap_remove(0);
        let device = found.device.as_mut().expect("opened");
        device.gives = Some(Gives { counts: false, ..device.gives() });
        device.trust = None;
        assert_eq!(found.trust(), None);
        assert!(device_lines(&found).iter().all(|line| !line.starts_with("counts: ")));
    }

    #[test]
    fn what_was_found_on_every_terminal() {
        let shown = |columns: Option<usize>| {
            let mut out = Vec::new();
            show(&Available::made_up(), &executes(), &three_devices(), columns, &mut out)
                .expect("written");
            String::from_utf8(out).expect("a text")
        };
        insta::assert_snapshot!("doctor", on_every_terminal(shown));
    }
}
