// Features before a model of ai.onnx.ml sees them: scaled, filled in, looked up, joined.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "onnx/ops/common.h"
#include "onnx/ops/ml_scores.h"

namespace svod {

namespace {

// A list with one number for all features, or one for each.
Tensor perFeature(const OnnxNode& n, std::string_view name, DType dtype, const Tensor& x) {
  const std::vector<double> values = n.numbers(name);
  const auto count = static_cast<int64_t>(values.size());
  if (!n.require(count == 1 || (count > 0 && x.rank() > 0 && x.dim(-1).is(count)),
                 "'" + std::string(name) + "' has one entry, or one per feature"))
    return {};
  return constantOf(n, dtype, count == 1 ? std::vector<int64_t>{} : std::vector{count}, values);
}

DType floatOf(const Tensor& x) { return x.dtype() == DType::F64 ? DType::F64 : DType::F32; }

}  // namespace

// Rows over their largest element, the sum of their absolute values, or their length. Rows where that is 0 stay.
Results onnxMlNormalizer(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() == 1 || x.rank() == 2, "x is [rows, features] or [features]")) return Tensor();
  x = cast(x, DType::F32);
  const std::string norm = n.word("norm");
  if (!n.require(norm == "MAX" || norm == "L1" || norm == "L2", "'norm' is MAX, L1 or L2")) return Tensor();
  Tensor size = norm == "MAX"  ? maximum(x, -1, true)
                : norm == "L1" ? sum(abs(x), -1, true)
                               : sqrt(sum(x * x, -1, true));
  return x / where(eq(size, 0), 1.0, size);
}

Results onnxMlScaler(OnnxNode& n) {
  Tensor x = cast(n.arg(0), floatOf(n.arg(0)));
  if (n.has("offset")) x = x - perFeature(n, "offset", x.dtype(), x);
  if (n.has("scale")) x = x * perFeature(n, "scale", x.dtype(), x);
  return cast(x, DType::F32);
}

Results onnxMlBinarizer(OnnxNode& n) {
  Tensor x = n.arg(0);
  return cast(gt(cast(x, floatOf(x)), n.number("threshold")), x.dtype());
}

// Columns of x; a vector is a row.
Results onnxMlArrayFeatureExtractor(OnnxNode& n) {
  Tensor x = n.arg(0), columns = n.arg(1);
  if (!n.require(x.rank() >= 1, "x has at least one dim")) return Tensor();
  Dim count = n.b.dim(1);
  for (const Dim& d : columns.dims()) count = count * d;
  Tensor taken = take(x, x.rank() - 1, reshape(columns, Dims{count}));
  return x.rank() == 1 ? unsqueeze(taken, 0) : taken;
}

// What stands for a missing value, replaced; NaN is replaced by NaN's name.
Results onnxMlImputer(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (isFloat(x.dtype())) {
    const double missing = n.number("replaced_value_float");
    Tensor isMissing = std::isnan(missing) ? isNan(x) : eq(x, cast(n.b.literal(missing), x.dtype()));
    Tensor filled = perFeature(n, "imputed_value_floats", x.dtype(), x);
    return where(isMissing, filled, x);
  }
  const std::vector<int64_t> values = n.integers("imputed_value_int64s");
  const auto count = static_cast<int64_t>(values.size());
  if (!n.require(count == 1 || (count > 0 && x.rank() > 0 && x.dim(-1).is(count)),
                 "'imputed_value_int64s' has one entry, or one per feature"))
    return Tensor();
  Tensor filled = integersOf(n, x.dtype(), count == 1 ? std::vector<int64_t>{} : std::vector{count}, values);
  return where(eq(x, n.b.constant(Scalar::ofInt(x.dtype(), n.integer("replaced_value_int64")))), filled, x);
}

// 1 where the input is the category.
Results onnxMlOneHotEncoder(OnnxNode& n) {
  const std::vector<int64_t> categories = n.integers("cats_int64s");
  if (n.has("cats_strings")) return n.unsupported("categories that are strings", "cats_int64s");
  if (!n.require(!categories.empty(), "there are categories")) return Tensor();
  const auto count = static_cast<int64_t>(categories.size());
  Tensor isOne = eq(unsqueeze(cast(n.arg(0), DType::I64), -1), integersOf(n, DType::I64, {count}, categories));
  if (!n.flag("zeros")) {
    Tensor known = sum(cast(n.call("any", {isOne}, {{"axes", AttributeValue::List{-1}}}), DType::I64), 0);
    if (n.arg(0).rank() != 1)
      return n.unsupported("zeros = 0 for an input of rank " + std::to_string(n.arg(0).rank()),
                           "zeros = 1, or a vector");
    n.b.expect(known, cast(n.b.value(n.arg(0).dim(0)), DType::I64),
               "OneHotEncoder: inputs that are a category, and all inputs");
  }
  return cast(isOne, DType::F32);
}

