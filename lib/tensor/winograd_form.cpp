#include "tensor/winograd_form.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/likely.h"
#include "tensor/parameters.h"

namespace svod {

namespace {

using namespace parameters;

// clang-format off
constexpr double kWeights4[] = {1. / 4,       0,       0,
                               -1. / 6, -1. / 6, -1. / 6,
                               -1. / 6,  1. / 6, -1. / 6,
                               1. / 24, 1. / 12,  1. / 6,
                               1. / 24, -1. / 12, 1. / 6,
                                     0,       0,       1};
constexpr double kDataShared4[] = {0, 0, -4,  0, 1, 0,
                                   0, -4, 0,  1, 0, 0,
                                   0, 0, -1,  0, 1, 0,
                                   0, -1, 0,  1, 0, 0,
                                   1, 0, -1,  0, 0, 0,
                                   0, 0,  0, -1, 0, 1};
constexpr double kData4[] = {0, 0, 1,  0, 4, 0,
                             1, 1, 0,  0, 0, 0,
                             1, -1, 0, 0, 0, 0,
                             0, 0, 1,  2, 0, 0,
                             0, 0, 1, -2, 0, 0,
                             0, 0, 0, -4, 0, 1};
constexpr double kResultShared4[] = {1, 0, 0,  0, 0,  0,
                                     0, 1, 1,  0, 0,  0,
                                     0, 1, -1, 0, 0,  0,
                                     0, 0, 0,  1, 1,  0,
                                     0, 0, 0,  1, -1, 0,
                                     0, 0, 0,  0, 0,  1};
constexpr double kResult4[] = {1, 1, 0, 1, 0, 0,
                               0, 0, 1, 0, 2, 0,
                               0, 1, 0, 4, 0, 0,
                               0, 0, 1, 0, 8, 1};
constexpr double kWeights2[] = {1,      0,   0,
                               .5,     .5,  .5,
                               .5,    -.5,  .5,
                                0,      0,   1};
constexpr double kSame4[] = {1, 0, 0, 0,  0, 1, 0, 0,  0, 0, 1, 0,  0, 0, 0, 1};
constexpr double kData2[] = {1,  0, -1,  0,
                             0,  1,  1,  0,
                             0, -1,  1,  0,
                             0,  1,  0, -1};
constexpr double kResult2[] = {1, 1,  1,  0,
                               0, 1, -1, -1};
constexpr WinogradForm kForms[] = {
    {4, 6, Numerics::Fast,
     {6, 3, kWeights4}, {6, 6, kDataShared4}, {6, 6, kData4}, {6, 6, kResultShared4}, {4, 6, kResult4}},
    {2, 4, Numerics::Contract,
     {4, 3, kWeights2}, {4, 4, kSame4}, {4, 4, kData2}, {4, 4, kSame4}, {2, 4, kResult2}}};
// clang-format on

double sizeOf(std::span<const int32_t> axes, UOp product) {
  double size = 1;
  for (int32_t axis : axes)
    size *= static_cast<double>(std::max<int64_t>(1, likelySize(product.shape()[static_cast<size_t>(axis)])));
  return size;
}

struct ConvSize {
  double groups, batch, channels, filters, height, width;
  double weights() const { return groups * channels * filters; }
};

/// What bytes cost that come from where this many of them stay, without what the second level cache gives.
double costOfByte(double all, const GraphMachine& m) {
  if (all <= static_cast<double>(m.cacheBytes)) return 0;
  return m.multiplies / (all <= static_cast<double>(m.lastBytes) ? m.lastRate : m.memoryRate);
}

/// Each weight is read from memory once.
double costOfWeights(double weights, const GraphMachine& m) {
  return weights * kWeightBytes * m.multiplies / m.memoryRate;
}

double directCost(const ConvSize& s, const GraphMachine& m) {
  constexpr double kTaps = 9;
  return kDirectCost * kTaps * s.weights() * s.batch * s.height * s.width + costOfWeights(kTaps * s.weights(), m);
}

int64_t tilesAlong(double extent, const WinogradForm& f) { return static_cast<int64_t>(std::ceil(extent / f.tile)); }

/// Of as many blocks of `rows` rows of tiles as there must be.
double costOf(const WinogradForm& f, const ConvSize& s, int64_t rows, const GraphMachine& m) {
  const double places = f.points * f.points, weights = places * s.weights();
  const auto blocks = static_cast<double>((tilesAlong(s.height, f) + rows - 1) / rows);
  const double tiles = s.batch * static_cast<double>(rows * tilesAlong(s.width, f));
  const double moved = places * tiles * s.groups * (s.channels + s.filters);
  const double each = kNearCost + kMovedBytes * costOfByte(kWeightBytes * moved, m);
  const double again = kNearWeightCost + kWeightBytes * costOfByte(kWeightBytes * weights, m);
  return weights * (blocks * tiles + (blocks - 1) * again) + costOfWeights(weights, m) +
         blocks * (moved * each + kBlockCost);
}

/// The number of rows, fewer than all, with the least cost; 0 where there is one row.
int64_t bestRows(const WinogradForm& f, const ConvSize& s, const GraphMachine& m) {
  int64_t best = 0;
  double least = 0;
  for (int64_t rows = 1; rows < tilesAlong(s.height, f); ++rows)
    if (double cost = costOf(f, s, rows, m); best == 0 || cost < least) best = rows, least = cost;
  return best;
}

}  // namespace

std::span<const WinogradForm> winogradForms() { return kForms; }

std::vector<PricedPlan> pricedPlans(const Convolution& conv, UOp product, Numerics numerics,
                                    const GraphMachine& machine) {
  const ConvSize size{sizeOf(conv.groups, product),
                      sizeOf(conv.batch, product),
                      sizeOf(conv.channels, product),
                      sizeOf(conv.filters, product),
                      sizeOf({&conv.windows[0].out, 1}, product),
                      sizeOf({&conv.windows[1].out, 1}, product)};
  std::vector<PricedPlan> plans{{{}, "direct", directCost(size, machine), false}};
  if (size.channels < kMinChannels || size.filters < kMinChannels || machine.multiplies == 0) return plans;
  const bool isGpu = machine.gpu.lanes > 0;  // which have been priced, and not timed
  for (const WinogradForm& form : kForms) {
    if (numerics < (isGpu ? Numerics::Fast : form.least)) continue;
    const bool hasRows = product.shape()[static_cast<size_t>(conv.windows[0].out)].isConst();
    const int64_t all = tilesAlong(size.height, form), rows = hasRows ? bestRows(form, size, machine) : 0;
    const std::string name = "f" + std::to_string(form.tile);
    plans.push_back({{&form, hasRows ? all : INT64_MAX}, name, costOf(form, size, all, machine), false});
    if (rows > 0)
      plans.push_back({{&form, rows}, name + ".rows" + std::to_string(rows), costOf(form, size, rows, machine), true});
  }
  return plans;
}

size_t cheapestPlan(std::span<const PricedPlan> plans) {
  size_t best = 0;
  double least = plans[0].cost / kWorthwhile;
  for (size_t i = 1; i < plans.size(); ++i) {
    // Of one form: a loop is to be worth it beside all rows at once.
    if (plans[i].isLoop && plans[i].cost >= plans[i - 1].cost / kWorthLoop) continue;
    if (plans[i].cost < least) best = i, least = plans[i].cost;
  }
  return best;
}

namespace {

// Where the elements along some axes stand in the weights, row-major.
std::vector<int64_t> offsetsAlong(std::span<const int32_t> axes, const Convolution& conv, UOp product) {
  std::vector<int64_t> offsets{0};
  for (int32_t axis : axes) {
    std::vector<int64_t> more;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < product.dim(static_cast<size_t>(axis)); ++i)
        more.push_back(offset + i * conv.strides[static_cast<size_t>(axis)]);
    offsets = std::move(more);
  }
  return offsets;
}

constexpr size_t kFilters = 16;  // that are transformed side by side: a line of each place
using Lanes = std::array<double, kFilters>;
using Taps = std::array<std::array<Lanes, 3>, 3>;

/// a x + b y + c z for all filters. The outermost points have one term.
Lanes combine(const SmallMatrix& g, int row, const Lanes& x, const Lanes& y, const Lanes& z) {
  const double a = g(row, 0), b = g(row, 1), c = g(row, 2);
  const bool isOne = b == 0 && (a == 0 || c == 0);
  const Lanes& only = a == 0 ? z : x;
  Lanes sum;  // which no operand is, so that loops are vectors
  if (isOne)
    for (size_t i = 0; i < kFilters; ++i) sum[i] = (a + c) * only[i];
  else
    for (size_t i = 0; i < kFilters; ++i) sum[i] = a * x[i] + b * y[i] + c * z[i];
  return sum;
}

/// G g G^T, one axis after the other.
void transformTaps(const SmallMatrix& g, const Taps& taps, std::span<Lanes> result) {
  std::array<Lanes, 3> down;  // a row of G g
  for (int i = 0; i < g.rows; ++i) {
    for (size_t x = 0; x < 3; ++x) down[x] = combine(g, i, taps[0][x], taps[1][x], taps[2][x]);
    for (int j = 0; j < g.rows; ++j)
      result[static_cast<size_t>(i * g.rows + j)] = combine(g, j, down[0], down[1], down[2]);
  }
}

}  // namespace

