// One row of the tables of a choice.
#pragma once
#include <span>
#include <string_view>

#include "choose/chooser.h"

namespace svod {

enum class On : uint8_t { Any, Cpu, Gpu, TensorCores };
enum class LoopOrder : uint8_t { Any, Free, Serial };  // Serial: some loop must run in order

/// One way to run the loops of a kernel, or a step that comes before or after. `suits` sees the kernel as preparations
/// left it; null where `on` and `order` say all. `run` works on a trial: false says that the kernel is none of these
/// after all, and what it did is taken back. Rows that name the same `model` are priced by formulas that are held
/// against each other: the cheaper one is taken.
struct Strategy {
  std::string_view name, what;
  On on;
  LoopOrder order;
  bool (*suits)(const KernelFacts& kernel, const Caps& caps);
  bool (*run)(Chooser& chooser);
  std::string_view model = {};
};

inline bool arePricedAlike(const Strategy& a, const Strategy& b) { return !a.model.empty() && a.model == b.model; }
bool fits(const Strategy& strategy, const KernelFacts& kernel, const Caps& caps);
/// Runs every row that fits, in order.
void runAll(std::span<const Strategy> steps, Chooser& chooser);

}  // namespace svod
