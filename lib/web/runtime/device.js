// --- A device, and kernels for it.

const COMPUTE = 4;  // the stage, as WebGPU numbers it

const noDevice = (message) => new SvodError("no-device", message,
  "Chromium, Firefox and Safari have WebGPU, for pages from https: and from localhost");

function checkLimits(limits, who) {
  const help = "compile the graph for the limits that every adapter has: svodc compile --cpu default";
  for (const [name, need] of Object.entries(plan.limits))
    if (limits[name] < need)
      throw new SvodError("cpu-features", `${plan.name} needs ${name} of ${need}, and ${who} has ${limits[name]}`, help);
}

async function openDevice(powerPreference) {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) throw noDevice("there is no WebGPU here: navigator.gpu is missing");
  const adapter = await gpu.requestAdapter({ powerPreference });
  if (!adapter) throw noDevice("WebGPU has no adapter here");
  checkLimits(adapter.limits, "the adapter");
  const requiredLimits = { ...plan.limits };
  for (const name of ["maxBufferSize", "maxStorageBufferBindingSize"]) requiredLimits[name] = adapter.limits[name];
  try {
    return await adapter.requestDevice({ label: plan.name, requiredLimits });
  } catch (error) {
    throw new SvodError("device-failure", `the adapter gives no device: ${error.message}`);
  }
}

/** The words of a launch are in binding 0, the memories of arguments in those behind it. */
async function compile(device, { name, code, memories }) {
  const entry = (binding, buffer) => ({ binding, visibility: COMPUTE, buffer });
  const entries = [entry(0, { type: "uniform", hasDynamicOffset: true }),
    ...memories.map((_, i) => entry(i + 1, { type: "storage" }))];
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ label: name, code });
  const group = device.createBindGroupLayout({ entries });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
  const problem = device.popErrorScope();
  try {
    const compute = { module, entryPoint: "main" };
    return { pipeline: await device.createComputePipelineAsync({ label: name, layout, compute }), group };
  } catch (error) {
    const { messages } = await module.getCompilationInfo();
    const why = messages.find(({ type }) => type === "error")?.message ?? (await problem)?.message ?? error.message;
    throw new SvodError("bad-plan", `cannot compile kernel '${name}': ${why}`, "report it with this message");
  }
}
