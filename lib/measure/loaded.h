// Loaded candidates, in the process that runs them: their memory, and their code ready to be called.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/code.h"
#include "measure/guarded_buffer.h"
#include "measure/run_candidate.h"
#include "measure/tile_threads.h"

namespace svod {

/// Exit codes of that process, with which it says what ended it.
enum : int { kWrittenOutside = 90, kNoMemory = 91, kNoCode = 92, kWrittenOperand = 93 };

/// Operands and results of a kernel, each between guard pages, for all candidates: what a kernel reads alone cannot be
/// written. Ends the process where there is no memory.
class Workspace {
 public:
  /// `args`: of any candidate; they agree in what is written.
  Workspace(const KernelData& data, const std::vector<KernelArg>& args, const RunConditions& conditions);
  Workspace(const Workspace&) = delete;

  /// What is written holds again what it held at first.
  void reset();
  const std::vector<GuardedBuffer>& buffers() const { return buffers_; }
  const KernelData& data() const { return data_; }
  const RunConditions& conditions() const { return conditions_; }
  TileThreads& threads() { return threads_; }
  /// A function of a library; null where there is none.
  KernelFunction function(const std::string& library, const std::string& name);
  /// An operand in an order of its own, which cannot be written. Most candidates of a search want the same one.
  std::shared_ptr<const GuardedBuffer> inOrder(const ConstantLayout& layout, size_t elementBytes);

 private:
  struct Ordered {
    ConstantLayout layout;
    std::shared_ptr<const GuardedBuffer> buffer;
  };

  const KernelData& data_;
  std::vector<bool> isWritten_;
  std::vector<GuardedBuffer> buffers_;
  std::map<std::string, void*> libraries_;
  std::deque<Ordered> ordered_;  // the ones asked for last, the very last one first
  RunConditions conditions_;
  TileThreads threads_;
};

/// A candidate ready to be called. Ends the process where that cannot be.
class Loaded {
 public:
  Loaded(const CandidateCode& code, Workspace& workspace);

  int64_t tiles() const { return code_.tiles; }
  const RunConditions& conditions() const { return workspace_.conditions(); }
  void run() const { run(tiles()); }
  void run(int64_t tiles) const;
  /// Of one run, as the mean of so many. With fewer `tiles` than there are only the first of them run, and the time is
  /// scaled to all.
  double nanosecondsOf(int64_t runs, int64_t tiles) const;
  double nanosecondsOf(int64_t runs) const { return nanosecondsOf(runs, tiles()); }
  /// The first run, or the first of its tiles: ends the process where anything is touched besides its buffers.
  /// Nanoseconds, scaled to all tiles.
  double runWatched(int64_t tiles) const;
  double runWatched() const { return runWatched(tiles()); }
  /// What is wrong with the values it wrote.
  std::optional<std::string> wrongValues() const;
  /// How far they are off at most, as worstUnits() (test_data.h) says.
  double error() const;
  std::span<const std::byte> bytes(size_t slot) const { return workspace_.buffers()[slot].bytes(); }

 private:
  /// Everything that it may touch.
  std::vector<const GuardedBuffer*> touched() const;
  void coolDown() const;

  const CandidateCode& code_;
  Workspace& workspace_;
  std::vector<std::shared_ptr<const GuardedBuffer>> own_;  // operands in an order of its own, and scratch memory
  std::vector<void*> pointers_;
  std::vector<void*> scratch_;  // of every thread
  KernelFunction function_ = nullptr;
};

/// On one processor from here on: the last of those there are.
void pin();

}  // namespace svod
