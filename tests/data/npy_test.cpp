#include "data/npy.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "common/temp_folder.h"

using namespace svod;

namespace {

/// A version 1 file with this header dictionary and data.
std::string file(const std::string& dict, const std::string& data, char version = 1) {
  std::string out = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) out += static_cast<char>(dict.size() >> (8 * i));
  return out + dict + data;
}
std::string dict(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}
Result<NpyHeader> parse(const std::string& text, std::optional<ElementType> want = {}) {
  return parseNpy(std::as_bytes(std::span(text)), "x.npy", want);
}
std::string messageOf(const Result<NpyHeader>& result) {
  REQUIRE(!result);
  CHECK(result.error()->diag == Diag::BadNpy);
  return result.error()->message;
}

}  // namespace

TEST_CASE("every element type survives write and read") {
  TempFolder folder;
  for (size_t i = 0; i < allElementTypes().size(); i++) {
    const auto type = static_cast<ElementType>(i);
    CAPTURE(nameOf(type));
    for (std::vector<uint64_t> shape : {std::vector<uint64_t>{}, {5}, {2, 0, 3}, {2, 3, 4}}) {
      std::vector<std::byte> data(*tensorBytes(type, shape));
      for (size_t b = 0; b < data.size(); b++) data[b] = static_cast<std::byte>(b * 7 + 1);
      size_t items = 1;
      for (uint64_t dim : shape) items *= dim;
      if (const size_t rest = items * info(type).bits % 8; rest != 0)
        data.back() &= static_cast<std::byte>((1 << rest) - 1);
      REQUIRE(writeNpy(folder / "a.npy", type, shape, data));
      auto array = readNpy(folder / "a.npy", type);
      REQUIRE(array);
      CHECK(array->dtype == type);
      CHECK(array->shape == shape);
      CHECK(std::equal(array->data.begin(), array->data.end(), data.begin(), data.end()));
      CHECK(readText(folder / "a.npy").size() % 64 == items * byteSize(type) % 64);
    }
  }
}

TEST_CASE("header versions, key order and spellings") {
  const std::string four(16, '\0');
  for (char version : {1, 2, 3}) CHECK(parse(file(dict("<f4", "(4,)"), four, version))->dtype == ElementType::F32);
  CHECK(parse(file("{\"shape\":(2,2),\"fortran_order\":True,\"descr\":\"<i4\"}", four))->fortranOrder);
  CHECK(parse(file(dict("=u4", "(4)"), four))->dtype == ElementType::U32);
  CHECK(parse(file(dict("?", "(16,)"), four))->dtype == ElementType::Bool);
  CHECK(parse(file(dict("<i4", "(2L, 2L)"), four))->shape == std::vector<uint64_t>{2, 2});
}

TEST_CASE("types numpy lacks are named by the reader") {
  const std::string data(4, '\1');
  CHECK(parse(file(dict("<u2", "(2,)"), data))->dtype == ElementType::U16);
  CHECK(parse(file(dict("<u2", "(2,)"), data), ElementType::BF16)->dtype == ElementType::BF16);
  CHECK(parse(file(dict("|V2", "(2,)"), data), ElementType::BF16)->dtype == ElementType::BF16);
  CHECK(parse(file(dict("|u1", "(4,)"), data), ElementType::F8E5M2)->dtype == ElementType::F8E5M2);
  CHECK(parse(file(dict("|V1", "(4,)"), data), ElementType::F8E4M3)->dtype == ElementType::F8E4M3);
  CHECK(parse(file(dict("<f4", "(1,)"), data), ElementType::I32)->dtype == ElementType::F32);
  CHECK(messageOf(parse(file(dict("|V2", "(2,)"), data), ElementType::F16)) != "");
}

