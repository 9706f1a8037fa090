// Rules about dtypes, shapes, storage and placement of one node, given that its structure is sound.
#include <algorithm>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace svod {

namespace {

constexpr uint8_t T = 1, K = 2, L = 4, P = 8, kEvery = T | K | L | P;

std::string dtypeOf(UOp u) { return std::string(toText(u.dtype())); }
std::string textOf(Op op) { return std::string(toText(op)); }
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
  return isMovement(op) || op == Op::After || op == Op::Contiguous || op == Op::Copy || op == Op::Gather ||
         op == Op::Scatter || op == Op::Reduce || op == Op::Index || op == Op::Load ||
         op == Op::Lane || op == Op::Ramp || op == Op::Stack || op == Op::Range || op == Op::Special;
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

std::string checkEqualShapes(std::span<const UOp> values) {
  UOp shaped;
  for (UOp v : values) {
    if (v.isScalar()) continue;
    if (!shaped) shaped = v;
    if (!sameShape(v.shape(), shaped.shape())) return toTypeText(shaped) + " and " + toTypeText(v) + " differ in shape";
  }
  return {};
}

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

std::string checkShrink(const NodeView& n) {
  size_t rank = n.src[0].rank();
  for (size_t i = 0; i < rank; ++i) {
    UOp offset = n.src[1 + i], size = n.src[1 + rank + i], dim = n.src[0].shape()[i];
    bool known = offset.isConst() && size.isConst() && dim.isConst();
    if (offset.bounds().max < 0 || size.bounds().max < 0 ||
        (known && offset.constInt() + size.constInt() > dim.constInt()))
      return "axis " + std::to_string(i) + " leaves " + toTypeText(n.src[0]);
  }
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

// -- storage

UOp behindAfters(UOp u) {
  while (u.op() == Op::After) u = u.src(0);
  return u;
}
bool isStorage(Op op) { return op == Op::Param || op == Op::Buffer || op == Op::Stage; }

// Storage is reached through index and after only; everything else works on scalars and vectors.
std::string checkKernelValues(const NodeView& n) {
  bool addresses = n.op == Op::Index || n.op == Op::After;
  for (UOp s : n.src.subspan(addresses ? 1 : 0)) {
    if (isStorage(behindAfters(s).op())) return "uses " + textOf(behindAfters(s).op()) + " as a value; index and load it";
    if (s.rank() > 1) return "values in kernels are scalars or vectors, got " + toTypeText(s);
  }
  return {};
}

std::string checkTensorBuffer(const NodeView& n) {
  return std::get<SlotArg>(n.arg).space == Space::Global ? "" : "tensor graphs use global buffers";
}
std::string checkKernelBuffer(const NodeView& n) {
  return std::get<SlotArg>(n.arg).space != Space::Global ? "" : "kernels reach global storage through param";
}
std::string checkConstSize(const NodeView& n) {
  for (UOp dim : n.src)
    if (!dim.isConst() || dim.constInt() < 0) return "local sizes are constants, and all sizes where code is made";
  return {};
}

std::string checkIndex(const NodeView& n) {
  UOp storage = behindAfters(n.src[0]);
  if (!isStorage(storage.op())) return "addresses storage, got " + textOf(storage.op());
  for (UOp index : n.src.subspan(1))
    if (!isInt(index.dtype())) return "indices are integers, got " + dtypeOf(index);
  return checkEqualShapes(n.src.subspan(1));
}

std::string checkIndexPerDim(const NodeView& n) {
  return n.src.size() - 1 == n.src[0].rank() ? "" : "needs one index per axis of " + toTypeText(n.src[0]);
}
std::string checkFlatIndex(const NodeView& n) { return n.src.size() == 2 ? "" : "takes one flat index"; }

std::string checkGate(UOp gate, UOp address) {
  if (gate.dtype() != DType::Bool) return "the gate is " + dtypeOf(gate) + ", expected bool";
  return gate.isScalar() || sameShape(gate.shape(), address.shape()) ? "" : "the gate has more lanes than the address";
}

std::string checkLoad(const NodeView& n) {
  UOp address = n.src[0];
  if (address.op() != Op::Index) return "loads from an index, got " + textOf(address.op());
  if (n.src.size() == 2) return "needs a gate with its alternative";
  if (n.src.size() < 3) return {};
  if (n.src[1].dtype() != n.dtype) return "the alternative is " + dtypeOf(n.src[1]);
  if (!n.src[1].isScalar() && !sameShape(n.src[1].shape(), address.shape())) return "the alternative has another shape";
  return checkGate(n.src[2], address);
}

std::string checkStore(const NodeView& n) {
  UOp address = n.src[0], value = n.src[1];
  if (address.op() != Op::Index) return "stores to an index, got " + textOf(address.op());
  if (value.dtype() != address.dtype()) return "stores " + dtypeOf(value) + " into " + dtypeOf(address);
  if (!value.isScalar() && !sameShape(value.shape(), address.shape()))
    return "stores " + toTypeText(value) + " at " + toTypeText(address);
  return n.src.size() > 2 ? checkGate(n.src[2], address) : "";
}

// In tensor graphs the target is a buffer or a view of one that names each element at most once.
std::string checkTensorStore(const NodeView& n) {
  UOp target = n.src[0], value = n.src[1], base = target;
  if (n.src.size() > 2) return "has no gate in a tensor graph";
  while (base.op() == Op::After || (isMovement(base.op()) && base.op() != Op::Pad && base.op() != Op::Expand))
    base = base.src(0);
  if (base.op() != Op::Buffer) return "stores to a buffer or a view of one, got " + textOf(base.op());
  if (value.dtype() != target.dtype()) return "stores " + dtypeOf(value) + " into " + dtypeOf(target);
  if (!value.isScalar() && !sameShape(value.shape(), target.shape()))
    return "stores " + toTypeText(value) + " into " + toTypeText(target);
  return {};
}

// -- placement

std::string onlySources(const NodeView& n, std::span<const Op> allowed) {
  for (UOp s : n.src)
    if (std::ranges::find(allowed, s.op()) == allowed.end()) return "cannot hold " + textOf(s.op());
  return {};
}

std::string checkTensorSink(const NodeView& n) {
  constexpr Op kAllowed[] = {Op::Store, Op::End};
  return onlySources(n, kAllowed);
}
std::string checkTensorEnd(const NodeView& n) {
  if (n.src.size() != 2 || n.src[0].op() != Op::Group || n.src[1].op() != Op::Range) return "closes one range around a group";
  for (UOp s : n.src[0].src())
    if (!s.dependsOn(n.src[1])) return "holds a store that is no part of its loop";
  return {};
}
std::string checkTensorRange(const NodeView& n) {
  AxisType type = std::get<AxisArg>(n.arg).type;
  if (type != AxisType::Loop && type != AxisType::Unroll) return "loops of tensor graphs are of type loop or unroll";
  if (n.src.size() < 2) return {};
  UOp condition = behindAfters(n.src[1]);
  bool isFlag = condition.op() == Op::Buffer && condition.dtype() == DType::Bool && condition.isScalar();
  return isFlag ? "" : "the condition is a bool scalar buffer";
}
std::string checkKernelRange(const NodeView& n) { return n.src.size() == 1 ? "" : "loops of kernels have no condition"; }
std::string checkKernelSink(const NodeView& n) {
  constexpr Op kAllowed[] = {Op::Store, Op::End, Op::Group, Op::Barrier};
  return onlySources(n, kAllowed);
}

std::string checkClosedRanges(const NodeView& n) {
  for (UOp r : n.src.subspan(1))
    if (r.op() != Op::Range) return "closes ranges, got " + textOf(r.op());
  return {};
}

std::string checkHorizontal(const NodeView& n) {
  const ReduceArg& arg = std::get<ReduceArg>(n.arg);
  if (!arg.axes.empty()) return "folds ranges or lanes here, not axes";
  if (n.src.size() > 1) return {};
  if (n.src[0].rank() != 1) return "folds the lanes of a vector, got " + toTypeText(n.src[0]);
  int64_t w = n.src[0].dim(0);
  return w > 0 && (w & (w - 1)) == 0 ? "" : "folds a power of two lanes, got " + std::to_string(w);
}

std::string checkLaneFold(const NodeView& n) { return n.src.size() == 1 ? "" : "folds lanes only; loops fold into buffers"; }

std::string checkTensorReduce(const NodeView& n) {
  return n.src.size() == 1 && !std::get<ReduceArg>(n.arg).axes.empty() ? "" : "folds axes in a tensor graph";
}

std::string checkStage(const NodeView& n) {
  if (n.src[0].op() != Op::Store) return "is filled by a store, got " + textOf(n.src[0].op());
  UOp buffer = storageOf(n.src[0].src(0));
  if (buffer.op() != Op::Buffer) return "fills a buffer of its own, got " + textOf(buffer.op());
  return n.dtype == buffer.dtype() ? "" : "has another dtype than its buffer, which is " + dtypeOf(buffer);
}

// -- the linear stage

std::string checkNoIndexDType(const NodeView& n) {
  if (n.op == Op::Const) return {};  // sizes of params and buffers stay index constants
  bool sizes = n.op == Op::Param || n.op == Op::Buffer;
  if (n.dtype == DType::Index) return "the index dtype is lowered before this stage";
  for (UOp s : n.src)
    if (!sizes && s.dtype() == DType::Index) return "uses an index value, which is lowered before this stage";
  return {};
}

std::string checkNoBoolStorage(const NodeView& n) { return n.dtype == DType::Bool ? "memory holds u8 for bool" : ""; }

template <Op kOp>
bool isOp(Op op) {
  return op == kOp;
}
bool hasDType(Op op) { return !yieldsNothing(op) && op != Op::After && op != Op::Custom; }
bool isGrouping(Op op) { return op == Op::Sink || op == Op::Group; }
bool isArithmetic(Op op) { return isElementwise(op) && op != Op::Cast && op != Op::Bitcast && op != Op::Where; }
bool closesRanges(Op op) { return op == Op::End || op == Op::Stage; }
bool isStorageLeaf(Op op) { return op == Op::Param || op == Op::Buffer; }
bool folds(Op op) { return op == Op::Reduce || op == Op::Scatter || op == Op::Stage; }
bool computes(Op op) { return isArithmetic(op) || op == Op::Reduce || op == Op::Scatter; }
bool usesIndices(Op op) { return op == Op::Gather || op == Op::Scatter; }
bool everyOp(Op) { return true; }

constexpr SpecRule kRules[] = {
    {"elementwise-dtype", "elementwise sources and result have one dtype; comparisons yield bool", kEvery, isElementwise, checkElementwiseDType},
    {"family", "float ops get floats, integer ops integers or bools", kEvery, isArithmetic, checkFamily},
    {"computed", "dtypes that only hold values are moved, compared, selected and cast", kEvery, computes, checkComputed},
    {"bitcast", "bitcast keeps the size", kEvery, isOp<Op::Bitcast>, checkBitcast},
    {"condition", "where selects by a bool", kEvery, isOp<Op::Where>, checkCondition},
    {"pass-through", "ops that only move values keep their dtype", kEvery, passesDTypeThrough, checkPassThrough},
    {"void", "stores and control yield no value", kEvery, yieldsNothing, checkVoid},
    {"value", "everything else has a dtype", kEvery, hasDType, checkValue},
    {"iota-dtype", "iota counts in an integer dtype", T, isOp<Op::Iota>, checkIota},
    {"reduce-op", "folds use add, mul, max or min; scatter and stage also store", kEvery, folds, checkReduceOp},
    {"elementwise-shape", "elementwise sources have equal shapes or shape ()", kEvery, isElementwise, checkElementwiseShape},
    {"reshape", "reshape keeps the number of elements", T, isOp<Op::Reshape>, checkReshape},
    {"expand", "expand repeats axes of size 1", T, isOp<Op::Expand>, checkExpand},
    {"pad", "pad has a scalar fill and no negative amount", T, isOp<Op::Pad>, checkPad},
    {"shrink", "shrink stays inside its source", T, isOp<Op::Shrink>, checkShrink},
    {"indices", "gather and scatter have one integer index per axis, of equal shapes", T, usesIndices, checkIndices},
    {"stack", "stack takes scalars of its dtype", kEvery, isOp<Op::Stack>, checkStack},
    {"tensor-buffer", "buffers of tensor graphs are global", T, isOp<Op::Buffer>, checkTensorBuffer},
    {"tensor-store", "stores of tensor graphs hit a buffer or a view of one", T, isOp<Op::Store>, checkTensorStore},
    {"tensor-reduce", "reductions of tensor graphs fold axes", T, isOp<Op::Reduce>, checkTensorReduce},
    {"tensor-sink", "the sink of a tensor graph, and a loop, hold stores and loops", T, isGrouping, checkTensorSink},
    {"tensor-end", "loops of tensor graphs close one range around stores that depend on it", T, isOp<Op::End>, checkTensorEnd},
    {"tensor-range", "counters of tensor graphs are loop or unroll ranges", T, isOp<Op::Range>, checkTensorRange},
    {"kernel-range", "loops of kernels run to their end", K | L | P, isOp<Op::Range>, checkKernelRange},
    {"vector", "values in kernels have shape () or (w); storage is read through index and load", K | L | P, everyOp, checkKernelValues},
    {"kernel-buffer", "buffers inside kernels are local or reg", K | L | P, isOp<Op::Buffer>, checkKernelBuffer},
    {"const-size", "sizes of local storage are constants", K | L, isOp<Op::Buffer>, checkConstSize},
    {"code-size", "sizes of storage are constants", P, isStorageLeaf, checkConstSize},
    {"stage", "a stage is filled by a store to a buffer of its own", K, isOp<Op::Stage>, checkStage},
    {"index", "an index addresses storage with integers", K | L | P, isOp<Op::Index>, checkIndex},
    {"index-per-dim", "one index per axis of the storage", K, isOp<Op::Index>, checkIndexPerDim},
    {"flat-index", "one flat index", L | P, isOp<Op::Index>, checkFlatIndex},
    {"load", "loads read an index; alternative and gate fit it", K | L | P, isOp<Op::Load>, checkLoad},
    {"store", "stores write an index; value and gate fit it", K | L | P, isOp<Op::Store>, checkStore},
    {"kernel-sink", "the sink of a kernel holds stores, ends and groups", K | L | P, isOp<Op::Sink>, checkKernelSink},
    {"closed-ranges", "end and stage close ranges", K | L | P, closesRanges, checkClosedRanges},
    {"kernel-reduce", "reductions in kernels fold ranges, or a power of two lanes", K | L | P, isOp<Op::Reduce>, checkHorizontal},
    {"lane-fold", "reductions of instruction lists fold lanes", P, isOp<Op::Reduce>, checkLaneFold},
    {"no-index-dtype", "index arithmetic has a machine dtype", P, everyOp, checkNoIndexDType},
    {"no-bool-storage", "memory holds no bool", P, isStorageLeaf, checkNoBoolStorage},
};

}  // namespace

std::span<const SpecRule> nodeRules() { return kRules; }

}  // namespace svod
