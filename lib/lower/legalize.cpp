#include "lower/legalize.h"

namespace svod {

namespace {

using Sweep = UOp (*)(Graph&, UOp root, const LegalizeOptions&);

UOp wholeFactor(Graph& graph, UOp x, size_t group) {
  const bool isBf16 = x.dtype() == DType::BF16;  // it has no register: a vector of its bits has
  const UOp lane = isBf16 && x.isConst() ? graph.constant(Scalar::fromBits(DType::U16, x.constant().storageBits())) : x;
  const UOp lanes = graph.make(Op::Stack, lane.dtype(), std::vector<UOp>(group, lane));
  return isBf16 ? graph.bitcast(lanes, DType::BF16) : lanes;
}

UOp wholeFactors(Graph& graph, UOp root, const LegalizeOptions&) {
  return transform(graph, root, [&](UOp node, std::span<const UOp> from) {
    std::vector<UOp> src(from.begin(), from.end());
    for (size_t i = 0; node.op() == Op::Dot && i < 2; ++i)
      if (src[i].isScalar()) src[i] = wholeFactor(graph, src[i], node.argAs<SlotArg>().slot);
    return graph.withSrc(node, src);
  });
}

// In the order in which they run.
constexpr Sweep kSweeps[] = {
    detail::legalizeStorage,  // bool and small floats are u8 or u16 in memory; small floats compute in f32
    detail::legalizeIndex,    // Index becomes i64, or i32 where it fits and the target prefers that
    detail::legalizeOps,      // ops no target emits become expressions, by the rows of decompositions()
    wholeFactors,             // where a gate that never holds left one number for all lanes
    detail::legalizeMulacc,   // float a * b + c with one rounding, unless numerics are strict
};

}  // namespace

UOp legalize(Graph& graph, UOp root, const LegalizeOptions& options) {
  for (Sweep sweep : kSweeps) root = sweep(graph, root, options);
  return root;
}

}  // namespace svod
