//! What a module says of its source: files, texts, lines, names.
//!
//! Input: the instructions as they were read. Output: the same without what is about debugging alone,
//! each with its [`FilePlace`], and the files. Two ways of saying it are read: `OpLine`
//! with `OpSource` (glslang `-g`, DXC `-Zi`), and the instruction set `NonSemantic.Shader.DebugInfo.100`
//! (glslang `-gVS`, DXC `-fspv-debug=vulkan-with-source`, Slang `-g`), numbers by its specification.
//!
//! A line holds until the next is said, beyond the end of a basic block too: that is how glslang writes
//! them.

use std::collections::BTreeMap;

use spirv::Op;

use super::words::{FilePlace, Instruction, Instructions};
use crate::binary::SourceFile;

/// What instruction sets without meaning begin with.
const NON_SEMANTIC: &str = "NonSemantic.";

/// The set that says lines.
const DEBUG_INFO: &str = "NonSemantic.Shader.DebugInfo.100";

/// The older set, in which DXC says names of variables; its lines are `OpLine`s.
const DEBUG_INFO_OPENCL: &str = "OpenCL.DebugInfo.100";

/// `DebugSource`: a file, and its text where there is one.
const DEBUG_SOURCE: u32 = 35;

/// `DebugSourceContinued`: more text of the last source.
const DEBUG_SOURCE_CONTINUED: u32 = 102;

/// `DebugLine`: source, first and last line, first and last column.
const DEBUG_LINE: u32 = 103;

/// `DebugNoLine`.
const DEBUG_NO_LINE: u32 = 104;

/// What glslang writes before the text that it embeds.
const GLSLANG_HEAD: &str = "// OpModuleProcessed";

/// What ends it.
const GLSLANG_HEAD_END: &str = "#line 1\n";

/// What a module says of its source.
#[derive(Debug, Default)]
pub(super) struct Debug {
    /// The files, the main one first.
    pub(super) files: Vec<SourceFile>,
    /// The names of ids.
    pub(super) names: BTreeMap<u32, String>,
}

/// Takes what is about debugging out of a module, and puts places on what remains.
pub(super) fn take(module: &mut Instructions) -> Debug {
    let mut reader = Reader { integers: integers(module), ..Reader::default() };
    let mut kept = Vec::with_capacity(module.list.len());
    let mut place = None;
    for mut instruction in std::mem::take(&mut module.list) {
        if instruction.op == Op::Function {
            place = place.filter(|_| reader.line_waits);
        }
        if instruction.op == Op::FunctionEnd {
            instruction.place = place.take();
            kept.push(instruction);
            continue;
        }
        match reader.see(&instruction) {
            Seen::Code => {
                instruction.place = place;
                reader.line_waits = false;
                kept.push(instruction);
            }
            Seen::Debug => {}
            Seen::Line(found) => {
                place = found;
                reader.line_waits = true;
            }
        }
    }
    module.list = kept;
    let names = reader.names;
    Debug { files: reader.files, names }
}

/// The integer constants, by id: newer debug information gives lines as constants.
fn integers(module: &Instructions) -> BTreeMap<u32, u32> {
    let constants = module.list.iter().filter(|i| i.op == Op::Constant && i.words.len() == 3);
    constants.map(|i| (i.word(1), i.word(2))).collect()
}

/// What an instruction is.
enum Seen {
    /// Part of the program.
    Code,
    /// About debugging alone.
    Debug,
    /// A line from here on, or none.
    Line(Option<FilePlace>),
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    integers: BTreeMap<u32, u32>,
    strings: BTreeMap<u32, String>,
    names: BTreeMap<u32, String>,
    files: Vec<SourceFile>,
    /// The file that an id of `OpString` or of `DebugSource` stands for.
    by_id: BTreeMap<u32, usize>,
    /// The file whose text is going on.
    last: Option<usize>,
    /// The instruction sets without meaning: whether each says lines.
    sets: BTreeMap<u32, bool>,
    /// Whether a line was said and no instruction has stood on it.
    line_waits: bool,
}

