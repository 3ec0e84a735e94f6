// What the visitor of the paste page sees and presses. The core answers in a worker, which is ended and
// made anew where it takes too long or is stopped; a second worker owns the GPU.

// An answer that takes so long ends the worker. What is read of a file, and of a link, packed and unpacked.
const ANSWER_MS = 90000, GPU_MS = 60000, FILE_BYTES_MAX = 256 << 10, LINK_MAX = 32 << 10, LINK_BYTES_MAX = 400 << 10;

// `seen`, `results` and `browser` are what a record's device is made of.
const state = {
  module: null, core: null, waiting: new Map(), asked: 0, running: false, opened: null, file: "shader.wgsl",
  seen: null, results: new Map(), browser: browser(), gpu: null, begun: 0, shown_ms: null,
};

function notice(text) {
  if ([...$("notices").children].some((shown) => shown.textContent === text)) return;
  $("notices").append(element("p", { class: "notice" }, text));
}
const trouble = (text) => $("trouble").replaceChildren(...(text ? [element("pre", {}, text)] : []));

// --- The core ---

function start_core() {
  const worker = worker_of("core-worker");
  worker.onmessage = ({ data: { id, answer, error, fault } }) => {
    const { resolve, reject, timer } = state.waiting.get(id) ?? {};
    if (!resolve) return;
    state.waiting.delete(id);
    clearTimeout(timer);
    if (fault !== undefined) {
      end_core();
      reject(new Error(`lanescope's core failed: ${fault}. Please report it with the shader.`));
    } else if (error !== undefined) reject(new Error(error));
    else resolve(answer);
  };
  worker.onerror = (event) => { event.preventDefault?.(); end_core(`the core does not start: ${event.message}`); };
  worker.postMessage({ module: state.module });
  state.core = worker;
}

// Ends the core's worker; who waits is told why.
function end_core(why = "it was stopped") {
  state.core?.terminate();
  state.core = null;
  state.opened = null;
  for (const { reject, timer } of state.waiting.values()) {
    clearTimeout(timer);
    reject(new Error(why));
  }
  state.waiting.clear();
}

function ask(question) {
  if (!state.core) start_core();
  const id = ++state.asked;
  return new Promise((resolve, reject) => {
    const late = `It took longer than ${ANSWER_MS / 1000} s and was stopped. A smaller n, or fewer widths, takes less.`;
    const timer = setTimeout(() => end_core(late), ANSWER_MS);
    state.waiting.set(id, { resolve, reject, timer });
    state.core.postMessage({ id, question });
  });
}

// --- Counting ---

const widths = () => [...document.querySelectorAll("[name=width]:checked")].map((box) => Number(box.value));
const given = (id) => $(id).value.trim() || null;

function opening() {
  const n = given("n");
  if (n !== null && !/^[1-9]\d{0,8}$/.test(n)) throw new Error("n is a whole number from 1 to 999999999");
  return {
    do: "open", file: state.file, source: $("wgsl").value, launch: given("launch"), entry: given("entry"), n: n && Number(n),
    started_utc: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    host: { os: system(), arch: "wasm32", logical_cpus: navigator.hardwareConcurrency ?? 1, environment: {} },
  };
}

// The page that the core makes, shown. A policy without inline styles leaves these to the script.
async function show() {
  const html = (await ask({ do: "page" })).replaceAll(' style="', ' data-style="');
  const { body } = new DOMParser().parseFromString(html, "text/html");
  $("result").replaceChildren(...body.childNodes);
  for (const styled of $("result").querySelectorAll("[data-style]")) {
    styled.style.cssText = styled.dataset.style;
    delete styled.dataset.style;
  }
  for (const table of $("result").querySelectorAll(".scroll > table")) to_cards(table);
  $("result").hidden = false;
  $("save").disabled = false;
}

// A table too wide for a phone is shown there as cards: each cell takes the name of its column along.
function to_cards(table) {
  const [head, ...rows] = table.rows;
  const names = [...head.cells].map((cell) => cell.textContent);
  if (names.length < 4) return;
  table.classList.add("stacked");
  head.classList.add("heads");
  for (const row of rows) for (const [i, cell] of [...row.cells].entries()) if (!cell.hasAttribute("colspan")) cell.dataset.label = names[i];
}

