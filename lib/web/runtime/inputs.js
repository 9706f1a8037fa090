// --- What a run is given.
// Every module of `svodc compile --emit web` has the files of lib/web/runtime. In front of them stand `plan`, the tables
// of a graph, and `steps`, what a run of it does; behind them `kernels`, in WGSL.

const ALIGNMENT = 64;  // of what lies in one memory

// The arrays that hold elements, and the bits of one; floats that JavaScript does not have are given as their bits.
const ELEMENTS = {
  bool: ["Uint8Array", 8], i2: ["Uint8Array", 2], i4: ["Uint8Array", 4], i8: ["Int8Array", 8], i16: ["Int16Array", 16],
  i32: ["Int32Array", 32], i64: ["BigInt64Array", 64], u2: ["Uint8Array", 2], u4: ["Uint8Array", 4],
  u8: ["Uint8Array", 8], u16: ["Uint16Array", 16], u32: ["Uint32Array", 32], u64: ["BigUint64Array", 64],
  f16: ["Uint16Array", 16], bf16: ["Uint16Array", 16], f32: ["Float32Array", 32], f64: ["Float64Array", 64],
  f4e2m1: ["Uint8Array", 4], f8e4m3: ["Uint8Array", 8], f8e4m3fnuz: ["Uint8Array", 8], f8e5m2: ["Uint8Array", 8],
  f8e5m2fnuz: ["Uint8Array", 8], f8e8m0: ["Uint8Array", 8],
};

const up = (bytes, step) => Math.ceil(bytes / step) * step;
const mod = (a, b) => a - b * Math.floor(a / b);
const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
const bytesOf = (dtype, shape) => Math.ceil((product(shape) * ELEMENTS[dtype][1]) / 8);
const bytesIn = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const elements = (dtype, bytes, begin, shape) =>
  new globalThis[ELEMENTS[dtype][0]](bytes.buffer.slice(begin, begin + bytesOf(dtype, shape)));

/** An error of a model. `code` is one of those that svod has. */
export class SvodError extends Error {
  constructor(code, message, help = "") {
    super(help ? `${message}; ${help}` : message);
    this.name = "SvodError";
    this.code = code;
    this.help = help;
  }
}

const typeText = (port) => `${port.dtype}[${port.shape.map((dim) => dim.text ?? dim).join(", ")}]`;
const sizesOf = (shape, values) => shape.map((dim) => (typeof dim === "number" ? dim : Number(dim.of(values))));
const namesText = (rows) => rows.map(({ name }) => `'${name}'`).join(", ") || "none";
const mismatch = (message) => new SvodError("input-mismatch", message);

function checkNames(given, rows, what) {
  for (const name of Object.keys(given))
    if (!rows.some((row) => row.name === name))
      throw new SvodError("bind-mismatch", `there is no ${what} '${name}'`, `there is ${namesText(rows)}`);
}

/** The elements that were given for an input or a state, and their shape where that was given, too. */
function tensorOf(port, given, what) {
  const [array] = ELEMENTS[port.dtype], expected = `${what} '${port.name}' is ${typeText(port)}`;
  if (given === undefined || given === null)
    throw new SvodError("missing-input", `${expected}, and nothing is given for it`);
  const isArray = ArrayBuffer.isView(given), data = isArray ? given : given.data, shape = isArray ? null : given.shape;
  const kind = ArrayBuffer.isView(data) ? data[Symbol.toStringTag] ?? "DataView" : Array.isArray(given) ? "Array" : typeof data;
  if (kind !== array && !(kind === "Float16Array" && port.dtype === "f16"))
    throw mismatch(`${expected}: give a ${array}, or { data, shape } with one, and not ${kind}`);
  if (!shape) return { port, data, shape: null, what };
  if (!Array.isArray(shape) || shape.length !== port.shape.length || !shape.every((n) => Number.isInteger(n) && n >= 0))
    throw mismatch(`${expected}, and is given the shape [${shape}]`);
  if (bytesOf(port.dtype, shape) !== data.byteLength)
    throw mismatch(`${expected}: the shape [${shape}] has ${product(shape)} elements, and ${data.length} are given`);
  return { port, data, shape, what };
}

