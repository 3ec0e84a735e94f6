//! The form of a record in a file, where it is not that of the record's own types: dispatches.
//!
//! Input: measurements to write; runs as decoded from schema 1 or 2. Output: measurements whose
//! dispatches name a block table, with these tables; runs whose dispatches hold their blocks. What a
//! table says is held once in memory too, however many dispatches have it. Files are `store`'s.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

use crate::record::{
    self, Arm, Block, BlockCode, COUNTING_RULE_OF_SCHEMA_1, Call, Enclosure, Flow, Instruction,
    Line, MachineCode, Measurement, NearBlock, Run, SCHEMA,
};
use crate::units::{BlockId, Executions, Lanes, Nanoseconds, Parts};

/// A dispatch whose blocks are `B`s.
#[derive(Serialize, Deserialize)]
pub(super) struct Dispatch<B> {
    entry_point: String,
    workgroups: Option<[u32; 3]>,
    workgroup_size: [u32; 3],
    #[serde(default, skip_serializing_if = "record::is_false")]
    setup: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    median_ns: Option<Nanoseconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ci95_ns: Option<[Nanoseconds; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The key of its table in `block_tables`, at the top of the file: what the program says of each
    /// block, in the order of `blocks`; absent where nothing was counted.
    block_table: Option<String>,
    blocks: Vec<B>,
    /// The same counts by the way that calls took, an entry point first; on simulators, where a function is
    /// called from several places. Elsewhere absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call>,
    #[serde(default = "Vec::new", alias = "lines", skip_serializing_if = "Vec::is_empty")]
    line_counts: Vec<Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine_code: Option<Code>,
}

impl<B> Dispatch<B> {
    /// The dispatch with these blocks.
    fn with_blocks(
        self,
        blocks: Vec<Block>,
        line_counts: Vec<Line>,
    ) -> Result<record::Dispatch, String> {
        Ok(record::Dispatch {
            entry_point: self.entry_point,
            workgroups: self.workgroups,
            workgroup_size: self.workgroup_size,
            setup: self.setup,
            median_ns: self.median_ns,
            ci95_ns: self.ci95_ns,
            blocks,
            calls: self.calls,
            line_counts,
            machine_code: self.machine_code.map(Code::join).transpose()?,
        })
    }
}

/// A kernel's machine code with what its instructions did.
#[derive(Serialize, Deserialize)]
pub(super) struct Code {
    /// The function's name.
    function: String,
    /// The architecture, as `sm_90`.
    architecture: String,
    /// The instructions in the order of their offsets, those that never ran included.
    instructions: Instructions,
    /// SHA-256 of the code, in hexadecimal; absent where the code itself was not at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// What the compiler did to each arm of a branch and to each loop, in the order of the source, as told by the
    /// launch's input and, where that tells more, by another; empty where it was not worked out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arms: Vec<Arm>,
    /// The blocks that were matched with instructions whose lanes are nearly theirs, in the order of the source;
    /// absent where each that was matched has the same lanes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    near: Vec<NearBlock>,
}

/// Instructions as a table, which packs to half of what they take one by one, or one by one, as older files have them.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Instructions {
    Table(InstructionTable),
    Rows(Vec<Instruction>),
}

/// Either form by how it begins, so that an error says where in it something is wrong.
impl<'de> Deserialize<'de> for Instructions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Instructions;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("instructions as lists of their fields, or one by one")
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(table)).map(Instructions::Table)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(rows)).map(Instructions::Rows)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A list for each field of an instruction, all of one length: the first values are the first instruction's.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct InstructionTable {
    /// Where each lies in the function.
    offset_bytes: Vec<u32>,
    /// The source file that it comes from; `null` where that is none of the user's. Absent where all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    file: Vec<Option<String>>,
    /// The line in that file, from 1. Absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    line: Vec<Option<u32>>,
    /// Its text; `null` or absent where there was no disassembler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    text: Vec<Option<String>>,
    /// How often subgroups executed it (`smsp__sass_inst_executed`).
    inst_executed: Vec<u64>,
    /// The active lanes, summed over those executions (`smsp__sass_thread_inst_executed`).
    thread_inst_executed: Vec<u64>,
    /// Those of them that a predicate did not turn off (`smsp__sass_thread_inst_executed_pred_on`).
    thread_inst_executed_pred_on: Vec<u64>,
}

