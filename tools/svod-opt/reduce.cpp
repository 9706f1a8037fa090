#include "reduce.h"

#include <map>
#include <memory>
#include <optional>

#include "ir/verify.h"

namespace svod {

namespace {

/// One way to make the graph smaller: `node` becomes `by`, or, for a Sink or Group, loses one operand.
struct Cut {
  UOp node, by;
  int without = -1;
};

bool isScalarValue(UOp node) {
  return node.dtype() != DType::Void && node.shape().empty() && node.lanes() == 1 && !node.isConst();
}

bool mayStandFor(UOp operand, UOp node) {
  return operand.dtype() == node.dtype() && operand.lanes() == node.lanes() &&
         std::ranges::equal(operand.shape(), node.shape());
}

/// The smaller graphs to try first come first: whole results, then values near the root.
std::vector<Cut> cutsOf(Graph& g, UOp root) {
  std::vector<Cut> cuts;
  std::vector<UOp> nodes = toposort(root);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const Op op = node->op();
    if ((op == Op::Sink || op == Op::Group) && node->srcCount() > 1)
      for (int i = 0; i < static_cast<int>(node->srcCount()); ++i) cuts.push_back({*node, {}, i});
    if (op == Op::Range && node->src(0).isConst() && node->src(0).constInt() > 1) {
      const AxisArg arg = node->argAs<AxisArg>();
      for (int64_t extent : {int64_t{1}, node->src(0).constInt() / 2})
        cuts.push_back({*node, g.range(g.index(extent), arg.id, arg.type)});
    }
    if (!isScalarValue(*node) || op == Op::Range || op == Op::Param || op == Op::Buffer || op == Op::Index) continue;
    for (int value : {0, 1})
      cuts.push_back(
          {*node, node->dtype() == DType::Index ? g.index(value) : g.constant(Scalar::of(node->dtype(), value))});
    for (UOp operand : node->src())
      if (mayStandFor(operand, *node)) cuts.push_back({*node, operand});
  }
  return cuts;
}

/// What every cut makes less of: nodes that are no constants, then iterations.
std::pair<size_t, int64_t> sizeOf(UOp root) {
  std::pair<size_t, int64_t> size;
  for (UOp node : toposort(root)) {
    size.first += !node.isConst();
    if (node.op() == Op::Range) size.second += node.src(0).bounds().max;
  }
  return size;
}

UOp apply(Graph& g, UOp root, const Cut& cut) {
  std::map<uint32_t, UOp> made;
  for (UOp node : toposort(root)) {
    std::vector<UOp> src;
    for (size_t i = 0; i < node.srcCount(); ++i)
      if (node != cut.node || static_cast<int>(i) != cut.without) src.push_back(made.at(node.src(i).id()));
    if (node == cut.node && cut.by) {
      made[node.id()] = cut.by;
    } else if (const Arg arg = node.arg(); checkStructure({node.op(), node.dtype(), src, arg}).empty()) {
      made[node.id()] = g.make(node.op(), node.dtype(), src, arg);
    } else {
      return {};
    }
  }
  return made.at(root.id());
}

}  // namespace

UOp reduceUop(Graph& result, UOp root, const StillFails& stillFails) {
  auto graph = std::make_unique<Graph>();
  UOp smallest = graph->clone(root);
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const Cut& cut : cutsOf(*graph, smallest)) {
      UOp candidate = apply(*graph, smallest, cut);
      if (!candidate || sizeOf(candidate) >= sizeOf(smallest)) continue;
      auto trial = std::make_unique<Graph>();
      UOp copy = trial->clone(candidate);
      Graph scratch;
      if (!stillFails(scratch, scratch.clone(copy))) continue;
      graph = std::move(trial), smallest = copy, isSmaller = true;
      break;
    }
  }
  return result.clone(smallest);
}

}  // namespace svod
