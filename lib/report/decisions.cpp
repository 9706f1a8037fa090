#include "report/report.h"
#include "support/decision.h"

namespace svod {

namespace {

std::string alternativesText(const Decision& decision) {
  std::string text;
  for (const Alternative& a : decision.alternatives)
    text += (text.empty() ? "" : ", ") + a.value + (a.cost ? " " + Cell(*a.cost).text() : "");
  return text;
}

}  // namespace

Section decisionsOf(const Plan& plan) {
  Table table{
      "decisions",
      {{"name", "decision"}, {"value", "value"}, {"alternatives", "alternatives and costs"}, {"reason", "reason"}},
      {}};
  for (const std::string& line : plan.decisions)
    if (const Result<Decision> d = parseDecision(line))
      table.rows.push_back({d->name, d->value(), alternativesText(*d), d->reason});
  return {"decisions", "Decisions about the graph", {table}};
}

}  // namespace svod
