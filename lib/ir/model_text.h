// The text form of a model: its graph as `.uop`, behind a comment for each port, which readers of graphs may skip.
#pragma once
#include <string>
#include <string_view>

#include "ir/model.h"
#include "support/result.h"

namespace svod {

std::string_view toText(PortKind kind);

/// `; port SLOT KIND "NAME"` for each port, then the graph below `sink`.
std::string toText(const Model& model, UOp sink);

/// The inverse, but for the data of ports. Where no line names a port, one that is stored to is an output, or a state
/// if it is read as well, all others are inputs, and it is called after its slot. Errors: Syntax, with line and column,
/// and what parseUop() says.
Result<Model> parseModel(std::string_view text);

}  // namespace svod
