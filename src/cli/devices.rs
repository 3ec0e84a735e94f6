//! Device ids: which devices a command means.
//!
//! Input: the ids as typed, and what the back ends list. Output: [`Choice`]s, in the order of use. What
//! distinguishes one back end from another stands in its row of [`BACK_ENDS`], not here.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::kernel::{DeviceClass, KernelLanguage, near_matches};
use crate::run::back_end::{BackEnd, Listed, Listing, OpenOptions, Places};
use crate::run::backends::{self, BACK_ENDS};
use crate::run::simulator;
use crate::run::worker::{self, Lister, WorkerOptions, WorkerRunner};
use crate::run::{RunError, Runner};
use crate::units::Width;
use crate::units::visible::visible_line;

use super::failure::{Exit, Failure};

/// A device to use.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// How it is reached.
    pub(crate) back_end: &'static BackEnd,
    /// What stands behind the colon in its id.
    place: String,
    /// The driver's name for it.
    name: String,
    /// Whether the processor does the work.
    on_processor: bool,
    /// The variables that its child needs.
    environment: Vec<(String, String)>,
    /// The child that has listed it, for whoever opens a device of its back end first.
    lister: Idle,
    /// Whether it is the last that is used, whose child need not be waited for.
    last: bool,
}

/// A child that lists, until it is used for a device.
type Idle = Rc<RefCell<Option<Lister>>>;

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Choice {
    /// A device of a back end whose places have a form.
    fn from_form(back_end: &'static BackEnd, place: &str) -> Self {
        let place = place.to_owned();
        let (name, environment) = (back_end.name.to_owned(), Vec::new());
        let (lister, last) = (Idle::default(), false);
        Self { back_end, place, name, on_processor: true, environment, lister, last }
    }

    /// A device that a back end lists and does not leave out.
    fn from_listed(
        back_end: &'static BackEnd,
        listing: &Listing,
        listed: &Listed,
        lister: &Idle,
    ) -> Option<Self> {
        let (_, place) = listed.id.as_deref()?.split_once(':')?;
        let (place, name) = (place.to_owned(), listed.name.clone());
        let environment = listing.environment.clone();
        let (lister, on_processor) = (Rc::clone(lister), listed.cpu_driver);
        Some(Self { back_end, place, name, on_processor, environment, lister, last: false })
    }

    /// The simulator at a width.
    pub(crate) fn simulator(width: Width) -> Option<Self> {
        Some(Self::from_form(backends::by_prefix(simulator::PREFIX)?, &width.to_string()))
    }

    /// The id.
    pub(crate) fn id(&self) -> String {
        format!("{}:{}", self.back_end.prefix, self.place)
    }

    /// Whether it has times, as a device has and the simulator has not.
    pub(crate) fn is_device(&self) -> bool {
        self.back_end.gives.times
    }

    /// Whether it is the simulator, at any width.
    pub(crate) fn is_simulator(&self) -> bool {
        self.back_end.prefix == simulator::PREFIX
    }

    /// Whether it runs kernels of this language.
    pub(crate) fn speaks(&self, language: KernelLanguage) -> bool {
        self.back_end.languages.contains(&language)
    }

    /// Opens it in a child process of its own.
    ///
    /// # Errors
    ///
    /// What opening gives.
    pub(crate) fn worker(
        &self,
        open: &OpenOptions,
        silence_max: Duration,
    ) -> Result<WorkerRunner, RunError> {
        let environment = self.environment.clone();
        let options = WorkerOptions { environment, ..WorkerOptions::new(silence_max) };
        let lister = self.lister.borrow_mut().take();
        let mut runner = WorkerRunner::open_listed(&self.id(), open, &options, lister)?;
        if self.last {
            runner.let_go();
        }
        Ok(runner)
    }

    /// The same device, after which none is used.
    pub(crate) fn last(self) -> Self {
        Self { last: true, ..self }
    }

    /// Opens it in this process: for back ends that need no child.
    ///
    /// # Errors
    ///
    /// What opening gives.
    pub(crate) fn open_here(&self, options: &OpenOptions) -> Result<Box<dyn Runner>, RunError> {
        (self.back_end.open)(&self.place, options)
    }

    /// Whose defaults its kernels take.
    pub(crate) fn class(&self, quick: bool) -> DeviceClass {
        match (quick, self.on_processor) {
            (true, _) => DeviceClass::Quick,
            (false, true) => DeviceClass::Cpu,
            (false, false) => DeviceClass::Gpu,
        }
    }
}