impl Code {
    fn split(code: MachineCode) -> Self {
        let MachineCode { function, architecture, instructions, sha256, arms, near } = code;
        let instructions = Instructions::Table(InstructionTable::from_rows(instructions));
        Self { function, architecture, instructions, sha256, arms, near }
    }

    fn join(self) -> Result<MachineCode, String> {
        let Self { function, architecture, instructions, sha256, arms, near } = self;
        let instructions = match instructions {
            Instructions::Rows(rows) => rows,
            Instructions::Table(table) => {
                table.rows().map_err(|what| format!("the machine code of `{function}`: {what}"))?
            }
        };
        Ok(MachineCode { function, architecture, instructions, sha256, arms, near })
    }
}

impl InstructionTable {
    fn from_rows(rows: Vec<Instruction>) -> Self {
        let mut table = Self::default();
        for row in rows {
            table.offset_bytes.push(row.offset_bytes);
            table.file.push(row.file);
            table.line.push(row.line);
            table.text.push(row.text);
            table.inst_executed.push(row.inst_executed);
            table.thread_inst_executed.push(row.thread_inst_executed);
            table.thread_inst_executed_pred_on.push(row.thread_inst_executed_pred_on);
        }
        without_absent(&mut table.file);
        without_absent(&mut table.line);
        without_absent(&mut table.text);
        table
    }

    fn rows(self) -> Result<Vec<Instruction>, String> {
        let count = self.offset_bytes.len();
        let mut files = optional("file", self.file, count)?.into_iter();
        let mut lines = optional("line", self.line, count)?.into_iter();
        let mut texts = optional("text", self.text, count)?.into_iter();
        let inst_executed = all("inst_executed", self.inst_executed, count)?;
        let lanes = all("thread_inst_executed", self.thread_inst_executed, count)?;
        let on = all("thread_inst_executed_pred_on", self.thread_inst_executed_pred_on, count)?;
        let numbers =
            self.offset_bytes.into_iter().zip(inst_executed).zip(lanes.into_iter().zip(on));
        let row = |((offset_bytes, inst_executed), (lanes, on))| Instruction {
            offset_bytes,
            file: files.next().flatten(),
            line: lines.next().flatten(),
            text: texts.next().flatten(),
            inst_executed,
            thread_inst_executed: lanes,
            thread_inst_executed_pred_on: on,
        };
        Ok(numbers.map(row).collect())
    }
}

/// Leaves a list out that has nothing.
fn without_absent<T>(list: &mut Vec<Option<T>>) {
    if list.iter().all(Option::is_none) {
        list.clear();
    }
}

/// A list that has a value for each instruction.
fn all<T>(name: &str, list: Vec<T>, count: usize) -> Result<Vec<T>, String> {
    match list.len() {
        length if length == count => Ok(list),
        length => Err(format!("{count} instructions have {length} values of {name}")),
    }
}

/// The same of one that may be left out.
fn optional<T>(name: &str, list: Vec<Option<T>>, count: usize) -> Result<Vec<Option<T>>, String> {
    if list.is_empty() { Ok(list) } else { all(name, list, count) }
}

/// A block's counts, in the order of its dispatch's block table.
#[derive(Serialize, Deserialize)]
pub(super) struct Counts {
    executions: Executions,
    lanes: Lanes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Parts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active_lanes_mean_expected: Option<f64>,
}

