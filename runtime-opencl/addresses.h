// Addresses for memory of devices, which OpenCL 1.2 gives as handles: a range of addresses that nothing else has stands
// for each, and nobody may touch it.
#pragma once
#include <cstdint>
#include <map>

#include "runtime-opencl/cl_types.h"

namespace svod::opencl {

class Addresses {
 public:
  /// Where an address lies; no memory where it lies nowhere.
  struct Place {
    Memory memory = nullptr;
    uint64_t offset = 0, room = 0;  // bytes in front of it, and from it on
  };

  Addresses() = default;
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses();

  /// A range for `bytes` of `memory`, a multiple of the size of pages; null where there is none.
  void* reserve(Memory memory, uint64_t bytes);
  /// Gives the range back; what it stood for, null for what was not reserved.
  Memory release(void* address);
  Place find(const void* address) const;

 private:
  struct Range {
    Memory memory;
    uint64_t bytes;
  };
  std::map<uintptr_t, Range> ranges_;  // by where they begin
};

}  // namespace svod::opencl
