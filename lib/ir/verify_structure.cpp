// Rules that make a node meaningful at all; Graph::make, shape and bounds inference rely on them.
#include <algorithm>
#include <vector>

#include "ir/custom.h"
#include "ir/verify.h"

namespace svod {

namespace {

constexpr uint8_t kEvery = 15;

bool everyOp(Op) { return true; }

std::string countText(int count) { return std::to_string(count) + (count == 1 ? " source" : " sources"); }

std::string checkArity(const NodeView& n) {
  const OpInfo& row = info(n.op);
  int count = static_cast<int>(n.src.size());
  if (count < row.minSrc) return "needs at least " + countText(row.minSrc) + ", got " + std::to_string(count);
  if (count > row.maxSrc) return "takes at most " + countText(row.maxSrc) + ", got " + std::to_string(count);
  return {};
}

// ArgKind in the order of the alternatives of Arg.
std::string checkArgKind(const NodeView& n) {
  return n.arg.index() == static_cast<size_t>(info(n.op).arg) ? "" : "has an arg of the wrong kind";
}

std::string checkAxisList(std::span<const int32_t> axes, size_t rank) {
  std::vector<bool> seen(rank);
  for (int32_t axis : axes) {
    if (axis < 0 || static_cast<size_t>(axis) >= rank)
      return "axis " + std::to_string(axis) + " is outside rank " + std::to_string(rank);
    if (seen[axis]) return "axis " + std::to_string(axis) + " appears twice";
    seen[axis] = true;
  }
  return {};
}

std::string checkAxes(const NodeView& n) {
  size_t rank = n.src[0].rank();
  if (n.op == Op::Reduce) {
    const ReduceArg& arg = std::get<ReduceArg>(n.arg);
    if (n.src.size() > 1 && !arg.axes.empty()) return "folds either axes or ranges, not both";
    return checkAxisList(arg.axes, rank);
  }
  const AxesArg& arg = std::get<AxesArg>(n.arg);
  if (n.op == Op::Permute && arg.axes.size() != rank) return "must list all " + std::to_string(rank) + " axes";
  return checkAxisList(arg.axes, rank);
}

bool isDim(UOp u) { return u.isScalar() && isInt(u.dtype()); }

// Sources that are dims, offsets or loop bounds.
std::span<const UOp> dimSources(const NodeView& n) {
  switch (n.op) {
    case Op::Buffer:
    case Op::Param:
    case Op::Iota:
    case Op::Special: return n.src;
    case Op::Range: return n.src.first(1);
    case Op::Reshape:
    case Op::Expand:
    case Op::Shrink: return n.src.subspan(1);
    case Op::Pad: return n.src.subspan(2);
    case Op::Custom: return dimsOfCall(n.src, std::get<CustomArg>(n.arg));
    default: return {};
  }
}

std::string checkDimCount(const NodeView& n) {
  size_t rank = n.src.empty() ? 0 : n.src[0].rank();
  if (n.op == Op::Pad && n.src.size() != 2 + 2 * rank) return "needs a before and an after per axis";
  if (n.op == Op::Shrink && n.src.size() != 1 + 2 * rank) return "needs an offset and a size per axis";
  if (n.op != Op::Custom) return {};
  int32_t inputs = std::get<CustomArg>(n.arg).inputs;
  return inputs < 0 || static_cast<size_t>(inputs) > n.src.size() ? "has fewer sources than inputs" : "";
}

std::string checkDims(const NodeView& n) {
  for (UOp dim : dimSources(n))
    if (!isDim(dim)) return "dims, offsets and bounds are integer scalars, got " + std::string(toText(dim.op()));
  return {};
}

std::string checkLanes(const NodeView& n) {
  uint32_t slot = std::get<SlotArg>(n.arg).slot;
  if (n.op == Op::Ramp && (slot < 1 || !n.src[0].isScalar())) return "needs a scalar base and at least one lane";
  if (n.op == Op::Rows) {
    const bool areConst = n.src[1].isConst() && n.src[2].isConst();
    const int64_t apart = areConst ? n.src[1].constInt() : 0, columns = areConst ? n.src[2].constInt() : 0;
    const bool isWhole = columns > 0 && apart >= 0 && slot > 0 && slot % columns == 0 && n.src[0].isScalar();
    return isWhole ? "" : "needs a scalar base, a constant distance and whole rows";
  }
  if (n.op == Op::Lane && (n.src[0].rank() != 1 || static_cast<int64_t>(slot) >= n.src[0].dim(0)))
    return "selects lane " + std::to_string(slot) + " of something without it";
  return {};
}

std::string checkInterval(const NodeView& n) {
  const VarArg& v = std::get<VarArg>(n.arg);
  if (v.min > v.max) return "bounds are empty: " + std::to_string(v.min) + " > " + std::to_string(v.max);
  if (v.min <= v.likely && v.likely <= v.max) return "";
  return "the likely value " + std::to_string(v.likely) + " is outside of the bounds";
}

std::string checkValueDType(const NodeView& n) {
  const DType d = n.dtype;
  switch (n.op) {
    case Op::Const: return d == std::get<Scalar>(n.arg).dtype() && d != DType::Void ? "" : "dtype is not its value's";
    case Op::Var:
    case Op::Range:
    case Op::Special:
    case Op::Rows:
    case Op::Ramp: return isInt(d) ? "" : "must have an integer dtype";
    default: return {};
  }
}

bool isLeafOfInts(Op op) {
  return op == Op::Const || op == Op::Var || op == Op::Range || op == Op::Special || op == Op::Ramp || op == Op::Rows;
}

constexpr SpecRule kRules[] = {
    {"arity", "the number of sources fits the op table", kEvery, everyOp, checkArity},
    {"arg-kind", "the arg is of the kind the op table names", kEvery, everyOp, checkArgKind},
    {"axes", "axes exist and appear once", kEvery,
     [](Op op) { return op == Op::Permute || op == Op::Flip || op == Op::Reduce; }, checkAxes},
    {"dim-count", "one dim (or pair) per axis", kEvery,
     [](Op op) { return op == Op::Pad || op == Op::Shrink || op == Op::Custom; }, checkDimCount},
    {"dims", "dims, offsets and bounds are integer scalars", kEvery, everyOp, checkDims},
    {"lanes", "lane numbers exist", kEvery, [](Op op) { return op == Op::Ramp || op == Op::Rows || op == Op::Lane; },
     checkLanes},
    {"var-bounds", "a variable has at least one value", kEvery, [](Op op) { return op == Op::Var; }, checkInterval},
    {"leaf-dtype", "constants have their value's dtype, counters are integers", kEvery, isLeafOfInts, checkValueDType},
};

}  // namespace

std::span<const SpecRule> structuralRules() { return kRules; }

std::string checkStructure(const NodeView& node) {
  for (const SpecRule& rule : kRules)
    if (rule.covers(node.op))
      if (std::string wrong = rule.check(node); !wrong.empty()) return wrong;
  return {};
}

}  // namespace svod
