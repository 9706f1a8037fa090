// A graph that was built, as a graph file with the file of its large weights beside it.
#pragma once
#include <string>
#include <vector>

#include "frontend/model_writer.h"
#include "support/result.h"

namespace svod {

/// "model.safetensors" of "model.svod".
std::string weightPathOf(const std::string& path);

/// The graph and the file of its weights, both or none. Files that hold this already are left alone. Errors: Io, also
/// where another file stands in the place of the weights.
Status writeModelFiles(const std::string& path, const std::string& text, const std::vector<WrittenWeight>& weights);

}  // namespace svod
