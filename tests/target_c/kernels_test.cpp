// Whole kernels from the kernel stage to compiled C: expansion, legalization, linearization and printing keep the bits
// the interpreter gives for the kernel they started from (strict numerics).
#include <catch2/catch.hpp>
#include <random>

#include "interp/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "linearize/linearize.h"
#include "lower/expand.h"
#include "lower/legalize.h"
#include "run_c.h"

using namespace svod;

namespace {

struct KernelCase {
  const char* name;
  const char* text;
  bool wholeNumbers;  // inputs small integers, so that sums are exact in any order
};

const KernelCase kCases[] = {
    {"row_sums", R"(%0 = param 3 {0} : f32[3]
%1 = param 96 {1} : f32[96]
%2 = range 3 {0, loop} : index
%3 = range 4 {1, reduce} : index
%4 = range 8 {2, vector} : index
%5 = mul %2, 32 : index
%6 = mul %3, 8 : index
%7 = add %5, %6 : index
%8 = add %7, %4 : index
%9 = index %1, %8 : f32
%10 = load %9 : f32
%11 = reduce %10, %3, %4 {add} : f32
%12 = index %0, %2 : f32
%13 = store %12, %11
%14 = end %13, %2
%15 = sink %14)",
     true},
    {"column_max", R"(%0 = param 16 {0} : f32[16]
%1 = param 80 {1} : f32[80]
%2 = range 2 {0, loop} : index
%3 = range 8 {1, vector} : index
%4 = range 5 {2, reduce} : index
%5 = mul %2, 8 : index
%6 = add %5, %3 : index
%7 = mul %4, 16 : index
%8 = add %7, %6 : index
%9 = index %1, %8 : f32
%10 = load %9 : f32
%11 = reduce %10, %4 {max} : f32
%12 = index %0, %6 : f32
%13 = store %12, %11
%14 = end %13, %2, %3
%15 = sink %14)",
     false},
    {"row_max", R"(%0 = param 1 {0} : f64[1]
%1 = param 64 {1} : f64[64]
%2 = range 16 {0, reduce} : index
%3 = range 4 {1, vector} : index
%4 = mul %2, 4 : index
%5 = add %4, %3 : index
%6 = index %1, %5 : f64
%7 = load %6 : f64
%8 = reduce %7, %2, %3 {max} : f64
%9 = index %0, 0 : f64
%10 = store %9, %8
%11 = sink %10)",
     false},
    {"half_axpy", R"(%0 = param 32 {0} : f16[32]
%1 = param 32 {1} : f16[32]
%2 = param 32 {2} : f16[32]
%3 = range 4 {0, loop} : index
%4 = range 8 {1, vector} : index
%5 = mul %3, 8 : index
%6 = add %5, %4 : index
%7 = index %1, %6 : f16
%8 = load %7 : f16
%9 = index %2, %6 : f16
%10 = load %9 : f16
%11 = mul %8, %10 : f16
%12 = add %11, 0.25:f16 : f16
%13 = index %0, %6 : f16
%14 = store %13, %12
%15 = end %14, %3, %4
%16 = sink %15)",
     false},
    {"bf16_sum", R"(%0 = param 2 {0} : bf16[2]
%1 = param 20 {1} : bf16[20]
%2 = range 2 {0, loop} : index
%3 = range 10 {1, reduce} : index
%4 = mul %2, 10 : index
%5 = add %4, %3 : index
%6 = index %1, %5 : bf16
%7 = load %6 : bf16
%8 = reduce %7, %3 {add} : bf16
%9 = index %0, %2 : bf16
%10 = store %9, %8
%11 = end %10, %2
%12 = sink %11)",
     false},
    {"staged_flags", R"(%0 = param 24 {0} : bool[24]
%1 = param 24 {1} : f32[24]
%2 = range 3 {0, loop} : index
%3 = range 8 {1, vector} : index
%4 = mul %2, 8 : index
%5 = add %4, %3 : index
%6 = index %1, %5 : f32
%7 = load %6 : f32
%8 = lt %7, 0.0:f32 : bool
%9 = buffer 8 {0, local} : bool[8]
%10 = index %9, %3 : bool
%11 = store %10, %8
%12 = fill %11, %3 {store} : bool[8]
%13 = range 8 {2, loop} : index
%14 = sub 7, %13 : index
%15 = index %12, %14 : bool
%16 = load %15 : bool
%17 = add %4, %13 : index
%18 = index %0, %17 : bool
%19 = store %18, %16
%20 = end %19, %2, %13
%21 = sink %20)",
     false},
    {"shifted", R"(%0 = param 16 {0} : i32[16]
%1 = param 16 {1} : i32[16]
%2 = range 2 {0, loop} : index
%3 = range 8 {1, vector} : index
%4 = mul %2, 8 : index
%5 = add %4, %3 : index
%6 = sub %5, 3 : index
%7 = le 0, %6 : bool
%8 = index %1, %6 : i32
%9 = load %8, -1:i32, %7 : i32
%10 = index %1, %5 : i32
%11 = load %10 : i32
%12 = floordiv %9, %11 : i32
%13 = index %0, %5 : i32
%14 = lt %5, 13 : bool
%15 = store %13, %12, %14
%16 = end %15, %2, %3
%17 = sink %16)",
     false},
    {"transposed", R"(%0 = param 32 {0} : i8[32]
%1 = param 32 {1} : i8[32]
%2 = range 4 {0, loop} : index
%3 = range 8 {1, vector} : index
%4 = mul %3, 4 : index
%5 = add %4, %2 : index
%6 = mul %2, 8 : index
%7 = add %6, %3 : index
%8 = index %1, %5 : i8
%9 = load %8 : i8
%10 = index %1, %7 : i8
%11 = load %10 : i8
%12 = max %9, %11 : i8
%13 = index %0, %7 : i8
%14 = store %13, %12
%15 = end %14, %2, %3
%16 = sink %15)",
     false},
};

