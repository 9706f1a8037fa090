// Bools are u8 and small floats u8 or u16 in memory; small floats compute in f32, integers of 2 and 4 bits in i8 or u8.
//
// A small integer is an i8 or u8 of the same value; ops that may leave its range are followed by a wrap.
#include <algorithm>
#include <vector>

#include "lower/small_floats.h"

namespace svod::detail {

namespace {

bool isSmallInt(DType d) { return isInt(d) && info(d).bits < 8; }
DType wideOf(DType d) { return !isSmallInt(d) ? d : isSigned(d) ? DType::I8 : DType::U8; }

bool staysInRange(Op op) {
  return op == Op::Where || op == Op::Stack || op == Op::Max || op == Op::Min || op == Op::And || op == Op::Or ||
         op == Op::Xor;
}

class StorageLowering {
 public:
  StorageLowering(Graph& graph, const LegalizeOptions& options)
      : graph_(graph), emitter_(graph, options), floats_(emitter_) {}

  UOp lower(UOp node, std::span<const UOp> src) {
    bool small = isSmallFloat(node.dtype());
    switch (node.op()) {
      case Op::Const: return constant(node);
      case Op::Param:
      case Op::Buffer: return graph_.make(node.op(), memoryType(node), src, node.arg());
      case Op::Load: return load(node, src);
      case Op::Store: return store(node, src);
      case Op::Cast: return cast(node, src[0]);
      case Op::Bitcast: return bitcastNode(node, src[0]);
      case Op::Stack:
      case Op::Where: return select(node, src);
      case Op::Reduce: return reduce(node, src);
      case Op::Wmma: return wmma(node, src);
      case Op::Dot: return dot(node, src);
      case Op::TileDot: return graph_.make(Op::TileDot, node.dtype(), inBits(node, src), node.arg());
      default: break;
    }
    if (isElementwise(node.op())) return elementwise(node, src);
    // After, Index, Lane: what src0 has become.
    bool follows = small || isSmallInt(node.dtype()) || node.dtype() == DType::Bool;
    return graph_.make(node.op(), follows && !src.empty() ? src[0].dtype() : node.dtype(), src, node.arg());
  }

 private:
  Ex ex(UOp x) { return {&emitter_, x}; }

  static DType memoryType(UOp storage) {
    DType d = storage.dtype();
    if (d == DType::Bool) return DType::U8;
    if (!isSmallFloat(d)) return wideOf(d);
    return storage.op() == Op::Buffer && storage.argAs<SlotArg>().space == Space::Reg ? DType::F32 : memoryDType(d);
  }

  UOp constant(UOp node) {
    DType d = node.dtype();
    if (isSmallFloat(d))
      return floats_.isOf(d, graph_.constant(Scalar::ofFloat(DType::F32, node.constant().asFloat())));
    return isSmallInt(d) ? graph_.constant(Scalar::ofInt(wideOf(d), node.constant().asInt())) : node;
  }

  // The value of small integer `d` that has the low bits of x.
  UOp wrapped(UOp x, DType d) {
    if (!isSmallInt(d)) return x;
    int bits = info(d).bits;
    return isSigned(d) ? ((ex(x) << (8 - bits)) >> (8 - bits)).node : (ex(x) & static_cast<double>(maxInt(d))).node;
  }

  UOp load(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    DType memory = src[0].dtype(), d = node.dtype();
    if (src.size() > 1 && d == DType::Bool) src[1] = emitter_.cast(src[1], memory);
    if (src.size() > 1 && isSmallFloat(d)) src[1] = floats_.form(src[1], d, memory);
    UOp loaded = graph_.make(Op::Load, memory, src);
    return d == DType::Bool ? emitter_.make(Op::Ne, DType::Bool, {loaded, ex(loaded).num(0).node}) : loaded;
  }

  UOp store(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    DType d = node.src(1).dtype();
    if (d == DType::Bool) src[1] = emitter_.cast(src[1], src[0].dtype());
    if (isSmallFloat(d)) src[1] = floats_.form(src[1], d, src[0].dtype());
    return graph_.make(Op::Store, node.dtype(), src);
  }

  UOp cast(UOp node, UOp x) {
    DType from = node.src(0).dtype(), to = node.dtype();
    if (isSmallFloat(from)) x = floats_.exactValue(x, from);
    if (isSmallInt(to)) return toSmallInt(x, to);
    if (!isSmallFloat(to)) return graph_.cast(x, to);
    if (from == to || floats_.isKnownOf(to, x)) return x;
    bool direct = x.dtype() == DType::F32 || x.dtype() == DType::F64;
    return floats_.rounded(direct ? x : graph_.cast(x, DType::F32), to);
  }

  UOp toSmallInt(UOp x, DType to) {
    UOp wide = graph_.cast(x, wideOf(to));
    if (!isFloat(x.dtype())) return wrapped(wide, to);
    Ex limited = bin(Op::Min, ex(wide), ex(wide).num(static_cast<double>(maxInt(to))));
    return bin(Op::Max, limited, limited.num(static_cast<double>(minInt(to)))).node;
  }