/// A block of schema 1, which repeats in each dispatch what the program says of it.
#[derive(Deserialize)]
pub(super) struct Block1 {
    id: BlockId,
    label: Option<String>,
    file: String,
    line: u32,
    column: u32,
    ops: u64,
    #[serde(default)]
    fma_ops: Option<u64>,
    #[serde(default)]
    lines: BTreeMap<u32, u64>,
    #[serde(default)]
    flow: Option<Flow>,
    issues: Executions,
    lanes: Lanes,
    #[serde(default)]
    histogram: Option<Vec<u64>>,
    active_lanes_mean_expected: Option<f64>,
}

/// Block tables by their SHA-256, each as JSON.
pub(super) type TablesText = BTreeMap<String, String>;

/// The block tables of a file.
#[derive(Deserialize)]
pub(super) struct Tables {
    #[serde(default)]
    block_tables: BTreeMap<String, Vec<BlockCode>>,
}

/// Splits a measurement into what is its own and its dispatches' block tables.
pub(super) fn split(
    measurement: &Measurement,
) -> Result<(Measurement<Dispatch<Counts>>, TablesText), serde_json::Error> {
    let mut tables = TablesText::new();
    let split = measurement.clone().with_dispatches(|dispatch| {
        let (written, table) = split_dispatch(dispatch)?;
        if let Some(sha256) = &written.block_table
            && !tables.contains_key(sha256)
        {
            tables.insert(sha256.clone(), serde_json::to_string(&rows(&table))?);
        }
        Ok::<_, serde_json::Error>(written)
    })?;
    Ok((split, tables))
}

/// The most entries of a path: as many as are ever written.
const PATH_MAX: usize = 256;

type Table = Vec<Arc<BlockCode>>;

fn split_dispatch(
    dispatch: record::Dispatch,
) -> Result<(Dispatch<Counts>, Table), serde_json::Error> {
    let record::Dispatch {
        entry_point,
        workgroups,
        workgroup_size,
        setup,
        median_ns,
        ci95_ns,
        blocks,
        calls,
        line_counts,
        machine_code,
    } = dispatch;
    let split = blocks.into_iter().map(|block| {
        let Block { code, executions, lanes, histogram, parts, active_lanes_mean_expected } = block;
        (code, Counts { executions, lanes, histogram, parts, active_lanes_mean_expected })
    });
    let (table, blocks): (Table, Vec<Counts>) = split.unzip();
    let block_table = (!table.is_empty()).then(|| sha256_of(&table)).transpose()?;
    let written = Dispatch {
        entry_point,
        workgroups,
        workgroup_size,
        setup,
        median_ns,
        ci95_ns,
        block_table,
        blocks,
        calls,
        line_counts,
        machine_code: machine_code.map(Code::split),
    };
    Ok((written, table))
}

/// A table's rows, each path without what the row before has too.
fn rows(table: &[Arc<BlockCode>]) -> Vec<BlockCode> {
    let mut before: &[Enclosure] = &[];
    let row = |code: &'_ Arc<BlockCode>, before: &[Enclosure]| {
        let mut row = BlockCode::clone(code);
        if let Some(flow) = &mut row.flow {
            let same = flow.path.iter().zip(before).take_while(|(step, other)| step == other);
            flow.path_shared = same.count();
            flow.path.drain(..flow.path_shared);
        }
        row
    };
    let written = table.iter().map(|code| {
        let written = row(code, before);
        before = code.flow.as_ref().map_or(&[], |flow| &flow.path);
        written
    });
    written.collect()
}

/// Puts a table's rows together, which leave out what the row before has too.
fn join_rows(rows: Vec<BlockCode>) -> Result<Table, String> {
    let mut table = Table::with_capacity(rows.len());
    for mut row in rows {
        if let Some(flow) = &mut row.flow {
            let before = table.last().and_then(|code| code.flow.as_ref());
            let before = before.map_or(&[][..], |flow| &flow.path);
            let shared = std::mem::take(&mut flow.path_shared);
            let Some(front) = before.get(..shared) else {
                let there = before.len();
                return Err(format!(
                    "a block's path leaves out {shared} entries, and the one before has {there}"
                ));
            };
            flow.path.splice(..0, front.iter().copied());
            if flow.path.len() > PATH_MAX {
                return Err(format!("a block's path has more than {PATH_MAX} entries"));
            }
        }
        table.push(Arc::new(row));
    }
    Ok(table)
}