/// What there is to choose from: what each back end that was asked lists.
#[derive(Debug)]
pub(crate) struct Available {
    listings: Vec<(&'static BackEnd, Listing, Idle)>,
}

impl Available {
    /// Asks children for what the ids may mean; where they mean nothing, for all that there is, so
    /// that the refusal can name it.
    pub(crate) fn ask(ids: &[String]) -> Self {
        let mut available = Self { listings: Vec::new() };
        available.ask_where(|back_end| may_mean(ids, back_end));
        if choose(ids, &available).is_err() {
            available.ask_where(|_| true);
        }
        available
    }

    /// Asks the back ends that list their devices and were not asked yet.
    fn ask_where(&mut self, wanted: impl Fn(&BackEnd) -> bool) {
        let lists = |back_end: &&BackEnd| matches!(back_end.places, Places::Listed { .. });
        for back_end in BACK_ENDS.iter().filter(lists).filter(|back_end| wanted(back_end)) {
            if self.listing(back_end).is_none() {
                let (listing, lister) = worker::list(back_end).unwrap_or_else(|error| {
                    let path = "how kernels are compiled is not known".to_owned();
                    let path = (!is_default(back_end)).then_some(path);
                    let trouble = Some(error.message);
                    (Listing { trouble, path, ..Listing::default() }, None)
                });
                self.listings.push((back_end, listing, Rc::new(RefCell::new(lister))));
            }
        }
        self.listings.sort_by_key(|(asked, ..)| {
            BACK_ENDS.iter().position(|back_end| back_end.prefix == asked.prefix)
        });
    }

    /// What a back end lists; `None` if it was not asked.
    pub(crate) fn listing(&self, back_end: &BackEnd) -> Option<&Listing> {
        let mut listings = self.listings();
        listings.find(|(asked, _)| asked.prefix == back_end.prefix).map(|(_, listing)| listing)
    }

    /// What each back end lists that was asked.
    pub(crate) fn listings(&self) -> impl Iterator<Item = (&'static BackEnd, &Listing)> {
        self.listings.iter().map(|(back_end, listing, _)| (*back_end, listing))
    }

    /// What goes wrong where no device is named: who could not be listed, and who is left out and why,
    /// a sentence each.
    fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for (_, listing) in self.listings().filter(|(back_end, _)| is_default(back_end)) {
            for listed in &listing.devices {
                if let Some(why) = &listed.left_out {
                    let Listed { name, backend, .. } = listed;
                    complaints.push(format!("{name} ({backend}) is left out: {why}"));
                }
            }
            complaints.extend(listing.trouble.iter().map(|trouble| unlisted_text(trouble)));
            complaints.extend(listing.faults.iter().cloned());
        }
        complaints
    }

    /// Whether some driver brings down whoever asks it, or is not even found.
    pub(crate) fn has_faults(&self) -> bool {
        self.listings().any(|(_, listing)| !listing.faults.is_empty())
    }

    /// Whether drivers were asked for the devices that are used where none is named, and have none.
    pub(crate) fn lacks_adapters(&self) -> bool {
        self.listings().any(|(back_end, _)| is_default(back_end)) && !self.has_adapters()
    }

    /// Whether some driver's device is there, and be it one that is left out.
    pub(crate) fn has_adapters(&self) -> bool {
        let mut defaults = self.listings().filter(|(back_end, _)| is_default(back_end));
        defaults.any(|(_, listing)| !listing.devices.is_empty())
    }

