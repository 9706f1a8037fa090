// topk against the first elements of a sort: with ties, NaN, signed zeros and infinities, in whole axes and in blocks.
#include <catch2/catch.hpp>
#include <limits>

#include "frontend/frontend.h"
#include "interp/interp.h"

using namespace svod;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Few values, so that many are equal.
double valueAt(int64_t i, bool hasSpecial) {
  const double special[] = {kNan, kInfinity, -kInfinity, -0.0, 0.0};
  const auto drawn = static_cast<int64_t>((static_cast<uint64_t>(i) * 2654435761U >> 7) % 23);
  return hasSpecial && drawn < 5 ? special[drawn] : static_cast<double>(drawn - 11);
}

HostTensor dataOf(DType dtype, const std::vector<int64_t>& dims) {
  HostTensor t = HostTensor::zeros(dtype, dims);
  for (int64_t i = 0; i < t.numel(); ++i) {
    const double value = valueAt(i, isFloat(dtype) && floatFormat(dtype).hasNan());
    t.set(i, Scalar::of(dtype, dtype == DType::U32 && value < 0 ? -value : value));
  }
  return t;
}

struct Shape {
  std::string text;
  std::vector<int64_t> dims;
  int axis;
  int64_t k;
};

void checkFirstOfSort(const Shape& shape, DType dtype, bool isLargest, int64_t n) {
  const std::string of = ", axis=" + std::to_string(shape.axis), k = std::to_string(shape.k);
  const std::string from = shape.axis == 0 ? "[:" + k + "]" : "[:, :" + k + "]";
  const std::string text = "svod 1\nvar n in [1, 200]\ninput x: " + std::string(toText(dtype)) + shape.text +
                           "\nv, i = topk(x, k=" + k + of + ", largest=" + (isLargest ? "true" : "false") + ")\n" +
                           "sv, si = sort(x" + of + ", descending=" + (isLargest ? "true" : "false") + ")\n" +
                           "output v\noutput i\noutput wv = sv" + from + "\noutput wi = si" + from + "\n";
  INFO(text << "n = " << n);
  Result<GraphFile> file = parseGraph(text, "select.svod");
  REQUIRE(file);
  Result<Model> model = buildModel(*file, {});
  if (!model) FAIL(toText(model.error()));
  ModelBindings bindings;
  bindings.variables = {{"n", n}};
  bindings.ports.resize(model->ports.size());
  bindings.ports[0] = dataOf(dtype, shape.dims);
  Result<std::vector<HostTensor>> ports = interpret(*model, bindings);
  if (!ports) FAIL(toText(ports.error()));
  for (size_t output : {size_t{1}, size_t{2}}) {
    const HostTensor &found = (*ports)[output], &wanted = (*ports)[output + 2];
    REQUIRE(found.dims == wanted.dims);
    CHECK(found.data == wanted.data);
  }
}

}  // namespace

TEST_CASE("the first k are those of a sort, bit for bit and position for position") {
  // In blocks from 32 k elements on, of which the last one may be short.
  const Shape shapes[] = {{"[3, 40]", {3, 40}, 1, 1},     {"[3, 40]", {3, 40}, 1, 5},    {"[40, 3]", {40, 3}, 0, 4},
                          {"[2, 130]", {2, 130}, 1, 4},   {"[128, 2]", {128, 2}, 0, 4},  {"[201, 2]", {201, 2}, 0, 6},
                          {"[1, 320]", {1, 320}, 1, 10},  {"[2, n]", {2, 100}, 1, 7},    {"[n, 2]", {9, 2}, 0, 9},
                          {"[1, 150]", {1, 150}, 1, 128}, {"[1, 150]", {1, 150}, 1, 129}};
  for (const Shape& shape : shapes)
    for (DType dtype : {DType::F32, DType::F16, DType::I8, DType::U32, DType::F64})
      for (bool isLargest : {true, false})
        checkFirstOfSort(shape, dtype, isLargest, shape.axis == 0 ? shape.dims[0] : shape.dims[1]);
}
