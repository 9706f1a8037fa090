// Random expressions before and after simplification, over all (small) or many values of their leaves.
#include <catch2/catch.hpp>
#include <map>

#include "evaluate.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

// Random Index expressions and gates over three ranges and a variable.
class IndexWorld {
 public:
  explicit IndexWorld(Random& random) : random_(random) {
    for (uint32_t i = 0; i < 3; ++i) leaves_.push_back(graph.range(graph.index(pick(random, 1, 7)), i, AxisType::Loop));
    leaves_.push_back(graph.variable("n", pick(random, -3, 1), pick(random, 2, 4)));
  }

  UOp expression(int depth) {
    if (depth == 0 || pick(random_, 0, 7) == 0)
      return pick(random_, 0, 3) ? leaves_[pick(random_, 0, 3)] : graph.index(pick(random_, -8, 12));
    UOp a = expression(depth - 1);
    int64_t divisor = pick(random_, 0, 12) ? pick(random_, 1, 12) : -pick(random_, 1, 4);
    switch (pick(random_, 0, 12)) {
      case 0:
      case 1:
      case 2: return graph.alu(Op::Add, {a, expression(depth - 1)});
      case 3:
        if (pick(random_, 0, 2) == 0) return graph.alu(Op::Neg, {a});
        return graph.alu(Op::Sub, {a, expression(depth - 1)});
      case 4:
      case 5:
        if (pick(random_, 0, 5) == 0) return graph.alu(Op::Shl, {a, graph.index(pick(random_, 0, 3))});
        return graph.alu(Op::Mul, {a, graph.index(pick(random_, -4, 8))});
      case 6:
      case 7: return graph.alu(Op::Floordiv, {a, graph.index(divisor)});
      case 8:
      case 9: return graph.alu(Op::Floormod, {a, graph.index(divisor)});
      case 10: return graph.alu(pick(random_, 0, 1) ? Op::Max : Op::Min, {a, expression(depth - 1)});
      case 11:
        return pick(random_, 0, 2)
                   ? graph.alu(pick(random_, 0, 1) ? Op::Cdiv : Op::Cmod, {a, graph.index(divisor)})
                   : graph.alu(pick(random_, 0, 1) ? Op::Floordiv : Op::Floormod, {a, expression(depth - 1)});
      default: return graph.where(condition(depth - 1), a, expression(depth - 1));
    }
  }

  UOp condition(int depth) {
    constexpr Op kCompare[] = {Op::Lt, Op::Lt, Op::Le, Op::Eq, Op::Ne};
    UOp clause =
        graph.alu(kCompare[pick(random_, 0, 4)],
                  {expression(depth), pick(random_, 0, 2) ? graph.index(pick(random_, -5, 30)) : expression(depth)});
    if (pick(random_, 0, 3) == 0) clause = graph.alu(Op::Not, {clause});
    if (depth > 0 && pick(random_, 0, 2) == 0)
      clause = graph.alu(pick(random_, 0, 3) ? Op::And : Op::Or, {clause, condition(depth - 1)});
    return clause;
  }

  // Calls body with every assignment of the leaves.
  template <class Body>
  void forAll(Body body) {
    Leaves values;
    size_t total = 1;
    for (UOp l : leaves_) total *= static_cast<size_t>(l.bounds().max - l.bounds().min + 1);
    for (size_t i = 0; i < total; ++i) {
      size_t rest = i;
      for (UOp l : leaves_) {
        auto span = static_cast<size_t>(l.bounds().max - l.bounds().min + 1);
        values[l.id()] = Scalar::ofInt(DType::Index, l.bounds().min + static_cast<int64_t>(rest % span));
        rest /= span;
      }
      body(values);
    }
  }

  Graph graph;

 private:
  Random& random_;
  std::vector<UOp> leaves_;
};

void checkIndex(int seeds, int first, int depth) {
  for (int seed = first; seed < first + seeds; ++seed) {
    Random random(seed);
    IndexWorld world(random);
    UOp before = world.expression(depth), after = simplify(world.graph, before);
    INFO("seed " << seed << ": " << describe(before) << "\n-> " << describe(after));
    REQUIRE(simplify(world.graph, after) == after);
    Interval bounds = after.bounds();
    world.forAll([&](const Leaves& values) {
      int64_t x = evaluate(before, values).asInt(), y = evaluate(after, values).asInt();
      if (x != y) FAIL(x << " became " << y);
      if (y < bounds.min || y > bounds.max) FAIL(y << " is outside of the bounds");
    });
  }
}

}  // namespace

