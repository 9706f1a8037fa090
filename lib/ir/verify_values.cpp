// Rules about the dtypes and shapes of one node, given that its structure is sound.
#include <algorithm>

#include "ir/verify_rules.h"

namespace svod {

using namespace detail;

namespace {

bool isAnyInt(DType d) { return isInt(d) || d == DType::Bool; }

// -- dtypes

std::string checkElementwiseDType(const NodeView& n) {
  if (n.op == Op::Cast || n.op == Op::Bitcast) return n.dtype == DType::Void ? "has no dtype" : "";
  bool comparison = has(n.op, Comparison);
  DType result = comparison ? n.src[0].dtype() : n.dtype;
  if (comparison && n.dtype != DType::Bool) return "a comparison yields bool";
  for (size_t i = n.op == Op::Where ? 1 : 0; i < n.src.size(); ++i)
    if (n.src[i].dtype() != result)
      return "source " + std::to_string(i) + " is " + dtypeOf(n.src[i]) + ", expected " + std::string(toText(result));
  return {};
}

std::string checkFamily(const NodeView& n) {
  DType d = n.src[0].dtype();
  if (d == DType::Void) return "works on values";
  if (has(n.op, FloatOnly) && !isFloat(d)) return "works on floats, got " + dtypeOf(n.src[0]);
  if (has(n.op, IntOnly) && !isAnyInt(d)) return "works on integers and bools, got " + dtypeOf(n.src[0]);
  if (n.op == Op::Threefry && d != DType::U64) return "works on u64, got " + dtypeOf(n.src[0]);
  return {};
}

// Of the values of f8e8m0 one can be chosen, but sums and products of them are no such values.
std::string checkComputed(const NodeView& n) {
  Op op = n.op == Op::Reduce || n.op == Op::Scatter ? std::get<ReduceArg>(n.arg).op : n.op;
  bool chooses = has(op, Comparison) || op == Op::Max || op == Op::Min || op == Op::Store;
  if (chooses || isComputedIn(n.src[0].dtype())) return {};
  return "computes in " + dtypeOf(n.src[0]) + "; cast it before";
}

std::string checkBitcast(const NodeView& n) {
  if (memoryBits(n.dtype) == memoryBits(n.src[0].dtype())) return {};
  return dtypeOf(n.src[0]) + " and " + std::string(toText(n.dtype)) + " differ in size";
}

std::string checkCondition(const NodeView& n) {
  return n.src[0].dtype() == DType::Bool ? "" : "the condition is " + dtypeOf(n.src[0]) + ", expected bool";
}

bool passesDTypeThrough(Op op) {
  return isMovement(op) || op == Op::After || op == Op::Prefetch || op == Op::Contiguous || op == Op::Copy ||
         op == Op::Gather || op == Op::Scatter || op == Op::Reduce || op == Op::Index || op == Op::Load ||
         op == Op::Lane || op == Op::Ramp || op == Op::Rows || op == Op::Stack || op == Op::Range || op == Op::Special;
}

std::string checkPassThrough(const NodeView& n) {
  return n.dtype == n.src[0].dtype() ? "" : "has another dtype than source 0, which is " + dtypeOf(n.src[0]);
}

bool yieldsNothing(Op op) {
  return op == Op::Sink || op == Op::Group || op == Op::End || op == Op::Store || op == Op::Barrier;
}

std::string checkVoid(const NodeView& n) { return n.dtype == DType::Void ? "" : "yields no value"; }
std::string checkValue(const NodeView& n) { return n.dtype != DType::Void ? "" : "needs a dtype"; }

std::string checkIota(const NodeView& n) { return isInt(n.dtype) ? "" : "counts in an integer dtype"; }

bool isFold(Op op) { return op == Op::Add || op == Op::Mul || op == Op::Max || op == Op::Min; }

std::string checkReduceOp(const NodeView& n) {
  Op op = std::get<ReduceArg>(n.arg).op;
  if (isFold(op) || (n.op != Op::Reduce && op == Op::Store)) return {};
  return "cannot fold with " + textOf(op);
}

// -- shapes

std::string checkElementwiseShape(const NodeView& n) { return checkEqualShapes(n.src); }

std::string checkReshape(const NodeView& n) {
  return sameNumel(n.src[0].shape(), n.src.subspan(1)) ? "" : "the element counts differ from " + toTypeText(n.src[0]);
}

std::string checkExpand(const NodeView& n) {
  std::span<const UOp> dims = n.src.subspan(1);
  if (dims.size() != n.src[0].rank()) return "keeps the rank of " + toTypeText(n.src[0]);
  for (size_t i = 0; i < dims.size(); ++i)
    if (!n.src[0].shape()[i].isConst(1) && !sameDim(n.src[0].shape()[i], dims[i]))
      return "axis " + std::to_string(i) + " of " + toTypeText(n.src[0]) + " is not 1";
  return {};
}

std::string checkPad(const NodeView& n) {
  if (n.src[1].dtype() != n.dtype || !n.src[1].isScalar()) return "the fill is a scalar of the same dtype";
  for (UOp amount : n.src.subspan(2))
    if (amount.isConst() && amount.constInt() < 0) return "pads by a negative amount";
  return {};
}

// A part may lie beyond its source, where variables and counters of unrolled loops carry it: it has no elements there.
std::string checkShrink(const NodeView& n) {
  const size_t rank = n.src[0].rank();
  for (size_t i = 0; i < rank; ++i)
    if (n.src[1 + rank + i].bounds().max < 0) return "the part is negative along axis " + std::to_string(i);
  return {};
}

// Gather(x, indices..) and Scatter(base, indices.., updates): one index per axis, all of one shape.
std::string checkIndices(const NodeView& n) {
  size_t rank = n.src[0].rank(), extra = n.op == Op::Scatter ? 1 : 0;
  if (n.src.size() != 1 + rank + extra) return "needs one index per axis of " + toTypeText(n.src[0]);
  for (UOp index : n.src.subspan(1, rank))
    if (!isInt(index.dtype())) return "indices are integers, got " + dtypeOf(index);
  if (extra == 1 && n.src.back().dtype() != n.dtype) return "updates are " + dtypeOf(n.src.back());
  return checkEqualShapes(n.src.subspan(1));
}

std::string checkStack(const NodeView& n) {
  for (UOp s : n.src)
    if (!s.isScalar() || s.dtype() != n.dtype) return "stacks scalars of one dtype, got " + toTypeText(s);
  return {};
}

bool hasDType(Op op) { return !yieldsNothing(op) && op != Op::After && op != Op::Custom && op != Op::Gpu; }
bool isArithmetic(Op op) { return isElementwise(op) && op != Op::Cast && op != Op::Bitcast && op != Op::Where; }
bool folds(Op op) { return op == Op::Reduce || op == Op::Scatter || op == Op::Fill; }
bool computes(Op op) { return isArithmetic(op) || op == Op::Reduce || op == Op::Scatter; }
bool usesIndices(Op op) { return op == Op::Gather || op == Op::Scatter; }

constexpr SpecRule kRules[] = {
    {"elementwise-dtype", "elementwise sources and result have one dtype; comparisons yield bool", kEvery,
     isElementwise, checkElementwiseDType},
    {"family", "float ops get floats, integer ops integers or bools", kEvery, isArithmetic, checkFamily},
    {"computed", "dtypes that only hold values are moved, compared, selected and cast", kEvery, computes,
     checkComputed},
    {"bitcast", "bitcast keeps the size", kEvery, isOp<Op::Bitcast>, checkBitcast},
    {"condition", "where selects by a bool", kEvery, isOp<Op::Where>, checkCondition},
    {"pass-through", "ops that only move values keep their dtype", kEvery, passesDTypeThrough, checkPassThrough},
    {"void", "stores and control yield no value", kEvery, yieldsNothing, checkVoid},
    {"value", "everything else has a dtype", kEvery, hasDType, checkValue},
    {"iota-dtype", "iota counts in an integer dtype", T, isOp<Op::Iota>, checkIota},
    {"reduce-op", "folds use add, mul, max or min; scatter and fill also store", kEvery, folds, checkReduceOp},
    {"elementwise-shape", "elementwise sources have equal shapes or shape ()", kEvery, isElementwise,
     checkElementwiseShape},
    {"reshape", "reshape keeps the number of elements", T, isOp<Op::Reshape>, checkReshape},
    {"expand", "expand repeats axes of size 1", T, isOp<Op::Expand>, checkExpand},
    {"pad", "pad has a scalar fill and no negative amount", T, isOp<Op::Pad>, checkPad},
    {"shrink", "the sizes of a part are not negative", T, isOp<Op::Shrink>, checkShrink},
    {"indices", "gather and scatter have one integer index per axis, of equal shapes", T, usesIndices, checkIndices},
    {"stack", "stack takes scalars of its dtype", kEvery, isOp<Op::Stack>, checkStack},
};

}  // namespace

std::span<const SpecRule> valueRules() { return kRules; }

}  // namespace svod
