#include "target/emulated/thread_text.h"

#include "ir/text.h"
#include "linearize/linearize.h"
#include "target/emittable.h"

namespace svod {

Result<std::string> threadText(Graph& graph, const LinearKernel& kernel) {
  SVOD_CHECK(checkEmittable(kernel, false, true));
  // Sources come before users in the list already, so the text has its order.
  return toUopText(graph.make(Op::Sink, DType::Void, kernel.ops));
}

Result<LinearKernel> readThread(Graph& graph, std::string_view text, std::string_view name) {
  SVOD_TRY(const UOp sink, parseUop(graph, text));
  return listedKernel({sink.src().begin(), sink.src().end()}, std::string(name), Numerics::Contract);
}

}  // namespace svod
