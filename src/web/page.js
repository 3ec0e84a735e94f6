// What the visitor sees and presses. Keeps what workers say, and starts another where one ended.

// A worker from which nothing came for so long is ended, one that opens a device earlier; a page
// starts so many.
const SILENCE_MS = 60000, OPENING_MS = 30000, WORKERS_MAX = 8;
// Seconds that all takes at most, but for rounds that compared kernels need.
const SECONDS = 40;
const LINK_BYTES_MAX = 2048;

const ratios = new WeakMap();
const state = {
  seen: null, results: new Map(), notices: [], smaller: false, timed_widths: [], small: new Set(), failed: new Set(),
  opened: false, running: false, refusal: null, browser: browser(), started_utc: null, current: null, begun: 0, widths: [null],
  quantum() { return this.seen?.clock === "timestamps" ? this.seen.quantum_ns : null; },
  // Rounded as in a link, so that what a link opens to is the same.
  median(result) { return result.timed ? brief(median_of(result, this.quantum())) : null; },
  baseline(result) {
    const { baseline } = data.launches[result.launch];
    return baseline === null ? null : this.results.get(baseline + "@" + result.width);
  },
  // With its interval's ends; kept, since an interval takes a while.
  ratio(result) {
    const baseline = this.baseline(result);
    if (!result.timed || !baseline) return null;
    const version = [result, baseline].map((entry) => [entry.samples.length, entry.timed?.size]).join();
    if (ratios.get(result.samples)?.version !== version) ratios.set(result.samples, { version, ratio: ratio_of(result, baseline, this.quantum())?.map(brief) ?? null });
    return ratios.get(result.samples).ratio;
  },
  noisy(result) { return [result, this.baseline(result)].some((entry) => is_noisy(entry, this.quantum())); },
};

// --- Parts of the page ---

// Figures in lanescope's own forms: lanes with two digits, shares with one, ratios with four in all, times with three.
const is_missing = (value) => value === null || value === undefined || Number.isNaN(value);
const number = (value) => (is_missing(value) ? "–" : value.toFixed(2));
const percent = (part) => `${(100 * part).toFixed(1)} %`;
const change = (part) => (Math.round(1000 * part) > 0 ? "+" : "") + percent(part).replace("-", "−");
const digits_before = (value, limits) => limits.filter((limit) => Math.abs(value) >= limit).length;
const factor = (value) => (is_missing(value) ? "–" : `${value.toFixed(3 - digits_before(value, [10, 100, 1000]))}×`);
function duration(ns) {
  if (ns === null) return "–";
  const [unit, by] = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]].findLast(([, by]) => ns >= by) ?? ["ns", 1];
  return `${(ns / by).toFixed(2 - digits_before(ns / by, [10, 100]))} ${unit}`;
}

const family_of = (launch) => of_template(launch).kernel.split("/").slice(0, -1).join("/");
// The families of what is no part of the self-test.
const families = () => [...new Set(data.launches.flatMap((described, i) => (described.part === null ? [family_of(i)] : [])))];

// The name of a launch where it stands alone: with its family where the page has several.
function title_of(launch) {
  const short = short_title_of(launch);
  const family = family_of(launch);
  return family && data.launches[launch].part === null && families().length > 1 ? `${family}/${short}` : short;
}

// The name of a launch beneath the name of its family: what tells it from others of its kernel.
function short_title_of(launch) {
  const { kernel } = of_template(launch);
  const point = data.launches[launch].sizes[0].parameters;
  const others = data.launches.filter((_, i) => of_template(i).kernel === kernel);
  const apart = Object.keys(point).filter((name) => new Set(others.map((described) => String(described.sizes[0].parameters[name]))).size > 1);
  return [kernel.split("/").pop(), ...apart.map((name) => String(point[name]))].join(", ");
}

function notice(text) {
  if (state.notices.includes(text)) return;
  state.notices.push(text);
  $("notices").append(element("p", { class: "notice" }, text));
}

const shown = (width) => [...state.results.values()].filter((entry) => entry.width === width && data.launches[entry.launch].part === null);

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

// What the device is, and how wide.
function width_sentence(width) {
  const { seen } = state;
  const name = name_of(seen);
  if (estimated(state)) {
    return `${name} offers this page no subgroup operations, so the width is not known. Lanes are counted exactly; what subgroups execute is estimated for ${data.width_assumed} lanes.`;
  }
  const alike = seen.width_min === seen.width_max;
  const widths = alike ? `${seen.width_min}` : `${seen.width_min} to ${seen.width_max}`;
  const reported = seen.width_min === null ? "." : seen.misreported ? `, but the browser reports ${widths}, and that is wrong.` : `. The browser reports ${widths}${alike ? " too" : ""}.`;
  return `${name} runs subgroups of ${width ?? seen.width_run} lanes: a kernel measured it${reported}`;
}

