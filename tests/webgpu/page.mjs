// What the tests call in a page: models by the address of their module, tensors as base64.
const models = {};

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
function textOf(data) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 1 << 15) text += String.fromCharCode(...bytes.subarray(at, at + (1 << 15)));
  return btoa(text);
}

/** { array, shape, base64 } as what a model takes. */
function tensor({ array, shape, base64 }) {
  const data = new globalThis[array](bytesOf(base64).buffer);
  return shape ? { data, shape } : data;
}
const all = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
const sent = ({ data, shape }) => ({ shape, base64: textOf(data), array: data[Symbol.toStringTag] });

globalThis.load = async (name, options = {}) => {
  const module = await import(`/${name}/${name.split("/").pop()}.js`);
  models[name]?.destroy();
  models[name] = await module.load(options);
};
globalThis.model = (name) => models[name];
globalThis.tensor = tensor;
globalThis.run = async (name, inputs, sizes) => all(await models[name].run(all(inputs, tensor), sizes), sent);
/** Runs one after the other that are all asked for at once. */
globalThis.runAll = async (name, list) =>
  (await Promise.all(list.map(([inputs, sizes]) => models[name].run(all(inputs, tensor), sizes)))).map((one) => all(one, sent));
globalThis.state = async (name, state) => sent(await models[name].readState(state));
/** What an error says of itself. */
globalThis.failure = async (action) => {
  try {
    await action();
    return null;
  } catch (error) {
    return { name: error.name, code: error.code ?? "", message: error.message };
  }
};
document.body.dataset.ready = "yes";
