#include "linearize/linearize.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "linearize/item_order.h"

namespace svod {

namespace {

/// End of several ranges -> nested Ends of one, the first range outermost.
UOp splitEnds(Graph& g, UOp sink) {
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    if (node.op() != Op::End || src.size() <= 2)
      return std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    UOp body = src[0];
    for (size_t i = src.size(); i-- > 1;) body = g.make(Op::End, DType::Void, {body, src[i]});
    return body;
  });
}

/// What stands in `loop`, in order, with the loops inside of it.
Status emit(const ScopeTree& tree, size_t loop, std::vector<UOp>& out) {
  SVOD_TRY(const std::vector<size_t> order, sortItems(tree, loop));
  for (size_t i : order) {
    UOp n = tree.nodes()[i];
    if (n.op() == Op::End) {
      out.push_back(n.src(1));
      SVOD_CHECK(emit(tree, tree.loopOf(n.src(1)), out));
    }
    out.push_back(n);
  }
  return {};
}

void describe(LinearKernel& kernel) {
  for (UOp n : kernel.ops) {
    if (n.op() == Op::Param) {
      uint32_t slot = n.argAs<SlotArg>().slot;
      if (kernel.params.size() <= slot) kernel.params.resize(slot + 1);
      kernel.params[slot].param = n;
    } else if (n.op() == Op::Var) {
      kernel.variables.push_back(n);
    } else if (n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Thread) {
      kernel.threadRange = n;
    } else if (n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Local) {
      kernel.scratchBytes += localBytes(n);
    }
  }
  const auto paramOf = [&](UOp address) {
    UOp base = storageOf(address);
    return base.op() == Op::Param ? &kernel.params[base.argAs<SlotArg>().slot] : nullptr;
  };
  for (UOp n : kernel.ops) {
    if (n.op() == Op::Gpu)
      for (UOp operand : operandsOf(n))
        if (operand.op() == Op::Index && paramOf(operand)) paramOf(operand)->read = true;
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    if (KernelParam* p = paramOf(n.src(0))) (n.op() == Op::Load ? p->read : p->written) = true;
  }
  std::sort(kernel.variables.begin(), kernel.variables.end(),
            [](UOp a, UOp b) { return a.argAs<VarArg>().name < b.argAs<VarArg>().name; });
}

}  // namespace

LinearKernel listedKernel(std::vector<UOp> ops, std::string name, Numerics numerics) {
  LinearKernel kernel;
  kernel.name = std::move(name);
  kernel.numerics = numerics;
  kernel.ops = std::move(ops);
  describe(kernel);
  return kernel;
}

Result<LinearKernel> linearize(Graph& graph, UOp sink, std::string name, Numerics numerics) {
  std::vector<UOp> ops;
  SVOD_TRY(const ScopeTree tree, ScopeTree::of(splitEnds(graph, sink)));
  SVOD_CHECK(emit(tree, 0, ops));
  std::erase_if(ops, [](UOp n) { return n.op() == Op::Sink; });
  return listedKernel(std::move(ops), std::move(name), numerics);
}

}  // namespace svod
