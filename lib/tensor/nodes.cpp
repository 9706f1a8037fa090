#include "tensor/nodes.h"

namespace svod {

Readers::Readers(std::span<const UOp> order) {
  for (UOp n : order)
    for (UOp s : n.src()) {
      if (s.id() >= entries_.size()) entries_.resize(s.id() + 1);
      Entry& entry = entries_[s.id()];
      entry.only = entry.count == 0 || entry.only == n ? n : UOp();
      ++entry.count;
    }
}

}  // namespace svod
