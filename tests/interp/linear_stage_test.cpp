// The interpreter of lists of instructions, on kernels written as text.
#include <algorithm>
#include <catch2/catch.hpp>

#include "common/uop_text.h"
#include "interp/interp.h"

using namespace svod;

namespace {

// The instructions in the order of the lines of the text.
LinearKernel linearOf(Graph& g, std::string_view text) {
  LinearKernel kernel;
  kernel.name = "k";
  UOp root = parse(g, text, Stage::Linear);
  kernel.ops = toposort(root);
  std::ranges::sort(kernel.ops, {}, [](UOp u) { return u.id(); });
  for (UOp u : kernel.ops) {
    if (u.op() == Op::Param) kernel.params.push_back({u, true, true});
    if (u.op() == Op::Range && u.argAs<AxisArg>().type == AxisType::Thread) kernel.threadRange = u;
  }
  std::ranges::sort(kernel.params, {}, [](const KernelParam& p) { return p.param.argAs<SlotArg>().slot; });
  return kernel;
}

std::vector<double> floats(const HostTensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.numel(); ++i) out.push_back(t.at(i).asFloat());
  return out;
}
using Doubles = std::vector<double>;

}  // namespace

TEST_CASE("linear: loops, gates and vectors run in list order") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {2}), HostTensor::of(DType::F32, {6}, {1, 2, 3, 4, 5, 6})};
  Graph g;
  LinearKernel kernel = linearOf(g, R"(%0 = param 2 {0} : f32[2]
%1 = param 6 {1} : f32[6]
%2 = buffer 1 {0, reg} : f32[1]
%3 = range 2:i64 {0, thread} : i64
%4 = mul %3, 3:i64 : i64
%5 = after %2, %3 : f32[1]
%6 = index %5, 0:i64 : f32
%7 = store %6, 0.0:f32
%8 = range 3:i64 {1, reduce} : i64
%9 = after %2, %7, %8 : f32[1]
%10 = index %9, 0:i64 : f32
%11 = load %10 : f32
%12 = add %4, %8 : i64
%13 = index %1, %12 : f32
%14 = load %13 : f32
%15 = add %11, %14 : f32
%16 = store %10, %15
%17 = end %16, %8
%18 = after %2, %17 : f32[1]
%19 = index %18, 0:i64 : f32
%20 = load %19 : f32
%21 = index %0, %3 : f32
%22 = store %21, %20
%23 = end %22, %3
%24 = sink %23)");
  REQUIRE(interpretLinear(kernel, b, {}).has_value());
  CHECK(floats(b[0]) == Doubles{6, 15});
  b[0] = HostTensor::zeros(DType::F32, {2});
  REQUIRE(interpretLinear(kernel, b, {}, 1, 2).has_value());
  CHECK(floats(b[0]) == Doubles{0, 15});
  b[0] = HostTensor::zeros(DType::F32, {2});
  REQUIRE(interpretLinear(kernel, b, {}, 1, 1).has_value());
  CHECK(floats(b[0]) == Doubles{0, 0});
}

TEST_CASE("linear: one end closes several loops, also when the inner one is empty") {
  for (int64_t n : {0, 1, 3}) {
    std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {12})};
    Graph g;
    LinearKernel kernel = linearOf(g, R"(%0 = param 12 {0} : f32[12]
%1 = var {"n", 0, 3} : i64
%2 = range 4:i64 {0, loop} : i64
%3 = mul %2, 3:i64 : i64
%4 = range %1 {1, loop} : i64
%5 = add %3, %4 : i64
%6 = index %0, %5 : f32
%7 = store %6, 1.0:f32
%8 = end %7, %2, %4
%9 = sink %8)");
    REQUIRE(interpretLinear(kernel, b, {{"n", n}}).has_value());
    double sum = 0;
    for (double v : floats(b[0])) sum += v;
    CHECK(sum == 4 * static_cast<double>(n));
  }
}

TEST_CASE("linear: threads of a workgroup meet at barriers") {
  // Each workgroup reverses its four elements through local memory.
  std::vector<HostTensor> b{HostTensor::of(DType::F32, {8}, {1, 2, 3, 4, 5, 6, 7, 8})};
  Graph g;
  LinearKernel kernel = linearOf(g, R"(%0 = param 8 {0} : f32[8]
%1 = buffer 4 {0, local} : f32[4]
%2 = special 2:i32 {"gidx0", 0, 1} : i32
%3 = special 4:i32 {"lidx0", 0, 3} : i32
%4 = mul %2, 4:i32 : i32
%5 = add %4, %3 : i32
%6 = index %0, %5 : f32
%7 = load %6 : f32
%8 = index %1, %3 : f32
%9 = store %8, %7
%10 = barrier %9
%11 = sub 3:i32, %3 : i32
%12 = after %1, %10 : f32[4]
%13 = index %12, %11 : f32
%14 = load %13 : f32
%15 = store %6, %14
%16 = sink %15)");
  REQUIRE(interpretLinear(kernel, b, {}).has_value());
  CHECK(floats(b[0]) == Doubles{4, 3, 2, 1, 8, 7, 6, 5});
}

TEST_CASE("linear: lists that are no programs are refused") {
  Graph g;
  LinearKernel kernel =
      linearOf(g,
               "%0 = param 2 {0} : f32[2]\n%1 = range 2:i64 {0, loop} : i64\n%2 = index %0, %1 : f32\n"
               "%3 = store %2, 1.0:f32\n%4 = end %3, %1\n%5 = sink %4");
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {2})};
  REQUIRE(interpretLinear(kernel, b, {}).has_value());
  LinearKernel swapped = kernel;
  std::swap(swapped.ops[swapped.ops.size() - 3], swapped.ops[swapped.ops.size() - 2]);
  CHECK_FALSE(interpretLinear(swapped, b, {}).has_value());
  LinearKernel open = kernel;
  open.ops.resize(open.ops.size() - 2);
  CHECK_FALSE(interpretLinear(open, b, {}).has_value());
}
