// Ranges of results that need the same taps.
#include "frontend/lower/conv_taps.h"

#include <catch2/catch.hpp>
#include <set>

#include "common/model_text.h"
#include "common/random_graph.h"
#include "frontend/builder.h"
#include "interp/interp.h"

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

/// Small whole numbers: sums of products of them are exact in any order.
HostTensor wholeNumbers(const std::vector<int64_t>& dims, uint64_t seed) {
  Draw draw(seed);
  HostTensor t = HostTensor::zeros(DType::F32, dims);
  for (int64_t i = 0; i < t.numel(); ++i) t.set(i, Scalar::ofInt(DType::F32, draw.between(-3, 3)));
  return t;
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

TEST_CASE("Every tap is reached by exactly the results for which it meets the operand") {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    const Line l{draw.between(1, 30), draw.between(1, 6), draw.between(0, 40),
                 draw.between(1, 40), draw.between(1, 4), draw.between(1, 14)};
    GraphBuilder b;
    std::set<std::pair<int64_t, int64_t>> met;
    for (const TapRange& r : reachedTaps(axisOf(b, l))) {
      REQUIRE((r.count > 0 && r.tapCount == 1));
      for (int64_t result = r.first; result < r.first + r.count; ++result) met.insert({result, r.firstTap});
    }
    for (int64_t result = 0; result < l.count; ++result)
      for (int64_t tap = 0; tap < l.kernel; ++tap) REQUIRE(met.contains({result, tap}) == isInside(l, result, tap));
  }
}

TEST_CASE("A convolution that is summed tap by tap is that of the padded operand") {
  struct {
    std::string x, w, options, before, after;
    std::vector<int64_t> dims, weights;
  } const cases[] = {
      {"[1, 32, 9, 7]",
       "[3, 32, 3, 3]",
       "dilation=5, padding=5",
       "[0, 0, 5, 5]",
       "[0, 0, 5, 5]",
       {1, 32, 9, 7},
       {3, 32, 3, 3}},
      {"[2, 64, 8, 8]",
       "[4, 32, 3, 2]",
       "dilation=6, groups=2, padding=[7, 3, 6, 5]",
       "[0, 0, 7, 3]",
       "[0, 0, 6, 5]",
       {2, 64, 8, 8},
       {4, 32, 3, 2}},
      {"[1, 40, 11, 12]",
       "[2, 40, 3, 3]",
       "dilation=[1, 9], stride=2, padding=[1, 9]",
       "[0, 0, 1, 9]",
       "[0, 0, 1, 9]",
       {1, 40, 11, 12},
       {2, 40, 3, 3}},
      {"[1, 32, 9, 4]",
       "[2, 32, 3, 2]",
       "dilation=[5, 4], stride=[1, 50], padding=[5, 10, 5, 0]",
       "[0, 0, 5, 10]",
       "[0, 0, 5, 0]",
       {1, 32, 9, 4},
       {2, 32, 3, 2}},
      {"[1, 32, 4, 4]",
       "[2, 32, 3, 3]",
       "dilation=8, padding=8",
       "[0, 0, 8, 8]",
       "[0, 0, 8, 8]",
       {1, 32, 4, 4},
       {2, 32, 3, 3}},
  };
  for (const auto& one : cases) {
    INFO(one.options);
    const std::string plain = one.options.substr(0, one.options.find(", padding"));
    const Model model = modelOf("input x: f32" + one.x + "\ninput w: f32" + one.w + "\noutput y = conv2d(x, w, " +
                                one.options + ")\nwide = pad(x, before=" + one.before + ", after=" + one.after +
                                ")\noutput z = conv2d(wide, w, " + plain + ")");
    ModelBindings bindings;
    bindings.ports = {wholeNumbers(one.dims, 1), wholeNumbers(one.weights, 2)};
    const auto results = interpret(model, bindings);
    if (!results) FAIL(toText(results.error()));
    CHECK(sameValues((*results)[2], (*results)[3], true));
  }
}
