// --- A graph with its weights and states on a device. Runs take turns, so calls may overlap.

const MAP_READ = 1, COPY_SRC = 4, COPY_DST = 8, UNIFORM = 64, STORAGE = 128;  // as WebGPU numbers them
const LESS = "compile for smaller sizes: svodc compile --var NAME=MIN:MAX";
const KEPT = 4;  // buffers that wait to be read into

class Model {
  constructor(device, isOwn) {
    this.device = device;
    this.isOwn = isOwn;
    this.buffers = plan.memories.map(() => null);
    this.wordData = new Uint32Array(WORD_BYTES / 4);
    this.readbacks = [];
    this.turn = Promise.resolve();
    device.lost.then((info) => { this.lost = info; });
  }

  async prepare(options) {
    const recorder = new Recorder(this);
    try {
      this.words = this.device.createBuffer({ size: WORD_BYTES, usage: UNIFORM | COPY_DST });
      plan.memories.forEach(({ bytes }, id) => { if (bytes !== undefined) this.grow(id, bytes); });
    } finally {
      recorder.end();
    }
    await recorder.check();
    const compiled = Promise.all(kernels.map((kernel) => compile(this.device, kernel)));
    const read = plan.weights.bytes > 0 ? readWeights(options, (offset, bytes) => this.writeWeights(offset, bytes)) : null;
    const [made] = await Promise.all([compiled, read]);
    this.kernels = made.map((one, i) => ({ ...kernels[i], ...one, groups: new Map() }));
    await this.reset();
  }

  writeWeights(offset, bytes) {
    for (const [memory, begin, end] of plan.weights.parts) {
      const first = Math.max(offset, begin), last = Math.min(offset + bytes.length, up(end, 4));
      if (first < last)
        this.device.queue.writeBuffer(this.buffers[memory], first - begin, bytes, first - offset, last - first);
    }
  }

  // --- memory

  /** Gives a memory at least so many bytes; where it had fewer, what it held is gone. */
  grow(id, bytes, most = bytes) {
    const old = this.buffers[id], size = up(Math.max(bytes, OFFSETS), 4), limit = this.device.limits.maxBufferSize;
    if (old && old.size >= size) return;
    if (size > limit)
      throw new SvodError("device-busy", `${plan.name} needs ${size} bytes at once, and the device gives at most ${limit}`, LESS);
    old?.destroy();
    const roomy = up(Math.min(Math.max(size, Math.min(1.5 * size, most)), limit), 4);  // so that few runs grow it
    this.buffers[id] = this.device.createBuffer({ label: plan.memories[id].name, size: roomy, usage: STORAGE | COPY_SRC | COPY_DST });
    for (const kernel of this.kernels ?? []) kernel.groups.clear();
  }

  betweenOf(bytes) {
    if (!this.between || this.between.size < bytes)
      this.between = this.device.createBuffer({ size: bytes, usage: COPY_SRC | COPY_DST });
    return this.between;
  }

  /** The parts of memories that bindings have: all of one, or what arguments touch where the device binds less. */
  spansOf(kernel, places) {
    const limit = this.device.limits.maxStorageBufferBindingSize;
    return kernel.memories.map((memory, binding) => {
      const { size } = this.buffers[memory];
      if (size <= limit) return { begin: 0, end: size };
      const own = places.map((place, i) => [place, Math.min(size, place + kernel.bytes[i])]).filter((_, i) => kernel.places[i] === binding);
      const begin = Math.floor(Math.min(...own.map(([first]) => first)) / OFFSETS) * OFFSETS;
      const end = up(Math.max(...own.map(([, last]) => last)), 4);
      if (end - begin <= limit) return { begin, end };
      throw new SvodError("device-failure",
        `kernel '${kernel.name}' touches ${end - begin} bytes of one buffer, and the device binds ${limit}`, LESS);
    });
  }

