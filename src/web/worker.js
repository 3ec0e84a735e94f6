"use strict";
// The worker: owns the device, runs launches, and says what it saw. It judges nothing but outputs,
// and keeps nothing: whoever started it does, and may end it at any time.

// What a dispatch may take before the page goes on with smaller launches, and before it gives up.
const SLOW_MS = 2000, SILENT_MS = 20000;
// Timing: what a launch should take at least, a pass at least, when work before a sample is left out.
const LAUNCH_MS = 1, PASS_MS = 20, LONG_MS = 50;
// Rounds of samples, at least and at most; one in so many of a pass may be the timer's step.
const ROUNDS_MIN = 3, ROUNDS_MAX = 9, STEPS_MIN = 200;
const WANTED = ["subgroups", "timestamp-query", "subgroup-size-control", "shader-f16"];
const LIMITS = ["maxStorageBuffersPerShaderStage", "maxStorageBufferBindingSize", "maxBufferSize", "maxUniformBufferBindingSize",
  "maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ", "maxComputeWorkgroupsPerDimension"];
// Widths that a text can be pinned to.
const WIDTHS_PINNED = [4, 8, 16, 32, 64, 128];

let data, device, seen, quantum_ns = null;
const pipelines = new Map();
const inputs = new Map();

const say = (kind, content) => postMessage({ kind, ...content });
const fault = (code, message) => Object.assign(new Error(message), { code });
const ends = (error) => ["device_lost", "time_limit", "out_of_memory"].includes(error.code);

onmessage = async ({ data: asked }) => {
  try {
    data = asked.data;
    await open();
    const begun = performance.now();
    const pinned = [];
    for (const width of seen.pinned) if (await runs(width)) pinned.push(width);
    // Where none of the widths can be fixed, what the device chooses is counted.
    if (seen.pinned.length && pinned.length === 0) await find_width(null);
    const widths = pinned.length ? pinned : [null];
    say("widths", { widths });
    for (const width of widths) {
      await count_all(width, asked);
      if (asked.timing && !asked.timed.includes(width)) await time_all(width, asked, begun);
      say("width_done", { width });
    }
    say("done", {});
  } catch (error) {
    say("failed", { code: error.code ?? "driver", message: String(error.message ?? error) });
  }
};

// --- The device ---

async function open() {
  if (!self.navigator.gpu && !self.isSecureContext) throw fault("insecure", "this page came by plain http");
  if (!self.navigator.gpu) throw fault("no_webgpu", "this browser has no WebGPU");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw fault("no_adapter", "WebGPU found no adapter");
  const requiredFeatures = WANTED.filter((name) => adapter.features.has(name));
  const requiredLimits = {};
  for (const name of LIMITS) if (adapter.limits[name] !== undefined) requiredLimits[name] = adapter.limits[name];
  try {
    device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  } catch (error) {
    throw fault("no_adapter", "the adapter gave no device: " + error.message);
  }
  const has = (name) => requiredFeatures.includes(name);
  const about = adapter.info ?? {};
  seen = {
    vendor: about.vendor ?? "", architecture: about.architecture ?? "", device: about.device ?? "",
    description: about.description ?? "", fallback: Boolean(about.isFallbackAdapter ?? adapter.isFallbackAdapter),
    asked: WANTED, features: requiredFeatures, limits: requiredLimits,
    width_min: has("subgroups") ? about.subgroupMinSize ?? null : null,
    width_max: has("subgroups") ? about.subgroupMaxSize ?? null : null,
    width_run: null, linear: null, misreported: false, pinned: [], clock: "wall", quantum_ns: null,
  };
  if (has("subgroups")) await find_width(null);
  if (has("subgroup-size-control") && seen.width_min < seen.width_max) {
    seen.pinned = WIDTHS_PINNED.filter((width) => width >= seen.width_min && width <= seen.width_max);
  }
  if (has("timestamp-query")) {
    quantum_ns = await find_quantum();
    const fine = quantum_ns !== null && quantum_ns * STEPS_MIN <= PASS_MS * 1e6;
    seen.quantum_ns = quantum_ns;
    if (fine) seen.clock = "timestamps";
  }
  say("device", { seen });
}

// Waits for the device, at most for so long.
function wait(promise, limit_ms = SILENT_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(fault("time_limit", `nothing came back within ${limit_ms / 1000} s`)), limit_ms);
  });
  const lost = device.lost.then((info) => {
    throw fault("device_lost", "the device was lost" + (info.message ? ": " + info.message : ""));
  });
  return Promise.race([promise, late, lost]).finally(() => clearTimeout(timer));
}

