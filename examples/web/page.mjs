// The page: a board to draw on, the chances of each digit, and the images of examples/digits.
import { wasmDigits, webgpuDigits } from "./digits.mjs";
import { Switch } from "./switch.mjs";

const at = (id) => document.getElementById(id);
const kinds = {
  wasm: ["WebAssembly", "the graph as a function on one thread, with SIMD", wasmDigits],
  webgpu: ["WebGPU", "the same graph as kernels", webgpuDigits],
};
const chosen = new Switch(at("switch"), kinds);

// --- the board

const board = at("board"), pen = board.getContext("2d", { willReadFrequently: true });

function clear() {
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, board.width, board.height);
  show([...Array(10).fill(0)], -1);
}

/** What is drawn as 8 x 8 shades, 0 for white: each is the mean of its part of the square around the strokes. */
function shades() {
  const { data, width } = pen.getImageData(0, 0, board.width, board.height), dark = (x, y) => 1 - (data[4 * (y * width + x)] ?? 255) / 255;
  let left = width, right = -1, top = width, bottom = -1;
  for (let y = 0; y < width; y++)
    for (let x = 0; x < width; x++)
      if (dark(x, y) > 0.5) left = Math.min(left, x), right = Math.max(right, x), top = Math.min(top, y), bottom = Math.max(bottom, y);
  if (right < 0) return null;
  const side = Math.max(right - left, bottom - top) + 1, x0 = (left + right + 1 - side) / 2, y0 = (top + bottom + 1 - side) / 2, out = new Float32Array(64);
  for (let cell = 0; cell < 64; cell++) {
    let sum = 0;
    for (let i = 0; i < 64; i++) {
      const x = Math.floor(x0 + side * ((cell % 8) + (i % 8) / 8) / 8), y = Math.floor(y0 + side * (Math.floor(cell / 8) + Math.floor(i / 8) / 8) / 8);
      sum += x >= 0 && y >= 0 && x < width && y < width ? dark(x, y) : 0;
    }
    out[cell] = sum / 64;
  }
  return out;
}

let turn = 0;  // of the last stroke: answers to those before it come too late
async function read() {
  const drawn = shades(), mine = ++turn;
  if (!drawn) return clear();
  const { digits, probability } = await chosen.model.read(drawn);
  if (mine === turn) show(probability, digits[0]);
}

let last = null;
const place = (event) => [event.offsetX * board.width / board.clientWidth, event.offsetY * board.height / board.clientHeight];
board.addEventListener("pointerdown", (event) => { last = place(event); board.setPointerCapture(event.pointerId); });
board.addEventListener("pointermove", (event) => {
  if (!last || !chosen.model) return;
  const next = place(event);
  pen.lineWidth = 24, pen.lineCap = "round", pen.strokeStyle = "#000";
  pen.beginPath(), pen.moveTo(...last), pen.lineTo(...next), pen.stroke();
  last = next;
  read();
});
board.addEventListener("pointerup", () => { last = null; });
at("clear").addEventListener("click", clear);

function show(chances, best) {
  at("chances").replaceChildren(...[...chances].flatMap((chance, digit) => {
    const name = document.createElement("span"), bar = document.createElement("i"), value = document.createElement("span");
    name.textContent = digit, value.textContent = `${(100 * chance).toFixed(1)} %`, bar.style.width = `${Math.max(1, 100 * chance)}%`;
    for (const part of [name, bar, value]) part.classList.toggle("best", digit === best);
    return [name, bar, value];
  }));
  at("chances").dataset.digit = best;
}

// --- the images

/** All images in one call, with every kind: what the chosen one says, and how long each takes. */
async function readAll(pixels) {
  const results = {};
  for (const name of Object.keys(chosen.models)) {
    for (let i = 0; i < 5; i++) {
      const result = await (i === 0 ? chosen.models[name].read(pixels) : chosen.timed(name, (model) => model.read(pixels)));  // the first warms up
      results[name] = { digits: [...result.digits], probability: [...result.probability] };
    }
    chosen.show(name, "for 360 images in one call");
  }
  return results;
}

async function samples() {
  const [file, text] = await Promise.all([fetch("samples.npy").then((r) => r.arrayBuffer()), fetch("labels.txt").then((r) => r.text())]);
  const begin = 10 + new DataView(file).getUint16(8, true), labels = text.trim().split(/\s+/).map(Number);
  const pixels = new Float32Array(file.slice(begin)), results = await readAll(pixels), { digits } = results[chosen.name];
  const right = labels.filter((label, i) => label === digits[i]).length;
  at("summary").textContent = `${right} of ${labels.length} read correctly; the others are marked.`;
  at("samples").append(...labels.map((label, i) => {
    const figure = document.createElement("figure"), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    canvas.width = canvas.height = 8;
    const picture = new ImageData(8, 8);
    for (let k = 0; k < 64; k++) picture.data.set([0, 0, 0, 255].map((c, j) => (j < 3 ? 255 - 255 * pixels[64 * i + k] : c)), 4 * k);
    canvas.getContext("2d").putImageData(picture, 0, 0);
    caption.textContent = digits[i];
    if (digits[i] !== label) figure.classList.add("wrong"), (caption.textContent += ` (${label})`);
    figure.append(canvas, caption);
    return figure;
  }));
  return results;
}

clear();
await chosen.load(kinds);
globalThis.result = await samples();  // for tests
chosen.element.addEventListener("change", read);
document.body.dataset.ready = "yes";
