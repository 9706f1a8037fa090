// Ops that compute whole tensors, element by element.
#include "interp/tensor_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "interp/tensor_movement.h"
#include "ir/text.h"

namespace svod {

namespace {

constexpr int64_t kChunk = 1024;  // elements of a row evaluated at a time

// Dense views and broadcast scalars as one long row.
void flatten(std::vector<View>& src, int64_t count) {
  for (View& v : src) {
    bool broadcast = v.data->size() == static_cast<size_t>(byteSize(v.dtype));
    v.dims = {count};
    v.strides = {broadcast ? 0 : 1};
  }
}

float floatAt(const View& view, int64_t i) {
  float value = 0;
  std::memcpy(&value, view.data->data() + static_cast<size_t>(i) * sizeof value, sizeof value);
  return value;
}

/// As evalScalar defines it: rounded once, and there is one NaN.
float addOrMultiply(Op op, float a, float b) {
  const auto result = static_cast<float>(op == Op::Add ? double{a} + b : double{a} * b);
  return std::isnan(result) ? std::numeric_limits<float>::quiet_NaN() : result;
}

/// Weights are folded in these two most of all: they take a tenth of the time of scalars of any dtype.
bool addsOrMultipliesFloats(Op op, DType dtype) { return dtype == DType::F32 && (op == Op::Add || op == Op::Mul); }

void evalFloats(Op op, const std::vector<View>& src, const RowWalk& walk, std::span<const int64_t> starts,
                std::byte* out) {
  for (int64_t j = 0; j < walk.rowLength(); ++j) {
    const float value = addOrMultiply(op, floatAt(src[0], starts[0] + j * walk.stride(0)),
                                      floatAt(src[1], starts[1] + j * walk.stride(1)));
    std::memcpy(out + static_cast<size_t>(j) * sizeof value, &value, sizeof value);
  }
}

void evalElements(UOp n, const std::vector<View>& src, HostTensor& out) {
  std::vector<const View*> views;
  for (const View& v : src) views.push_back(&v);
  RowWalk walk(views);
  std::vector<Scalar> rows(src.size() * kChunk);
  int64_t next = 0;
  const bool areFloats = addsOrMultipliesFloats(n.op(), n.dtype());
  walk.run([&](std::span<const int64_t> starts) {
    if (areFloats) {
      evalFloats(n.op(), src, walk, starts, out.data.data() + static_cast<size_t>(next) * sizeof(float));
      next += walk.rowLength();
      return;
    }
    for (int64_t at = 0; at < walk.rowLength(); at += kChunk) {
      auto count = static_cast<size_t>(std::min<int64_t>(kChunk, walk.rowLength() - at));
      for (size_t k = 0; k < src.size(); ++k)
        readRow(src[k], starts[k] + at * walk.stride(k), walk.stride(k), std::span(&rows[k * kChunk], count));
      for (size_t j = 0; j < count; ++j) {
        Scalar operands[3];
        for (size_t k = 0; k < src.size(); ++k) operands[k] = rows[k * kChunk + j];
        out.set(next++, evalScalar(n.op(), n.dtype(), std::span(operands, src.size())));
      }
    }
  });
}

// Flat positions in `base` that the index tensors name, in row-major order; -1 outside.
Result<HostTensor> places(UOp n, const View& base, std::span<const View> indices) {
  std::vector<int64_t> dims;
  for (const View& index : indices)
    if (!index.dims.empty()) dims = index.dims;
  HostTensor out = HostTensor::zeros(DType::I64, dims);
  std::vector<int64_t> strides = rowMajorStrides(base.dims);
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    const View& view = indices[axis];
    if (!view.dims.empty() && view.dims != dims) return dimsMismatch(n, view, View::of(out));
    HostTensor index = broadcastTo(view, dims).toTensor();
    for (int64_t i = 0, count = out.numel(); i < count; ++i) {
      int64_t at = index.at(i).asInt(), sum = out.at(i).asInt();  // a huge u64 is negative here, and outside as well
      bool outside = sum < 0 || at < 0 || at >= base.dims[axis];
      out.set(i, Scalar::ofInt(DType::I64, outside ? -1 : sum + at * strides[axis]));
    }
  }
  return out;
}

// Updates that are called distinct meet in element `at` of `x`.
tl::unexpected<Error> meeting(UOp node, const View& x, int64_t at) {
  std::vector<int64_t> place;
  for (int64_t stride : rowMajorStrides(x.dims)) place.push_back(at / stride), at %= stride;
  return fail(
      Error(Diag::InputMismatch,
            fmt::format("two updates of a scatter that calls them distinct go to element [{}]", fmt::join(place, ", ")),
            "name each element once, or leave out distinct=true")
          .withNote("node: " + toLineText(node)));
}

}  // namespace

