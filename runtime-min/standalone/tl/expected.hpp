// Result<T> of the runtime library without the package tl-expected: C++23 has the same type.
#pragma once
#include <expected>

namespace tl {
using std::expected;
using std::unexpected;
}  // namespace tl
