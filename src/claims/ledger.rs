//! The ledger of claims, `shaders/claims.toml`, as serde types: their documentation is the format's specification.
//!
//! Input: the committed text. Output: [`Claim`]s with their [`Check`]s. Unknown keys are refused, and so is a
//! claim, or a doubt, that has neither checks nor a reason. Nothing is judged here.

use serde::Deserialize;

use super::selector::Selector;
use crate::kernel::format::Formula;
use crate::kernel::{KernelError, embedded_text};

/// The ledger's file beside the families.
const LEDGER: &str = "claims.toml";

/// A statement of the ledger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// The article's short name.
    pub source: String,
    /// What is claimed.
    pub statement: String,
    /// The family of experiments.
    pub family: String,
    /// The figures as given: a text, a number, or several.
    pub expected: toml::Value,
    /// What the source measured on; on nothing where absent: it was derived.
    #[serde(default)]
    pub hardware: Option<String>,
    /// How the source came to it: `derived`, `measured`, `semantic`, `technique`.
    pub kind: String,
    /// What to measure to check it.
    pub metric: String,
    /// Whether it can be checked with WGSL and timestamps alone; it can where absent.
    #[serde(default = "yes")]
    pub portable: bool,
    /// What counting, or other articles, say against it.
    pub doubt: Option<String>,
    /// What has to be so for the claim to hold: every one.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// What has to be so for the doubt to be right: every one.
    #[serde(default)]
    pub doubt_checks: Vec<Check>,
    /// Why the doubt says nothing about machines.
    pub doubt_opinion: Option<String>,
    /// What would be needed to test the doubt.
    pub doubt_untestable: Option<String>,
    /// What was tried in place of that.
    pub doubt_tried: Option<String>,
    /// Why it is no claim about machines.
    pub opinion: Option<String>,
    /// Why nothing here can test it, and what would be needed.
    pub untestable: Option<String>,
    /// What was tried in place of that.
    pub tried: Option<String>,
    /// What the texts' checklists ask a programmer to do, where the claim is what stands behind it.
    pub item: Option<String>,
    /// The claims that say otherwise, by id: they are judged together.
    #[serde(default)]
    pub against: Vec<String>,
}

fn yes() -> bool {
    true
}

/// What has to be so.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Check {
    /// A quantity lies within limits.
    Bound(Bound),
    /// A quantity is a figure, within a share of it.
    Equality(Equality),
    /// A quantity over that of other launches lies within limits, or is a figure.
    Ratio(RatioCheck),
    /// A quantity rises, falls, or stays, along a parameter.
    Order(Order),
    /// Outputs are those of the CPU's reference, or, with `wrong = true`, are not.
    Verified(Verified),
    /// A formula of numbers gives a figure.
    Arithmetic(Arithmetic),
    /// What the published limits of an architecture make of a workgroup.
    Occupancy(OccupancyCheck),
    /// A figure of a committed table.
    Fact(Fact),
}

/// See [`Check::Bound`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// What is checked, a clause.
    pub says: String,
    /// The quantity.
    pub what: Quantity,
    /// The launches.
    pub of: Selector,
    /// The least that is as claimed, a formula over the parameters and `W`.
    pub min: Option<Formula>,
    /// The most that is as claimed.
    pub max: Option<Formula>,
    /// The devices that it speaks of; all where absent.
    #[serde(default)]
    pub on: Scope,
    /// Whether one point that is as claimed is enough.
    #[serde(default)]
    pub some: bool,
}

/// See [`Check::Equality`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equality {
    /// What is checked, a clause.
    pub says: String,
    /// The quantity.
    pub what: Quantity,
    /// The launches.
    pub of: Selector,
    /// The figure, a formula over the parameters and `W`.
    pub to: Formula,
    /// How far off is still as claimed, as a share of the figure; in absolute terms where the figure is 0.
    pub within: f64,
    /// The devices that it speaks of; all where absent.
    #[serde(default)]
    pub on: Scope,
    /// Whether one point that is as claimed is enough.
    #[serde(default)]
    pub some: bool,
}

