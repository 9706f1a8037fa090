#include "report/report.h"
#include "support/decision.h"

namespace svod {

namespace {

/// Decisions with more than one value to choose from come first, and lines that are none, which a damaged plan has,
/// last.
int orderOf(const Result<Decision>& decision) { return !decision ? 2 : decision->alternatives.size() > 1 ? 0 : 1; }

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
  for (const int order : {0, 1, 2})
    for (const std::string& line : plan.decisions)
      if (const Result<Decision> d = parseDecision(line); orderOf(d) == order)
        table.rows.push_back(d ? rowOf(*d) : std::vector<Cell>{line, "", Cell::Amounts(), "this is no decision"});
  const bool isEmpty = table.rows.empty();
  Section section{"decisions", "Decisions about the graph", {std::move(table)}};
  section.blocks.push_back(Note{isEmpty ? "Nothing about this graph is left to decide before its kernels are made."
                                        : "Ops are the cost of an alternative where it is known: the cheapest op on "
                                          "one element is 1. --decide NAME=VALUE asks for another."});
  section.blocks.push_back(Note{"How the loops of each kernel run is chosen later: --kernels shows it."});
  return section;
}

}  // namespace svod