TEST_CASE("index expressions keep their values, and simplifying twice changes nothing") {
  checkIndex(400, 0, 3);
  checkIndex(150, 10000, 5);
}

TEST_CASE("gates and expressions under gates keep their values") {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    IndexWorld world(random);
    UOp gate = world.condition(2), expr = world.expression(3);
    UOp simpleGate = simplifyGate(world.graph, gate), under = simplifyUnder(world.graph, expr, gate);
    INFO("seed " << seed << ": " << describe(expr) << " if " << describe(gate) << "\n-> " << describe(under) << " if "
                 << describe(simpleGate));
    world.forAll([&](const Leaves& values) {
      bool holds = evaluate(gate, values).asInt() != 0;
      if (holds != (evaluate(simpleGate, values).asInt() != 0)) FAIL("the gate changed");
      if (holds && evaluate(expr, values) != evaluate(under, values)) FAIL("the expression changed");
    });
  }
}

namespace {

// Random expressions of one dtype with wrap-around, selections, comparisons and conversions.
class TypedWorld {
 public:
  TypedWorld(Random& random, DType dtype) : random_(random), dtype_(dtype) {
    for (const char* name : {"a", "b", "c"}) {
      bool tight = isInt(dtype) && dtype != DType::U64 && pick(random, 0, 1);
      int64_t low = tight ? pick(random, 0, 3) : isFloat(dtype) ? INT64_MIN : minInt(dtype);
      int64_t high = tight ? low + pick(random, 0, 12) : isFloat(dtype) ? INT64_MAX : maxInt(dtype);
      leaves_.push_back(graph.make(Op::Var, dtype, std::span<const UOp>{}, VarArg{name, low, high}));
    }
  }

  Scalar number() {
    if (isFloat(dtype_)) {
      constexpr double kEdges[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -INFINITY, INFINITY, NAN, 3e38};
      return Scalar::ofFloat(dtype_, pick(random_, 0, 2) ? kEdges[pick(random_, 0, 9)]
                                                         : static_cast<double>(pick(random_, -999, 999)) / 8);
    }
    if (pick(random_, 0, 2)) return Scalar::ofInt(dtype_, pick(random_, -3, 9));
    return Scalar::ofInt(dtype_, static_cast<int64_t>(random_()));
  }

  UOp expression(int depth) {
    if (depth == 0 || pick(random_, 0, 7) == 0)
      return pick(random_, 0, 2) ? leaves_[pick(random_, 0, 2)] : graph.constant(number());
    constexpr Op kInt[] = {Op::Add,      Op::Sub,      Op::Mul, Op::Max, Op::Min, Op::Cdiv, Op::Cmod,
                           Op::Floordiv, Op::Floormod, Op::And, Op::Or,  Op::Xor, Op::Shl,  Op::Shr,
                           Op::Neg,      Op::Not,      Op::Abs, Op::Add, Op::Mul};
    constexpr Op kFloat[] = {Op::Add, Op::Sub, Op::Mul,   Op::Max,   Op::Min,  Op::Fdiv,
                             Op::Neg, Op::Abs, Op::Floor, Op::Trunc, Op::Round};
    int64_t kind = pick(random_, 0, 9);
    if (kind < 2) return graph.where(condition(depth - 1), expression(depth - 1), expression(depth - 1));
    if (kind < 3) return throughCast(depth);
    Op op =
        isFloat(dtype_) ? kFloat[pick(random_, 0, std::size(kFloat) - 1)] : kInt[pick(random_, 0, std::size(kInt) - 1)];
    if (dtype_ == DType::Bool && op == Op::Abs) op = Op::Not;
    if (dtype_ == DType::Bool && (op == Op::Neg || op == Op::Sub || (op >= Op::Cdiv && op <= Op::Shr))) op = Op::And;
    return info(op).maxSrc == 1 ? graph.alu(op, {expression(depth - 1)})
                                : graph.alu(op, {expression(depth - 1), expression(depth - 1)});
  }

  UOp throughCast(int depth) {
    constexpr DType kOther[] = {DType::Bool, DType::I8, DType::I64, DType::F32, DType::F64, DType::U16, DType::Index};
    DType other = kOther[pick(random_, 0, 6)];
    UOp inner = expression(depth - 1);
    if (pick(random_, 0, 3) == 0 && dtype_ != DType::Bool) {
      DType bits = info(dtype_).bits == 8    ? DType::U8
                   : info(dtype_).bits == 16 ? DType::U16
                   : info(dtype_).bits == 32 ? DType::U32
                                             : DType::U64;
      return graph.bitcast(graph.make(Op::Bitcast, bits, {inner}), dtype_);
    }
    // Index values must stay small: what overflows there has no meaning.
    if (other == DType::Index && (isFloat(dtype_) || info(dtype_).bits > 32)) other = DType::F64;
    return graph.cast(graph.cast(inner, other), dtype_);
  }

