// Machine code of kernels: registers, fused products, prefetches and stores past the caches.
#include <algorithm>
#include <catch2/catch.hpp>

#include "target/cpu/emit.h"
#include "target_llvm/kernel_maker.h"
#include "toolchain/object.h"

using namespace svod;

namespace {

// The inner nest of a matrix product: 4 rows of 2 vectors held in Reg buffers, one step of k at a time.
LinearKernel tileKernel(Maker& m, uint32_t width, Numerics numerics) {
  const UOp zero = m.i64(0), k = m.range(0, m.i64(64)), lanes = m.i64(width);
  std::vector<UOp> ops = {m.param(0, 4 * 2 * width), m.param(1, 4 * 64), m.param(2, 64 * 2 * width)};
  std::vector<UOp> buffers, body, stores;
  for (uint32_t i = 0; i < 8; ++i) buffers.push_back(m.g.buffer(DType::F32, std::span(&lanes, 1), {i, Space::Reg}));
  std::vector<UOp> inits, updates;
  for (UOp b : buffers) inits.push_back(m.store(m.at(b, m.ramp(zero, width)), m.f32(0)));
  for (uint32_t i = 0; i < 8; ++i) {
    std::vector<UOp> after = {buffers[i], inits[i], k};
    const UOp acc = m.at(m.g.make(Op::After, DType::F32, std::span<const UOp>(after)), m.ramp(zero, width));
    const UOp a = m.g.load(m.at(ops[1], m.add(m.i64(i / 2 * 64), k)));
    const UOp b = m.g.load(m.at(ops[2], m.ramp(m.add(m.mul(k, m.i64(2 * width)), m.i64(i % 2 * width)), width)));
    updates.push_back(m.store(acc, m.add(m.g.load(acc), m.mul(a, b))));
  }
  const UOp end = m.end(m.g.make(Op::Group, DType::Void, std::span<const UOp>(updates)), k);
  for (uint32_t i = 0; i < 8; ++i) {
    const UOp acc = m.g.make(Op::After, DType::F32, {buffers[i], end});
    stores.push_back(m.store(m.at(ops[0], m.ramp(m.i64(i * width), width)), m.g.load(m.at(acc, m.ramp(zero, width)))));
  }
  // toposort interleaves init stores with the loop, so the three parts are listed one after the other.
  std::vector<UOp> order;
  std::vector<bool> listed(m.g.size());
  const auto list = [&](std::span<const UOp> roots) {
    for (UOp node : toposort(roots))
      if (!listed[node.id()]) listed[node.id()] = true, order.push_back(node);
  };
  list(inits);
  list(std::span(&end, 1));
  list(stores);
  return kernelOf(order, "tile", numerics);
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("accumulators of a register tile live in registers") {
  Maker m;
  const LinearKernel kernel = tileKernel(m, 16, Numerics::Contract);
  const CpuTarget cpu = makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value();
  const LlvmModule module = emitLlvm(std::span(&kernel, 1), cpu).value();
  CHECK(irText(*module.module).find("define void @tile") != std::string::npos);
  const std::string text = emitObject(*module.module, cpu, OptLevel::O1, CodeKind::Assembly).value();
  CHECK(count(text, "vfmadd") == 8);
  CHECK(count(text, "rsp") == 0);
  CHECK(count(text, "vmulps") == 0);
}

TEST_CASE("vectors of a prefetched operand ask for what lies further on") {
  Maker m;
  const UOp ahead = m.g.make(Op::Prefetch, DType::F32, {m.param(1, 64)}, SlotArg{512});
  const auto vector = [&](UOp storage) { return m.at(storage, m.ramp(m.i64(16), 16)); };
  const LinearKernel kernel = kernelOf(m.store(vector(m.param(0, 64)), m.g.load(vector(ahead))), "copy");
  const CpuTarget cpu = makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value();
  const LlvmModule module = emitLlvm(std::span(&kernel, 1), cpu).value();
  const std::string text = emitObject(*module.module, cpu, OptLevel::O1, CodeKind::Assembly).value();
  CHECK(count(text, "prefetcht0") == 1);
  CHECK(text.find("prefetcht0\t" + std::to_string((16 + 512) * 4)) != std::string::npos);
  std::vector<float> out(64, -1.0f), in = counting(64);
  run(kernel, {out.data(), in.data()});
  CHECK(out[15] == -1.0f);
  CHECK(out[31] == 32.0f);
}

TEST_CASE("vectors of two lines go past the caches wherever a line begins") {
  Maker m;
  const UOp past = m.g.make(Op::Param, DType::F32, {m.i64(64)}, SlotArg{0, Space::Stream});
  const auto vector = [&](UOp storage) { return m.at(storage, m.ramp(m.i64(32), 32)); };
  const LinearKernel kernel = kernelOf(m.store(vector(past), m.g.load(vector(m.param(1, 64)))), "copy");
  const CpuTarget cpu = makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value();
  const LlvmModule module = emitLlvm(std::span(&kernel, 1), cpu).value();
  const std::string text = emitObject(*module.module, cpu, OptLevel::O1, CodeKind::Assembly).value();
  CHECK(count(text, "vmovntps") == 2);
  CHECK(count(text, "$63,") == 1);
  std::vector<float> in = counting(64);
  alignas(128) float memory[128];
  for (const size_t from : {0, 4, 16}) {  // whole vectors, no line, a line
    std::ranges::fill(memory, -1.0f);
    run(kernel, {memory + from, in.data()});
    CHECK(std::ranges::equal(std::span(memory + from + 32, 32), std::span(in).subspan(32)));
    CHECK((memory[from + 31] == -1 && memory[from + 64] == -1));
  }
}

TEST_CASE("vectors that go past the caches one after the other do so behind one test") {
  Maker m;
  const UOp past = m.g.make(Op::Param, DType::F32, {m.i64(64)}, SlotArg{0, Space::Stream}), in = m.param(1, 64);
  std::vector<UOp> stores;
  for (const int64_t first : {0, 16, 32}) {
    const UOp read = m.g.load(m.at(in, m.ramp(m.i64(first), 16)));
    stores.push_back(m.store(m.at(past, m.ramp(m.i64(first), 16)), m.g.alu(Op::Mul, {read, read})));
  }
  const LinearKernel kernel = kernelOf(m.g.make(Op::Group, DType::Void, stores), "squares");
  const CpuTarget cpu = makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value();
  const LlvmModule module = emitLlvm(std::span(&kernel, 1), cpu).value();
  const std::string text = emitObject(*module.module, cpu, OptLevel::O1, CodeKind::Assembly).value();
  CHECK(count(text, "vmovntps") == 3);
  CHECK(count(text, "$63,") == 1);
  CHECK(count(text, "\tj") <= 2);
  const std::vector<float> given = counting(64);
  alignas(64) float memory[80];
  for (const size_t from : {0, 4}) {
    std::ranges::fill(memory, -1.0f);
    run(kernel, {memory + from, const_cast<float*>(given.data())});
    for (size_t i = 0; i < 64; ++i) CHECK(memory[from + i] == (i < 48 ? given[i] * given[i] : -1));
  }
}

TEST_CASE("strict numerics round after every operation") {
  Maker m;
  const LinearKernel kernel = tileKernel(m, 16, Numerics::Strict);
  const CpuTarget cpu = makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value();
  const LlvmModule module = emitLlvm(std::span(&kernel, 1), cpu).value();
  const std::string text = emitObject(*module.module, cpu, OptLevel::O1, CodeKind::Assembly).value();
  CHECK(count(text, "vfmadd") == 0);
  CHECK(count(text, "vmulps") == 8);
}

TEST_CASE("a register tile computes the product") {
  Maker m;
  std::vector<float> out(128), a = counting(4 * 64), b(64 * 32);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2.0f;
  run(tileKernel(m, 16, Numerics::Contract), {out.data(), a.data(), b.data()});
  for (size_t row = 0; row < 4; ++row)
    for (size_t column = 0; column < 32; ++column) {
      float sum = 0;
      for (size_t k = 0; k < 64; ++k) sum += a[row * 64 + k] * b[k * 32 + column];
      CHECK(out[row * 32 + column] == sum);
    }
}
