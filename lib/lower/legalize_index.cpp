// Index, the abstract integer, becomes i64 or i32. An op computes in the wider of what its operands and its result
// need; values are converted where they are used. Vectors of small values are i32 on every target: half the registers.
#include <vector>

#include "lower/legalize.h"

namespace svod::detail {

namespace {

class IndexLowering {
 public:
  IndexLowering(Graph& graph, bool narrow) : graph_(graph), narrow_(narrow) {}

  UOp lower(UOp node, std::span<const UOp> newSrc) {
    std::vector<UOp> src(newSrc.begin(), newSrc.end());
    bool isIndex = node.dtype() == DType::Index;
    if (node.op() == Op::Const) return isIndex ? graph_.constant(Scalar::ofInt(typeOf(node), node.constInt())) : node;
    if (node.op() == Op::Var && isIndex) return variable(node);
    bool anyIndex = isIndex;
    for (UOp s : node.src()) anyIndex |= s.dtype() == DType::Index;
    if (!anyIndex) return graph_.withSrc(node, src);
    if (node.op() == Op::Param)  // code has no use for the exact size
      src[0] = graph_.constant(Scalar::ofInt(DType::I64, node.src(0).bounds().max));
    if (node.op() == Op::Buffer || node.op() == Op::Param)
      return graph_.make(node.op(), isIndex ? DType::I64 : node.dtype(), src, node.arg());
    if (!computes(node.op())) return graph_.make(node.op(), isIndex ? src[0].dtype() : node.dtype(), src, node.arg());
    DType work = workType(node);
    if (node.op() == Op::Cast) return cast(src[0], isIndex ? typeOf(node) : node.dtype());
    for (size_t i = 0; i < src.size(); ++i)
      if (node.src(i).dtype() == DType::Index) src[i] = cast(src[i], work);
    return graph_.make(node.op(), isIndex ? work : node.dtype(), src, node.arg());
  }

 private:
  // Ops whose operands and result must agree in width; the others take indices of any width.
  static bool computes(Op op) {
    return isElementwise(op) || op == Op::Stack || op == Op::Reduce || op == Op::Store || op == Op::Load;
  }
  DType typeFor(UOp x, bool mayNarrow) const {
    bool fits = x.bounds().min >= INT32_MIN && x.bounds().max <= INT32_MAX;
    return mayNarrow && fits ? DType::I32 : DType::I64;
  }
  DType typeOf(UOp x) const { return typeFor(x, narrow_ || !x.isScalar()); }
  DType workType(UOp node) const {
    bool mayNarrow = narrow_ || !node.isScalar();
    for (UOp s : node.src()) mayNarrow |= !s.isScalar();
    DType work = DType::I32;
    auto widenFor = [&](UOp x) {
      if (x.dtype() == DType::Index) work = typeFor(x, mayNarrow) == DType::I64 ? DType::I64 : work;
    };
    widenFor(node);
    for (UOp s : node.src()) widenFor(s);
    return work;
  }
  UOp variable(UOp node) {  // the calling convention passes i64
    UOp wide = graph_.make(Op::Var, DType::I64, std::span<const UOp>{}, node.arg());
    return cast(wide, typeOf(node));
  }
  UOp cast(UOp x, DType to) { return graph_.cast(x, to); }

  Graph& graph_;
  bool narrow_;
};

}  // namespace

UOp legalizeIndex(Graph& graph, UOp root, const LegalizeOptions& options) {
  IndexLowering lowering(graph, options.narrowIndex);
  return transform(graph, root, [&](UOp node, std::span<const UOp> src) { return lowering.lower(node, src); });
}

}  // namespace svod::detail
