// Seeds: what each strategy that fits a kernel makes of it, alone and with one of its own choices the other way.
#pragma once
#include <optional>
#include <vector>

#include "choose/strategies.h"
#include "cost/kernel_cost.h"

namespace svod {

struct Seed {
  Choice choice;
  UOp sink;  // with its opts, as the last of them leaves it
  Branches branches;
  std::span<const Strategy> candidates;  // the strategy that made it, and those that come after it
};

/// Of the first of `candidates` that works out on a kernel as preparations left it, all choices its own but `other`;
/// nothing where none does.
std::optional<Seed> firstSeed(std::span<const Strategy> candidates, const Chooser& prepared,
                              std::optional<Branch> other = {});
/// What these make of it, and the first one with a choice the other way; in order of preference, no kernel twice.
std::vector<Seed> otherSeeds(const Chooser& prepared, const Seed& first);

/// Of those whose prices are held against that of `first`: strategies that are priced as its own is, all choices their
/// own, and its own with lanes along the other loop where some of the first would be idle.
std::vector<Seed> seedsPricedAlike(const Chooser& prepared, const Seed& first);
/// How many times as fast as `first` a seed has to be expected to displace it.
double marginOf(const Seed& seed, const Seed& first);

/// What the cost model expects of it.
KernelTime timeOf(const Seed& seed, const Chooser& prepared);

}  // namespace svod
