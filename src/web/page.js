// What the visitor sees and presses. Keeps what workers say, and starts another where one ended.

// A worker from which nothing came for so long is ended, one that opens a device earlier; a page
// starts so many.
const SILENCE_MS = 60000, OPENING_MS = 30000, WORKERS_MAX = 8;
// Seconds that all takes at most, but for rounds that compared kernels need.
const SECONDS = 40;
const LINK_BYTES_MAX = 2048;

const state = {
  seen: null, results: new Map(), notices: [], smaller: false, timed_widths: [], small: new Set(), failed: new Set(),
  opened: false, running: false, refusal: null, browser: browser(), started_utc: null, current: null,
  quantum() { return this.seen?.clock === "timestamps" ? this.seen.quantum_ns : null; },
  // Rounded as in a link, so that what a link opens to is the same.
  median(result) { return result.timed ? brief(median_of(result, this.quantum())) : null; },
  baseline(result) {
    const { baseline } = data.launches[result.launch];
    return baseline === null ? null : this.results.get(baseline + "@" + result.width);
  },
  ratio(result) { return result.timed ? brief(ratio_of(result, this.baseline(result), this.quantum())) : null; },
};

// --- Parts of the page ---

const number = (value, digits = 2) => (value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits));
function duration(ns) {
  if (ns === null) return "–";
  const [unit, by] = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]].findLast(([, by]) => ns >= by) ?? ["ns", 1];
  return `${(ns / by).toPrecision(3)} ${unit}`;
}

// What tells a launch from others of its kernel.
function title_of(launch) {
  const { kernel } = of_template(launch);
  const own = data.launches[launch].sizes[0].parameters;
  const others = data.launches.filter((_, i) => of_template(i).kernel === kernel);
  const apart = Object.keys(own).filter((name) => new Set(others.map((one) => String(one.sizes[0].parameters[name]))).size > 1);
  return [kernel.split("/").pop(), ...apart.map((name) => String(own[name]))].join(", ");
}

function notice(text) {
  if (state.notices.includes(text)) return;
  state.notices.push(text);
  $("notices").append(element("p", { class: "notice" }, text));
}

const shown = (width) => [...state.results.values()].filter((one) => one.width === width && data.launches[one.launch].part === null);

// --- The answer ---

function all_blocks(width) {
  let [total, equal, launches] = [0, 0, 0];
  const different = [];
  for (const result of state.results.values()) {
    if (result.width !== width || !result.dispatches || !data.launches[result.launch].agrees) continue;
    const compared = agreement_of(result, width_of(state, result));
    if (!compared) continue;
    launches++;
    total += compared.total;
    equal += compared.equal;
    if (compared.different.length) different.push(title_of(result.launch));
  }
  return { total, equal, launches, different };
}

