#include "plan/image_archive.h"

#include <algorithm>
#include <charconv>

namespace svod {

namespace {

constexpr std::string_view kHead = "svod image 1\n";
constexpr size_t kAlignment = 64;
constexpr size_t kDigits = 12;  // of an offset: the table's length does not depend on them

size_t alignUp(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

std::string padded(size_t number) {
  const std::string text = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, text.size()), '0') + text;
}

/// The part up to `end`, which is taken off with what follows it; nothing without such an end.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const size_t at = text.find(end);
  if (at == text.npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

std::optional<size_t> numberIn(std::optional<std::string_view> text) {
  size_t number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

}  // namespace

std::string joinImage(std::span<const KernelCode> kernels) {
  size_t at = kHead.size() + 1;
  for (const KernelCode& kernel : kernels)
    at += kernel.symbol.size() + kDigits + std::to_string(kernel.bytes.size()).size() + 3;
  std::string table(kHead), code;
  at = alignUp(at);
  for (const KernelCode& kernel : kernels) {
    table +=
        std::string(kernel.symbol) + " " + padded(at + code.size()) + " " + std::to_string(kernel.bytes.size()) + "\n";
    code += kernel.bytes;
    code.resize(alignUp(code.size() + 1));
  }
  table += '\n';
  table.resize(at);
  return table + code;
}

std::optional<std::span<const std::byte>> codeIn(std::span<const std::byte> image, std::string_view symbol) {
  std::string_view rest(reinterpret_cast<const char*>(image.data()), image.size());
  if (!rest.starts_with(kHead)) return std::nullopt;
  rest.remove_prefix(kHead.size());
  while (!rest.empty() && rest.front() != '\n') {
    const std::optional<std::string_view> name = take(rest, ' ');
    const std::optional<size_t> offset = numberIn(take(rest, ' ')), bytes = numberIn(take(rest, '\n'));
    if (!name || !offset || !bytes) return std::nullopt;
    if (*name != symbol) continue;
    if (*offset % kAlignment != 0 || *offset > image.size() || *bytes > image.size() - *offset) return std::nullopt;
    return image.subspan(*offset, *bytes);
  }
  return std::nullopt;
}

}  // namespace svod
