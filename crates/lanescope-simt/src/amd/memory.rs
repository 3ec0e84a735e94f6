//! Buffers and descriptor sets, and views of them in which workgroups are executed side by side.
//!
//! Input: contents, then places in buffers. Output: words, and from views what was written. It
//! checks that an access lies in a buffer; what a descriptor says of its range is
//! [`reach`](super::reach)'s. It knows no waves and no lanes.
//!
//! A buffer lies in a region of its own: region r begins at address (r + 1) · 2^32, so that an
//! address names its region. Descriptor sets lie where the high half of an address is
//! [`DESCRIPTORS_HIGH`], as Mesa's RADV places them.
//!
//! # Views
//!
//! A view leaves the memory as it is: it copies a page when something is first written to it, and
//! notes for each word which workgroup read it and which wrote it. Two workgroups *meet* where one
//! writes a word that the other reads or writes. Where none meet, in a view or in different ones,
//! each has read what it would have read in any order of execution, so that what the views hold
//! is what every order leaves in memory: they are merged. Else they are thrown away.
//!
//! A [`Reduction`] whose old value nobody asks for is no meeting with another of the same kind:
//! views gather the values, and any order gives the same sum, mask or extreme.

/// The high half of a descriptor set's address.
pub const DESCRIPTORS_HIGH: u32 = 0xffff_8000;

/// Workgroups that a view tells apart.
pub const GROUPS_MAX: u64 = 1 << 30;

/// Buffers and descriptor sets.
#[derive(Clone, Debug, Default)]
pub struct AmdMemory {
    /// Contents of the buffers.
    buffers: Vec<Vec<u8>>,
    /// The descriptor sets, one behind the other.
    descriptors: Vec<u8>,
}

impl AmdMemory {
    /// No buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts in a buffer; its number.
    pub fn add(&mut self, contents: Vec<u8>) -> usize {
        self.buffers.push(contents);
        self.buffers.len() - 1
    }

    /// A buffer's contents.
    pub fn buffer(&self, number: usize) -> &[u8] {
        &self.buffers[number]
    }

    /// Takes the buffers out, in the order in which they were put in.
    pub fn into_buffers(self) -> Vec<Vec<u8>> {
        self.buffers
    }

    /// The descriptor of a buffer: address, stride 0, size in bytes, and the format that RADV
    /// gives.
    pub fn descriptor(&self, number: usize) -> [u32; 4] {
        let size = self.buffers.get(number).map_or(0, Vec::len);
        // As many bytes as a descriptor can say.
        [0, number as u32 + 1, size as u32, 0]
    }

    /// Puts in a descriptor set; the low half of its address.
    pub fn add_set(&mut self, descriptors: &[[u32; 4]]) -> u32 {
        let at = self.descriptors.len() as u32;
        for word in descriptors.iter().flatten() {
            self.descriptors.extend(word.to_le_bytes());
        }
        at
    }

    /// Bytes that a view takes at most: a copy of each word, and as much to note who touched it.
    pub(super) fn view_bytes_max(&self) -> u64 {
        let pages = |buffer: &Vec<u8>| buffer.len().div_ceil(PAGE_BYTES) as u64;
        self.buffers.iter().map(|buffer| 2 * PAGE_BYTES as u64 * pages(buffer)).sum()
    }

    /// Puts what views wrote into the memory. Where workgroups met, false, and nothing is changed.
    pub(super) fn merge(&mut self, views: &[Touched]) -> bool {
        let met = |buffer| met_across(views, buffer);
        if views.iter().any(Touched::has_met) || (0..self.buffers.len()).any(met) {
            return false;
        }
        for view in views {
            for (whole, touched) in self.buffers.iter_mut().zip(&view.buffers) {
                touched.write_to(whole);
            }
        }
        true
    }

    /// Up to 16 words at an address.
    fn scalars(&self, address: u64, count: usize) -> Option<[u32; 16]> {
        let (high, low) = ((address >> 32) as u32, address as u32 as usize);
        let region = if high == DESCRIPTORS_HIGH {
            &self.descriptors
        } else {
            self.buffers.get((high as usize).checked_sub(1)?)?
        };
        let (given, _) = region.get(low..)?.as_chunks::<4>();
        let mut words = [0; 16];
        for (word, given) in words.iter_mut().zip(given.get(..count)?) {
            *word = u32::from_le_bytes(*given);
        }
        Some(words)
    }

    #[inline]
    fn place(&mut self, buffer: usize, start: usize, bytes: usize) -> Option<&mut [u8]> {
        self.buffers.get_mut(buffer)?.get_mut(start..start + bytes)
    }
}