function sentences(width) {
  const { seen } = state;
  const name = name_of(seen);
  const said = [];
  if (estimated(state)) {
    said.push(`${name} offers this page no subgroup operations, so the width is not known: lanes are counted, and what subgroups execute is estimated for ${data.width_assumed} lanes.`);
  } else {
    const reported = seen.width_min === null ? "" : seen.width_min === seen.width_max ? `; it reports ${seen.width_min}` : `; it reports ${seen.width_min} to ${seen.width_max}`;
    const lanes = width ?? seen.width_run;
    said.push(`${name} runs subgroups of ${lanes} lanes, as a kernel measured${seen.misreported ? ", and its driver says otherwise" : reported}.`);
  }
  const { total, equal, launches, different } = all_blocks(width);
  const mismatches = shown(width).filter((one) => one.output === "mismatch" || one.timed?.output === "mismatch");
  const verified = shown(width).filter((one) => one.output === "verified").length;
  const outputs = mismatches.length
    ? `outputs of ${mismatches.map((one) => title_of(one.launch)).join("; ")} are wrong`
    : `${verified} outputs were verified${verified < shown(width).length ? `, ${shown(width).length - verified} cannot be checked here` : ""}`;
  const count = estimated(state) ? "have the lanes that the simulator counts" : "count what the simulator counts";
  if (total === 0) said.push(`No simulator of this width is in the page to compare counts with; ${outputs}.`);
  else if (different.length) said.push(`${equal} of ${total} blocks ${count}; others do not, in ${different.slice(0, 4).join("; ")}${different.length > 4 ? ` and ${different.length - 4} more` : ""}; ${outputs}.`);
  else said.push(`All ${total} blocks of ${launches} launches ${count} at this width; ${outputs}.`);
  const ratios = shown(width).map((one) => [one, state.ratio(one)]).filter(([, ratio]) => ratio !== null);
  if (ratios.length) {
    const [most, ratio] = ratios.reduce((a, b) => (b[1] > a[1] ? b : a));
    const predicted = predicted_of(most);
    said.push(`Most costly is ${title_of(most.launch)}: ${number(ratio)} times the time of ${title_of(data.launches[most.launch].baseline)}, where its counts predict ${number(predicted)}.`);
  } else {
    const waste = shown(width).filter((one) => one.dispatches).map((one) => [one, work_of(one.launch, one.dispatches).mean]).filter(([, mean]) => mean !== null);
    const [most, mean] = waste.reduce((a, b) => (b[1] < a[1] ? b : a), waste[0] ?? [null, null]);
    said.push(most ? `Most lanes wait in ${title_of(most.launch)}: ${number(mean)} of ${width_of(state, most)} are active on average; no times were taken.` : "Nothing was counted.");
  }
  return said;
}

// The time over the baseline's that counts predict: the ratio of subgroup operations, of the sizes that were timed.
function predicted_of(result) {
  const baseline = state.baseline(result);
  const dispatches = (one) => (one?.timed && one.timed.size !== one.size ? one.grown?.dispatches : one?.dispatches);
  if (!dispatches(baseline) || !dispatches(result)) return null;
  const [own, other] = [result, baseline].map((one) => work_of(one.launch, dispatches(one)));
  return other.subgroups ? own.subgroups / other.subgroups : null;
}

// --- Table and charts ---

const COLUMNS = ["kernel", "lanes active", "simulated", "time ratio", "predicted", "blocks as simulated", "output", "time", "n"];

function cells(result) {
  const launch = data.launches[result.launch];
  const width = width_of(state, result);
  const compared = agreement_of(result, width);
  const expected = expected_of(result.launch, result.size, width);
  const n_of = (size) => String(launch.sizes[size].parameters.n ?? "–");
  const [counted_n, timed_n] = [result.size, result.timed?.size ?? result.size].map(n_of);
  const mean = result.dispatches ? work_of(result.launch, result.dispatches).mean : null;
  const simulated = expected ? work_of(result.launch, expected).mean : null;
  const output = result.timed?.output === "mismatch" ? "mismatch" : result.output ?? "–";
  return [
    [title_of(result.launch)], [number(mean)], [number(simulated)],
    [number(state.ratio(result))], [result.timed ? number(predicted_of(result)) : "–"],
    !result.dispatches ? ["failed", "bad"] : compared ? [`${compared.equal} of ${compared.total}`, compared.different.length && launch.agrees ? "bad" : ""] : ["–"],
    [output, output === "mismatch" ? "bad" : ""], [duration(state.median(result))], [counted_n === timed_n ? counted_n : `${counted_n}, timed ${timed_n}`],
  ];
}

