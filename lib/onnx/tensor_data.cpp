#include "onnx/tensor_data.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include "data/inside_folder.h"
#include "onnx/dtypes.h"
#include "support/text.h"

namespace svod {

namespace {

constexpr int kMaxRank = 32;
constexpr int64_t kMaxBytes = int64_t{1} << 46;
constexpr int kExternal = 1;

ConstData owned(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner->data(), owner->size(), owner};
}

template <class From, class To>
ConstData converted(const google::protobuf::RepeatedField<From>& values) {
  std::vector<std::byte> bytes(sizeof(To) * static_cast<size_t>(values.size()));
  for (int i = 0; i < values.size(); ++i) {
    To value = static_cast<To>(values[i]);
    std::memcpy(bytes.data() + sizeof(To) * static_cast<size_t>(i), &value, sizeof(To));
  }
  return owned(std::move(bytes));
}

// The elements from the field that ONNX assigns to the dtype.
ConstData typedField(const proto::TensorProto& t, DType dtype) {
  switch (dtype) {
    case DType::F32: return converted<float, float>(t.float_data());
    case DType::F64: return converted<double, double>(t.double_data());
    case DType::I64: return converted<int64_t, int64_t>(t.int64_data());
    case DType::U64: return converted<uint64_t, uint64_t>(t.uint64_data());
    case DType::U32: return converted<uint64_t, uint32_t>(t.uint64_data());
    case DType::I32: return converted<int32_t, int32_t>(t.int32_data());
    default:
      return byteSize(dtype) == 2 ? converted<int32_t, uint16_t>(t.int32_data())
                                  : converted<int32_t, uint8_t>(t.int32_data());
  }
}

// A bool is 0 or 1 in memory.
ConstData normalizedBools(ConstData data) {
  bool isNormal = true;
  for (size_t i = 0; i < data.bytes; ++i) isNormal &= std::to_integer<uint8_t>(data.data[i]) <= 1;
  if (isNormal) return data;
  std::vector<std::byte> bytes(data.data, data.data + data.bytes);
  for (std::byte& b : bytes) b = std::byte{b != std::byte{0}};
  return owned(std::move(bytes));
}

std::optional<uint64_t> number(const std::string& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

using FileDims = google::protobuf::RepeatedField<int64_t>;

Result<int64_t> countOf(const FileDims& dims, const std::string& name) {
  if (dims.size() > kMaxRank)
    return fail(Diag::TooLarge, name + " has " + std::to_string(dims.size()) + " dims", "at most 32");
  int64_t count = 1;
  for (int64_t d : dims) {
    if (d < 0) return fail(Diag::Syntax, name + " has the dim " + std::to_string(d), "dims are 0 or more");
    if (__builtin_mul_overflow(count, d, &count) || count > kMaxBytes)
      return fail(Diag::TooLarge, name + " does not fit an address space", "at most 2^46 bytes");
  }
  return count;
}

// Where in a dense tensor the entries of a sparse one stand: its indices are [count], or [count, rank].
Result<std::vector<int64_t>> placesOf(const proto::SparseTensorProto& t, const TensorData& indices, int64_t entries,
                                      int64_t total, const std::string& name) {
  const bool isFlat = indices.dims.size() == 1;
  const bool fits = indices.dtype == DType::I64 && !indices.dims.empty() && indices.dims[0] == entries &&
                    (isFlat || (indices.dims.size() == 2 && indices.dims[1] == t.dims_size()));
  const std::string rule = "indices are i64 [entries] or [entries, rank], and lie inside of the dims";
  if (!fits) return fail(Diag::Syntax, name + " is sparse, and its indices do not fit its values and dims", rule);
  std::vector<int64_t> places;
  const std::byte* next = indices.data.data;
  const auto taken = [&next] {
    int64_t value = 0;
    std::memcpy(&value, next, sizeof value);
    next += sizeof value;
    return value;
  };
  for (int64_t entry = 0; entry < entries; ++entry) {
    int64_t place = isFlat ? taken() : 0;
    bool isInside = place >= 0 && place < total;
    for (int axis = 0; !isFlat && axis < t.dims_size(); ++axis) {
      const int64_t at = taken();
      isInside &= at >= 0 && at < t.dims(axis);
      place = place * t.dims(axis) + at;
    }
    if (!isInside)
      return fail(Diag::Syntax, name + " is sparse, and entry " + std::to_string(entry) + " lies outside", rule);
    places.push_back(place);
  }
  return places;
}

// The path of an external file, if it stays in the folder.
Result<std::string> insideFolder(const OnnxFile& file, const std::string& location, const std::string& name) {
  if (!location.empty() && !location.starts_with('/'))
    if (std::optional<std::string> path = pathInside(foldersOf(file.path), file.directory + "/" + location))
      return *std::move(path);
  return fail(Diag::Syntax, name + " has its data in '" + location + "', which is outside the folder of the model",
              "external data lies beside the model or below it");
}

}  // namespace

Result<ConstData> TensorLoader::external(const proto::TensorProto& t, const std::string& name, uint64_t bytes) {
  std::string location;
  uint64_t offset = 0, length = bytes;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    std::optional<uint64_t> value = number(entry.value());
    if (!value)
      return fail(Diag::Syntax, name + " has the external data " + entry.key() + " '" + entry.value() + "'",
                  "it is a number of bytes");
    (entry.key() == "offset" ? offset : length) = *value;
  }
  SVOD_TRY(const std::string path, insideFolder(*file_, location, name));
  std::shared_ptr<const MappedFile>& mapped = open_[path];
  if (!mapped) {
    if (filesRead_ != nullptr)
      filesRead_->insert((std::filesystem::path(file_->directory) / location).lexically_normal().string());
    Result<MappedFile> opened = MappedFile::open(path);
    if (!opened) {
      opened.error()->message = name + " has its data in another file: " + opened.error()->message;
      return fail(std::move(opened.error()).withHelp("keep the data files of a model in its folder"));
    }
    mapped = std::make_shared<const MappedFile>(*std::move(opened));
  }
  if (length != bytes || offset > mapped->size() || bytes > mapped->size() - offset)
    return fail(Diag::BadWeights,
                name + " needs " + std::to_string(bytes) + " bytes, its external data is " + std::to_string(length) +
                    " bytes at " + std::to_string(offset) + " of '" + path + "', which has " +
                    std::to_string(mapped->size()),
                "check that the data files belong to this model");
  return ConstData{mapped->data() + offset, static_cast<size_t>(bytes), mapped};
}

