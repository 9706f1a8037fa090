// The container of machine code for several GPUs; that it is NVIDIA's is shown by cuda_grid/compile_test.py.
#include "target/cuda/fatbin.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace svod;

namespace {

template <class T>
T at(const std::string& bytes, size_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void put(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// An ELF file with a section of names and one called `.nv.compat`.
std::string cubin() {
  constexpr size_t kHead = 64, kSection = 64, kNames = kHead, kCompat = 96, kTable = 104;
  std::string elf(kTable + 2 * kSection, '\0');
  std::memcpy(elf.data(),
              "\x7f"
              "ELF\2\1\1\x41\x08",
              9);
  std::memcpy(elf.data() + kNames, "\0.nv.compat", 12);
  std::memcpy(elf.data() + kCompat, "compat", 6);
  put<uint64_t>(elf, 0x28, kTable), put<uint16_t>(elf, 0x3A, kSection), put<uint16_t>(elf, 0x3C, 2);
  put<uint64_t>(elf, kTable + 0x18, kNames), put<uint64_t>(elf, kTable + 0x20, 12);
  put<uint32_t>(elf, kTable + kSection, 1);
  put<uint64_t>(elf, kTable + kSection + 0x18, kCompat), put<uint64_t>(elf, kTable + kSection + 0x20, 6);
  return elf;
}

}  // namespace

TEST_CASE("parts of a fatbin stand one behind the other, each with its architecture") {
  const std::string code = cubin(), ptx = ".version 9.1\n.target sm_80\n";
  const FatbinPart parts[] = {{90, 'a', false, code}, {100, 'f', false, code}, {80, '\0', true, ptx}};
  const std::string all = joinFatbin(parts);
  CHECK(at<uint32_t>(all, 0) == 0xBA55ED50);
  CHECK(at<uint64_t>(all, 8) == all.size() - 16);
  size_t place = 16;
  const uint64_t flags[] = {0x100011, 0x1200011, 0x11};
  for (size_t i = 0; i < 3; ++i) {
    CHECK(at<uint16_t>(all, place) == (parts[i].isPtx ? 1 : 2));
    CHECK(at<uint32_t>(all, place + 28) == parts[i].capability);
    CHECK(at<uint64_t>(all, place + 40) == flags[i]);
    CHECK(at<uint32_t>(all, place + 24) == (parts[i].isPtx ? 0x90001u : 0x10008u));
    const auto head = at<uint32_t>(all, place + 4);
    const auto size = at<uint64_t>(all, place + 8);
    CHECK(size % 8 == 0);
    CHECK(all.compare(place + head, parts[i].bytes.size(), parts[i].bytes) == 0);
    if (i == 1) CHECK(all.substr(place + 73, 6) == "compat");
    place += head + size;
  }
  CHECK(place == all.size());
  CHECK(joinFatbin({}).size() == 16);
}

TEST_CASE("what is no cubin, or is cut off, is kept as it is") {
  const std::string code = cubin();
  for (size_t size = 0; size <= code.size(); ++size) {
    const FatbinPart part{120, '\0', false, std::string_view(code).substr(0, size)};
    CHECK(joinFatbin(std::span(&part, 1)).size() >= 16 + 64 + size);
  }
  for (size_t byte = 0; byte < code.size(); ++byte) {
    std::string damaged = code;
    damaged[byte] = '\xff';
    const FatbinPart part{120, '\0', false, damaged};
    CHECK(joinFatbin(std::span(&part, 1)).find(damaged) != std::string::npos);
  }
}
