"use strict";
// The worker that owns lanescope's core: passes questions on and says the answers. It keeps nothing
// that its owner could not ask for again, and may be ended at any time.

let core = null;

// Text or bytes that the core holds.
const bytes_at = (at, length) => new Uint8Array(core.memory.buffer, at, length).slice();
const text_at = (at, length) => new TextDecoder().decode(bytes_at(at, length));

function ask(question) {
  const asked = new TextEncoder().encode(JSON.stringify(question));
  const at = core.question(asked.length);
  new Uint8Array(core.memory.buffer, at, asked.length).set(asked);
  const answer = core.answer();
  return bytes_at(answer, core.answer_length());
}

onmessage = async ({ data: { module, id, question } }) => {
  try {
    if (module) core = (await WebAssembly.instantiate(module, {})).exports;
    if (!question) return postMessage({ id, answer: null });
    const answer = ask(question);
    if (question.do === "contents") return postMessage({ id, answer: answer.buffer }, [answer.buffer]);
    const { ok, error } = JSON.parse(new TextDecoder().decode(answer));
    postMessage({ id, answer: ok, error });
  } catch (error) {
    const told = core ? text_at(core.fault(), core.fault_length()) : "";
    postMessage({ id, fault: told || String(error?.message ?? error) });
  }
};
