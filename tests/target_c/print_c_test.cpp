// Printed C compiles without warnings as C11 and computes what evalScalar says, for scalars and vectors.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "linearize/linearize.h"
#include "lower/legalize.h"
#include "run_c.h"

using namespace svod;

namespace {

constexpr int kCount = 64;

struct Case {
  std::string name;
  Op op;
  DType result;
  std::vector<DType> operands;
};

// out[i] = op(in1[i], ..) for all i, `width` elements per iteration.
LinearKernel elementwiseKernel(Graph& g, const Case& c, int width, const LegalizeOptions& options) {
  UOp range = g.range(g.index(kCount / width), 0, AxisType::Loop);
  UOp base = width == 1 ? range : g.alu(Op::Mul, {range, g.index(width)});
  SlotArg lanes{static_cast<uint32_t>(width), Space::Reg};
  UOp where = width == 1 ? base : g.make(Op::Ramp, DType::Index, {base}, lanes);
  auto address = [&](DType d, uint32_t slot) {
    UOp param = g.make(Op::Param, d, {g.index(kCount)}, SlotArg{slot, Space::Global});
    return g.make(Op::Index, d, {param, where});
  };
  std::vector<UOp> src;
  for (DType d : c.operands) src.push_back(g.load(address(d, static_cast<uint32_t>(src.size() + 1))));
  UOp value = g.make(c.op, c.result, src);
  UOp store = g.make(Op::Store, DType::Void, {address(c.result, 0), value});
  UOp sink = g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, range})});
  return linearize(g, legalize(g, sink, options), c.name, options.numerics).value();
}

Scalar read(const std::vector<char>& bytes, DType d, int i) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * byteSize(d), static_cast<size_t>(byteSize(d)));
  return Scalar::fromBits(d, bits);
}

bool same(const Scalar& a, const Scalar& b) {
  return a == b || (isFloat(a.dtype()) && std::isnan(a.asFloat()) && std::isnan(b.asFloat()));
}

bool eitherZero(const Case& c, const Scalar& a, const Scalar& b) {
  return (c.op == Op::Max || c.op == Op::Min) && isFloat(c.result) && a.asFloat() == 0 && b.asFloat() == 0;
}

void checkCase(const Case& c, KernelFunction kernel) {
  std::mt19937_64 random(11);
  std::vector<std::vector<char>> arrays;
  arrays.emplace_back(kCount * byteSize(c.result));
  for (DType d : c.operands) {
    std::vector<char>& bytes = arrays.emplace_back(kCount * byteSize(d));
    for (int i = 0; i < kCount; ++i) {
      uint64_t bits = Scalar::fromBits(d, i % 5 == 0 ? static_cast<uint64_t>(i / 5) : random()).storageBits();
      std::memcpy(bytes.data() + i * byteSize(d), &bits, static_cast<size_t>(byteSize(d)));
    }
  }
  std::vector<void*> buffers;
  for (auto& a : arrays) buffers.push_back(a.data());
  REQUIRE(kernel != nullptr);
  kernel(buffers.data(), nullptr, 0, 1, nullptr);
  for (int i = 0; i < kCount; ++i) {
    std::vector<Scalar> in;
    for (size_t k = 0; k < c.operands.size(); ++k) in.push_back(read(arrays[k + 1], c.operands[k], i));
    Scalar expected = evalScalar(c.op, c.result, in), got = read(arrays[0], c.result, i);
    if (eitherZero(c, expected, got) || same(got, expected)) continue;
    CAPTURE(c.name, i, toText(in[0]), toText(in.back()), toText(got), toText(expected));
    CHECK(got == expected);
  }
}

bool takes(Op op, DType d) {
  if (!isElementwise(op) || has(op, Transcend) || op == Op::Bitcast) return false;
  if (d == DType::Void || d == DType::Index || (op == Op::Threefry && d != DType::U64)) return false;
  bool chooses = has(op, Comparison) || op == Op::Max || op == Op::Min || op == Op::Where || op == Op::Cast;
  if (!isComputedIn(d) && !chooses) return false;
  return !(has(op, IntOnly) && isFloat(d)) && !(has(op, FloatOnly) && !isFloat(d));
}

// Every op that has an exact result, on every dtype it takes.
std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (Op op : allOps())
    for (DType d : allDTypes())
      for (DType to : allDTypes()) {
        if (!takes(op, d)) continue;
        DType result = has(op, Comparison) ? DType::Bool : d;
        if (op == Op::Cast ? to == DType::Void || to == DType::Index : to != result) continue;
        std::vector<DType> operands(static_cast<size_t>(info(op).minSrc), d);
        if (op == Op::Where) operands[0] = DType::Bool;
        std::string name = "k_" + std::string(toText(op)) + "_";
        cases.push_back({name + std::string(toText(d)) + "_" + std::string(toText(to)), op, to, operands});
      }
  return cases;
}

}  // namespace

TEST_CASE("every exact op on every dtype, scalar and vector") {
  std::vector<Case> cases = allCases();
  for (int width : {1, 8}) {
    Graph g;
    std::vector<LinearKernel> kernels;
    for (const Case& c : cases) kernels.push_back(elementwiseKernel(g, c, width, {.numerics = Numerics::Strict}));
    Result<std::string> code = printC(kernels);
    if (!code) FAIL(toText(code.error()));
    const char* sanitize = "-O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error";
    CompiledC(*code, "clang-19", "-O0");
    CompiledC compiled(*code, "gcc", width == 1 ? sanitize : "-O1 -fno-math-errno");
    for (const Case& c : cases) checkCase(c, compiled[c.name]);
  }
}
