// Dtypes and shapes that a graph file states.
#include "frontend/model_reader.h"
#include "support/suggest.h"

namespace svod {

namespace {

std::span<const std::string_view> dtypeNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (DType d : allDTypes())
      if (d != DType::Void && d != DType::Index) names.push_back(toText(d));
    return names;
  }();
  return kNames;
}

/// What a dtype of NumPy, PyTorch or C is called here; "" for other names.
std::string_view dtypeElsewhere(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"float32", "f32"},
                                                                      {"float", "f32"},
                                                                      {"fp32", "f32"},
                                                                      {"float64", "f64"},
                                                                      {"double", "f64"},
                                                                      {"float16", "f16"},
                                                                      {"half", "f16"},
                                                                      {"fp16", "f16"},
                                                                      {"bfloat16", "bf16"},
                                                                      {"int8", "i8"},
                                                                      {"int16", "i16"},
                                                                      {"int32", "i32"},
                                                                      {"int", "i32"},
                                                                      {"int64", "i64"},
                                                                      {"long", "i64"},
                                                                      {"uint8", "u8"},
                                                                      {"byte", "u8"},
                                                                      {"uint16", "u16"},
                                                                      {"uint32", "u32"},
                                                                      {"uint64", "u64"},
                                                                      {"boolean", "bool"},
                                                                      {"bool_", "bool"},
                                                                      {"float8_e4m3fn", "f8e4m3"},
                                                                      {"float8_e5m2", "f8e5m2"},
                                                                      {"float8_e4m3fnuz", "f8e4m3fnuz"},
                                                                      {"float8_e5m2fnuz", "f8e5m2fnuz"},
                                                                      {"float8_e8m0fnu", "f8e8m0"},
                                                                      {"float4_e2m1fn", "f4e2m1"},
                                                                      {"int4", "i4"},
                                                                      {"uint4", "u4"},
                                                                      {"int2", "i2"},
                                                                      {"uint2", "u2"}};
  for (const auto& [other, ours] : kNames)
    if (name == other) return ours;
  return {};
}

}  // namespace

std::optional<DType> ModelReader::dtype(const TypeExpr& type) {
  std::optional<DType> found = dtypeFromText(type.dtype);
  if (found && *found != DType::Void && *found != DType::Index) return found;
  std::string known = "use one of";
  for (std::string_view name : dtypeNames()) known += " " + std::string(name);
  std::string_view meant = dtypeElsewhere(type.dtype);
  record(
      Diag::UnknownDType, type.at, "no dtype is called '" + type.dtype + "'",
      meant.empty() ? didYouMean(type.dtype, dtypeNames(), known) : "it is called '" + std::string(meant) + "' here");
  return std::nullopt;
}

std::optional<Dims> ModelReader::dims(const TypeExpr& type) {
  constexpr size_t kMaxRank = 32;
  if (type.dims.size() > kMaxRank) {
    record(Diag::TooLarge, type.at, "a shape has " + std::to_string(type.dims.size()) + " dims", "at most 32");
    return std::nullopt;
  }
  Dims all;
  for (const GraphExpr& e : type.dims) {
    Dim d = size(e);
    if (!d) return std::nullopt;
    all.add(d);
  }
  return all;
}

std::optional<ModelReader::StatedType> ModelReader::statedType(const TypeExpr& type) {
  std::optional<DType> element = dtype(type);
  std::optional<Dims> shape = dims(type);
  return element && shape ? std::optional(StatedType{*element, std::move(*shape)}) : std::nullopt;
}

void ModelReader::checkAnnotation(const Statement& s, const Tensor& value) {
  std::optional<StatedType> type = statedType(s.type);
  if (!type || !value) return;
  std::string declared = std::string(toText(type->dtype)) + (type->dims.rank() == 0 ? "" : describe(type->dims));
  if (value.dtype() != type->dtype)
    record(Diag::DTypeMismatch, s.type.at,
           "'" + s.names[0].text + "' is " + describe(value) + ", declared is " + declared,
           "correct the declaration or cast the value");
  else if (value.dims() != type->dims)
    record(Diag::ShapeMismatch, s.type.at,
           "'" + s.names[0].text + "' is " + describe(value) + ", declared is " + declared,
           "correct the declaration or reshape the value");
}

}  // namespace svod
