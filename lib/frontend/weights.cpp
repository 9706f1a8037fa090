#include "frontend/weights.h"

#include <algorithm>
#include <cstring>

#include "data/npy.h"
#include "ir/scalar.h"
#include "support/packed.h"
#include "support/suggest.h"

namespace svod {

namespace {

// Values written in a graph file are held in memory; more than this belongs into a file or into full().
constexpr int64_t kMaxFilledBytes = int64_t{1} << 28;

std::string typeText(std::string_view dtype, std::span<const int64_t> shape) {
  std::string text;
  for (int64_t d : shape) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return std::string(dtype) + "[" + text + "]";
}

std::vector<int64_t> toSigned(std::span<const uint64_t> shape) { return {shape.begin(), shape.end()}; }

std::string_view elementName(std::optional<ElementType> type) { return type ? nameOf(*type) : "an unknown dtype"; }

bool isType(std::string_view have, std::span<const uint64_t> haveShape, DType want,
            std::span<const int64_t> wantShape) {
  return have == toText(want) && std::ranges::equal(toSigned(haveShape), wantShape);
}

Error wrongType(const std::string& where, const std::string& have, const std::string& want) {
  return {Diag::BadWeights, where + " holds " + have + ", declared is " + want,
          "declare the dtype and shape of the file; cast and reshape afterwards"};
}

Status checkType(const std::string& where, std::string_view have, std::span<const uint64_t> haveShape, DType want,
                 std::span<const int64_t> wantShape) {
  if (isType(have, haveShape, want, wantShape)) return {};
  return fail(wrongType(where, typeText(have, toSigned(haveShape)), typeText(toText(want), wantShape)));
}

ConstData kept(NpyArray array) {
  auto owner = std::make_shared<const NpyArray>(std::move(array));
  return {owner->data.data(), owner->data.size(), owner};
}

/// A .npy file; `wrong(have, want)` is the error when it holds another type.
template <class Wrong>
Result<ConstData> loadArray(const std::string& path, DType dtype, std::span<const int64_t> shape, Wrong wrong) {
  SVOD_TRY(NpyArray array, readNpy(path, elementTypeFromName(toText(dtype))));
  if (isType(nameOf(array.dtype), array.shape, dtype, shape)) return kept(std::move(array));
  return fail(wrong(typeText(nameOf(array.dtype), toSigned(array.shape)), typeText(toText(dtype), shape)));
}

/// The memory of a weight, from byteSize(dtype) bytes for each element.
ConstData asMemory(DType dtype, std::vector<std::byte> bytes) {
  if (isPacked(dtype)) bytes = packCodes(info(dtype).bits, bytes);
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner->data(), owner->size(), owner};
}

Result<Scalar> scalarOf(const GraphExpr& e, DType dtype) {
  if (e.kind == ExprKind::Bool) return Scalar::of(dtype, e.flag ? 1 : 0);
  if (e.kind == ExprKind::Float && isFloat(dtype)) return Scalar::ofFloat(dtype, e.number);
  if (e.kind == ExprKind::Int) {
    double unsignedValue = static_cast<double>(static_cast<uint64_t>(e.integer));
    if (isFloat(dtype)) return Scalar::ofFloat(dtype, e.isBig ? unsignedValue : static_cast<double>(e.integer));
    bool isU64 = dtype == DType::U64 && (e.isBig || e.integer >= 0);
    bool fits = dtype == DType::Bool ? !e.isBig && (e.integer == 0 || e.integer == 1)
                                     : !e.isBig && e.integer >= minInt(dtype) && e.integer <= maxInt(dtype);
    if (fits || isU64) return Scalar::ofInt(dtype, e.integer);
  }
  return fail(Diag::BadWeights, writeGraphExpr(e) + " is no value of " + std::string(toText(dtype)),
              "write numbers that fit the declared dtype");
}

void append(std::vector<std::byte>& bytes, Scalar value) {
  uint64_t bits = value.storageBits();
  size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(byteSize(value.dtype())));
  std::memcpy(bytes.data() + at, &bits, bytes.size() - at);  // little endian hosts only, as the whole project
}

Status appendList(std::vector<std::byte>& bytes, const GraphExpr& e, DType dtype, std::span<const int64_t> shape) {
  if (shape.empty()) {
    SVOD_TRY(Scalar value, scalarOf(e, dtype));
    append(bytes, value);
    return {};
  }
  if (e.kind != ExprKind::List || static_cast<int64_t>(e.items.size()) != shape[0])
    return fail(Diag::BadWeights,
                (e.kind == ExprKind::List ? "a list of " + std::to_string(e.items.size()) : writeGraphExpr(e)) +
                    " stands where " + std::to_string(shape[0]) + " entries are declared",
                "nest the lists like the shape");
  for (const GraphExpr& item : e.items) SVOD_CHECK(appendList(bytes, item, dtype, shape.subspan(1)));
  return {};
}

}  // namespace