    /// The devices of a back end that work.
    fn find_choices(&self, back_end: &'static BackEnd) -> Vec<Choice> {
        let mut listings = self.listings.iter();
        let asked = listings.find(|(asked, ..)| asked.prefix == back_end.prefix);
        let Some((_, listing, lister)) = asked else { return Vec::new() };
        let choice = |listed| Choice::from_listed(back_end, listing, listed, lister);
        listing.devices.iter().filter_map(choice).collect()
    }

    /// The devices that work of those back ends that are used where none is named.
    fn working(&self) -> Vec<Choice> {
        BACK_ENDS
            .iter()
            .filter(|row| is_default(row))
            .flat_map(|row| self.find_choices(row))
            .collect()
    }
}

/// What is to be said of the devices before a run begins, a sentence each; `asked` says whether devices
/// were named.
pub(crate) fn remarks(available: &Available, chosen: &[Choice], asked: bool) -> Vec<String> {
    let mut remarks = available.complaints();
    // Where machine code is executed its tables say so.
    if !chosen.iter().any(|choice| choice.is_device() || (asked && choice.back_end.gives.code)) {
        remarks.push(describe_unused(available, asked));
        if !available.has_adapters() && !asked {
            remarks.push(install_text());
        }
    }
    remarks
}

/// Why no adapter is used, and how to use the CPU's driver where there is one.
fn describe_unused(available: &Available, asked: bool) -> String {
    let on_processor = available.working().into_iter().find(|choice| choice.on_processor);
    let why = match (asked, on_processor) {
        (true, _) => "only simulators were named".to_owned(),
        (false, Some(choice)) => format!(
            "there is no GPU ({} is a driver for the processor; --device {} uses it)",
            choice.name,
            choice.id()
        ),
        (false, None) if available.has_adapters() => "none of those that are here works".to_owned(),
        (false, None) => "there is none".to_owned(),
    };
    format!("no adapter is used: {why}. Counts come from the simulator, and there are no times")
}

fn unlisted_text(trouble: &str) -> String {
    format!("the adapters could not be listed: {trouble}")
}

/// Whether a back end's devices are used where none is named.
fn is_default(back_end: &BackEnd) -> bool {
    matches!(back_end.places, Places::Listed { by_default: true, .. })
}

/// Whether any of the ids may be a device of a back end's: one without a prefix that is known may be
/// meant for those that are used by default.
fn may_mean(ids: &[String], back_end: &BackEnd) -> bool {
    let means = |id: &String| {
        let known = id.split_once(':').and_then(|(prefix, _)| backends::by_prefix(prefix));
        match known {
            Some(known) => known.prefix == back_end.prefix,
            None => id == "all" || is_default(back_end),
        }
    };
    (ids.is_empty() && is_default(back_end)) || ids.iter().any(means)
}

/// Without ids: every GPU, else the CPU drivers, then the simulator at 32 and 64. With: those.
pub(crate) fn choose(ids: &[String], available: &Available) -> Result<Vec<Choice>, Failure> {
    let working = available.working();
    let mut chosen = Vec::new();
    if ids.is_empty() {
        let gpus = working.iter().any(|choice| !choice.on_processor);
        chosen.extend(working.into_iter().filter(|choice| !(gpus && choice.on_processor)));
        chosen.extend(usual());
        return Ok(chosen);
    }
    for id in ids.iter().flat_map(|ids| split(ids)) {
        for choice in choose_by_id(&id, &working, available)? {
            if !chosen.contains(&choice) {
                chosen.push(choice);
            }
        }
    }
    Ok(chosen)
}

/// The ids of a list: `sim:32,sim:64` are two, and so are `sim:32,64`, since any place of that form is a device. A
/// comma within the name of a device that is listed parts nothing.
fn split(ids: &str) -> Vec<String> {
    let places = |id: &str| -> Vec<String> {
        let form = id.split_once(':').filter(|(prefix, _)| {
            let back_end = backends::by_prefix(prefix);
            back_end.is_some_and(|back_end| matches!(back_end.places, Places::Form { .. }))
        });
        match form {
            Some((prefix, places)) => {
                // What stands before a slash holds for the places behind it that have none.
                let (mut family, mut all) = (None, Vec::new());
                for place in places.split(',').map(str::trim) {
                    family = place.rsplit_once('/').map(|(before, _)| before).or(family);
                    all.push(match family.filter(|_| !place.contains('/')) {
                        Some(family) => format!("{prefix}:{family}/{place}"),
                        None => format!("{prefix}:{place}"),
                    });
                }
                all
            }
            None => vec![id.to_owned()],
        }
    };
    split_ids(ids).into_iter().flat_map(places).collect()
}

