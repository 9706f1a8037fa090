// Counts every operator new and every dlsym of the program, on all threads.
#pragma once
#include <cstdint>

namespace svod {
uint64_t allocationCount();
uint64_t lookupCount();  // linked with --wrap=dlsym
}  // namespace svod