impl Reader {
    fn see(&mut self, instruction: &Instruction) -> Seen {
        let word = |index| instruction.word(index);
        match instruction.op {
            Op::String => {
                self.strings.insert(word(0), instruction.text(1).0);
                Seen::Debug
            }
            Op::Source => {
                let text = (instruction.words.len() > 3).then(|| instruction.text(3).0);
                let file = (instruction.words.len() > 2).then(|| self.file(word(2)));
                self.begin_text(file, text);
                Seen::Debug
            }
            Op::SourceContinued => {
                self.add_text(Some(instruction.text(0).0));
                Seen::Debug
            }
            Op::SourceExtension | Op::ModuleProcessed | Op::Nop => Seen::Debug,
            Op::Name => {
                self.names.insert(word(0), instruction.text(1).0);
                Seen::Code
            }
            Op::Line => {
                let (file, line, column) = (self.file(word(0)), word(1), word(2));
                Seen::Line((line > 0).then_some(FilePlace { file, line, column }))
            }
            Op::NoLine => Seen::Line(None),
            Op::ExtInstImport => {
                let name = instruction.text(1).0;
                let debug = name.starts_with(NON_SEMANTIC) || name == DEBUG_INFO_OPENCL;
                if !debug {
                    return Seen::Code;
                }
                self.sets.insert(word(0), name == DEBUG_INFO);
                Seen::Debug
            }
            Op::ExtInst => match self.sets.get(&word(2)) {
                Some(true) => self.debug_info(instruction),
                Some(false) => Seen::Debug,
                None => Seen::Code,
            },
            _ => Seen::Code,
        }
    }

    /// An instruction of the set that says lines; its operands are ids.
    fn debug_info(&mut self, instruction: &Instruction) -> Seen {
        let word = |index| instruction.word(index);
        let text = |id: u32| self.strings.get(&id).cloned();
        match word(3) {
            DEBUG_SOURCE => {
                let embedded = (instruction.words.len() > 5).then(|| text(word(5))).flatten();
                let file = self.file(word(4));
                self.by_id.insert(word(1), file);
                self.begin_text(Some(file), embedded);
                Seen::Debug
            }
            DEBUG_SOURCE_CONTINUED => {
                let more = text(word(4));
                self.add_text(more);
                Seen::Debug
            }
            DEBUG_LINE => {
                let number = |id: u32| self.integers.get(&id).copied().unwrap_or(0);
                let (line, column) = (number(word(5)), number(word(7)));
                let file = self.by_id.get(&word(4)).copied();
                let place = file.map(|file| FilePlace { file, line, column });
                Seen::Line(place.filter(|place| place.line > 0))
            }
            DEBUG_NO_LINE => Seen::Line(None),
            _ => Seen::Debug,
        }
    }

    /// The file whose name a string gives.
    fn file(&mut self, string: u32) -> usize {
        if let Some(known) = self.by_id.get(&string) {
            return *known;
        }
        let name = self.strings.get(&string).cloned().unwrap_or_default();
        let known = self.files.iter().position(|file| file.name == name);
        let index = known.unwrap_or_else(|| {
            self.files.push(SourceFile { name, text: None });
            self.files.len() - 1
        });
        self.by_id.insert(string, index);
        index
    }

    /// Begins the text of a file; one that is there already stays.
    fn begin_text(&mut self, file: Option<usize>, text: Option<String>) {
        self.last = file.filter(|file| self.files[*file].text.is_none());
        self.add_text(text);
    }

    /// Adds to the text of the file that was named last. What glslang puts before it is no part of it.
    fn add_text(&mut self, text: Option<String>) {
        let file = self.last.and_then(|last| self.files.get_mut(last));
        let (Some(file), Some(text)) = (file, text) else { return };
        let text_after = match text.split_once(GLSLANG_HEAD_END) {
            Some((head, rest)) if file.text.is_none() && head.starts_with(GLSLANG_HEAD) => rest,
            _ => &text,
        };
        file.text.get_or_insert_default().push_str(text_after);
    }
}
