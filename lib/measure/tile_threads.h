// A thread pool for the tiles of a kernel, started once: its threads are warm when a run is timed.
#pragma once
#include <atomic>
#include <thread>
#include <vector>

#include "measure/code.h"

namespace svod {

/// One run: `scratch` has memory for every thread.
struct TileRun {
  KernelFunction function;
  void* const* buffers;
  const int64_t* values;
  int64_t tiles;
  void* const* scratch;
};

class TileThreads {
 public:
  /// `count` threads, the one that calls run() among them. The process ends where the system grants none.
  explicit TileThreads(int count);
  ~TileThreads();
  TileThreads(const TileThreads&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }
  /// Returns when every tile was computed, once, by one of the threads.
  void run(const TileRun& run);

 private:
  void serve(int number);
  void take(int number);

  const TileRun* run_ = nullptr;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<unsigned> number_ = 0;  // of the run
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace svod