/// The ids of a list, each from where a back end is named.
fn split_ids(ids: &str) -> Vec<&str> {
    let begins = |text: &str| {
        text == "all"
            || text.split_once(':').is_some_and(|(prefix, _)| backends::by_prefix(prefix).is_some())
    };
    let mut found = Vec::new();
    let mut rest = ids;
    let comma = |text: &str| {
        let mut commas = text.match_indices(',').map(|(place, _)| place);
        commas.find(|place| begins(text[place + 1..].split(',').next().unwrap_or_default().trim()))
    };
    while let Some(place) = comma(rest) {
        found.push(rest[..place].trim());
        rest = &rest[place + 1..];
    }
    found.push(rest.trim());
    found
}

/// The devices of `profile`: without ids the first GPU, where there is one, then the simulator at 32
/// and 64. With: those.
pub(crate) fn choose_for_profile(
    ids: &[String],
    available: &Available,
) -> Result<Vec<Choice>, Failure> {
    if !ids.is_empty() {
        return choose(ids, available);
    }
    let first = available.working().into_iter().find(|choice| !choice.on_processor);
    Ok(first.into_iter().chain(usual()).collect())
}

/// What stands beside every run: the simulator at 32 and 64.
fn usual() -> impl Iterator<Item = Choice> {
    of_forms(|places| match places {
        Places::Form { usual, .. } => usual,
        Places::Listed { .. } => &[],
    })
}