/// See [`Check::Ratio`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioCheck {
    /// What is checked, a clause.
    pub says: String,
    /// The quantity.
    pub what: Quantity,
    /// The launches above the line.
    pub of: Selector,
    /// The launches below it: those that agree in every parameter that both have, but for those that both name.
    pub over: Selector,
    /// The least that is as claimed.
    pub min: Option<Formula>,
    /// The most that is as claimed.
    pub max: Option<Formula>,
    /// The figure, in place of limits; its names are those of the launches above the line.
    pub to: Option<Formula>,
    /// How far off is still as claimed, as a share of the figure.
    #[serde(default)]
    pub within: f64,
    /// The devices that it speaks of; all where absent.
    #[serde(default)]
    pub on: Scope,
    /// Whether one point that is as claimed is enough.
    #[serde(default)]
    pub some: bool,
}

/// See [`Check::Order`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What is checked, a clause.
    pub says: String,
    /// The quantity.
    pub what: Quantity,
    /// The launches.
    pub of: Selector,
    /// The launches that each is divided by, joined as those of a ratio; the quantity itself where absent.
    pub over: Option<Selector>,
    /// The parameter, a number.
    pub along: String,
    /// Which way it goes.
    pub goes: Goes,
    /// How far it may go back from one point to the next, or, where it stays, how far the greatest may lie above the
    /// least, as a share.
    pub within: f64,
    /// The devices that it speaks of; all where absent.
    #[serde(default)]
    pub on: Scope,
    /// Whether one line of points that is as claimed is enough.
    #[serde(default)]
    pub some: bool,
}

/// Which way a quantity goes along a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goes {
    /// Up.
    Up,
    /// Down.
    Down,
    /// Neither.
    Level,
}

/// See [`Check::Verified`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// What is checked, a clause.
    pub says: String,
    /// The launches.
    pub of: Selector,
    /// The devices that it speaks of; all where absent.
    #[serde(default)]
    pub on: Scope,
    /// Whether wrong outputs are what is claimed.
    #[serde(default)]
    pub wrong: bool,
    /// The largest tolerance, relative and absolute, that a record may have compared outputs with to say anything
    /// about it: 0 asks for the same values. Any where absent.
    pub within: Option<f64>,
    /// Whether one point that is as claimed is enough.
    #[serde(default)]
    pub some: bool,
}

/// See [`Check::Arithmetic`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arithmetic {
    /// What is checked, a clause.
    pub says: String,
    /// What is worked out.
    pub formula: String,
    /// The figure that is claimed.
    pub to: f64,
    /// How far off is still as claimed, as a share of the figure.
    pub within: f64,
}

/// See [`Check::Occupancy`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OccupancyCheck {
    /// What is checked, a clause.
    pub says: String,
    /// The architecture, as `lanescope occupancy` names it.
    pub arch: String,
    /// 32-bit registers of an invocation; 0 where they do not limit.
    #[serde(default)]
    pub registers: u32,
    /// Bytes of workgroup memory of a workgroup.
    #[serde(default)]
    pub memory: u32,
    /// Invocations of a workgroup.
    pub size: u32,
    /// The figure.
    pub what: OccupancyFigure,
    /// What is claimed.
    pub to: f64,
}

/// A figure of a core's occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OccupancyFigure {
    /// Workgroups that are there at once.
    Workgroups,
    /// Their subgroups.
    Subgroups,
    /// The subgroups over the most that there is room for.
    Ratio,
    /// The most subgroups that there is room for.
    SubgroupsMax,
    /// The most workgroups.
    WorkgroupsMax,
    /// 32-bit registers of a core.
    RegistersMax,
    /// Bytes of workgroup memory that a core gives out.
    MemoryMax,
    /// The most invocations of a workgroup.
    SizeMax,
    /// Lanes of a subgroup, as the table of limits has them.
    Width,
}

