// Target emulated: what one thread of a workgroup does, as text that the interpreter runs.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// Of a kernel in `graph`: `kernel NAME BYTES`, and so many bytes of `.uop` text: its last node names the instructions
/// in their order.
Result<std::string> threadText(Graph& graph, const LinearKernel& kernel);

/// The kernel of this name among texts that stand one after the other, built in `graph`. Errors: BadPlan.
Result<LinearKernel> readThread(Graph& graph, std::string_view texts, std::string_view name);

}  // namespace svod
