// Decisions about the graph change how results are computed, never what they are; they are recorded, named and
// replayed.
#include <catch2/catch.hpp>
#include <set>

#include "common/graphs.h"
#include "common/random_graph.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

using namespace svod;

namespace {

/// Any alternative of any decision, the same one each time it is asked for.
DecisionRequests anyDecisions(uint64_t seed, int* others) {
  DecisionRequests requests;
  requests.choose = [seed, others](const Decision& decision) -> std::optional<size_t> {
    uint64_t hash = seed;
    for (char c : decision.name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    if (Draw(hash).chance(40)) return std::nullopt;
    const auto chosen = static_cast<size_t>(Draw(hash + 1).below(static_cast<int64_t>(decision.alternatives.size())));
    *others += chosen != decision.chosen;
    return chosen;
  };
  return requests;
}

std::string check(uint64_t seed, Numerics numerics, int* others) {
  RandomOptions drawn;
  drawn.contract = numerics == Numerics::Contract;
  drawn.loops = numerics == Numerics::Strict && seed % 3 == 0;
  drawn.steps = 16;
  Model model = randomModel(seed, drawn);
  const ModelBindings bindings = randomBindings(model, seed, drawn);
  RunOptions options;
  options.numerics = numerics;
  options.optLevel = static_cast<int>(seed % 2);
  options.decisions = anyDecisions(seed, others);
  auto expected = interpretWithBounds(model, bindings);
  if (!expected) return toText(expected.error());
  auto actual = runPlan(model, bindings, options);
  if (!actual) return toText(actual.error()) + "\n" + toUopText(model.sink);
  for (size_t i = 0; i < model.ports.size(); ++i) {
    const ModelPort& port = model.ports[i];
    if (port.kind != PortKind::Output && port.kind != PortKind::State) continue;
    const bool isStrict = numerics == Numerics::Strict;
    const bool isSame = isStrict && sameValues(expected->values[i], (*actual)[i], true);
    const std::string words = isStrict ? isSame ? "" : difference(expected->values[i], (*actual)[i], 0)
                                       : differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]);
    if (!words.empty()) return "port " + port.name + ": " + words + "\n" + toUopText(model.sink);
  }
  return "";
}

void layers(GraphMaker& m, bool withAnother) {
  UOp x = m.input("x", {64, 64}), w = m.input("w", {64, 64});
  if (withAnother) m.output("other", m.g.alu(Op::Exp, {m.reduce(Op::Add, m.g.alu(Op::Sin, {w}), {0})}));
  UOp hidden = m.softmax(m.matmul(x, w, 64, 64, 64), 64, 64);
  m.model.labels[hidden.id()] = "hidden";
  m.output("y", m.matmul(m.g.alu(Op::Exp, {hidden}), w, 64, 64, 64));
}

std::vector<std::string> decisionsAbout(bool withAnother, const DecisionRequests& requests = {}) {
  GraphMaker m;
  layers(m, withAnother);
  CompileOptions options = compileOptions({});
  options.decisions = requests;
  auto compiled = compile(m.model, options);
  if (!compiled) return {toText(compiled.error())};
  return (*compiled)->plan.decisions;
}

}  // namespace

TEST_CASE("any decisions keep the values, bit for bit in strict numerics") {
  int others = 0;
  forSeeds(250, {}, [&](uint64_t seed) { return check(seed, Numerics::Strict, &others); });
  CHECK(others > 0);
}

TEST_CASE("any decisions keep the values within the bounds of contract numerics") {
  int others = 0;
  forSeeds(250, {}, [&](uint64_t seed) { return check(seed, Numerics::Contract, &others); });
  CHECK(others > 0);
}

TEST_CASE("a plan records its decisions, and compiling with them gives the same ones") {
  const std::vector<std::string> made = decisionsAbout(false);
  REQUIRE(made.size() > 5);
  DecisionRequests same;
  for (const std::string& line : made) {
    auto decision = parseDecision(line);
    REQUIRE(decision);
    CHECK(toText(*decision) == line);
    CHECK(decision->reason != "");
    same.values.emplace(decision->name, decision->value());
  }
  CHECK(same.values.size() == made.size());
  const std::vector<std::string> again = decisionsAbout(false, same);
  REQUIRE(again.size() == made.size());
  for (size_t i = 0; i < made.size(); ++i) CHECK(parseDecision(again[i])->value() == parseDecision(made[i])->value());
}

TEST_CASE("names of decisions do not change with other parts of the graph") {
  std::set<std::string> with, without;
  for (const std::string& line : decisionsAbout(true)) with.insert(parseDecision(line)->name);
  for (const std::string& line : decisionsAbout(false)) without.insert(parseDecision(line)->name);
  CHECK(std::ranges::includes(with, without));
  CHECK(with.size() > without.size());
}

TEST_CASE("a decision can be changed; others than there are, and values that are no alternative, are errors") {
  const std::vector<std::string> changed = decisionsAbout(false, {{{"keep:hidden.exp", "keep"}}});
  const auto isChanged = [](const std::string& line) { return line.find("keep:hidden.exp=keep") == 0; };
  CHECK(std::ranges::count_if(changed, isChanged) == 1);
  CHECK(std::ranges::find_if(changed, isChanged)->find("| requested in place of fuse: ") != std::string::npos);
  const std::string unknown = decisionsAbout(false, {{{"keep:hiden.exp", "keep"}}})[0];
  CHECK(unknown.find("there is no decision 'keep:hiden.exp'") != std::string::npos);
  CHECK(unknown.find("did you mean 'keep:hidden.exp'?") != std::string::npos);
  const std::string illegal = decisionsAbout(false, {{{"keep:hidden.exp", "rows!"}}})[0];
  CHECK(illegal.find("cannot be 'rows!'") != std::string::npos);
  CHECK(illegal.find("it can be: fuse, keep") != std::string::npos);
  for (const char* line : {"", "=x", "a", "a=", "a=b | c | d", "a=b | b"}) CHECK_FALSE(parseDecision(line));
}
