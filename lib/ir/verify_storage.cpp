// Rules about storage, and about where a node may stand, given that its structure is sound.
#include <algorithm>

#include "ir/tensor_core.h"
#include "ir/tile_unit.h"
#include "ir/verify_rules.h"

namespace svod {

using namespace detail;

namespace {

bool isStorage(Op op) { return op == Op::Param || op == Op::Buffer || op == Op::Fill; }

// Storage is reached through index, after and prefetch only; everything else works on scalars and vectors.
std::string checkKernelValues(const NodeView& n) {
  bool addresses = n.op == Op::Index || n.op == Op::After || n.op == Op::Prefetch;
  for (UOp s : n.src.subspan(addresses ? 1 : 0)) {
    if (isStorage(behindAliases(s).op()))
      return "uses " + textOf(behindAliases(s).op()) + " as a value; index and load it";
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
  UOp storage = behindAliases(n.src[0]);
  if (!isStorage(storage.op())) return "addresses storage, got " + textOf(storage.op());
  for (UOp index : n.src.subspan(1))
    if (!isInt(index.dtype())) return "indices are integers, got " + dtypeOf(index);
  return checkEqualShapes(n.src.subspan(1));
}

std::string checkPrefetch(const NodeView& n) {
  if (!isStorage(behindAliases(n.src[0]).op())) return "stands around storage, got " + textOf(n.src[0].op());
  return std::get<SlotArg>(n.arg).slot > 0 ? "" : "looks no element ahead";
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
  if (n.src.size() != 2 || n.src[0].op() != Op::Group || n.src[1].op() != Op::Range)
    return "closes one range around a group";
  for (UOp s : n.src[0].src())
    if (!s.dependsOn(n.src[1])) return "holds a store that is no part of its loop";
  return {};
}
std::string checkTensorRange(const NodeView& n) {
  AxisType type = std::get<AxisArg>(n.arg).type;
  if (type != AxisType::Loop && type != AxisType::Unroll) return "loops of tensor graphs are of type loop or unroll";
  if (n.src.size() < 2) return {};
  UOp condition = behindAliases(n.src[1]);
  bool isFlag = condition.op() == Op::Buffer && condition.dtype() == DType::Bool && condition.isScalar();
  return isFlag ? "" : "the condition is a bool scalar buffer";
}
std::string checkKernelRange(const NodeView& n) {
  return n.src.size() == 1 ? "" : "loops of kernels have no condition";
}
std::string checkKernelSink(const NodeView& n) {
  constexpr Op kAllowed[] = {Op::Store, Op::End, Op::Group, Op::Barrier, Op::Gpu};
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

std::string checkDot(const NodeView& n) {
  const auto group = static_cast<int64_t>(std::get<SlotArg>(n.arg).slot), lanes = int64_t{n.src[2].lanes()};
  if (group < 2 || n.src[2].rank() > 1) return "sums groups of two lanes or more";
  if (n.dtype != n.src[2].dtype() || byteSize(n.dtype) != 4) return "adds to its own dtype, i32, u32 or f32";
  const bool isWidened = n.src[0].dtype() == DType::F32 && n.src[1].dtype() == DType::F32;
  for (UOp x : n.src.first(2)) {
    if (isWidened ? n.dtype != DType::F32 : !sumsDots(x.dtype(), n.dtype))
      return "multiplies bytes in i32 or u32, bf16 or f32 in f32, got " + dtypeOf(x);
    if (x.rank() != 1 || (x.dim(0) != group && x.dim(0) != group * lanes))
      return "takes one group of lanes or one for each result, got " + toTypeText(x);
  }
  return {};
}

// Before and after small floats have become their bits; factors also as words that hold several.
bool isFragment(UOp x, DType dtype, const Fragment& fragment) {
  const bool isBits = info(dtype).bits < 32 && x.dtype() == unsignedOf(dtype);
  return (isBits || x.dtype() == dtype) && x.rank() == 1 && x.dim(0) == fragment.elements();
}
bool isFactor(UOp x, DType dtype, const Fragment& fragment) {
  const bool isPacked = info(dtype).bits < 32 && x.dtype() == DType::U32 && x.rank() == 1 &&
                        x.dim(0) * 32 == fragment.elements() * info(dtype).bits;
  return isPacked || isFragment(x, dtype, fragment);
}
std::string checkWmma(const NodeView& n) {
  const TensorCore* core = findTensorCore(std::get<NameArg>(n.arg).name);
  if (!core) return "names no tensor core of the table";
  if (core->isOfWarpgroup()) return "names a product of warpgroups, which is an instruction";
  if (n.dtype != n.src[2].dtype()) return "adds to its own dtype";
  const bool fits = isFactor(n.src[0], core->in, core->a) && isFactor(n.src[1], core->in, core->b) &&
                    isFragment(n.src[2], core->out, core->c);
  return fits ? "" : "takes fragments of " + std::string(core->name);
}

std::string checkTileDot(const NodeView& n) {
  const TileUnit* unit = findTileUnit(std::get<NameArg>(n.arg).name);
  if (!unit) return "names no tile unit of the table";
  const auto holds = [&](UOp x, int64_t rows, int64_t columns) { return x.rank() == 1 && x.dim(0) == rows * columns; };
  const int64_t groups = n.src[1].rank() == 1 ? n.src[1].dim(0) / (unit->n * unit->group()) : 0;
  const auto isFactor = [&](UOp x) {
    const bool isBits = isFloat(unit->in) && x.dtype() == unsignedOf(unit->in);
    return isBits || unit->takes(x.dtype());
  };
  const bool areFactors = isFactor(n.src[0]) && isFactor(n.src[1]) && 0 < groups && groups <= unit->groups &&
                          holds(n.src[0], unit->m, groups * unit->group()) &&
                          holds(n.src[1], groups, unit->n * unit->group());
  const bool areSums = n.dtype == unit->out && n.src[2].dtype() == unit->out && holds(n.src[2], unit->m, unit->n);
  return areFactors && areSums ? "" : "takes whole matrices of " + std::string(unit->name);
}

std::string checkLaneFold(const NodeView& n) {
  return n.src.size() == 1 ? "" : "folds lanes only; loops fold into buffers";
}

std::string checkTensorReduce(const NodeView& n) {
  return n.src.size() == 1 && !std::get<ReduceArg>(n.arg).axes.empty() ? "" : "folds axes in a tensor graph";
}

std::string checkFill(const NodeView& n) {
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

bool isGrouping(Op op) { return op == Op::Sink || op == Op::Group; }
bool closesRanges(Op op) { return op == Op::End || op == Op::Fill; }
bool isStorageLeaf(Op op) { return op == Op::Param || op == Op::Buffer; }

constexpr SpecRule kRules[] = {
    {"tensor-buffer", "buffers of tensor graphs are global", T, isOp<Op::Buffer>, checkTensorBuffer},
    {"tensor-store", "stores of tensor graphs hit a buffer or a view of one", T, isOp<Op::Store>, checkTensorStore},
    {"tensor-reduce", "reductions of tensor graphs fold axes", T, isOp<Op::Reduce>, checkTensorReduce},
    {"tensor-sink", "the sink of a tensor graph, and a loop, hold stores and loops", T, isGrouping, checkTensorSink},
    {"tensor-end", "loops of tensor graphs close one range around stores that depend on it", T, isOp<Op::End>,
     checkTensorEnd},
    {"tensor-range", "counters of tensor graphs are loop or unroll ranges", T, isOp<Op::Range>, checkTensorRange},
    {"kernel-range", "loops of kernels run to their end", K | L | P, isOp<Op::Range>, checkKernelRange},
    {"vector", "values in kernels have shape () or (w); storage is read through index and load", K | L | P, everyOp,
     checkKernelValues},
    {"kernel-buffer", "buffers inside kernels are local or reg", K | L | P, isOp<Op::Buffer>, checkKernelBuffer},
    {"const-size", "sizes of local storage are constants", K | L, isOp<Op::Buffer>, checkConstSize},
    {"code-size", "sizes of storage are constants", P, isStorageLeaf, checkConstSize},
    {"fill", "a fill stores to a buffer of its own", K, isOp<Op::Fill>, checkFill},
    {"index", "an index addresses storage with integers", K | L | P, isOp<Op::Index>, checkIndex},
    {"prefetch", "a prefetch looks ahead in storage", K | L | P, isOp<Op::Prefetch>, checkPrefetch},
    {"index-per-dim", "one index per axis of the storage", K, isOp<Op::Index>, checkIndexPerDim},
    {"flat-index", "one flat index", L | P, isOp<Op::Index>, checkFlatIndex},
    {"load", "loads read an index; alternative and gate fit it", K | L | P, isOp<Op::Load>, checkLoad},
    {"store", "stores write an index; value and gate fit it", K | L | P, isOp<Op::Store>, checkStore},
    {"kernel-sink", "the sink of a kernel holds stores, ends and groups", K | L | P, isOp<Op::Sink>, checkKernelSink},
    {"closed-ranges", "end and fill close ranges", K | L | P, closesRanges, checkClosedRanges},
    {"kernel-reduce", "reductions in kernels fold ranges, or a power of two lanes", K | L | P, isOp<Op::Reduce>,
     checkHorizontal},
    {"dot", "dot products sum groups of bytes", L | P, isOp<Op::Dot>, checkDot},
    {"wmma", "tensor cores multiply fragments of the dtypes and sizes of the table", L | P, isOp<Op::Wmma>, checkWmma},
    {"tile-dot", "tile units multiply matrices of the dtypes and sizes of the table", L | P, isOp<Op::TileDot>,
     checkTileDot},
    {"lane-fold", "reductions of instruction lists fold lanes", P, isOp<Op::Reduce>, checkLaneFold},
    {"no-index-dtype", "index arithmetic has a machine dtype", P, everyOp, checkNoIndexDType},
    {"no-bool-storage", "memory holds no bool", P, isStorageLeaf, checkNoBoolStorage},
};

}  // namespace

std::span<const SpecRule> storageRules() { return kRules; }

}  // namespace svod
