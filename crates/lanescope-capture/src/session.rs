//! A capture in progress: what is asked for, what was seen, and contents on their way to the disk.
//!
//! Input: dispatches as they are recorded, submissions. Output: folders. Everything is done with the program's
//! own device, on the thread that submits.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wgpu;
use crate::folder::{Bytes, Captured, MemoryPart, ShaderText, quote};
use crate::request::CaptureRequest;

/// What a wrapped device, its queue and all that they make share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    request: CaptureRequest,
    /// How many devices of the process captured into the same folder before this one.
    earlier: usize,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    dispatches: u64,
    matching: u64,
    frame: u64,
    bytes: u64,
}

/// A shader module as it was handed over.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) label: String,
    pub(super) shader: Arc<ShaderText>,
    pub(super) entry_point: Option<String>,
    pub(super) constants: Vec<(String, f64)>,
    pub(super) memory_zeroed: bool,
}

/// What a bind group binds, by binding.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) entries: BTreeMap<u32, Entry>,
}

/// What a binding is.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Buffer(BufferEntry),
    Texture(TextureEntry),
    /// The lines of a sampler's table, and what they do not say.
    Sampler(Vec<String>, Option<String>),
    Other(&'static str),
}

/// A range of a buffer.
#[derive(Clone, Debug)]
pub(super) struct BufferEntry {
    pub(super) buffer: wgpu::Buffer,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Whether a dynamic offset is added to it.
    pub(super) dynamic: bool,
    /// Whether the shader may write it, as far as is known.
    pub(super) written: bool,
    /// Whether it can be copied.
    pub(super) readable: bool,
}

/// What a shader sees of a texture.
#[derive(Clone, Debug)]
pub(super) struct TextureEntry {
    pub(super) view: ViewInfo,
    pub(super) written: bool,
}

/// A view, with everything that was left out filled in.
#[derive(Clone, Debug)]
pub(super) struct ViewInfo {
    pub(super) texture: wgpu::Texture,
    pub(super) format: wgpu::TextureFormat,
    pub(super) dimension: wgpu::TextureViewDimension,
    pub(super) aspect: wgpu::TextureAspect,
    pub(super) level: u32,
    pub(super) levels: u32,
    pub(super) layer: u32,
    pub(super) layers: u32,
    pub(super) readable: bool,
}

/// The grid of a dispatch.
#[derive(Clone, Debug)]
pub(super) enum Grid {
    Direct([u32; 3]),
    Indirect { buffer: wgpu::Buffer, offset: u64, readable: bool },
}

/// Everything that a pass has set.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) pipeline: Option<(wgpu::ComputePipeline, Arc<Pipeline>)>,
    pub(super) groups: BTreeMap<u32, (wgpu::BindGroup, Arc<Group>, Vec<u32>)>,
    pub(super) immediates: Vec<u8>,
}

/// A dispatch whose contents are copied where the GPU comes to it.
#[derive(Debug)]
pub(super) struct Snapshot {
    path: PathBuf,
    pipeline: Arc<Pipeline>,
    grid: Grid,
    arguments: Option<wgpu::Buffer>,
    immediates: Vec<u8>,
    memories: Vec<Memory>,
    buffers: Vec<(u32, u32, MemoryPart)>,
    textures: Vec<Image>,
    samplers: Vec<Vec<String>>,
    missing: Vec<String>,
    notes: Vec<(&'static str, String)>,
}

/// A range of a buffer that bindings share, and its copies.
#[derive(Debug)]
struct Memory {
    buffer: wgpu::Buffer,
    from: u64,
    to: u64,
    written: bool,
    before: Option<wgpu::Buffer>,
    after: Option<wgpu::Buffer>,
}

/// A texture's view, and its copies.
#[derive(Debug)]
struct Image {
    group: u32,
    binding: u32,
    entry: TextureEntry,
    before: Option<wgpu::Buffer>,
    after: Option<wgpu::Buffer>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(super) fn new(device: wgpu::Device, queue: wgpu::Queue, request: CaptureRequest) -> Self {
        let earlier = crate::request::join(&request.folder);
        Self { device, queue, request, earlier, seen: Mutex::default() }
    }