// Does what may be refused, and says so as an error.
async function checked(what, make) {
  for (const filter of ["out-of-memory", "validation"]) device.pushErrorScope(filter);
  let made, thrown;
  try { made = await make(); } catch (error) { thrown = error; }
  const [invalid, memory] = [await wait(device.popErrorScope()), await wait(device.popErrorScope())];
  if (memory) throw fault("out_of_memory", `${what}: ${memory.message}`);
  if (invalid || thrown) throw fault(thrown?.code ?? "unsupported", `${what}: ${(invalid ?? thrown).message}`);
  return made;
}

const BINDING_TYPES = ["uniform", "read-only-storage", "storage"];

// A compiled text with the layouts of its groups; `slots` are [group, binding, buffer, kind].
async function compile(text, entry, slots, width) {
  const key = JSON.stringify([text, entry, slots.map(([g, b, , k]) => [g, b, k]), width]);
  if (!pipelines.has(key)) {
    pipelines.set(key, await checked("compiling", async () => {
      const code = width === null ? data.texts[text] : pin(data.texts[text], width);
      const module = device.createShaderModule({ code });
      const groups = [];
      for (const [group, binding, , kind] of slots) {
        (groups[group] ??= []).push({ binding, visibility: 4, buffer: { type: BINDING_TYPES[kind] } });
      }
      const layouts = Array.from(groups, (entries) => device.createBindGroupLayout({ entries: entries ?? [] }));
      const layout = device.createPipelineLayout({ bindGroupLayouts: layouts });
      const pipeline = await wait(device.createComputePipelineAsync({ layout, compute: { module, entryPoint: entry } }), 60000);
      return { pipeline, layouts };
    }));
  }
  return pipelines.get(key);
}

// The text for subgroups of one width.
const pin = (text, width) =>
  "enable subgroup_size_control;\n" + text.replace("@compute", `@subgroup_size(${width}) @compute`);

const USAGE = 0x4 | 0x8 | 0x40 | 0x80 | 0x100;

function buffer(size) {
  return device.createBuffer({ size: Math.max(16, Math.ceil(size / 4) * 4), usage: USAGE });
}

