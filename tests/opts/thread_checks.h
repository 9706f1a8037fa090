// Kernels with opts as the threads of workgroups: what they are and what they compute.
#pragma once
#include "ir/verify.h"
#include "opts/opt_checks.h"

namespace svod {

/// Instructions of GPUs called `name`.
inline int countOf(const LinearKernel& kernel, std::string_view name) {
  int count = 0;
  for (UOp n : kernel.ops) count += n.op() == Op::Gpu && n.argAs<NameArg>().name == name;
  return count;
}

/// As threads, legal as a list of instructions.
inline LinearKernel asThreads(Graph& g, UOp changed) {
  LinearKernel kernel = threadsOf(g, changed);
  std::vector<UOp> effects;
  for (UOp n : kernel.ops)
    if (n.dtype() == DType::Void && n.ranges().empty()) effects.push_back(n);
  Status legal = verify(g.make(Op::Sink, DType::Void, effects), Stage::Linear, {.enumerate = 64});
  if (!legal) FAIL(toText(legal.error()));
  return kernel;
}

/// The kernel with these opts, as threads.
inline LinearKernel unchecked(Graph& g, UOp sink, const char* opts, const Caps& caps) {
  auto changed = applyOpts(g, sink, *parseOpts(opts), caps);
  if (!changed) FAIL(toText(changed.error()));
  return asThreads(g, *changed);
}

/// The same, which compute what the kernel did before.
inline LinearKernel checked(Graph& g, UOp sink, const char* opts, const Caps& caps) {
  UOp changed = applied(g, sink, opts, caps);
  LinearKernel kernel = asThreads(g, changed);
  INFO(opts);
  CHECK(sameBuffers(resultOf(sink), emulated(kernel, sink), 1e-4));
  return kernel;
}

}  // namespace svod