function busy(running) {
  state.running = running;
  $("run").disabled = running;
  $("stop").hidden = !running;
  $("gpu").disabled = running || !state.opened || state.opened.no_gpu !== null;
}

// Does something that can be stopped, and says how it ended.
async function attempt(work) {
  if (state.running) return;
  busy(true);
  trouble("");
  $("notices").replaceChildren();
  try {
    await work();
  } catch (error) {
    trouble(error.message);
    status("It ended with an error, which is shown below.");
  }
  state.gpu?.terminate();
  state.gpu = null;
  busy(false);
}

async function count() {
  // What was shown is of another shader.
  state.opened = null;
  $("result").hidden = true;
  $("save").disabled = true;
  if (!$("wgsl").value.trim()) return status("There is no text yet: paste a shader, or open a file.");
  const chosen = widths();
  if (chosen.length === 0) throw new Error("choose a width");
  state.begun = performance.now();
  state.shown_ms = null;
  status("Reading the shader.");
  state.opened = await ask(opening());
  const counted = [];
  for (const width of chosen) {
    status(`Counting at ${width} lanes.`);
    try {
      await ask({ do: "count", width });
      counted.push(width);
    } catch (error) {
      // What a width refuses another may take; what ended the core ends all.
      if (!state.core) throw error;
      notice(`At ${width} lanes: ${error.message}`);
    }
  }
  await show();
  state.shown_ms = performance.now() - state.begun;
  for (const width of counted) {
    status(`Counted. Trying changes that may save operations at ${width} lanes.`);
    for (const left_out of await ask({ do: "look", width })) notice(left_out);
  }
  if (counted.length) await show();
  const { n, no_gpu } = state.opened;
  if (no_gpu) notice(`A GPU cannot run it from this page: ${no_gpu}.`);
  const size = n === null ? "" : ` for n = ${n}`;
  status(`Done${size}: counted at ${counted.length ? counted.join(", ") + " lanes" : "no width"}.`);
}

// --- The visitor's GPU ---

async function on_gpu() {
  status("Opening the GPU.");
  const shader = await ask({ do: "gpu" });
  const contents = [];
  for (const buffer of shader.launches[0].buffers.keys()) contents.push(await ask({ do: "contents", buffer }));
  state.seen = null;
  const counted = [];
  await new Promise((resolve, reject) => {
    const worker = worker_of("worker");
    state.gpu = worker;
    let timer;
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => ended(`The GPU did not answer for ${GPU_MS / 1000} s.`), GPU_MS);
    };
    const ended = (why) => {
      clearTimeout(timer);
      worker.terminate();
      why ? reject(new Error(why)) : resolve();
    };
    state.end_gpu = ended;
    const heard = {
      device({ seen }) { state.seen = seen; },
      width_refused({ width, message }) { notice(`The browser does not run ${width} lanes: ${message}.`); },
      width({ seen }) { state.seen = { ...seen, width_run: state.seen.width_run }; },
      begin() { status("The GPU runs it, with counters."); },
      counted(message) { counted.push({ ...message, seen: state.seen }); },
      refused({ message }) { notice(`The GPU refuses it: ${message}.`); },
      failed({ code, message }) { ended(REFUSALS[code] ?? `The GPU failed: ${message}.`); },
      done() { ended(null); },
    };
    worker.onmessage = ({ data: message }) => {
      listen();
      heard[message.kind]?.(message);
    };
    worker.onerror = (event) => { event.preventDefault?.(); ended(`The worker ended: ${event.message}`); };
    listen();
    const nothing = { timing: false, timed: [], smaller: false, small: [], failed: [], done: [], seconds: 0 };
    worker.postMessage({ data: { ...shader, contents }, ...nothing });
  });
  const sentences = [];
  for (const { seen, width, method, dispatches } of counted) {
    const lanes = width ?? seen.width_run ?? shader.width_assumed;
    status(`Counting at ${lanes} lanes, to compare.`);
    const device = device_of({ ...state, seen }, width);
    const compared = await ask({ do: "measured", device, width: lanes, method, dispatches });
    state.compared = compared;
    sentences.push(compared.sentence);
    if (compared.different.length) notice(`What differs: ${compared.different.join("; ")}.`);
  }
  if (counted.length) await show();
  status(sentences.join(" ") || "The GPU counted nothing.");
}