std::vector<HostTensor> inputsFor(UOp kernel, bool wholeNumbers) {
  std::mt19937_64 random(21);
  std::vector<HostTensor> buffers;
  for (UOp n : toposort(kernel)) {
    if (n.op() != Op::Param) continue;
    size_t slot = n.argAs<SlotArg>().slot;
    if (buffers.size() <= slot) buffers.resize(slot + 1);
    buffers[slot] = HostTensor::zeros(n.dtype(), {n.maxNumel()});
    for (int64_t i = 0; i < n.maxNumel(); ++i) {
      uint64_t r = random();
      Scalar special = Scalar::fromBits(n.dtype(), r >> 1);
      Scalar small = Scalar::of(n.dtype(), static_cast<double>(r % 17) - 8);
      buffers[slot].set(i, wholeNumbers || i % 4 != 0 ? small : special);
    }
  }
  return buffers;
}

LinearKernel lower(Graph& g, UOp kernel, const KernelCase& c, const LegalizeOptions& options) {
  Result<UOp> expanded = expand(g, kernel);
  if (!expanded) FAIL(toText(expanded.error()));
  UOp legal = legalize(g, mergeLoops(g, *expanded), options);
  if (Status status = verify(legal, Stage::Lowered); !status) FAIL(toText(status.error()));
  if (Status status = verify(legal, Stage::Linear); !status) FAIL(toText(status.error()));
  return linearize(g, legal, c.name, options.numerics).value();
}

}  // namespace

