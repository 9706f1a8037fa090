#include "measure/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace svod {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr std::byte kPattern{0xA5};
constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kLarge = 2 * kHugePage;  // from here on the runtime has huge pages, too (runtime-min/memory_block.h)

uint64_t roundedUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)), data_(other.data_), mapped_(other.mapped_), size_(other.size_),
      page_(other.page_) {}

GuardedBuffer::~GuardedBuffer() {
  if (map_ != nullptr) ::munmap(map_, mapped_);
}

std::optional<GuardedBuffer> GuardedBuffer::make(uint64_t bytes) {
  GuardedBuffer made;
  made.page_ = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  made.size_ = bytes;
  const uint64_t padded = roundedUp(bytes, kAlignment), inner = roundedUp(padded, made.page_);
  made.mapped_ = inner + 2 * made.page_;
  if (!made.reserve(bytes >= kLarge ? kHugePage : made.page_)) return std::nullopt;
  if (inner > 0 && ::mprotect(made.map_ + made.page_, inner, PROT_READ | PROT_WRITE) != 0) return std::nullopt;
#ifdef MADV_HUGEPAGE
  if (bytes >= kLarge) (void)::madvise(made.map_ + made.page_, inner, MADV_HUGEPAGE);
#endif
  made.data_ = made.map_ + made.page_ + inner - padded;  // its end meets the guard page
  std::memset(made.map_ + made.page_, static_cast<int>(kPattern), inner - padded);
  std::memset(made.data_ + bytes, static_cast<int>(kPattern), padded - bytes);
  return made;
}

bool GuardedBuffer::reserve(uint64_t alignment) {
  const uint64_t more = alignment - page_, room = mapped_ + more;
  void* const found = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return false;
  const auto address = reinterpret_cast<uintptr_t>(found) + page_;
  const uint64_t before = roundedUp(address, alignment) - address;
  map_ = static_cast<std::byte*>(found) + before;
  if (before > 0) ::munmap(found, before);
  if (before < more) ::munmap(map_ + mapped_, more - before);
  return true;
}

void GuardedBuffer::makeReadOnly() { ::mprotect(map_ + page_, mapped_ - 2 * page_, PROT_READ); }

bool GuardedBuffer::holds(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= map_ + page_ && at < map_ + mapped_ - page_;
}

bool GuardedBuffer::guards(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  const std::byte *first = map_ + page_, *end = map_ + mapped_ - page_;
  return (at >= map_ && at < first) || (at >= end && at < map_ + mapped_);
}

bool GuardedBuffer::isUntouchedAround() const {
  const auto isPattern = [](std::byte b) { return b == kPattern; };
  return std::all_of(map_ + page_, data_, isPattern) && std::all_of(data_ + size_, map_ + mapped_ - page_, isPattern);
}

}  // namespace svod
