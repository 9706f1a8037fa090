// node run_wasm.mjs MODULE CALLS: calls functions of a WebAssembly module. Inputs come from stdin, outputs go to stdout.
import fs from "node:fs";
const [, , file, list] = process.argv;
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)), {});
const given = fs.readFileSync(0), taken = [];
let at = 0;

for (const { prefix, repeat, parameters } of JSON.parse(fs.readFileSync(list, "utf8"))) {
  let end = exports.__heap_base.value;
  const place = (bytes) => {
    const begin = Math.ceil(end / 64) * 64;
    end = begin + bytes;
    const missing = end - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    return begin;
  };
  const values = parameters.map((p) => {
    if (p.kind === "null") return 0;
    if (p.kind === "number") return BigInt(p.value);
    const address = place(p.most ?? p.bytes);
    if (p.kind === "input") {
      new Uint8Array(exports.memory.buffer).set(given.subarray(at, at + p.bytes), address);
      at += p.bytes;
    }
    if (p.kind === "states" && exports[`${prefix}_reset`](address) !== 0) throw new Error(`${prefix}_reset`);
    return address;
  });
  for (let i = 0; i < repeat; ++i) {
    const code = exports[`${prefix}_run`](...values);
    if (code !== 0) throw new Error(`${prefix}_run: ${code}`);
  }
  parameters.forEach((p, i) => {
    if (p.kind === "output") taken.push(Buffer.from(exports.memory.buffer.slice(values[i], values[i] + p.bytes)));
  });
}
fs.writeFileSync(1, Buffer.concat(taken));
