// Products of warpgroups that are under way from where they are started to the wait that covers their group. Factors
// are found by their descriptors, and sums lie in lanes, as the PTX manual says it ("Asynchronous Warpgroup Level
// Matrix Instructions"), not as the compiler's tables do.
#include <cmath>

#include "cuda_grid/meet.h"

namespace svod {

namespace {

constexpr size_t kLanes = 128;
constexpr int kTerms = 16, kRows = 64, kWarps = 4;

float half(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
float bfloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// What the bits of a matrix descriptor say; lengths are in bytes.
struct Descriptor {
  uint32_t start, leading, stride, baseOffset, mode;
  explicit Descriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3fff) << 4), leading(static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4), baseOffset(static_cast<uint32_t>(bits >> 49 & 7)),
        mode(static_cast<uint32_t>(bits >> 62)) {}

  /// The piece of 16 bytes that element (row, term) lies in, with 128-byte swizzling. K-major: 8 rows 128 bytes apart,
  /// the next 8 of them `stride` behind. MN-major: 64 rows side by side, the next 64 `leading` behind; 8 terms 128
  /// bytes apart, the next 8 of them `stride` behind.
  uint32_t piece(uint32_t row, uint32_t term, bool isTurned) const {
    const uint32_t plain = isTurned ? row / 64 * leading + row % 64 / 8 * 16 + term % 8 * 128 + term / 8 * stride
                                    : row / 8 * stride + row % 8 * 128 + term / 8 * 16;
    const uint32_t at = start + plain;
    return at ^ (at >> 7 & 7) << 4;
  }
};

}  // namespace

template <class Last>
void EmulatedGrid::meetWarpgroup(const char* what, Part part, Last last) {
  if (threads_.size() % kLanes != 0)
    fault("DIVERGENCE: " + std::string(what) + " in a workgroup of no whole warpgroups");
  Warpgroup& group = warpgroups_[part.thread->number / kLanes];
  meet(group.meeting, kLanes, what, part, [&](std::vector<Part> parts) {
    std::ranges::sort(parts, {}, [](const Part& p) { return p.thread->number; });
    last(group, std::span<const Part>(parts));
  });
}

void EmulatedGrid::fence() {
  Thread& thread = *current_;
  thread.fencedAt = moment_++;
  for (uint32_t group : thread.waited) {
    if (thread.knows.seen.size() <= group) thread.knows.seen.resize(group + 1);
    thread.knows.seen[group] = true;
  }
  thread.waited.clear();
}

/// Each warp has a part of its products, with a number of its own.
uint32_t EmulatedGrid::numberOfGroup() { return (copyGroups_ += kWarps) - kWarps + 1; }

void EmulatedGrid::fenceSums() {
  meetWarpgroup("wgmma.fence", {current_, nullptr, nullptr, nullptr, nullptr},
                [](Warpgroup& group, std::span<const Part>) { group.isFenced = true; });
}

void EmulatedGrid::commitProducts() {
  meetWarpgroup("wgmma.commit_group", {current_, nullptr, nullptr, nullptr, nullptr},
                [&](Warpgroup& group, std::span<const Part>) {
                  if (group.open.number == 0) group.open.number = numberOfGroup();
                  group.groups.push_back(std::exchange(group.open, {}));
                  group.isFenced = false;
                });
}

void EmulatedGrid::product(const char* core, float* sums, uint64_t a, uint64_t b, int turned) {
  const uint64_t factors[2] = {a, b};
  meetWarpgroup(core, {current_, factors, nullptr, nullptr, sums}, [&](Warpgroup& group, std::span<const Part> lanes) {
    if (!group.isFenced) fault("FENCE: a product of a group that no wgmma.fence begins");
    for (const Part& lane : lanes)
      if (std::memcmp(lane.a, factors, sizeof factors) != 0) fault("DIVERGENCE: factors differ between threads");
    if (group.open.number == 0) group.open.number = numberOfGroup();
    auto* first = static_cast<float*>(lanes[0].out);
    const int columns = std::atoi(std::strchr(core, 'n') + 1);
    auto [at, isNew] = group.sums.try_emplace(first);
    Sums& known = at->second;
    if (isNew) {
      for (const Part& lane : lanes) {
        auto* own = static_cast<float*>(lane.out);
        known.lanes.push_back(own);
        known.values.insert(known.values.end(), own, own + columns / 2);
        std::fill(own, own + columns / 2, NAN);  // until they are there
      }
    }
    ++known.pending;
    Product product{first,    a, b, turned, columns, std::strstr(core, "_bf16") != nullptr, lanes[0].thread->knows,
                    moment_++};
    for (const Part& lane : lanes) product.knows.keepCommon(lane.thread->knows);
    group.open.adds.push_back(first), group.open.left.push_back(product);
    if (isNow()) performProducts(group, true);
  });
}

