// Every elementwise op that targets emit, on every dtype, scalar and vector, against the definition in
// ir/scalar.h.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "target_llvm/native_kernel.h"

using namespace svod;

namespace {

constexpr int64_t kCount = 256;  // elements per kernel

constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                           DType::U8, DType::U16, DType::U32, DType::U64};
constexpr DType kFloats[] = {DType::F32, DType::F64};
constexpr Op kIntOps[] = {Op::Neg, Op::Not,  Op::Abs,  Op::Add, Op::Sub, Op::Mul,   Op::Max,
                          Op::Min, Op::Cdiv, Op::Cmod, Op::Shl, Op::Shr, Op::And,   Op::Or,
                          Op::Xor, Op::Lt,   Op::Le,   Op::Eq,  Op::Ne,  Op::Where, Op::Mulacc};
constexpr Op kFloatOps[] = {Op::Neg,   Op::Abs, Op::Recip, Op::Sqrt, Op::Trunc, Op::Floor, Op::Ceil,
                            Op::Round, Op::Add, Op::Sub,   Op::Mul,  Op::Fdiv,  Op::Max,   Op::Min,
                            Op::Lt,    Op::Le,  Op::Eq,    Op::Ne,   Op::Where, Op::Mulacc};
constexpr Op kBoolOps[] = {Op::Neg, Op::Not, Op::Abs, Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min,
                           Op::And, Op::Or,  Op::Xor, Op::Lt,  Op::Le,  Op::Eq,  Op::Ne,  Op::Where};

// Edge values first, then a spread.
Scalar sample(DType dtype, uint64_t i) {
  const uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
  if (dtype == DType::Bool) return Scalar::ofInt(dtype, static_cast<int64_t>(mixed >> 63));
  if (!isFloat(dtype)) {
    const int64_t edges[] = {0, 1, -1, minInt(dtype), maxInt(dtype), 2, 7, -8};
    return Scalar::ofInt(dtype, i % 3 == 0 ? edges[(mixed >> 40) % 8] : static_cast<int64_t>(mixed >> 9));
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double edges[] = {0.0, -0.0, 1.0, -0.5, 2.5, -3.5, kInf, -kInf, NAN, 8388607.5, 1e-40, 3e38, 0.49999997, -1.5};
  if (i % 2 == 0) return Scalar::ofFloat(dtype, edges[(mixed >> 40) % 14]);
  return Scalar::ofFloat(dtype, static_cast<double>(static_cast<int64_t>(mixed)) / 4611686018427387904.0 * 1000.0);
}

// What legalization guards: divisors, shift counts, conversions out of range, infinite powers.
void makeLegal(Op op, DType result, std::vector<Scalar>& in) {
  const DType d = in[0].dtype();
  if (op == Op::Cdiv || op == Op::Cmod)
    if (in[1].asInt() == 0 || in[1].asInt() == -1) in[1] = Scalar::ofInt(d, 3);
  if (op == Op::Shl || op == Op::Shr) in[1] = Scalar::ofInt(d, in[1].asInt() & (info(d).bits - 1));
  if (op == Op::Scaleb && std::isinf(in[1].asFloat())) in[1] = Scalar::ofFloat(d, -2.5);
  if (op == Op::Cast && isFloat(d) && isInt(result)) {
    const double x = std::trunc(in[0].asFloat()),
                 high = std::ldexp(1.0, info(result).bits - (isSigned(result) ? 1 : 0));
    if (!(x >= static_cast<double>(minInt(result)) && x < high)) in[0] = Scalar::ofFloat(d, 1.75);
  }
}

// a * b + c just beside the middle between two f32 values: rounded to f64 first, it would land on the tie.
std::vector<Scalar> nearTie(uint64_t i) {
  const auto f32 = [](double x) { return Scalar::ofFloat(DType::F32, x); };
  const double part = std::ldexp(1.0, -static_cast<int>(16 + i % 8)), odd = 1.0 + std::ldexp(1.0, -23);
  const double halfUlp = std::ldexp(i % 16 < 8 ? 1.0 : -1.0, -24), sign = i % 32 < 16 ? 1.0 : -1.0;
  return {f32(sign * halfUlp * (1.0 + part)), f32(1.0 - part), f32(sign * odd)};
}

struct Case {
  Op op;
  DType from, to;
  std::vector<DType> operands() const {
    if (op == Op::Where) return {DType::Bool, from, from};
    return std::vector<DType>(static_cast<size_t>(std::min(svod::info(op).maxSrc, 3)), from);
  }
};

// out[i] = op(in0[i], ..) over kCount elements in steps of `lanes`.
LinearKernel kernelFor(Graph& g, const Case& c, int lanes, const std::string& name) {
  const auto i64 = [&](int64_t v) { return g.constant(Scalar::ofInt(DType::I64, v)); };
  const auto memory = [](DType d) { return d == DType::Bool ? DType::U8 : d == DType::F16 ? DType::U16 : d; };
  const auto convert = [&](UOp x, DType to) {
    return x.dtype() == DType::F16 || to == DType::F16 ? g.bitcast(x, to) : g.cast(x, to);
  };
  const UOp range = g.make(Op::Range, DType::I64, {i64(kCount / lanes)}, AxisArg{0, AxisType::Loop});
  UOp at = g.alu(Op::Mul, {range, i64(lanes)});
  if (lanes > 1) at = g.make(Op::Ramp, DType::I64, {at}, SlotArg{static_cast<uint32_t>(lanes)});
  const auto address = [&](uint32_t slot, DType d) {
    const UOp param = g.make(Op::Param, memory(d), {i64(kCount)}, SlotArg{slot});
    return g.make(Op::Index, memory(d), {param, at});
  };
  std::vector<UOp> in;
  for (const DType d : c.operands()) in.push_back(convert(g.load(address(static_cast<uint32_t>(in.size()) + 1, d)), d));
  const UOp result = g.make(c.op, c.to, std::span<const UOp>(in));
  const UOp store = g.make(Op::Store, DType::Void, {address(0, c.to), convert(result, memory(c.to))});
  return kernelOf(g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, range})}), name);
}

