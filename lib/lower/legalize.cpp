#include "lower/legalize.h"

namespace svod {

namespace {
constexpr LegalizeStep kSteps[] = {
    {"storage", "bool and small floats are u8 or u16 in memory; small floats compute in f32, i2 to u4 in i8 and u8", detail::legalizeStorage},
    {"index", "Index becomes i64, or i32 where it fits and the target prefers that", detail::legalizeIndex},
    {"decompose", "ops no target emits become expressions, by the rows of decompositions()", detail::legalizeOps},
    {"mulacc", "float a * b + c with one rounding, unless numerics are strict", detail::legalizeMulacc},
};
}  // namespace

std::span<const LegalizeStep> legalizeSteps() { return kSteps; }

UOp legalize(Graph& graph, UOp root, const LegalizeOptions& options) {
  for (const LegalizeStep& step : kSteps) root = step.run(graph, root, options);
  return root;
}

}  // namespace svod