/// In the order in which they were started.
void EmulatedGrid::performProducts(Warpgroup& group, bool all) {
  for (ProductGroup& each : group.groups) {
    for (const Product& product : each.left) perform(group, each.number, product);
    each.left.clear();
    if (!all) return;
  }
  for (const Product& product : group.open.left) perform(group, group.open.number, product);
  group.open.left.clear();
}

/// A factor row by row, by pieces of 16 bytes.
void EmulatedGrid::readFactor(uint64_t bits, bool isTurned, RowsOf rows, const Access& access, uint16_t* to) {
  const Descriptor factor(bits);
  if (factor.mode != 1 || factor.baseOffset != 0 || (factor.start & 0x380) != 0)
    fault("ALIGNMENT: a factor that does not start where eight rows of 128 bytes do, at byte " +
          std::to_string(factor.start));
  for (int row = rows.first; row < rows.end; row += isTurned ? 8 : 1)
    for (int term = 0; term < kTerms; term += isTurned ? 1 : 8) {
      const unsigned char* at =
          sharedBase_ + factor.piece(static_cast<uint32_t>(row), static_cast<uint32_t>(term), isTurned);
      touchShared(at, 16, false, access, "a product");
      uint16_t elements[8];
      std::memcpy(elements, at, sizeof elements);
      for (int i = 0; i < 8; ++i) to[(isTurned ? row + i : row) * kTerms + (isTurned ? term : term + i)] = elements[i];
    }
}

void EmulatedGrid::perform(Warpgroup& group, uint32_t number, const Product& product) {
  static thread_local uint16_t bits[(kRows + 256) * kTerms];
  static thread_local float values[(kRows + 256) * kTerms];
  for (int warp = 0; warp < kWarps; ++warp) {  // rows of its own, and all columns
    const Agent agent = Agent::copies(number + static_cast<uint32_t>(warp));
    Access access{agent, product.moment, &product.knows, {}, firstThread_, static_cast<uint32_t>(threads_.size())};
    access.isBehindFence = true;
    const int rows = kRows / kWarps;
    readFactor(product.a, (product.turned & 1) != 0, {warp * rows, (warp + 1) * rows}, access, bits);
    readFactor(product.b, (product.turned & 2) != 0, {0, product.columns}, access, bits + kRows * kTerms);
  }
  for (int i = 0; i < (kRows + product.columns) * kTerms; ++i)
    values[i] = product.isBfloat ? bfloat(bits[i]) : half(bits[i]);
  const auto each = static_cast<size_t>(product.columns / 2);
  std::vector<float>& sums = group.sums.at(product.sums).values;
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t i = 0; i < each; ++i) {
      // The manual's figure of D: warps below each other, 16 rows each; pairs of columns, 8 columns for four registers.
      const size_t row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const float *a = values + row * kTerms, *b = values + (kRows + column) * kTerms;
      float& sum = sums[lane * each + i];
      for (int k = 0; k < kTerms; ++k) sum += a[k] * b[k];
    }
}

void EmulatedGrid::waitProducts(float* sums, int groups) {
  meetWarpgroup("wgmma.wait_group", {current_, nullptr, nullptr, nullptr, sums},
                [&](Warpgroup& group, std::span<const Part> lanes) {
                  while (group.groups.size() > static_cast<size_t>(groups)) {
                    performProducts(group, false);
                    const ProductGroup done = std::move(group.groups.front());
                    group.groups.pop_front();
                    for (const Part& lane : lanes) {  // each warp knows that its own part is done
                      const uint32_t part = done.number + lane.thread->number / 32 % kWarps;
                      std::vector<bool>& known = lane.thread->knows.copies;
                      if (known.size() <= part) known.resize(part + 1);
                      known[part] = true;
                    }
                    for (float* first : done.adds) settle(group, first);
                  }
                  ++moment_;
                  if (groups == 0 && group.sums.contains(static_cast<float*>(lanes[0].out)))
                    fault("UNFINISHED: a wait does not cover products that were not committed");
                });
}

/// Sums are in their registers when all products that add to them are done.
void EmulatedGrid::settle(Warpgroup& group, float* first) {
  const auto at = group.sums.find(first);
  if (--at->second.pending > 0) return;
  const size_t each = at->second.values.size() / kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane)
    std::copy_n(at->second.values.begin() + static_cast<long>(lane * each), each, at->second.lanes[lane]);
  group.sums.erase(at);
}

}  // namespace svod