    pub(super) fn end_frame(&self) {
        lock(&self.seen).frame += 1;
    }

    /// A snapshot of a dispatch that is about to be recorded, where it is meant.
    pub(super) fn meant(&self, pass: Option<&str>, state: &State, grid: &Grid) -> Option<Snapshot> {
        let (_, pipeline) = state.pipeline.as_ref()?;
        let label = if pipeline.label.is_empty() { pass.unwrap_or("") } else { &pipeline.label };
        let mut seen = lock(&self.seen);
        let number = seen.dispatches;
        seen.dispatches += 1;
        if !self.request.matches(label) {
            return None;
        }
        let nth = seen.matching;
        seen.matching += 1;
        let frame = seen.frame;
        if !self.request.is_meant(nth, frame) {
            return None;
        }
        let mut snapshot = Snapshot::new(pipeline, state, grid.clone());
        let bytes = snapshot.bytes();
        let name = match self.earlier {
            0 => format!("dispatch_{number:06}_{}", plain(label)),
            // Each device counts its own dispatches.
            earlier => format!("dispatch_{number:06}_device_{earlier}_{}", plain(label)),
        };
        let frame_name = format!("frame_{frame:05}");
        if seen.bytes.saturating_add(bytes) > self.request.bytes_max {
            drop(seen);
            self.tell(&format!("{frame_name}/{name}: {bytes} bytes are over what is left"));
            return None;
        }
        seen.bytes += bytes;
        drop(seen);
        snapshot.path = self.request.folder.join(frame_name).join(name);
        snapshot.notes = self.notes(label, nth, frame);
        Some(snapshot)
    }

    fn notes(&self, label: &str, nth: u64, frame: u64) -> Vec<(&'static str, String)> {
        let info = self.device.adapter_info();
        let driver = format!("{} {}", info.driver, info.driver_info);
        vec![
            ("program", quote(&self.request.program)),
            ("label", quote(label)),
            ("nth", nth.to_string()),
            ("frame", frame.to_string()),
            ("adapter", quote(&info.name)),
            ("driver", quote(driver.trim())),
            ("backend", quote(info.backend.to_str())),
            ("wgpu", quote(super::WGPU)),
            ("captured_by", quote(concat!("lanescope-capture ", env!("CARGO_PKG_VERSION")))),
        ]
    }

    /// Adds a line to what the folder says was not captured.
    pub(super) fn tell(&self, line: &str) {
        let path = self.request.folder.join("not_captured.txt");
        let told = std::fs::create_dir_all(&self.request.folder).and_then(|()| {
            let mut file = std::fs::File::options().create(true).append(true).open(&path)?;
            writeln!(file, "{line}")
        });
        // The program goes on whatever becomes of its capture.
        drop(told);
    }

    /// Waits for what was submitted, and writes the folders of its snapshots.
    pub(super) fn finish(&self, snapshots: Vec<Snapshot>) {
        for snapshot in snapshots {
            let path = snapshot.path.clone();
            let written = snapshot.read(self).and_then(|captured| captured.write(&path));
            if let Err(error) = written {
                self.tell(&format!("{}: {error}", path.display()));
            }
        }
    }

