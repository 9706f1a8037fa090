// Which compiler this is, to the bit.
#pragma once
#include <string>

namespace svod {

/// Names the code of this program and of the libraries it uses, LLVM among them, by their build ids. Empty when the
/// program was linked without one.
std::string compilerId();

}  // namespace svod