// The words of a buffer, once everything before is done.
async function read(from, size) {
  const staging = device.createBuffer({ size, usage: 0x1 | 0x8 });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(from, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await wait(staging.mapAsync(1));
  const copy = staging.getMappedRange().slice(0);
  staging.destroy();
  return copy;
}

// Runs the probe; notes the width that the device runs, and how it numbers lanes.
async function find_width(width) {
  const { text, entry } = data.probe;
  const [workgroup, workgroups] = [256, data.probe_workgroups];
  const bytes = workgroup * workgroups * 16;
  const target = buffer(bytes);
  const kernel = await compile(text, entry, [[0, 0, 0, 2]], width);
  await submit([{ kernel, groups: bind(kernel, [[0, 0, target]]), grid: [workgroups, 1, 1] }], 1);
  const words = new Uint32Array(await read(target, bytes));
  target.destroy();
  let [lanes, leaders, full, linear] = [0, 0, true, true];
  for (let i = 0; i < words.length; i += 4) lanes = Math.max(lanes, words[i + 2]);
  for (let i = 0; i < words.length / 4; i++) {
    const [size, lane, active, first] = words.subarray(4 * i, 4 * i + 4);
    const local = i % workgroup;
    leaders += local === first;
    full &&= active === lanes && size === lanes;
    linear &&= lane === i % lanes && first === local - lane;
  }
  const consistent = full && leaders === workgroup * workgroups / lanes;
  const within = (seen.width_min ?? lanes) <= lanes && lanes <= (seen.width_max ?? lanes);
  Object.assign(seen, { width_run: lanes, linear: linear && consistent, misreported: !(consistent && within) });
}

// --- Contents and outputs ---

// The product of two words, as upper and lower half.
function product(a, b) {
  const [al, ah, bl, bh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const low = al * bl, cross = ah * bl + (low >>> 16), other = al * bh + (cross & 0xffff);
  return ah * bh + Math.floor(cross / 65536) + Math.floor(other / 65536);
}

// Random bits of an element, as two words: SplitMix64 of a counter.
const bits = new Uint32Array(2);
function random(high, low, index) {
  low += index;
  high = (high + Math.floor(low / 4294967296)) >>> 0;
  low >>>= 0;
  [high, low] = times(high, low, 0x9e3779b9, 0x7f4a7c15);
  [high, low] = times(...shifted(high, low, 30), 0xbf58476d, 0x1ce4e5b9);
  [high, low] = times(...shifted(high, low, 27), 0x94d049bb, 0x133111eb);
  [bits[0], bits[1]] = shifted(high, low, 31);
}
const times = (ah, al, bh, bl) =>
  [(product(al, bl) + Math.imul(ah, bl) + Math.imul(al, bh)) >>> 0, Math.imul(al, bl) >>> 0];
const shifted = (high, low, by) =>
  [(high ^ (high >>> by)) >>> 0, (low ^ ((low >>> by) | (high << (32 - by)))) >>> 0];

const TYPES = { f32: Float32Array, u32: Uint32Array, i32: Int32Array };
const saturated = (value, [low, high]) => Math.max(low, Math.min(high, value));
const RANGES = { u32: [0, 4294967295], i32: [-2147483648, 2147483647] };

// The first content of a launch's buffer, as bytes: worked out, where it is not given.
function contents(launch, size, number) {
  if (data.contents) return data.contents[number];
  const [bytes, fill] = size.buffers[number];
  const content = new ArrayBuffer(bytes);
  if (fill.words) new Uint32Array(content).set(fill.words.slice(0, bytes / 4));
  if (fill.bytes) {
    const at = new Uint8Array(content);
    for (let i = 0; 2 * i < fill.bytes.length && i < bytes; i++) at[i] = parseInt(fill.bytes.substr(2 * i, 2), 16);
  }
  const made = fill.uniform ?? fill.series;
  if (made) {
    const elements = new TYPES[made.scalar](content, 0, Math.floor(bytes / 4));
    const whole = RANGES[made.scalar];
    const [high, low] = launch.buffers[number].stream;
    for (let i = 0; i < elements.length; i++) {
      let value;
      if (fill.series) value = made.first + made.step * i;
      else {
        random(high, low, i);
        const unit = whole ? (bits[0] * 2097152 + (bits[1] >>> 11)) / 9007199254740992 : (bits[0] >>> 8) / 16777216;
        value = made.low + (made.high - made.low) * unit;
        if (whole) value = Math.floor(value);
      }
      elements[i] = whole ? saturated(Math.trunc(value), whole) : value;
    }
  }
  return content;
}

// The map v ↦ a·v + b with f32 constants, done so many times.
function steps(a, b, times) {
  [a, b] = [Math.fround(a), Math.fround(b)];
  let [factor, sum] = [1, 0];
  for (let i = 0; i < times; i++) [factor, sum] = [a * factor, a * sum + b];
  return [factor, sum];
}
const SAME = [1, 0], RISING = [1.001, 0.0001], FALLING = [0.999, 0.0002];
const always = (map) => () => map;
const arms = (work) => [steps(...RISING, work), steps(...FALLING, work)];
const REFERENCES = {/*REFERENCES*/};

// Whether a launch's outputs are right.
async function verify(launch, size, buffers, width) {
  const outputs = launch.buffers.map((held, i) => [held, i]).filter(([held]) => held.output);
  const found = new Map();
  for (const [held, i] of outputs) found.set(held.name, await read(buffers[i], size.buffers[i][0]));
  if (launch.reference) {
    const { name, relative, absolute } = launch.reference;
    const named = (wanted) => launch.buffers.findIndex((held) => held.name === wanted);
    const words = (wanted) => new Uint32Array(contents(launch, size, named(wanted)));
    const map = REFERENCES[name]({ parameters: size.parameters, words });
    const input = new Float32Array(contents(launch, size, named("input")));
    const output = new Float32Array(found.get("output"));
    const wrong = [];
    let count = 0;
    for (let i = 0; i < input.length; i++) {
      const [a, b] = map(i, input[i]);
      const allowed = absolute + relative * (Math.abs(a * input[i]) + Math.abs(b));
      if (!(Math.abs(output[i] - (a * input[i] + b)) <= allowed)) {
        count++;
        if (wrong.length < 5) wrong.push(`[${i}] ${output[i]} ≠ ${a * input[i] + b}`);
      }
    }
    if (count === 0) return { output: "verified" };
    return { output: "mismatch", error: `${count} of ${input.length} elements of \`output\` differ from the reference; the first: ${wrong.join(", ")}` };
  }
  // Without a reference the simulator's bytes at this width are right, and of others nothing is known.
  const known = Object.entries(size.outputs_sha256[width ?? seen.width_run ?? data.width_assumed] ?? {});
  if (known.length === 0) return { output: "unchecked" };
  for (const [name, digest] of known) if (sha256(found.get(name)) !== digest) return { output: "unchecked" };
  return { output: "verified" };
}

// SHA-256 in hexadecimal (FIPS 180-4); crypto.subtle is not there on every page from a disk.
function sha256(content) {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const part = (root) => Math.floor((root - Math.floor(root)) * 4294967296) | 0;
  const k = primes.map((p) => part(Math.cbrt(p)));
  let h = primes.slice(0, 8).map((p) => part(Math.sqrt(p)));
  const length = content.byteLength;
  const padded = new Uint8Array(Math.ceil((length + 9) / 64) * 64);
  padded.set(new Uint8Array(content));
  padded[length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(length / 536870912));
  view.setUint32(padded.length - 4, (length << 3) >>> 0);
  const turn = (x, by) => (x >>> by) | (x << (32 - by));
  const w = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]];
      w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, j] = h;
    for (let i = 0; i < 64; i++) {
      const t = (j + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
      const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [j, g, f, e, d, c, b, a] = [g, f, e, (d + t) | 0, c, b, a, (t + u) | 0];
    }
    h = [a, b, c, d, e, f, g, j].map((x, i) => (x + h[i]) | 0);
  }
  return h.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

