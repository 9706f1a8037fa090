// Nodes that no call of the log made, as calls.
#include <algorithm>

#include "frontend/writer/definitions.h"
#include "frontend/writer/expressions.h"
#include "ir/c_function.h"
#include "ir/custom.h"

namespace svod {

namespace {

using Read = BuildLog::Operand;

Dims dimsOf(Graph& g, std::span<const UOp> nodes) {
  Dims dims;
  for (UOp n : nodes) dims.add(Dim(g, n));
  return dims;
}

AttributeValue listOf(std::span<const int32_t> axes) {
  AttributeValue::List list;
  for (int32_t axis : axes) list.emplace_back(int64_t{axis});
  return list;
}

std::string reduceName(Op op) {
  return op == Op::Add ? "sum" : op == Op::Mul ? "prod" : op == Op::Max ? "reduce_max" : "reduce_min";
}

std::string modeName(Op op) { return op == Op::Store ? "set" : std::string(toText(op)); }

std::vector<Definition> reduceWays(UOp node, UOp reduced) {
  const ReduceArg& arg = reduced.argAs<ReduceArg>();
  Attributes axes;
  if (arg.axes.size() < reduced.src(0).rank()) axes.emplace_back("axes", listOf(arg.axes));
  if (node != reduced) axes.emplace_back("keepdims", true);
  Attributes fold = axes;
  fold.emplace_back("with", std::string(toText(arg.op)));
  std::vector<Read> x{{reduced.src(0)}};
  return {{reduceName(arg.op), x, axes, {}}, {"fold", x, fold, {}}};
}

// A number stretched to a shape.
void addFull(std::vector<Definition>& ways, UOp scalar, const Dims& shape) {
  Attributes attributes{{"shape", shape}};
  if (scalar.isConst()) {
    ways.push_back({"full", {{scalar, true}}, attributes, {}});
    attributes.emplace_back("dtype", scalar.dtype());
    ways.push_back({"full", {{scalar, true}}, attributes, {}});
    attributes.pop_back();
  }
  ways.push_back({"full", {{scalar}}, attributes, {}});
}

}  // namespace

// What an elementwise op stretches to the common shape by itself.
std::vector<Read> Definitions::unstretched(UOp operand) {
  std::vector<Read> ways;
  bool isNamed = b_.model().labels.contains(operand.id());
  UOp inner = operand;
  if (!isNamed && inner.op() == Op::Expand) inner = inner.src(0);
  bool isLifted = inner.op() == Op::Reshape && inner.src(0).rank() < inner.rank();
  if (!isNamed && isLifted && !b_.model().labels.contains(inner.id())) {
    if (inner.src(0).isConst()) ways.push_back({inner.src(0), true});
    ways.push_back({inner.src(0)});
  }
  if (inner != operand) ways.push_back({inner});
  if (operand.isConst()) ways.push_back({operand, true});
  ways.push_back({operand});
  return ways;
}

std::vector<Definition> Definitions::elementwiseWays(UOp node) {
  std::vector<std::vector<Read>> choices;
  size_t count = 1;
  for (UOp s : node.src()) {
    choices.push_back(unstretched(s));
    count *= choices.back().size();
  }
  std::vector<Definition> all;
  for (size_t i = 0; i < count; ++i) {
    Definition d{std::string(toText(node.op())), {}, {}, {}};
    size_t rest = i;
    for (const std::vector<Read>& c : choices) {
      d.operands.push_back(c[rest % c.size()]);
      rest /= c.size();
    }
    all.push_back(std::move(d));
  }
  return all;
}

std::vector<Definition> Definitions::movementWays(UOp node) {
  Graph& g = b_.graph();
  UOp x = node.src(0);
  size_t rank = x.rank();
  auto dims = [&](size_t first, size_t count) { return dimsOf(g, node.src().subspan(first, count)); };
  std::vector<Definition> all;
  switch (node.op()) {
    case Op::Reshape:
      if (x.op() == Op::Reduce && node.rank() == x.src(0).rank()) all = reduceWays(node, x);
      if (rank == 0) addFull(all, x, dims(1, node.rank()));
      all.push_back({"reshape", {{x}}, {{"shape", dims(1, node.rank())}}, {}});
      return all;
    case Op::Expand:
      if (x.op() == Op::Reshape && x.src(0).rank() == 0) addFull(all, x.src(0), dims(1, node.rank()));
      if (x.op() == Op::Reshape && x.src(0).rank() < rank)
        all.push_back({"expand", {{x.src(0)}}, {{"shape", dims(1, node.rank())}}, {}});
      all.push_back({"expand", {{x}}, {{"shape", dims(1, node.rank())}}, {}});
      return all;
    case Op::Permute: return {{"permute", {{x}}, {{"order", listOf(node.argAs<AxesArg>().axes)}}, {}}};
    case Op::Pad: {
      Attributes amounts{{"before", dims(2, rank)}, {"after", dims(2 + rank, rank)}};
      all.push_back({"pad", {{x}}, amounts, {}});
      all.push_back({"pad", {{x}, {node.src(1), node.src(1).isConst()}}, amounts, {}});
      all.push_back({"pad", {{x}, {node.src(1)}}, amounts, {}});
      return all;
    }
    case Op::Shrink: return {{"shrink", {{x}}, {{"offset", dims(1, rank)}, {"size", dims(1 + rank, rank)}}, {}}};
    case Op::Flip: return {{"flip", {{x}}, {{"axes", listOf(node.argAs<AxesArg>().axes)}}, {}}};
    default: return {};
  }
}

std::vector<Definition> Definitions::ways(UOp node) {
  Graph& g = b_.graph();
  std::vector<Read> operands;
  for (UOp s : node.src()) operands.push_back({s});
  if (node.op() == Op::Var || node.op() == Op::Range ||
      (node.dtype() == DType::Index && node.rank() == 0 && isWrittenSize(g, node)))
    return {{"index", {}, {{"of", Dim(g, node)}}, {}}};
  if (isMovement(node.op())) return movementWays(node);
  switch (node.op()) {
    case Op::Cast:
    case Op::Bitcast: return {{std::string(toText(node.op())), operands, {{"dtype", node.dtype()}}, {}}};
    case Op::Iota: return {{"iota", {}, {{"size", Dim(g, node.src(0))}}, {}}};
    case Op::Gather: return {{"gather_at", operands, {}, {}}};
    case Op::Scatter: {
      const auto& [op, distinct] = node.argAs<ReduceArg>();
      return {{"scatter_at", operands, {{"mode", modeName(op)}, {"distinct", !distinct.empty()}}, {}}};
    }
    case Op::Reduce: return reduceWays(node, node);
    case Op::Contiguous: return {{"contiguous", operands, {}, {}}};
    case Op::Copy: return {{"copy", operands, {{"device", std::string(node.argAs<NameArg>().name)}}, {}}};
    case Op::Stack: return {{"vector", operands, {}, {}}};
    case Op::Custom: {
      const CustomArg& arg = node.argAs<CustomArg>();
      operands.resize(static_cast<size_t>(arg.inputs));
      Dims shape = dimsOf(g, dimsOfCall(node.src(), arg));
      Attributes attributes{{"shape", shape}, {"dtype", node.dtype()}};
      const std::optional<CFunctionName> inC = cFunctionOf(arg.name);
      if (inC) attributes.insert(attributes.begin(), {"source", inC->source});
      attributes.insert(attributes.begin(), {"function", inC ? inC->function : std::string(arg.name)});
      if (contentsBeforeCall(node.src(), arg).empty()) attributes.emplace_back("pure", true);
      return {{"custom", operands, attributes, {}}};
    }
    default: return isElementwise(node.op()) ? elementwiseWays(node) : std::vector<Definition>();
  }
}

}  // namespace svod
