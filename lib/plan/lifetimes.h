// When the buffers of a plan are in use, and which of them may lie on the same bytes.
#pragma once
#include <vector>

#include "plan/memory_plan.h"

namespace svod {

/// Borrows the problem.
class Lifetimes {
 public:
  /// With `byProgramOrder`, steps count as ordered by their index.
  Lifetimes(const MemoryProblem& problem, bool byProgramOrder);

  bool isUsed(uint32_t buffer) const { return !life_[buffer].users.empty(); }
  uint32_t firstUser(uint32_t buffer) const { return life_[buffer].users.front(); }
  uint32_t lastUser(uint32_t buffer) const { return life_[buffer].users.back(); }
  /// Every user of one is done before any writer of the other begins.
  bool areApart(uint32_t a, uint32_t b) const { return diesBefore(a, b) || diesBefore(b, a); }
  /// The same of `a` before `b`, except that one step may be both the last user of `a` and the first writer of `b`.
  bool diesWith(uint32_t a, uint32_t b) const;

 private:
  struct Life {
    std::vector<uint32_t> users;    // steps that touch it, increasing
    std::vector<uint32_t> writers;  // those that write it
  };
  /// The part of a life that decides most pairs of buffers at a glance.
  struct Summary {
    uint32_t first = 0, last = 0;  // the steps that touch it lie between them, both included
    uint32_t firstWrite = 0;       // the first step that writes it
    uint32_t allBefore = 0;        // every step below this one is an ancestor of every writer
    uint32_t noneFrom = 0;         // no step from this one on is an ancestor of every writer
    uint32_t allFrom = 0;          // every step from this one to `noneFrom` is an ancestor of every writer
  };
  void summarize();
  bool precedes(uint32_t first, uint32_t then) const {
    return byProgramOrder_ ? first < then : first < then && ancestors_.precedes(first, then);
  }
  bool diesBefore(uint32_t a, uint32_t b) const;

  bool byProgramOrder_;
  Ancestors ancestors_;
  std::vector<Life> life_;  // by buffer, as the next
  std::vector<Summary> summaries_;
};

}  // namespace svod
