// What is ordered: values and stores, with the items that make them.
#pragma once
#include <vector>

#include "schedule/schedule.h"

namespace svod {

/// One value that is written by items of its own: a kept value, or a Store of the tensor graph.
struct Producer {
  UOp node;
  std::vector<ScheduleItem> items;
  std::vector<UOp> reads;  // storage nodes read by any of the items
};

}  // namespace svod
