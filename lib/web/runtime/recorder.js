// --- Commands of a run.

const MOST_GROUPS = 65535;  // along an axis; more along x are counted along z as well
const OFFSETS = 256;        // bindings begin at multiples of it, on every adapter
const WORD_BYTES = 1 << 18; // for the words of launches that are given to the device together
const FIRST_ARGUMENT = 4;   // in front of it: a zero, the workgroups along x and z, one that is unused
const SCOPES = ["internal", "out-of-memory", "validation"];

class Recorder {
  constructor(model) {
    this.model = model;
    this.device = model.device;
    this.problems = [];
    this.used = 0;  // words of launches
    this.begin();
  }

  begin() {
    for (const kind of SCOPES) this.device.pushErrorScope(kind);
    this.isOpen = true;
  }

  closeScopes() {
    if (this.isOpen) this.problems.push(...SCOPES.map(() => this.device.popErrorScope().catch(() => null)));
    this.isOpen = false;
  }

  /** Gives to the device what was recorded. What is wrong with it is known later: check(). */
  end() {
    this.flush();
    this.closeScopes();
  }

  abandon() {
    this.pass = this.encoder = null;
    this.closeScopes();
  }

  async check() {
    const problem = (await Promise.all(this.problems)).find(Boolean);
    if (!problem) return;
    const isMemory = problem.constructor.name === "GPUOutOfMemoryError";
    throw new SvodError(isMemory ? "device-busy" : "device-failure",
      `${plan.name} failed on the device: ${problem.message || (isMemory ? "memory ran out" : "no reason is given")}`);
  }

  flush() {
    this.endPass();
    if (!this.encoder) return;
    if (this.used > 0) this.device.queue.writeBuffer(this.model.words, 0, this.model.wordData, 0, this.used);
    this.device.queue.submit([this.encoder.finish()]);
    this.encoder = null;
    this.used = 0;
  }

  endPass() {
    this.pass?.end();
    this.pass = null;
  }

  commands() {
    this.endPass();
    this.encoder ??= this.device.createCommandEncoder();
    return this.encoder;
  }

  /** WebGPU copies words, and never within a buffer. */
  copy(to, toOffset, from, fromOffset, bytes) {
    if (bytes <= 0) return;
    const source = this.model.buffers[from], target = this.model.buffers[to], size = up(bytes, 4);
    if (to !== from) return this.commands().copyBufferToBuffer(source, fromOffset, target, toOffset, size);
    const between = this.model.betweenOf(size);
    this.commands().copyBufferToBuffer(source, fromOffset, between, 0, size);
    this.commands().copyBufferToBuffer(between, 0, target, toOffset, size);
  }

  /** A kernel on some workgroups, with the place of each argument in its memory, and numbers. */
  launch(index, groups, places, values) {
    if (groups.some((n) => n <= 0)) return;
    const kernel = this.model.kernels[index], [x, y, z] = groups, parts = Math.ceil(x / MOST_GROUPS);
    if (y > MOST_GROUPS || z * parts > MOST_GROUPS || (parts > 1 && !kernel.isFolded))
      throw new SvodError("device-failure", `kernel '${kernel.name}' has ${groups.join(" by ")} workgroups, more than WebGPU counts`);
    const spans = this.model.spansOf(kernel, places);
    const count = up(FIRST_ARGUMENT + places.length + 2 * values.length, 4), step = up(count, OFFSETS / 4);
    if (4 * (this.used + step) > WORD_BYTES) this.flush();
    const words = this.model.wordData.subarray(this.used, this.used + count).fill(0);
    words[1] = x, words[2] = z;
    places.forEach((place, i) => { words[FIRST_ARGUMENT + i] = place - spans[kernel.places[i]].begin; });
    values.forEach((value, i) => {
      const word = FIRST_ARGUMENT + places.length + 2 * i;
      words[word] = value, words[word + 1] = Math.floor(value / 2 ** 32);
    });
    this.encoder ??= this.device.createCommandEncoder();
    this.pass ??= this.encoder.beginComputePass();
    this.pass.setPipeline(kernel.pipeline);
    this.pass.setBindGroup(0, this.model.bindGroup(kernel, spans, 4 * count), [4 * this.used]);
    this.pass.dispatchWorkgroups(Math.min(x, MOST_GROUPS), y, z * parts);
    this.used += step;
  }

  /** Whether the first byte of a condition is not 0: what was recorded runs first. */
  async holds(memory, place) {
    const to = this.model.readback(4);
    this.commands().copyBufferToBuffer(this.model.buffers[memory], place, to, 0, 4);
    this.end();
    const bytes = await this.model.read(to, 4, this);
    this.begin();
    return bytes[0] !== 0;
  }
}

/** Where the units of an arena begin, for the sizes of a run: [begin, end, bytes] of its buffers, by end. */
function layOut(buffers) {
  const at = [0];
  for (const [begin, end, bytes] of buffers) {
    while (at.length <= end) at.push(at[at.length - 1]);
    at[end] = Math.max(at[end], at[begin] + up(bytes, ALIGNMENT));
  }
  return at;
}