// The lanes that wait, of the lanes there are: of the patterns where the page has them, else of all its kernels.
function waste(width) {
  const counted = shown(width).filter((entry) => entry.dispatches);
  const patterns = counted.filter((entry) => data.template.kernels?.[of_template(entry.launch).kernel]?.published);
  const shares = (patterns.length ? patterns : counted).map((entry) => [entry, work_of(entry.launch, entry.dispatches).mean / width_of(state, entry)]);
  const rows = shares.filter(([, active]) => active > 0).map(([entry, active]) => [entry, 1 - active]);
  const kernels = new Set(rows.map(([entry]) => of_template(entry.launch).kernel));
  return { rows, name: `${kernels.size} ${patterns.length ? "patterns of branching" : "kernels"}` };
}
// Of those whose shares are the same to a percent, as the forms of a kernel's are, the first.
const most_of = (rows) => rows.reduce((a, b) => (Math.round(100 * b[1]) > Math.round(100 * a[1]) ? b : a));

function waste_sentence(width) {
  const { rows, name } = waste(width);
  if (rows.length === 0) return state.running ? null : "Nothing was counted.";
  const [most, share] = most_of(rows);
  const mean = rows.reduce((sum, [, idle]) => sum + idle, 0) / rows.length;
  return `Of ${width_of(state, most)} lanes a subgroup, ${percent(mean)} wait on average over ${name}${estimated(state) ? ", as estimated" : ""}; most wait in ${title_of(most.launch)}: ${percent(share)}.`;
}

// What the waiting costs, of the kernel in which most lanes wait; no order of times is claimed.
function cost_sentence(width) {
  const rows = waste(width).rows.filter(([entry]) => state.ratio(entry));
  if (rows.length === 0) return state.running ? null : "There are no times to compare.";
  const [most] = most_of(rows);
  const ratio = state.ratio(most);
  const title = title_of(most.launch);
  const [value, low, high] = ratio.map((bound) => factor(bound));
  const found = is_told_apart(ratio)
    ? `${title} takes ${value} its baseline's time (95 % interval: ${low} to ${high})`
    : `The time of ${title} is not told apart from its baseline's: ${value} (95 % interval: ${low} to ${high})`;
  return `${found}; counts predict ${factor(predicted_of(most))}.${state.noisy(most) ? " These times are noisy." : ""}`;
}

function counts_sentence(width) {
  const { total, equal, launches, different } = all_blocks(width);
  const mismatches = shown(width).filter((entry) => entry.output === "mismatch" || entry.timed?.output === "mismatch");
  const verified = shown(width).filter((entry) => entry.output === "verified").length;
  const outputs = mismatches.length
    ? `outputs of ${mismatches.map((entry) => title_of(entry.launch)).join("; ")} are wrong`
    : `${verified} outputs were verified${verified < shown(width).length ? `, ${shown(width).length - verified} cannot be checked here` : ""}`;
  const count = estimated(state) ? "have the lanes that the simulator counts" : "count what the simulator counts";
  if (total === 0) return `The page has no simulated counts at this width to compare with; ${outputs}.`;
  if (different.length) return `${equal} of ${total} blocks ${count}; others do not, in ${different.slice(0, 4).join("; ")}${different.length > 4 ? ` and ${different.length - 4} more` : ""}; ${outputs}.`;
  return `All ${total} blocks of ${launches} launches ${count} at this width; ${outputs}.`;
}

// The answer to the page's question.
const sentences = (width) => [waste_sentence, counts_sentence, cost_sentence].map((write) => write(width)).filter(Boolean);

// The time over the baseline's that counts predict: the ratio of subgroup operations, of the sizes that were timed.
function predicted_of(result) {
  const baseline = state.baseline(result);
  const dispatches = (entry) => (entry?.timed && entry.timed.size !== entry.size ? entry.grown?.dispatches : entry?.dispatches);
  if (!dispatches(baseline) || !dispatches(result)) return null;
  const [measured, other] = [result, baseline].map((entry) => work_of(entry.launch, dispatches(entry)));
  return other.subgroups ? measured.subgroups / other.subgroups : null;
}

// --- Table and charts ---