// --- Launches ---

// The groups of a kernel with buffers bound: [group, binding, buffer].
function bind(kernel, slots) {
  return kernel.layouts.map((layout, group) => {
    const entries = slots.filter(([in_group]) => in_group === group);
    return device.createBindGroup({ layout, entries: entries.map(([, binding, bound]) => ({ binding, resource: { buffer: bound } })) });
  });
}

// A launch's buffers; what no dispatch writes is shared with other launches that read the same.
function fill(launch, size) {
  const is_written = (i) => launch.dispatches.some(({ bindings }) => bindings.some(([, , bound, kind]) => bound === i && kind === 2));
  return launch.buffers.map((held, i) => {
    const key = is_written(i) ? null : JSON.stringify([held.stream, size.buffers[i]]);
    if (inputs.has(key)) return inputs.get(key);
    const made = buffer(size.buffers[i][0]);
    if (size.buffers[i][1] !== "zero") device.queue.writeBuffer(made, 0, contents(launch, size, i));
    if (key) inputs.set(key, made);
    return made;
  });
}

// Lets go of a launch's buffers, but for those that are shared.
function release(buffers) {
  const shared = new Set(inputs.values());
  for (const resource of buffers) if (!shared.has(resource)) resource.destroy();
}

// A launch compiled over its buffers: plain, or with counters.
async function prepare(launch, size, form, width, buffers) {
  const prepared = [];
  for (const [index, dispatch] of launch.dispatches.entries()) {
    const how = dispatch[form];
    const slots = dispatch.bindings.map(([g, b, i, kind]) => [g, b, buffers[i], kind]);
    let counters = null;
    if (form !== "plain") {
      counters = buffer(4 * how.words);
      slots.push([how.group, how.binding, counters, 2]);
    }
    const kernel = await compile(how.text, how.entry, slots, width);
    const given = size.grids[index];
    const grid = Array.isArray(given) ? given : { buffer: buffers[given.buffer], offset: given.offset };
    const groups = await checked("binding", async () => bind(kernel, slots));
    prepared.push({ kernel, groups, grid, counters, how, setup: dispatch.setup });
  }
  return prepared;
}

function record_work(pass, work, repeats) {
  for (let i = 0; i < repeats; i++) {
    for (const { kernel, groups, grid } of work) {
      pass.setPipeline(kernel.pipeline);
      groups.forEach((group, at) => pass.setBindGroup(at, group));
      if (Array.isArray(grid)) pass.dispatchWorkgroups(...grid);
      else pass.dispatchWorkgroupsIndirect(grid.buffer, grid.offset);
    }
  }
}

// Runs work so many times; milliseconds on the wall clock until it was done.
async function submit(work, repeats) {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  record_work(pass, work, repeats);
  pass.end();
  const begun = performance.now();
  device.queue.submit([encoder.finish()]);
  await wait(device.queue.onSubmittedWorkDone());
  return performance.now() - begun;
}

