// The network as a module of WebAssembly: its function, and where in its memory things lie.
import * as sizes from "./sizes.mjs";

export class Model {
  static async load(url) {
    const { instance } = await WebAssembly.instantiateStreaming(fetch(url), {});
    return new Model(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
    this.end = exports.__heap_base.value;
    this.image = this.place(sizes.IMAGE_BYTES);
    this.probability = this.place(sizes.PROBABILITY_BYTES);
    this.digit = this.place(sizes.DIGIT_BYTES);
    this.arena = this.place(sizes.ARENA_BYTES);
  }

  /** Memory behind what there is, at a multiple of 64. */
  place(bytes) {
    const begin = Math.ceil(this.end / 64) * 64;
    this.end = begin + bytes;
    const missing = this.end - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    return begin;
  }

  /** Reads images of 64 shades from 0 to 1: the digits, and 10 probabilities for each. */
  read(shades) {
    const n = shades.length / 64;
    new Float32Array(this.exports.memory.buffer, this.image, shades.length).set(shades);
    const code = this.exports.digits_run(BigInt(n), this.image, this.probability, this.digit, this.arena, 0);
    if (code !== 0) throw new Error(`digits_run: ${code}`);
    const { buffer } = this.exports.memory;
    return { digits: new Int32Array(buffer, this.digit, n).slice(), probability: new Float32Array(buffer, this.probability, 10 * n).slice() };
  }
}