    /// The bytes of a buffer that was copied to.
    fn read(&self, buffer: &wgpu::Buffer) -> std::io::Result<Vec<u8>> {
        let slice = buffer.slice(..);
        let mapped = Arc::new(Mutex::new(None));
        let told = Arc::clone(&mapped);
        slice.map_async(wgpu::MapMode::Read, move |result| *lock(&told) = Some(result));
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(std::io::Error::other)?;
        match lock(&mapped).take() {
            Some(result) => result.map_err(std::io::Error::other)?,
            None => return Err(std::io::Error::other("the copies were not read in time")),
        }
        let bytes = super::mapped_bytes(&slice).map_err(std::io::Error::other)?;
        buffer.unmap();
        Ok(bytes)
    }
}

/// A label as a part of a folder's name.
fn plain(label: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    label.chars().take(40).map(safe).collect()
}

impl Snapshot {
    fn new(pipeline: &Arc<Pipeline>, state: &State, grid: Grid) -> Self {
        let mut snapshot = Self {
            path: PathBuf::new(),
            pipeline: Arc::clone(pipeline),
            grid,
            arguments: None,
            immediates: state.immediates.clone(),
            memories: Vec::new(),
            buffers: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
            missing: Vec::new(),
            notes: Vec::new(),
        };
        for (&group, (_, bound, offsets)) in &state.groups {
            // Dynamic offsets are given in the order of bindings.
            let mut offsets = offsets.iter();
            for (&binding, entry) in &bound.entries {
                let at = format!("@group({group}) @binding({binding})");
                match entry {
                    Entry::Buffer(entry) => {
                        let dynamic = if entry.dynamic { offsets.next() } else { None };
                        let offset = entry.offset + dynamic.map_or(0, |offset| u64::from(*offset));
                        snapshot.add_buffer(group, binding, entry, offset);
                    }
                    Entry::Texture(entry) => match entry.view.unreadable() {
                        Some(why) => snapshot.missing.push(format!("the texture at {at}: {why}")),
                        None => snapshot.textures.push(Image {
                            group,
                            binding,
                            entry: entry.clone(),
                            before: None,
                            after: None,
                        }),
                    },
                    Entry::Sampler(lines, unsaid) => {
                        let place = [format!("group = {group}"), format!("binding = {binding}")];
                        snapshot.samplers.push(place.into_iter().chain(lines.clone()).collect());
                        let unsaid =
                            unsaid.iter().map(|what| format!("the sampler at {at}: {what}"));
                        snapshot.missing.extend(unsaid);
                    }
                    Entry::Other(what) => snapshot.missing.push(format!("{what} at {at}")),
                }
            }
        }
        if let Grid::Indirect { readable: false, .. } = snapshot.grid {
            snapshot.missing.push("the arguments of the indirect dispatch".to_owned());
        }
        snapshot
    }

    /// Adds a range; ranges of one buffer that overlap share their memory.
    fn add_buffer(&mut self, group: u32, binding: u32, entry: &BufferEntry, offset: u64) {
        if !entry.readable {
            let at = format!("@group({group}) @binding({binding})");
            self.missing
                .push(format!("the buffer at {at}, which was made before the capture began"));
            return;
        }
        // Copies are of whole words.
        let size = entry.size / 4 * 4;
        let (mut from, mut to) = (offset / 4 * 4, offset / 4 * 4 + size);
        let mut written = entry.written;
        let mut moved = Vec::new();
        for (index, memory) in self.memories.iter().enumerate() {
            if memory.buffer == entry.buffer && memory.from < to && from < memory.to {
                (from, to) = (from.min(memory.from), to.max(memory.to));
                written |= memory.written;
                moved.push(index);
            }
        }
        let buffer = entry.buffer.clone();
        let new = self.memories.len();
        for index in moved {
            for (_, _, part) in self.buffers.iter_mut().filter(|(_, _, p)| p.memory == index) {
                part.offset = part.offset + self.memories[index].from - from;
                part.memory = new;
            }
            // What it held is a part of the new one.
            self.memories[index].to = self.memories[index].from;
        }
        self.memories.push(Memory { buffer, from, to, written, before: None, after: None });
        let part = MemoryPart { memory: new, offset: offset / 4 * 4 - from, bytes: size };
        self.buffers.push((group, binding, part));
    }

    /// Bytes of its copies.
    fn bytes(&self) -> u64 {
        let times = |written: bool| if written { 2 } else { 1 };
        let memories = self.memories.iter().map(|m| (m.to - m.from) * times(m.written));
        let textures = self
            .textures
            .iter()
            .map(|image| image.entry.view.staging_bytes() * times(image.entry.written));
        memories.chain(textures).sum()
    }

