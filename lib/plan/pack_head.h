// The first bytes of a pack, as its reader and its writer share them.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "plan/pack.h"

namespace svod::detail {

/// In the byte order of the machine that the plan is for; the order tells a reader of the other one.
struct PackHead {
  char magic[8];
  uint32_t byteOrder;
  uint32_t version;
  uint64_t manifestBytes;  // of plan.json, which follows
  uint64_t packBytes;      // of the whole file
};
static_assert(sizeof(PackHead) == 32);

inline constexpr char kPackMagic[8] = {'s', 'v', 'o', 'd', 'p', 'a', 'c', 'k'};
inline constexpr uint32_t kPackByteOrder = 0x01020304;

inline uint64_t alignedInPack(uint64_t offset) {
  return (offset + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
}

}  // namespace svod::detail
