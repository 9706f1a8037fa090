#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "search/plan_search.h"

using namespace svod;

namespace {

/// A machine on which the time of a plan is a product of factors, one for each value that is not the baseline;
/// plans may crash, hang or be wrong by what was asked for.
class SimulatedPlans : public PlanMeasure {
 public:
  struct Value {
    std::string name, value;
    double factor;    // of the time
    double expected;  // of what the cost model says
    Outcome end = Outcome::Timed;
  };

  std::vector<Decision> decisions = {{"keep:a.add", {{"keep", 100}, {"fuse", 120}}, 0, ""},
                                     {"keep:b.add", {{"keep", 100}, {"fuse", 90}}, 0, ""},
                                     {"keep:c.add", {{"keep", 100}, {"fuse", 70}}, 0, ""},
                                     {"conv:d.reduce", {{"direct", {}}, {"winograd", {}}}, 0, ""},
                                     {"split:e.reduce", {{"1", 10}, {"2", 11}, {"4", 12}}, 1, ""}};
  std::vector<Value> values;
  size_t most = SIZE_MAX, priceable = SIZE_MAX;
  std::map<std::string, double> kernels;  // nanoseconds of the kernel that a decision changes
  std::vector<Asked> priced, compared;

  PlanForecast price(const Asked& asked) override {
    priced.push_back(asked);
    PlanForecast plan{decisions, 1000, "", ""};
    for (const auto& [name, value] : asked) {
      const auto found = std::ranges::find(plan.decisions, name, &Decision::name);
      if (found == plan.decisions.end()) return {{}, 0, "", "there is no decision '" + name + "'"};
      const auto at = std::ranges::find(found->alternatives, value, &Alternative::value);
      if (at == found->alternatives.end()) return {{}, 0, "", "it cannot be that"};
      found->chosen = static_cast<size_t>(at - found->alternatives.begin());
    }
    for (const Decision& d : plan.decisions)
      plan.plan += d.name == "split:e.reduce" && d.value() == "4" ? "2" : d.value();
    plan.nanoseconds = product(asked, 1000, &Value::expected);
    for (const auto& [name, time] : kernels) {
      const auto found = asked.find(name);
      plan.kernels[name + (found == asked.end() ? "" : found->second)] = time;
    }
    return plan;
  }
  TrialResult compare(const PlanCandidate& candidate, const PlanCandidate& than) override {
    compared.push_back(candidate.asked);
    for (const auto& [name, value] : candidate.asked)
      for (const Value& v : values)
        if (v.name == name && v.value == value && v.end != Outcome::Timed) return {v.end, "planted"};
    const double ratio = timeOf(candidate.asked) / timeOf(than.asked);
    return {ratio < 0.98 ? Outcome::Wins : Outcome::Loses, "", timeOf(candidate.asked), 0.01, ratio, 20};
  }
  bool isOver() override { return compared.size() >= most; }
  bool isPricingOver() override { return priced.size() >= priceable; }

  double timeOf(const Asked& asked) const { return product(asked, 1e6, &Value::factor); }

 private:
  double product(const Asked& asked, double start, double Value::* factor) const {
    for (const auto& [name, value] : asked)
      for (const Value& v : values)
        if (v.name == name && v.value == value) start *= v.*factor;
    return start;
  }
};

struct Run {
  PlanSearchResult result;
  std::vector<std::pair<Asked, TrialResult>> records;
};

Run run(SimulatedPlans& plans, const Asked& base = {}, const std::vector<Asked>& hints = {}, KnownPlans known = {}) {
  Run run;
  auto result =
      searchPlans(plans, base, hints, {}, std::move(known), [&](const PlanCandidate& c, const TrialResult& v) {
        run.records.emplace_back(c.asked, v);
        return Status();
      });
  REQUIRE(result);
  run.result = std::move(*result);
  return run;
}

KnownPlans knownFrom(const Run& run, size_t records) {
  KnownPlans known;
  for (size_t i = 0; i < std::min(records, run.records.size()); ++i)
    known[run.records[i].first] = run.records[i].second;
  return known;
}

}  // namespace

TEST_CASE("A decision that gains is found, also behind another one") {
  SimulatedPlans plans;
  plans.values = {{"keep:a.add", "fuse", 0.9, 1.01},
                  {"conv:d.reduce", "winograd", 0.7, 0.8},
                  {"keep:b.add", "fuse", 1.1, 0.9},
                  {"keep:c.add", "fuse", 1.3, 2}};
  const Run found = run(plans);
  REQUIRE(found.result.winner);
  CHECK(found.result.winner->asked == Asked{{"conv:d.reduce", "winograd"}, {"keep:a.add", "fuse"}});
  CHECK(found.result.ratio == Approx(0.63));
  CHECK(found.records.back().second.ratio >= 0.63);
  // What the cost model expects to be much slower is not even measured.
  CHECK(found.result.hopeless > 0);
  CHECK(std::ranges::none_of(plans.compared, [](const Asked& asked) { return asked.contains("keep:c.add"); }));
}

