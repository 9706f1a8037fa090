// Producers and loops as the elements of bodies: which must come before which.
#pragma once
#include <algorithm>
#include <map>
#include <set>

#include "schedule/producer.h"
#include "tensor/loops.h"

namespace svod {

/// Element numbers are those of the producers, then those of the loops.
class Elements {
 public:
  Elements(const std::vector<Producer>& producers, const LoopTree& loops) : loops_(loops), count_(producers.size()) {
    size_t all = count_ + loops.loops().size();
    after_.resize(all), waiting_.resize(all), isDone_.resize(all), parent_.resize(all), first_.resize(all, all);
    for (size_t i = 0; i < count_; ++i) parent_[i] = loops.of(producers[i].node), first_[i] = i;
    for (size_t l = 0; l < loops.loops().size(); ++l) parent_[count_ + l] = loops.loops()[l].parent;
    for (size_t i = 0; i < all; ++i)  // inner loops have smaller numbers than those around them
      if (parent_[i] >= 0) first_[ofLoop(parent_[i])] = std::min(first_[ofLoop(parent_[i])], first_[i]);
    for (size_t i = 0; i < all; ++i) members_[parent_[i]].push_back(i);
  }

  size_t ofLoop(int loop) const { return count_ + static_cast<size_t>(loop); }
  int parent(size_t element) const { return parent_[element]; }
  bool isLoop(size_t element) const { return element >= count_; }
  int loopOf(size_t element) const { return static_cast<int>(element - count_); }

  /// `from` before `to`, or what they belong to in the innermost body around both.
  void add(size_t from, size_t to) {
    lift(from, to);
    if (from == to) return;
    after_[from].push_back(to);
    ++waiting_[to];
  }
  /// Takes one add() back, also when a body was sorted that got stuck: goes on there.
  void remove(size_t from, size_t to) {
    lift(from, to);
    if (from == to || isDone_[from]) return;
    after_[from].erase(std::ranges::find(after_[from], to));
    if (--waiting_[to] > 0 || !sorted_.contains(parent_[to])) return;
    for (std::vector<size_t> ready{to}; !ready.empty();) {
      const size_t i = ready.back();
      ready.pop_back();
      isDone_[i] = true;
      for (size_t j : after_[i])
        if (--waiting_[j] == 0) ready.push_back(j);
    }
  }

  /// The elements of a body (-1: outside of loops) in order; fewer than there are if some wait for each other.
  std::vector<size_t> sorted(int loop) {
    sorted_.insert(loop);
    std::vector<size_t> sequence;
    std::set<std::pair<size_t, size_t>> ready;
    for (size_t i : members_[loop])
      if (waiting_[i] == 0) ready.emplace(first_[i], i);
    while (!ready.empty()) {
      size_t i = ready.begin()->second;
      ready.erase(ready.begin());
      sequence.push_back(i);
      isDone_[i] = true;
      for (size_t j : after_[i])
        if (--waiting_[j] == 0) ready.emplace(first_[j], j);
    }
    return sequence;
  }
  const std::vector<size_t>& members(int loop) { return members_[loop]; }
  bool isStuck(size_t element) const { return waiting_[element] > 0; }

 private:
  /// To the members of the innermost body around both.
  void lift(size_t& from, size_t& to) const {
    while (parent_[from] != parent_[to]) {
      int a = depth(from), b = depth(to);
      if (a >= b) from = ofLoop(parent_[from]);
      if (b >= a) to = ofLoop(parent_[to]);
    }
  }
  int depth(size_t element) const { return parent_[element] < 0 ? 0 : loops_.loops()[parent_[element]].depth; }

  const LoopTree& loops_;
  size_t count_;
  std::vector<std::vector<size_t>> after_;  // elements that must wait for it
  std::vector<size_t> waiting_;             // how many it waits for
  std::vector<bool> isDone_;                // it has its place in the sorted body
  std::set<int> sorted_;                    // bodies
  std::vector<int> parent_;                 // loop, or -1
  std::vector<size_t> first_;               // its first producer, for ties
  std::map<int, std::vector<size_t>> members_;
};

}  // namespace svod