// The counts of each block, executions and lanes, in the counters' words.
function decode(how, words) {
  const totals = new Array(how.period).fill(0);
  for (let i = 0; i < words.length; i++) totals[i % how.period] += words[i];
  const sum = (terms) => {
    let value = 0;
    for (let i = 0; i < terms.length; i += 2) value += totals[terms[i]] * terms[i + 1];
    return value;
  };
  return how.blocks.map((terms) => terms.map(sum));
}

const form_of = () => (seen.width_run === null ? "estimated" : "executed");

// Counts a launch at one of its sizes, and checks what it wrote.
async function count(number, at, width) {
  const launch = data.launches[number], size = launch.sizes[at];
  say("begin", { launch: number, size: at, width });
  const buffers = await checked("making buffers", async () => fill(launch, size));
  const work = await prepare(launch, size, form_of(), width, buffers);
  const dispatches = [];
  let slowest = 0;
  for (const step of work) {
    slowest = Math.max(slowest, await submit([step], 1));
    dispatches.push(decode(step.how, new Uint32Array(await read(step.counters, 4 * step.how.words))));
  }
  const verdict = await verify(launch, size, buffers, width);
  release([...buffers, ...work.map((step) => step.counters)]);
  say("counted", { launch: number, size: at, width, dispatches, slowest_ms: slowest, method: form_of(), ...verdict });
  return slowest;
}

// Whether a pinned width can run a launch: rows must be whole subgroups.
const takes = (launch, width) => width === null || launch.dispatches.every(({ workgroup_size }) => workgroup_size[0] % width === 0);

// Whether subgroups have a width when they are told to; says why they have not.
async function runs(width) {
  try {
    await find_width(width);
    if (seen.width_run === width) return true;
    say("width_refused", { width, message: `its subgroups have ${seen.width_run} lanes` });
  } catch (error) {
    if (ends(error)) throw error;
    say("width_refused", { width, message: error.message });
  }
  return false;
}

async function count_all(width, asked) {
  if (width !== null) await find_width(width);
  if (width !== null) say("width", { width, seen });
  for (const [number, launch] of data.launches.entries()) {
    if (asked.done.includes(number + "@" + width)) continue;
    if (!takes(launch, width)) {
      say("refused", { launch: number, width, code: "unsupported", message: `its rows are no multiple of ${width}` });
      continue;
    }
    const at = launch.sizes.length > 1 && (asked.smaller || asked.small.includes(number)) ? 1 : 0;
    try {
      const slowest = await count(number, at, width);
      if (slowest > SLOW_MS && !asked.smaller) {
        asked.smaller = true;
        say("slow", { launch: number, slowest_ms: slowest });
      }
    } catch (error) {
      if (ends(error)) throw error;
      say("refused", { launch: number, width, code: error.code ?? "driver", message: error.message });
    }
  }
}

// --- Time ---

// The step of which all differences between timestamps are multiples, in nanoseconds; nothing where
// there were none. The least difference would be a pass's time where the timer is fine.
async function find_quantum() {
  const { text, entry } = data.probe;
  const target = buffer(256 * data.probe_workgroups * 16);
  let kernel = null;
  if (seen.width_run !== null) {
    kernel = await compile(text, entry, [[0, 0, 0, 2]], null);
  }
  const found = new Set();
  for (let i = 0; i < 12; i++) {
    const work = kernel ? [{ kernel, groups: bind(kernel, [[0, 0, target]]), grid: [1 + i % 3, 1, 1] }] : [];
    const [begin, end] = await stamped(work, 1 + i, 0);
    for (const stamp of [begin, end]) found.add(stamp);
  }
  target.destroy();
  const stamps = [...found].sort((a, b) => (a < b ? -1 : 1));
  const divisor = (a, b) => (b ? divisor(b, a % b) : a);
  const step = stamps.slice(1).reduce((step, stamp, i) => divisor(stamp - stamps[i], step), 0n);
  return step ? Number(step) : null;
}

let queries = null;

// Runs work between two timestamps, in nanoseconds, after as much of it without.
async function stamped(work, repeats, before) {
  queries ??= { set: device.createQuerySet({ type: "timestamp", count: 2 }), to: device.createBuffer({ size: 16, usage: 0x200 | 0x4 }) };
  const encoder = device.createCommandEncoder();
  if (before) {
    const pass = encoder.beginComputePass();
    record_work(pass, work, before);
    pass.end();
  }
  const pass = encoder.beginComputePass({ timestampWrites: { querySet: queries.set, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } });
  record_work(pass, work, repeats);
  pass.end();
  encoder.resolveQuerySet(queries.set, 0, 2, queries.to, 0);
  device.queue.submit([encoder.finish()]);
  return read_stamps(await read(queries.to, 16));
}

