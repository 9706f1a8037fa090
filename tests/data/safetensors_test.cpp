#include "data/safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "common/temp_folder.h"

using namespace svod;

namespace {

std::string file(const std::string& header, size_t dataBytes) {
  std::string out;
  for (int i = 0; i < 8; i++) out += static_cast<char>(header.size() >> (8 * i));
  out += header;
  for (size_t i = 0; i < dataBytes; i++) out += static_cast<char>(i);
  return out;
}
Result<std::vector<SafeTensor>> parse(const std::string& text) {
  return parseSafetensors(std::as_bytes(std::span(text)), "w.safetensors");
}
const char* const kTwo = R"({"__metadata__":{"by":"test"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                         R"("a":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]}})";

}  // namespace

TEST_CASE("tensors are found by name, with their bytes") {
  TempFolder folder;
  writeText(folder / "w.safetensors", file(kTwo, 22));
  auto opened = SafetensorsFile::open(folder / "w.safetensors");
  REQUIRE(opened);
  REQUIRE(opened->tensors().size() == 2);
  CHECK(opened->tensors()[0].name == "a");
  CHECK(opened->find("c") == nullptr);
  const SafeTensor* a = opened->find("a");
  REQUIRE(a != nullptr);
  CHECK(a->dtype == ElementType::BF16);
  CHECK(a->shape == std::vector<uint64_t>{3});
  CHECK(opened->bytes(*a)[0] == std::byte{16});
  CHECK(opened->bytes(*opened->find("b")).size() == 16);
}

TEST_CASE("a dtype we lack is listed, not refused") {
  auto tensors = parse(file(R"({"x":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}})", 16));
  REQUIRE(tensors);
  CHECK(!(*tensors)[0].dtype);
  CHECK((*tensors)[0].dtypeText == "C64");
}

TEST_CASE("damaged headers are refused with a reason") {
  const auto refuse = [](const std::string& header, size_t bytes, const std::string& reason) {
    auto result = parse(file(header, bytes));
    REQUIRE(!result);
    CHECK(result.error()->diag == Diag::BadSafetensors);
    CAPTURE(result.error()->message);
    CHECK(result.error()->message.find(reason) != std::string::npos);
  };
  refuse("[]", 0, "not a JSON object");
  refuse("{", 0, "not a JSON object");
  refuse(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "outside the file");
  refuse(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 8, "outside the file");
  refuse(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 8, "does not fit its shape");
  refuse(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 8, "list of sizes");
  refuse(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 8, "does not fit");
  refuse(R"({"x":{"shape":[1],"data_offsets":[0,4]}})", 8, "no 'dtype'");
  refuse(R"({"x":7})", 8, "not an object");
  refuse(R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
         3, "overlap");
  refuse(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
         2, "twice");
  CHECK(!parse("short"));
  CHECK(!parse(std::string(8, '\xff')));
}

TEST_CASE("no prefix of a file is accepted") {
  const std::string whole = file(kTwo, 22);
  REQUIRE(parse(whole));
  for (size_t size = 0; size < whole.size(); size++) CHECK(!parse(whole.substr(0, size)));
}

TEST_CASE("what is written is read: aligned, without gaps, the same every time") {
  TempFolder folder;
  std::vector<std::byte> bytes(24);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::byte>(i);
  std::span<const std::byte> all(bytes);
  const std::vector<NewSafeTensor> tensors = {{"flags \"1\"", ElementType::Bool, {3}, all.first(3)},
                                              {"half", ElementType::F16, {1, 3}, all.subspan(3, 6)},
                                              {"none", ElementType::F64, {0, 2}, {}},
                                              {"wide", ElementType::I64, {2}, all.subspan(8, 16)}};
  const NewSafetensors made = layOutSafetensors(tensors);
  CHECK(made.header == layOutSafetensors(tensors).header);
  CHECK(made.header.size() % 64 == 0);
  std::string file;
  for (auto chunk : made.chunks()) file.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  writeText(folder / "w.safetensors", file);
  auto opened = SafetensorsFile::open(folder / "w.safetensors");
  REQUIRE(opened);
  REQUIRE(opened->tensors().size() == tensors.size());
  for (const NewSafeTensor& t : tensors) {
    INFO(t.name);
    const SafeTensor* found = opened->find(t.name);
    REQUIRE(found != nullptr);
    CHECK(found->dtype == t.dtype);
    CHECK(found->shape == t.shape);
    CHECK(found->offset % byteSize(t.dtype) == 0);
    CHECK(std::ranges::equal(opened->bytes(*found), t.bytes));
  }
  CHECK(isOwnSafetensors(folder / "w.safetensors"));
  writeText(folder / "other.safetensors", ::file(kTwo, 22));
  CHECK_FALSE(isOwnSafetensors(folder / "other.safetensors"));
  CHECK_FALSE(isOwnSafetensors(folder / "absent.safetensors"));
}
