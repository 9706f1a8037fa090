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
  return std::ranges::any_of(toposort(sink), [](UOp n) { return n.op() == Op::Exp && exponentAbove(n.src(0)); });
}

/// e^(x - the greatest x) of 60 elements, of which the greatest is 70.
Buffers valuesOf(UOp sink, std::span<const double> x) {
  Buffers buffers{HostTensor::zeros(DType::F32, {60}), HostTensor::zeros(DType::F32, {60})};
  for (int64_t i = 0; i < 60; ++i) buffers[1].set(i, Scalar::of(DType::F32, x[static_cast<size_t>(i)]));
  REQUIRE(interpretKernel(sink, buffers, {}));
  return buffers;
}

}  // namespace

TEST_CASE("An exponent is known not to be above 0 where a maximum of the same terms is subtracted") {
  Graph g;
  CHECK(saysSo(boundExponents(g, buildExponents(g, 5, 5), Numerics::Contract)));
  CHECK_FALSE(saysSo(boundExponents(g, buildExponents(g, 5, 4), Numerics::Contract)));
  CHECK(saysSo(boundExponents(g, buildExponents(g, 4, 4), Numerics::Fast)));
}

TEST_CASE("Exponents that say so are the same numbers") {
  Graph g;
  UOp plain = buildExponents(g, 5, 5);
  std::vector<double> x(60);
  for (int64_t i = 0; i < 60; ++i) x[static_cast<size_t>(i)] = static_cast<double>((i * 7) % 111 - 40);
  x[25] = std::numeric_limits<double>::quiet_NaN(), x[45] = std::numeric_limits<double>::infinity();
  const Buffers expected = valuesOf(plain, x);
  CHECK(sameBuffers(expected, valuesOf(boundExponents(g, plain, Numerics::Strict), x), 0));
}

TEST_CASE("A power of such an exponent is 0 in place of a subnormal number, unless numerics are strict") {
  Graph g;
  UOp plain = buildExponents(g, 5, 5);
  std::vector<double> x(60, 0);
  x[1] = -87.3365, x[2] = -87.3366, x[3] = -100, x[4] = -std::numeric_limits<double>::infinity();
  const Buffers expected = valuesOf(plain, x), strict = valuesOf(boundExponents(g, plain, Numerics::Strict), x),
                contract = valuesOf(boundExponents(g, plain, Numerics::Contract), x);
  CHECK(sameBuffers(expected, strict, 0));
  const auto at = [](const Buffers& b, int64_t i) { return b[0].at(i).asFloat(); };
  CHECK(at(contract, 0) == 1);
  CHECK(at(contract, 1) == at(expected, 1));
  CHECK(at(expected, 2) > 0);
  CHECK(at(contract, 2) == 0);
  CHECK(at(contract, 3) == 0);
  CHECK(at(contract, 4) == 0);
}
