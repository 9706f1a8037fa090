// Weight prepacking: operands whose values are known when the plan is built stand in memory in the order in which the
// kernel reads them, so that no panel is packed at run time and every stream runs forward.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/large_pages.h"

namespace svod {

/// Where element (i0, i1, ..) of the new order, row-major over `dims`, stands in the operand as the graph has it: at
/// table[sum of ij * step] + sum of ij * stride. Positions outside of the operand are never read.
struct ConstantLayout {
  struct Dim {
    int64_t extent, stride, step;
    bool operator==(const Dim&) const = default;
  };
  uint32_t slot;  // of the parameter
  std::vector<Dim> dims;
  std::vector<int64_t> table;

  int64_t elements() const;
  bool operator==(const ConstantLayout&) const = default;
};

/// Kernel stage: the order in which the loops of the kernel read parameter `slot`, outermost loop first, lanes last.
/// Nothing where several loads or a gated one read it, where the address depends on more than counters, or where the
/// order repeats so many elements that the copy would be much larger.
std::optional<ConstantLayout> readingOrder(Graph& graph, UOp sink, uint32_t slot);

/// The kernel reading each of `slots` in its order in `given`, where there is one that it can read in, and otherwise in
/// the order above, where that is another than the operand has. `layouts` gets what was done.
UOp layOutConstants(Graph& graph, UOp sink, std::span<const uint32_t> slots, std::span<const ConstantLayout> given,
                    std::vector<ConstantLayout>& layouts);

/// Text that layoutsFromText() reads back; nothing for any other text.
std::string toText(const std::vector<ConstantLayout>& layouts);
std::optional<std::vector<ConstantLayout>> layoutsFromText(const std::string& text);

/// The elements of an operand in their new order; zeros where there is none.
LargeBytes laidOut(const ConstantLayout& layout, std::span<const std::byte> operand, size_t elementBytes);

}  // namespace svod
