// Random graph files of what networks are made of, with free sizes: the same seed gives the same file on every
// platform.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace svod {

struct FreeGraph {
  std::string text;                 // without its first line
  std::vector<std::string> pieces;  // what it is made of
};

/// Products, windows, rows, movement, sorted rows, recurrent cells and states on sizes that only a run knows. Tensors
/// have at most some ten thousand elements, so that the interpreter runs it at any of its sizes. Weights are ones.
FreeGraph freeGraph(uint64_t seed);

}  // namespace svod
