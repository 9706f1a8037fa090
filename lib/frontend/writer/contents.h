// Which content of states and temporaries a statement sees at a place of the written file.
#pragma once
#include <map>
#include <vector>

#include "frontend/build_log.h"

namespace svod {

class Contents {
 public:
  /// Moves past a step.
  void pass(const BuildLog::Step& step);
  /// Whether reading the storage here gives this content: a Buffer, or After a store, the begin or the end of a loop.
  bool isCurrent(UOp content) const;

 private:
  struct Scope {
    UOp range;                        // null outside of loops
    std::map<uint32_t, UOp> effects;  // newest one, by slot
  };
  void close(UOp end);
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
};

/// The slot of the port below views and contents of it.
uint32_t slotBelow(UOp node);

}  // namespace svod
