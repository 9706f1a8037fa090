#include "target/c/op_text.h"

#include <ranges>

namespace svod {

std::set<uint32_t> neededIn(const LinearKernel& kernel) {
  std::set<uint32_t> needed;
  for (UOp n : kernel.ops | std::views::reverse) {
    if (n.dtype() == DType::Void || n.op() == Op::Range) needed.insert(n.id());
    if (!needed.contains(n.id()) || n == kernel.threadRange) continue;
    // What an order names besides effects and loops, which are needed anyway, is a value that nobody may read.
    const size_t used = n.op() == Op::After ? 1 : n.srcCount();
    for (size_t i = 0; i < used; ++i) needed.insert(n.src(i).id());
  }
  return needed;
}

std::string bitcastText(const CDialect& dialect, UOp bitcast, const std::string& x) {
  const DType from = bitcast.src(0).dtype(), to = bitcast.dtype();
  if (isInt(to) && isInt(from)) return "(" + std::string(dialect.typeName(to)) + ")" + x;
  return "bits_" + std::string(toText(from)) + "_" + std::string(toText(to)) + "(" + x + ")";
}

std::optional<std::string> foldText(const CDialect& dialect, UOp reduce, std::span<const std::string> halves) {
  const OpText* row = findText(dialect, reduce.argAs<ReduceArg>().op, reduce.dtype());
  if (row == nullptr) return std::nullopt;
  return fillText(dialect, row->text, reduce.dtype(), halves);
}

Status missingText(UOp node) {
  return fail(Diag::Verify, "op " + std::string(toText(node.op())) + " reached print; legalize must remove it",
              "add its text to lib/target/c/c_dialect.cpp or its decomposition to lib/lower/decompose.cpp");
}

}  // namespace svod
