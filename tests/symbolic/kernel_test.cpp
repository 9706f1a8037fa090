// Rules over loops, loads and stores: values are compared with an evaluator that really runs the loops.
#include <catch2/catch.hpp>

#include "evaluate.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

// Evaluates kernel values: ranges and variables from `leaves`, loads from one memory per parameter slot.
class Machine {
 public:
  std::vector<std::vector<Scalar>> memory;
  Leaves leaves;

  Scalar run(UOp n) {
    if (n.isConst()) return n.constant();
    if (auto it = leaves.find(n.id()); it != leaves.end()) return it->second;
    if (n.op() == Op::Reduce) return reduce(n, 1, identity(n.argAs<ReduceArg>().op, n.dtype()));
    if (n.op() == Op::Load) return load(n);
    if (n.op() == Op::Where) return run(n.src(0)).asInt() ? run(n.src(1)) : run(n.src(2));
    std::array<Scalar, 3> in;
    REQUIRE(isElementwise(n.op()));
    for (size_t i = 0; i < n.srcCount(); ++i) in[i] = run(n.src(i));
    return evalScalar(n.op(), n.dtype(), {in.data(), n.srcCount()});
  }

 private:
  Scalar load(UOp n) {
    if (n.srcCount() == 3 && run(n.src(2)).asInt() == 0) return run(n.src(1));
    int64_t at = run(n.src(0).src(1)).asInt();
    const std::vector<Scalar>& data = memory.at(n.src(0).src(0).argAs<SlotArg>().slot);
    if (at < 0 || at >= static_cast<int64_t>(data.size())) FAIL("read outside of the buffer");
    return data[static_cast<size_t>(at)];
  }
  Scalar reduce(UOp n, size_t depth, Scalar sum) {
    if (depth == n.srcCount()) {
      Scalar in[] = {sum, run(n.src(0))};
      return evalScalar(n.argAs<ReduceArg>().op, n.dtype(), in);
    }
    UOp r = n.src(depth);
    int64_t end = run(r.src(0)).asInt();
    for (int64_t i = 0; i < end; ++i) {
      leaves[r.id()] = Scalar::ofInt(DType::Index, i);
      sum = reduce(n, depth + 1, sum);
    }
    leaves.erase(r.id());
    return sum;
  }
};

struct World {
  Graph g;
  uint32_t next = 0;
  UOp range(int64_t size) { return g.range(g.index(size), next++, AxisType::Reduce); }
  UOp param(uint32_t slot, DType d, int64_t size) { return g.make(Op::Param, d, {g.index(size)}, SlotArg{slot}); }
  UOp at(UOp storage, UOp index) { return g.load(g.indexInto(storage, {&index, 1})); }
  UOp sum(UOp v, std::initializer_list<UOp> ranges) {
    return g.reduceRanges(Op::Add, v, std::span(ranges.begin(), ranges.size()));
  }
  UOp number(DType d, double v) { return g.constant(Scalar::of(d, v)); }
  UOp simple(UOp n, Numerics mode = Numerics::Strict) { return simplifyKernel(g, n, mode); }
};

bool contains(UOp root, Op op) {
  for (UOp n : toposort(root))
    if (n.op() == op) return true;
  return false;
}

std::vector<Scalar> floats(std::initializer_list<double> values) {
  std::vector<Scalar> all;
  for (double v : values) all.push_back(Scalar::ofFloat(DType::F32, v));
  return all;
}

}  // namespace

TEST_CASE("ranges a value does not use leave the reduction") {
  World s;
  UOp r = s.range(5), q = s.range(8), buf = s.param(0, DType::I32, 5), f = s.param(1, DType::F32, 5);
  UOp v = s.at(buf, r), u = s.at(f, r);
  CHECK(s.simple(s.sum(v, {r, q})) == s.g.alu(Op::Mul, {s.sum(v, {r}), s.number(DType::I32, 8)}));
  UOp most = s.g.reduceRanges(Op::Max, u, std::vector<UOp>{r, q});
  CHECK(s.simple(most) == s.g.reduceRanges(Op::Max, u, std::vector<UOp>{r}));
  UOp add = s.sum(u, {r, q});
  CHECK(s.simple(add) == add);
  CHECK(s.simple(add, Numerics::Contract) == s.g.alu(Op::Mul, {s.sum(u, {r}), s.number(DType::F32, 8)}));
  UOp odd = s.sum(u, {r, s.range(7)});
  CHECK(s.simple(odd, Numerics::Contract) == odd);
  CHECK_FALSE(s.simple(odd, Numerics::Fast) == odd);
}

