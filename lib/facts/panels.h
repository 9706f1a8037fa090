// Panels: what the sums of some columns of a result read of one operand.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "facts/kernel_facts.h"

namespace svod {

/// What a reduce reads of one operand for one column of the result.
struct Panel {
  uint32_t slot;
  std::vector<UOp> reduceAxes;  // the ones the operand depends on, outermost first
  int64_t elementBytes, bytesPerColumn;
  int64_t rowStride;  // elements between neighbours along the innermost of them
};
/// Nothing when the operand depends on no loop of the reduce, or in no regular way.
std::optional<Panel> panelOf(const Access& load, UOp reduce);

/// The panel of the operand that depends on the columns `lanes` and not on `rowAxis`: every row reads it again. `slot`
/// names one that may have any strides; without it only one that is contiguous along the lanes, or whose slot is among
/// `laidOut`.
std::optional<Panel> panelForRows(const KernelFacts& kernel, UOp reduce, UOp lanes, UOp rowAxis,
                                  std::span<const uint32_t> laidOut, std::optional<uint32_t> slot);

}  // namespace svod
