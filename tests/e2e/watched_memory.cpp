#include "e2e/watched_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace svod {

namespace {

constexpr uint64_t kPage = 4096, kGap = 16 * kPage, kRegion = UINT64_C(4) << 30;
constexpr std::byte kPattern{0xA5};

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

WatchedMemory::WatchedMemory(Watch watch) : watch_(watch) {
  if (watch == Watch::Heap) return;
  void* region = ::mmap(nullptr, kRegion, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return;
  region_ = static_cast<std::byte*>(region);
  next_ = region_ + kGap;
}

WatchedMemory::~WatchedMemory() {
  if (region_ != nullptr) ::munmap(region_, kRegion);
  if (watch_ != Watch::Heap) return;
  for (Block& block : blocks_) std::free(block.data);
}

std::byte* WatchedMemory::takePages(uint64_t bytes, uint64_t alignment, Block& block) {
  uint64_t room = roundUp(bytes, kPage);
  if (region_ == nullptr || room + kGap > static_cast<uint64_t>(region_ + kRegion - next_)) return nullptr;
  block.pages = next_, block.pagesEnd = next_ + room;
  next_ += room + kGap;
  if (room > 0 && ::mprotect(block.pages, room, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::fill(block.pages, block.pagesEnd, kPattern);
  return watch_ == Watch::End ? block.pagesEnd - roundUp(bytes, alignment) : block.pages;
}

std::byte* WatchedMemory::take(uint64_t bytes, uint64_t alignment, std::string name) {
  Block block{std::move(name), nullptr, nullptr, nullptr, bytes};
  if (watch_ == Watch::Heap) {
    void* data = nullptr;
    if (::posix_memalign(&data, std::max<size_t>(alignment, sizeof(void*)), bytes) != 0) return nullptr;
    block.data = block.pages = block.pagesEnd = static_cast<std::byte*>(data);
  } else {
    block.data = takePages(bytes, alignment, block);
  }
  if (block.data != nullptr) blocks_.push_back(block);
  return block.data;
}

svod_memory WatchedMemory::source(bool separate) {
  svod_memory memory{};
  memory.allocate = [](void* self, uint64_t bytes, uint64_t alignment, const char* purpose) -> void* {
    return static_cast<WatchedMemory*>(self)->take(bytes, alignment, purpose);
  };
  memory.release = [](void*, void*, uint64_t) {};
  memory.user = this;
  memory.separate = separate ? 1 : 0;
  return memory;
}

void WatchedMemory::makeReadOnly(const std::byte* data) {
  for (const Block& block : blocks_)
    if (block.data == data && block.pages != block.pagesEnd)
      (void)::mprotect(block.pages, static_cast<size_t>(block.pagesEnd - block.pages), PROT_READ);
}

std::string WatchedMemory::damage() const {
  for (const Block& block : blocks_) {
    auto isPattern = [](std::byte b) { return b == kPattern; };
    bool whole = watch_ == Watch::Heap || (std::all_of(block.pages, block.data, isPattern) &&
                                           std::all_of(block.data + block.bytes, block.pagesEnd, isPattern));
    if (!whole) return "bytes beside '" + block.name + "' (" + std::to_string(block.bytes) + " bytes) were overwritten";
  }
  return "";
}

std::string WatchedMemory::describe(uintptr_t address) const {
  constexpr uintptr_t kNear = kGap;
  for (const Block& block : blocks_) {
    auto begin = reinterpret_cast<uintptr_t>(block.data), end = begin + block.bytes;
    std::string where;
    if (address >= end && address - end < kNear / 2) where = std::to_string(address - end) + " bytes behind '";
    if (address < begin && begin - address <= kNear / 2) where = std::to_string(begin - address) + " bytes before '";
    if (address >= begin && address < end) where = "at byte " + std::to_string(address - begin) + " of read-only '";
    if (!where.empty()) return where + block.name + "' (" + std::to_string(block.bytes) + " bytes)";
  }
  return "";
}

}  // namespace svod