    /// Records the copies of everything before the dispatch.
    pub(super) fn copy_before(&mut self, session: &Session, encoder: &mut wgpu::CommandEncoder) {
        if let Grid::Indirect { buffer, offset, readable: true } = &self.grid {
            let staging = staging(&session.device, 12);
            encoder.copy_buffer_to_buffer(buffer, *offset, &staging, 0, 12);
            self.arguments = Some(staging);
        }
        for memory in &mut self.memories {
            memory.before = memory.copy(session, encoder);
        }
        for image in &mut self.textures {
            image.before = Some(image.entry.view.copy(session, encoder));
        }
    }

    /// Records the copies of what the dispatch may have written.
    pub(super) fn copy_after(&mut self, session: &Session, encoder: &mut wgpu::CommandEncoder) {
        for memory in self.memories.iter_mut().filter(|memory| memory.written) {
            memory.after = memory.copy(session, encoder);
        }
        for image in self.textures.iter_mut().filter(|image| image.entry.written) {
            image.after = Some(image.entry.view.copy(session, encoder));
        }
    }

    /// Reads the copies.
    fn read(self, session: &Session) -> std::io::Result<Captured> {
        let read = |copy: &Option<wgpu::Buffer>| match copy {
            Some(copy) => session.read(copy).map(Some),
            None => Ok(None),
        };
        let memories: Vec<_> = self
            .memories
            .iter()
            .map(|memory| Ok((read(&memory.before)?, read(&memory.after)?)))
            .collect::<std::io::Result<_>>()?;
        let mut buffers = Vec::new();
        for (group, binding, part) in self.buffers {
            let (before, after) = &memories[part.memory];
            buffers.push(Bytes {
                part: Some(part),
                group,
                binding,
                before: before.clone().unwrap_or_default(),
                after: after.clone(),
                lines: Vec::new(),
            });
        }
        let mut textures = Vec::new();
        for image in self.textures {
            let view = &image.entry.view;
            let texels = |copy| -> std::io::Result<Option<Vec<u8>>> {
                Ok(read(copy)?.map(|bytes| view.texels(&bytes)))
            };
            textures.push(Bytes {
                part: None,
                group: image.group,
                binding: image.binding,
                before: texels(&image.before)?.unwrap_or_default(),
                after: texels(&image.after)?,
                lines: view.lines(),
            });
        }
        let workgroups = match self.grid {
            Grid::Direct(workgroups) => workgroups,
            Grid::Indirect { .. } => [0; 3],
        };
        Ok(Captured {
            shader: ShaderText::clone(&self.pipeline.shader),
            entry_point: self.pipeline.entry_point.clone(),
            constants: self.pipeline.constants.clone(),
            memory_zeroed: self.pipeline.memory_zeroed,
            workgroups,
            indirect: read(&self.arguments)?,
            immediates: self.immediates,
            buffers,
            textures,
            samplers: self.samplers,
            missing: self.missing,
            notes: self.notes,
        })
    }
}

/// A buffer that is copied to and read.
fn staging(device: &wgpu::Device, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("captured contents"),
        size: size.max(4),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

impl Memory {
    fn copy(&self, session: &Session, encoder: &mut wgpu::CommandEncoder) -> Option<wgpu::Buffer> {
        let size = self.to - self.from;
        if size == 0 {
            return None;
        }
        let staging = staging(&session.device, size);
        encoder.copy_buffer_to_buffer(&self.buffer, self.from, &staging, 0, size);
        Some(staging)
    }
}

impl ViewInfo {
    /// Why it cannot be copied; `None` if it can.
    fn unreadable(&self) -> Option<String> {
        let format = self.format;
        if !self.readable {
            return Some("it was made without being readable".to_owned());
        }
        if self.texture.sample_count() > 1 {
            return Some(format!("it has {} samples a texel", self.texture.sample_count()));
        }
        let depth =
            matches!(format, wgpu::TextureFormat::Depth16Unorm | wgpu::TextureFormat::Depth32Float);
        let plain = format.block_dimensions() == (1, 1) && !format.is_depth_stencil_format();
        if !(depth || plain) || format.block_copy_size(None).is_none() {
            return Some(format!("texels of {format:?} are not copied"));
        }
        None
    }

    /// The extent of a level: width, height, and layers or depth.
    fn extent(&self, level: u32) -> wgpu::Extent3d {
        let size = self.texture.size();
        let deep = self.texture.dimension() == wgpu::TextureDimension::D3;
        let halved = |extent: u32| (extent >> level).max(1);
        wgpu::Extent3d {
            width: halved(size.width),
            height: halved(size.height),
            depth_or_array_layers: if deep {
                halved(size.depth_or_array_layers)
            } else {
                self.layers
            },
        }
    }

    fn texel_bytes(&self) -> u64 {
        u64::from(self.format.block_copy_size(None).unwrap_or(4))
    }

    /// Bytes of a row in a copy.
    fn row(&self, level: u32) -> u64 {
        let alignment = u64::from(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        (u64::from(self.extent(level).width) * self.texel_bytes()).next_multiple_of(alignment)
    }

    fn viewed_levels(&self) -> std::ops::Range<u32> {
        self.level..self.level + self.levels
    }

    fn level_bytes(&self, level: u32) -> u64 {
        let extent = self.extent(level);
        self.row(level) * u64::from(extent.height) * u64::from(extent.depth_or_array_layers)
    }

    fn staging_bytes(&self) -> u64 {
        self.viewed_levels().map(|level| self.level_bytes(level)).sum()
    }

    fn copy(&self, session: &Session, encoder: &mut wgpu::CommandEncoder) -> wgpu::Buffer {
        let staging = staging(&session.device, self.staging_bytes());
        let mut offset = 0;
        for level in self.viewed_levels() {
            let extent = self.extent(level);
            encoder.copy_texture_to_buffer(
                wgpu::TexelCopyTextureInfo {
                    texture: &self.texture,
                    mip_level: level,
                    origin: wgpu::Origin3d { x: 0, y: 0, z: self.layer },
                    aspect: self.aspect,
                },
                wgpu::TexelCopyBufferInfo {
                    buffer: &staging,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset,
                        bytes_per_row: u32::try_from(self.row(level)).ok(),
                        rows_per_image: Some(extent.height),
                    },
                },
                extent,
            );
            offset += self.level_bytes(level);
        }
        staging
    }

    /// The texels of a copy, without what lies between rows.
    fn texels(&self, bytes: &[u8]) -> Vec<u8> {
        let mut texels = Vec::new();
        let mut at = 0_usize;
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        for level in self.viewed_levels() {
            let length = whole(self.level_bytes(level));
            let used = whole(u64::from(self.extent(level).width) * self.texel_bytes());
            let part = bytes.get(at..at.saturating_add(length)).unwrap_or_default();
            for row in part.chunks_exact(whole(self.row(level))) {
                texels.extend_from_slice(&row[..used]);
            }
            at += length;
        }
        texels
    }

    /// The lines of its table.
    fn lines(&self) -> Vec<String> {
        use wgpu::TextureViewDimension as View;
        let name = format!("{:?}", self.format).to_lowercase().replace("srgb", "-srgb");
        let wgpu::Extent3d { width, height, depth_or_array_layers } = self.extent(self.level);
        let size = match self.dimension {
            View::D1 => format!("[{width}]"),
            View::D2 | View::D2Array | View::Cube | View::CubeArray => {
                format!("[{width}, {height}]")
            }
            View::D3 => format!("[{width}, {height}, {depth_or_array_layers}]"),
        };
        let mut lines = vec![format!("format = {}", quote(&name)), format!("size = {size}")];
        match self.dimension {
            View::D2Array => lines.push(format!("layers = {}", self.layers)),
            View::CubeArray => lines.push(format!("layers = {}", self.layers / 6)),
            View::D1 | View::D2 | View::Cube | View::D3 => {}
        }
        lines.push(format!("mip_levels = {}", self.levels));
        lines
    }
}
