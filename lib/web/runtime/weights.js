// --- Weights.

const BLOCK = 1 << 20;  // bytes that the device is given at once

function weightsHere() {
  if (plan.weights.base64) return Uint8Array.from(atob(plan.weights.base64), (c) => c.charCodeAt(0));
  const url = new URL(plan.weights.file, import.meta.url);
  if (url.protocol.startsWith("http")) url.search = plan.weights.digest;  // no cache gives those of another build
  return url;
}

async function fetchWeights(source, signal) {
  const fail = (why) => { throw new SvodError("io", `cannot read the weights of ${plan.name}: ${why}`); };
  const response = source instanceof Response ? source : await fetch(source, { signal }).catch((error) => {
    signal?.throwIfAborted();
    fail(`${error.message} (${source.url ?? source})`);
  });
  return response.ok ? response : fail(`${response.status} ${response.statusText} (${response.url})`);
}

/** Their bytes, in pieces, from where they are. */
async function* weightPieces(source, signal) {
  if (source instanceof ArrayBuffer) return yield new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return yield bytesIn(source);
  const reader = (await fetchWeights(source, signal)).body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

/** Hands the weights to the device as they come, in blocks: write(offset, bytes). */
async function readWeights({ weights = weightsHere(), progress, signal }, write) {
  const total = plan.weights.bytes, block = new Uint8Array(Math.min(BLOCK, up(total, 4)));
  const wrong = (count) => new SvodError("plan-checksum", `the weights of ${plan.name} are ${total} bytes, not ${count}`);
  let done = 0, filled = 0;
  progress?.(0, total);
  for await (const piece of weightPieces(weights, signal)) {
    if (done + filled + piece.length > total) throw wrong("more");
    for (let at = 0; at < piece.length;) {
      const count = Math.min(block.length - filled, piece.length - at);
      block.set(piece.subarray(at, at + count), filled);
      at += count, filled += count;
      if (filled === block.length) write(done, block), done += filled, filled = 0;
    }
    progress?.(done + filled, total);
  }
  if (done + filled !== total) throw wrong(done + filled);
  if (filled > 0) write(done, block.fill(0, filled).subarray(0, up(filled, 4)));
}
