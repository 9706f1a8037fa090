// The parts of a Custom node: inputs, dims of the result, and contents of storage that it comes after.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Contents that a call waits for and that its function does not see: they keep calls apart and in order. They are the
/// sources at the end that read storage, which no dim does.
inline std::span<const UOp> contentsBeforeCall(std::span<const UOp> src, const CustomArg& arg) {
  const auto isContent = [](UOp n) { return n.op() == Op::After || n.op() == Op::Buffer; };
  const size_t most = src.size() - std::min(src.size(), static_cast<size_t>(std::max(arg.inputs, 0)));
  size_t count = 0;
  while (count < most && isContent(src[src.size() - 1 - count])) ++count;
  return src.last(count);
}

inline std::span<const UOp> dimsOfCall(std::span<const UOp> src, const CustomArg& arg) {
  const size_t inputs = static_cast<size_t>(arg.inputs);
  return src.subspan(inputs, src.size() - inputs - contentsBeforeCall(src, arg).size());
}

}  // namespace svod
