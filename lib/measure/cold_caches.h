// Cold caches: memory that no cache holds, to time code as it runs when it is called once in a while.
#pragma once
#include <cstddef>
#include <span>

namespace svod {

/// Writes back what caches hold of these bytes, and removes it from all of them. Where a processor has no instruction
/// for that, more memory is read than its caches hold.
void coolCaches(std::span<const std::byte> bytes);

}  // namespace svod
