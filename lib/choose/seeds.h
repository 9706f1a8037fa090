// Seeds: what each strategy that fits a kernel makes of it, alone and with one of its own choices the other way.
#pragma once
#include <optional>
#include <vector>

#include "choose/chooser.h"

namespace svod {

struct Seed {
  Choice choice;
  UOp sink;  // with its opts, as the last of them leaves it
  Branches branches;
};

/// The kernel as the preparations leave it. Borrows all of its arguments.
Chooser prepare(Graph& graph, UOp sink, const Caps& caps, FactsCache& cache);

/// Of the first strategy that works out, all choices its own; nothing where none does.
std::optional<Seed> firstSeed(const Chooser& prepared);
/// Whether there may be others: another strategy fits, or the first one had a choice.
bool hasOthers(const Chooser& prepared, const Seed& first);
/// Those, in order of preference, no kernel twice.
std::vector<Seed> otherSeeds(const Chooser& prepared, const Seed& first);

/// Nanoseconds that the cost model expects of it.
struct SeedTime {
  double oneThread, shared;  // on one thread; by the workers that share its tiles
};
SeedTime timeOf(const Seed& seed, const Chooser& prepared);

}  // namespace svod
