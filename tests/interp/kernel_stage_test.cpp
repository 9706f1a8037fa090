// Kernel and lowered interpreters on kernels written as text.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "common/uop_text.h"
#include "interp/interp.h"

using namespace svod;

namespace {

void runKernel(std::string_view text, Stage stage, std::vector<HostTensor>& buffers, const VariableValues& vars = {}) {
  Graph g;
  Status status = interpretKernel(parse(g, text, stage), buffers, vars);
  if (!status) FAIL(toText(status.error()));
}

std::vector<double> floats(const HostTensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.numel(); ++i) out.push_back(t.at(i).asFloat());
  return out;
}
using Doubles = std::vector<double>;

constexpr const char* kRowSums = R"(%0 = param 2 {0} : f32[2]
%1 = param 6 {1} : f32[6]
%2 = range 2 {0, loop} : index
%3 = range 3 {1, reduce} : index
%4 = mul %2, 3 : index
%5 = add %4, %3 : index
%6 = index %1, %5 : f32
%7 = load %6 : f32
%8 = reduce %7, %3 {add} : f32
%9 = index %0, %2 : f32
%10 = store %9, %8
%11 = end %10, %2
%12 = sink %11)";

}  // namespace

TEST_CASE("a reduction over a range") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {2}), HostTensor::of(DType::F32, {6}, {1, 2, 3, 4, 5, 6})};
  runKernel(kRowSums, Stage::Kernel, b);
  CHECK(floats(b[0]) == Doubles{6, 15});
}

TEST_CASE("gated loads do not touch memory where the gate is false") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {4}), HostTensor::of(DType::F32, {2}, {7, 8})};
  runKernel(R"(%0 = param 4 {0} : f32[4]
%1 = param 2 {1} : f32[2]
%2 = range 4 {0, loop} : index
%3 = sub %2, 1 : index
%4 = le 1, %2 : bool
%5 = lt %2, 3 : bool
%6 = and %4, %5 : bool
%7 = index %1, %3 : f32
%8 = load %7, -1.0:f32, %6 : f32
%9 = index %0, %2 : f32
%10 = store %9, %8
%11 = end %10, %2
%12 = sink %11)",
            Stage::Kernel, b);
  CHECK(floats(b[0]) == Doubles{-1, 7, 8, -1});
}

TEST_CASE("a fill keeps a value for every closed range; loops repeat it for outer ranges") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {6}), HostTensor::of(DType::F32, {6}, {1, 2, 3, 4, 5, 6})};
  // out[i, j] = (row i doubled)[2 - j]
  runKernel(R"(%0 = param 6 {0} : f32[6]
%1 = param 6 {1} : f32[6]
%2 = range 2 {0, loop} : index
%3 = range 3 {1, loop} : index
%4 = mul %2, 3 : index
%5 = add %4, %3 : index
%6 = index %1, %5 : f32
%7 = load %6 : f32
%8 = mul %7, 2.0:f32 : f32
%9 = buffer 3 {0, local} : f32[3]
%10 = index %9, %3 : f32
%11 = store %10, %8
%12 = fill %11, %3 {store} : f32[3]
%13 = range 3 {2, loop} : index
%14 = sub 2, %13 : index
%15 = index %12, %14 : f32
%16 = load %15 : f32
%17 = add %4, %13 : index
%18 = index %0, %17 : f32
%19 = store %18, %16
%20 = end %19, %2, %13
%21 = sink %20)",
            Stage::Kernel, b);
  CHECK(floats(b[0]) == Doubles{6, 4, 2, 12, 10, 8});
}

