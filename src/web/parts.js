// Parts of every page.

const $ = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "line", "path", "text", "title", "g", "circle"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const status = (text) => { $("status").textContent = text; };

// A worker from the text of an element of the page.
const worker_urls = new Map();
function worker_of(id) {
  if (!worker_urls.has(id)) worker_urls.set(id, URL.createObjectURL(new Blob([$(id).textContent], { type: "text/javascript" })));
  return new Worker(worker_urls.get(id));
}

// Why nothing is measured.
const REFUSALS = {
  insecure: "Browsers offer WebGPU to pages from https, from this computer (localhost) or from a file, and this page came by plain http, so nothing was measured and there is no record.",
  no_webgpu: "This browser offers no WebGPU, so nothing was measured and there is no record. Chrome and Edge have it from version 113, on Android from 121, Safari from 26, Firefox from 141 on Windows.",
  no_adapter: "This browser has WebGPU but gives this page no adapter, so nothing was measured and there is no record. A blocked or missing driver, or a page in the background, can be the reason.",
};

// Copies a link to this page; gives a sentence. The address of a file would show a folder of this computer, so
// of a file only the part from # on is copied, and the address bar stays as it is.
async function hand_on(fragment) {
  const is_file = location.protocol === "file:";
  const link = is_file ? "#" + fragment : location.href.split("#")[0] + "#" + fragment;
  if (!is_file) history.replaceState(null, "", link);
  const behind = "This page is a file on your disk, and its address shows your folders. Put the part behind the address of this page on a web server.";
  try {
    await navigator.clipboard.writeText(link);
    return is_file ? `The part of the link from # on is copied. ${behind}` : "The link is copied.";
  } catch {
    return is_file ? `The part of the link from # on is: ${link} ${behind}` : "The link stands in the address bar.";
  }
}

// Keeps a text as a file.
function download(text, name) {
  const url = URL.createObjectURL(new File([text], name, { type: "application/json" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// --- Packing, for data and links ---

// All that a stream makes of bytes; an error where that is over a limit.
async function through(stream, bytes, bytes_max = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > bytes_max) {
      await reader.cancel();
      throw new RangeError("it is too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
const unpack = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const to_url = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const from_url = (text) => unpack(text.replaceAll("-", "+").replaceAll("_", "/"));