  bindGroup(kernel, spans, wordBytes) {
    const key = spans.map(({ begin, end }) => `${begin}-${end}`).join();
    if (kernel.groups.has(key)) return kernel.groups.get(key);
    const entries = spans.map(({ begin, end }, i) =>
      ({ binding: i + 1, resource: { buffer: this.buffers[kernel.memories[i]], offset: begin, size: end - begin } }));
    entries.push({ binding: 0, resource: { buffer: this.words, size: wordBytes } });
    const group = this.device.createBindGroup({ layout: kernel.group, entries });
    if (kernel.groups.size > 64) kernel.groups.clear();
    kernel.groups.set(key, group);
    return group;
  }

  /** A buffer to read back from, one of those that wait where it is large enough. */
  readback(bytes) {
    const size = up(Math.max(bytes, OFFSETS), OFFSETS), found = this.readbacks.findIndex((buffer) => buffer.size >= size);
    return found >= 0 ? this.readbacks.splice(found, 1)[0] : this.device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  }

  /** Its bytes, once the device has come so far. */
  async read(buffer, bytes, recorder) {
    const mapped = buffer.mapAsync(1, 0, up(bytes, 4)).then(() => null, (error) => error);
    try {
      await recorder.check();
      const problem = await mapped;
      if (problem) throw await this.failure(problem);
    } catch (error) {
      buffer.destroy();
      throw error;
    }
    const copy = new Uint8Array(buffer.getMappedRange(0, up(bytes, 4)).slice(0));
    buffer.unmap();
    if (this.readbacks.length < KEPT && !this.isDestroyed) this.readbacks.push(buffer);
    else buffer.destroy();
    return copy;
  }

  // --- turns

  /** What an error of WebGPU means. */
  async failure(error) {
    if (!this.isDestroyed) await Promise.race([this.device.lost, new Promise((done) => setTimeout(done, 100))]);
    if (this.isDestroyed) return new SvodError("device-failure", `${plan.name} was destroyed`);
    if (this.lost)
      return new SvodError("device-failure", `the device is lost: ${this.lost.message || this.lost.reason}`, "load() gives a new model");
    return error;
  }

  /** Records what is to be done when it is its turn, and gives it to the device. */
  inTurn(record) {
    const done = this.turn.then(async () => {
      if (this.isDestroyed || this.lost) throw await this.failure();
      const recorder = new Recorder(this);
      try {
        let result = record(recorder);
        if (result instanceof Promise) result = await result;  // else nobody else comes between
        recorder.end();
        return { recorder, result };
      } catch (error) {
        recorder.abandon();
        throw error;
      }
    });
    this.turn = done.catch(() => {});
    return done;
  }

  async wait(recorder) {
    await recorder.check();
    await this.device.queue.onSubmittedWorkDone();
    if (this.isDestroyed || this.lost) throw await this.failure();
  }

  // --- what callers have

  async run(inputs = {}, sizes = {}) {
    const given = bind(inputs, sizes), shapes = plan.outputs.map(({ shape }) => sizesOf(shape, given.values));
    const outputs = row(plan.outputs.map(({ dtype }, i) => bytesOf(dtype, shapes[i])));
    const { recorder, result: back } = await this.inTurn((to) => this.record(to, given, outputs));
    const bytes = back.bytes > 0 ? await this.read(back.buffer, back.bytes, recorder) : new Uint8Array(0);
    if (back.bytes === 0) await this.wait(recorder);
    for (const expectation of back.expectations) checkExpectation(expectation, bytes);
    return Object.fromEntries(plan.outputs.map(({ name, dtype }, i) =>
      [name, { data: elements(dtype, bytes, outputs.places[i], shapes[i]), shape: shapes[i] }]));
  }

