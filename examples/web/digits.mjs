// The network of examples/digits, as WebAssembly and on WebGPU. `read` takes images of 64 shades from 0 to 1, and gives
// the digits and 10 probabilities for each.
import * as sizes from "./digits.sizes.mjs";
import { adapterOf } from "./switch.mjs";
import { check, Wasm } from "./wasm.mjs";

export async function wasmDigits() {
  const wasm = await Wasm.load("digits.wasm"), { IMAGE_BYTES, PROBABILITY_BYTES, DIGIT_BYTES, ARENA_BYTES } = sizes;
  const [image, probability, digit, arena] = [IMAGE_BYTES, PROBABILITY_BYTES, DIGIT_BYTES, ARENA_BYTES].map((bytes) => wasm.place(bytes));
  return {
    async read(shades) {
      const n = shades.length / 64;
      wasm.array(Float32Array, image, shades.length).set(shades);
      check(wasm.exports.digits_run(BigInt(n), image, probability, digit, arena, 0), "digits_run");
      return { digits: wasm.array(Int32Array, digit, n).slice(), probability: wasm.array(Float32Array, probability, 10 * n).slice() };
    },
  };
}

export async function webgpuDigits() {
  const { load } = await import("./digits/digits.js"), model = await load();
  return {
    where: adapterOf(model.device),
    async read(image) {
      const { digit, probability } = await model.run({ image });
      return { digits: digit.data, probability: probability.data };
    },
  };
}