  UOp condition(int depth) {
    constexpr Op kCompare[] = {Op::Lt, Op::Le, Op::Eq, Op::Ne};
    UOp clause = graph.alu(kCompare[pick(random_, 0, 3)], {expression(depth), expression(depth)});
    if (pick(random_, 0, 2) == 0) clause = graph.alu(Op::Not, {clause});
    if (pick(random_, 0, 3) == 0) clause = graph.alu(pick(random_, 0, 1) ? Op::And : Op::Or, {clause, condition(0)});
    return clause;
  }

  Leaves values() {
    Leaves values;
    for (UOp l : leaves_) {
      Scalar v = number();
      bool bounded = isInt(dtype_) && dtype_ != DType::U64;
      if (bounded && (v.asInt() < l.bounds().min || v.asInt() > l.bounds().max))
        v = Scalar::ofInt(dtype_, l.bounds().max - l.bounds().min < 100 ? pick(random_, l.bounds().min, l.bounds().max)
                                                                        : l.bounds().min);
      values[l.id()] = v;
    }
    return values;
  }

  Graph graph;

 private:
  Random& random_;
  DType dtype_;
  std::vector<UOp> leaves_;
};

bool sameButZeros(const Scalar& a, const Scalar& b) {
  return a == b || (isFloat(a.dtype()) && a.asFloat() == 0 && b.asFloat() == 0);
}

}  // namespace

TEST_CASE("typed expressions keep their values") {
  for (DType dtype :
       {DType::Bool, DType::I8, DType::U8, DType::I32, DType::U32, DType::I64, DType::U64, DType::F16, DType::F32}) {
    for (int seed = 0; seed < 150; ++seed) {
      Random random(seed * 31 + static_cast<int>(dtype));
      TypedWorld world(random, dtype);
      UOp before = world.expression(4), after = simplify(world.graph, before);
      INFO(toText(dtype) << " seed " << seed << ": " << describe(before) << "\n-> " << describe(after));
      REQUIRE(after.dtype() == before.dtype());
      CHECK(simplify(world.graph, after) == after);
      for (int trial = 0; trial < 25; ++trial) {
        Leaves values = world.values();
        Scalar x = evaluate(before, values), y = evaluate(after, values);
        if (!sameButZeros(x, y)) FAIL(toText(x) << " became " << toText(y));
      }
    }
  }
}

