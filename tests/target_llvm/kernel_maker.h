// Kernels built node by node, and run.
#pragma once
#include <catch2/catch.hpp>
#include <numeric>

#include "target_llvm/native_kernel.h"

namespace svod {

/// Short names for building kernels by hand.
struct Maker {
  Graph g;
  UOp i64(int64_t v) { return g.constant(Scalar::ofInt(DType::I64, v)); }
  UOp f32(double v) { return g.constant(Scalar::ofFloat(DType::F32, v)); }
  UOp param(uint32_t slot, int64_t size, DType d = DType::F32) {
    return g.make(Op::Param, d, {i64(size)}, SlotArg{slot});
  }
  UOp range(uint32_t id, UOp end, AxisType type = AxisType::Loop) {
    return g.make(Op::Range, DType::I64, {end}, AxisArg{id, type});
  }
  UOp ramp(UOp base, uint32_t lanes) { return g.make(Op::Ramp, DType::I64, {base}, SlotArg{lanes}); }
  UOp at(UOp storage, UOp index) { return g.make(Op::Index, storage.dtype(), {storage, index}); }
  UOp store(UOp address, UOp value) { return g.make(Op::Store, DType::Void, {address, value}); }
  UOp store(UOp address, UOp value, UOp gate) { return g.make(Op::Store, DType::Void, {address, value, gate}); }
  UOp end(UOp body, UOp range) { return g.make(Op::End, DType::Void, {body, range}); }
  UOp add(UOp a, UOp b) { return g.alu(Op::Add, {a, b}); }
  UOp mul(UOp a, UOp b) { return g.alu(Op::Mul, {a, b}); }
  UOp less(UOp a, UOp b) { return g.alu(Op::Lt, {a, b}); }
};

inline void run(const LinearKernel& kernel, std::vector<void*> buffers, std::vector<int64_t> values = {},
                int64_t begin = 0, int64_t end = 1) {
  alignas(64) static thread_local std::byte scratch[4096];
  REQUIRE(kernel.scratchBytes <= static_cast<int64_t>(sizeof scratch));
  const auto library = loadKernels(std::span(&kernel, 1), nativeCpu());
  library->function<KernelFunction>(kernel.name.c_str())(buffers.data(), values.data(), begin, end, scratch);
}

inline std::vector<float> counting(size_t n) {
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

}  // namespace svod
