#include "constants/constant_layout.h"

#include <algorithm>
#include <ranges>

#include "constants/given_order.h"
#include "constants/reading.h"
#include "facts/axes.h"
#include "ir/evaluate.h"
#include "ir/ranges.h"
#include "symbolic/linear.h"

namespace svod {

int64_t ConstantLayout::elements() const {
  int64_t count = 1;
  for (const Dim& d : dims) count *= d.extent;
  return count;
}

namespace {

constexpr int64_t kMaxTable = 1 << 14;

std::optional<ConstantLayout> layoutOf(Graph& g, UOp sink, uint32_t slot, const Reading& reading) {
  std::vector<UOp> ranges;
  UOp address = withOwnRanges(g, reading.address(), reading.leaves, ranges, nextRangeId(sink));
  Linear form = linearOf(address);
  if (form.overflow) return std::nullopt;
  auto isAffine = [&](UOp r) {
    return std::ranges::all_of(form.terms, [&](const Term& t) { return t.base == r || !t.base.dependsOn(r); });
  };
  ConstantLayout layout{slot, {}, {}};
  int64_t entries = 1, elements = 1, most = storageOf(reading.load.src(0)).src(0).bounds().max;
  most += most / 4 + 1024;
  for (size_t i = ranges.size(); i-- > 0;) {
    const int64_t extent = maxExtent(ranges[i]);
    const bool affine = isAffine(ranges[i]);
    layout.dims.insert(layout.dims.begin(), {extent, affine ? form.coefOf(ranges[i]) : 0, affine ? 0 : entries});
    if (!affine) entries *= extent;
    if (extent > most || (elements *= extent) > most || entries > kMaxTable) return std::nullopt;
  }
  for (int64_t entry = 0; entry < entries; ++entry) {
    auto counter = [&](UOp leaf) -> std::optional<Scalar> {
      auto at = static_cast<size_t>(std::ranges::find(ranges, leaf) - ranges.begin());
      const ConstantLayout::Dim& d = layout.dims[at];
      return Scalar::ofInt(DType::Index, d.step == 0 ? 0 : entry / d.step % d.extent);
    };
    std::optional<Scalar> place = evaluate(address, counter);
    if (!place) return std::nullopt;
    layout.table.push_back(place->asInt());
  }
  return layout;
}

bool keepsOrder(const ConstantLayout& layout, int64_t elements) {
  int64_t stride = 1;
  for (const ConstantLayout::Dim& d : layout.dims | std::views::reverse) {
    if (d.extent > 1 && (d.stride != stride || d.step != 0)) return false;
    stride *= d.extent;
  }
  return stride == elements && layout.table[0] == 0;
}

}  // namespace

std::optional<ConstantLayout> readingOrder(Graph& g, UOp sink, uint32_t slot) {
  std::optional<Reading> reading = readingOf(sink, slot);
  return reading ? layoutOf(g, sink, slot, *reading) : std::nullopt;
}

UOp layOutConstants(Graph& g, UOp sink, std::span<const uint32_t> slots, std::span<const ConstantLayout> given,
                    std::vector<ConstantLayout>& layouts) {
  for (uint32_t slot : slots) {
    if (const auto known = std::ranges::find(given, slot, &ConstantLayout::slot); known != given.end())
      if (const std::optional<UOp> same = readInOrder(g, sink, *known)) {
        sink = *same;
        layouts.push_back(*known);
        continue;
      }
    std::optional<Reading> reading = readingOf(sink, slot);
    std::optional<ConstantLayout> layout = reading ? layoutOf(g, sink, slot, *reading) : std::nullopt;
    if (!layout) continue;
    if (keepsOrder(*layout, storageOf(reading->load.src(0)).src(0).bounds().max)) continue;
    Linear address;
    int64_t stride = 1;
    for (size_t i = layout->dims.size(); i-- > 0; stride *= layout->dims[i].extent)
      address.add(withinCount(g, reading->leaves[i]), stride);
    const UOp read = readAt(g, reading->load, layout->elements(), build(g, address));
    sink = substitute(g, sink, std::span(&reading->load, 1), std::span(&read, 1));
    layouts.push_back(std::move(*layout));
  }
  return sink;
}

}  // namespace svod