const COLUMNS = ["kernel", "active lanes", "simulated", "ratio", "predicted", "equal blocks", "output", "time", "n"];

// A ratio with what is known of it.
function ratio_text(result) {
  const ratio = state.ratio(result);
  if (!ratio) return "–";
  const [value, low, high] = ratio.map((bound) => factor(bound));
  return `${value} (${low} to ${high})${is_told_apart(ratio) ? "" : ", not told apart from 1"}${state.noisy(result) ? ", noisy" : ""}`;
}

function cells(result) {
  const launch = data.launches[result.launch];
  const width = width_of(state, result);
  const compared = agreement_of(result, width);
  const expected = expected_of(result.launch, result.size, width);
  const n_of = (size) => {
    const { n, columns, rows } = launch.sizes[size].parameters;
    return String(n ?? (columns && rows ? `${columns} × ${rows}` : "fixed"));
  };
  const [counted_n, timed_n] = [result.size, result.timed?.size ?? result.size].map(n_of);
  const mean = result.dispatches ? work_of(result.launch, result.dispatches).mean : null;
  const simulated = expected ? work_of(result.launch, expected).mean : null;
  const output = result.timed?.output === "mismatch" ? "mismatch" : result.output ?? "–";
  return [
    [short_title_of(result.launch)], [number(mean)], [number(simulated)],
    [ratio_text(result)], [result.timed ? factor(predicted_of(result)) : "–"],
    !result.dispatches ? ["failed", "bad"] : compared ? [`${compared.equal} of ${compared.total}`, compared.different.length && launch.agrees ? "bad" : ""] : ["–"],
    [output, output === "mismatch" ? "bad" : ""], [launch.timed ? duration(state.median(result)) : "not timed"], [counted_n === timed_n ? counted_n : `${counted_n}, timed ${timed_n}`],
  ];
}

// Results in the families of their kernels.
function by_family(results) {
  const found = new Map();
  for (const result of results) {
    const family = family_of(result.launch);
    found.set(family, [...(found.get(family) ?? []), result]);
  }
  return [...found];
}

