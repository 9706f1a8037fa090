// Tuning tasks: each distinct kernel of some graphs once.
#pragma once
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tune/graph.h"

namespace svod {

struct TuneKernel {
  const BuiltGraph* build;
  const CompiledKernel* kernel;
  std::string hash;
  int64_t launches = 0;  // steps of all graphs
  double predicted = 0;  // nanoseconds of one of them, on one thread
  double weight() const { return predicted * static_cast<double>(launches); }
};

/// Of all compiles, the one with the greatest weight first.
std::vector<TuneKernel> kernelsToTune(std::span<const BuiltGraph* const> builds);
/// Of graphs as -O1 makes them.
std::vector<TuneKernel> kernelsToTune(const std::deque<TuneGraph>& graphs);

/// Steps of one plan, by the hash of their kernel.
std::map<std::string, int64_t> launchesOf(const Compilation& compilation);

/// At most `longest` characters of a kernel's name, which are many: of its begin, which says where it comes from, and
/// of its end, which tells it from others.
std::string shortName(const std::string& name, size_t longest);

}  // namespace svod
