//! Figures that other tools printed, for templates: `results/other` and `results/reference`.
//!
//! Input: a file of those folders, and what leads to a figure in it. Output: numbers in the units that the
//! file has; of Nsight Compute's, bytes and nanoseconds.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use lanescope::program::{Overrides, Parsed};
use minijinja::value::{Serde, Value as Made};
use minijinja::{Environment, Error};

use super::numbers::wrong;
use super::records::Records;

/// A launch that Nsight Compute measured, by its names.
type Counters = BTreeMap<String, f64>;

/// Numbers by the most that differs in random programs.
type ByClass = BTreeMap<&'static str, BTreeMap<&'static str, u64>>;

/// Adds the functions to an environment.
pub(super) fn register(environment: &mut Environment<'_>, records: &Arc<Records>) {
    let store = Arc::clone(records);
    environment.add_function("csv", move |file: String, start: Vec<String>, column: usize| {
        csv(&store.root.join("results/other").join(&file), &start, column)
    });
    let store = Arc::clone(records);
    environment.add_function("column", move |file: String, first: String| {
        let text = read(&store.root.join("results/other").join(&file))?;
        let row = text.lines().find_map(|line| line.strip_prefix(&first)?.strip_prefix(' '));
        let field = row.and_then(|row| row.split_whitespace().next()?.parse::<f64>().ok());
        field.ok_or_else(|| wrong(format!("no number behind {first} in {file}")))
    });
    let store = Arc::clone(records);
    environment.add_function("programs", move |file: String, words: Vec<String>| {
        let text = read(&store.root.join("results/other/lab").join(&file))?;
        programs(&text, &words).map(|found| Made::from(Serde(found)))
    });
    let store = Arc::clone(records);
    environment.add_function("differing", move |file: String, words: Vec<String>| {
        let text = read(&store.root.join("results/other/lab").join(&file))?;
        differing(&text, &words).map(|found| Made::from(Serde(found)))
    });
    let store = Arc::clone(records);
    environment.add_function("shrunk", move |file: String, words: Vec<String>| {
        let text = read(&store.root.join("results/other/lab").join(&file))?;
        shrunk(&text, &words).map(|found| Made::from(Serde(found)))
    });
    let store = Arc::clone(records);
    environment.add_function("json", move |file: String| {
        let text = read(&store.root.join("results/other").join(&file))?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        Ok::<_, Error>(Made::from(Serde(value)))
    });
    let store = Arc::clone(records);
    environment.add_function("ncu", move |words: String, dispatches: Vec<String>, count: usize| {
        let printed = read(&store.root.join("results/other/ncu/sorting.txt.xz"))?;
        ncu(&printed, &words, &dispatches, count).map(|found| Made::from(Serde(found)))
    });
    let store = Arc::clone(records);
    environment.add_function("ncu_patterns", move || {
        let printed = read(&store.root.join("results/other/ncu/five_patterns.txt"))?;
        Ok::<_, Error>(Made::from(Serde(launches_of(&printed, "\n  sealed (")?)))
    });
    let store = Arc::clone(records);
    environment.add_function(
        "peer",
        move |work: String, pow2: u32, peer: String, device: String| {
            let mut rows = Vec::new();
            for place in ["nvidia-h100", "nvidia-h200"] {
                let path = store.root.join("results/reference").join(place).join("peers.json");
                rows.extend(lanescope::store::load_peers(&path).map_err(wrong)?.rows);
            }
            rows.retain(|row| {
                (row.work.as_str(), row.n, row.peer.as_str(), row.device.as_str())
                    == (work.as_str(), 1 << pow2, peer.as_str(), device.as_str())
            });
            // With cold caches where both were measured.
            let found = rows.into_iter().max_by_key(|row| row.cold);
            // Undefined where that was not measured: a dash in a table.
            Ok::<_, Error>(found.map(|found| Made::from(Serde(found))))
        },
    );
}

