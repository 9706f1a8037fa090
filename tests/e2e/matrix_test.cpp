// Every op of the tensor stage over every dtype it takes in every layout, against the interpreter, on both targets.
// SVOD_MATRIX=all takes every case in every layout on every CPU, SVOD_MATRIX=part each case in one layout only;
// SVOD_MATRIX_CPU=NAME compiles for another CPU. A shard is some of the layouts.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "e2e/harness.h"
#include "e2e/op_matrix.h"
#include "e2e/seeds.h"
#include "ir/verify.h"

using namespace svod;

namespace {

struct UlpBound {
  Op op;
  double ulp;  // docs/numerics.md, the larger of with and without fused multiply-add
};
constexpr UlpBound kBounds[] = {{Op::Exp, 1.1}, {Op::Exp2, 1.1}, {Op::Log, 1.1},  {Op::Log2, 1.8}, {Op::Sin, 1.0},
                                {Op::Cos, 1.0}, {Op::Tan, 2.5},  {Op::Tanh, 1.5}, {Op::Erf, 5.5},  {Op::Pow, 1.5}};

double boundOf(Op op, DType d) {
  for (const UlpBound& b : kBounds)
    if (b.op == op)
      return d == DType::F64 ? b.ulp + 1 : d == DType::F32 ? b.ulp : 0.51;  // the C library's f64 errs, too
  FAIL("no error bound known for " << toText(op));
  return 0;
}

// Distance in units of the last place of the exact result; infinity counts as the next power of two.
bool withinUlps(DType d, double got, double exact, double bound) {
  if (std::isnan(exact) && !floatFormat(d).hasNan()) return got == 0;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got);
  Scalar nearest = Scalar::ofFloat(d, exact),
         throughF32 = Scalar::ofFloat(d, Scalar::ofFloat(DType::F32, exact).asFloat());
  if (got == nearest.asFloat() || (d != DType::F64 && got == throughF32.asFloat())) return true;
  if (exact == 0 || std::isinf(exact)) return false;
  int fraction = info(d).fractionBits, top = std::ilogb(maxFinite(d));
  int least = std::ilogb(Scalar::fromBits(d, 1).asFloat()) + fraction;
  double end = std::ldexp(1.0, top + (d == DType::F64 ? 0 : 1));
  if (std::isinf(got)) got = std::copysign(end, got);
  return std::abs(got - exact) <= bound * std::ldexp(1.0, std::max(std::ilogb(exact), least) - fraction);
}

// The op over the operands as f64: exact for narrower floats.
std::string transcendentalDifference(const OpMatrix& m, const MatrixCase& c, const HostTensor& actual) {
  std::vector<HostTensor> operands;
  for (UOp operand : c.operands) operands.push_back(*interpretNode(m.model, operand, m.bindings));
  Op op = c.value.op();
  DType d = c.value.dtype();
  for (int64_t i = 0; i < actual.numel(); ++i) {
    std::vector<Scalar> wide;
    for (const HostTensor& t : operands)
      wide.push_back(Scalar::ofFloat(DType::F64, t.at(t.dims.empty() ? 0 : i).asFloat()));
    double exact = evalScalar(op, DType::F64, wide).asFloat(), got = actual.at(i).asFloat();
    if (withinUlps(d, got, exact, boundOf(op, d))) continue;
    std::string of;
    for (const Scalar& s : wide) of += " " + toText(s);
    return std::string(toText(op)) + " of" + of + ": exact " + toText(Scalar::ofFloat(DType::F64, exact)) + ", got " +
           toText(actual.at(i));
  }
  return "";
}

std::string caseDifference(const OpMatrix& m, const MatrixCase& c, const HostTensor& expected,
                           const HostTensor& actual) {
  if (!c.operands.empty()) return transcendentalDifference(m, c, actual);
  if (sameValues(expected, actual, c.eitherZero)) return "";
  std::string words = difference(expected, actual, 0);
  return words.empty() ? "the sign of a zero differs" : words;
}