/// See [`Check::Fact`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// What is checked, a clause.
    pub says: String,
    /// The table, by its path under `results`, such as `other/cuda/facts.csv`.
    pub table: String,
    /// What the row begins with.
    pub row: Vec<String>,
    /// The column of the figure, from 0.
    pub column: usize,
    /// The row whose figure it is divided by, where it is.
    pub over: Option<Vec<String>>,
    /// The row whose figure is taken off first, where one is.
    pub less: Option<Vec<String>>,
    /// The words that have to stand in the column, in place of a figure within limits.
    pub outcome: Option<String>,
    /// The least that is as claimed.
    pub min: Option<f64>,
    /// The most that is as claimed.
    pub max: Option<f64>,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Quantity {
    /// Lane operations over lane slots; 1 is every lane at work.
    Efficiency,
    /// Lane operations over subgroup operations, in lanes.
    ActiveLanes,
    /// Σ operations × executions.
    SubgroupOperations,
    /// Subgroup operations × the width.
    LaneSlots,
    /// The median time of one launch, in nanoseconds.
    Time,
    /// What the time grows by with one more of a parameter, in nanoseconds: `time_per:links`.
    TimePer(String),
    /// How much longer the time is than at the least value of a parameter, which takes launches off, in nanoseconds:
    /// `time_beyond:n`.
    TimeBeyond(String),
    /// One link of a chain of dependent operations, in cycles; `load` is `alone` or `saturated` then.
    LinkCycles,
    /// Bytes that a launch must move, over its time and over the device's rate of copying.
    CopyShare,
    /// Multiply-adds that were executed a second, over the device's peak; idle lanes count.
    PeakShare,
    /// The same of the lanes at work alone.
    UsefulPeakShare,
    /// Mean active lanes of the blocks with a label, or with one of several: `lanes:arm`, `lanes:first|others`.
    BlockLanes(String),
    /// Executions of the blocks with a label: `executions:arm`.
    BlockExecutions(String),
    /// The efficiency below which a share of subgroups lies, in percent, on simulators: `efficiency_at:10`.
    EfficiencyAt(u32),
    /// A hardware counter by its vendor's name: `counter:smsp__inst_executed.sum`.
    Counter(String),
    /// One of them over another: `counters:smsp__cycles_elapsed.sum/sm__cycles_elapsed.sum`.
    CounterRatio(String, String),
    /// Different machine instructions of the dispatch, executed or not.
    MachineInstructions,
    /// Machine instructions executed, those of a dispatch together.
    MachineExecuted,
    /// Those among them that begin with one of these words, such as branches: `machine:BRA|BRX`; with `@` before the
    /// word only those under a predicate: `machine:@FFMA`.
    MachineMatching(String),
    /// Mean active threads of a machine instruction.
    MachineLanes,
    /// Dispatches of a launch, those that only set up left out.
    Dispatches,
    /// Invocations of a launch's dispatches, from their workgroups.
    Invocations,
    /// The width that the device runs, in lanes.
    Width,
    /// 1 where lane = local index mod W on the device, else 0.
    LanesInOrder,
    /// An element of an output that is shown, its index a formula over the parameters and `W`:
    /// `output:returned[W - 1]`.
    OutputShown(String, String),
}

/// The plain words of quantities.
const PLAIN: [(&str, Quantity); 15] = [
    ("efficiency", Quantity::Efficiency),
    ("active_lanes", Quantity::ActiveLanes),
    ("subgroup_operations", Quantity::SubgroupOperations),
    ("lane_slots", Quantity::LaneSlots),
    ("time", Quantity::Time),
    ("link_cycles", Quantity::LinkCycles),
    ("copy_share", Quantity::CopyShare),
    ("peak_share", Quantity::PeakShare),
    ("useful_peak_share", Quantity::UsefulPeakShare),
    ("machine_instructions", Quantity::MachineInstructions),
    ("machine_executed", Quantity::MachineExecuted),
    ("machine_lanes", Quantity::MachineLanes),
    ("dispatches", Quantity::Dispatches),
    ("invocations", Quantity::Invocations),
    ("width", Quantity::Width),
];

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some((_, quantity)) = PLAIN.iter().find(|(word, _)| *word == text) {
            return Ok(quantity.clone());
        }
        if text == "lanes_in_order" {
            return Ok(Self::LanesInOrder);
        }
        let unknown = || format!("`{text}` is no quantity");
        let (word, rest) = text.split_once(':').ok_or_else(unknown)?;
        let name = rest.to_owned();
        match word {
            "time_per" => Ok(Self::TimePer(name)),
            "time_beyond" => Ok(Self::TimeBeyond(name)),
            "lanes" => Ok(Self::BlockLanes(name)),
            "executions" => Ok(Self::BlockExecutions(name)),
            "efficiency_at" => Ok(Self::EfficiencyAt(rest.parse().map_err(|_| unknown())?)),
            "counter" => Ok(Self::Counter(name)),
            "counters" => {
                let (above, below) = rest.split_once('/').ok_or_else(unknown)?;
                Ok(Self::CounterRatio(above.to_owned(), below.to_owned()))
            }
            "machine" => Ok(Self::MachineMatching(name)),
            "output" => {
                let (buffer, index) = rest.split_once('[').ok_or_else(unknown)?;
                let index = index.strip_suffix(']').ok_or_else(unknown)?;
                Ok(Self::OutputShown(buffer.to_owned(), index.to_owned()))
            }
            _ => Err(unknown()),
        }
    }
}