function read_stamps(content) {
  return new BigUint64Array(content);
}

// A sample of one launch, in nanoseconds from and to.
async function sample(work, repeats, before) {
  if (seen.clock === "timestamps") {
    const [begin, end] = await stamped(work, repeats, before);
    sample.first ??= begin;
    return [Number(begin - sample.first), Number(end - sample.first)];
  }
  const once = await submit(work, repeats);
  const twice = await submit(work, 2 * repeats);
  return [0, Math.round((twice - once) * 1e6)];
}

// How long a launch takes, in milliseconds, by repeats that take long enough together.
async function estimate(work) {
  await submit(work, 1);
  for (let repeats = 1; ; repeats *= 2) {
    const ms = await submit(work, repeats);
    if (ms >= PASS_MS || repeats >= 4096) return ms / repeats;
  }
}

const plain = async (number, at, width) => {
  const launch = data.launches[number], size = launch.sizes[at];
  const buffers = await checked("making buffers", async () => fill(launch, size));
  const all = await prepare(launch, size, "plain", width, buffers);
  const setup = all.filter((step) => step.setup);
  if (setup.length) await submit(setup, 1);
  return { number, at, launch, size, buffers, work: all.filter((step) => !step.setup) };
};

// Times the launches that can be, in groups that are compared: those of one baseline.
async function time_all(width, asked, begun) {
  const groups = new Map();
  for (const [number, launch] of data.launches.entries()) {
    const counted = asked.done.includes(number + "@" + width) ? !asked.failed.includes(number + "@" + width) : true;
    if (!launch.timed || !counted || !takes(launch, width)) continue;
    const key = launch.baseline ?? number;
    groups.set(key, [...(groups.get(key) ?? []), number]);
  }
  const alone = [...groups].filter(([, members]) => members.length === 1).map(([, [number]]) => number);
  const sets = [...groups.values()].filter((members) => members.length > 1);
  if (alone.length) sets.push(alone);
  for (const [index, members] of sets.entries()) {
    const left = asked.seconds * 1000 - (performance.now() - begun);
    const small = asked.smaller || members.some((number) => asked.small.includes(number));
    await time_group(members, width, left / (sets.length - index), small);
  }
}

async function time_group(members, width, budget_ms, small) {
  const begun = performance.now();
  const first = members.find((number) => data.launches[number].baseline === null) ?? members[0];
  // Twice as much until the first takes a millisecond; 1 is the smaller size.
  const every = [0, ...data.launches[first].sizes.keys()].filter((at, i) => at !== 1 && (i === 0 || at > 0));
  const sizes = small && data.launches[first].sizes.length > 1 ? [1] : every;
  let at = 0;
  for (const next of sizes) {
    say("begin", { launch: first, size: next, width, timing: true });
    const tried = await plain(first, next, width);
    const ms = await estimate(tried.work);
    release(tried.buffers);
    at = next;
    if (ms >= LAUNCH_MS) break;
  }
  const timed = [];
  for (const number of members) {
    const chosen = Math.min(at, data.launches[number].sizes.length - 1);
    try {
      if (chosen !== 0) await count(number, chosen, width);
      say("begin", { launch: number, size: chosen, width, timing: true });
      const prepared = await plain(number, chosen, width);
      const ms = await estimate(prepared.work);
      let repeats = Math.max(1, Math.ceil(PASS_MS / ms));
      // The estimate has what each pass takes besides its launches; a clock that stands still ends this, too.
      for (const most = 8 * repeats; repeats < most; repeats *= 2) {
        const [begin, end] = await sample(prepared.work, repeats, 0);
        if (end - begin >= PASS_MS * 1e6) break;
      }
      timed.push({ ...prepared, repeats, before: ms >= LONG_MS || seen.clock !== "timestamps" ? 0 : repeats });
    } catch (error) {
      if (ends(error)) throw error;
      say("refused", { launch: number, width, code: error.code ?? "driver", message: error.message, timing: true });
    }
  }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (round >= ROUNDS_MIN && performance.now() - begun > budget_ms) break;
    for (const { number, at, work, repeats, before } of timed) {
      const [begin, end] = await sample(work, repeats, before);
      say("sample", { launch: number, size: at, width, round, begin, end, repeats, before });
    }
  }
  for (const { number, at, launch, size, buffers } of timed) {
    say("timed", { launch: number, size: at, width, ...(await verify(launch, size, buffers, width)) });
    release(buffers);
  }
}
