#include <catch2/catch.hpp>

#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/legalize.h"
#include "optimize/kernels.h"
#include "optimize/replay.h"

using namespace svod;

namespace {

LinearKernel linear(Graph& g, UOp sink, std::string_view opts) {
  UOp tuned = applyOpts(g, sink, *parseOpts(opts), {}).value();
  LegalizeOptions options;
  options.numerics = Numerics::Contract, options.fma = true;
  UOp legal = legalize(g, mergeLoops(g, expand(g, tuned).value()), options);
  return linearize(g, legal, "kernel", Numerics::Contract).value();
}

// How many terms an accumulator holds after this multiply-add.
int termOf(UOp node) {
  int term = 0;
  for (; node.op() == Op::Mulacc; node = node.src(2)) ++term;
  return term;
}

}  // namespace

TEST_CASE("Accumulators add the first of several terms before any adds the second") {
  Graph g;
  const LinearKernel kernel = linear(g, buildMatmul(g, {4, 32, 12}), "upcast(0,2) vector(1,16) unroll(2,3)");
  std::vector<int> terms;
  for (UOp n : kernel.ops)
    if (n.op() == Op::Mulacc) terms.push_back(termOf(n));
  CHECK(terms == std::vector{1, 1, 2, 2, 3, 3});
}

TEST_CASE("Operands of a term are loaded after the terms before it") {
  Graph g;
  const LinearKernel kernel = linear(g, buildMatmul(g, {4, 32, 12}), "upcast(0,2) vector(1,16) unroll(2,3)");
  int loadsOfSecond = 0, added = 0;
  for (UOp n : kernel.ops) {
    added += n.op() == Op::Mulacc;
    const bool isVector = n.op() == Op::Load && n.lanes() == 16 && storageOf(n.src(0)).op() == Op::Param;
    if (isVector && added == 2) ++loadsOfSecond;
  }
  CHECK(loadsOfSecond == 1);
}
