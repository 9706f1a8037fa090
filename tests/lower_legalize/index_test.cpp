// Index becomes i64, or i32 where it fits; nothing of dtype Index is left but sizes.
#include <catch2/catch.hpp>

#include "interp/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "linearize/linearize.h"
#include "lower/legalize.h"

using namespace svod;

namespace {

// out[i] = x[i / 3 * stride] for i < n, on a Thread range.
UOp gatherKernel(Graph& g, int64_t stride) {
  UOp n = g.variable("n", 1, 30);
  UOp range = g.range(n, 0, AxisType::Thread);
  auto param = [&](uint32_t slot, int64_t size) {
    return g.make(Op::Param, DType::F32, {g.index(size)}, SlotArg{slot, Space::Global});
  };
  UOp from = g.alu(Op::Mul, {g.alu(Op::Floordiv, {range, g.index(3)}), g.index(stride)});
  UOp x = g.load(g.make(Op::Index, DType::F32, {param(1, stride * 10), from}));
  UOp sum = g.alu(Op::Add, {x, g.cast(range, DType::F32)});
  UOp store = g.make(Op::Store, DType::Void, {g.make(Op::Index, DType::F32, {param(0, 30), range}), sum});
  return g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, range})});
}

int countOf(UOp root, DType d) {
  int count = 0;
  for (UOp n : toposort(root)) count += n.dtype() == d;
  return count;
}

}  // namespace

TEST_CASE("index arithmetic is i64, or i32 where every value fits") {
  Graph g;
  UOp wide = legalize(g, gatherKernel(g, 4), {.narrowIndex = false});
  CHECK(verify(wide, Stage::Linear).has_value());
  CHECK(countOf(wide, DType::Index) == 0);
  CHECK(countOf(wide, DType::I32) == 0);

  UOp narrow = legalize(g, gatherKernel(g, 4), {.narrowIndex = true});
  CHECK(verify(narrow, Stage::Linear).has_value());
  CHECK(countOf(narrow, DType::Index) == 0);
  for (UOp n : toposort(narrow))
    if (n.op() == Op::Mul || n.op() == Op::Cdiv || n.op() == Op::Range) CHECK(n.dtype() == DType::I32);

  UOp mixed = legalize(g, gatherKernel(g, int64_t{1} << 40), {.narrowIndex = true});
  CHECK(verify(mixed, Stage::Linear, {.enumerate = 0}).has_value());
  for (UOp n : toposort(mixed)) {
    if (n.op() == Op::Mul) CHECK(n.dtype() == DType::I64);
    if (n.op() == Op::Cdiv) CHECK(n.dtype() == DType::I32);
  }
}

TEST_CASE("narrow and wide indices compute the same") {
  for (bool narrow : {false, true}) {
    Graph g;
    UOp legal = legalize(g, gatherKernel(g, 2), {.narrowIndex = narrow});
    LinearKernel kernel = linearize(g, legal, "k", Numerics::Strict).value();
    std::vector<HostTensor> buffers{HostTensor::zeros(DType::F32, {30}), HostTensor::zeros(DType::F32, {20})};
    for (int i = 0; i < 20; ++i) buffers[1].set(i, Scalar::ofFloat(DType::F32, 100 * i));
    REQUIRE(interpretLinear(kernel, buffers, {{"n", 12}}, 2, 8).has_value());
    for (int i = 0; i < 30; ++i) CHECK(buffers[0].at(i).asFloat() == (i >= 2 && i < 8 ? 100.0 * (i / 3 * 2) + i : 0));
  }
}
