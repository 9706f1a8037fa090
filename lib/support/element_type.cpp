#include "support/element_type.h"

namespace svod {

namespace {
constexpr ElementInfo kElementTypes[] = {
#ifdef SVOD_SHIPPED_RUNTIME  // it reads neither kind of file
#define ELEMENT(name, text, kind, bits, npy, safetensors) {text, ElementKind::kind, bits, {}, {}},
#else
#define ELEMENT(name, text, kind, bits, npy, safetensors) {text, ElementKind::kind, bits, npy, safetensors},
#endif
#include "support/element_type.def"
#undef ELEMENT
};
}  // namespace

const ElementInfo& info(ElementType type) { return kElementTypes[static_cast<size_t>(type)]; }
std::span<const ElementInfo> allElementTypes() { return kElementTypes; }

std::optional<ElementType> elementTypeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kElementTypes); i++)
    if (kElementTypes[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

std::optional<uint64_t> tensorBytes(ElementType type, std::span<const uint64_t> shape) {
  for (uint64_t dim : shape)
    if (dim == 0) return 0;
  uint64_t count = 1, bytes = 0;
  for (uint64_t dim : shape)
    if (dim > INT64_MAX || __builtin_mul_overflow(count, dim, &count) || count > INT64_MAX) return std::nullopt;
  if (__builtin_mul_overflow(count, byteSize(type), &bytes) || bytes > INT64_MAX) return std::nullopt;
  return memoryBytes(type, count);
}

}  // namespace svod
