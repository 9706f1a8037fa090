// The order of what a schedule does: what waits for nothing, and states that are read and written.
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "ir/evaluate.h"
#include "schedule/checked.h"

using namespace svod;

TEST_CASE("of steps that may come next the first of the graph does") {
  GraphMaker m;
  const std::vector<std::string> names = {"first", "second", "third", "fourth"};
  const int64_t extents[] = {5, 3, 7, 4};  // unlike each other, so that none are joined
  for (size_t i = 0; i < names.size(); ++i)
    m.output(names[i].c_str(), m.g.alu(Op::Exp2, {m.input(("x" + names[i]).c_str(), {extents[i]})}));
  std::vector<std::string> order;
  const Schedule s = checked(m.model);
  for (const ScheduleItem& item : s.items) order.push_back(item.label);
  CHECK(order == names);
}

TEST_CASE("scatter adds in order") {
  GraphMaker m;
  UOp base = m.input("base", {4}), index = m.input("index", {9}, DType::I32), updates = m.input("u", {9});
  m.output("y", m.g.make(Op::Scatter, DType::F32, {base, index, updates}, ReduceArg{Op::Add, {}}));
  CHECK(checked(m.model).items.size() == 2);
}

TEST_CASE("a state that is read before and after its assignment") {
  GraphMaker m;
  UOp s = m.state("s", {4}), x = m.input("x", {4});
  UOp old = m.g.alu(Op::Mul, {s, m.f32(2)});
  UOp store = m.store(s, m.g.alu(Op::Add, {s, x}));
  UOp fresh = m.g.make(Op::After, DType::F32, {s, store});
  m.output("both", m.g.alu(Op::Add, {old, fresh}));
  checked(m.model);
}

TEST_CASE("a state gets back what it held, while what it held in between is read later") {
  GraphMaker m;
  UOp a = m.input("a", {9}), s = m.state("s", {9});
  UOp between = m.g.make(Op::After, DType::F32, {s, m.store(s, m.g.alu(Op::Abs, {a}))});
  UOp again = m.g.make(Op::After, DType::F32, {between, m.store(between, s)});
  m.output("y", m.g.alu(Op::Min, {again, between}));
  checked(m.model);
}

TEST_CASE("a state is reversed as it was before a part of it was assigned") {
  GraphMaker m;
  UOp a = m.input("a", {8}), s = m.state("s", {9});
  UOp changed = m.g.make(Op::After, DType::F32, {s, m.store(m.shrink(s, {1}, {8}), a)});
  m.store(m.g.flip(changed, std::vector<int32_t>{0}), s);
  checked(m.model);
}

TEST_CASE("reversing a state in place does not lose elements") {
  GraphMaker m;
  UOp s = m.state("s", {5});
  std::vector<int32_t> axis{0};
  m.store(s, m.g.flip(s, axis));
  m.output("after", m.g.make(Op::After, DType::F32, {s, m.model.sink.src(0)}));
  checked(m.model);
}

TEST_CASE("part of a state is assigned") {
  GraphMaker m;
  UOp s = m.state("s", {4, 4});
  UOp store = m.store(m.shrink(s, {1, 2}, {2, 2}), m.input("x", {2, 2}));
  m.output("after", m.g.make(Op::After, DType::F32, {s, store}));
  checked(m.model);
}

TEST_CASE("storage of one run has the room that its sizes take, a state that of the greatest ones") {
  for (PortKind kind : {PortKind::Temporary, PortKind::State}) {
    GraphMaker m;
    const UOp n = m.g.variable("n", 1, 100);
    const std::vector<UOp> turned = {m.g.index(8), n};
    const UOp kept = m.g.buffer(DType::F32, turned, {0, Space::Global});
    m.model.ports.push_back({kind, "", kept, {}});
    m.model.variables.push_back(n);
    const UOp ones = m.g.expand(m.reshape(m.f32(1), {1, 1}), turned);
    m.output("y", m.g.make(Op::After, DType::F32, {kept, m.store(kept, ones)}));
    auto schedule = makeSchedule(m.model, {.passes = {.verifyEach = true}});
    REQUIRE(schedule);
    const UOp elements = schedule->buffers[0].elements;
    REQUIRE(bool(elements) == (kind == PortKind::Temporary));
    const auto three = [&](UOp) -> std::optional<Scalar> { return Scalar::ofInt(n.dtype(), 3); };
    if (elements) CHECK(evaluate(elements, three)->asInt() == 24);
  }
}