function table(width) {
  const first = [...state.results.values()].find((entry) => entry.width === width);
  const lanes = width_of(state, first);
  const parts = parts_of(state, width);
  const passed = parts.filter((part) => part.executions_right && part.lanes_right).length;
  const test = estimated(state) ? "The self-test of counting needs subgroup operations." : `Self-test of counting: ${passed} of ${parts.length} parts passed.`;
  const caption = `${estimated(state) ? "Estimated for" : "At"} ${lanes} lanes`;
  const head = element("thead", {}, element("tr", {}, ...COLUMNS.map((name) => element("th", { scope: "col" }, name))));
  const bodies = by_family(shown(width)).map(([family, results]) => {
    const heading = families().length > 1 ? [element("tr", {}, element("th", { scope: "rowgroup", colspan: COLUMNS.length }, family))] : [];
    const rows = results.map((result) => element("tr", {}, ...cells(result).map(([text, kind], i) =>
      i === 0 ? element("th", { scope: "row" }, text) : element("td", { "data-label": COLUMNS[i], ...(kind ? { class: kind } : {}) }, text))));
    return element("tbody", {}, ...heading, ...rows);
  });
  const made = element("table", { class: "stacked" }, element("caption", {}, caption), head, ...bodies);
  const region = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Results at ${lanes} lanes` }, made);
  return [element("p", {}, test), region];
}

// A row of bars of what was found, each with a mark where the simulator's counts put it, and its interval.
function bars(heading, words, compared, rows, most, shown_as) {
  const [line, left, width] = [26, 165, 385];
  const at = (value) => left + (width - left - 48) * Math.min(1, value / most);
  const svg = element("svg", { viewBox: `0 0 ${width} ${rows.length * line + 8}`, role: "img", "aria-label": `${heading}. ${rows.map(([name, bar, other, low, high]) => `${name}: ${shown_as(bar)}${low ? ` (${shown_as(low)} to ${shown_as(high)})` : ""}, ${compared} ${shown_as(other)}`).join("; ")}` });
  rows.forEach(([name, bar, other, low, high], i) => {
    const y = 4 + i * line;
    svg.append(
      element("text", { x: 0, y: y + 15 }, name.length > 26 ? name.slice(0, 25) + "…" : name),
      element("rect", { class: "track", x: left, y: y + 3, width: at(most) - left, height: 16 }),
      element("rect", { class: "own", x: left, y: y + 3, width: Math.max(0, at(bar) - left), height: 16 }),
      element("text", { x: at(most) + 6, y: y + 15 }, shown_as(bar)),
    );
    if (low) svg.append(element("line", { class: "interval", x1: at(low), x2: at(high), y1: y + 11, y2: y + 11 }));
    if (other !== null) svg.append(element("line", { class: "sim", x1: at(other), x2: at(other), y1: y, y2: y + 22 }));
  });
  return element("figure", {}, element("h3", {}, heading), svg, element("figcaption", {}, words));
}

// The baselines' time by round, each over its first.
function drift(width) {
  const based = shown(width).filter((entry) => entry.timed && entry.samples.length > 1 && data.launches[entry.launch].baseline === null);
  const series = based.map((entry) => [title_of(entry.launch), [...times_of(entry, state.quantum()).values()]]).filter(([, values]) => values.length > 1);
  if (series.length === 0) return null;
  const [name, values] = series[0];
  const changes = values.map((ns) => ns / values[0] - 1);
  const [low, high] = [Math.min(...changes), Math.max(...changes)];
  const [bottom, top] = [Math.min(low, -0.1), Math.max(high, 0.1)];
  const place = (value) => 20 + 80 * (top - value) / (top - bottom);
  const words = `Time of ${name} in ${values.length} rounds, against the first (${duration(values[0])}): lowest ${change(low)}, highest ${change(high)}.`;
  const ticks = [top, 0, bottom].map((value) => element("text", { x: 48, y: place(value) + 4, "text-anchor": "end" }, change(value)));
  const svg = element("svg", { viewBox: "0 0 360 120", role: "img", "aria-label": `${words} By round: ${changes.map(change).join(", ")}` },
    element("text", { x: 0, y: 10 }, "time against the first round"), ...ticks,
    element("text", { x: 355, y: 117, "text-anchor": "end" }, `rounds 1 to ${values.length}`),
    element("path", { class: "path", d: "M" + changes.map((value, i) => `${55 + i * 300 / (values.length - 1)},${place(value)}`).join(" L") }));
  return element("figure", {}, element("h3", {}, "Drift"), svg,
    element("figcaption", {}, `${words} All kernels of a comparison are sampled once a round, so a device that gets slower, or faster, changes the times of all of them.`));
}

function charts(width) {
  const made = [];
  const counted = shown(width).filter((entry) => entry.dispatches);
  const lanes = counted.length ? width_of(state, counted[0]) : 0;
  for (const [family, results] of by_family(counted)) {
    const which = families().length > 1 ? `: ${family}` : "";
    const means = results.map((entry) => {
      const expected = expected_of(entry.launch, entry.size, lanes);
      return [short_title_of(entry.launch), work_of(entry.launch, entry.dispatches).mean ?? 0, expected ? work_of(entry.launch, expected).mean : null];
    });
    made.push(bars(`Lanes active of ${lanes}${which}`, "Bars: counted on the device. Marks: the simulator.", "simulated", means, lanes, number));
    const ratios = results.map((entry) => [entry, state.ratio(entry)]).filter(([, ratio]) => ratio).map(([entry, [value, low, high]]) => [short_title_of(entry.launch), value, predicted_of(entry), low, high]);
    if (ratios.length) made.push(bars(`Time over the baseline's${which}`, "Bars: measured, with a line for the 95 % interval. Marks: predicted by counts.", "predicted", ratios, Math.max(...ratios.flatMap(([, a, b]) => [a, b ?? 0])) * 1.05, factor));
  }
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
  const failures = [...state.results.values()].filter((entry) => entry.error);
  if (failures.length) add(`What failed: ${failures.length}`, list(failures.map((entry) => `${title_of(entry.launch)}: ${entry.error}`)));
  const features = seen.asked.map((name) => `${name}: ${seen.features.includes(name) ? "yes" : "no"}`);
  const clock = seen.clock === "timestamps" ? `times by timestamps, in steps of ${duration(seen.quantum_ns)}` : `times by the wall clock${seen.quantum_ns ? `, since timestamps go in steps of ${duration(seen.quantum_ns)}` : ""}`;
  const limits = Object.entries(seen.limits).map(([name, value]) => `${name}: ${value}`);
  add("The device", list([`${name_of(seen)}; ${state.browser}`, ...features, clock, ...limits]));
  return made;
}

