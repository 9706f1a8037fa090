// Rule sets run as passes: statistics, disabled rules, rules that fight.
#include <catch2/catch.hpp>

#include "pass/rule_pass.h"
#include "rewrite/dsl.h"

using namespace svod;

namespace {

constexpr Rule kSimple[] = {rule("add-zero", x + 0, x, kInts), rule("mul-one", x * 1, x, kInts)};
constexpr RuleGroup kSimpleGroup{"simple", kSimple};
constexpr RuleSet kSimpleSet{"simple", {&kSimpleGroup}};

[[maybe_unused]] constexpr Rule kFighting[] = {rule("to-double", x + x, x * 2, kInts),
                                               rule("to-sum", x * 2, x + x, kInts)};
constexpr RuleGroup kFightingGroup{"fighting", kFighting};
[[maybe_unused]] constexpr RuleSet kFightingSet{"fighting", {&kFightingGroup}};

UOp storeOf(Graph& g, UOp value) {
  UOp buffer = g.buffer(value.dtype(), std::vector<UOp>{g.index(4)}, {0});
  return g.make(Op::Sink, DType::Void, {g.make(Op::Store, DType::Void, {buffer, value})});
}

struct Setup {
  Graph graph;
  PassLog log;
  PassOptions options;
  PassContext cx{graph, log, options, "k", Numerics::Strict, {}};
  UOp v = graph.make(Op::Var, DType::I32, std::span<const UOp>{}, VarArg{"v", 0, 9});
  UOp number(int64_t n) { return graph.constant(Scalar::ofInt(DType::I32, n)); }
};

constexpr Pass kPasses[] = {{"simple", "drops neutral elements", Stage::Tensor, Stage::Tensor, rules<kSimpleSet>}};

}  // namespace

TEST_CASE("a rule pass rewrites and counts") {
  Setup s;
  s.options.ruleStats = true;
  UOp root = storeOf(s.graph, s.graph.alu(Op::Mul, {s.graph.alu(Op::Add, {s.v, s.number(0)}), s.number(1)}));
  Result<UOp> out = runPipeline(kPasses, root, s.cx);
  REQUIRE(out.has_value());
  CHECK(*out == storeOf(s.graph, s.v));
  CHECK(s.log.rules["add-zero"].hits == 1);
  CHECK(s.log.rules["mul-one"].hits == 1);
}

TEST_CASE("disabled rules do not fire") {
  Setup s;
  s.options.disabledRules = {"add-zero"};
  UOp root = storeOf(s.graph, s.graph.alu(Op::Add, {s.v, s.number(0)}));
  CHECK(*runPipeline(kPasses, root, s.cx) == root);
  CHECK(s.log.rules.empty());
}

#ifdef NDEBUG  // otherwise the engine stops at once
TEST_CASE("rules that undo each other are an error that names them") {
  Setup s;
  Result<UOp> out = runRules(storeOf(s.graph, s.graph.alu(Op::Add, {s.v, s.v})), s.cx, kFightingSet);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error()->message.find("to-sum") != std::string::npos);
}
#endif