LargeFloats transformedWeights(const WinogradForm& form, const Convolution& conv, UOp product,
                               std::span<const float> weights) {
  const std::vector<int64_t> groups = offsetsAlong(conv.groups, conv, product),
                             channels = offsetsAlong(conv.channels, conv, product),
                             filters = offsetsAlong(conv.filters, conv, product);
  const int64_t down = conv.strides[static_cast<size_t>(conv.windows[0].tap)],
                right = conv.strides[static_cast<size_t>(conv.windows[1].tap)];
  const size_t places = static_cast<size_t>(form.points * form.points), lines = groups.size() * channels.size(),
               each = lines * filters.size();
  LargeFloats result(each * places);
  Taps taps{};
  std::vector<Lanes> transformed(places);
  for (size_t line = 0; line < lines; ++line) {  // outside: the results of a place are written one after the other
    const int64_t first = conv.first + groups[line / channels.size()] + channels[line % channels.size()];
    for (size_t from = 0; from < filters.size(); from += kFilters) {
      const std::span<const int64_t> some = std::span(filters).subspan(from, std::min(kFilters, filters.size() - from));
      for (size_t y = 0; y < 3; ++y)
        for (size_t x = 0; x < 3; ++x)
          for (size_t i = 0; i < some.size(); ++i) {
            const int64_t tap = static_cast<int64_t>(y) * down + static_cast<int64_t>(x) * right;
            taps[y][x][i] = static_cast<double>(weights[static_cast<size_t>(first + some[i] + tap)]);
          }
      transformTaps(form.weights, taps, transformed);
      for (size_t place = 0; place < places; ++place) {
        std::array<float, kFilters> rounded;
        for (size_t i = 0; i < kFilters; ++i) rounded[i] = static_cast<float>(transformed[place][i]);
        std::copy_n(rounded.begin(), some.size(), &result[place * each + line * filters.size() + from]);
      }
    }
  }
  return result;
}

}  // namespace svod