function stop() {
  state.end_gpu?.("It was stopped.");
  end_core("It was stopped. Counting again starts anew.");
}

// --- Files and links ---

async function open_file(file) {
  if (!file) return;
  if (file.size > FILE_BYTES_MAX) return trouble(`${file.name} has ${file.size} bytes, over ${FILE_BYTES_MAX}, this page's limit.`);
  $("wgsl").value = await file.text();
  state.file = file.name;
  status(`${file.name} is open.`);
}

async function to_link() {
  const link = [1, state.file, $("wgsl").value, widths(), given("n"), given("entry"), given("launch")];
  const bytes = new TextEncoder().encode(JSON.stringify(link));
  return "s=" + to_url(await through(new CompressionStream("deflate-raw"), bytes));
}

async function copy_link() {
  const fragment = await to_link();
  if (fragment.length > LINK_MAX) return status("The shader is too long for a link. Send the file.");
  status(`${await hand_on(fragment)} It holds the shader and how it is launched.`);
}

async function open_link(fragment) {
  if (fragment.length > LINK_MAX) throw new Error("it is too long");
  let bytes;
  try {
    bytes = await through(new DecompressionStream("deflate-raw"), from_url(fragment.replace(/^s=/, "")), LINK_BYTES_MAX);
  } catch (error) {
    throw error instanceof RangeError ? error : new Error("it is cut or garbled");
  }
  const [version, file, source, chosen, n, entry, launch] = JSON.parse(new TextDecoder().decode(bytes));
  if (version !== 1) throw new Error("it was made by another version of this page");
  if (![file, source].every((given) => typeof given === "string") || !Array.isArray(chosen)) throw new Error("it holds no shader");
  state.file = file;
  $("wgsl").value = source;
  for (const box of document.querySelectorAll("[name=width]")) box.checked = chosen.includes(Number(box.value));
  for (const [id, value] of Object.entries({ n, entry, launch })) $(id).value = value ?? "";
  $("how-launched").open = [n, entry, launch].some(Boolean);
}

async function follow_link() {
  if (!location.hash.startsWith("#s=")) return;
  try {
    await open_link(location.hash.slice(1));
  } catch (error) {
    return status(`The link cannot be read: ${error.message}. Paste a shader below.`);
  }
  await attempt(count);
}

// The core's bytes: a module of its own unpacks xz, which browsers do not.
async function core_unpacked() {
  const text = (id) => unpack($(id).textContent.trim());
  const module = await through(new DecompressionStream("deflate-raw"), text("unpacker"));
  const unpacker = (await WebAssembly.instantiate(module, {})).instance.exports;
  const packed = text("core");
  const at = unpacker.packed(packed.length);
  new Uint8Array(unpacker.memory.buffer, at, packed.length).set(packed);
  const core = unpacker.unpack();
  if (core === 0) throw new Error("the page's core is cut or garbled");
  return new Uint8Array(unpacker.memory.buffer, core, unpacker.unpacked_length()).slice();
}

async function load() {
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") {
    return status("This browser cannot unpack or run the page's core (it lacks DecompressionStream or WebAssembly). A browser of 2023 or later can.");
  }
  state.module = await WebAssembly.compile(await core_unpacked());
  $("ask").onsubmit = (event) => { event.preventDefault(); attempt(count); };
  $("stop").onclick = stop;
  $("gpu").onclick = () => attempt(on_gpu);
  $("link").onclick = () => copy_link().catch((error) => status(`There is no link: ${error.message}.`));
  $("save").onclick = async () => download(await ask({ do: "record" }), "result.json");
  $("open").onclick = () => $("file").click();
  $("file").onchange = () => open_file($("file").files[0]);
  $("example").onclick = () => { $("wgsl").value = $("example-text").textContent; state.file = "raymarch.wgsl"; status("An example is open: rays that march through a scene."); };
  addEventListener("hashchange", follow_link);
  busy(false);
  status("Ready.");
  await follow_link();
}

addEventListener("error", (event) => status(`The page failed: ${event.message}.`));
addEventListener("unhandledrejection", (event) => status(`The page failed: ${event.reason?.message ?? event.reason}.`));
load();
