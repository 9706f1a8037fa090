// Ranges of results that need the same taps.
#include "frontend/lower/conv_taps.h"

#include <catch2/catch.hpp>

#include "common/random_graph.h"
#include "frontend/builder.h"

using namespace svod;

namespace {

struct Line {
  int64_t size, kernel, before, count, stride, dilation;
};

WindowAxis axisOf(GraphBuilder& b, const Line& l) {
  return {b.dim(l.size), b.dim(l.kernel), b.dim(l.before), b.dim(0), b.dim(l.count), l.stride, l.dilation};
}

bool isInside(const Line& l, int64_t result, int64_t tap) {
  const int64_t at = result * l.stride + tap * l.dilation - l.before;
  return at >= 0 && at < l.size;
}

std::vector<TapRange> rangesOf(const Line& l) {
  GraphBuilder b;
  return tapRanges(axisOf(b, l));
}

}  // namespace

TEST_CASE("Taps in the padding are left out where a range of results needs none of them") {
  const std::vector<TapRange> wide = rangesOf({28, 3, 12, 28, 1, 12});
  REQUIRE(wide.size() == 3);
  CHECK((wide[0].first == 0 && wide[0].count == 12 && wide[0].firstTap == 1 && wide[0].tapCount == 2));
  CHECK((wide[1].count == 4 && wide[1].tapCount == 3));
  CHECK((wide[2].first == 16 && wide[2].firstTap == 0 && wide[2].tapCount == 2));
  const std::vector<TapRange> beyond = rangesOf({14, 3, 36, 14, 1, 36});
  REQUIRE(beyond.size() == 1);
  CHECK((beyond[0].firstTap == 1 && beyond[0].tapCount == 1 && beyond[0].count == 14));
  const std::vector<TapRange> usual = rangesOf({28, 3, 1, 28, 1, 1});
  REQUIRE(usual.size() == 1);
  CHECK(usual[0].tapCount == 3);
  CHECK(rangesOf({2, 3, 1, 2, 1, 1}).size() == 1);  // weights would be read more often
}

TEST_CASE("Every result has all taps that meet the operand, whatever the windows") {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Draw draw(seed);
    const Line l{draw.between(1, 30), draw.between(1, 6), draw.between(0, 40),
                 draw.between(1, 40), draw.between(1, 4), draw.between(1, 14)};
    int64_t next = 0;
    for (const TapRange& r : rangesOf(l)) {
      REQUIRE(r.first == next);
      REQUIRE((r.count > 0 && r.tapCount > 0 && r.firstTap >= 0 && r.firstTap + r.tapCount <= l.kernel));
      for (int64_t result = r.first; result < r.first + r.count; ++result)
        for (int64_t tap = 0; tap < l.kernel; ++tap)
          if (tap < r.firstTap || tap >= r.firstTap + r.tapCount) REQUIRE_FALSE(isInside(l, result, tap));
      next = r.first + r.count;
    }
    CHECK(next == l.count);
  }
}