tl::unexpected<Error> dimsMismatch(UOp node, const View& a, const View& b) {
  return fail(
      Diag::ShapeMismatch,
      fmt::format("dims [{}] and [{}] meet in {}", fmt::join(a.dims, ", "), fmt::join(b.dims, ", "), toLineText(node)),
      "check the values of the variables");
}

Scalar scalarOf(const View& view) {
  Scalar out;
  readRow(view, view.offset, 1, std::span(&out, 1));
  return out;
}

View scalarView(const Scalar& value) {
  HostTensor t = HostTensor::zeros(value.dtype(), {});
  t.set(0, value);
  return View::of(std::move(t));
}

View iotaView(DType dtype, int64_t count) {
  HostTensor out = HostTensor::zeros(dtype, {std::max<int64_t>(count, 0)});
  for (int64_t i = 0; i < count; ++i) out.set(i, Scalar::ofInt(dtype, i));
  return View::of(std::move(out));
}

View stackView(DType dtype, std::span<const View> scalars) {
  HostTensor out = HostTensor::zeros(dtype, {static_cast<int64_t>(scalars.size())});
  for (size_t i = 0; i < scalars.size(); ++i) out.set(static_cast<int64_t>(i), scalarOf(scalars[i]));
  return View::of(std::move(out));
}

Result<View> elementwiseView(UOp n, std::vector<View> src) {
  const View* shaped = nullptr;
  for (const View& v : src)
    if (!v.dims.empty() && shaped == nullptr) shaped = &v;
  std::vector<int64_t> dims = shaped != nullptr ? shaped->dims : std::vector<int64_t>();
  bool dense = true;
  for (View& v : src) {
    if (!v.dims.empty() && v.dims != dims) return dimsMismatch(n, v, *shaped);
    dense &= v.dims.empty() || v.isDense();
    v = broadcastTo(v, dims);
  }
  HostTensor out = HostTensor::zeros(n.dtype(), dims);
  if (dense) flatten(src, out.numel());
  evalElements(n, src, out);
  return View::of(std::move(out));
}

namespace {

View sumsOfFloats(const View& x, const View& places, const std::vector<int64_t>& dims) {
  std::vector<float> totals(static_cast<size_t>(numelOf(dims)));
  const View* views[] = {&x, &places};
  RowWalk walk(views);
  walk.run([&](std::span<const int64_t> starts) {
    for (int64_t j = 0; j < walk.rowLength(); ++j) {
      float& total = totals[static_cast<size_t>(starts[1] + j * walk.stride(1))];
      total = addOrMultiply(Op::Add, total, floatAt(x, starts[0] + j * walk.stride(0)));
    }
  });
  HostTensor out = HostTensor::zeros(DType::F32, dims);
  if (!totals.empty()) std::memcpy(out.data.data(), totals.data(), totals.size() * sizeof(float));
  return View::of(std::move(out));
}

}  // namespace

