// The `.uop` text form of a graph (docs/uop.md) and one-line expressions for messages.
#pragma once
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "support/result.h"

namespace svod {

/// Every node below `root`, one line each, sources before users, `root` last. Numbers are dense and follow structure
/// only, so equal graphs have equal text. Constants stand inline as operands.
std::string toUopText(UOp root);

/// The last node of `text`, built in `graph`. Errors carry line and column; the file name is left empty.
/// Accepts any stage and whatever Graph::make can build; verify() decides whether a graph is legal.
Result<UOp> parseUop(Graph& graph, std::string_view text);

/// The node as its `.uop` line with operands one level deep: `add r0*64, 3 : index`. For error messages.
std::string toLineText(UOp node);

/// `f32[4,n*2]`; only the dtype for shape ().
std::string toTypeText(UOp node);

/// Infix form of scalar arithmetic: `r0*64 + r1`, variables by name, ranges as r<id>. Long expressions end in `...`.
std::string toExpr(UOp value, size_t maxLength = 160);

/// `"name"` with `"`, `\`, `;` and bytes outside printable ASCII escaped; the form of every name in `.uop` text.
std::string quoted(std::string_view name);

}  // namespace svod
