// Bulk copies in the interpreter: boxes of tensors, which are there behind a wait for their phase.
#include <algorithm>
#include <catch2/catch.hpp>

#include "interp/interp.h"
#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/verify.h"
#include "linearize/linearize.h"

using namespace svod;

namespace {

constexpr int64_t kThreads = 32, kRows = 12, kColumns = 24, kStride = 32;  // of the tensor

struct Form {
  int64_t swizzle = 0;
  bool isLaidOut = false;  // the buffer has no swizzle any more: indices are places in memory
  int64_t bytes = 8 * 16 * 4;
  int64_t parity = 0;
  int64_t first = 0;
};

/// 32 threads wait for a box of 8 rows of 16 elements at (12, 8), which leaves a tensor of 12 rows of 24, and store it.
UOp kernelOf(Graph& g, const Form& f) {
  UOp lane = g.make(Op::Special, DType::Index, {g.index(kThreads)}, VarArg{"lidx0", 0, 0});
  UOp from = g.make(Op::Param, DType::F32, {g.index(kRows * kStride)}, SlotArg{1}), zero = g.index(0);
  UOp first = g.index(f.first);
  const auto list = [&](int64_t a, int64_t b) { return g.make(Op::Stack, DType::Index, {g.index(a), g.index(b)}); };
  UOp map =
      g.make(Op::Gpu, DType::Void,
             {g.indexInto(from, {&first, 1}), list(kColumns, kRows), list(1, kStride), list(16, 8), g.index(f.swizzle)},
             NameArg{"tensor_map"});
  UOp bar = g.make(Op::Buffer, DType::U64, {g.index(1)}, SlotArg{1, Space::Local});
  const int log = f.swizzle == 0 || f.isLaidOut ? 0 : f.swizzle == 64 ? 6 : 7;
  UOp box = g.make(Op::Buffer, DType::F32, {g.index(16 * 8)}, SlotArg{0, Space::Local, static_cast<uint8_t>(log)});
  UOp one = g.make(Op::Gpu, DType::Bool, {}, NameArg{"elect"}), at = g.indexInto(bar, {&zero, 1});
  UOp init = g.make(Op::Gpu, DType::Void, {at, g.index(1), one}, NameArg{"mbar_init"});
  UOp fence = g.make(Op::Gpu, DType::Void, {init}, NameArg{"fence_async"});
  UOp meet = g.make(Op::Barrier, DType::Void, {fence});
  UOp expect = g.make(Op::Gpu, DType::Void, {at, g.index(f.bytes), one, meet}, NameArg{"mbar_expect"});
  UOp load = g.make(Op::Gpu, DType::Void, {g.indexInto(box, {&zero, 1}), map, list(12, 8), at, one, expect},
                    NameArg{"bulk_load"});
  UOp wait = g.make(Op::Gpu, DType::Void, {at, g.index(f.parity), load}, NameArg{"mbar_wait"});
  UOp there = g.make(Op::After, DType::F32, {box, wait});
  UOp step = g.range(g.index(4), 0, AxisType::Loop);
  UOp place = g.alu(Op::Add, {g.alu(Op::Mul, {step, g.index(kThreads)}), lane});
  UOp out = g.make(Op::Param, DType::F32, {g.index(128)}, SlotArg{0});
  UOp store = g.make(Op::Store, DType::Void, {g.indexInto(out, {&place, 1}), g.load(g.indexInto(there, {&place, 1}))});
  return g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, step})});
}

Result<std::vector<HostTensor>> run(const Form& f) {
  Graph g;
  UOp sink = kernelOf(g, f);
  SVOD_CHECK(verify(sink, Stage::Lowered));
  SVOD_TRY(const LinearKernel kernel, linearize(g, sink, "k", Numerics::Contract));
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {128}), HostTensor::zeros(DType::F32, {kRows * kStride})};
  for (int64_t i = 0; i < b[1].numel(); ++i) b[1].set(i, Scalar::ofFloat(DType::F32, static_cast<double>(i + 1)));
  for (int64_t i = 0; i < 128; ++i) b[0].set(i, Scalar::ofFloat(DType::F32, -1));
  SVOD_CHECK(interpretLinear(kernel, b, {}));
  return b;
}

}  // namespace

TEST_CASE("A box is there behind a wait, with zeros beyond the tensor") {
  for (int64_t swizzle : {0, 64, 128})
    for (bool isLaidOut : {false, true}) {
      const auto b = run({swizzle, isLaidOut});
      if (!b) FAIL(toText(b.error()));
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t column = 0; column < 16; ++column) {
          const bool exists = row + 8 < kRows && column + 12 < kColumns;
          // A row has four pieces of 16 bytes, and 128 bytes two rows: pieces are turned with the 128 bytes they lie
          // in.
          int64_t piece = row % 2 * 4 + column / 4, line = row / 2;
          if (isLaidOut && swizzle > 0) piece ^= line % (swizzle / 16);
          const double found = (*b)[0].at(line * 32 + piece * 4 + column % 4).asFloat();
          INFO("row " << row << ", column " << column << ", swizzle " << swizzle);
          REQUIRE(found == (exists ? static_cast<double>((row + 8) * kStride + column + 12 + 1) : 0.0));
        }
    }
}

TEST_CASE("A box is not there without a wait for its phase") {
  const auto b = run({.parity = 1});  // the phase before the first is over
  if (!b) FAIL(toText(b.error()));
  for (int64_t i = 0; i < 128; ++i) REQUIRE((*b)[0].at(i).asFloat() == 0);
}

TEST_CASE("A phase that expects other bytes than arrive is waited for without end") {
  for (int64_t bytes : {8 * 16 * 4 - 16, 8 * 16 * 4 + 16}) {
    const auto b = run({.bytes = bytes});
    REQUIRE_FALSE(b.has_value());
    CHECK(toText(b.error()).find("threads wait without end") != std::string::npos);
  }
}

TEST_CASE("A tensor that goes on behind its parameter is no legal one") {
  const auto b = run({.first = 32});
  REQUIRE_FALSE(b.has_value());
  CHECK(toText(b.error()).find("rule bounds") != std::string::npos);
}