function render() {
  if (!state.seen || state.results.size === 0) return;
  const widths = [...new Set([...state.results.values()].map((entry) => entry.width))];
  $("sentences").replaceChildren(...widths.flatMap((width) => sentences(width).map((text) => element("p", {}, text))));
  $("runs").textContent = widths.map(width_sentence).filter(Boolean).join(" ");
  $("tables").replaceChildren(...widths.flatMap(table));
  $("charts").replaceChildren(...widths.flatMap(charts));
  $("details").replaceChildren(...details());
  for (const id of ["answer", "results"]) $(id).hidden = false;
}

// --- Without a device ---

// Says why there is nothing to measure with, and shows what the simulator knows.
function refuse(code, message) {
  state.refusal = code;
  status(REFUSALS[code] ?? `Nothing could be measured (${message.replace(/\.$/, "")}): try another browser or a newer driver.`);
  const lanes = data.widths;
  const columns = ["kernel", ...lanes.map((width) => `${width} lanes`)];
  const rows = data.launches.flatMap((launch, i) => (launch.part !== null ? [] : [element("tr", {}, element("th", { scope: "row" }, title_of(i)),
    ...lanes.map((width, at) => element("td", { "data-label": columns[at + 1] }, number(work_of(i, expected_of(i, 0, width)).mean))))]));
  const head = element("thead", {}, element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name))));
  const made = element("table", { class: "stacked" }, element("caption", {}, "Lanes active on average, by lanescope's simulator, at each width"), head, element("tbody", {}, ...rows));
  $("tables").replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Simulated results" }, made));
  $("results").hidden = false;
}

// --- Running ---

let worker = null, workers = 0, silence = null, clock = null;

const seconds_so_far = () => Math.round((performance.now() - state.begun) / 1000);
const launches_in_all = () => data.launches.length * state.widths.length;

// How far it is, and how long the rest may take.
function show_progress() {
  const [done, all, so_far] = [state.results.size, launches_in_all(), seconds_so_far()];
  $("progress").max = all;
  $("progress").value = done;
  const counting = done < all;
  // Worked out when a launch ends, and then counted down: what grew while a launch runs would say nothing.
  if (state.rest?.done !== done) state.rest = { done, ends: so_far + Math.ceil(so_far / Math.max(done, 1) * (all - done)) };
  const more = (counting ? state.rest.ends : SECONDS) - so_far;
  const counts = more > 0 ? `; counting takes about ${more} s more, then come the times` : "; slow launches: the time left is not known";
  const rest = counting && done === 0 ? "" : counting ? counts : more > 0 ? `; the times take about ${more} s more` : "; the times of slow kernels take longer";
  $("time").textContent = `${done} of ${all} launches counted, ${so_far} s so far${rest}.`;
}

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
  silence = setTimeout(() => ended("time_limit", `the device did not answer for ${limit / 1000} s`), limit);
}

