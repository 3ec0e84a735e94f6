// What was seen, as a record in lanescope's schema, and as a link.

const MAKERS = { "1002": "AMD", "10de": "NVIDIA", "8086": "Intel", "106b": "Apple", "13b5": "Arm", "5143": "Qualcomm" };

// What to call the device: what the browser says of it, which may be little.
function name_of(seen) {
  const named = seen.description || seen.device || [seen.vendor, seen.architecture].filter(Boolean).join(" ");
  return named || "unnamed GPU";
}
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40);
const id_of = (seen, width) => "web:" + slug(name_of(seen)) + (width === null ? "" : "-w" + width);

// The browser's name and version, and no more of what it says of itself.
function browser() {
  const agent = navigator.userAgent;
  const known = [/Firefox\/[\d.]+/, /Edg\/[\d.]+/, /(Headless)?Chrome\/[\d.]+/, /Version\/[\d.]+ (Mobile\/\w+ )?Safari/];
  const found = known.map((pattern) => agent.match(pattern)?.[0]).find(Boolean);
  return (found ?? "a browser").replace("/", " ");
}
const SYSTEMS = [["android", /Android/], ["ios", /iPhone|iPad/], ["windows", /Windows/], ["macos", /Mac OS/], ["linux", /Linux|CrOS/]];
const system = () => SYSTEMS.find(([, sign]) => sign.test(navigator.userAgent))?.[0] ?? "unknown";

const flag = (tag) => ({ tag });

// The width at which a result's counts are read: what runs, else what is assumed.
const width_of = (state, result) => result.width ?? state.seen.width_run ?? data.width_assumed;
const estimated = (state) => state.seen.width_run === null;

// The parts of the self-test, as results have them.
function parts_of(state, width) {
  const parts = [];
  for (const result of state.results.values()) {
    const { part } = data.launches[result.launch];
    if (part === null || result.width !== width || !result.dispatches || estimated(state)) continue;
    const compared = agreement_of(result, width_of(state, result));
    if (!compared) continue;
    const right = (which) => compared.different.every(({ found, expected }) => found[which] === expected[which]);
    const name = of_template(result.launch).kernel.split("/").pop();
    parts.push({ part: name, construct: part, executions_right: right(0), lanes_right: right(1) });
  }
  return parts;
}

function device_of(state, width) {
  const { seen } = state;
  const self_test = parts_of(state, width);
  const passed = self_test.length > 0 && self_test.every((part) => part.executions_right && part.lanes_right);
  const flags = [flag("unattested")];
  if (estimated(state)) flags.push(flag("no_subgroups"));
  if (seen.misreported) flags.push(flag("subgroup_width_misreported"));
  if (self_test.length && !passed) flags.push(flag("self_test_failed"));
  const name = name_of(seen);
  const stamps = seen.clock === "timestamps";
  return {
    id: id_of(seen, width), kind: "web",
    gives: { counts: true, times: [...state.results.values()].some((entry) => entry.timed), counters: false, code: false },
    name, vendor: MAKERS[seen.vendor] ?? seen.vendor, driver: state.browser, backend: "webgpu",
    cpu_driver: seen.fallback || /swiftshader|llvmpipe|basic render/i.test(name + seen.vendor + seen.architecture),
    subgroup_width_min: seen.width_min, subgroup_width_max: seen.width_max,
    subgroup_width_run: estimated(state) ? null : width ?? seen.width_run,
    lane_is_local_index_mod_width: seen.linear,
    timestamp_period_ns: stamps ? 1 : null, timestamp_quantum_ns: stamps ? seen.quantum_ns : null,
    peak_fma_per_s: null, copy_bytes_per_s: null, fma_fused: null, loop_limit: null,
    trust: passed ? "observed" : "unknown", self_test, flags,
  };
}