/// The memory that a wave's accesses reach. Places are a buffer's number and a byte in it; where
/// they lie outside, nothing is done and nothing comes back.
#[derive(Debug)]
pub enum GlobalMemory<'a> {
    /// The memory itself.
    Whole(&'a mut AmdMemory),
    /// A view of it.
    View(View<'a>),
}

impl GlobalMemory<'_> {
    /// The same for as long as it is borrowed.
    #[inline]
    pub(super) fn reborrow(&mut self) -> GlobalMemory<'_> {
        match self {
            Self::Whole(memory) => GlobalMemory::Whole(memory),
            Self::View(view) => {
                GlobalMemory::View(View { base: view.base, touched: &mut *view.touched })
            }
        }
    }

    /// How many buffers there are.
    #[inline]
    pub(super) fn buffers(&self) -> usize {
        match self {
            Self::Whole(memory) => memory.buffers.len(),
            Self::View(view) => view.base.buffers.len(),
        }
    }

    /// Up to 16 words at an address.
    pub(super) fn scalars(&mut self, address: u64, count: usize) -> Option<[u32; 16]> {
        match self {
            Self::Whole(memory) => memory.scalars(address, count),
            Self::View(view) => view.scalars(address, count),
        }
    }

    /// Up to four bytes, as a word.
    #[inline]
    pub(super) fn read(&mut self, buffer: usize, start: usize, bytes: usize) -> Option<u32> {
        match self {
            Self::Whole(memory) => memory.place(buffer, start, bytes).map(|found| word_from(found)),
            Self::View(view) => view.read(buffer, start, bytes),
        }
    }

    /// Writes the lowest bytes of a word, four at most.
    #[inline]
    pub(super) fn write(
        &mut self,
        buffer: usize,
        start: usize,
        bytes: usize,
        value: u32,
    ) -> Option<()> {
        match self {
            Self::Whole(memory) => {
                let found = memory.place(buffer, start, bytes)?;
                found.copy_from_slice(&value.to_le_bytes()[..bytes]);
                Some(())
            }
            Self::View(view) => view.write(buffer, start, bytes, value),
        }
    }

    /// Changes a word; what it was.
    #[inline]
    pub(super) fn change(
        &mut self,
        buffer: usize,
        start: usize,
        f: impl FnOnce(u32) -> u32,
    ) -> Option<u32> {
        match self {
            Self::Whole(memory) => {
                let found = memory.place(buffer, start, 4)?;
                let old = word_from(found);
                found.copy_from_slice(&f(old).to_le_bytes());
                Some(old)
            }
            Self::View(view) => view.change(buffer, start, f),
        }
    }
}

/// An atomic whose final value does not depend on the order of those that take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Add,
    /// What is left.
    Subtract,
    /// The lesser of signed integers.
    MinSigned,
    /// The lesser of unsigned integers.
    MinUnsigned,
    /// The greater of signed integers.
    MaxSigned,
    /// The greater of unsigned integers.
    MaxUnsigned,
    /// Bits that all have.
    And,
    /// Bits that any has.
    Or,
    /// Bits that an odd number of them has.
    Xor,
}

impl Reduction {
    /// In the order of their numbers.
    const ALL: [Self; 9] = [
        Self::Add,
        Self::Subtract,
        Self::MinSigned,
        Self::MinUnsigned,
        Self::MaxSigned,
        Self::MaxUnsigned,
        Self::And,
        Self::Or,
        Self::Xor,
    ];

    /// The new value.
    #[inline]
    pub(super) fn apply(self, old: u32, given: u32) -> u32 {
        match self {
            Self::Add => old.wrapping_add(given),
            Self::Subtract => old.wrapping_sub(given),
            Self::MinSigned => (old as i32).min(given as i32) as u32,
            Self::MinUnsigned => old.min(given),
            Self::MaxSigned => (old as i32).max(given as i32) as u32,
            Self::MaxUnsigned => old.max(given),
            Self::And => old & given,
            Self::Or => old | given,
            Self::Xor => old ^ given,
        }
    }

    /// The same, by what can be gathered: a subtraction adds the negated value.
    fn gathered(self, given: u32) -> (Self, u32) {
        if self == Self::Subtract { (Self::Add, given.wrapping_neg()) } else { (self, given) }
    }

    /// What changes nothing.
    fn neutral(self) -> u32 {
        match self {
            Self::Add | Self::Subtract | Self::MaxUnsigned | Self::Or | Self::Xor => 0,
            Self::MinUnsigned | Self::And => u32::MAX,
            Self::MinSigned => i32::MAX as u32,
            Self::MaxSigned => i32::MIN as u32,
        }
    }
}

