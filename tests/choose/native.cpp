#include "choose/native.h"

#include <catch2/catch.hpp>

#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/legalize.h"
#include "opts/replay.h"
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

LinearKernel linearOf(Graph& g, UOp sink, std::span<const OptOp> opts, const Caps& caps) {
  UOp root = valueOf(applyOpts(g, sink, opts, caps));
  root = mergeLoops(g, valueOf(expand(g, root)));
  root = simplify(g, root);
  LegalizeOptions options;
  options.numerics = caps.numerics, options.fma = nativeCpu().hasFma(), options.nativeBf16 = caps.bf16Dots;
  root = legalize(g, root, options);
  return valueOf(linearize(g, root, "kernel", caps.numerics));
}

NativeKernel::NativeKernel(std::unique_ptr<SharedLibrary> loaded, const LinearKernel& linear)
    : library(std::move(loaded)) {
  function = library->function<KernelFunction>("kernel");
  REQUIRE(function);
  if (linear.threadRange) tiles = linear.threadRange.src(0).constInt();
  scratch.resize(static_cast<size_t>(linear.scratchBytes) + 64);
}

NativeKernel compileNative(Graph& g, UOp sink, std::span<const OptOp> opts, const Caps& caps) {
  const LinearKernel linear = linearOf(g, sink, opts, caps);
  return {loadKernels(std::span(&linear, 1), nativeCpu()), linear};
}

}  // namespace svod
