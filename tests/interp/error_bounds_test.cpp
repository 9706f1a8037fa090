// The computed bounds hold for evaluations in higher precision and in other orders, and are not vacuous.
#include <catch2/catch.hpp>
#include <cmath>

#include "common/random_graph.h"
#include "interp/error_bounds.h"
#include "ir/text.h"

using namespace svod;

namespace {

// The same graph with every float computed in f64 and rounded only where it is stored: the most different legal result.
UOp widened(Graph& g, UOp sink) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) -> UOp {
    auto wide = [&](UOp x) { return isFloat(x.dtype()) ? g.cast(x, DType::F64) : x; };
    bool arithmetic = n.op() == Op::Add || n.op() == Op::Sub || n.op() == Op::Mul || n.op() == Op::Fdiv ||
                      n.op() == Op::Sqrt || n.op() == Op::Recip;
    bool sum = n.op() == Op::Reduce && (n.argAs<ReduceArg>().op == Op::Add || n.argAs<ReduceArg>().op == Op::Mul);
    if (!isFloat(n.dtype()) || !(arithmetic || sum)) return g.withSrc(n, src);
    std::vector<UOp> wideSrc;
    for (UOp s : src) wideSrc.push_back(wide(s));
    return g.cast(g.make(n.op(), DType::F64, wideSrc, n.arg()), n.dtype());
  });
}

}  // namespace

TEST_CASE("differences are found, and only those") {
  HostTensor a = HostTensor::of(DType::F32, {2}, {1, 2}), b = a, bound = HostTensor::of(DType::F64, {2}, {0.5, 0.5});
  CHECK(differenceBeyond(a, b, {}).empty());
  b.set(1, Scalar::ofFloat(DType::F32, 2.25));
  CHECK_FALSE(differenceBeyond(a, b, {}).empty());
  CHECK(differenceBeyond(a, b, bound).empty());
  b.set(1, Scalar::ofFloat(DType::F32, 2.75));
  CHECK_FALSE(differenceBeyond(a, b, bound).empty());
  b.set(1, Scalar::ofFloat(DType::F32, std::nan("")));
  CHECK_FALSE(differenceBeyond(a, b, bound).empty());
}

TEST_CASE("bounds hold for evaluation in double") {
  int loose = 0, elements = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomOptions options;
    options.contract = true;
    options.states = seed % 2 == 0;
    Model model = randomModel(seed, options);
    ModelBindings bindings = randomBindings(model, seed, options);
    Result<BoundedResult> both = interpretWithBounds(model, bindings);
    if (!both) FAIL(toText(both.error()));
    std::vector<HostTensor> plain = interpret(model, bindings).value();
    INFO("seed " << seed << "\n" << toUopText(model.sink));
    CHECK(both->values == plain);
    model.sink = widened(*model.graph, model.sink);
    std::vector<HostTensor> other = interpret(model, bindings).value();
    for (size_t i = 0; i < plain.size(); ++i) {
      std::string wrong = differenceBeyond(other[i], plain[i], both->bounds[i]);
      if (!wrong.empty()) FAIL(model.ports[i].name << ": " << wrong);
      for (int64_t k = 0; k < both->bounds[i].numel() && both->bounds[i].dtype != DType::Void; ++k) {
        ++elements;
        loose += !std::isfinite(both->bounds[i].at(k).asFloat());
      }
    }
  }
  CHECK(elements > 1000);
  CHECK(loose * 3 < elements);  // most bounds say something
}

TEST_CASE("the bound of a sum is tight enough to catch a wrong element") {
  Model m;
  Graph& g = *m.graph;
  std::vector<UOp> dims{g.index(64)}, none;
  std::vector<int32_t> axes{0};
  UOp in = g.buffer(DType::F32, dims, {0}), out = g.buffer(DType::F32, none, {1});
  m.ports = {{PortKind::Input, "x", in, {}}, {PortKind::Output, "y", out, {}}};
  UOp store = g.make(Op::Store, DType::Void, {out, g.reduce(Op::Add, g.alu(Op::Mul, {in, in}), axes)});
  m.sink = g.make(Op::Sink, DType::Void, {store});
  BoundedResult r = interpretWithBounds(m, {{randomTensor(DType::F32, {64}, 3, false)}, {}, {}}).value();
  double bound = r.bounds[1].at(0).asFloat(), value = r.values[1].at(0).asFloat();
  CHECK(bound > 0);
  CHECK(bound < value * 1e-4);
}
