#include "data/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/read_json.h"

namespace svod {

namespace {

using Json = nlohmann::json;
constexpr size_t kMaxLevels = 3;
constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the format's own readers

struct Reader {
  const std::string& file;

  tl::unexpected<Error> bad(std::string what) const {
    return fail(Diag::BadSafetensors, "'" + file + "': " + what, "write the file again; it is damaged or truncated");
  }

  /// The header, with members that occur twice reported instead of merged.
  Result<Json> header(std::string_view text) const {
    std::string twice;
    std::optional<Json> json = readJson(text, kMaxLevels, &twice);
    if (!json || !json->is_object()) return bad("the header is not a JSON object");
    if (!twice.empty()) return bad("tensor '" + twice + "' is listed twice");
    return *std::move(json);
  }

  Result<std::vector<uint64_t>> numbers(const Json& entry, const char* member, const std::string& name) const {
    const auto found = entry.find(member);
    if (found == entry.end() || !found->is_array()) return bad("tensor '" + name + "' has no list '" + member + "'");
    std::vector<uint64_t> values;
    for (const Json& item : *found) {
      if (!item.is_number_unsigned())
        return bad("'" + std::string(member) + "' of tensor '" + name + "' is not a list of sizes");
      values.push_back(item.get<uint64_t>());
    }
    return values;
  }

  Result<SafeTensor> tensor(const std::string& name, const Json& entry, uint64_t base, uint64_t size) const {
    if (!entry.is_object()) return bad("the entry of tensor '" + name + "' is not an object");
    const auto dtype = entry.find("dtype");
    if (dtype == entry.end() || !dtype->is_string()) return bad("tensor '" + name + "' has no 'dtype'");
    SafeTensor out{name, dtype->get<std::string>(), {}, {}, 0, 0};
    for (size_t i = 0; i < allElementTypes().size(); i++)
      if (allElementTypes()[i].safetensors == out.dtypeText) out.dtype = static_cast<ElementType>(i);
    SVOD_TRY(out.shape, numbers(entry, "shape", name));
    SVOD_TRY(std::vector<uint64_t> range, numbers(entry, "data_offsets", name));
    if (range.size() != 2 || range[0] > range[1] || range[1] > size)
      return bad("the bytes of tensor '" + name + "' lie outside the file");
    out.offset = base + range[0];
    out.bytes = range[1] - range[0];
    if (out.dtype && tensorBytes(*out.dtype, out.shape) != out.bytes)
      return bad("tensor '" + name + "' has " + std::to_string(out.bytes) + " bytes, which does not fit its shape");
    return out;
  }
};

}  // namespace

Result<std::vector<SafeTensor>> parseSafetensors(std::span<const std::byte> file, const std::string& name) {
  const Reader reader{name};
  if (file.size() < 8) return reader.bad("shorter than a header");
  uint64_t length = 0;
  for (int i = 0; i < 8; i++) length |= static_cast<uint64_t>(file[i]) << (8 * i);
  if (length > kMaxHeader || length > file.size() - 8) return reader.bad("the header is truncated");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + 8, length);
  SVOD_TRY(Json json, reader.header(text));
  std::vector<SafeTensor> tensors;
  for (const auto& [key, entry] : json.items()) {
    if (key == "__metadata__") continue;
    SVOD_TRY(SafeTensor tensor, reader.tensor(key, entry, 8 + length, file.size() - 8 - length));
    tensors.push_back(std::move(tensor));
  }
  std::vector<const SafeTensor*> byOffset;
  for (const SafeTensor& tensor : tensors)
    if (tensor.bytes > 0) byOffset.push_back(&tensor);
  std::sort(byOffset.begin(), byOffset.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < byOffset.size(); i++)
    if (byOffset[i - 1]->offset + byOffset[i - 1]->bytes > byOffset[i]->offset)
      return reader.bad("tensors '" + byOffset[i - 1]->name + "' and '" + byOffset[i]->name + "' overlap");
  return tensors;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  SafetensorsFile out;
  SVOD_TRY(out.file_, MappedFile::open(path));
  SVOD_TRY(out.tensors_, parseSafetensors(out.file_.bytes(), path));
  return out;
}

const SafeTensor* SafetensorsFile::find(std::string_view name) const {
  auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                             [](const SafeTensor& tensor, std::string_view key) { return tensor.name < key; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

// --- Writing

namespace {

constexpr std::string_view kOwnMark = R"({"__metadata__":{"producer":"svodc convert"})";
constexpr size_t kLengthBytes = 8, kHeaderAlignment = 64;

}  // namespace

NewSafetensors layOutSafetensors(std::vector<NewSafeTensor> tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const NewSafeTensor& a, const NewSafeTensor& b) {
    return byteSize(a.dtype) > byteSize(b.dtype);
  });
  NewSafetensors out;
  std::string json(kOwnMark);
  uint64_t offset = 0;
  for (const NewSafeTensor& t : tensors) {
    nlohmann::ordered_json entry{{"dtype", info(t.dtype).safetensors}, {"shape", t.shape}};
    entry["data_offsets"] = {offset, offset + t.bytes.size()};
    json += "," + Json(t.name).dump(-1, ' ', false, Json::error_handler_t::replace) + ":" + entry.dump();
    offset += t.bytes.size();
    out.data.push_back(t.bytes);
  }
  json += "}";
  json.append((kHeaderAlignment - (kLengthBytes + json.size()) % kHeaderAlignment) % kHeaderAlignment, ' ');
  for (size_t i = 0; i < kLengthBytes; i++) out.header += static_cast<char>(json.size() >> (8 * i));
  out.header += json;
  return out;
}

std::vector<std::span<const std::byte>> NewSafetensors::chunks() const {
  std::vector<std::span<const std::byte>> all{std::as_bytes(std::span(header))};
  all.insert(all.end(), data.begin(), data.end());
  return all;
}

bool isOwnSafetensors(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file || file->bytes().size() < kLengthBytes + kOwnMark.size()) return false;
  return std::memcmp(file->bytes().data() + kLengthBytes, kOwnMark.data(), kOwnMark.size()) == 0;
}

}  // namespace svod