View reduceView(UOp n, const View& x, bool roundsOnce) {
  const ReduceArg& arg = n.argAs<ReduceArg>();
  const DType dtype = roundsOnce && isFloat(n.dtype()) ? DType::F64 : n.dtype();
  std::vector<int64_t> dims;
  std::vector<bool> folded(x.dims.size());
  for (int32_t a : arg.axes) folded[a] = true;
  for (size_t i = 0; i < folded.size(); ++i)
    if (!folded[i]) dims.push_back(x.dims[i]);
  // Where each input element accumulates: strides of the output, 0 along folded axes.
  View places{x.dtype, x.dims, std::vector<int64_t>(folded.size()), 0, nullptr};
  std::vector<int64_t> outStrides = rowMajorStrides(dims);
  for (size_t i = 0, o = 0; i < folded.size(); ++i)
    if (!folded[i]) places.strides[i] = outStrides[o++];
  if (arg.op == Op::Add && x.dtype == dtype && addsOrMultipliesFloats(arg.op, dtype))
    return sumsOfFloats(x, places, dims);
  std::vector<Scalar> totals(static_cast<size_t>(numelOf(dims)), identity(arg.op, dtype));
  const View* views[] = {&x, &places};
  RowWalk walk(views);
  std::vector<Scalar> row(static_cast<size_t>(walk.rowLength()));
  walk.run([&](std::span<const int64_t> starts) {
    readRow(x, starts[0], walk.stride(0), row);
    int64_t place = starts[1];
    for (const Scalar& element : row) {
      Scalar operands[] = {totals[static_cast<size_t>(place)],
                           dtype == n.dtype() ? element : Scalar::ofFloat(dtype, element.asFloat())};
      totals[static_cast<size_t>(place)] = evalScalar(arg.op, dtype, operands);
      place += walk.stride(1);
    }
  });
  HostTensor out = HostTensor::zeros(n.dtype(), dims);
  for (size_t i = 0; i < totals.size(); ++i)
    out.set(static_cast<int64_t>(i), dtype == n.dtype() ? totals[i] : Scalar::ofFloat(n.dtype(), totals[i].asFloat()));
  return View::of(std::move(out));
}

Result<View> gatherView(UOp n, const View& x, std::span<const View> indices) {
  HostTensor base = x.toTensor();
  SVOD_TRY(HostTensor from, places(n, x, indices));
  HostTensor out = HostTensor::zeros(n.dtype(), from.dims);
  for (int64_t i = 0, count = out.numel(); i < count; ++i)
    if (int64_t at = from.at(i).asInt(); at >= 0) out.set(i, base.at(at));
  return View::of(std::move(out));
}

Result<View> scatterView(UOp n, const View& x, std::span<const View> indices, const View& update, bool mayMeet) {
  HostTensor out = x.toTensor();
  SVOD_TRY(HostTensor to, places(n, x, indices));
  if (!update.dims.empty() && update.dims != to.dims && !to.dims.empty()) return dimsMismatch(n, update, View::of(to));
  const auto& [op, distinct] = n.argAs<ReduceArg>();
  std::vector<bool> isTaken(distinct.empty() || mayMeet ? 0 : static_cast<size_t>(out.numel()));
  std::vector<int64_t> dims = to.dims.empty() ? update.dims : to.dims;
  HostTensor updates = broadcastTo(update, dims).toTensor();
  for (int64_t i = 0, count = updates.numel(); i < count; ++i) {
    int64_t at = to.at(to.dims.empty() ? 0 : i).asInt();
    if (at < 0) continue;
    if (!isTaken.empty()) {
      if (isTaken[static_cast<size_t>(at)]) return meeting(n, x, at);
      isTaken[static_cast<size_t>(at)] = true;
    }
    Scalar operands[] = {out.at(at), updates.at(i)};
    out.set(at, op == Op::Store ? operands[1] : evalScalar(op, n.dtype(), operands));
  }
  return View::of(std::move(out));
}

}  // namespace svod
