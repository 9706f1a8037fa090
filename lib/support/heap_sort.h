// Sorting where speed is not what counts: a third of the code that std::sort is for each type and order. The runtime
// sorts by it what it does once per plan or binding.
#pragma once
#include <algorithm>
#include <functional>

namespace svod {

/// Equal elements come in any order, always the same one. Allocates nothing.
template <class Range, class Less = std::less<>>
void heapSort(Range& range, Less less = {}) {
  std::make_heap(range.begin(), range.end(), less);
  std::sort_heap(range.begin(), range.end(), less);
}

}  // namespace svod
