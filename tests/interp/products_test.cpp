// Products of warpgroups in the interpreter: factors in local memory as the PTX manual lays them out, sums that are
// there after a wait.
#include <algorithm>
#include <catch2/catch.hpp>

#include "interp/interp.h"
#include "ir/gpu_op.h"
#include "ir/verify.h"
#include "linearize/linearize.h"

using namespace svod;

namespace {

/// Byte of element (row, term) of a factor, rows of 128 bytes: in memory, where 16-byte piece p of row r of a group of
/// eight rows lies at piece p xor r; or before that.
int64_t byteOf(int64_t row, int64_t term, bool isTurned, bool isSwizzled) {
  const int64_t line = isTurned ? row / 64 * 64 + term : row, column = isTurned ? row % 64 : term;
  const int64_t piece = column / 8 ^ (isSwizzled ? line % 8 : 0);
  return line * 128 + piece * 16 + column % 8 * 2;
}

struct Form {
  std::string core;
  DType in;
  int n;
  bool aIsTurned, bIsTurned, isSwizzled;
  int64_t firstTerm = 0;
  int left = 0;  // groups that may be under way when the sums are read
};

std::string faultsOf(UOp sink) {
  const Status legal = verify(sink, Stage::Lowered);
  return legal ? "" : toText(legal.error());
}

/// 128 threads copy 64 terms of both factors to local memory, start one product and store their sums.
LinearKernel kernelOf(Graph& g, const Form& f) {
  const int64_t sums = f.n / 2;
  UOp lane = g.make(Op::Special, DType::Index, {g.index(128)}, VarArg{"lidx0", 0, 0});
  std::vector<UOp> copies, factors;
  for (uint32_t i : {0U, 1U}) {
    const UOp size = g.index(64 * (i == 0 ? 64 : f.n));
    const SlotArg slot{i, Space::Local, static_cast<uint8_t>(f.isSwizzled ? 0 : 7)};
    UOp step = g.range(g.index(size.constInt() / 128), i, AxisType::Loop);
    UOp at = g.alu(Op::Add, {g.alu(Op::Mul, {step, g.index(128)}), lane});
    UOp from = g.indexInto(g.make(Op::Param, f.in, {size}, SlotArg{i + 1}), {&at, 1});
    factors.push_back(g.make(Op::Buffer, f.in, {size}, slot));
    UOp copy = g.make(Op::Store, DType::Void, {g.indexInto(factors[i], {&at, 1}), g.load(from)});
    copies.push_back(g.make(Op::End, DType::Void, {copy, step}));
  }
  UOp meet = g.make(Op::Barrier, DType::Void, copies), size = g.index(sums), zero = g.index(0);
  UOp all = g.make(Op::Ramp, DType::Index, {zero}, SlotArg{static_cast<uint32_t>(sums)});
  UOp registers = g.buffer(DType::F32, {&size, 1}, {0, Space::Reg}), one = g.constant(Scalar::ofFloat(DType::F32, 1));
  UOp init = g.make(Op::Store, DType::Void, {g.indexInto(registers, {&all, 1}), one});
  UOp sum = g.indexInto(g.make(Op::After, DType::F32, {registers, init}), {&zero, 1});
  std::vector<UOp> product{sum};
  for (size_t i : {0, 1}) {
    UOp first = g.index(f.firstTerm * ((i == 0 ? f.aIsTurned : f.bIsTurned) ? 64 : 1));
    product.push_back(g.indexInto(g.make(Op::After, f.in, {factors[i], meet}), {&first, 1}));
  }
  for (bool isTurned : {f.aIsTurned, f.bIsTurned}) product.push_back(g.index(isTurned ? 64 * 128 : 0));
  product.push_back(g.make(Op::Gpu, DType::Void, {sum}, NameArg{"wgmma_fence"}));
  UOp commit =
      g.make(Op::Gpu, DType::Void, {g.make(Op::Gpu, DType::Void, product, NameArg{f.core})}, NameArg{"wgmma_commit"});
  UOp wait = g.make(Op::Gpu, DType::Void, {sum, g.index(f.left), commit}, NameArg{"wgmma_wait"});
  UOp there = g.indexInto(g.make(Op::After, DType::F32, {registers, wait}), {&all, 1});
  UOp place = g.make(Op::Ramp, DType::Index, {g.alu(Op::Mul, {lane, g.index(sums)})}, all.arg());
  UOp out = g.make(Op::Param, DType::F32, {g.index(128 * sums)}, SlotArg{0});
  UOp store = g.make(Op::Store, DType::Void, {g.indexInto(out, {&place, 1}), g.load(there)});
  UOp sink = g.make(Op::Sink, DType::Void, {store});
  CHECK(faultsOf(sink).empty() == (f.left == 0));
  if (f.left > 0) CHECK(faultsOf(sink).find("touches sums of products that are under way") != std::string::npos);
  if (f.isSwizzled) {
    UOp longer = g.make(Op::Buffer, f.in, {g.index(factors[0].maxNumel() + 8)}, factors[0].arg());
    CHECK(faultsOf(substitute(g, sink, {&factors[0], 1}, {&longer, 1})).find("whole periods") != std::string::npos);
  }
  auto kernel = linearize(g, sink, "k", Numerics::Contract);
  if (!kernel) FAIL(toText(kernel.error()));
  return *kernel;
}

float valueAt(int64_t factor, int64_t row, int64_t term) {
  return static_cast<float>((row * 7 + term * 5 + factor * 3) % 11 - 5);
}

void check(const Form& f) {
  INFO(f.core << (f.aIsTurned ? ", rows apart" : "") << (f.bIsTurned ? ", columns apart" : "")
              << (f.isSwizzled ? ", swizzled" : ""));
  Graph g;
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {64 * f.n}), HostTensor::zeros(f.in, {64 * 64}),
                            HostTensor::zeros(f.in, {f.n * 64})};
  for (int64_t factor : {1, 2})
    for (int64_t row = 0; row < (factor == 1 ? 64 : f.n); ++row)
      for (int64_t term = 0; term < 64; ++term)
        b[static_cast<size_t>(factor)].set(byteOf(row, term, factor == 1 ? f.aIsTurned : f.bIsTurned, f.isSwizzled) / 2,
                                           Scalar::ofFloat(f.in, valueAt(factor, row, term)));
  Status done = interpretLinear(kernelOf(g, f), b, {});
  if (!done) FAIL(toText(done.error()));
  for (int64_t lane = 0; lane < 128; ++lane)
    for (int64_t e = 0; e < f.n / 2; ++e) {
      const int64_t row = lane / 32 * 16 + lane % 32 / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + lane % 4 * 2 + e % 2;
      float sum = 1;
      for (int64_t k = f.firstTerm; k < f.firstTerm + 16 && f.left == 0; ++k)
        sum += valueAt(1, row, k) * valueAt(2, column, k);
      REQUIRE(b[0].at(lane * f.n / 2 + e).asFloat() == static_cast<double>(sum));
    }
}

}  // namespace

TEST_CASE("A product of a warpgroup finds its factors where the swizzle has put them") {
  for (const TensorCore& core : allTensorCores()) {
    if (!core.isOfWarpgroup()) continue;
    for (int turned = 0; turned < 4; ++turned)
      for (bool isSwizzled : {true, false})
        check({std::string(core.name), core.in, core.n, turned % 2 > 0, turned > 1, isSwizzled, turned * 16});
  }
}

TEST_CASE("Sums of a product are there after a wait for its group, and not before") {
  for (int left : {0, 1}) check({"m64n64k16-f16-f32", DType::F16, 64, false, true, true, 16, left});
}