function time_json(state, result) {
  const quantum = state.seen.clock === "timestamps" ? state.seen.quantum_ns : null;
  const values = [...times_of(result, quantum).values()];
  if (values.length === 0) return null;
  const { repeats, before } = result.samples[0];
  return {
    median_ns: median(values), ci95_ns: interval(values), noise_ratio: noise(values),
    dispatches_per_sample: repeats, dispatches_before_sample: before,
    stop_rule_met: is_settled(values),
    samples: result.samples.map((sample) => {
      const shift = Math.max(0, -sample.end);
      return { round: sample.round, ticks_begin: sample.begin + shift, ticks_end: sample.end + shift, state: state_of(sample, quantum) };
    }),
  };
}

// The measurement of a launch at one of its sizes.
function measurement(state, device, result, { size, dispatches, output, error, method }, time) {
  const launch = data.launches[result.launch], at = launch.sizes[size];
  const form = structuredClone(of_template(result.launch));
  const width = width_of(state, result);
  const failed = new Set(device.self_test.filter((part) => !(part.executions_right && part.lanes_right)).map((part) => part.construct));
  const wrong = launch.constructs.filter((wanted) => failed.has(wanted));
  const known = device.self_test.length > 0 && launch.constructs.every((wanted) => device.self_test.some(({ construct }) => construct === wanted));
  const flags = [];
  if (method === "estimated") flags.push("width_assumed");
  const varies = result.width === null && !estimated(state) && state.seen.width_min !== state.seen.width_max;
  if (varies) flags.push("width_not_known_when_counted");
  if (result.timed && time !== undefined) {
    if (time === null) flags.push("no_usable_samples");
    else if (!time.stop_rule_met) flags.push("stop_rule_not_met");
    if (varies) flags.push("width_not_known_when_timed");
    if (state.seen.clock === "wall") flags.push("wall_clock");
  }
  const work = dispatches && work_of(result.launch, dispatches);
  const expected = expected_of(result.launch, size, width);
  form.dispatches.forEach((dispatch, index) => {
    const grid = at.grids[index];
    dispatch.workgroups = Array.isArray(grid) ? grid : null;
    dispatch.blocks = (dispatches?.[index] ?? []).map(([executions, lanes], block) => {
      const mean = state.seen.linear ? expected?.[index][block][2] : undefined;
      return { executions, lanes, ...(mean === undefined ? {} : { active_lanes_mean_expected: mean }) };
    });
    if (!dispatches) delete dispatch.block_table;
  });
  return {
    ...form, device: device.id, parameters: { ...at.parameters, ...Object.fromEntries((at.reals ?? []).map((name) => [name, "real:" + at.parameters[name].toFixed(1)])) }, status: dispatches ? "ok" : "failed",
    error: error ?? null, ...(dispatches ? {} : { error_kind: result.code ?? "driver" }),
    subgroup_width: dispatches ? width : null,
    runtime_checks: { timed: Boolean(result.timed), counted: true, workgroup_memory_zeroed: true },
    output: output ?? "unchecked", method: dispatches ? method : null,
    trust: { trust: known && wrong.length === 0 ? "observed" : "unknown", constructs: launch.constructs, ...(wrong.length ? { failed: wrong } : {}) },
    active_lanes_mean: work?.mean ?? null, efficiency_ratio: work?.mean ? work.mean / width : null,
    ...(at.bytes === null ? {} : { bytes_moved_min: at.bytes }),
    time: time ?? null, counters: [], flags: flags.sort().map(flag),
  };
}

const KINDS = new Set(["bad_input", "no_device", "unsupported", "driver", "panicked", "out_of_memory", "device_lost", "time_limit", "interrupted", "step_limit", "trap"]);

// The whole record; `state` must have seen a device.
function to_record(state) {
  const run = structuredClone(data.template);
  const widths = [...new Set([...state.results.values()].map((entry) => entry.width))];
  run.started_utc = state.started_utc;
  run.host = { os: system(), arch: "unknown", logical_cpus: navigator.hardwareConcurrency ?? 1, environment: {} };
  run.devices = widths.map((width) => device_of(state, width));
  run.measurements = [];
  for (const result of state.results.values()) {
    const device = run.devices[widths.indexOf(result.width)];
    if (result.code && !KINDS.has(result.code)) result.code = "driver";
    const time = result.timed ? time_json(state, result) : undefined;
    const apart = result.timed && result.timed.size !== result.size;
    run.measurements.push(measurement(state, device, result, result, apart ? undefined : time));
    if (apart) {
      const grown = { ...result.grown, ...result.timed, dispatches: result.grown?.dispatches ?? null, method: result.method };
      if (grown.dispatches) run.measurements.push(measurement(state, device, result, grown, time));
    }
  }
  const used = new Set(run.measurements.map((measured) => measured.kernel));
  run.kernels = Object.fromEntries(Object.entries(run.kernels ?? {}).filter(([name]) => used.has(name)));
  return run;
}

