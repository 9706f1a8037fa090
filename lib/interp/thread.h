// One thread of a workgroup that executes an instruction list (an internal header of the room).
#pragma once
#include <cstdint>
#include <vector>

#include "interp/copies.h"
#include "interp/interp.h"
#include "interp/mbarriers.h"
#include "interp/storage.h"

namespace svod {

/// What an instruction list needs besides itself, found once: positions, loops, storage.
inline constexpr size_t kNoPosition = SIZE_MAX;

struct PreparedKernel {
  const LinearKernel& kernel;
  std::vector<size_t> positionOf;  // by node id: position in ops, or kNoPosition
  std::vector<size_t> loopEnd;     // by position of a Range: position of its End
  std::vector<size_t> specials;    // positions
};

/// What the threads of a workgroup share.
struct GroupMemory {
  std::vector<HostTensor> buffers;  // by position of a Local Buffer
  Mbarriers mbarriers;
};

/// One thread: registers, loop counters and where it stands. `group` storage is shared by its workgroup.
class Thread {
 public:
  Thread(const PreparedKernel& program, std::span<HostTensor> buffers, const VariableValues& variables,
         GroupMemory& group, std::pair<int64_t, int64_t> tiles)
      : program_(program), buffers_(buffers), variables_(variables), group_(group), tiles_(tiles),
        registers_(program.kernel.ops.size()), own_(program.kernel.ops.size()) {}

  void setSpecial(size_t position, int64_t value) {
    registers_[position] = LaneValues(Scalar::ofInt(program_.kernel.ops[position].dtype(), value));
  }

  /// Runs to the next op that threads execute together, to the end (null), or to a wait that is not over.
  Result<UOp> runToMeeting();
  bool isWaiting() const { return isWaiting_; }
  size_t position() const { return at_; }
  Result<Address> address(UOp index);
  const LaneValues& operand(UOp user, size_t i) const { return valueOf(user.src(i)); }
  void leave(LaneValues result = {}) { registers_[at_++] = std::move(result); }

 private:
  size_t positionOf(UOp u) const { return program_.positionOf[u.id()]; }
  const LaneValues& valueOf(UOp u) const { return registers_[positionOf(u)]; }
  LaneValues& here() { return registers_[at_]; }

  Status step(UOp u);
  Status execute(UOp u);

  // Loops: a counter starts at its Range, and its End steps it or lets the thread pass.
  Status enterLoop(UOp range);
  // An empty inner loop whose End also closes outer ranges still has to step those.
  Status skippedOuter(UOp range);
  Status closeLoops(UOp end) { return stepOuter(end, end.srcCount()); }
  // Steps the ranges of `end` below `count`, innermost first; the first that has a next value runs again.
  Status stepOuter(UOp end, size_t count);
  int64_t limitOf(UOp range) const;

  HostTensor& localOf(UOp buffer);
  void openLocal(UOp buffer);
  Status load(UOp u);
  Status store(UOp u);
  Status executeAlone(UOp instruction);
  Status executeBulk(UOp instruction);

  const PreparedKernel& program_;
  std::span<HostTensor> buffers_;
  const VariableValues& variables_;
  GroupMemory& group_;
  std::pair<int64_t, int64_t> tiles_;
  std::vector<LaneValues> registers_;  // by position
  std::vector<HostTensor> own_;        // by position of a Reg Buffer
  Copies copies_;
  size_t at_ = 0;
  bool isWaiting_ = false;  // at an mbarrier
};

}  // namespace svod