/// Of what `lab agreement` printed, the lines of each run whose first two lines (commit, seeds and options; device
/// and lanes) have all of `words`.
fn runs<'text>(printed: &'text str, words: &[String]) -> Result<Vec<Vec<&'text str>>, Error> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for line in printed.lines() {
        if line.starts_with("lanescope ") {
            all.push(Vec::new());
        }
        if let Some(run) = all.last_mut() {
            run.push(line);
        }
    }
    all.retain(|run| {
        let head = run[..run.len().min(2)].join(" ") + " ";
        words.iter().all(|word| head.contains(word.as_str()))
    });
    if all.is_empty() {
        return Err(wrong(format!("no run of random programs with {words:?}")));
    }
    Ok(all)
}

/// Of the runs that [`runs`] gives, how many random programs there were, and how many of them differ.
pub(super) fn programs(
    printed: &str,
    words: &[String],
) -> Result<BTreeMap<&'static str, u32>, Error> {
    let (mut programs, mut differ) = (0, 0);
    for run in runs(printed, words)? {
        let last = run.iter().find_map(|line| {
            let (count, rest) = line.split_once(" programs in ")?;
            let (_, rest) = rest.split_once("), ")?;
            Some((count.parse::<u32>().ok()?, rest.split_once(" differ")?.0.parse::<u32>().ok()?))
        });
        let (count, differing) =
            last.ok_or_else(|| wrong(format!("{}: it did not end", run[0])))?;
        (programs, differ) = (programs + count, differ + differing);
    }
    Ok(BTreeMap::from([("programs", programs), ("differ", differ)]))
}

/// Of the programs that the runs that [`runs`] gives printed as different, how many differ in what: each is counted by the most
/// that differs in it (`outputs`, `lanes`, executions that are `fewer` or `more`, or `unheard` where no answer came). With each
/// number the seed of one that differs in the fewest places.
pub(super) fn differing(printed: &str, words: &[String]) -> Result<ByClass, Error> {
    let mut classes: BTreeMap<&'static str, (u64, (usize, u64))> = BTreeMap::new();
    let mut lines = runs(printed, words)?.into_iter().flatten().peekable();
    while let Some(line) = lines.next() {
        let told = line.strip_prefix("seed ").and_then(|rest| rest.split_once(": "));
        let Some((seed, first)) = told else { continue };
        let seed: u64 = seed.parse().map_err(wrong)?;
        let mut differences = vec![first];
        while let Some(other) = lines.next_if(goes_on) {
            differences.push(other.trim_start());
        }
        let class = most_that_differs(&differences);
        let class = class.ok_or_else(|| wrong(format!("what differs in `{line}`?")))?;
        let (programs, smallest) = classes.entry(class).or_insert((0, (usize::MAX, seed)));
        *programs += 1;
        *smallest = (differences.len(), seed).min(*smallest);
    }
    let classes = classes.into_iter().map(|(class, (programs, (_, seed)))| {
        (class, BTreeMap::from([("programs", programs), ("seed", seed)]))
    });
    Ok(classes.collect())
}