TEST_CASE("an arange is its index") {
  World s;
  UOp i = s.g.range(s.g.index(10), 90, AxisType::Loop), r = s.range(10);
  UOp counted = s.sum(s.g.cast(s.g.alu(Op::Le, {r, i}), DType::I32), {r});
  UOp arange = s.g.alu(Op::Sub, {counted, s.number(DType::I32, 1)});
  UOp result = s.simple(s.g.cast(arange, DType::Index));
  CHECK(describe(result) == describe(i));
  UOp ones = s.sum(s.g.where(s.g.alu(Op::Le, {r, i}), s.number(DType::F32, 1), s.number(DType::F32, 0)), {r});
  CHECK_FALSE(contains(s.simple(ones), Op::Reduce));
  UOp thirds = s.sum(s.g.where(s.g.alu(Op::Le, {r, i}), s.number(DType::F32, 1.0 / 3), s.number(DType::F32, 0)), {r});
  CHECK(contains(s.simple(thirds), Op::Reduce));
}

TEST_CASE("a one-hot sum is a gated load") {
  World s;
  UOp i = s.g.range(s.g.index(4), 90, AxisType::Loop), r = s.range(6);
  UOp ids = s.param(0, DType::I32, 4), table = s.param(1, DType::F32, 6);
  UOp hit = s.g.alu(Op::Eq, {s.g.cast(r, DType::I32), s.at(ids, i)});
  UOp picked = s.sum(s.g.where(hit, s.at(table, r), s.number(DType::F32, 0)), {r});
  UOp result = s.simple(picked);
  INFO(describe(result));
  CHECK_FALSE(contains(result, Op::Reduce));
  Machine machine;
  machine.memory = {{}, floats({1, 2, -0.0, 4, 5, 6})};
  for (int64_t id : {2, 5, -1, 6}) machine.memory[0].push_back(Scalar::ofInt(DType::I32, id));
  for (int64_t k = 0; k < 4; ++k) {
    machine.leaves = {{i.id(), Scalar::ofInt(DType::Index, k)}};
    CHECK(machine.run(result) == machine.run(picked));
  }
}

TEST_CASE("integer one-hot products pick as well") {
  World s;
  UOp r = s.range(6), ids = s.param(0, DType::I64, 1), table = s.param(1, DType::I32, 6);
  UOp hit = s.g.alu(Op::Eq, {s.at(ids, s.g.index(0)), s.g.cast(r, DType::I64)});
  UOp picked = s.sum(s.g.alu(Op::Mul, {s.g.cast(hit, DType::I32), s.at(table, r)}), {r});
  CHECK_FALSE(contains(s.simple(picked), Op::Reduce));
}

TEST_CASE("random counting sums have their value") {
  int closed = 0;
  for (int seed = 0; seed < 400; ++seed) {
    Random random(seed);
    World s;
    UOp i = s.g.range(s.g.index(pick(random, 2, 7)), 90, AxisType::Loop), r = s.range(pick(random, 2, 8)),
        q = s.range(pick(random, 2, 4));
    auto clause = [&] {
      constexpr Op kOps[] = {Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::Lt};
      UOp left = s.g.alu(Op::Mul, {r, s.g.index(pick(random, -3, 3))});
      UOp right = s.g.alu(Op::Add, {s.g.alu(Op::Mul, {pick(random, 0, 1) ? i : q, s.g.index(pick(random, -2, 2))}),
                                    s.g.index(pick(random, -6, 9))});
      if (pick(random, 0, 3) == 0) left = s.g.alu(Op::Floordiv, {left, s.g.index(2)});
      if (pick(random, 0, 3) == 0) left = s.g.cast(left, DType::I32), right = s.g.cast(right, DType::I32);
      UOp c = s.g.alu(kOps[pick(random, 0, 4)], {left, right});
      return pick(random, 0, 3) ? c : s.g.alu(Op::Not, {c});
    };
    UOp condition = clause();
    while (pick(random, 0, 1)) condition = s.g.alu(pick(random, 0, 3) ? Op::And : Op::Or, {condition, clause()});
    DType d = pick(random, 0, 2) == 0 ? DType::F32 : pick(random, 0, 1) ? DType::I32 : DType::I8;
    UOp a = s.number(d, static_cast<double>(pick(random, -5, 5))),
        b = isFloat(d) ? s.number(d, 0) : s.number(d, static_cast<double>(pick(random, -1, 2)));
    if (!isFloat(d) && pick(random, 0, 1)) a = s.g.alu(Op::Add, {s.g.cast(i, d), a});
    if (!isFloat(d) && pick(random, 0, 2) == 0) a = s.g.alu(Op::Mul, {s.g.cast(r, d), a});
    UOp before = s.sum(s.g.where(condition, a, b), {r, q}), after = s.simple(before);
    closed += !contains(after, Op::Reduce);
    INFO("seed " << seed << ": " << describe(before) << "\n-> " << describe(after));
    for (int64_t k = 0; k <= i.bounds().max; ++k) {
      Machine machine;
      machine.leaves = {{i.id(), Scalar::ofInt(DType::Index, k)}};
      Scalar x = machine.run(before), y = machine.run(after);
      bool zeros = isFloat(d) && x.asFloat() == 0 && y.asFloat() == 0;
      if (x != y && !zeros) FAIL(toText(x) << " became " << toText(y));
    }
  }
  CHECK(closed > 60);
}