/// Bytes that a view copies at once.
const PAGE_BYTES: usize = 4096;

/// Words of a page.
const PAGE_WORDS: usize = PAGE_BYTES / 4;

/// Who touched each word of a page: [`UNTOUCHED`], [`READ_BY_MANY`], a reduction's number behind
/// [`REDUCED`], or behind [`ALONE`] twice a workgroup's number, odd where it wrote the word.
type Tags = [u32; PAGE_WORDS];

const UNTOUCHED: u32 = 0;
const READ_BY_MANY: u32 = 1;
const REDUCED: u32 = 2;
const ALONE: u32 = 16;

fn reduced_by(reduction: Reduction) -> u32 {
    REDUCED + reduction as u32
}

fn read_by(group: u32) -> u32 {
    ALONE + 2 * group
}

fn written_by(group: u32) -> u32 {
    ALONE + 2 * group + 1
}

/// Whether nobody has done more than to read.
fn is_read(tag: u32) -> bool {
    tag == READ_BY_MANY || tag >= ALONE && tag & 1 == 0
}

/// The tag of a word that two views touched; nothing where workgroups met.
fn joined(a: u32, b: u32) -> Option<u32> {
    match (a, b) {
        (UNTOUCHED, tag) | (tag, UNTOUCHED) => Some(tag),
        _ if is_read(a) && is_read(b) => Some(READ_BY_MANY),
        _ if a == b && a < ALONE => Some(a),
        _ => None,
    }
}

/// Whether workgroups of different views met in a buffer.
fn met_across(views: &[Touched], buffer: usize) -> bool {
    let pages = views.first().map_or(0, |view| view.buffers[buffer].tags.len());
    for page in 0..pages {
        let mut touched = views.iter().filter_map(|view| view.buffers[buffer].tags[page].as_ref());
        let Some(first) = touched.next() else { continue };
        let mut together: Tags = **first;
        for tags in touched {
            for (tag, other) in together.iter_mut().zip(tags.iter()) {
                let Some(joined) = joined(*tag, *other) else { return true };
                *tag = joined;
            }
        }
    }
    false
}

/// Up to four bytes, as a word.
#[inline]
fn word_from(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

/// What workgroups touched in a view, and what they wrote.
#[derive(Debug)]
pub struct Touched {
    /// The number of the workgroup that is executed.
    group: u32,
    /// Whether two workgroups met.
    met: bool,
    buffers: Vec<TouchedBuffer>,
}

impl Touched {
    /// Nothing yet.
    pub(super) fn new(base: &AmdMemory) -> Self {
        let buffers = base.buffers.iter().map(|buffer| {
            let pages = buffer.len().div_ceil(PAGE_BYTES);
            TouchedBuffer { tags: vec![None; pages], copies: vec![None; pages] }
        });
        Self { group: 0, met: false, buffers: buffers.collect() }
    }

    /// Whether two workgroups met in the view.
    pub(super) fn has_met(&self) -> bool {
        self.met
    }
}

/// A buffer of a view, by page.
#[derive(Debug)]
struct TouchedBuffer {
    tags: Vec<Option<Box<Tags>>>,
    copies: Vec<Option<Box<[u8; PAGE_BYTES]>>>,
}

impl TouchedBuffer {
    fn tag(&mut self, word: usize) -> &mut u32 {
        let page = &mut self.tags[word / PAGE_WORDS];
        let page = page.get_or_insert_with(|| Box::new([UNTOUCHED; PAGE_WORDS]));
        &mut page[word % PAGE_WORDS]
    }

    /// A page that is written to; at first it is what `whole` holds.
    fn copy(&mut self, page: usize, whole: &[u8]) -> &mut [u8; PAGE_BYTES] {
        self.copies[page].get_or_insert_with(|| {
            let mut copy = Box::new([0; PAGE_BYTES]);
            for (byte, given) in copy.iter_mut().zip(&whole[page * PAGE_BYTES..]) {
                *byte = *given;
            }
            copy
        })
    }

    /// Writes to the whole buffer what was written here.
    fn write_to(&self, whole: &mut [u8]) {
        let pages = whole.chunks_mut(PAGE_BYTES).zip(&self.copies).zip(&self.tags);
        for ((whole, copy), tags) in pages {
            let (Some(copy), Some(tags)) = (copy, tags) else { continue };
            for ((word, copied), tag) in whole.chunks_mut(4).zip(copy.chunks(4)).zip(tags.iter()) {
                match *tag {
                    // Whole words alone are reduced.
                    REDUCED..ALONE => {
                        let reduction = Reduction::ALL[(tag - REDUCED) as usize];
                        let value = reduction.apply(word_from(word), word_from(copied));
                        word.copy_from_slice(&value.to_le_bytes());
                    }
                    ALONE.. if tag & 1 != 0 => word.copy_from_slice(&copied[..word.len()]),
                    _ => {}
                }
            }
        }
    }
}

/// A view of the memory.
#[derive(Debug)]
pub struct View<'a> {
    /// What it is of, which stays as it is.
    pub(super) base: &'a AmdMemory,
    /// What differs.
    pub(super) touched: &'a mut Touched,
}

