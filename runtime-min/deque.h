// The ready steps of one worker: it pushes and pops at the bottom, others steal from the top (Chase and Lev's
// deque with the memory orders of Le et al., and a fixed capacity: every step is in at most one deque).
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "plan/plan.h"

namespace svod {

class Deque {
 public:
  static constexpr StepId kNone{UINT32_MAX};

  void reserve(size_t steps) {
    const size_t capacity = std::bit_ceil(steps + 1);
    slots_ = std::make_unique<std::atomic<StepId>[]>(capacity);
    mask_ = static_cast<int64_t>(capacity) - 1;
  }
  void clear() {
    top_.store(0, std::memory_order_relaxed);
    bottom_.store(0, std::memory_order_relaxed);
  }

  // By the owner.
  void push(StepId step) {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed);
    slot(bottom).store(step, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);
  }
  StepId pop() {
    const int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom, std::memory_order_seq_cst);
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_relaxed);
      return kNone;
    }
    StepId step = slot(bottom).load(std::memory_order_relaxed);
    if (top == bottom) {  // the last one: a thief may be taking it
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) step = kNone;
      bottom_.store(bottom + 1, std::memory_order_relaxed);
    }
    return step;
  }
  /// Moves a step chosen by `random` to the bottom. Only while nobody can steal.
  void shuffle(uint64_t random) {
    const int64_t top = top_.load(std::memory_order_relaxed), bottom = bottom_.load(std::memory_order_relaxed);
    if (bottom - top < 2) return;
    std::atomic<StepId>& chosen = slot(top + static_cast<int64_t>(random % static_cast<uint64_t>(bottom - top)));
    slot(bottom - 1).store(chosen.exchange(slot(bottom - 1).load()));
  }

  // By anybody.
  StepId steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    const int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom) return kNone;
    const StepId step = slot(top).load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst) ? step : kNone;
  }
  bool seemsEmpty() const { return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<StepId>& slot(int64_t at) { return slots_[static_cast<size_t>(at & mask_)]; }

  alignas(64) std::atomic<int64_t> top_{0};
  alignas(64) std::atomic<int64_t> bottom_{0};
  std::unique_ptr<std::atomic<StepId>[]> slots_;
  int64_t mask_ = 0;
};

}  // namespace svod