TEST_CASE("Decisions that only pay together are tried as all of their kind") {
  SimulatedPlans plans;
  for (const char* name : {"keep:a.add", "keep:b.add"}) plans.values.push_back({name, "fuse", 1.01, 1});
  plans.values.push_back({"keep:c.add", "fuse", 0.8, 1});
  plans.most = 1;
  const Run found = run(plans);
  REQUIRE(found.records.size() == 2);
  CHECK(found.records[0].first.size() == 3);  // the kind, whose parts cost nothing more together
  CHECK(found.result.winner->origin == "every keep");
}

TEST_CASE("Plans that crash, hang or are wrong are recorded and never win") {
  SimulatedPlans plans;
  plans.values = {{"keep:a.add", "fuse", 0.5, 0.5, Outcome::Crashed},
                  {"keep:b.add", "fuse", 0.5, 0.5, Outcome::Wrong},
                  {"conv:d.reduce", "winograd", 0.5, 0.5, Outcome::Hung},
                  {"keep:c.add", "fuse", 0.9, 0.9}};
  const Run found = run(plans);
  REQUIRE(found.result.winner);
  CHECK(found.result.winner->asked == Asked{{"keep:c.add", "fuse"}});
  for (Outcome outcome : {Outcome::Crashed, Outcome::Wrong, Outcome::Hung})
    CHECK(found.result.outcomes.at(outcome) > 0);
  for (size_t i = 0; i < found.records.size(); i += 2) {  // begun, and what became of it
    CHECK(found.records[i].second.outcome == Outcome::Started);
    CHECK(found.records[i].first == found.records[i + 1].first);
  }
}

TEST_CASE("Plans of the same kernels are measured once") {
  SimulatedPlans plans;
  plans.values = {{"split:e.reduce", "1", 0.9, 0.9}};
  const Run found = run(plans);
  CHECK(found.result.same > 0);  // 4 parts are what 2 are
  std::set<Asked> once(plans.compared.begin(), plans.compared.end());
  CHECK(once.size() == plans.compared.size());
  CHECK(std::ranges::count_if(plans.compared, [](const Asked& a) { return a == Asked{{"split:e.reduce", "4"}}; }) == 0);
}

TEST_CASE("What a user asked for is never changed, and a hint that lost does not win") {
  SimulatedPlans plans;
  plans.values = {{"keep:a.add", "fuse", 0.5, 0.5}, {"keep:b.add", "fuse", 0.9, 0.9}, {"keep:c.add", "fuse", 2, 1}};
  const Run found = run(plans, {{"keep:a.add", "keep"}}, {{{"keep:c.add", "fuse"}, {"keep:a.add", "fuse"}}});
  for (const Asked& asked : plans.priced) CHECK(asked.at("keep:a.add") == "keep");
  CHECK(plans.compared[0] == Asked{{"keep:a.add", "keep"}, {"keep:c.add", "fuse"}});  // the hint is begun with
  CHECK(found.result.winner->asked == Asked{{"keep:a.add", "keep"}, {"keep:b.add", "fuse"}});
}

TEST_CASE("A search of decisions that was cut off goes on from its records and ends alike") {
  SimulatedPlans plans;
  plans.values = {
      {"keep:a.add", "fuse", 0.9, 0.9}, {"keep:b.add", "fuse", 0.95, 0.9}, {"conv:d.reduce", "winograd", 0.8, 1}};
  const SimulatedPlans fresh = plans;
  const Run whole = run(plans);
  for (size_t cut = 0; cut <= whole.records.size(); cut += 2) {
    SimulatedPlans again = fresh;
    const Run rest = run(again, {}, {}, knownFrom(whole, cut));
    CHECK(rest.result.winner->asked == whole.result.winner->asked);
    CHECK(rest.result.measured == whole.result.measured - cut / 2);
    CHECK(rest.result.ratio == whole.result.ratio);
  }
}

TEST_CASE("Plans of which too little differs are not measured, and pricing ends where its time does") {
  SimulatedPlans plans;
  plans.kernels = {{"keep:a.add", 10}, {"keep:c.add", 200}};
  const Run found = run(plans);
  CHECK(found.result.small > 0);
  for (const Asked& asked : plans.compared) CHECK((asked.contains("keep:c.add") || asked.size() > 1));
  SimulatedPlans late;
  late.priceable = 3;
  CHECK(run(late).result.priced <= 5);
  CHECK(!late.compared.empty());
}

TEST_CASE("A search of decisions says whether it was cut off") {
  SimulatedPlans plans;
  plans.values = {{"keep:a.add", "fuse", 0.9, 0.9}};
  CHECK(!run(plans).result.isCut);
  for (const size_t most : {0, 1}) {
    SimulatedPlans cut;
    cut.values = plans.values, cut.most = most;
    CHECK(run(cut).result.isCut);
  }
}

TEST_CASE("A graph that cannot be planned has no winner") {
  SimulatedPlans plans;
  const Run found = run(plans, {{"keep:nobody", "keep"}});
  CHECK(!found.result.winner);
  CHECK(plans.compared.empty());
}