/// The SHA-256 of a table's JSON, in hexadecimal.
fn sha256_of(table: &[Arc<BlockCode>]) -> Result<String, serde_json::Error> {
    let digest = Sha256::digest(serde_json::to_vec(&rows(table))?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Puts the blocks of a run of schema 2 together.
///
/// # Errors
///
/// A sentence, where a dispatch names a table that is not there or that has other blocks.
pub(super) fn join(run: Run<Dispatch<Counts>>, tables: Tables) -> Result<Run, String> {
    let joined = tables.block_tables.into_iter();
    let joined = joined.map(|(sha256, rows)| Ok((sha256, join_rows(rows)?)));
    let tables: BTreeMap<String, Table> = joined.collect::<Result<_, String>>()?;
    let none = Table::new();
    run.with_dispatches(|mut dispatch| {
        let counts = std::mem::take(&mut dispatch.blocks);
        let lines = std::mem::take(&mut dispatch.line_counts);
        let name = dispatch.block_table.take();
        let table = match &name {
            Some(name) => {
                tables.get(name).ok_or_else(|| format!("there is no block table {name}"))?
            }
            None => &none,
        };
        if table.len() != counts.len() {
            let (rows, blocks) = (table.len(), counts.len());
            return Err(format!(
                "a dispatch of `{}` has counts of {blocks} blocks, and its block table {rows} rows",
                dispatch.entry_point
            ));
        }
        let block = |(code, counts): (&Arc<BlockCode>, Counts)| Block {
            code: Arc::clone(code),
            executions: counts.executions,
            lanes: counts.lanes,
            histogram: counts.histogram,
            parts: counts.parts,
            active_lanes_mean_expected: counts.active_lanes_mean_expected,
        };
        let blocks = table.iter().zip(counts).map(block).collect();
        dispatch.with_blocks(blocks, lines)
    })
}

/// Makes a run of schema 1 one of this schema, with its own figures and counting rule 1.
///
/// # Errors
///
/// What of its machine code does not fit together.
pub(super) fn of_schema_1(run: Run<Dispatch<Block1>>) -> Result<Run, String> {
    // What the program says of a block is held once; equal rows have equal JSON.
    let mut known: BTreeMap<String, Arc<BlockCode>> = BTreeMap::new();
    let mut shared = |code: BlockCode| -> Arc<BlockCode> {
        let Ok(key) = serde_json::to_string(&code) else { return Arc::new(code) };
        Arc::clone(known.entry(key).or_insert_with(|| Arc::new(code)))
    };
    let mut run = run.with_dispatches(|mut dispatch| {
        let blocks = std::mem::take(&mut dispatch.blocks);
        let lines = std::mem::take(&mut dispatch.line_counts);
        let blocks: Vec<Block> =
            blocks.into_iter().map(|old| block_of_1(old, &mut shared)).collect();
        // Lines follow from blocks that tell them apart; the oldest records have them by themselves.
        let told = blocks.iter().all(|block| block.operations == 0 || !block.lines.is_empty());
        dispatch.with_blocks(blocks, if told { Vec::new() } else { lines })
    })?;
    run.schema = SCHEMA;
    run.counting_rule = COUNTING_RULE_OF_SCHEMA_1;
    Ok(run)
}

fn block_of_1(old: Block1, shared: &mut impl FnMut(BlockCode) -> Arc<BlockCode>) -> Block {
    let code = BlockCode {
        id: old.id,
        label: old.label,
        file: old.file,
        line: old.line,
        column: old.column,
        operations: old.ops,
        fma_operations: old.fma_ops,
        lines: old.lines,
        flow: old.flow,
    };
    Block {
        code: shared(code),
        executions: old.issues,
        lanes: old.lanes,
        histogram: old.histogram,
        parts: None,
        active_lanes_mean_expected: old.active_lanes_mean_expected,
    }
}
