// The functions of the mock that allocate, and say what an address is.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "cuda/mock_api.h"

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBlockAlignment = 512;

char* mapped(size_t bytes, int protection) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<char*>(memory);
}

}  // namespace

extern "C" {

Code cuMemAlloc_v2(Address* address, size_t bytes) {
  MOCK_CALL("cuMemAlloc_v2");
  if (bytes == 0) return m.wrong("an allocation of no bytes"), kInvalidValue;
  if (m.used[context->device] + bytes > m.config.memoryBytes) return kOutOfMemory;
  const size_t room = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  // A page that nothing is in stands before and behind.
  char* const place = mapped(room + 2 * kPage, PROT_NONE) + kPage;
  char* const real = mapped(room, PROT_READ | PROT_WRITE);
  std::memset(real, 0x7f, room);
  m.memory[place] = {place, real, bytes, context->device};
  m.used[context->device] += bytes;
  *address = reinterpret_cast<Address>(place);
  return kSuccess;
}

Code cuMemFree_v2(Address address) {
  MOCK_CALL("cuMemFree_v2");
  const auto found = m.memory.find(reinterpret_cast<char*>(address));
  if (found == m.memory.end() || found->second.device != context->device)
    return m.wrong("memory that is none is freed"), kInvalidValue;
  for (const auto& [key, stream] : m.streams)
    if (stream->context == context) (void)m.drain(stream.get(), stream->given);
  m.used[context->device] -= found->second.bytes;
  for (const auto& [key, stream] : m.streams)
    if (stream->context == context) m.hostWaited(stream.get(), stream->given, stream->before);
  m.accesses.erase(found->first);
  m.memory.erase(found);  // its addresses stay taken, so that a late use is seen
  return context->poison;
}

Code cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  MOCK_CALL("cuMemHostAlloc");
  if (bytes == 0 || flags != 0) return m.wrong("pinned memory of no bytes, or with flags"), kInvalidValue;
  *memory = std::malloc(bytes);
  m.pinned[static_cast<char*>(*memory)] = bytes;
  return kSuccess;
}

Code cuMemFreeHost(void* memory) {
  MOCK_CALL("cuMemFreeHost");
  if (m.pinned.erase(static_cast<char*>(memory)) == 0)
    return m.wrong("memory that is not pinned is freed as such"), kInvalidValue;
  for (const auto& [key, stream] : m.streams)
    if (stream->context == context && stream->done < stream->given)
      m.wrong("pinned memory is freed while work is under way");
  std::free(memory);
  return kSuccess;
}

Code cuPointerGetAttribute(void* value, PointerAttribute attribute, Address address) {
  MOCK_CALL("cuPointerGetAttribute");
  const mock::Allocation* const block = m.find(address, 1);
  if (block == nullptr) return kInvalidValue;
  if (attribute == kMemoryType) *static_cast<unsigned*>(value) = kDevice;
  if (attribute == kDeviceOrdinal) *static_cast<int*>(value) = block->device;
  if (attribute == kRangeStart) *static_cast<Address*>(value) = reinterpret_cast<Address>(block->address);
  if (attribute == kRangeSize) *static_cast<size_t*>(value) = block->bytes;
  return kSuccess;
}

}  // extern "C"
