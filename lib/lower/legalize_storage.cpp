// Bools are u8 and small floats u8 or u16 in memory; small floats compute in f32.
//
// A small float becomes either its storage bits (an unsigned value, where it was loaded or only moved) or an f32 (where
// it was computed). Whoever uses it asks for the form needed, so copies never convert and keep the payload of a NaN.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "lower/legalize_float.h"

namespace svod::detail {

namespace {

class StorageLowering {
 public:
  StorageLowering(Graph& graph, const LegalizeOptions& options) : graph_(graph), emitter_(graph, options) {}

  UOp lower(UOp node, std::span<const UOp> src) {
    bool small = isSmallFloat(node.dtype());
    switch (node.op()) {
      case Op::Const: return small ? graph_.constant(Scalar::ofFloat(DType::F32, node.constant().asFloat())) : node;
      case Op::Param:
      case Op::Buffer: return graph_.make(node.op(), memoryType(node), src, node.arg());
      case Op::Load: return load(node, src);
      case Op::Store: return store(node, src);
      case Op::Cast: return cast(node, src[0]);
      case Op::Bitcast: return bitcastNode(node, src[0]);
      case Op::Stack:
      case Op::Where: return select(node, src);
      case Op::Reduce: return small ? reduce(node, src[0]) : graph_.withSrc(node, src);
      default: break;
    }
    if (isElementwise(node.op())) return elementwise(node, src);
    bool follows = small || node.dtype() == DType::Bool;  // After, Index, Lane: what src0 has become
    return graph_.make(node.op(), follows && !src.empty() ? src[0].dtype() : node.dtype(), src, node.arg());
  }

 private:
  Ex ex(UOp x) { return {&emitter_, x}; }

  static DType memoryType(UOp storage) {
    DType d = storage.dtype();
    if (d == DType::Bool) return DType::U8;
    if (!isSmallFloat(d)) return d;
    return storage.op() == Op::Buffer && storage.argAs<SlotArg>().space == Space::Reg ? DType::F32 : storageOf(d);
  }

  // The two forms of a small float.
  UOp value(UOp x, DType format) {
    return x.dtype() == DType::F32 ? x : decodeFloat(ex(x), format).node;
  }
  UOp bits(UOp x, DType format) {
    if (x.dtype() != DType::F32) return x;
    if (x.isConst()) {
      Scalar rounded = Scalar::ofFloat(format, x.constant().asFloat());
      return graph_.constant(Scalar::fromBits(storageOf(format), rounded.storageBits()));
    }
    auto it = unrounded_.find(x.id());
    return encodeFloat(ex(it == unrounded_.end() ? x : it->second), format);
  }
  UOp form(UOp x, DType format, DType wanted) {
    return wanted == DType::F32 ? value(x, format) : bits(x, format);
  }

  // `exact` is an f32 or f64 that stands for a value of `format` before rounding.
  UOp rounded(UOp exact, DType format) {
    if (exact.dtype() == DType::F64) return encodeFloat(ex(exact), format);
    UOp result = roundFloat(ex(exact), format);
    unrounded_.emplace(result.id(), exact);
    return result;
  }
  bool roundsEveryOp(DType format) const {
    return isFloat8(format) || emitter_.options.numerics == Numerics::Strict;
  }

  UOp load(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    DType memory = src[0].dtype(), d = node.dtype();
    if (src.size() > 1 && d == DType::Bool) src[1] = emitter_.cast(src[1], memory);
    if (src.size() > 1 && isSmallFloat(d)) src[1] = form(src[1], d, memory);
    UOp loaded = graph_.make(Op::Load, memory, src);
    return d == DType::Bool ? emitter_.make(Op::Ne, DType::Bool, {loaded, ex(loaded).num(0).node}) : loaded;
  }

  UOp store(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    DType d = node.src(1).dtype();
    if (d == DType::Bool) src[1] = emitter_.cast(src[1], src[0].dtype());
    if (isSmallFloat(d)) src[1] = form(src[1], d, src[0].dtype());
    return graph_.make(Op::Store, node.dtype(), src);
  }

  UOp cast(UOp node, UOp x) {
    DType from = node.src(0).dtype(), to = node.dtype();
    if (isSmallFloat(from)) x = value(x, from);
    if (!isSmallFloat(to)) return emitter_.graph.make(Op::Cast, to, {x});
    if (from == to) return x;
    bool direct = x.dtype() == DType::F32 || x.dtype() == DType::F64;
    return rounded(direct ? x : graph_.cast(x, DType::F32), to);
  }

  UOp bitcastNode(UOp node, UOp x) {
    DType from = node.src(0).dtype(), to = node.dtype();
    if (isSmallFloat(from)) x = bits(x, from);
    if (isSmallFloat(to)) return graph_.bitcast(x, storageOf(to));
    if (from == DType::Bool) x = graph_.cast(x, DType::U8);
    if (to == DType::Bool) return emitter_.make(Op::Ne, DType::Bool, {x, ex(x).num(0).node});
    return graph_.bitcast(x, to);
  }

  // Moves values without computing: stays in storage bits if every operand is there.
  UOp select(UOp node, std::span<const UOp> newSrc) {
    if (!isSmallFloat(node.dtype())) return elementwise(node, newSrc);
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    auto values = std::span(src).subspan(node.op() == Op::Where ? 1 : 0);
    bool moved = std::ranges::all_of(values, [](UOp s) { return s.dtype() != DType::F32 || s.isConst(); });
    DType wanted = moved ? storageOf(node.dtype()) : DType::F32;
    for (UOp& s : values) s = form(s, node.dtype(), wanted);
    return graph_.make(node.op(), wanted, src, node.arg());
  }

  UOp elementwise(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    for (size_t i = 0; i < src.size(); ++i)
      if (isSmallFloat(node.src(i).dtype())) src[i] = value(src[i], node.src(i).dtype());
    DType d = node.dtype();
    if (!isSmallFloat(d)) return graph_.make(node.op(), d, src, node.arg());
    return compute(node.op(), d, src);
  }

  // The result of an op on small floats given as f32.
  UOp compute(Op op, DType format, std::vector<UOp> src) {
    bool rounds = roundsEveryOp(format);
    if (op == Op::Mulacc && rounds) {  // f32 would round the sum twice
      for (UOp& s : src) s = graph_.cast(s, DType::F64);
      return rounded(graph_.alu(op, src), format);
    }
    UOp result = graph_.alu(op, src);
    return rounds && !isExact(op) ? rounded(result, format) : result;
  }
  static bool isExact(Op op) {
    switch (op) {
      case Op::Neg:
      case Op::Abs:
      case Op::Max:
      case Op::Min:
      case Op::Trunc:
      case Op::Floor:
      case Op::Ceil:
      case Op::Round: return true;
      default: return false;
    }
  }

  UOp reduce(UOp node, UOp x) {
    DType format = node.dtype();
    Op op = node.argAs<ReduceArg>().op;
    x = value(x, format);
    if (!roundsEveryOp(format)) return graph_.make(Op::Reduce, DType::F32, {x}, node.arg());
    return foldLanes(graph_, x, [&](UOp a, UOp b) { return value(compute(op, format, {a, b}), format); });
  }

  Graph& graph_;
  Emitter emitter_;
  std::unordered_map<uint32_t, UOp> unrounded_;  // id of a rounded f32 -> what was rounded
};

}  // namespace

UOp legalizeStorage(Graph& graph, UOp root, const LegalizeOptions& options) {
  StorageLowering lowering(graph, options);
  return transform(graph, root, [&](UOp node, std::span<const UOp> src) { return lowering.lower(node, src); });
}

}  // namespace svod::detail