/// The devices at places of back ends whose places have a form.
fn of_forms(
    places: impl Fn(&'static Places) -> &'static [&'static str],
) -> impl Iterator<Item = Choice> {
    BACK_ENDS.iter().flat_map(move |back_end| {
        places(&back_end.places).iter().map(|place| Choice::from_form(back_end, place))
    })
}

/// What the main job executes beside those where no device is named: AMD's machine code at both wave sizes.
pub(super) fn list_surveyed() -> impl Iterator<Item = Choice> {
    of_forms(|places| match places {
        Places::Form { surveyed, .. } => surveyed,
        Places::Listed { .. } => &[],
    })
}

/// The devices that one id means.
fn choose_by_id(
    id: &str,
    working: &[Choice],
    available: &Available,
) -> Result<Vec<Choice>, Failure> {
    if id == "all" {
        let listed = BACK_ENDS.iter().flat_map(|back_end| available.find_choices(back_end));
        return Ok(listed.chain(usual()).collect());
    }
    let Some((prefix, place)) = id.split_once(':') else {
        return Err(no_such_device(id, working, available));
    };
    let Some(back_end) = backends::by_prefix(prefix) else {
        return Err(no_such_device(id, working, available));
    };
    match &back_end.places {
        Places::Form { check, .. } => match check(place) {
            Ok(()) => Ok(vec![Choice::from_form(back_end, place)]),
            Err(None) => Err(no_such_device(id, working, available)),
            Err(Some(why)) => {
                Err(Failure::message(Exit::NoDevice, format!("--device {id}: {why}")))
            }
        },
        Places::Listed { by_default, .. } => {
            let found = select_by_name(available.find_choices(back_end), place);
            match (found.is_empty(), by_default) {
                (false, _) => Ok(found),
                (true, true) => Err(no_such_device(id, working, available)),
                (true, false) => Err(missing(id, back_end, available)),
            }
        }
    }
}

/// The devices with a number, or with a part of a name.
fn select_by_name(devices: Vec<Choice>, wanted: &str) -> Vec<Choice> {
    let part = wanted.to_lowercase();
    let is_name = wanted.parse::<usize>().is_err() && !wanted.is_empty();
    let matches = |choice: &Choice| {
        choice.place == wanted || (is_name && choice.name.to_lowercase().contains(&part))
    };
    devices.into_iter().filter(matches).collect()
}

/// There is no such device where nothing is used by default, and the back end may say why.
fn missing(id: &str, back_end: &BackEnd, available: &Available) -> Failure {
    let trouble = available.listing(back_end).and_then(|listing| listing.trouble.clone());
    let why = trouble.unwrap_or_else(|| format!("{}'s driver has no such device", back_end.name));
    Failure::message(Exit::NoDevice, format!("--device {id}: {why}\n{}", list(available)))
}

fn no_such_device(id: &str, working: &[Choice], available: &Available) -> Failure {
    let mut known: Vec<String> = working.iter().map(Choice::id).collect();
    known.extend(usual().map(|choice| choice.id()));
    known.push("all".to_owned());
    let hint = near_matches(id, known.iter().map(String::as_str));
    let mut message = format!("there is no device {id:?}{hint}\n{}", list(available));
    if working.is_empty() {
        message += &install_text();
    }
    Failure::message(Exit::NoDevice, message)
}

/// What to install where there is no driver, and what keeps drivers from being looked for.
pub(crate) fn install_text() -> String {
    let named = DRIVER_LISTS.iter().find_map(|name| Some((name, std::env::var(name).ok()?)));
    let named = named.map_or_else(String::new, |(name, value)| {
        let value = visible_line(&value).into_owned();
        format!("\n{name} is set, so that no other driver is looked for than {value:?}")
    });
    format!("{INSTALL}{named}")
}

/// The variables that name the drivers that Vulkan's loader looks for, in place of all.
const DRIVER_LISTS: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// What to install where there is no driver.
const INSTALL: &str = "\
To get a Vulkan driver:
  Debian, Ubuntu: apt install mesa-vulkan-drivers,
    or NVIDIA's driver with its Vulkan part
  Fedora: dnf install mesa-vulkan-drivers vulkan-loader
  macOS: Metal is part of the system; nothing is needed
  Windows: DX12 is part of the system;
    install the GPU maker's driver
Without one, the simulator runs everything:
  --device sim:32 --device sim:64";

/// What there is, a line each.
pub(crate) fn list(available: &Available) -> String {
    let mut text = String::new();
    for (back_end, listing) in available.listings() {
        if let Some(trouble) = listing.trouble.as_ref().filter(|_| is_default(back_end)) {
            text += &format!("  {}\n", unlisted_text(trouble));
        }
        for fault in &listing.faults {
            text += &format!("  {fault}\n");
        }
        for listed in &listing.devices {
            let id = listed.id.as_deref().unwrap_or("left out");
            let why = listed.left_out.as_ref().map_or(String::new(), |why| format!(": {why}"));
            text += &format!("  {id:9} {} ({}){why}\n", listed.name, listed.backend);
        }
    }
    for back_end in &BACK_ENDS {
        if let Places::Form { meaning: [form, meaning], .. } = &back_end.places {
            text += &format!("  {form:9} {meaning}\n");
        }
    }
    text
}

#[cfg(test)]
impl Available {
    /// A list for tests: a device that is left out, a GPU, and a driver for the processor.
    pub(crate) fn made_up() -> Self {
        let listed = |id: Option<&str>, name: &str, cpu_driver| Listed {
            id: id.map(str::to_owned),
            name: name.to_owned(),
            backend: crate::record::Backend::Vulkan,
            cpu_driver,
            left_out: id.is_none().then(|| "it gives no device".to_owned()),
        };
        let devices = vec![
            listed(None, "Null hardware", false),
            listed(Some("wgpu:0"), "Radeon RX 7900", false),
            listed(Some("wgpu:1"), "llvmpipe", true),
        ];
        let listing = Listing { devices, ..Listing::default() };
        Self { listings: vec![(backends::by_prefix("wgpu").unwrap(), listing, Idle::default())] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn available() -> Available {
        Available::made_up()
    }

    fn ids(ids: &[&str]) -> Result<Vec<String>, Failure> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        choose(&ids, &available()).map(|chosen| chosen.iter().map(Choice::id).collect())
    }

    #[test]
    fn defaults_are_the_gpus_then_the_simulator() {
        assert_eq!(ids(&[]).unwrap(), ["wgpu:0", "sim:32", "sim:64"]);
        assert_eq!(ids(&["all"]).unwrap(), ["wgpu:0", "wgpu:1", "sim:32", "sim:64"]);
    }

    #[test]
    fn names_and_numbers_choose() {
        assert_eq!(ids(&["wgpu:radeon"]).unwrap(), ["wgpu:0"]);
        assert_eq!(ids(&["sim:8", "wgpu:1", "sim:8"]).unwrap(), ["sim:8", "wgpu:1"]);
        assert_eq!(ids(&["sim:8,wgpu:1, sim:16"]).unwrap(), ["sim:8", "wgpu:1", "sim:16"]);
        assert_eq!(split("wgpu:llvmpipe (LLVM 15, 256 bits),all").len(), 2);
        assert_eq!(ids(&["sim:4,16, 32,wgpu:1"]).unwrap(), ["sim:4", "sim:16", "sim:32", "wgpu:1"]);
        assert_eq!(ids(&["sim:8,16", "sim:16"]).unwrap(), ["sim:8", "sim:16"]);
        assert!(ids(&["sim:8,33"]).is_err() && ids(&["sim:8,"]).is_err());
        let both = ["radv:navi21/32", "radv:navi21/64"];
        assert_eq!(ids(&["radv:navi21/32,64"]).unwrap(), both);
        assert_eq!(ids(&["radv:navi21/32, radv:navi21/64"]).unwrap(), both);
    }

    #[test]
    fn unknown_devices_exit_with_three_and_say_what_there_is() {
        for id in ["wgpu:9", "wgpu0", "sim:33", "cuda:0", "sim:x"] {
            let failure = ids(&[id]).unwrap_err();
            assert_eq!(failure.exit, Exit::NoDevice, "{id}");
        }
        let message = ids(&["wgpu0"]).unwrap_err().error.to_string();
        assert!(message.contains("did you mean wgpu:0"), "{message}");
        assert!(message.contains("left out  Null hardware"), "{message}");
    }

    #[test]
    fn why_no_adapter_is_used_is_said_with_the_way_to_use_one() {
        let mut available = available();
        let remarks_text = |available: &Available, asked| remarks(available, &[], asked).join(" ");
        assert!(remarks_text(&available, true).contains("only simulators were named"));
        // The first GPU of the list goes; what is left runs on the processor.
        available.listings[0].1.devices.remove(1);
        let words =
            "there is no GPU (llvmpipe is a driver for the processor; --device wgpu:1 uses it)";
        assert!(
            remarks_text(&available, false).contains(words),
            "{}",
            remarks_text(&available, false)
        );
        available.listings[0].1.devices.pop();
        assert!(remarks_text(&available, false).contains("none of those that are here works"));
        assert!(!available.lacks_adapters());
        available.listings[0].1.devices.clear();
        assert!(available.lacks_adapters());
        available.listings.clear();
        assert!(!available.lacks_adapters());
        let nothing = remarks_text(&available, false);
        assert!(nothing.contains("there is none.") && nothing.contains("To get a Vulkan driver"));
    }

    #[test]
    fn only_back_ends_that_ids_may_mean_are_asked() {
        let asked = |ids: &[&str]| -> Vec<&str> {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            let rows = BACK_ENDS.iter().filter(|back_end| may_mean(&ids, back_end));
            let listed = rows.filter(|row| matches!(row.places, Places::Listed { .. }));
            listed.map(|back_end| back_end.prefix).collect()
        };
        assert_eq!(asked(&[]), ["wgpu"]);
        assert_eq!(asked(&["all"]), ["wgpu", "cuda"]);
        assert_eq!(asked(&["cuda:0"]), ["cuda"]);
        assert_eq!(asked(&["sim:32"]), [""; 0]);
        assert_eq!(asked(&["sim:32", "radeon"]), ["wgpu"]);
    }
}
