// What lanes of the emulated grid compute that C without its library cannot, and the instructions of GPUs among it.
#pragma once

namespace svod {

/// Of SvodMath. Approximate instructions are off by as much as the table of them allows, one argument this way, another
/// that way, except where the result is a power of two.
double mathOf(void* grid, int function, double x, double y, double z);

}  // namespace svod
