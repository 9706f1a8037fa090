// Rules about mbarriers, tensor maps and bulk copies (an internal header of the room).
#pragma once
#include <string>

#include "ir/gpu_op.h"
#include "ir/verify.h"

namespace svod::detail {

/// "" or what is wrong with a node of a row that is about bulk copies, whose operands have their kinds.
std::string checkBulk(const NodeView& node, const GpuOpInfo& row);

}  // namespace svod::detail