impl Quantity {
    /// What a device has to give for it.
    pub fn needs_times(&self) -> bool {
        matches!(
            self,
            Self::Time
                | Self::TimePer(_)
                | Self::TimeBeyond(_)
                | Self::LinkCycles
                | Self::CopyShare
                | Self::PeakShare
                | Self::UsefulPeakShare
        )
    }

    /// Whether it follows from counts of the source's blocks, which mean nothing beside those of another
    /// counting rule ([`crate::record::Run::counting_rule`]).
    pub fn needs_counts(&self) -> bool {
        match self {
            Self::Efficiency
            | Self::ActiveLanes
            | Self::SubgroupOperations
            | Self::LaneSlots
            | Self::PeakShare
            | Self::UsefulPeakShare
            | Self::BlockLanes(_)
            | Self::BlockExecutions(_)
            | Self::EfficiencyAt(_) => true,
            Self::Time
            | Self::TimePer(_)
            | Self::TimeBeyond(_)
            | Self::LinkCycles
            | Self::CopyShare
            | Self::Counter(_)
            | Self::CounterRatio(..)
            | Self::MachineInstructions
            | Self::MachineExecuted
            | Self::MachineMatching(_)
            | Self::MachineLanes
            | Self::Dispatches
            | Self::Invocations
            | Self::Width
            | Self::LanesInOrder
            | Self::OutputShown(..) => false,
        }
    }

    /// Whether hardware counters or machine code have to be read.
    pub fn needs_counters(&self) -> bool {
        matches!(
            self,
            Self::Counter(_)
                | Self::CounterRatio(..)
                | Self::MachineInstructions
                | Self::MachineExecuted
                | Self::MachineMatching(_)
                | Self::MachineLanes
        )
    }
}

/// The devices that a check speaks of: words that all have to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Scope(pub Vec<ScopeWord>);

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeWord {
    /// A GPU.
    Gpu,
    /// Hardware or a driver on the processor: whatever has times.
    Device,
    /// NVIDIA's.
    Nvidia,
    /// AMD's, emulated or not.
    Amd,
    /// Reached through CUDA.
    Cuda,
    /// Reached through Vulkan.
    Vulkan,
    /// The simulator.
    Simulator,
}

/// The words of scopes.
pub(super) const SCOPES: [(&str, ScopeWord); 7] = [
    ("gpu", ScopeWord::Gpu),
    ("device", ScopeWord::Device),
    ("nvidia", ScopeWord::Nvidia),
    ("amd", ScopeWord::Amd),
    ("cuda", ScopeWord::Cuda),
    ("vulkan", ScopeWord::Vulkan),
    ("simulator", ScopeWord::Simulator),
];

impl TryFrom<String> for Scope {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let word = |word: &str| {
            let found = SCOPES.iter().find(|(name, _)| *name == word);
            found.map(|(_, scope)| *scope).ok_or_else(|| format!("`{word}` is no kind of device"))
        };
        Ok(Self(text.split_whitespace().map(word).collect::<Result<_, _>>()?))
    }
}

impl Check {
    /// What is checked, a clause.
    pub fn says(&self) -> &str {
        match self {
            Self::Bound(Bound { says, .. })
            | Self::Equality(Equality { says, .. })
            | Self::Ratio(RatioCheck { says, .. })
            | Self::Order(Order { says, .. })
            | Self::Verified(Verified { says, .. })
            | Self::Arithmetic(Arithmetic { says, .. })
            | Self::Occupancy(OccupancyCheck { says, .. })
            | Self::Fact(Fact { says, .. }) => says,
        }
    }

    /// The launches that it looks at; none where it needs no launch.
    pub fn selectors(&self) -> Vec<&Selector> {
        match self {
            Self::Bound(Bound { of, .. })
            | Self::Equality(Equality { of, .. })
            | Self::Verified(Verified { of, .. }) => vec![of],
            Self::Ratio(RatioCheck { of, over, .. }) => vec![of, over],
            Self::Order(Order { of, over, .. }) => [of].into_iter().chain(over).collect(),
            Self::Arithmetic(_) | Self::Occupancy(_) | Self::Fact(_) => Vec::new(),
        }
    }

