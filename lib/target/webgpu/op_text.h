// Types, constants and ops in WGSL (an internal header of the room). Integers of fewer bits are i32 or u32 and hold the
// values of their dtype; what has 64 bits is a pair of words, the lower one first (functions.h).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/uop.h"

namespace svod::webgpu {

/// How values of a dtype are held; None where WGSL has nothing for it.
enum class Held : uint8_t { None, Bool, Signed, Unsigned, SignedPair, UnsignedPair, Float, DoublePair };
Held heldAs(DType dtype);
/// Of an integer.
inline bool isPair(DType dtype) { return heldAs(dtype) == Held::SignedPair || heldAs(dtype) == Held::UnsignedPair; }
std::string_view typeName(DType dtype);

std::string literal(const Scalar& value);

/// An op on operands of one dtype but for conditions and conversions; nullopt if there is no text for it.
std::optional<std::string> opText(Op op, DType result, DType operand, std::span<const std::string> operands);
std::string castText(DType from, DType to, const std::string& x);
std::optional<std::string> bitcastText(DType from, DType to, const std::string& x);

}  // namespace svod::webgpu
