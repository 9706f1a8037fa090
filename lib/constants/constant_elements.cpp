// What is done with a layout once the kernel is compiled: its text, and the elements in their new order.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "constants/constant_layout.h"

namespace svod {

std::string toText(const std::vector<ConstantLayout>& layouts) {
  std::ostringstream text;
  for (const ConstantLayout& l : layouts) {
    text << l.slot << ' ' << l.dims.size() << ' ' << l.table.size();
    for (const ConstantLayout::Dim& d : l.dims) text << ' ' << d.extent << ' ' << d.stride << ' ' << d.step;
    for (int64_t place : l.table) text << ' ' << place;
    text << '\n';
  }
  return text.str();
}

std::optional<std::vector<ConstantLayout>> layoutsFromText(const std::string& text) {
  std::vector<ConstantLayout> layouts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    ConstantLayout l{0, {}, {}};
    size_t dims = 0, entries = 0;
    if (!(in >> l.slot >> dims >> entries) || dims > line.size() || entries > line.size()) return std::nullopt;
    l.dims.resize(dims), l.table.resize(entries);
    for (ConstantLayout::Dim& d : l.dims) in >> d.extent >> d.stride >> d.step;
    for (int64_t& place : l.table) in >> place;
    if (!in) return std::nullopt;
    layouts.push_back(std::move(l));
  }
  return layouts;
}

namespace {

// Elements are copied one by one, so runs of equal size compile to plain moves.
template <class Element>
class Mover {
 public:
  Mover(const ConstantLayout& layout, std::span<const std::byte> operand, std::byte* to)
      : layout_(layout), from_(operand.data()), count_(static_cast<int64_t>(operand.size() / sizeof(Element))),
        to_(to) {}

  void move(size_t dim, int64_t entry, int64_t offset) {
    if (dim == layout_.dims.size()) return place(layout_.table[static_cast<size_t>(entry)] + offset);
    const ConstantLayout::Dim& d = layout_.dims[dim];
    const bool isRun = dim + 1 == layout_.dims.size() && d.step == 0;
    if (isRun && moveRun(d, layout_.table[static_cast<size_t>(entry)] + offset)) return;
    for (int64_t i = 0; i < d.extent; ++i) move(dim + 1, entry + i * d.step, offset + i * d.stride);
  }

 private:
  // False, and nothing is moved, where some elements do not exist.
  bool moveRun(const ConstantLayout::Dim& d, int64_t first) {
    const int64_t last = first + (d.extent - 1) * d.stride;
    if (std::min(first, last) < 0 || std::max(first, last) >= count_) return false;
    const std::byte* from = from_ + first * static_cast<int64_t>(sizeof(Element));
    for (int64_t i = 0; i < d.extent; ++i, to_ += sizeof(Element))
      std::memcpy(to_, from + i * d.stride * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
    return true;
  }

  void place(int64_t at) {
    Element element{};  // where there is none
    if (at >= 0 && at < count_)
      std::memcpy(&element, from_ + at * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
    std::memcpy(to_, &element, sizeof(Element));
    to_ += sizeof(Element);
  }

  const ConstantLayout& layout_;
  const std::byte* from_;
  int64_t count_;
  std::byte* to_;
};

template <class Element>
void moveAll(const ConstantLayout& layout, std::span<const std::byte> operand, LargeBytes& to) {
  Mover<Element>(layout, operand, to.data()).move(0, 0, 0);
}

}  // namespace

LargeBytes laidOut(const ConstantLayout& layout, std::span<const std::byte> operand, size_t elementBytes) {
  LargeBytes to(static_cast<size_t>(layout.elements()) * elementBytes);
  switch (elementBytes) {
    case 1: moveAll<uint8_t>(layout, operand, to); break;
    case 2: moveAll<uint16_t>(layout, operand, to); break;
    case 4: moveAll<uint32_t>(layout, operand, to); break;
    default: moveAll<uint64_t>(layout, operand, to); break;
  }
  return to;
}

}  // namespace svod