TEST_CASE("elements of 2 and 4 bits have an item each, which must fit") {
  const std::string fits = file(dict("|i1", "(3,)"), "\xff\x07\xf8");
  const auto i4 = readNpyBytes(std::as_bytes(std::span(fits)), "x.npy", ElementType::I4);
  REQUIRE(i4);
  CHECK(i4->data.size() == 2);
  CHECK(i4->data[0] == std::byte{0x7f});
  CHECK(i4->data[1] == std::byte{0x08});
  const std::string wide = file(dict("|i1", "(3,)"), "\x01\x08\x01");
  CHECK(readNpyBytes(std::as_bytes(std::span(wide)), "x.npy", ElementType::I4).error()->message ==
        "'x.npy': item 1 is 8, which is no i4");
  const std::string codes = file(dict("|u1", "(2,)"), "\x0f\x10");
  CHECK(!readNpyBytes(std::as_bytes(std::span(codes)), "x.npy", ElementType::F4E2M1));
  CHECK(parse(codes)->dtype == ElementType::U8);
}

TEST_CASE("Fortran order is converted") {
  TempFolder folder;
  std::string data;
  for (char c : {0, 3, 1, 4, 2, 5}) data += c;  // [[0 1 2] [3 4 5]] column by column
  writeText(folder / "f.npy", file(dict("|i1", "(2, 3)", "True"), data));
  auto array = readNpy(folder / "f.npy");
  REQUIRE(array);
  CHECK(array->shape == std::vector<uint64_t>{2, 3});
  for (size_t i = 0; i < 6; i++) CHECK(static_cast<size_t>(array->data[i]) == i);
}

TEST_CASE("data that is not aligned for its type is copied") {
  TempFolder folder;
  double value = 2.5;
  std::string text = file(dict("<f8", "(1,)") + " ", std::string(reinterpret_cast<char*>(&value), 8));
  if (parse(text)->dataOffset % 8 == 0) text = file(dict("<f8", "(1,)") + "  ", text.substr(text.size() - 8));
  writeText(folder / "u.npy", text);
  auto array = readNpy(folder / "u.npy");
  REQUIRE(array);
  CHECK(reinterpret_cast<uintptr_t>(array->data.data()) % 8 == 0);
  CHECK(std::memcmp(array->data.data(), &value, 8) == 0);
}

TEST_CASE("malformed files are refused with a reason") {
  const std::string four(16, '\0');
  CHECK(messageOf(parse("hello")).find("not a .npy") != std::string::npos);
  CHECK(messageOf(parse("")).find("not a .npy") != std::string::npos);
  CHECK(messageOf(parse(file(dict(">f4", "(4,)"), four))).find("big-endian") != std::string::npos);
  CHECK(messageOf(parse(file(dict("<f4", "(5,)"), four))).find("20 bytes") != std::string::npos);
  CHECK(messageOf(parse(file(dict("<f4", "(3,)"), four))).find("has 16") != std::string::npos);
  CHECK(messageOf(parse(file(dict("<c8", "(2,)"), four))).find("<c8") != std::string::npos);
  CHECK(messageOf(parse(file(dict("<f4", "(-1,)"), four))) != "");
  CHECK(messageOf(parse(file(dict("<f4", "(99999999999999999999,)"), four))) != "");
  CHECK(messageOf(parse(file(dict("<f4", "(4294967296, 4294967296)"), four))) != "");
  CHECK(messageOf(parse(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}", four))) != "");
  CHECK(messageOf(parse(file("{'descr': '<f4', 'fortran_order': False}", four))) != "");
  CHECK(messageOf(parse(file(dict("<f4", "(4,)"), four, 9))).find("version 9") != std::string::npos);
  CHECK(messageOf(parse(file(dict("", "(4,)"), four))) != "");
}

TEST_CASE("no prefix of a file is accepted, and no cut crashes") {
  const std::string whole = npyHeader(ElementType::F32, std::vector<uint64_t>{2, 2}) + std::string(16, 'x');
  REQUIRE(parse(whole));
  for (size_t size = 0; size < whole.size(); size++) CHECK(!parse(whole.substr(0, size)));
}
