// Memory, loops and structure of emitted kernels.
#include <catch2/catch.hpp>

#include "target/cpu/emit.h"
#include "target_llvm/kernel_maker.h"

using namespace svod;

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
