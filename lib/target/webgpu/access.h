// Loads and stores of a kernel (an internal header of the room). Elements in memory of the device are words or parts of
// words; those in the memory of a workgroup and in registers are values, each of at least a word.
#pragma once
#include <string>

#include "target/webgpu/values.h"

namespace svod::webgpu {

/// An element of what an address points to, and such an element given a value.
std::string loadText(UOp address, int lane, const Values& values);
std::string storeText(UOp address, int lane, const std::string& value, const Values& values);

/// The functions loadN and storeN of an argument that a text calls.
std::string accessFunctions(std::string_view text, size_t slot, DType dtype);

/// Bytes that a buffer of a kernel takes where its elements are values.
int64_t bytesHeld(UOp buffer);
/// "array<f32, 12>"
std::string arrayType(UOp buffer);

}  // namespace svod::webgpu