  UOp bitcastNode(UOp node, UOp x) {
    DType from = node.src(0).dtype(), to = node.dtype();
    if (isSmallFloat(from)) x = floats_.bits(x, from);
    if (isSmallInt(from)) x = wrapped(graph_.bitcast(x, DType::U8), unsignedOf(from));
    if (isSmallFloat(to)) return graph_.bitcast(x, memoryDType(to));
    if (isSmallInt(to)) return wrapped(graph_.bitcast(x, wideOf(to)), to);
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
    DType wanted = moved ? memoryDType(node.dtype()) : DType::F32;
    for (UOp& s : values) s = floats_.form(s, node.dtype(), wanted);
    const bool exact = std::ranges::all_of(values, [&](UOp s) { return floats_.holdsExactly(node.dtype(), s); });
    UOp result = graph_.make(node.op(), wanted, src, node.arg());
    return exact && wanted == DType::F32 ? floats_.isOf(node.dtype(), result) : result;
  }

  UOp elementwise(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    for (size_t i = 0; i < src.size(); ++i)
      if (DType d = node.src(i).dtype(); isSmallFloat(d))
        src[i] = showsDigits(node.op()) ? floats_.exactValue(src[i], d) : floats_.value(src[i], d);
    DType d = node.dtype();
    if (isSmallFloat(d)) return floats_.compute(node.op(), d, src);
    UOp result = graph_.make(node.op(), wideOf(d), src, node.arg());
    return staysInRange(node.op()) ? result : wrapped(result, d);
  }

  // Where the digits that a wider register keeps could change the result by more than their own size.
  static bool showsDigits(Op op) {
    return has(op, Comparison) || op == Op::Trunc || op == Op::Floor || op == Op::Ceil || op == Op::Round ||
           op == Op::Fmod;
  }

  // Small floats as what tensor cores and tile registers hold.
  std::vector<UOp> inBits(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    for (size_t i = 0; i < src.size(); ++i)
      if (isSmallFloat(node.src(i).dtype())) src[i] = floats_.bits(src[i], node.src(i).dtype());
    return src;
  }

  // Tensor cores take words of small floats, and give their bits.
  UOp wmma(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src = inBits(node, newSrc);
    for (size_t i : {0, 1})
      if (src[i].dtype() != DType::U32 && byteSize(src[i].dtype()) < 4) src[i] = words(src[i]);
    return graph_.make(Op::Wmma, src[2].dtype(), src, node.arg());
  }

  // Unsigned lanes of fewer bits, side by side in words, the first one lowest.
  UOp words(UOp lanes) {
    const int bits = info(lanes.dtype()).bits, each = 32 / bits;
    std::vector<UOp> all;
    for (int i = 0; i < lanes.lanes(); ++i) {
      UOp lane = lanes.op() == Op::Stack
                     ? lanes.src(static_cast<size_t>(i))
                     : graph_.make(Op::Lane, lanes.dtype(), {lanes}, SlotArg{static_cast<uint32_t>(i)});
      UOp wide = graph_.cast(lane, DType::U32);
      if (i % each == 0) {
        all.push_back(wide);
      } else {
        UOp high = graph_.alu(Op::Shl, {wide, graph_.constant(Scalar::ofInt(DType::U32, i % each * bits))});
        all.back() = graph_.alu(Op::Or, {all.back(), high});
      }
    }
    return graph_.make(Op::Stack, DType::U32, all);
  }

  UOp reduce(UOp node, std::span<const UOp> src) {
    DType format = node.dtype();
    Op op = node.argAs<ReduceArg>().op;
    if (!isSmallFloat(format)) {
      UOp folded = graph_.make(Op::Reduce, wideOf(format), src, node.arg());
      return staysInRange(op) ? folded : wrapped(folded, format);
    }
    UOp x = floats_.value(src[0], format);
    if (!floats_.roundsEveryOp(format)) return graph_.make(Op::Reduce, DType::F32, {x}, node.arg());
    return foldLanes(graph_, x,
                     [&](UOp a, UOp b) { return floats_.value(floats_.compute(op, format, {a, b}), format); });
  }

  // A factor of a dot product is a vector, also where a gate that never holds leaves one value for all lanes.
  UOp factor(UOp x, size_t group) {
    if (x.op() == Op::Where && x.src(0).isConst()) x = x.src(x.src(0).isConst(1) ? 1 : 2);
    return x.isScalar() ? graph_.make(Op::Stack, x.dtype(), std::vector<UOp>(group, x)) : x;
  }

  // Of bf16 for the instruction; else products of f32, which are exact.
  UOp dot(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    for (size_t i : {0, 1}) {
      const DType d = node.src(i).dtype();
      if (!isSmallFloat(d)) continue;
      src[i] = emitter_.options.nativeBf16 ? graph_.bitcast(floats_.bits(src[i], d), d) : floats_.value(src[i], d);
    }
    for (size_t i : {0, 1}) src[i] = factor(src[i], node.argAs<SlotArg>().slot);
    return graph_.make(Op::Dot, node.dtype(), src, node.arg());
  }

  Graph& graph_;
  Emitter emitter_;
  SmallFloats floats_;
};

}  // namespace

UOp legalizeStorage(Graph& graph, UOp root, const LegalizeOptions& options) {
  StorageLowering lowering(graph, options);
  return transform(graph, root, [&](UOp node, std::span<const UOp> src) { return lowering.lower(node, src); });
}

}  // namespace svod::detail