ConstData byteForEach(DType dtype, const Dims& dims, ConstData data) {
  if (!isPacked(dtype)) return data;
  uint64_t count = 1;
  for (const Dim& d : dims) count *= static_cast<uint64_t>(d.constant());
  auto owner = std::make_shared<const std::vector<std::byte>>(
      unpackCodes(info(dtype).bits, false, {data.data, data.bytes}, count));
  return {owner->data(), owner->size(), owner};
}

ConstData sharedBytes(DType dtype, ConstData data) {
  return isPacked(dtype) ? asMemory(dtype, {data.data, data.data + data.bytes}) : data;
}

/// Where a file that is about to be opened lies.
std::string WeightLoader::opened(const std::string& path) {
  const std::string place = path.starts_with('/') || directory_.empty() ? path : directory_ + "/" + path;
  if (filesRead_ != nullptr) filesRead_->insert(place);
  return place;
}

Result<ConstData> WeightLoader::load(const GraphExpr& data, DType dtype, std::span<const int64_t> shape) {
  if (data.kind == ExprKind::String) return loadFile(data.text, dtype, shape);
  int64_t count = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(count, d, &count)) count = INT64_MAX;
  if (count > kMaxFilledBytes / byteSize(dtype))
    return fail(Diag::TooLarge, typeText(toText(dtype), shape) + " is too large to be written out",
                "use a .npy or .safetensors file, or full()");
  std::vector<std::byte> bytes;
  if (data.kind == ExprKind::List) {
    SVOD_CHECK(appendList(bytes, data, dtype, shape));
    return asMemory(dtype, std::move(bytes));
  }
  Scalar value = Scalar::of(dtype, 0);
  bool isWord = data.kind == ExprKind::Name && (data.text == "zeros" || data.text == "ones");
  if (isWord) {
    value = Scalar::of(dtype, data.text == "ones" ? 1 : 0);
  } else {
    SVOD_TRY(value, scalarOf(data, dtype));
  }
  if (count == 0) return asMemory(dtype, {});
  append(bytes, value);
  size_t filled = bytes.size();
  bytes.resize(static_cast<size_t>(count) * filled);
  for (size_t next; filled < bytes.size(); filled += next) {
    next = std::min(filled, bytes.size() - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), next);
  }
  return asMemory(dtype, std::move(bytes));
}

Result<ConstData> WeightLoader::loadFile(const std::string& spec, DType dtype, std::span<const int64_t> shape) {
  if (auto given = given_.find(spec); given != given_.end()) return given->second;
  constexpr std::string_view kMark = ".safetensors";
  if (size_t at = spec.find(std::string(kMark) + ":"); at != std::string::npos) {
    size_t end = at + kMark.size();
    return loadSafetensor(opened(spec.substr(0, end)), spec.substr(end + 1), dtype, shape);
  }
  if (spec.ends_with(kMark))
    return fail(Diag::BadWeights, "'" + spec + "' does not say which tensor", "write \"" + spec + ":NAME\"");
  if (!spec.ends_with(".npy"))
    return fail(Diag::BadWeights, "'" + spec + "' is of no known kind", "use FILE.npy or FILE.safetensors:NAME");
  const std::string path = opened(spec);
  return loadArray(path, dtype, shape,
                   [&](const std::string& have, const std::string& want) { return wrongType(path, have, want); });
}

Result<ConstData> WeightLoader::loadConstant(const std::string& input, const std::string& path, DType dtype,
                                             std::span<const int64_t> shape) {
  return loadArray(path, dtype, shape, [&](const std::string& have, const std::string& want) {
    return Error(Diag::BadWeights, "--const: " + path + " holds " + have + ", the input '" + input + "' is " + want,
                 "save an array of " + want + " for it (astype and reshape of numpy convert)");
  });
}

Result<std::vector<int64_t>> WeightLoader::npyShape(const std::string& path, DType dtype) {
  SVOD_TRY(MappedFile file, MappedFile::open(path));
  SVOD_TRY(NpyHeader header, parseNpy(file.bytes(), path, elementTypeFromName(toText(dtype))));
  return toSigned(header.shape);
}

Result<ConstData> WeightLoader::loadSafetensor(const std::string& path, const std::string& tensor, DType dtype,
                                               std::span<const int64_t> shape) {
  std::shared_ptr<const SafetensorsFile>& file = open_[path];
  if (!file) {
    SVOD_TRY(SafetensorsFile opened, SafetensorsFile::open(path));
    file = std::make_shared<const SafetensorsFile>(std::move(opened));
  }
  const SafeTensor* found = file->find(tensor);
  if (!found) {
    std::vector<std::string_view> names;
    for (const SafeTensor& t : file->tensors()) names.push_back(t.name);
    return fail(Diag::BadWeights, path + " has no tensor '" + tensor + "'",
                didYouMean(tensor, names, "it has " + std::to_string(names.size()) + " other tensors"));
  }
  std::string_view have = found->dtype ? elementName(found->dtype) : std::string_view(found->dtypeText);
  SVOD_CHECK(checkType(path + ":" + tensor, have, found->shape, dtype, shape));
  std::span<const std::byte> bytes = file->bytes(*found);
  return ConstData{bytes.data(), bytes.size(), file};
}

}  // namespace svod