/** What a shape, or the number of elements where one dim is open, says of the dims of an input. */
function dimsOf({ port, data, shape }, values) {
  if (shape) return shape;
  const dims = sizesOf(port.shape, values), known = dims.filter((dim) => !Number.isNaN(dim)), others = product(known);
  if (known.length !== dims.length - 1 || ELEMENTS[port.dtype][1] < 8 || others === 0) return dims;
  if (data.length % others !== 0)
    throw mismatch(`input '${port.name}' is ${typeText(port)}, a multiple of ${others} elements, and is given ${data.length}`);
  return dims.map((dim) => (Number.isNaN(dim) ? data.length / others : dim));
}

/** Gives a size the value that makes a dim what it is, where the dim is a line in it and other sizes are known. */
function solve(dim, length, values, port) {
  const unknown = (dim.uses ?? []).filter((id) => values[id] === undefined);
  if (unknown.length !== 1 || !dim.lines.includes(unknown[0]) || Number.isNaN(length)) return false;
  const at = (value) => dim.of(values.map((other, id) => (id === unknown[0] ? value : other)));
  const times = at(1) - at(0), value = (length - at(0)) / times;
  if (times === 0) return false;
  if (!Number.isInteger(value)) throw mismatch(`input '${port.name}' is ${typeText(port)}, and ${dim.text} cannot be ${length}`);
  values[unknown[0]] = value;
  return true;
}

function checkSize({ name, min, max }, value) {
  if (value === undefined)
    throw new SvodError("missing-input", `size '${name}' has no value`,
      `give { ${name}: NUMBER } behind the inputs, or { data, shape } for an input whose shape has it`);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new SvodError("variable-bounds", `size '${name}' is ${value}, and must be an integer from ${min} to ${max}`);
}

function checkTensor({ port, data, shape, what }, values) {
  const dims = sizesOf(port.shape, values);
  if (shape ? dims.every((dim, axis) => dim === shape[axis]) : bytesOf(port.dtype, dims) === data.byteLength) return;
  const given = shape ? `the shape [${shape.join(", ")}]` : `${data.length} elements`;
  throw mismatch(`${what} '${port.name}' is ${typeText(port)}, here [${dims.join(", ")}], and is given ${given}`);
}

/** The sizes of a run, and its inputs as the bytes of one memory. */
function bind(inputs, sizes) {
  checkNames(inputs, plan.inputs, "input");
  checkNames(sizes, plan.variables, "size");
  const values = plan.variables.map(({ name, min, max }) => sizes[name] ?? (min === max ? min : undefined));
  const tensors = plan.inputs.map((port) => tensorOf(port, inputs[port.name], "input"));
  const solveAny = () => tensors.some((tensor) => {
    const dims = dimsOf(tensor, values);
    return tensor.port.shape.some((dim, axis) => solve(dim, dims[axis], values, tensor.port));
  });
  while (solveAny());
  plan.variables.forEach((variable, id) => checkSize(variable, values[id]));
  for (const tensor of tensors) checkTensor(tensor, values);
  for (const { a, b, text } of plan.equalSizes)
    if (a(values) !== b(values)) throw mismatch(`${text}: ${a(values)} and ${b(values)}`);
  const { places, end } = row(tensors.map(({ data }) => data.byteLength)), bytes = new Uint8Array(end);
  tensors.forEach(({ data }, i) => bytes.set(bytesIn(data), places[i]));
  return { values, bytes, places };
}

/** Where each of some pieces begins that lie one behind the other, and where they end. */
function row(sizes) {
  let end = 0;
  const places = sizes.map((bytes) => { const begin = end; end = up(end + bytes, ALIGNMENT); return begin; });
  return { places, end };
}
