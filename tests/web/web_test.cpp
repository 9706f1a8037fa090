#include <catch2/catch.hpp>

#include "web/check.h"
#include "web/layout.h"
#include "web/names.h"

using namespace svod;
using namespace svod::web;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

Plan planWithConstants(std::initializer_list<uint64_t> sizes) {
  Plan plan;
  uint64_t at = 0;
  for (const uint64_t bytes : sizes) {
    BufferDesc buffer;
    buffer.place = Place::Constant;
    buffer.constant = ConstantId(plan.constants.size());
    plan.buffers.push_back(buffer);
    plan.constants.push_back({FileId(0u), at, bytes});
    at += (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  }
  return plan;
}

Variable variable(const std::string& name, int64_t max = 100) { return {name, 0, max, VariableKind::Free, 0, {}}; }

BufferDesc buffer(ElementType type, Place place, uint64_t bytes) {
  BufferDesc made;
  made.name = "v", made.dtype = type, made.place = place, made.bytes = bytes;
  return made;
}

/// Copies an input of so many bytes into a view of an output.
Plan planWithCopy(ElementType type, uint64_t offset, int64_t bytes) {
  Plan plan;
  plan.buffers = {buffer(type, Place::Input, 64), buffer(type, Place::Output, 64), buffer(type, Place::View, 32)};
  plan.buffers[BufferId(2u)].base = BufferId(1u);
  plan.buffers[BufferId(2u)].offset = offset;
  plan.inputs = {{"x", BufferId(0u), {64}}};
  plan.outputs = {{"y", BufferId(1u), {64}}};
  plan.steps = {{{}, Copy{BufferId(2u), BufferId(0u), bytes}}};
  return plan;
}

Status checked(const Plan& plan) { return checkPlan(plan, layoutOf(plan), {}); }

}  // namespace

TEST_CASE("weights lie in buffers that every adapter binds") {
  const Plan plan = planWithConstants({100 * kMiB, 20 * kMiB, 60 * kMiB, 200 * kMiB, 4, 0});
  const WebLayout layout = layoutOf(plan);
  REQUIRE(layout.weights.size() == 4);
  const uint64_t begins[] = {0, 120 * kMiB, 180 * kMiB, 380 * kMiB},
                 ends[] = {120 * kMiB, 180 * kMiB, 380 * kMiB, 380 * kMiB + 4};
  for (size_t i = 0; i < 4; i++) {
    CHECK(layout.weights[i].begin == begins[i]);
    CHECK(layout.weights[i].end == ends[i]);
    CHECK(*layout.memories[layout.weights[i].memory].bytes >= ends[i] - begins[i]);
  }
  CHECK(layout.weightBytes == 380 * kMiB + 4);
  CHECK(layout.buffers[BufferId(1u)].offset == 100 * kMiB);
  CHECK(layout.buffers[BufferId(2u)].offset == 0);
  CHECK(layout.memories[layout.buffers[BufferId(3u)].memory].name == "WEIGHTS3");
}

TEST_CASE("sizes read as JavaScript that counts as the plan does") {
  Plan plan;
  for (const char* name : {"n", "if", "run", "ARENA", "rows of it", "v1"}) plan.variables.push_back(variable(name));
  plan.variables.push_back({"fixed", -3, -3, VariableKind::Fixed, -3, {}});
  const Names names(plan);
  CHECK(names.parameter() == "[n, v1, v2, v3, v4, v1_]");
  const std::vector<std::string> in = variableNames(plan);
  const std::pair<const char*, const char*> rows[] = {{"n", "n"},
                                                      {"(n*4+3)//8", "Math.floor(((n * 4) + 3) / 8)"},
                                                      {"n%7", "mod(n, 7)"},
                                                      {"ceildiv(n,16)", "Math.ceil(n / 16)"},
                                                      {"max(n,ARENA)-min(run,2)", "Math.max(n, v3) - Math.min(v2, 2)"},
                                                      {"n*fixed", "n * -3"},
                                                      {"`if`+1", "v1 + 1"}};
  for (const auto& [text, expected] : rows) {
    const Result<Expr> expr = parseExpr(text, in);
    REQUIRE(expr);
    CHECK(names.expr(*expr) == expected);
  }
}

TEST_CASE("texts of a graph end no string and no comment") {
  CHECK(textOf("a\"b\\c\n") == "\"a\\\"b\\\\c\\x0a\"");
  CHECK(inComment("a */ b\nc") == "a * / b c");
  CHECK(property("x") == "x");
  CHECK(property("a-b") == "\"a-b\"");
}

TEST_CASE("copies to parts of words are refused") {
  CHECK(checked(planWithCopy(ElementType::F32, 4, 12)));
  CHECK(checked(planWithCopy(ElementType::U8, 4, 12)));
  for (const auto& [offset, bytes] : {std::pair<uint64_t, int64_t>{2, 12}, {4, 7}}) {
    const Status status = checked(planWithCopy(ElementType::U8, offset, bytes));
    REQUIRE(!status);
    CHECK(status.error()->message == "value 'v' is copied to a part of a word, and a page copies whole ones");
  }
}

TEST_CASE("sizes that JavaScript does not count are refused") {
  Plan plan = planWithCopy(ElementType::F32, 4, 12);
  plan.variables = {variable("n", int64_t{1} << 40)};
  const Expr n = Expr::variable(0);
  plan.inputs[0].shape = {n * Expr(int64_t{1} << 12)};
  CHECK(checked(plan));
  plan.inputs[0].shape = {n * Expr(int64_t{1} << 13)};
  const Status status = checked(plan);
  REQUIRE(!status);
  CHECK(status.error()->message == "the size n*8192 might be more than JavaScript counts, 2^53");
}
