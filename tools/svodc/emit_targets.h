// One command may write what is compiled for several targets: a plan of machine code, say, and the same graph in C.
#pragma once
#include "emit.h"

namespace svod {

/// What is compiled for one target, and what becomes of it.
struct EmitPart {
  Request request;  // as if it were asked for alone; only that of the first part has -o
  std::vector<Emission> emissions;
  BuildResult build = {};
};

/// At least one part; the first is for the target of -o, where that is given. Errors: Usage for processors that a kind
/// cannot have.
Result<std::vector<EmitPart>> partsOf(const Request& request, std::span<const Emission> emissions);

}  // namespace svod