function table(width) {
  const first = [...state.results.values()].find((one) => one.width === width);
  const lanes = width_of(state, first);
  const parts = parts_of(state, width);
  const passed = parts.filter((one) => one.executions_right && one.lanes_right).length;
  const test = estimated(state) ? "The self-test of counting needs subgroup operations." : `Self-test of counting: ${passed} of ${parts.length} parts passed.`;
  const caption = `${estimated(state) ? "Estimated for" : "At"} ${lanes} lanes`;
  const head = element("thead", {}, element("tr", {}, ...COLUMNS.map((name) => element("th", { scope: "col" }, name))));
  const rows = shown(width).map((result) => element("tr", {}, ...cells(result).map(([text, kind], i) =>
    i === 0 ? element("th", { scope: "row" }, text) : element("td", kind ? { class: kind } : {}, text))));
  const made = element("table", {}, element("caption", {}, caption), head, element("tbody", {}, ...rows));
  const region = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Results at ${lanes} lanes` }, made);
  return [element("p", {}, test), region];
}

// A row of bars of what was found, each with a mark where the simulator's counts put it.
function bars(heading, words, rows, most) {
  const [line, left, width] = [26, 140, 360];
  const at = (value) => left + (width - left - 40) * Math.min(1, value / most);
  const svg = element("svg", { viewBox: `0 0 ${width} ${rows.length * line + 8}`, role: "img", "aria-label": `${heading}. ${rows.map(([name, own, other]) => `${name}: ${number(own)}, simulated ${number(other)}`).join("; ")}` });
  rows.forEach(([name, own, other], i) => {
    const y = 4 + i * line;
    svg.append(
      element("text", { x: 0, y: y + 15 }, name.length > 22 ? name.slice(0, 21) + "…" : name),
      element("rect", { class: "track", x: left, y: y + 3, width: at(most) - left, height: 16 }),
      element("rect", { class: "own", x: left, y: y + 3, width: Math.max(0, at(own) - left), height: 16 }),
      element("text", { x: at(most) + 6, y: y + 15 }, number(own)),
    );
    if (other !== null) svg.append(element("line", { class: "sim", x1: at(other), x2: at(other), y1: y, y2: y + 22 }));
  });
  return element("figure", {}, element("h3", {}, heading), svg, element("figcaption", {}, words));
}

// The baselines' time by round, each over its first.
function drift(width) {
  const based = shown(width).filter((one) => one.timed && one.samples.length > 1 && data.launches[one.launch].baseline === null);
  const series = based.map((one) => [title_of(one.launch), [...times_of(one, state.quantum()).values()]]).filter(([, values]) => values.length > 1);
  if (series.length === 0) return null;
  const [name, values] = series[0];
  const [low, high] = [Math.min(...values, values[0] * 0.9), Math.max(...values, values[0] * 1.1)];
  const place = (value, i) => `${10 + i * 340 / (values.length - 1)},${10 + 80 * (high - value) / (high - low)}`;
  const change = values.at(-1) / values[0] - 1;
  const svg = element("svg", { viewBox: "0 0 360 100", role: "img", "aria-label": `Time of ${name} by round, in ms: ${values.map((ns) => (ns / 1e6).toPrecision(3)).join(", ")}` },
    element("path", { class: "path", d: "M" + values.map(place).join(" L") }));
  return element("figure", {}, element("h3", {}, "Drift"), svg,
    element("figcaption", {}, `Time of ${name} in ${values.length} rounds, from ${duration(values[0])} to ${duration(values.at(-1))} (${change >= 0 ? "+" : ""}${(100 * change).toFixed(0)} %). All kernels of a comparison are sampled once a round, so a device that warms up slows all of them.`));
}

function charts(width) {
  const made = [];
  const counted = shown(width).filter((one) => one.dispatches);
  const lanes = counted.length ? width_of(state, counted[0]) : 0;
  const means = counted.map((one) => {
    const expected = expected_of(one.launch, one.size, lanes);
    return [title_of(one.launch), work_of(one.launch, one.dispatches).mean ?? 0, expected ? work_of(one.launch, expected).mean : null];
  });
  if (means.length) made.push(bars(`Lanes active of ${lanes}`, "Bars: counted on the device. Marks: the simulator.", means, lanes));
  const ratios = counted.map((one) => [title_of(one.launch), state.ratio(one), predicted_of(one)]).filter(([, own]) => own !== null);
  if (ratios.length) made.push(bars("Time over the baseline's", "Bars: measured. Marks: predicted by counts.", ratios, Math.max(...ratios.flatMap(([, a, b]) => [a, b ?? 0])) * 1.05));
  const moved = drift(width);
  if (moved) made.push(moved);
  return made;
}

// Blocks that differ, what was asked for, what failed.
function details() {
  const made = [];
  const { seen } = state;
  const list = (items) => element("ul", {}, ...items.map((text) => element("li", {}, text)));
  const different = [];
  for (const result of state.results.values()) {
    const compared = agreement_of(result, width_of(state, result));
    // Where blocks may differ, they are none of these.
    if (!data.launches[result.launch].agrees) continue;
    for (const { index, block, found, expected } of compared?.different ?? []) {
      const row = rows_of(result.launch, index)[block];
      different.push(`${row.file}:${row.line}, block ${block}: ${found[0]} executions with ${found[1]} lanes; the simulator has ${expected[0]} with ${expected[1]}`);
    }
  }
  const add = (head, ...content) => made.push(element("details", {}, element("summary", {}, head), ...content));
  if (different.length) add(`Blocks that differ: ${different.length}`, list(different.slice(0, 200)));
  const failures = [...state.results.values()].filter((one) => one.error);
  if (failures.length) add(`What failed: ${failures.length}`, list(failures.map((one) => `${title_of(one.launch)}: ${one.error}`)));
  const features = seen.asked.map((name) => `${name}: ${seen.features.includes(name) ? "yes" : "no"}`);
  const clock = seen.clock === "timestamps" ? `times by timestamps, in steps of ${duration(seen.quantum_ns)}` : `times by the wall clock${seen.quantum_ns ? `, since timestamps go in steps of ${duration(seen.quantum_ns)}` : ""}`;
  const limits = Object.entries(seen.limits).map(([name, value]) => `${name}: ${value}`);
  add("The device", list([`${name_of(seen)}; ${state.browser}`, ...features, clock, ...limits]));
  return made;
}

function render() {
  if (!state.seen || state.results.size === 0) return;
  const widths = [...new Set([...state.results.values()].map((one) => one.width))];
  $("sentences").replaceChildren(...widths.flatMap((width) => sentences(width).map((text) => element("p", {}, text))));
  $("tables").replaceChildren(...widths.flatMap(table));
  $("charts").replaceChildren(...widths.flatMap(charts));
  $("details").replaceChildren(...details());
  for (const id of ["answer", "results"]) $(id).hidden = false;
}

// --- Without a device ---

// Says why there is nothing to measure with, and shows what the simulator knows.
function refuse(code, message) {
  state.refusal = code;
  status(REFUSALS[code] ?? `Nothing could be measured, and there is no record: ${message}.`);
  const lanes = data.widths;
  const rows = data.launches.flatMap((launch, i) => (launch.part !== null ? [] : [element("tr", {}, element("th", { scope: "row" }, title_of(i)),
    ...lanes.map((width) => element("td", {}, number(work_of(i, expected_of(i, 0, width)).mean))))]));
  const head = element("thead", {}, element("tr", {}, ...["kernel", ...lanes.map((width) => `${width} lanes`)].map((name) => element("th", { scope: "col" }, name))));
  const made = element("table", {}, element("caption", {}, "Lanes active on average, by lanescope's simulator, at each width"), head, element("tbody", {}, ...rows));
  $("tables").replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Simulated results" }, made));
  $("results").hidden = false;
}

// --- Running ---

let worker = null, workers = 0, silence = null;

function key_of({ launch, width }) { return launch + "@" + width; }

function start_worker(timing = true) {
  workers++;
  worker = worker_of("worker");
  worker.onmessage = ({ data: message }) => heard(message);
  worker.onerror = (event) => { event.preventDefault?.(); ended("driver", event.message || "the worker ended"); };
  listen();
  worker.postMessage({
    data, timing, timed: state.timed_widths, smaller: state.smaller, small: [...state.small], failed: [...state.failed],
    done: [...state.results.keys()], seconds: SECONDS,
  });
}

function listen() {
  clearTimeout(silence);
  const limit = state.seen ? SILENCE_MS : OPENING_MS;
  silence = setTimeout(() => ended("time_limit", `nothing was heard of the device for ${limit / 1000} s`), limit);
}

const HEARD = {
  device({ seen }) {
    state.seen = seen;
    if (seen.width_run === null) notice("This device offers no subgroup operations here: lanes are counted, and executions estimated for an assumed width. The record says so.");
    if (seen.clock === "wall") notice(seen.quantum_ns === null ? "There are no timestamps here: times are the wall clock's, and flagged in the record." : "Timestamps are too coarse here: times are the wall clock's, and flagged in the record.");
  },
  width({ seen }) { state.seen = { ...seen, width_run: state.seen.width_run }; },
  begin(message) {
    state.current = message;
    const verb = message.timing ? "Timing" : "Counting";
    status(`${verb} ${title_of(message.launch)} (${state.results.size} of ${data.launches.length} counted).`);
  },
  counted(message) {
    const { launch, size, width, dispatches, slowest_ms, method, output, error } = message;
    const own = { launch, size, width, dispatches, method, output, error, samples: [] };
    const known = state.results.get(key_of(message));
    if (size > 1 && known) known.grown = own;
    else state.results.set(key_of(message), own);
    if (slowest_ms > 0) render();
  },
  slow({ launch, slowest_ms }) {
    state.smaller = true;
    notice(`A dispatch of ${title_of(launch)} took ${(slowest_ms / 1000).toFixed(1)} s, over the two seconds after which systems end one: the rest is counted at a quarter of its size.`);
  },
  refused(message) {
    const { launch, width, code, message: error, timing } = message;
    const known = state.results.get(key_of(message));
    if (timing && known) known.error ??= error;
    else state.results.set(key_of(message), { launch, width, size: 0, dispatches: null, code, error, output: null, samples: [] });
    state.failed.add(key_of(message));
  },
  sample({ launch, width, size, round, begin, end, repeats, before }) {
    const known = state.results.get(launch + "@" + width);
    known?.samples.push({ round, begin, end, repeats, before, size });
    if (known) known.timed = { size };
  },
  timed({ launch, width, size, output, error }) {
    const known = state.results.get(launch + "@" + width);
    if (known) known.timed = { size, output, error };
    render();
  },
  width_done({ width }) { state.timed_widths.push(width); },
  done() { finish(""); },
  failed({ code, message }) { ended(code, message); },
};

function heard(message) {
  if (!state.running) return;
  listen();
  HEARD[message.kind](message);
}

// A worker has ended before it was done: another goes on, with less of what ended it.
function ended(code, message) {
  worker?.terminate();
  if (!state.running) return;
  const { current } = state;
  if (!state.seen || !current) {
    state.running = false;
    clearTimeout(silence);
    $("stop").hidden = true;
    $("start").disabled = false;
    return refuse(code, message);
  }
  const title = title_of(current.launch);
  const words = code === "device_lost" ? "The device was lost" : code === "time_limit" ? "The device did not answer" : `The device failed (${message})`;
  let timing = true;
  if (current.timing) {
    notice(`${words} while ${title} was timed: times end there, counts are kept.`);
    timing = false;
  } else if (data.launches[current.launch].sizes.length > 1 && !state.small.has(current.launch)) {
    state.small.add(current.launch);
    notice(`${words} in ${title}: it is tried again at a quarter of its size, and all results so far are kept.`);
  } else {
    HEARD.refused({ ...current, code, message });
    notice(`${words} in ${title}: it is left out, and all results so far are kept.`);
  }
  if (workers >= WORKERS_MAX) return finish(` It ended early: ${WORKERS_MAX} attempts failed.`);
  start_worker(timing && state.timing !== false);
  if (!timing) state.timing = false;
}

function finish(words) {
  worker?.terminate();
  clearTimeout(silence);
  state.running = false;
  $("stop").hidden = true;
  $("start").hidden = false;
  $("start").disabled = false;
  $("start").textContent = "Measure again";
  render();
  const counted = [...state.results.values()].filter((one) => one.dispatches).length;
  status(`Done: ${counted} of ${state.results.size} launches counted.${words} The answer stands below.`);
  if (state.results.size) $("share").hidden = false;
}

function start() {
  Object.assign(state, { results: new Map(), seen: null, notices: [], smaller: false, timed_widths: [], small: new Set(), failed: new Set(), opened: false, running: true, refusal: null, current: null, timing: true, browser: browser(), started_utc: new Date().toISOString() });
  workers = 0;
  $("notices").replaceChildren();
  for (const id of ["answer", "results", "share"]) $(id).hidden = true;
  $("start").disabled = true;
  $("stop").hidden = false;
  status("Asking for the device.");
  start_worker();
}

// --- Keeping and sharing ---

const file = () => new File([JSON.stringify(to_record(state))], "result.json", { type: "application/json" });

function save() {
  download(JSON.stringify(to_record(state)), "result.json");
  $("shared").textContent = "Saved as result.json.";
}

async function share() {
  try {
    await navigator.share({ files: [file()], title: "lanescope" });
  } catch (error) {
    $("shared").textContent = `It was not shared: ${error.message}. Save it, and share the file.`;
  }
}

async function copy_link() {
  const fragment = await to_link(state, $("page").textContent);
  const url = location.href.split("#")[0] + "#" + fragment;
  if (fragment.length > LINK_BYTES_MAX) {
    $("shared").textContent = "Too much differs from the simulator for a link: save result.json in its place.";
    return;
  }
  history.replaceState(null, "", "#" + fragment);
  try {
    await navigator.clipboard.writeText(url);
    $("shared").textContent = "The link is copied. Whoever opens it sees this table, marked as unattested.";
  } catch {
    $("shared").textContent = "The link stands in the address bar. Whoever opens it sees this table, marked as unattested.";
  }
}

async function open_link() {
  try {
    const opened = await from_link(location.hash.slice(1), $("page").textContent, ["subgroups", "timestamp-query", "subgroup-size-control", "shader-f16"]);
    Object.assign(state, opened);
    render();
    notice("Unattested: these figures come from a link, and nothing shows that they were measured on the device that it names.");
    status("Opened from a link. Measure your own device with the button above.");
  } catch (error) {
    status(`The link cannot be read: ${error.message}. You can measure this device.`);
  }
}

async function load() {
  if (typeof DecompressionStream === "undefined") {
    status("This browser cannot unpack the page's data (it has no DecompressionStream), so nothing was measured and there is no record. A browser of 2023 or later can.");
    return;
  }
  const packed = unpack($("data").textContent.trim());
  data = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
  $("start").onclick = start;
  $("stop").onclick = () => finish(" It was stopped.");
  $("save").onclick = save;
  $("send").onclick = share;
  $("link").onclick = () => copy_link().catch((error) => { $("shared").textContent = `There is no link: ${error.message}.`; });
  const can_share = () => navigator.canShare({ files: [new File(["{}"], "result.json", { type: "application/json" })] });
  try { $("send").hidden = !can_share(); } catch { $("send").hidden = true; }
  $("start").disabled = false;
  status(`Ready: ${data.launches.length} launches, about half a minute.`);
  if (location.hash.startsWith("#r=")) await open_link();
}

addEventListener("error", (event) => status(`The page failed: ${event.message}. Nothing more is measured.`));
addEventListener("unhandledrejection", (event) => status(`The page failed: ${event.reason?.message ?? event.reason}. Nothing more is measured.`));
load();
