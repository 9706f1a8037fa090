// Target emulated: what one thread of a workgroup does, as text that the interpreter runs.
#pragma once
#include <string>
#include <string_view>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// Of a kernel in `graph`, as `.uop` text: its last node names the instructions in their order.
Result<std::string> threadText(Graph& graph, const LinearKernel& kernel);

/// The kernel called `name` of such a text, built in `graph`. Errors: those of parseUop.
Result<LinearKernel> readThread(Graph& graph, std::string_view text, std::string_view name);

}  // namespace svod
