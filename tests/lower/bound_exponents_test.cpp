#include "lower/bound_exponents.h"

#include "opts/kernel_parts.h"
#include "opts/opt_checks.h"

using namespace svod;

namespace {

/// out[m,n,j] = e^(x[m,n,j] - the greatest of x[m,k,l] for all k and l), or of the first of some columns only.
UOp buildExponents(Graph& g, int64_t columns, int64_t ofMaximum) {
  Builder b(g);
  UOp r0 = b.loop(3), r1 = b.loop(4), r2 = b.loop(columns);
  UOp k0 = b.loop(4, AxisType::Reduce), k1 = b.loop(ofMaximum, AxisType::Reduce);
  const auto x = [&](UOp n, UOp j) { return g.load(b.at(1, DType::F32, {3, 4, columns}, {r0, n, j})); };
  UOp greatest = b.reduce(Op::Max, x(k0, k1), {k0, k1});
  UOp power = g.alu(Op::Exp, {g.alu(Op::Sub, {x(r1, r2), greatest})});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {3, 4, columns}, {r0, r1, r2}), power), {r0, r1, r2})});
}

bool saysSo(UOp sink) {
  return std::ranges::any_of(toposort(sink), [](UOp n) { return n.op() == Op::Exp && n.src(0).op() == Op::Neg; });
}

}  // namespace

TEST_CASE("An exponent is known not to be above 0 where a maximum of the same terms is subtracted") {
  Graph g;
  CHECK(saysSo(boundExponents(g, buildExponents(g, 5, 5))));
  CHECK_FALSE(saysSo(boundExponents(g, buildExponents(g, 5, 4))));
  CHECK(saysSo(boundExponents(g, buildExponents(g, 4, 4))));
}

TEST_CASE("Exponents that say so are the same numbers") {
  Graph g;
  UOp plain = buildExponents(g, 5, 5), bounded = boundExponents(g, plain);
  Buffers buffers{HostTensor::zeros(DType::F32, {60}), HostTensor::zeros(DType::F32, {60})};
  for (int64_t i = 0; i < 60; ++i) buffers[1].set(i, Scalar::of(DType::F32, static_cast<double>((i * 7) % 111 - 40)));
  buffers[1].set(25, Scalar::of(DType::F32, std::numeric_limits<double>::quiet_NaN()));
  buffers[1].set(45, Scalar::of(DType::F32, std::numeric_limits<double>::infinity()));
  Buffers expected = buffers;
  REQUIRE(interpretKernel(plain, expected, {}));
  REQUIRE(interpretKernel(bounded, buffers, {}));
  CHECK(sameBuffers(expected, buffers, 0));
}
