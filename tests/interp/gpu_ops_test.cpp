// Instructions of GPUs in the interpreter: what lanes of a warp exchange, and copies that are under way.
#include <algorithm>
#include <catch2/catch.hpp>

#include "common/uop_text.h"
#include "interp/interp.h"
#include "ir/gpu_op.h"
#include "linearize/linearize.h"

using namespace svod;

namespace {

LinearKernel linearOf(Graph& g, std::string_view text) {
  UOp root = parse(g, text, Stage::Linear);
  std::vector<UOp> ops = toposort(root);
  std::ranges::sort(ops, {}, [](UOp u) { return u.id(); });
  return listedKernel(std::move(ops), "k", Numerics::Contract);
}

HostTensor counting(DType dtype, int64_t n) {
  HostTensor t = HostTensor::zeros(dtype, {n});
  for (int64_t i = 0; i < n; ++i) t.set(i, Scalar::of(dtype, i));
  return t;
}

std::string shuffleText(int threads, int mask) {
  const std::string n = std::to_string(threads);
  return "%0 = param " + n + " {0} : f32[" + n + "]\n%1 = param " + n + " {1} : f32[" + n + "]\n%2 = special " + n +
         ":i32 {\"lidx0\", 0, 0} : i32\n%3 = index %1, %2 : f32\n%4 = load %3 : f32\n%5 = gpu %4, " +
         std::to_string(mask) +
         ":i32 {\"shuffle_xor\"} : f32\n%6 = index %0, %2 : f32\n%7 = store %6, %5\n%8 = sink %7";
}

}  // namespace

TEST_CASE("A shuffle gives each lane the value of another one of its warp") {
  for (int threads : {8, 32, 64, 96})
    for (int mask : {1, 4, 7, 16, 31}) {
      Graph g;
      INFO(threads << " threads, mask " << mask);
      std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {threads}), counting(DType::F32, threads)};
      Status done = interpretLinear(linearOf(g, shuffleText(threads, mask)), b, {});
      REQUIRE(done.has_value() == (threads >= 32 || mask < threads));
      if (!done) continue;
      for (int64_t i = 0; i < threads; ++i) REQUIRE(b[0].at(i).asFloat() == static_cast<double>(i ^ mask));
    }
}

TEST_CASE("A copy is there after a wait for its group, and not before") {
  // Two groups of four elements each; `left` of them may still be under way when elements are read.
  for (int left : {0, 1, 2}) {
    for (bool ok : {true, false}) {
      Graph g;
      const std::string text = R"(%0 = param 8 {0} : f32[8]
%1 = param 8 {1} : f32[8]
%2 = buffer 8 {0, local} : f32[8]
%3 = index %2, 0:i32 : f32
%4 = store %3, 9.0:f32
%5 = after %2, %4 : f32[8]
%6 = index %5, 0:i32 : f32
%7 = index %1, 0:i32 : f32
%8 = gpu %6, %7, )" + std::string(ok ? "true" : "false") +
                               R"( {"cp_async16"}
%9 = gpu %8 {"cp_commit"}
%10 = index %5, 4:i32 : f32
%11 = index %1, 4:i32 : f32
%12 = gpu %10, %11, %9 {"cp_async16"}
%13 = gpu %12 {"cp_commit"}
%14 = gpu )" + std::to_string(left) +
                               R"(:i32, %13 {"cp_wait"}
%15 = after %2, %14 : f32[8]
%16 = range 8:i32 {0, loop} : i32
%17 = index %15, %16 : f32
%18 = load %17 : f32
%19 = index %0, %16 : f32
%20 = store %19, %18
%21 = end %20, %16
%22 = sink %21)";
      std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {8}), counting(DType::F32, 8)};
      for (int64_t i = 0; i < 8; ++i) b[1].set(i, Scalar::of(DType::F32, i + 1));
      LinearKernel kernel = linearOf(g, text);
      CHECK(kernel.params[1].read);
      Status done = interpretLinear(kernel, b, {});
      if (!done) FAIL(toText(done.error()));
      for (int64_t i = 0; i < 8; ++i) {
        const bool isThere = i < 4 ? left < 2 : left < 1;
        const int64_t before = i == 0 ? 9 : 0, copied = i < 4 && !ok ? 0 : i + 1;
        INFO("element " << i << ", " << left << " left");
        CHECK(b[0].at(i).asFloat() == static_cast<double>(isThere ? copied : before));
      }
    }
  }
}

TEST_CASE("Lanes get the elements of matrices in local memory that fragments of tensor cores want") {
  for (const GpuOpInfo& row : allGpuOps()) {
    if (!row.does(ReadsShared) || row.does(Multiplies)) continue;
    const bool isTransposed = row.name.ends_with("_trans");
    const int matrices = row.words();
    Graph g;
    const std::string type = "u32[" + std::to_string(matrices) + "]";
    std::string text = R"(%0 = param 128 {0} : u32[128]
%1 = param 256 {1} : u16[256]
%2 = buffer 256 {0, local} : u16[256]
%3 = special 32:i32 {"lidx0", 0, 0} : i32
%4 = mul %3, 8:i32 : i32
%5 = range 8:i32 {0, loop} : i32
%6 = add %4, %5 : i32
%7 = index %1, %6 : u16
%8 = load %7 : u16
%9 = index %2, %6 : u16
%10 = store %9, %8
%11 = end %10, %5
%12 = barrier %11
%13 = after %2, %12 : u16[256]
%14 = index %13, %4 : u16
%15 = gpu %14 {")" + std::string(row.name) +
                       "\"} : " + type + "\n%16 = mul %3, " + std::to_string(matrices) +
                       ":i32 : i32\n%17 = ramp %16 {" + std::to_string(matrices) + "} : i32[" +
                       std::to_string(matrices) + "]\n%18 = index %0, %17 : " + type +
                       "\n%19 = store %18, %15\n%20 = sink %19";
    INFO(row.name);
    std::vector<HostTensor> b{HostTensor::zeros(DType::U32, {128}), counting(DType::U16, 256)};
    Status done = interpretLinear(linearOf(g, text), b, {});
    if (!done) FAIL(toText(done.error()));
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t matrix = 0; matrix < matrices; ++matrix) {
        const auto element = [&](int64_t i) {  // of a matrix whose element (r, c) is 64 * matrix + 8 * r + c
          const int64_t near = lane / 4, far = 2 * (lane % 4) + i;
          return 64 * matrix + (isTransposed ? 8 * far + near : 8 * near + far);
        };
        CHECK(b[0].at(lane * matrices + matrix).asInt() == (element(0) | element(1) << 16));
      }
  }
}
