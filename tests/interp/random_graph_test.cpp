// The random graph generator: legal, varied, the same everywhere, and the interpreter runs what it makes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "common/random_graph.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace svod;

namespace {

RandomOptions optionsFor(uint64_t seed) {
  RandomOptions options;
  options.contract = seed % 3 == 0;
  options.transcendentals = seed % 3 == 1;
  return options;
}

}  // namespace

TEST_CASE("random models are legal, run, and round-trip as text") {
  std::map<Op, int> used;
  size_t nodes = 0;
  int symbolic = 0, states = 0, empty = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomOptions options = optionsFor(seed);
    Model model = randomModel(seed, options);
    INFO("seed " << seed << "\n" << toUopText(model.sink));
    Status legal = verify(model.sink, Stage::Tensor);
    if (!legal) FAIL(toText(legal.error()));
    ModelBindings bindings = randomBindings(model, seed + 1, options);
    Result<std::vector<HostTensor>> out = interpret(model, bindings);
    if (!out) FAIL(toText(out.error()));
    REQUIRE(out->size() == model.ports.size());
    Graph other;
    Result<UOp> parsed = parseUop(other, toUopText(model.sink));
    if (!parsed) FAIL(toText(parsed.error()));
    CHECK(parsed->hash() == model.sink.hash());
    for (UOp n : toposort(model.sink)) ++used[n.op()], empty += n.rank() > 0 && n.maxNumel() == 0;
    nodes += toposort(model.sink).size();
    symbolic += !model.variables.empty();
    for (const ModelPort& p : model.ports) states += p.kind == PortKind::State;
  }
  CHECK(nodes / 300 > 30);
  CHECK(symbolic > 20);
  CHECK(states > 20);
  CHECK(empty > 5);
  for (Op op : allOps()) {
    // Remainders of floats are drawn by e2e/matrix, and by the test of their decomposition.
    bool left = op == Op::Copy || op == Op::Custom || op == Op::Stack || op == Op::Tan || op == Op::Fmod;
    bool loops = op == Op::Group || op == Op::Range || op == Op::End;
    if (left || loops || (info(op).stages & static_cast<uint8_t>(Stage::Tensor)) == 0) continue;
    INFO(toText(op));
    CHECK(used[op] > 0);
  }
}

TEST_CASE("random models with loops are legal, run, and round-trip as text") {
  int loops = 0, nested = 0, conditions = 0, counters = 0, unrolled = 0;
  RandomOptions options;
  options.loops = true;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Model model = randomModel(seed, options);
    INFO("seed " << seed << "\n" << toUopText(model.sink));
    if (Status legal = verify(model.sink, Stage::Tensor); !legal) FAIL(toText(legal.error()));
    auto out = interpret(model, randomBindings(model, seed + 1, options));
    if (!out) FAIL(toText(out.error()));
    Graph other;
    Result<UOp> parsed = parseUop(other, toUopText(model.sink));
    if (!parsed) FAIL(toText(parsed.error()));
    CHECK(parsed->hash() == model.sink.hash());
    for (UOp n : toposort(model.sink)) {
      loops += n.op() == Op::End, nested += n.op() == Op::End && !n.ranges().empty();
      conditions += n.op() == Op::Range && n.srcCount() > 1;
      unrolled += n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Unroll;
      counters += n.op() == Op::Shrink && !n.src(1).ranges().empty();
    }
  }
  CHECK(loops > 200);
  CHECK(nested > 40);
  CHECK(conditions > 60);
  CHECK(unrolled > 10);
  CHECK(counters > 10);
}

TEST_CASE("the same seed gives the same model and data on every platform") {
  Model a = randomModel(42), b = randomModel(42), c = randomModel(43);
  CHECK(a.sink.hash() == b.sink.hash());
  CHECK(a.sink.hash() != c.sink.hash());
  CHECK(randomBindings(a, 7).ports == randomBindings(b, 7).ports);
  CHECK(a.sink.hash().lo == 0x30561bb538b4369bu);
  HostTensor t = randomTensor(DType::F32, {3}, 5, false);
  CHECK(toText(t.at(0)) + " " + toText(t.at(1)) + " " + toText(t.at(2)) == "0.08907502 3.5 -0.23448776");
}

TEST_CASE("in contract mode no rounded float reaches a decision") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomOptions options;
    options.contract = true;
    Model model = randomModel(seed, options);
    std::map<uint32_t, bool> rounded;
    for (UOp n : toposort(model.sink)) {
      bool any = false, floats = isFloat(n.dtype());
      for (UOp s : n.src()) any |= rounded[s.id()];
      bool arithmetic = n.op() == Op::Add || n.op() == Op::Sub || n.op() == Op::Mul || n.op() == Op::Fdiv ||
                        n.op() == Op::Recip || n.op() == Op::Sqrt ||
                        (n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add);
      rounded[n.id()] = floats && (any || arithmetic);
      bool decides = has(n.op(), Comparison) || n.op() == Op::Floor || n.op() == Op::Ceil || n.op() == Op::Round ||
                     n.op() == Op::Trunc || n.op() == Op::Bitcast ||
                     (n.op() == Op::Cast && !floats && isFloat(n.src(0).dtype()));
      INFO("seed " << seed << ": " << toLineText(n));
      CHECK_FALSE((decides && any));
    }
  }
}