TEST_CASE("the order of rules does not change values") {
  for (int seed = 0; seed < 40; ++seed) {
    Random random(seed);
    std::vector<Rule> shuffled;
    for (const RuleGroup* group : kSymbolic.all())
      shuffled.insert(shuffled.end(), group->rules.begin(), group->rules.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    RuleGroup group{"shuffled", shuffled};
    RuleSet set{"shuffled", {&group}};
    for (int i = 0; i < 5; ++i) {
      IndexWorld world(random);
      UOp before = world.expression(4), after = rewrite(world.graph, before, set);
      INFO("seed " << seed << ": " << describe(before) << "\n-> " << describe(after));
      world.forAll([&](const Leaves& values) {
        if (evaluate(before, values) != evaluate(after, values)) FAIL("the value changed");
      });
    }
  }
}

namespace {

// Expressions for native rules that random ones seldom reach.
std::vector<UOp> rareExpressions(Graph& g) {
  auto leaf = [&](const char* name, DType d, int64_t low, int64_t high) {
    return g.make(Op::Var, d, std::span<const UOp>{}, VarArg{name, low, high});
  };
  auto number = [&](DType d, double v) { return g.constant(Scalar::of(d, v)); };
  UOp b = leaf("b", DType::Bool, 0, 1), f = leaf("f", DType::F32, 0, 0), h = leaf("h", DType::F32, 0, 0);
  UOp small = leaf("small", DType::I16, 0, 9), wide = g.cast(small, DType::I64), i = leaf("i", DType::I32, -5, 5);
  UOp bit = g.cast(b, DType::I32), two = number(DType::F32, 2), one = number(DType::F32, 1);
  UOp p = g.where(b, one, f), q = g.where(b, two, h), r = g.range(g.index(9), 0, AxisType::Loop);
  std::vector<UOp> all;
  for (Op op : {Op::Lt, Op::Le, Op::Eq, Op::Ne}) all.push_back(g.alu(op, {bit, number(DType::I32, 1)}));
  all.push_back(g.alu(Op::Le, {g.cast(b, DType::F32), number(DType::F32, 0.5)}));
  for (Op op : {Op::Add, Op::Sub, Op::Fdiv}) all.push_back(g.alu(op, {p, q}));
  all.push_back(g.alu(Op::Lt, {wide, number(DType::I64, 4)}));
  all.push_back(g.alu(Op::Lt, {g.cast(r, DType::I32), g.cast(leaf("n", DType::Index, 0, 99), DType::I32)}));
  all.push_back(g.alu(Op::Pow, {f, number(DType::F32, 3)}));
  for (double exponent : {-1, 1, 2})
    all.push_back(g.alu(Op::Pow, {f, g.constant(Scalar::ofFloat(DType::F32, exponent))}));
  all.push_back(g.cast(g.alu(Op::Add, {g.cast(r, DType::I32), number(DType::I32, 3)}), DType::Index));
  all.push_back(g.alu(Op::Mul, {bit, i}));
  all.push_back(g.make(Op::Cast, DType::I32, {i}));
  all.push_back(g.make(Op::Bitcast, DType::I32, {i}));
  all.push_back(g.bitcast(g.bitcast(i, DType::U32), DType::F32));
  all.push_back(g.alu(Op::Floor, {g.cast(i, DType::F32)}));
  all.push_back(g.alu(Op::Add, {leaf("fixed", DType::I32, 4, 4), i}));
  all.push_back(g.alu(Op::Floormod, {g.cast(small, DType::I32), number(DType::I32, 10)}));
  all.push_back(g.alu(Op::Cmod, {g.cast(small, DType::I32), number(DType::I32, 10)}));
  all.push_back(g.alu(Op::Abs, {g.cast(small, DType::I32)}));
  all.push_back(g.alu(Op::Max, {g.cast(small, DType::I32), number(DType::I32, -1)}));
  all.push_back(g.alu(Op::Min, {g.cast(small, DType::I32), number(DType::I32, 10)}));
  const UOp zero = number(DType::F32, 0), sum = g.alu(Op::Add, {g.alu(Op::Add, {f, zero}), h});
  all.push_back(g.alu(Op::Add, {sum, zero}));
  all.push_back(g.where(g.alu(Op::Lt, {r, g.index(4)}), g.alu(Op::Floormod, {r, g.index(4)}), g.index(0)));
  return all;
}

}  // namespace

TEST_CASE("every native rule applies to some expression") {
  Matcher matcher(kSymbolic);
  RewriteStats stats;
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    constexpr DType kDTypes[] = {DType::Bool, DType::I8, DType::I32, DType::U8, DType::F32, DType::I16};
    TypedWorld typed(random, kDTypes[seed % 6]);
    rewrite(typed.graph, typed.expression(5), matcher, &stats);
    IndexWorld index(random);
    rewrite(index.graph, index.condition(4), matcher, &stats);
  }
  Graph g;
  for (UOp n : rareExpressions(g)) rewrite(g, n, matcher, &stats);
  CHECK(stats.trouble.empty());
  for (size_t i = 0; i < stats.counts.size(); ++i) {
    const Rule& rule = *matcher.rules()[i];
    if (!rule.native) continue;
    INFO(rule.name);
    CHECK(stats.counts[i].hits > 0);
  }
}

TEST_CASE("rare expressions keep their values") {
  Graph g;
  Random random(1);
  for (UOp before : rareExpressions(g)) {
    UOp after = simplify(g, before);
    INFO(describe(before) << "\n-> " << describe(after));
    for (int trial = 0; trial < 200; ++trial) {
      Leaves values;
      for (UOp n : toposort(before)) {
        if (n.op() != Op::Var && n.op() != Op::Range) continue;
        constexpr double kFloats[] = {0, -0.0, 1, -2.5, 3, 1e30, NAN, INFINITY};
        values[n.id()] = isFloat(n.dtype()) ? Scalar::ofFloat(n.dtype(), kFloats[pick(random, 0, 7)])
                                            : Scalar::ofInt(n.dtype(), pick(random, n.bounds().min, n.bounds().max));
      }
      if (evaluate(before, values) != evaluate(after, values)) FAIL("the value changed");
    }
  }
}
