// A network as a module of WebAssembly: its function, and where in its memory things lie.

export class Wasm {
  static async load(url) {
    const { instance } = await WebAssembly.instantiateStreaming(fetch(url), {});
    return new Wasm(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
    this.end = exports.__heap_base.value;
  }

  /** Memory behind what there is, at a multiple of 64. */
  place(bytes) {
    const begin = Math.ceil(this.end / 64) * 64;
    this.end = begin + bytes;
    const missing = this.end - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    return begin;
  }

  /** An array over a part of the memory. */
  array(Kind, begin, length) {
    return new Kind(this.exports.memory.buffer, begin, length);
  }
}

export function check(code, name) {
  if (code !== 0) throw new Error(`${name}: ${code}`);
}
