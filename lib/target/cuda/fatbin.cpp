#include "target/cuda/fatbin.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace svod {

namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr size_t kAlignment = 8;

/// What stands before each part. Unnamed fields are zeros: sizes of what is compressed, and names of objects.
struct PartHead {
  uint16_t kind = 0;  // 1 is PTX, 2 is a cubin
  uint16_t version = 0x101;
  uint32_t headBytes = sizeof(PartHead);  // with what is added to it
  uint64_t bytes = 0;
  uint32_t compressedBytes = 0;
  uint32_t more = 0;   // where added bytes begin, 0 where there are none
  uint16_t minor = 0;  // of the ABI of the cubin, or of PTX
  uint16_t major = 0;
  uint32_t capability = 0;
  uint64_t name = 0;
  uint64_t flags = 0x11;  // 64 bits, Linux
  uint64_t rest[2] = {0, 0};
};
static_assert(sizeof(PartHead) == 64);

constexpr uint64_t kExact = 0x100000, kFamily = 0x200000, kHasCompat = 0x1000000;

void addPadded(std::string& to, std::string_view bytes) {
  to += bytes;
  to.resize((to.size() + kAlignment - 1) / kAlignment * kAlignment);
}

template <class T>
std::string_view bytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A number of an ELF file; 0 beyond its end.
template <class T>
T numberAt(std::string_view elf, uint64_t at) {
  T value = 0;
  if (at <= elf.size() && elf.size() - at >= sizeof value) std::memcpy(&value, elf.data() + at, sizeof value);
  return value;
}

/// The bytes of a section of a cubin, an ELF file of 64 bits; empty where it has none of that name.
std::string_view sectionOf(std::string_view elf, std::string_view name) {
  const auto table = numberAt<uint64_t>(elf, 0x28);
  const uint64_t size = numberAt<uint16_t>(elf, 0x3A), count = numberAt<uint16_t>(elf, 0x3C);
  const auto names = numberAt<uint64_t>(elf, table + size * numberAt<uint16_t>(elf, 0x3E) + 0x18);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t head = table + size * i, at = names + numberAt<uint32_t>(elf, head);
    if (at >= elf.size() || !elf.substr(at).starts_with(name) ||
        elf.substr(at + name.size(), 1) != std::string_view("\0", 1))
      continue;
    const auto offset = numberAt<uint64_t>(elf, head + 0x18), bytes = numberAt<uint64_t>(elf, head + 0x20);
    return offset <= elf.size() && bytes <= elf.size() - offset ? elf.substr(offset, bytes) : std::string_view();
  }
  return {};
}

/// "9.0" of `.version 9.0`.
void readPtxVersion(std::string_view text, PartHead& head) {
  constexpr std::string_view kVersion = ".version ";
  const size_t at = text.find(kVersion);
  if (at == text.npos) return;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data() + at + kVersion.size(), end, head.major);
  if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, head.minor);
}

/// Offset and length of what follows them, which cubins from 10.0 on have: what they say of GPUs that run them.
std::string addedTo(const FatbinPart& part) {
  const std::string_view compat = part.isPtx ? std::string_view() : sectionOf(part.bytes, ".nv.compat");
  const uint32_t place[] = {sizeof(PartHead) + 8, static_cast<uint32_t>(compat.size())};
  std::string added(bytesOf(place));
  if (!compat.empty()) added += '\0';
  added += compat;
  constexpr size_t kUnit = 16;
  added.resize((added.size() + kUnit - 1) / kUnit * kUnit);
  return added;
}

void addPart(std::string& to, const FatbinPart& part) {
  constexpr uint32_t kFirstWithCompat = 100;
  PartHead head;
  head.kind = part.isPtx ? 1 : 2;
  head.capability = part.capability;
  head.flags |= part.form == 'a' ? kExact : part.form == 'f' ? kFamily : 0;
  std::string added, bytes;
  if (part.isPtx) {
    readPtxVersion(part.bytes, head);
    added = addedTo(part);
  } else {
    constexpr size_t kAbiVersion = 8;  // of e_ident
    head.major = 1, head.minor = numberAt<uint8_t>(part.bytes, kAbiVersion);
    if (part.capability >= kFirstWithCompat) added = addedTo(part), head.flags |= kHasCompat;
  }
  addPadded(bytes, part.isPtx ? std::string(part.bytes) + '\0' : std::string(part.bytes));
  if (!added.empty()) head.more = sizeof head, head.headBytes += static_cast<uint32_t>(added.size());
  head.bytes = bytes.size();
  to += bytesOf(head);
  to += added;
  to += bytes;
}

}  // namespace

std::string joinFatbin(std::span<const FatbinPart> parts) {
  std::string body;
  for (const FatbinPart& part : parts) addPart(body, part);
  struct {
    uint32_t magic = kMagic;
    uint16_t version = 1, headBytes = 16;
    uint64_t bytes = 0;
  } head;
  head.bytes = body.size();
  return std::string(bytesOf(head)) + body;
}

}  // namespace svod
