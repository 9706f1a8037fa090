// The decoder of examples/decoder, as WebAssembly and on WebGPU. `step` takes a character and how many there are before
// it, and gives the probability of each that may follow. What was before is in states.
import * as sizes from "./decoder.sizes.mjs";
import { adapterOf } from "./switch.mjs";
import { check, Wasm } from "./wasm.mjs";

export const MOST = Number(sizes.AT_MAX) + 1, CHARACTERS = 96, END = 95;
export const codeOf = (character) => (character === "\n" ? END : character.charCodeAt(0) - 32);
export const characterOf = (code) => (code === END ? "\n" : String.fromCharCode(32 + code));

export async function wasmDecoder() {
  const wasm = await Wasm.load("decoder.wasm"), { TOKEN_BYTES, PROBABILITY_BYTES, STATES_BYTES, ARENA_BYTES } = sizes;
  const [token, probability, states, arena] = [TOKEN_BYTES, PROBABILITY_BYTES, STATES_BYTES, ARENA_BYTES].map((bytes) => wasm.place(bytes));
  return {
    async reset() {
      check(wasm.exports.decoder_reset(states), "decoder_reset");
    },
    async step(code, at) {
      wasm.array(Int32Array, token, 1)[0] = code;
      check(wasm.exports.decoder_run(BigInt(at), token, probability, states, arena, 0), "decoder_run");
      return wasm.array(Float32Array, probability, CHARACTERS).slice();
    },
  };
}

export async function webgpuDecoder() {
  const { load } = await import("./decoder/decoder.js"), model = await load();
  return {
    where: adapterOf(model.device),
    reset: () => model.reset(),
    async step(code, at) {
      const { probability } = await model.run({ token: new Int32Array([code]) }, { at });
      return probability.data;
    },
  };
}