TEST_CASE("a fill that folds starts at the identity, again for every outer iteration") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {4}),
                            HostTensor::of(DType::F32, {12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1})};
  runKernel(R"(%0 = param 4 {0} : f32[4]
%1 = param 12 {1} : f32[12]
%2 = range 2 {0, loop} : index
%3 = range 3 {1, serial} : index
%4 = range 2 {2, loop} : index
%5 = mul %2, 6 : index
%6 = mul %3, 2 : index
%7 = add %6, %4 : index
%8 = add %5, %7 : index
%9 = index %1, %8 : f32
%10 = load %9 : f32
%11 = buffer 2 {0, local} : f32[2]
%12 = index %11, %4 : f32
%13 = store %12, %10
%14 = fill %13, %3, %4 {add} : f32[2]
%15 = range 2 {3, loop} : index
%16 = index %14, %15 : f32
%17 = load %16 : f32
%18 = mul %2, 2 : index
%19 = add %18, %15 : index
%20 = index %0, %19 : f32
%21 = store %20, %17
%22 = end %21, %2, %15
%23 = sink %22)",
            Stage::Kernel, b);
  CHECK(floats(b[0]) == Doubles{9, 12, 17, 10});
}

TEST_CASE("lowered: accumulator in a register buffer, vectors, horizontal fold") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {2}),
                            HostTensor::of(DType::F32, {16}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 2, 2, 2, 2})};
  runKernel(R"(%0 = param 2 {0} : f32[2]
%1 = param 16 {1} : f32[16]
%2 = range 2 {0, loop} : index
%3 = range 2 {1, reduce} : index
%4 = buffer 4 {0, reg} : f32[4]
%5 = ramp 0 {4} : index[4]
%6 = after %4, %2 : f32[4]
%7 = index %6, %5 : f32[4]
%8 = store %7, 0.0:f32
%9 = after %4, %8, %3 : f32[4]
%10 = index %9, %5 : f32[4]
%11 = load %10 : f32[4]
%12 = mul %2, 8 : index
%13 = mul %3, 4 : index
%14 = add %12, %13 : index
%15 = ramp %14 {4} : index[4]
%16 = index %1, %15 : f32[4]
%17 = load %16 : f32[4]
%18 = add %11, %17 : f32[4]
%19 = store %10, %18
%20 = end %19, %3
%21 = after %4, %20 : f32[4]
%22 = index %21, %5 : f32[4]
%23 = load %22 : f32[4]
%24 = reduce %23 {add} : f32
%25 = index %0, %2 : f32
%26 = store %25, %24
%27 = end %26, %2
%28 = sink %27)",
            Stage::Lowered, b);
  CHECK(floats(b[0]) == Doubles{36, 12});
}

TEST_CASE("the halving tree decides the order of a horizontal fold") {
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {1}),
                            HostTensor::of(DType::F32, {4}, {16777216, 1, -16777216, 1})};
  runKernel(R"(%0 = param 1 {0} : f32[1]
%1 = param 4 {1} : f32[4]
%2 = ramp 0 {4} : index[4]
%3 = index %1, %2 : f32[4]
%4 = load %3 : f32[4]
%5 = reduce %4 {add} : f32
%6 = index %0, 0 : f32
%7 = store %6, %5
%8 = sink %7)",
            Stage::Lowered, b);
  CHECK(floats(b[0]) == Doubles{2});  // (v0 + v2) + (v1 + v3); from left to right it would be 1
}

TEST_CASE("variables bound loops and errors name the node") {
  const char* text = R"(%0 = var {"n", 0, 4} : index
%1 = param 4 {0} : f32[4]
%2 = range %0 {0, loop} : index
%3 = index %1, %2 : f32
%4 = store %3, 5.0:f32
%5 = end %4, %2
%6 = sink %5)";
  std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {4})};
  runKernel(text, Stage::Kernel, b, {{"n", 2}});
  CHECK(floats(b[0]) == Doubles{5, 5, 0, 0});
  Graph g;
  UOp root = parse(g, text, Stage::Kernel);
  CHECK(interpretKernel(root, b, {}).error()->diag == Diag::VariableBounds);
  CHECK(interpretKernel(root, b, {{"n", 9}}).error()->diag == Diag::VariableBounds);
  CHECK(interpretKernel(root, {}, {{"n", 2}}).error()->diag == Diag::MissingInput);
  std::vector<HostTensor> small{HostTensor::zeros(DType::F32, {3})};
  Status status = interpretKernel(root, small, {{"n", 4}});
  REQUIRE_FALSE(status.has_value());
  CHECK(toText(status.error()).find("store of element 3 in storage of 3 elements") != std::string::npos);
  CHECK(toText(status.error()).find("param0[r0]") != std::string::npos);
}