using Bytes = std::vector<std::byte>;

void check(const Case& c, KernelFunction* function) {
  std::vector<std::vector<Scalar>> rows;  // operands of each element
  std::vector<Bytes> data(c.operands().size() + 1, Bytes(kCount * 8));
  for (uint64_t i = 0; i < kCount; ++i) {
    std::vector<Scalar> in;
    for (const DType d : c.operands()) in.push_back(sample(d, i * 3 + in.size() * 1010));
    if (c.op == Op::Mulacc && c.from == DType::F32 && i % 2 == 0) in = nearTie(i / 2);
    makeLegal(c.op, c.to, in);
    for (size_t k = 0; k < in.size(); ++k) {
      const uint64_t bits = in[k].storageBits();
      const auto size = static_cast<size_t>(byteSize(in[k].dtype()));
      std::memcpy(&data[k + 1][i * size], &bits, size);
    }
    rows.push_back(std::move(in));
  }
  std::vector<void*> buffers;
  for (Bytes& bytes : data) buffers.push_back(bytes.data());
  function(buffers.data(), nullptr, 0, 1, nullptr);
  std::string problem;
  for (uint64_t i = 0; i < kCount; ++i) {
    uint64_t bits = 0;
    const auto size = static_cast<size_t>(byteSize(c.to));
    std::memcpy(&bits, &data[0][i * size], size);
    const Scalar got = Scalar::fromBits(c.to, bits), expected = evalScalar(c.op, c.to, rows[i]);
    if (got == expected) continue;
    // The sign of a zero from max and min is free.
    if (isFloat(c.to) && (c.op == Op::Max || c.op == Op::Min) && got.asFloat() == expected.asFloat()) continue;
    for (const Scalar& s : rows[i]) problem += " " + toText(s);
    problem += " gave " + toText(got) + " for " + toText(expected);
    break;
  }
  INFO(toText(c.op) << " " << toText(c.from) << " -> " << toText(c.to));
  CHECK(problem == "");
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  const auto add = [&](DType d, std::span<const Op> ops) {
    for (const Op op : ops) cases.push_back({op, d, has(op, Comparison) ? DType::Bool : d});
  };
  for (const DType d : kInts) add(d, kIntOps);
  for (const DType d : kFloats) add(d, kFloatOps);
  add(DType::Bool, kBoolOps);
  std::vector<DType> castable = {DType::Bool};
  castable.insert(castable.end(), std::begin(kInts), std::end(kInts));
  castable.insert(castable.end(), std::begin(kFloats), std::end(kFloats));
  for (const DType from : castable)
    for (const DType to : castable)
      if (from != to) cases.push_back({Op::Cast, from, to});
  for (const auto& [a, b] : {std::pair{DType::F32, DType::U32}, {DType::F64, DType::I64}, {DType::I16, DType::U16}})
    cases.push_back({Op::Bitcast, a, b}), cases.push_back({Op::Bitcast, b, a});
  return cases;
}

std::vector<Case> casesFor(const CpuTarget& cpu) {
  std::vector<Case> cases = allCases();
  std::erase_if(cases, [&](const Case& c) { return c.op == Op::Mulacc && c.from == DType::F64 && !cpu.hasFma(); });
  if (cpu.hasScaleb())
    for (const DType d : kFloats) cases.push_back({Op::Scaleb, d, d});
  if (cpu.has("f16c") || cpu.arch == Arch::AArch64)
    for (const auto& [a, b] : {std::pair{DType::F16, DType::F32}, {DType::F32, DType::F16}})
      cases.push_back({Op::Cast, a, b});
  return cases;
}

std::vector<LinearKernel> kernelsFor(Graph& graph, std::span<const Case> cases, int lanes) {
  std::vector<LinearKernel> kernels;
  for (const Case& c : cases) kernels.push_back(kernelFor(graph, c, lanes, "k" + std::to_string(kernels.size())));
  return kernels;
}

void checkAll(const CpuTarget& cpu, int lanes) {
  Graph graph;
  const std::vector<Case> cases = casesFor(cpu);
  const std::vector<LinearKernel> kernels = kernelsFor(graph, cases, lanes);
  const auto library = loadKernels(kernels, cpu);
  for (size_t i = 0; i < cases.size(); ++i) check(cases[i], library->function<KernelFunction>(kernels[i].name.c_str()));
}

}  // namespace

TEST_CASE("scalar ops give the defined results") { checkAll(nativeCpu(), 1); }

TEST_CASE("vector ops give the defined results") {
  checkAll(nativeCpu(), 8);
  checkAll(nativeCpu(), 32);
}

#if defined(__x86_64__)
TEST_CASE("ops give the defined results without any extension") { checkAll(makeCpuTarget("", "x86-64").value(), 4); }
#endif

TEST_CASE("no op calls a library on another architecture") {
  Graph graph;
  const CpuTarget cpu = makeCpuTarget("aarch64-unknown-linux-gnu", "").value();
  for (const int lanes : {1, 4}) CHECK_FALSE(buildKernels(kernelsFor(graph, casesFor(cpu), lanes), cpu).empty());
}
