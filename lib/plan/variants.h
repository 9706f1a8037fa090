// The processors that a plan has code for: its own, and those of its variants. One of them runs.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace svod {

struct Processor {
  std::string cpu;
  std::vector<std::string> features;
};

/// That of `target` first, then those of the variants in their order.
std::vector<Processor> processorsOf(const Plan& plan);

/// Their indices, the best first: the one with the most features, the first of equals.
std::vector<size_t> byPreference(std::span<const Processor> processors);

/// Of the processors that lack nothing the best: an index of `missing`, which has what this machine lacks of each.
/// Nothing where all lack something.
std::optional<size_t> bestOf(std::span<const Processor> processors, std::span<const std::vector<std::string>> missing);

/// The plan as it is for processorsOf()[processor]: without variants. It must have passed `check`.
void takeVariant(Plan& plan, size_t processor);

}  // namespace svod
