// Unique of many elements, which a sort finds, against Unique of the same elements by pairs.
#include <catch2/catch.hpp>
#include <cmath>

#include "interp/interp.h"
#include "onnx_maker.h"

using namespace svod;

namespace {

constexpr int64_t kCount = 600;

/// Few values in no order; floats have NaN and both zeros.
HostTensor drawn(DType dtype) {
  HostTensor t = HostTensor::zeros(dtype, {kCount});
  for (int64_t i = 0; i < kCount; ++i) {
    const auto value = static_cast<double>(i * i * 7 % 31 % 23 - 9);
    const bool isNan = isFloat(dtype) && i % 41 == 5, isZero = isFloat(dtype) && i % 37 == 3;
    t.set(i, Scalar::of(dtype, isNan ? std::nan("") : isZero ? -0.0 : value));
  }
  return t;
}

/// All outputs; `size` is the dim of x.
std::vector<HostTensor> resultsOf(const std::string& size, DType dtype, int64_t isSorted) {
  const int type = dtype == DType::F32 ? 1 : 7;
  OnnxMaker m;
  m.input("x", {size}, type).output("y", type).output("first", 7).output("rank", 7).output("counts", 7);
  addAttribute(m.node("Unique", {"x"}, {"y", "first", "rank", "counts"}), "sorted", isSorted);
  const OnnxImport import = m.import();
  if (!import.model) FAIL(toText(import.model.error()));
  ModelBindings bindings;
  if (size == "n") bindings.variables["n"] = kCount;
  bindings.ports.resize(import.model->ports.size());
  bindings.ports[0] = drawn(dtype);
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  if (!ports) FAIL(toText(ports.error()));
  return *ports;
}

}  // namespace

TEST_CASE("a sort finds the same distinct elements as pairs do") {
  for (DType dtype : {DType::F32, DType::I64})
    for (int64_t isSorted : {0, 1}) {
      INFO(toText(dtype) << ", sorted = " << isSorted);
      const std::vector<HostTensor> bySort = resultsOf(std::to_string(kCount), dtype, isSorted),
                                    byPairs = resultsOf("n", dtype, isSorted);
      REQUIRE(bySort.size() == byPairs.size());
      for (size_t port = 1; port < bySort.size(); ++port) {
        INFO("port " << port);
        CHECK(bySort[port].data == byPairs[port].data);
      }
    }
}
