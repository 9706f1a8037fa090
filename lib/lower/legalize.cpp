#include "lower/legalize.h"

namespace svod {

namespace {

using Sweep = UOp (*)(Graph&, UOp root, const LegalizeOptions&);

// In the order in which they run.
constexpr Sweep kSweeps[] = {
    detail::legalizeStorage,  // bool and small floats are u8 or u16 in memory; small floats compute in f32
    detail::legalizeIndex,    // Index becomes i64, or i32 where it fits and the target prefers that
    detail::legalizeOps,      // ops no target emits become expressions, by the rows of decompositions()
    detail::legalizeMulacc,   // float a * b + c with one rounding, unless numerics are strict
};

}  // namespace

UOp legalize(Graph& graph, UOp root, const LegalizeOptions& options) {
  for (Sweep sweep : kSweeps) root = sweep(graph, root, options);
  return root;
}

}  // namespace svod