TEST_CASE("kernels keep their bits down to compiled C") {
  Graph g;
  std::vector<UOp> kernels;
  std::vector<LinearKernel> linear;
  for (const KernelCase& c : kCases) {
    Result<UOp> root = parseUop(g, c.text);
    if (!root) FAIL(c.name << ": " << toText(root.error()));
    if (Status status = verify(*root, Stage::Kernel); !status) FAIL(c.name << ": " << toText(status.error()));
    kernels.push_back(*root);
    linear.push_back(lower(g, *root, c, {.numerics = Numerics::Strict}));
  }
  Result<std::string> code = printC(linear);
  if (!code) FAIL(toText(code.error()));
  CompiledC(*code, "clang-19", "-O0");
  CompiledC fast(*code, "gcc", "-O3 -march=native -fno-math-errno -fno-trapping-math");
  CompiledC careful(*code, "gcc", "-O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
  for (size_t i = 0; i < linear.size(); ++i) {
    INFO(kCases[i].name);
    std::vector<HostTensor> expected = inputsFor(kernels[i], kCases[i].wholeNumbers), inputs = expected,
                            viaLinear = expected;
    REQUIRE(interpretKernel(kernels[i], expected, {}).has_value());
    REQUIRE(interpretLinear(linear[i], viaLinear, {}).has_value());
    CHECK(sameValues(viaLinear[0], expected[0], true));
    for (const CompiledC* library : {&fast, &careful}) {
      std::vector<HostTensor> got = inputs;
      std::vector<void*> pointers;
      for (HostTensor& t : got) pointers.push_back(t.data.data());
      alignas(64) char scratch[4096];
      REQUIRE(linear[i].scratchBytes <= static_cast<int64_t>(sizeof scratch));
      (*library)[linear[i].name](pointers.data(), nullptr, 0, 1, scratch);
      CHECK(sameValues(got[0], expected[0], true));
    }
  }
}

TEST_CASE("threads get tiles and kernels get variables") {
  Graph g;
  UOp n = g.variable("n", 1, 30), m = g.variable("m", 0, 9);
  UOp range = g.range(n, 0, AxisType::Thread);
  UOp param = g.make(Op::Param, DType::I64, {g.index(30)}, SlotArg{0, Space::Global});
  UOp value = g.cast(g.alu(Op::Add, {g.alu(Op::Mul, {range, g.index(10)}), m}), DType::I64);
  UOp store = g.make(Op::Store, DType::Void, {g.make(Op::Index, DType::I64, {param, range}), value});
  UOp sink = g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, range})});
  for (bool narrow : {false, true}) {
    LinearKernel kernel = linearize(g, legalize(g, sink, {.narrowIndex = narrow}), "tiles", Numerics::Strict).value();
    Result<std::string> code = printC({&kernel, 1});
    if (!code) FAIL(toText(code.error()));
    CompiledC compiled(*code, "gcc", "-O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
    std::vector<int64_t> out(30, -1), values(kernel.variables.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = kernel.variables[i].argAs<VarArg>().name == "n" ? 12 : 7;
    void* buffers[] = {out.data()};
    compiled["tiles"](buffers, values.data(), 3, 6, nullptr);
    for (int i = 0; i < 30; ++i) CHECK(out[static_cast<size_t>(i)] == (i >= 3 && i < 6 ? 10 * i + 7 : -1));
  }
}

TEST_CASE("contract keeps half precision intermediates in f32 and fuses") {
  Graph g;
  UOp root = parseUop(g, kCases[3].text).value();
  auto count = [&](const LegalizeOptions& options, auto predicate) {
    LinearKernel kernel = lower(g, root, kCases[3], options);
    return std::ranges::count_if(kernel.ops, predicate);
  };
  auto isMulacc = [](UOp n) { return n.op() == Op::Mulacc; };
  auto isHalf = [](UOp n) { return n.dtype() == DType::F16; };
  auto any = [](UOp) { return true; };
  CHECK(count({.numerics = Numerics::Strict}, isMulacc) == 0);
  CHECK(count({.numerics = Numerics::Contract}, isMulacc) == 1);
  CHECK(count({.numerics = Numerics::Contract, .fma = false}, isMulacc) == 0);
  CHECK(count({.numerics = Numerics::Contract}, any) < count({.numerics = Numerics::Strict}, any));
  CHECK(count({.nativeF16 = true}, isHalf) == 3);  // two bitcasts from u16, one cast from f32
  CHECK(count({.nativeF16 = false}, isHalf) == 0);
}

TEST_CASE("a kernel that was not legalized is refused with the op's name") {
  Graph g;
  UOp expanded = expand(g, parseUop(g, kCases[6].text).value()).value();
  LinearKernel kernel = linearize(g, mergeLoops(g, expanded), "raw", Numerics::Strict).value();
  Result<std::string> code = printC({&kernel, 1});
  REQUIRE_FALSE(code.has_value());
  CHECK(code.error()->diag == Diag::Verify);
  CHECK(code.error()->message.find("legalize must remove it") != std::string::npos);
}