// The first entries of every row of every input, one after the other; rows that are shorter end in zeros.
Results onnxMlFeatureVectorizer(OnnxNode& n) {
  const std::vector<int64_t> sizes = n.integers("inputdimensions");
  if (!n.require(sizes.size() == static_cast<size_t>(n.count()) &&
                     std::ranges::all_of(sizes, [](int64_t s) { return s >= 0; }),
                 "'inputdimensions' has one entry per input"))
    return Tensor();
  std::vector<Tensor> parts;
  for (int i = 0; i < n.count(); ++i) {
    Tensor x = cast(n.arg(i), DType::F32);
    if (!n.require(x.rank() >= 1, "inputs have at least one dim")) return Tensor();
    x = x.rank() == 1 ? unsqueeze(x, 0) : n.call("flatten", {x});
    if (!x) return Tensor();
    const Dim size = n.b.dim(sizes[static_cast<size_t>(i)]), kept = smaller(size, x.dim(1)), none = n.b.dim(0);
    parts.push_back(pad(narrow(x, 1, none, kept), {none, none}, {none, size - kept}, 0));
  }
  return n.call("concat", parts, {{"axis", 1}});
}

namespace {

/// Numbers as they are listed: integers or floats in an attribute of their own, or a tensor.
std::optional<HostTensor> numbersOf(const OnnxNode& n, const std::string& of) {
  if (n.has(of + "_tensor")) return n.tensor(of + "_tensor");
  if (n.has(of + "_floats")) {
    const std::vector<double> values = n.numbers(of + "_floats");
    HostTensor all = HostTensor::zeros(DType::F32, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) all.set(static_cast<int64_t>(i), Scalar::of(DType::F32, values[i]));
    return all;
  }
  if (n.has(of + "_int64s")) {
    const std::vector<int64_t> values = n.integers(of + "_int64s");
    HostTensor all = HostTensor::zeros(DType::I64, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) all.set(static_cast<int64_t>(i), Scalar::ofInt(DType::I64, values[i]));
    return all;
  }
  n.unsupported("a LabelEncoder of strings", "numbers: " + of + "_int64s, " + of + "_floats or " + of + "_tensor");
  return std::nullopt;
}

bool isNanAt(const HostTensor& x, int64_t i) { return isFloat(x.dtype) && std::isnan(x.at(i).asFloat()); }

// Places of the keys in ascending order, each key once, with its first place; NaN comes last.
std::vector<int64_t> sortedPlaces(const HostTensor& keys) {
  std::vector<int64_t> places(static_cast<size_t>(keys.numel()));
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  auto isLess = [&](int64_t a, int64_t b) {
    if (isNanAt(keys, a) || isNanAt(keys, b)) return !isNanAt(keys, a) && isNanAt(keys, b);
    return isFloat(keys.dtype) ? keys.at(a).asFloat() < keys.at(b).asFloat() : keys.at(a).asInt() < keys.at(b).asInt();
  };
  std::ranges::stable_sort(places, isLess);
  auto isSame = [&](int64_t a, int64_t b) { return !isLess(a, b) && !isLess(b, a); };
  places.erase(std::ranges::unique(places, isSame).begin(), places.end());
  return places;
}

Tensor picked(const OnnxNode& n, const HostTensor& x, const std::vector<int64_t>& places) {
  HostTensor all = HostTensor::zeros(x.dtype, {static_cast<int64_t>(places.size())});
  for (size_t i = 0; i < places.size(); ++i) all.set(static_cast<int64_t>(i), x.at(places[i]));
  return n.constantTensor(all);
}

}  // namespace

// The value of a key, by bisection of the sorted keys.
Results onnxMlLabelEncoder(OnnxNode& n) {
  std::optional<HostTensor> keys = numbersOf(n, "keys"), values = keys ? numbersOf(n, "values") : std::nullopt;
  if (!keys || !values) return Tensor();
  Tensor x = n.arg(0);
  if (!n.require(keys->numel() == values->numel() && keys->numel() > 0,
                 "there is a value for each key, and at least one") ||
      !n.require(keys->dtype == x.dtype(), "keys have the dtype of x"))
    return Tensor();
  std::optional<HostTensor> absent = n.has("default_tensor") ? n.tensor("default_tensor") : std::nullopt;
  if (absent && !n.require(absent->numel() == 1 && absent->dtype == values->dtype, "'default_tensor' is one value"))
    return Tensor();
  Tensor otherwise = absent                   ? n.b.constant(absent->at(0))
                     : isFloat(values->dtype) ? n.b.constant(Scalar::of(values->dtype, n.number("default_float")))
                                              : n.b.constant(Scalar::ofInt(values->dtype, n.integer("default_int64")));
  std::vector<int64_t> places = sortedPlaces(*keys);
  const std::vector<int64_t> nanPlace =
      isNanAt(*keys, places.back()) ? std::vector{places.back()} : std::vector<int64_t>{};
  if (!nanPlace.empty()) places.pop_back();
  Tensor result = n.b.full(x.dims(), otherwise);
  if (!places.empty()) {
    Tensor sorted = picked(n, *keys, places), at = n.b.full(x.dims(), n.b.constant(Scalar::ofInt(DType::I32, 0)));
    for (size_t step = std::bit_floor(places.size()); step > 0; step /= 2) {
      Tensor next = min(at + static_cast<int64_t>(step), static_cast<int64_t>(places.size()) - 1);
      at = where(le(take(sorted, 0, next), x), next, at);
    }
    result = where(eq(take(sorted, 0, at), x), take(picked(n, *values, places), 0, at), result);
  }
  if (!nanPlace.empty()) result = where(isNan(x), n.b.constant(values->at(nanPlace[0])), result);
  return result;
}

}  // namespace svod