// The record's text. JavaScript writes the real number 1.0 as 1, which is another value of a parameter: such
// numbers are texts until here.
const record_text = (state) => JSON.stringify(to_record(state)).replace(/"real:(-?[\d.e+]+)"/g, "$1");

// --- Links ---

// What a link may hold, unpacked.
const UNPACKED_BYTES_MAX = 1 << 20;
const OUTPUTS = ["verified", "mismatch", "unchecked"];
const brief = (value) => (value === null || value === undefined ? null : Number(value.toPrecision(4)));

// The table's content alone: device, counts where they are not the simulator's, medians and ratios.
async function to_link(state, page) {
  const { seen } = state;
  const device = [seen.vendor, seen.architecture, seen.device, seen.description, seen.width_min, seen.width_max,
    seen.width_run, seen.linear, seen.misreported, seen.fallback, seen.clock, seen.quantum_ns, state.browser];
  const features = seen.asked.map((name) => Number(seen.features.includes(name)));
  const rows = [...state.results.values()].map((result) => {
    const compared = agreement_of({ ...result, method: "executed" }, width_of(state, result));
    const counts = !result.dispatches ? null : compared?.different.length === 0 ? 0 : result.dispatches;
    const row = [result.launch, result.width, result.size, OUTPUTS.indexOf(result.output), counts];
    if (result.timed) row.push(result.timed.size, state.median(result), Number(is_noisy(result, state.quantum())), ...(state.ratio(result) ?? []));
    return row;
  });
  const text = JSON.stringify([2, page, device, features, rows]);
  return "r=" + to_url(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text)));
}

// The state that a link tells of; an error in words where it tells of none.
async function from_link(text, page, asked) {
  if (text.length > 1 << 16) throw new Error("it is too long");
  let bytes;
  try {
    bytes = await through(new DecompressionStream("deflate-raw"), from_url(text.replace(/^r=/, "")), UNPACKED_BYTES_MAX);
  } catch (error) {
    throw error instanceof RangeError ? error : new Error("it is cut or garbled");
  }
  if (bytes.length > 1 << 20) throw new Error("it is too long");
  const [version, made_by, device, features, rows] = JSON.parse(new TextDecoder().decode(bytes));
  if (version !== 2) throw new Error("it was made by another version of this page");
  if (made_by !== page) throw new Error(`it was made by page ${made_by}, and this is page ${page}`);
  const [vendor, architecture, name, description, width_min, width_max, width_run, linear, misreported, fallback, clock, quantum_ns, from] = device;
  const seen = { vendor, architecture, device: name, description, width_min, width_max, width_run, linear, misreported, fallback, clock, quantum_ns, asked, features: asked.filter((_, i) => features[i]), limits: {}, pinned: [] };
  const results = new Map();
  for (const [launch, width, size, output, counts, timed, median_ns, noisy, ...ratio] of rows) {
    if (!data.launches[launch]?.sizes[size]) throw new Error("it is cut or garbled");
    const at = width ?? width_run ?? data.width_assumed;
    const dispatches = counts === 0 ? expected_of(launch, size, at).map((blocks) => blocks.map(([e, l]) => [e, l])) : counts;
    const result = { launch, width, size, output: OUTPUTS[output], dispatches, method: width_run === null ? "estimated" : "executed", samples: [] };
    if (timed !== undefined) Object.assign(result, { timed: { size: timed }, median_ns, noisy: Boolean(noisy), ratio: ratio.length ? ratio : null });
    results.set(launch + "@" + width, result);
  }
  return { seen, results, browser: from, opened: true };
}