/// Of the programs that the runs that [`runs`] gives shrank, by the most that differs in what is left, as [`differing`] calls
/// it: how many there are (`programs`), and how many of them have each form of control flow, by its word in records.
pub(super) fn shrunk(printed: &str, words: &[String]) -> Result<ByClass, Error> {
    let mut classes = ByClass::new();
    for run in runs(printed, words)? {
        let head = run[0];
        let mut lines = run.into_iter().skip_while(|line| !line.starts_with("shrunk: ")).peekable();
        let first = lines.next().and_then(|line| line.strip_prefix("shrunk: "));
        let first = first.ok_or_else(|| wrong(format!("{head}: nothing was shrunk")))?;
        let mut differences = vec![first];
        while let Some(other) = lines.next_if(goes_on) {
            differences.push(other.trim_start());
        }
        let class = most_that_differs(&differences);
        let class = class.ok_or_else(|| wrong(format!("what differs in `{first}`?")))?;
        // Behind it stands the program, each line behind its number.
        let numbered = |line: &str| -> Option<String> {
            let (number, code) = line.trim_start().split_once("  ")?;
            number.parse::<u32>().ok().map(|_| code.to_owned())
        };
        let text = lines.map_while(numbered).collect::<Vec<_>>().join("\n");
        let parsed = Parsed::new("shrunk.wgsl", &text).map_err(wrong)?;
        let program = parsed.resolve("main", &Overrides::new()).map_err(wrong)?;
        let forms = program.constructs().into_iter().map(|construct| construct.name());
        let counted = classes.entry(class).or_default();
        for name in std::iter::once("programs").chain(forms) {
            *counted.entry(name).or_default() += 1;
        }
    }
    Ok(classes)
}

/// Whether a line tells what else differs in the program of the line before.
fn goes_on(line: &&str) -> bool {
    line.starts_with("  block ") || line.starts_with("  buffer ")
}

/// The most that differs in one program, as [`differing`] calls it; `None` if that cannot be read.
fn most_that_differs(differences: &[&str]) -> Option<&'static str> {
    // `block b8 at line 55: 8 executions and 48 lanes, simulated 4 and 48`
    let figures = |line: &&str| -> Option<[u64; 4]> {
        let (_, behind) = line.split_once(": ")?;
        let words = behind.split(|letter: char| !letter.is_ascii_digit());
        let numbers = words.filter(|word| !word.is_empty()).map(|word| word.parse().ok());
        numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()
    };
    let blocks: Vec<[u64; 4]> = differences.iter().filter_map(figures).collect();
    let any = |differs: fn(&[u64; 4]) -> bool| blocks.iter().any(differs);
    match differences {
        [first] if first.contains(": nothing was heard for ") => Some("unheard"),
        _ if differences.iter().any(|line| line.starts_with("buffer ")) => Some("outputs"),
        _ if blocks.is_empty() => None,
        _ if any(|[_, lanes, _, simulated]| lanes != simulated) => Some("lanes"),
        _ if any(|[executions, _, simulated, _]| executions < simulated) => Some("fewer"),
        _ => Some("more"),
    }
}

pub(super) fn read(path: &Path) -> Result<String, Error> {
    let unread = |error| wrong(format!("{}: {error}", path.display()));
    if path.extension().is_none_or(|ending| ending != "xz") {
        return std::fs::read_to_string(path).map_err(unread);
    }
    let packed = std::fs::read(path).map_err(unread)?;
    let mut text = String::new();
    lzma_rust2::XzReader::new(packed.as_slice(), false)
        .read_to_string(&mut text)
        .map_err(unread)?;
    Ok(text)
}

/// The number in a column, from 0, of the one row that begins with these fields.
fn csv(path: &Path, start: &[String], column: usize) -> Result<f64, Error> {
    let text = read(path)?;
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut found =
        rows.filter(|row| row.len() >= start.len() && row.iter().zip(start).all(|(a, b)| a == b));
    let row =
        found.next().ok_or_else(|| wrong(format!("no row {start:?} in {}", path.display())))?;
    if found.next().is_some() {
        return Err(wrong(format!("several rows {start:?} in {}", path.display())));
    }
    let field = row.get(column).and_then(|field| field.parse().ok());
    field.ok_or_else(|| wrong(format!("no number in column {column} of {row:?}")))
}

