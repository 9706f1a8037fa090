// The order of what stands in one loop (an internal header of the room).
#pragma once
#include "linearize/scope_tree.h"

namespace svod {

/// The items of `loop`, each after those whose results it uses. Fails where loops depend on each other in a circle.
Result<std::vector<size_t>> sortItems(const ScopeTree& tree, size_t loop);

}  // namespace svod
