// Element types as files, plans and the runtime see them. The compiler's DType contains these by name.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace svod {

enum class ElementType : uint8_t {
#define ELEMENT(name, text, kind, bits, npy, safetensors) name,
#include "support/element_type.def"
#undef ELEMENT
};

enum class ElementKind : uint8_t { Bool, Signed, Unsigned, Float };

struct ElementInfo {
  std::string_view name;  // "f32": graphs, plans, messages
  ElementKind kind;
  uint8_t bits;                  // of one element in memory: 2 and 4 share bytes, others are a multiple of 8
  std::string_view npy;          // numpy descr, little endian
  std::string_view safetensors;  // dtype member of a .safetensors header
};

const ElementInfo& info(ElementType type);
std::span<const ElementInfo> allElementTypes();  // in enumerator order

inline std::string_view nameOf(ElementType type) { return info(type).name; }
/// Bytes of an element, and what the memory of any is aligned to; 1 where several share one.
inline uint64_t byteSize(ElementType type) { return (info(type).bits + 7u) / 8; }
inline bool isFloat(ElementType type) { return info(type).kind == ElementKind::Float; }
inline bool isPacked(ElementType type) { return info(type).bits < 8; }
std::optional<ElementType> elementTypeFromName(std::string_view name);

/// Bytes of `count` elements in memory.
inline uint64_t memoryBytes(ElementType type, uint64_t count) {
  const uint64_t each = isPacked(type) ? 8 / info(type).bits : 1;
  return isPacked(type) ? count / each + (count % each != 0) : count * byteSize(type);
}
/// Bytes of a tensor in memory; nothing when they do not fit in 63 bits.
std::optional<uint64_t> tensorBytes(ElementType type, std::span<const uint64_t> shape);

}  // namespace svod