Result<TensorData> TensorLoader::load(const proto::TensorProto& t) {
  const std::string name = t.name().empty() ? "a tensor" : "the tensor '" + shortened(t.name()) + "'";
  SVOD_TRY(const DType dtype, dtypeOfOnnx(t.data_type(), name));
  SVOD_TRY(const int64_t count, countOf(t.dims(), name));
  const auto bytes = static_cast<uint64_t>(memoryBytes(dtype, count));
  TensorData result{dtype, {t.dims().begin(), t.dims().end()}, {}};
  if (t.data_location() == kExternal) {
    SVOD_TRY(result.data, external(t, name, bytes));
  } else if (t.has_raw_data()) {
    result.data = {reinterpret_cast<const std::byte*>(t.raw_data().data()), t.raw_data().size(), file_};
  } else {
    result.data = typedField(t, dtype);
  }
  if (result.data.bytes != bytes)
    return fail(Diag::Syntax,
                name + " needs " + std::to_string(bytes) + " bytes of data, got " + std::to_string(result.data.bytes),
                "the file is damaged, or dims and element type do not belong to the data");
  if (dtype == DType::Bool) result.data = normalizedBools(std::move(result.data));
  return result;
}

Result<TensorData> TensorLoader::load(const proto::SparseTensorProto& t) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  const std::string name = "the tensor '" + shortened(t.values().name()) + "'";
  SVOD_TRY(const TensorData values, load(t.values()));
  SVOD_TRY(const TensorData indices, load(t.indices()));
  SVOD_TRY(const int64_t total, countOf(t.dims(), name));
  if (memoryBits(values.dtype) < 8)
    return fail(Diag::Unsupported, name + " is sparse, of " + std::string(toText(values.dtype)),
                "store it as a dense tensor");
  const int64_t size = byteSize(values.dtype);
  if (total > kMostBytes / size)
    return fail(Diag::TooLarge, name + " is sparse, of more than 2^30 bytes", "use a smaller one");
  if (values.dims.size() != 1)
    return fail(Diag::Syntax, name + " is sparse, and its values are no vector", "values are [entries]");
  SVOD_TRY(const std::vector<int64_t> places, placesOf(t, indices, values.dims[0], total, name));
  std::vector<std::byte> bytes(static_cast<size_t>(total * size));
  for (size_t entry = 0; entry < places.size(); ++entry)
    std::memcpy(bytes.data() + places[entry] * size, values.data.data + static_cast<int64_t>(entry) * size,
                static_cast<size_t>(size));
  return TensorData{values.dtype, {t.dims().begin(), t.dims().end()}, owned(std::move(bytes))};
}

}  // namespace svod