/// What Nsight Compute printed of the last `count` launches of each of some dispatches, under the one
/// command that has these words, as one: millions of instructions, lanes of one, instructions a cycle,
/// cycles of waiting for each, bytes, nanoseconds.
pub(super) fn ncu(
    printed: &str,
    words: &str,
    dispatches: &[String],
    count: usize,
) -> Result<BTreeMap<&'static str, f64>, Error> {
    let commands: Vec<&str> = printed
        .split("$ ncu ")
        .filter(|part| part.lines().next().is_some_and(|command| command.contains(words)))
        .collect();
    let [command] = commands.as_slice() else {
        return Err(wrong(format!("{} commands with `{words}`", commands.len())));
    };
    let mut launches = Vec::new();
    for dispatch in dispatches {
        let head = format!("\n  {dispatch} (");
        let mut all = launches_of(command, &head)?;
        if all.len() < count {
            return Err(wrong(format!("{} launches of {dispatch} in `{words}`", all.len())));
        }
        launches.extend(all.split_off(all.len() - count));
    }
    let figures = together(&launches)?;
    let named = |name: &str| figures.get(name).copied().ok_or_else(|| wrong(format!("no {name}")));
    let sectors = |space: &str| {
        let name = format!("l1tex__t_sectors_pipe_lsu_mem_{space}_op_ld.sum");
        named(&name).unwrap_or(0.0)
    };
    Ok(BTreeMap::from([
        ("instructions", named("smsp__inst_executed.sum")?),
        ("sectors_a_load", sectors("global") / named("smsp__inst_executed_op_global_ld.sum")?),
        ("lanes", named("smsp__thread_inst_executed_per_inst_executed.ratio")?),
        ("per_cycle", named("smsp__inst_executed.avg.per_cycle_active")?),
        (
            "waiting",
            named("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")?,
        ),
        ("l1", (sectors("global") + sectors("local")) * 32.0),
        ("l2", named("lts__t_sectors_op_read.sum")? * 32.0),
        ("memory", named("dram__bytes_read.sum")? + named("dram__bytes_write.sum")?),
        ("time", named("gpu__time_duration.sum")?),
    ]))
}

/// What was printed of each launch whose heading begins so.
fn launches_of(printed: &str, head: &str) -> Result<Vec<Counters>, Error> {
    printed.split(head).skip(1).map(numbers).collect()
}

/// The numbers of one launch, bytes and nanoseconds for their larger units.
fn numbers(launch: &str) -> Result<Counters, Error> {
    // Between the numbers stand headings and rules of the sections.
    let lines = launch.lines().skip(1).take_while(|line| line.starts_with("    "));
    let lines = lines.filter(|line| line.contains("__"));
    let number = |line: &str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let (name, value, unit) = match parts.as_slice() {
            [name, value] => (*name, *value, ""),
            [name, unit, value] => (*name, *value, *unit),
            _ => return None,
        };
        let scale = match unit {
            "Gbyte" => 1e9,
            "Mbyte" | "ms" => 1e6,
            "Kbyte" | "us" => 1e3,
            _ => 1.0,
        };
        Some((name.to_owned(), value.replace(',', "").parse::<f64>().ok()? * scale))
    };
    lines.map(|line| number(line).ok_or_else(|| wrong(format!("`{line}`?")))).collect()
}

/// Several launches as one: amounts added up, ratios in instructions weighed by these, instructions a
/// cycle over all cycles.
fn together(launches: &[Counters]) -> Result<Counters, Error> {
    let instructions =
        |counters: &Counters| counters.get("smsp__inst_executed.sum").copied().unwrap_or(0.0);
    let all: f64 = launches.iter().map(instructions).sum();
    let first = launches.first().ok_or_else(|| wrong("no launches"))?;
    let value = |name: &String| {
        let counter = |counters: &Counters| counters.get(name).copied().unwrap_or(f64::NAN);
        if name.ends_with(".sum") {
            launches.iter().map(counter).sum()
        } else if name.ends_with("per_cycle_active") {
            all / launches.iter().map(|launch| instructions(launch) / counter(launch)).sum::<f64>()
        } else {
            launches.iter().map(|launch| instructions(launch) * counter(launch)).sum::<f64>() / all
        }
    };
    Ok(first.keys().map(|name| (name.clone(), value(name))).collect())
}
