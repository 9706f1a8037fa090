// What is found out about dims by trying values of their variables, once for each (an internal header of the room).
#pragma once
#include <map>

#include "ir/uop.h"

namespace svod {

/// Of the dims of one graph.
class KnownDims {
 public:
  /// Whether some values of the variables make the dim negative; true also when there are too many to try.
  bool mayBeNegative(UOp dim);
  /// Whether the dim, written as a tree, is too large an expression to be carried along.
  bool isTooComplicated(UOp dim);

 private:
  int sizeOf(UOp dim);

  std::map<uint32_t, bool> isNegative_;  // by id: for some values of the variables
  std::map<uint32_t, int> sizes_;        // by id
};

}  // namespace svod
