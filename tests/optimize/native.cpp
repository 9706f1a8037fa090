#include "optimize/native.h"

#include <catch2/catch.hpp>

#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/legalize.h"
#include "optimize/replay.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

template <class T>
T valueOf(Result<T> result) {
  if (!result) FAIL(toText(result.error()));
  return std::move(*result);
}

}  // namespace

void NativeKernel::run(std::vector<void*> buffers) {
  auto scratchStart = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
  function(buffers.data(), nullptr, 0, tiles, reinterpret_cast<void*>(scratchStart));
}

NativeKernel compileNative(Graph& g, UOp sink, std::span<const OptOp> opts, const Caps& caps) {
  UOp root = valueOf(applyOpts(g, sink, opts, caps));
  root = mergeLoops(g, valueOf(expand(g, root)));
  root = simplify(g, root);
  LegalizeOptions options;
  options.numerics = caps.numerics, options.fma = nativeCpu().hasFma();
  root = legalize(g, root, options);
  LinearKernel linear = valueOf(linearize(g, root, "kernel", caps.numerics));
  NativeKernel kernel;
  kernel.library = loadKernels(std::span(&linear, 1), nativeCpu());
  kernel.function = kernel.library->function<KernelFunction>("kernel");
  REQUIRE(kernel.function);
  if (linear.threadRange) kernel.tiles = linear.threadRange.src(0).constInt();
  kernel.scratch.resize(static_cast<size_t>(linear.scratchBytes) + 64);
  return kernel;
}

}  // namespace svod
