// Kernels of a schedule, those with equal content once, and its launches.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "schedule/schedule.h"

namespace svod {

/// The number of the kernel with the content of `sink`, which is added if `known` has none.
int addKernel(Schedule& schedule, std::map<Hash128, int>& known, std::unique_ptr<Graph> graph, UOp sink,
              const std::string& label);

/// Whether `end`, a source of a kernel's sink, stands in a loop that cannot run.
bool isIdle(UOp end);

/// Which arguments of the launch `sink` loads and stores.
void markAccesses(ScheduleItem& item, UOp sink);

/// Takes launches out, and kernels that no launch uses any more.
void removeItems(Schedule& schedule, const std::set<size_t>& launches);

}  // namespace svod