  record(recorder, { values, bytes, places }, outputs) {
    this.grow(INPUTS, bytes.length);
    this.grow(OUTPUTS, outputs.end);
    recorder.arenas = plan.arenas.map(({ memory, most, units }) => {
      const at = layOut(units(values));
      this.grow(memory, at[at.length - 1], most);
      return at;
    });
    recorder.inputs = places;
    recorder.outputs = outputs.places;
    if (bytes.length > 0) this.device.queue.writeBuffer(this.buffers[INPUTS], 0, bytes);
    const waits = steps(recorder, values);
    return waits ? waits.then(() => this.recordResults(recorder, outputs)) : this.recordResults(recorder, outputs);
  }

  /** Outputs, and behind them what is expected of values. */
  recordResults(recorder, outputs) {
    const { places, end } = row(plan.expectations.map(({ count }) => 16 * count)), bytes = outputs.end + end;
    const expectations = plan.expectations.map((one, i) => ({ ...one, at: outputs.end + places[i] }));
    if (bytes === 0) return { bytes, expectations };
    const buffer = this.readback(bytes), copy = (from, place, at, size) => {
      if (size > 0) recorder.commands().copyBufferToBuffer(this.buffers[from], place, buffer, at, size);
    };
    copy(OUTPUTS, 0, 0, outputs.end);
    for (const { memory, place, count, at } of expectations) copy(memory, place(recorder.arenas), at, 16 * count);
    return { bytes, buffer, expectations };
  }

  async reset() {
    const { recorder } = await this.inTurn((to) => {
      for (const { memory, place, bytes, init } of plan.states) {
        if (bytes > 0 && init) to.copy(memory, place, init[0], init[1], bytes);
        if (bytes > 0 && !init) to.commands().clearBuffer(this.buffers[memory], place, up(bytes, 4));
      }
    });
    await this.wait(recorder);
  }

  async readState(name) {
    const { dtype, shape, memory, place, bytes } = stateOf(name);
    const { recorder, result: buffer } = await this.inTurn((to) => {
      const buffer = this.readback(bytes);
      if (bytes > 0) to.commands().copyBufferToBuffer(this.buffers[memory], place, buffer, 0, up(bytes, 4));
      return buffer;
    });
    return { data: elements(dtype, await this.read(buffer, Math.max(bytes, 4), recorder), 0, shape), shape: [...shape] };
  }

  async writeState(name, value) {
    const state = stateOf(name), tensor = tensorOf(state, value, "state"), bytes = new Uint8Array(up(state.bytes, 4));
    checkTensor(tensor, []);
    bytes.set(bytesIn(tensor.data));
    const { recorder } = await this.inTurn(() => {
      if (bytes.length > 0) this.device.queue.writeBuffer(this.buffers[state.memory], state.place, bytes);
    });
    await this.wait(recorder);
  }

  destroy() {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    for (const buffer of [...this.buffers, ...this.readbacks, this.words, this.between]) buffer?.destroy();
    if (this.isOwn) this.device.destroy();
  }
}

function stateOf(name) {
  const state = plan.states.find((one) => one.name === name);
  if (!state) throw new SvodError("bind-mismatch", `there is no state '${name}'`, `there is ${namesText(plan.states)}`);
  return state;
}

function checkExpectation({ at, count, code, says, text, help }, bytes) {
  const rows = new BigInt64Array(bytes.buffer, at, 2 * count), have = rows.subarray(0, count), must = rows.subarray(count);
  if (have.every((value, i) => value === must[i])) return;
  throw new SvodError(code, says === "Both" ? `${text}: this run gives ${have}, and the plan is for ${must}` : text, help);
}

/** Compiles the kernels and puts the weights on a device. */
export async function load(options = {}) {
  if (options.device) checkLimits(options.device.limits, "the device");
  const device = options.device ?? (await openDevice(options.powerPreference)), model = new Model(device, !options.device);
  try {
    await model.prepare(options);
  } catch (error) {
    const told = error instanceof SvodError || options.signal?.aborted ? error : await model.failure(error);
    model.destroy();
    throw told;
  }
  return model;
}
