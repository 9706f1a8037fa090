// Memory, loops and structure of emitted kernels.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "target/llvm/emit.h"
#include "target_llvm/native_kernel.h"
#include "toolchain/object.h"

using namespace svod;

namespace {

// Short names for building kernels by hand.
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

void run(const LinearKernel& kernel, std::vector<void*> buffers, std::vector<int64_t> values = {}, int64_t begin = 0,
         int64_t end = 1) {
  alignas(64) static thread_local std::byte scratch[4096];
  REQUIRE(kernel.scratchBytes <= static_cast<int64_t>(sizeof scratch));
  const auto library = loadKernels(std::span(&kernel, 1), nativeCpu());
  library->function<KernelFunction>(kernel.name.c_str())(buffers.data(), values.data(), begin, end, scratch);
}

std::vector<float> counting(size_t n) {
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

}  // namespace

TEST_CASE("a loop bound may be a variable, and may be zero") {
  Maker m;
  const UOp n = m.g.cast(m.g.variable("n", 0, 64), DType::I64);
  const UOp r = m.range(0, n);
  const UOp body = m.store(m.at(m.param(0, 64), r), m.g.load(m.at(m.param(1, 64), r)));
  const LinearKernel kernel = kernelOf(m.end(body, r), "copy");
  std::vector<float> out(64, -1.0f), in = counting(64);
  run(kernel, {out.data(), in.data()}, {0});
  CHECK(out[0] == -1.0f);
  run(kernel, {out.data(), in.data()}, {5});
  CHECK(out[4] == 5.0f);
  CHECK(out[5] == -1.0f);
}

TEST_CASE("a thread range runs over the tiles it is given") {
  Maker m;
  const UOp r = m.range(0, m.i64(16), AxisType::Thread);
  const LinearKernel kernel = kernelOf(m.end(m.store(m.at(m.param(0, 16), r), m.f32(7)), r), "tiles");
  std::vector<float> out(16);
  run(kernel, {out.data()}, {}, 3, 6);
  for (size_t i = 0; i < 16; ++i) CHECK(out[i] == (i >= 3 && i < 6 ? 7.0f : 0.0f));
}

TEST_CASE("guarded loads give the other value and do not touch the address") {
  for (const uint32_t lanes : {1u, 8u}) {
    Maker m;
    const UOp r = m.range(0, m.i64(16 / lanes));
    UOp index = m.mul(r, m.i64(lanes));
    const UOp open = m.less(index, m.i64(8));
    if (lanes > 1) index = m.ramp(index, lanes);
    // Far outside of any mapping where the gate is closed.
    const UOp guarded = m.at(m.param(1, 8), lanes > 1 ? m.ramp(m.mul(r, m.i64(int64_t{1} << 40)), lanes)
                                                      : m.g.where(open, index, m.i64(int64_t{1} << 40)));
    const UOp value = m.g.load(guarded, m.f32(-2), open);
    std::vector<float> out(16), in = counting(8);
    run(kernelOf(m.end(m.store(m.at(m.param(0, 16), index), value), r), "guarded"), {out.data(), in.data()});
    for (size_t i = 0; i < 16; ++i) CHECK(out[i] == (i < 8 ? in[i] : -2.0f));
  }
}

TEST_CASE("vector gates mask lanes of loads and stores") {
  Maker m;
  const UOp lanes = m.ramp(m.i64(0), 8);
  const UOp value = m.g.load(m.at(m.param(1, 5), lanes), m.f32(-1), m.less(lanes, m.i64(5)));
  const UOp store = m.store(m.at(m.param(0, 8), lanes), value, m.less(lanes, m.i64(7)));
  std::vector<float> out(8, 9.0f), in = counting(5);
  run(kernelOf(store, "masked"), {out.data(), in.data()});
  CHECK(out == std::vector<float>{1, 2, 3, 4, 5, -1, -1, 9});
}

TEST_CASE("vector indices gather and scatter, the last lane wins") {
  Maker m;
  const UOp lanes = m.ramp(m.i64(0), 4);
  const UOp gathered = m.g.load(m.at(m.param(1, 16), m.mul(lanes, m.i64(5))));
  const UOp half = m.g.make(Op::Shr, DType::I64, {lanes, m.i64(1)});
  const UOp reversed = m.g.load(m.at(m.param(1, 16), m.mul(lanes, m.i64(-1))), m.f32(0), m.less(lanes, m.i64(1)));
  const UOp both = m.g.make(
      Op::Group, DType::Void,
      {m.store(m.at(m.param(0, 8), half), gathered), m.store(m.at(m.param(0, 8), m.ramp(m.i64(4), 4)), reversed)});
  std::vector<float> out(8), in = counting(16);
  run(kernelOf(both, "gather"), {out.data(), in.data()});
  CHECK(out == std::vector<float>{6, 16, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("a guarded scalar store happens only where the gate is open") {
  Maker m;
  const UOp r = m.range(0, m.i64(8));
  const UOp store = m.store(m.at(m.param(0, 8), r), m.f32(1), m.less(r, m.i64(3)));
  std::vector<float> out(8);
  run(kernelOf(m.end(store, r), "gated"), {out.data()});
  CHECK(out == std::vector<float>{1, 1, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("lanes fold by halves") {
  Maker m;
  const UOp sum =
      m.g.make(Op::Reduce, DType::F32, {m.g.load(m.at(m.param(1, 8), m.ramp(m.i64(0), 8)))}, ReduceArg{Op::Add, {}});
  std::vector<float> out(1), in = {1e8f, 1.0f, -1e8f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
  run(kernelOf(m.store(m.at(m.param(0, 1), m.i64(0)), sum), "fold"), {out.data(), in.data()});
  const float half[4] = {1e8f + 1, 2, -1e8f + 1, 2}, quarter[2] = {half[0] + half[2], half[1] + half[3]};
  CHECK(out[0] == quarter[0] + quarter[1]);
}

TEST_CASE("local buffers are apart and aligned") {
  Maker m;
  const UOp size = m.i64(3), first = m.g.buffer(DType::U8, std::span(&size, 1), {0, Space::Local});
  const UOp eight = m.i64(8), second = m.g.buffer(DType::F32, std::span(&eight, 1), {1, Space::Local});
  const UOp fillFirst = m.store(m.at(first, m.i64(2)), m.g.constant(Scalar::ofInt(DType::U8, 200)));
  const UOp fillSecond = m.store(m.at(second, m.ramp(m.i64(0), 8)), m.f32(0.5));
  const UOp filled = m.g.make(Op::After, DType::U8, {first, fillFirst, fillSecond});
  const UOp copy = m.g.cast(m.g.load(m.at(filled, m.i64(2))), DType::F32);
  const LinearKernel kernel = kernelOf(m.store(m.at(m.param(0, 1), m.i64(0)), copy), "locals");
  CHECK(kernel.scratchBytes == 128);
  std::vector<float> out(1);
  run(kernel, {out.data()});
  CHECK(out[0] == 200.0f);
}

TEST_CASE("stack, lane and bool memory") {
  Maker m;
  const UOp x = m.g.load(m.at(m.param(1, 4), m.ramp(m.i64(0), 4)));
  std::vector<UOp> picked;
  for (const uint32_t lane : {3u, 1u, 1u, 0u}) picked.push_back(m.g.make(Op::Lane, DType::F32, {x}, SlotArg{lane}));
  const UOp shuffled = m.g.make(Op::Stack, DType::F32, std::span<const UOp>(picked));
  const UOp flags = m.less(shuffled, m.f32(2.5));
  const UOp both = m.g.make(Op::Group, DType::Void,
                            {m.store(m.at(m.param(0, 4), m.ramp(m.i64(0), 4)), shuffled),
                             m.store(m.at(m.param(2, 4, DType::Bool), m.ramp(m.i64(0), 4)), flags)});
  std::vector<float> out(4), in = counting(4);
  std::vector<uint8_t> bits(4, 0xff);
  run(kernelOf(both, "lanes"), {out.data(), in.data(), bits.data()});
  CHECK(out == std::vector<float>{4, 2, 2, 1});
  CHECK(bits == std::vector<uint8_t>{0, 1, 1, 1});
}

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

TEST_CASE("what legalization should have removed is an internal error that shows the node") {
  Maker m;
  const UOp x = m.g.load(m.at(m.param(1, 1), m.i64(0)));
  const auto refuse = [&](UOp value) {
    const LinearKernel kernel = kernelOf(m.store(m.at(m.param(0, 1), m.i64(0)), value), "bad");
    const auto module = emitLlvm(std::span(&kernel, 1), nativeCpu());
    REQUIRE_FALSE(module.has_value());
    CHECK(module.error()->diag == Diag::CompileFailed);
    return module.error()->message;
  };
  CHECK(refuse(m.g.make(Op::Exp, DType::F32, {x})).find("`exp ") != std::string::npos);
  CHECK(refuse(m.g.make(Op::Cast, DType::BF16, {x})).find("bf16") != std::string::npos);
}

TEST_CASE("two kernels of one name are refused") {
  Maker m;
  const LinearKernel kernel = kernelOf(m.store(m.at(m.param(0, 1), m.i64(0)), m.f32(1)), "same");
  const LinearKernel both[] = {kernel, kernel};
  CHECK_FALSE(emitLlvm(both, nativeCpu()).has_value());
}
