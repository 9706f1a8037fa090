// The page of the decoder: writes with what is chosen, then has the other one follow, and compares.
import { characterOf, codeOf, END, MOST, wasmDecoder, webgpuDecoder } from "./decoder.mjs";
import { Switch } from "./switch.mjs";

const at = (id) => document.getElementById(id);
const kinds = {
  wasm: ["WebAssembly", "the graph as a function on one thread, with SIMD", wasmDecoder],
  webgpu: ["WebGPU", "the same graph as kernels", webgpuDecoder],
};
const chosen = new Switch(at("switch"), kinds);

/** Numbers from 0 to 1 that are the same in every run. */
function* draws(seed) {
  for (let state = seed;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** One of the characters, the likely ones more often: the less daring, the more. */
function pick(probability, daring, draw) {
  const weights = [...probability].map((p) => p ** (1 / daring)), sum = weights.reduce((a, b) => a + b);
  let left = draw * sum, code = 0;
  while (code < weights.length - 1 && (left -= weights[code]) > 0) code++;
  return code;
}

function show(codes, begin) {
  const start = document.createElement("b");
  start.textContent = codes.slice(0, begin).map(characterOf).join("");
  at("text").replaceChildren(start, codes.slice(begin).map(characterOf).join(""));
}

function showNext(probability, taken) {
  const best = [...probability.keys()].sort((a, b) => probability[b] - probability[a]).slice(0, 12);
  at("next").replaceChildren(...best.map((code) => {
    const column = document.createElement("div"), bar = document.createElement("i");
    bar.style.height = `${Math.max(1, 64 * probability[code])}px`;
    column.append(bar, code === END ? "⏎" : code === 0 ? "␣" : characterOf(code));
    column.classList.toggle("taken", code === taken);
    return column;
  }));
}

/** The characters, and what was likely at every step. */
async function write(name, begin, daring) {
  const codes = [END, ...[...begin].map(codeOf).filter((code) => code >= 0 && code < END)], first = codes.length, likely = [], random = draws(5);
  await chosen.models[name].reset();
  for (let i = 0; i < MOST - 1; i++) {
    const probability = await chosen.timed(name, (model) => model.step(codes[i], i));
    likely.push(probability);
    if (i + 1 < codes.length) continue;
    const code = pick(probability, daring, random.next().value);
    if (code === END && codes.length > MOST - 40) break;
    codes.push(code);
    show(codes.slice(1), first - 1), showNext(probability, code), chosen.show(name, "a character");
    if (i % 8 === 0) await new Promise((done) => setTimeout(done));  // so that the page is drawn
  }
  return { codes, likely };
}

/** The other one reads the same characters: how far its probabilities are off. */
async function follow(name, { codes, likely }) {
  let difference = 0;
  await chosen.models[name].reset();
  for (let i = 0; i < likely.length; i++) {
    const probability = await chosen.timed(name, (model) => model.step(codes[i], i));
    for (let code = 0; code < probability.length; code++) difference = Math.max(difference, Math.abs(probability[code] - likely[i][code]));
  }
  chosen.show(name, "a character");
  return difference;
}

async function start() {
  const { name } = chosen, other = Object.keys(chosen.models).find((one) => one !== name);
  at("write").disabled = true, at("text").className = "card writing", at("summary").textContent = "";
  const written = await write(name, at("begin").value, Number(at("daring").value)), count = written.likely.length;
  const difference = other ? await follow(other, written) : null;
  at("summary").textContent = `${count} steps on ${kinds[name][0]}.` +
    (other ? ` ${kinds[other][0]} read the same text: its probabilities differ by at most ${difference.toExponential(1)}.` : "");
  at("write").disabled = false, at("text").className = "card";
  globalThis.result = { name, count, difference, text: written.codes.slice(1).map(characterOf).join("") };  // for tests
}

await chosen.load(kinds);
at("form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
at("write").disabled = !chosen.model;
document.body.dataset.ready = "yes";