struct Combination {
  const char* target;
  int optLevel;
  const char* cpu = "native";
  bool whole = true;  // else each case in one layout only
};

/// What SVOD_MATRIX says, or what the combination is content with.
bool isWhole(const Combination& combination) {
  const char* wish = std::getenv("SVOD_MATRIX");
  return wish ? std::string_view(wish) == "all" : combination.whole;
}

void check(std::span<const DType> dtypes, size_t layout, const Combination& combination) {
  bool whole = isWhole(combination);
  OpMatrix m =
      opMatrix(dtypes, layout, [&](size_t number) { return whole || (number + layout) % matrixLayouts().size() == 0; });
  INFO(combination.target << " -O" << combination.optLevel << ", " << combination.cpu << ", "
                          << matrixLayouts()[layout]);
  Status legal = verify(m.model.sink, Stage::Tensor);
  if (!legal) FAIL(toText(legal.error()));
  CHECK(m.cases.size() > (whole ? 700 : 100));
  auto expected = interpret(m.model, m.bindings);
  if (!expected) FAIL(toText(expected.error()));
  RunOptions options;
  options.numerics = Numerics::Strict;
  options.quickC = true;
  options.target = combination.target, options.optLevel = combination.optLevel;
  const char* cpu = std::getenv("SVOD_MATRIX_CPU");
  options.cpu = cpu ? cpu : combination.cpu;
  auto actual = runPlan(m.model, m.bindings, options);
  if (!actual) {
    FAIL_CHECK(toText(actual.error()));
    return;
  }
  for (const MatrixCase& c : m.cases) {
    std::string words = caseDifference(m, c, (*expected)[c.port], (*actual)[c.port]);
    if (!words.empty()) FAIL_CHECK(c.name << ": " << words);
  }
}

std::vector<DType> storedDTypes() {
  std::vector<DType> list;
  for (DType d : allDTypes())
    if (d != DType::Void && d != DType::Index) list.push_back(d);
  return list;
}

// Packed dtypes and small floats become wider ones before a kernel is laid out: each is in a third of the layouts.
std::vector<DType> dtypesIn(size_t layout) {
  std::vector<DType> list;
  for (DType d : storedDTypes())
    if ((!isPacked(d) && !isMinifloat(d)) || (static_cast<size_t>(d) + layout) % 3 == 0) list.push_back(d);
  return list;
}

void checkAll(const Combination& combination) {
  for (size_t layout = 0; layout < matrixLayouts().size(); ++layout)
    if (isInShard(layout)) check(dtypesIn(layout), layout, combination);
}

}  // namespace

TEST_CASE("every op and dtype in every layout", "[cpu]") { checkAll({"cpu", 1}); }

TEST_CASE("every op and dtype in every layout at -O0", "[cpu]") { checkAll({"cpu", 0}); }

TEST_CASE("every op and dtype on a CPU without fused multiply-add and half conversions", "[cpu]") {
  checkAll({"cpu", 1, "x86-64", false});
}

TEST_CASE("every op and dtype in every layout through C", "[c]") { checkAll({"c", 1}); }

TEST_CASE("every op and dtype in every layout through C at -O0", "[c]") { checkAll({"c", 0}); }

TEST_CASE("no op is missing from the matrix") {
  for (size_t layout = 0; layout < matrixLayouts().size(); ++layout) {
    OpMatrix all = opMatrix(storedDTypes(), layout, [](size_t) { return true; });
    std::set<Op> present;
    for (UOp n : toposort(all.model.sink)) present.insert(n.op());
    for (Op op : allOps()) {
      bool callsTheHost = op == Op::Custom;
      bool loops = op == Op::Group || op == Op::Range || op == Op::End;  // e2e/loops has them
      if (callsTheHost || loops || (info(op).stages & static_cast<uint8_t>(Stage::Tensor)) == 0) continue;
      INFO(toText(op) << " is not in layout " << matrixLayouts()[layout]);
      CHECK(present.contains(op));
    }
  }
}
