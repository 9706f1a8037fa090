#include "plan/reachability.h"

#include <algorithm>
#include <bit>

#include "support/heap_sort.h"

namespace svod {

Ancestors::Ancestors(const DepLists& deps, uint32_t begin, uint32_t end)
    : begin_(begin), words_((end - begin + 63) / 64), bits_(deps.size() * words_, 0) {
  for (size_t step = begin; step < deps.size() && words_ > 0; step++) {
    uint64_t* row = &bits_[step * words_];
    for (uint32_t dep : deps[step]) {
      if (dep < begin) continue;
      const uint64_t* from = &bits_[static_cast<size_t>(dep) * words_];
      for (size_t word = 0; word < words_; word++) row[word] |= from[word];
      if (dep < end) row[(dep - begin) / 64] |= UINT64_C(1) << ((dep - begin) % 64);
    }
  }
}

uint32_t Ancestors::prefix(uint32_t then) const {
  const uint64_t* row = &bits_[static_cast<size_t>(then) * words_];
  size_t word = 0;
  while (word < words_ && row[word] == UINT64_MAX) word++;
  const int ones = word < words_ ? std::countr_one(row[word]) : 0;
  return begin_ + static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(ones);
}

StepRange Ancestors::lastRun(uint32_t then) const {
  const uint64_t* row = &bits_[static_cast<size_t>(then) * words_];
  size_t word = words_;
  while (word > 0 && row[word - 1] == 0) word--;
  if (word == 0) return {begin_, begin_};
  const uint64_t top = row[--word];
  const auto end = static_cast<uint32_t>(word * 64) + 64 - static_cast<uint32_t>(std::countl_zero(top));
  int ones = std::countl_one(top << std::countl_zero(top));
  uint32_t begin = end - static_cast<uint32_t>(ones);
  while (begin % 64 == 0 && word > 0) {
    ones = std::countl_one(row[--word]);
    begin -= static_cast<uint32_t>(ones);
    if (ones < 64) break;
  }
  return {begin_ + begin, begin_ + end};
}

void transitiveReduction(DepLists& deps) {
  for (std::vector<uint32_t>& list : deps) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const auto count = static_cast<uint32_t>(deps.size());
  DepLists kept(deps.size());
  for (uint32_t begin = 0; begin < count; begin += kAncestorRange) {
    const uint32_t end = std::min(count, begin + kAncestorRange);
    const Ancestors ancestors(deps, begin, end);
    for (uint32_t step = begin; step < count; step++) {
      for (uint32_t dep : deps[step]) {
        if (dep < begin || dep >= end) continue;
        const bool implied = std::any_of(deps[step].begin(), deps[step].end(),
                                         [&](uint32_t other) { return other > dep && ancestors.precedes(dep, other); });
        if (!implied) kept[step].push_back(dep);
      }
    }
  }
  deps = std::move(kept);
}

const std::pair<uint32_t, uint32_t>* findUnordered(const DepLists& deps,
                                                   std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  heapSort(pairs);
  const auto count = static_cast<uint32_t>(deps.size());
  auto pair = pairs.begin();
  for (uint32_t begin = 0; begin < count && pair != pairs.end(); begin += kAncestorRange) {
    const uint32_t end = std::min(count, begin + kAncestorRange);
    if (pair->first >= end) continue;
    const Ancestors ancestors(deps, begin, end);
    for (; pair != pairs.end() && pair->first < end; ++pair)
      if (!ancestors.precedes(pair->first, pair->second)) return &*pair;
  }
  return nullptr;
}

}  // namespace svod