    /// The quantity of launches that it looks at, where it looks at one.
    pub fn quantity(&self) -> Option<&Quantity> {
        match self {
            Self::Bound(Bound { what, .. })
            | Self::Equality(Equality { what, .. })
            | Self::Ratio(RatioCheck { what, .. })
            | Self::Order(Order { what, .. }) => Some(what),
            Self::Verified(_) | Self::Arithmetic(_) | Self::Occupancy(_) | Self::Fact(_) => None,
        }
    }

    /// The devices that it speaks of; `None` if it needs none.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            Self::Bound(Bound { on, .. })
            | Self::Equality(Equality { on, .. })
            | Self::Ratio(RatioCheck { on, .. })
            | Self::Order(Order { on, .. })
            | Self::Verified(Verified { on, .. }) => Some(on),
            Self::Arithmetic(_) | Self::Occupancy(_) | Self::Fact(_) => None,
        }
    }
}

/// Why the ledger cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// It is no TOML of this shape.
    #[error("claims.toml: {0}")]
    Toml(String),
    /// A claim says too little or too much of how it is judged.
    #[error("claims.toml: {id}: {problem}")]
    Claim {
        /// The claim.
        id: String,
        /// What is wrong with it, a clause.
        problem: String,
    },
    /// The catalogue, whose names kernels of records get, cannot be read.
    #[error("{0}")]
    Catalogue(String),
}

impl From<KernelError> for LedgerError {
    fn from(error: KernelError) -> Self {
        Self::Catalogue(error.to_string())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ledger {
    claim: Vec<Claim>,
}

/// Reads the embedded ledger.
///
/// # Errors
///
/// Where the ledger cannot be read, or a rule in it; a test shows that the committed file has none of them.
pub fn ledger() -> Result<Vec<Claim>, LedgerError> {
    parse(embedded_text(LEDGER).unwrap_or_default())
}

/// Reads a ledger.
///
/// # Errors
///
/// [`LedgerError::Toml`] for a text of another shape, [`LedgerError::Claim`] where a claim, or its doubt, has neither
/// checks nor a reason, or both, where what cannot be tested does not say what was tried, or where a check has no limit.
pub(super) fn parse(text: &str) -> Result<Vec<Claim>, LedgerError> {
    let ledger: Ledger = toml::from_str(text).map_err(|e| LedgerError::Toml(e.to_string()))?;
    for claim in &ledger.claim {
        if let Some(problem) = problem(claim, &ledger.claim) {
            return Err(LedgerError::Claim { id: claim.id.clone(), problem });
        }
    }
    Ok(ledger.claim)
}

/// What is wrong with how a claim is judged.
fn problem(claim: &Claim, all: &[Claim]) -> Option<String> {
    let ways = [!claim.checks.is_empty(), claim.opinion.is_some(), claim.untestable.is_some()];
    if ways.iter().filter(|way| **way).count() != 1 {
        return Some(
            "it needs checks, an `opinion` or what makes it `untestable`, and only one".into(),
        );
    }
    let ways = [
        !claim.doubt_checks.is_empty(),
        claim.doubt_opinion.is_some(),
        claim.doubt_untestable.is_some(),
    ];
    match (claim.doubt.is_some(), ways.iter().filter(|way| **way).count()) {
        (true, 1) | (false, 0) => {}
        (true, _) => {
            return Some(
                "its doubt needs `doubt_checks`, a `doubt_opinion` or what makes it \
                 `doubt_untestable`, and only one"
                    .into(),
            );
        }
        (false, _) => return Some("it says how a doubt is judged, and has none".into()),
    }
    if claim.untestable.is_some() != claim.tried.is_some()
        || claim.doubt_untestable.is_some() != claim.doubt_tried.is_some()
    {
        return Some("what is not testable says what was `tried`, and nothing else does".into());
    }
    for check in claim.checks.iter().chain(&claim.doubt_checks) {
        let limits = match check {
            Check::Bound(Bound { min, max, .. }) => min.is_some() || max.is_some(),
            Check::Ratio(RatioCheck { min, max, to, .. }) => {
                (min.is_some() || max.is_some()) != to.is_some()
            }
            Check::Fact(Fact { min, max, outcome, .. }) => {
                (min.is_some() || max.is_some()) != outcome.is_some()
            }
            _ => true,
        };
        if !limits {
            return Some(format!("`{}` has no limit, or two kinds of them", check.says()));
        }
    }
    for other in &claim.against {
        let mutual = |opposed: &Claim| opposed.id == *other && opposed.against.contains(&claim.id);
        if !all.iter().any(mutual) {
            return Some(format!("`{other}` is no claim that names it in turn"));
        }
    }
    None
}