const HEARD = {
  device({ seen }) {
    state.seen = seen;
    if (seen.width_run === null) notice("The browser offers no subgroup operations here. Lanes are counted exactly; executions are estimated for an assumed width, and the record says so.");
    if (seen.clock === "wall") notice(seen.quantum_ns === null ? "There are no timestamps here, so times are taken with the wall clock. The record says so." : "Timestamps are too coarse here, so times are taken with the wall clock. The record says so.");
  },
  width({ seen }) { state.seen = { ...seen, width_run: state.seen.width_run }; },
  widths({ widths }) { state.widths = widths; },
  width_refused({ width, message }) { notice(`Nothing was counted at ${width} lanes: the browser does not run this width (${message}).`); },
  begin(message) {
    state.current = message;
    const verb = message.timing ? "Timing" : "Counting";
    status(`${verb} ${title_of(message.launch)}.`);
  },
  counted(message) {
    const { launch, size, width, dispatches, slowest_ms, method, output, error } = message;
    const fresh = { launch, size, width, dispatches, method, output, error, samples: [] };
    const known = state.results.get(key_of(message));
    if (size > 1 && known) known.grown = fresh;
    else state.results.set(key_of(message), fresh);
    if (slowest_ms > 0) render();
  },
  slow({ launch, slowest_ms }) {
    state.smaller = true;
    notice(`A dispatch of ${title_of(launch)} took ${(slowest_ms / 1000).toFixed(1)} s. Many systems end a dispatch after two seconds, so the rest is counted at a quarter of its size.`);
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
  if (state.results.size === 0 && !current) {
    state.running = false;
    rest();
    return refuse(code, message);
  }
  if (!current) return finish(` It ended early: ${REFUSALS[code] ? "the browser gives this page no device any more" : message}.`);
  const title = title_of(current.launch);
  const words = code === "device_lost" ? "The device was lost" : code === "time_limit" ? "The device did not answer" : `The device failed (${message})`;
  let timing = true;
  if (current.timing) {
    notice(`${words} while ${title} was timed. No more times are taken; all counts are kept.`);
    timing = false;
  } else if (data.launches[current.launch].sizes.length > 1 && !state.small.has(current.launch)) {
    state.small.add(current.launch);
    state.smaller = true;
    notice(`${words} in ${title}: it is tried again at a quarter of its size, and so is all that follows. Results so far are kept.`);
  } else {
    HEARD.refused({ ...current, code, message });
    notice(`${words} in ${title}: it is left out. Results so far are kept.`);
  }
  state.current = null;
  if (workers >= WORKERS_MAX) return finish(` It ended early: the device was lost, failed or did not answer ${WORKERS_MAX} times.`);
  start_worker(timing && state.timing !== false);
  if (!timing) state.timing = false;
}

// Nothing runs: the buttons are as at first.
function rest() {
  clearTimeout(silence);
  clearInterval(clock);
  for (const id of ["stop", "going"]) $(id).hidden = true;
  $("start").disabled = false;
}

function finish(words, stopped = false) {
  worker?.terminate();
  state.running = false;
  rest();
  $("start").textContent = "Measure again";
  render();
  const counted = [...state.results.values()].filter((entry) => entry.dispatches).length;
  if (stopped) status(`Stopped after ${seconds_so_far()} s, ${counted} of ${launches_in_all()} launches done.`);
  else status(`Done in ${seconds_so_far()} s: ${counted} of ${launches_in_all()} launches counted.${words} ${state.results.size ? "The answer stands below." : "There is no record."}`);
  if (state.results.size) $("share").hidden = false;
}

function start() {
  Object.assign(state, { results: new Map(), seen: null, notices: [], smaller: false, timed_widths: [], small: new Set(), failed: new Set(), opened: false, running: true, refusal: null, current: null, timing: true, rest: null, begun: performance.now(), widths: [null], browser: browser(), started_utc: new Date().toISOString() });
  workers = 0;
  $("notices").replaceChildren();
  for (const id of ["answer", "results", "share"]) $(id).hidden = true;
  $("start").disabled = true;
  for (const id of ["stop", "going"]) $(id).hidden = false;
  show_progress();
  clearInterval(clock);
  clock = setInterval(show_progress, 1000);
  status("Opening the device.");
  start_worker();
}

// --- Keeping and sharing ---

const file = () => new File([record_text(state)], "result.json", { type: "application/json" });

function save() {
  download(record_text(state), "result.json");
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
  if (fragment.length > LINK_BYTES_MAX) {
    $("shared").textContent = "The results are too long for a link. Save result.json, and send the file.";
    return;
  }
  $("shared").textContent = `${await hand_on(fragment)} Whoever opens it sees this table, marked as unattested.`;
}

async function open_link() {
  if (!location.hash.startsWith("#r=")) return;
  if (state.running) return status("The page is measuring. To open the link, stop it and open the link again.");
  try {
    const opened = await from_link(location.hash.slice(1), $("page").textContent, ["subgroups", "timestamp-query", "subgroup-size-control", "shader-f16"]);
    // What a link tells is no record of this page's own.
    Object.assign(state, opened, { notices: [] });
    $("notices").replaceChildren();
    $("share").hidden = true;
    $("shared").textContent = "";
    render();
    notice("Unattested: these figures come from a link. Nothing proves that they were measured on the device that the link names.");
    status("The link is open. To measure your own device, use the button above.");
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
  $("stop").onclick = () => finish("", true);
  $("save").onclick = save;
  $("send").onclick = share;
  $("link").onclick = () => copy_link().catch((error) => { $("shared").textContent = `There is no link: ${error.message}.`; });
  const can_share = () => navigator.canShare({ files: [new File(["{}"], "result.json", { type: "application/json" })] });
  try { $("send").hidden = !can_share(); } catch { $("send").hidden = true; }
  $("start").disabled = false;
  status(`Ready to count ${data.launches.length} launches. The time depends on the device, and is shown while it measures.`);
  addEventListener("hashchange", open_link);
  await open_link();
}

addEventListener("error", (event) => status(`The page failed: ${event.message}. Nothing more is measured.`));
addEventListener("unhandledrejection", (event) => status(`The page failed: ${event.reason?.message ?? event.reason}. Nothing more is measured.`));
load();
