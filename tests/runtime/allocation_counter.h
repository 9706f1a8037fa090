// Counts every operator new of the program, on all threads.
#pragma once
#include <cstdint>

namespace svod {
uint64_t allocationCount();
}
