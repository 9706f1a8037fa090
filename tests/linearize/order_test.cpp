#include <catch2/catch.hpp>
#include <ranges>

#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/legalize.h"
#include "opts/kernels.h"
#include "opts/replay.h"

using namespace svod;

namespace {

LinearKernel linear(Graph& g, UOp sink, std::string_view opts, bool fma = true) {
  UOp tuned = applyOpts(g, sink, *parseOpts(opts), {}).value();
  LegalizeOptions options;
  options.numerics = Numerics::Contract, options.fma = fma;
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

TEST_CASE("Loops of many copies become one where none needs another, and stay apart where one does") {
  struct Case {
    UOp (*build)(Graph& graph, const Sizes& sizes);
    const char* opts;
    int64_t copies, loops;
  };
  for (const Case& c :
       {Case{buildMatmul, "upcast(0,16) upcast(1,5)", 80, 1}, Case{buildSoftmax, "upcast(0,16) upcast(0,5)", 80, 2}}) {
    Graph g;
    const UOp expanded = expand(g, applyOpts(g, c.build(g, {80, 5, 8}), *parseOpts(c.opts), {}).value()).value();
    const auto loopsIn = [](UOp sink) {
      return std::ranges::count_if(toposort(sink), [](UOp n) {
        return n.op() == Op::End && n.src(1).argAs<AxisArg>().type == AxisType::Reduce;
      });
    };
    CHECK(loopsIn(expanded) == c.copies * c.loops);
    CHECK(loopsIn(mergeLoops(g, expanded)) == c.loops);
  }
}

TEST_CASE("Accumulators add the first of several terms before any adds the second") {
  Graph g;
  const LinearKernel kernel = linear(g, buildMatmul(g, {4, 32, 12}), "upcast(0,2) vector(1,16) unroll(2,3)");
  std::vector<int> terms;
  for (UOp n : kernel.ops)
    if (n.op() == Op::Mulacc) terms.push_back(termOf(n));
  CHECK(terms == std::vector{1, 1, 2, 2, 3, 3});
}

TEST_CASE("So do accumulators without multiply-add instructions, and those of integers") {
  Graph g;
  for (const bool ints : {false, true}) {
    UOp sink = ints ? buildByteMatmul(g, {4, 32, 12}, {}) : buildMatmul(g, {4, 32, 12});
    size_t products = 0, sums = 0;
    for (UOp n : linear(g, sink, "upcast(0,2) vector(1,16) unroll(2,3)", false).ops) {
      products += n.op() == Op::Mul && n.lanes() == 16;
      sums += n.op() == Op::Add && n.lanes() == 16;
      CHECK(products <= sums + 2);
    }
    CHECK((products == 6 && sums == 6));
  }
}

TEST_CASE("Within a term, products that share the factor with most values stand together") {
  Graph g;
  // Two vectors of columns times three rows: the vectors stay, one row comes after the other.
  for (const char* opts : {"upcast(0,3) vector(1,16) upcast(1,2)", "vector(1,16) upcast(1,2) upcast(0,3)"}) {
    std::vector<uint32_t> rows;
    for (UOp n : linear(g, buildMatmul(g, {3, 32, 12}), opts).ops)
      if (n.op() == Op::Mulacc) rows.push_back(n.src(n.src(0).lanes() == 1 ? 0 : 1).id());
    REQUIRE(rows.size() == 6);
    CHECK((rows[0] == rows[1] && rows[2] == rows[3] && rows[4] == rows[5] && rows[0] != rows[2]));
  }
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

TEST_CASE("Sums over windows that are written out are done with an element before they take the next") {
  Graph g;
  // Four neighbours of three taps: the third element of the line is in three windows, in another term of each.
  const LinearKernel kernel = linear(g, buildConv1d(g, {16, 4, 3}), "vector(0,16) upcast(1,4) unroll(2,3)");
  std::vector<uint32_t> elements;
  for (UOp n : kernel.ops) {
    if ((n.op() != Op::Mulacc && n.op() != Op::Mul) || n.dtype() != DType::F32) continue;
    const UOp element = n.src(n.src(0).lanes() == 1 ? 0 : 1);
    if (element.op() == Op::Load) elements.push_back(element.id());
  }
  REQUIRE(elements.size() == 12);
  const size_t runs = 1 + std::ranges::count_if(std::views::iota(size_t{1}, elements.size()),
                                                [&](size_t i) { return elements[i] != elements[i - 1]; });
  CHECK(runs == 6);  // two of them lie outside of the line
}
