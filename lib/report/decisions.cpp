#include "report/report.h"
#include "support/decision.h"

namespace svod {

namespace {

/// Decisions with more than one value to choose from come first.
bool isOpen(const Decision& decision) { return decision.alternatives.size() > 1; }

std::vector<Cell> rowOf(const Decision& decision) {
  Cell::Amounts alternatives;
  for (const Alternative& a : decision.alternatives) alternatives.emplace_back(a.value, a.cost);
  return {decision.name, decision.value(), std::move(alternatives), decision.reason};
}

}  // namespace

Section decisionsOf(const Plan& plan) {
  Table table{"decisions",
              {{"name", "decision", false, true},
               {"value", "value"},
               {"alternatives", "alternatives and ops", false, true},
               {"reason", "reason", false, true}},
              {}};
  for (const bool open : {true, false})
    for (const std::string& line : plan.decisions)
      if (const Result<Decision> d = parseDecision(line); d && isOpen(*d) == open) table.rows.push_back(rowOf(*d));
  const bool isEmpty = table.rows.empty();
  Section section{"decisions", "Decisions about the graph", {std::move(table)}};
  section.blocks.push_back(Note{isEmpty ? "Nothing about this graph is left to decide before its kernels are made."
                                        : "Ops are the cost of an alternative where it is known: the cheapest op on "
                                          "one element is 1. --decide NAME=VALUE asks for another."});
  section.blocks.push_back(Note{"How the loops of each kernel run is chosen later: --kernels shows it."});
  return section;
}

}  // namespace svod