impl View<'_> {
    /// Says which workgroup's accesses follow.
    pub(super) fn begin(&mut self, group: u32) {
        self.touched.group = group;
    }

    fn scalars(&mut self, address: u64, count: usize) -> Option<[u32; 16]> {
        let (high, low) = ((address >> 32) as u32, address as u32 as usize);
        if high == DESCRIPTORS_HIGH {
            return self.base.scalars(address, count);
        }
        let buffer = (high as usize).checked_sub(1)?;
        let mut words = [0; 16];
        for (place, word) in words.iter_mut().enumerate().take(count) {
            *word = self.read(buffer, low + 4 * place, 4)?;
        }
        Some(words)
    }

    #[inline(never)]
    fn read(&mut self, buffer: usize, start: usize, bytes: usize) -> Option<u32> {
        let base = self.base;
        let found = base.buffers.get(buffer)?.get(start..start + bytes)?;
        if start % 4 + bytes > 4 {
            let mut value = 0;
            for place in 0..bytes {
                value |= self.read(buffer, start + place, 1)? << (8 * place);
            }
            return Some(value);
        }
        let (page, at) = (start / PAGE_BYTES, start % PAGE_BYTES);
        let Touched { group, met, buffers } = &mut *self.touched;
        let touched = &mut buffers[buffer];
        let tag = touched.tag(start / 4);
        if *tag == UNTOUCHED {
            *tag = read_by(*group);
        } else if *tag != read_by(*group) && *tag != written_by(*group) {
            if is_read(*tag) {
                *tag = READ_BY_MANY;
            } else {
                *met = true;
            }
        }
        let held = touched.copies[page].as_ref().map_or(found, |copy| &copy[at..at + bytes]);
        Some(word_from(held))
    }

    #[inline(never)]
    fn write(&mut self, buffer: usize, start: usize, bytes: usize, value: u32) -> Option<()> {
        let base = self.base;
        let whole = base.buffers.get(buffer)?;
        if start + bytes > whole.len() {
            return None;
        }
        if start % 4 + bytes > 4 {
            for place in 0..bytes {
                self.write(buffer, start + place, 1, value >> (8 * place))?;
            }
            return Some(());
        }
        let (page, at) = (start / PAGE_BYTES, start % PAGE_BYTES);
        let Touched { group, met, buffers } = &mut *self.touched;
        let touched = &mut buffers[buffer];
        let tag = touched.tag(start / 4);
        if *tag == UNTOUCHED || *tag == read_by(*group) {
            *tag = written_by(*group);
        } else if *tag != written_by(*group) {
            *met = true;
        }
        let held = &mut touched.copy(page, whole)[at..at + bytes];
        held.copy_from_slice(&value.to_le_bytes()[..bytes]);
        Some(())
    }

    fn change(&mut self, buffer: usize, start: usize, f: impl FnOnce(u32) -> u32) -> Option<u32> {
        let old = self.read(buffer, start, 4)?;
        self.write(buffer, start, 4, f(old))?;
        Some(old)
    }

    /// Changes a word whose old value nobody asks for.
    #[inline(never)]
    pub(super) fn reduce(
        &mut self,
        buffer: usize,
        start: usize,
        reduction: Reduction,
        given: u32,
    ) -> Option<()> {
        let (reduction, given) = reduction.gathered(given);
        let base = self.base;
        let whole = base.buffers.get(buffer)?;
        if start + 4 > whole.len() {
            return None;
        }
        if start.is_multiple_of(4) {
            let (page, at) = (start / PAGE_BYTES, start % PAGE_BYTES);
            let touched = &mut self.touched.buffers[buffer];
            let tag = touched.tag(start / 4);
            let first = *tag == UNTOUCHED;
            if first {
                *tag = reduced_by(reduction);
            }
            if *tag == reduced_by(reduction) {
                let held = &mut touched.copy(page, whole)[at..at + 4];
                let before = if first { reduction.neutral() } else { word_from(held) };
                held.copy_from_slice(&reduction.apply(before, given).to_le_bytes());
                return Some(());
            }
        }
        self.change(buffer, start, |old| reduction.apply(old, given))?;
        Some(())
    }
}