TEST_CASE("gates move onto loads and their clauses simplify") {
  World s;
  UOp i = s.g.range(s.g.index(16), 90, AxisType::Loop), buf = s.param(0, DType::F16, 8);
  UOp gate = s.g.alu(Op::Lt, {i, s.g.index(8)}), zero = s.number(DType::F16, 0);
  UOp load = s.at(buf, s.g.alu(Op::Floormod, {i, s.g.index(8)}));
  UOp expected = s.g.load(s.g.indexInto(buf, {&i, 1}), zero, gate);
  CHECK(describe(s.simple(s.g.where(gate, load, zero))) == describe(expected));
  UOp wide = s.g.where(gate, s.g.cast(load, DType::F32), s.number(DType::F32, 0));
  CHECK(s.simple(wide) == s.g.cast(expected, DType::F32));
  UOp twice = s.g.where(s.g.alu(Op::Lt, {i, s.g.index(12)}), expected, zero);
  CHECK(s.simple(twice) == expected);
  UOp always = s.g.load(s.g.indexInto(buf, {&i, 1}), zero, s.g.alu(Op::Lt, {i, s.g.index(16)}));
  CHECK(s.simple(always) == s.g.load(s.g.indexInto(buf, {&i, 1})));
}

TEST_CASE("a load keeps its gate where a condition repeats it") {
  World s;
  UOp i = s.g.range(s.g.index(16), 90, AxisType::Loop), ids = s.param(0, DType::I32, 8);
  UOp gate = s.g.alu(Op::Lt, {i, s.g.index(8)});
  UOp load = s.g.cast(s.g.load(s.g.indexInto(ids, {&i, 1}), s.number(DType::I32, 0), gate), DType::Index);
  UOp chosen = s.g.where(gate, load, s.g.index(99));
  CHECK(s.simple(chosen) == chosen);
  CHECK(simplifyUnder(s.g, s.g.alu(Op::Add, {load, s.g.index(1)}), gate) == s.g.alu(Op::Add, {load, s.g.index(1)}));
}

TEST_CASE("stores of what is there become gated or vanish") {
  World s;
  UOp i = s.g.range(s.g.index(16), 90, AxisType::Loop), buf = s.param(0, DType::F32, 16);
  UOp at = s.g.indexInto(buf, {&i, 1}), one = s.number(DType::F32, 1), gate = s.g.alu(Op::Lt, {i, s.g.index(8)});
  UOp kept = s.simple(s.g.make(Op::Store, DType::Void, {at, s.g.where(gate, one, s.g.load(at))}));
  CHECK(kept == s.g.make(Op::Store, DType::Void, {at, one, gate}));
  CHECK(s.simple(s.g.make(Op::Store, DType::Void, {at, s.g.load(at)})).op() == Op::Group);
  CHECK(s.simple(s.g.make(Op::Store, DType::Void, {at, one, s.g.alu(Op::Lt, {i, s.g.index(0)})})).op() == Op::Group);
}

TEST_CASE("a store into a local buffer that never happens still says which one it fills") {
  World s;
  UOp i = s.g.range(s.g.index(16), 90, AxisType::Loop), one = s.number(DType::F32, 1);
  UOp local = s.g.make(Op::Buffer, DType::F32, {s.g.index(16)}, SlotArg{0, Space::Local});
  UOp at = s.g.indexInto(local, {&i, 1});
  UOp never = s.simple(s.g.make(Op::Store, DType::Void, {at, one, s.g.alu(Op::Lt, {i, s.g.index(0)})}));
  REQUIRE(never.op() == Op::Store);
  CHECK(storageOf(never.src(0)) == local);
  CHECK(never.src(2).isConst(0));
}
