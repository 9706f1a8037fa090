// Windows and mel filters: what signals are weighted with before and after a transform.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "onnx/ops/common.h"
#include "onnx/ops/expectations.h"

namespace svod {

// a - b cos(2 pi i / n) + c cos(4 pi i / n), with n one less unless the window is periodic.
Results onnxWindow(OnnxNode& n) {
  int64_t size = 0;
  if (std::optional<Dims> declared = n.declaredFor(0); declared && declared->rank() == 1) {
    size = (*declared)[0].constant();
    n.expect({0}, n.arg(0), *declared);
  } else {
    size = n.integer("", 0, 0);
  }
  DType dtype = n.dtype("output_datatype");
  if (n.b.failed() || !n.require(size >= 0 && size <= (1 << 26), "the size is from 0 to 2^26")) return Tensor();
  struct Row {
    std::string_view name;
    double a, b, c;
  };
  constexpr Row kRows[] = {
      {"HannWindow", 0.5, 0.5, 0}, {"HammingWindow", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", 0.42, 0.5, 0.08}};
  const Row& row = *std::ranges::find(kRows, n.op.name, &Row::name);
  double period = static_cast<double>(n.flag("periodic") ? size : std::max<int64_t>(size - 1, 1));
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    values.push_back(row.a - row.b * std::cos(angle) + row.c * std::cos(2 * angle));
  }
  return constantOf(n, dtype, {size}, values);
}

// Triangles between mel frequencies, over the bins of a transform.
Results onnxMelWeightMatrix(OnnxNode& n) {
  double operands[5] = {};
  for (int i = 0; i < 5; ++i) {
    std::vector<double> all = n.numbers(i);
    if (n.b.failed() || !n.require(all.size() == 1, "operands are scalars")) return Tensor();
    operands[i] = all[0];
  }
  auto [mels, length, rate, low, high] = operands;
  DType dtype = n.dtype("output_datatype");
  if (n.b.failed() ||
      !n.require(mels >= 1 && mels < 1e5 && length >= 1 && length < 1e6 && rate > 0, "sizes are positive"))
    return Tensor();
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  int64_t rows = static_cast<int64_t>(length) / 2 + 1, columns = static_cast<int64_t>(mels);
  double first = mel(low), step = (mel(high) - first) / (mels + 2);
  std::vector<int64_t> bins;
  for (int64_t i = 0; i < columns + 2; ++i) {
    double hertz = 700 * (std::pow(10, (first + static_cast<double>(i) * step) / 2595) - 1);
    bins.push_back(static_cast<int64_t>(std::floor((length + 1) * hertz / rate)));
  }
  std::vector<double> values(static_cast<size_t>(rows * columns));
  auto set = [&](int64_t row, int64_t column, double v) {
    if (row >= 0 && row < rows) values[static_cast<size_t>(row * columns + column)] = v;
  };
  for (int64_t i = 0; i < columns; ++i) {
    size_t at = static_cast<size_t>(i);
    int64_t left = bins[at], middle = bins[at + 1], right = bins[at + 2];
    if (left == middle) set(middle, i, 1);
    for (int64_t j = left; j <= middle && left < middle; ++j)
      set(j, i, static_cast<double>(j - left) / static_cast<double>(middle - left));
    for (int64_t j = middle; j < right; ++j)
      set(j, i, static_cast<double>(right - j) / static_cast<double>(right - middle));
  }
  return constantOf(n, dtype, {rows, columns}, values);
}

}  // namespace svod
