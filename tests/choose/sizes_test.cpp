// What is chosen for kernels of free sizes: opts for the likely run, legal for all of them.
#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "choose/size_cases.h"
#include "choose/size_points.h"
#include "choose/sized_choice.h"
#include "choose/sized_time.h"
#include "common/model_text.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "machine/cpu.h"
#include "opts/machines.h"
#include "opts/replay.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

/// A graph of one kernel, as it is scheduled.
struct OneKernel {
  explicit OneKernel(const std::string& text) : model(modelOf(text)), schedule(makeSchedule(model, {})) {
    REQUIRE(schedule);
    REQUIRE(schedule->kernels.size() == 1);
  }
  const Kernel& operator*() const { return schedule->kernels[0]; }

  Model model;
  Result<Schedule> schedule;
};

/// x [m, 768] times w [768, 768].
std::string rowsTimesMatrix(const std::string& rows) {
  return "var m in " + rows + "\ninput x: f32[m, 768]\ninput w: f32[768, 768]\noutput y = matmul(x, w)\n";
}

/// What is chosen for the only kernel of the graph.
std::string chosen(const std::string& text, const Caps& caps) {
  const OneKernel one(text);
  const Kernel& kernel = *one;
  const Choice choice = choose(*kernel.graph, kernel.sink, caps);
  INFO(toText(optsOf(choice)));
  const Result<UOp> tuned = applyOpts(*kernel.graph, kernel.sink, optsOf(choice), caps);
  REQUIRE(tuned);
  REQUIRE(verify(*tuned, Stage::Kernel));
  return toText(optsOf(choice)) + "; " + choice.why;
}

std::string product(const std::string& batch, const std::string& rows) {
  return "var b in " + batch + "\nvar s in " + rows +
         "\ninput x: f32[b, s, 256]\ninput w: f32[256, 512]\noutput y = matmul(x, w)\n";
}

Caps withWeights() {
  Caps caps = avx512();
  caps.constants = {2};
  return caps;
}

}  // namespace

TEST_CASE("The points of a kernel are its likely sizes, the least ones and larger ones") {
  Graph g;
  const UOp n = g.variable("n", {1, 512}, 20), m = g.variable("m", {3, 3}, 3);
  const UOp loops = g.range(g.alu(Op::Add, {n, m}), 0, AxisType::Loop);
  const SizePoints points(loops);
  REQUIRE(points.all().size() == 3);
  CHECK(points.toText(points.all()[0]) == "n = 20");
  CHECK(points.toText(points.all()[1]) == "n = 1");
  CHECK(points.toText(points.all()[2]) == "n = 160");
  CHECK(&points.larger() == &points.all()[2]);
  const SizePoints few(g.range(g.variable("few", 1, 9), 0, AxisType::Loop));
  REQUIRE(few.all().size() == 2);
  CHECK(few.toText(few.larger()) == "few = 9");
  CHECK(few.weight() == 4);
  CHECK(points.at(g, loops, points.all()[2].sizes).src(0).bounds().max == 163);
  CHECK(points.upTo(g, loops, points.all()[0]).src(0).bounds() == Interval{4, 23});
  CHECK(SizePoints(g.range(g.index(5), 0, AxisType::Loop)).all().empty());
}

TEST_CASE("Sizes at which a kernel stores nothing are no points") {
  const auto pointsOf = [](Graph& g, int64_t likely) {
    const UOp n = g.variable("n", {1, 512}, likely);
    const UOp range = g.range(g.alu(Op::Floordiv, {g.alu(Op::Add, {n, g.index(3)}), g.index(8)}), 0, AxisType::Loop);
    const UOp nothing = g.make(Op::Group, DType::Void, std::span<const UOp>{});
    return SizePoints(g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {nothing, range})}));
  };
  Graph g;
  const SizePoints points = pointsOf(g, 20);
  REQUIRE(points.all().size() == 2);
  CHECK(points.toText(points.larger()) == "n = 160");
  const SizePoints small = pointsOf(g, 1);
  REQUIRE(small.all().size() == 1);
  CHECK(small.toText(small.larger()) == "n = 8");
}

TEST_CASE("No tile and no lanes lie on a batch that is mostly 1") {
  Caps caps = avx512();
  caps.threads = false;
  const auto products = [&](const std::string& batch, const std::string& rows) {
    return chosen("var b in " + batch + "\nvar s in " + rows +
                      "\ninput x: f32[b, s, 256]\ninput w: f32[b, 256, 512]\noutput y = matmul(x, w)\n",
                  caps);
  };
  const std::string one = products("[1, 512] ~ 1", "[1, 512]");
  INFO(one);
  CHECK_THAT(one, !Catch::Contains("(n0,"));
  CHECK_THAT(one, Catch::Contains("upcast(n1,") && Catch::Contains("; for b = "));
}

TEST_CASE("Rows that lie behind each other are one loop, whichever of their sizes are likely to be 1") {
  for (const auto& [batch, rows] : {std::pair("[1, 512] ~ 1", "[1, 512]"), std::pair("[1, 512] ~ 256", "[1, 4] ~ 1")}) {
    const std::string opts = chosen(product(batch, rows), avx512());
    INFO(opts);
    CHECK_THAT(opts, Catch::StartsWith("merge(n0,n1)") && Catch::Contains("upcast(n0+n1,"));
  }
  const std::string stream =
      chosen("var b in [1, 512] ~ 1\ninput x: f32[b, 256]\noutput y = relu(x)\n", avx512());  // its rows are steps
  INFO(stream);
  CHECK_THAT(stream, !Catch::Contains("merge("));
}

TEST_CASE("Lanes of a convolution over lines shorter than a vector lie along filters, where weights are constant") {
  const auto convolution = [](const std::string& length) {
    Caps caps = avx512();
    caps.constants = {2};
    return chosen("var n in " + length + "\ninput x: f32[1, 96, n]\ninput w: f32[128, 96, 3]\n" +
                      "output y = conv1d(x, w, padding=1)\n",
                  caps);
  };
  const std::string few = convolution("[3, 4]"), many = convolution("[64, 512] ~ 64");
  INFO(few << " " << many);
  CHECK_THAT(few, Catch::Contains("vector(n0,16)") && !Catch::Contains("vector(n1"));
  CHECK_THAT(many, Catch::Contains("vector(n1"));
}

TEST_CASE("Lanes of a product with weights lie along filters where lines of results would leave some idle") {
  const auto convolution = [](const std::string& side) {
    Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
    caps.constants = {2};
    return chosen("input x: f32[1, 512, " + side + ", " + side + "]\ninput w: f32[1024, 512, 1, 1]\n" +
                      "output y = conv2d(x, w)\n",
                  caps);
  };
  const std::string idle = convolution("14"), full = convolution("28");
  INFO(idle << " " << full);
  CHECK(idle.find("vector(n0") != std::string::npos);
  CHECK(full.find("vector(n1+n2") != std::string::npos);
}

TEST_CASE("Lanes of bytes do not lie along filters where the groups of the other operand would lie apart") {
  Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
  caps.constants = {2}, caps.threads = false;
  for (const auto& [filters, channels, side] :
       {std::tuple{"672", "112", "14"}, {"160", "672", "7"}, {"112", "480", "14"}}) {
    const std::string lines = std::string(side) + ", " + side, taps = std::string(channels) + ", 1, 1";
    const std::string opts =
        chosen("input x: u8[1, " + std::string(channels) + ", " + lines + "]\ninput w: i8[" + filters + ", " + taps +
                   "]\noutput y = conv2d(cast(x, dtype=i32), cast(w, dtype=i32))\n",
               caps);
    CHECK_THAT(opts, Catch::Contains("dot(k0,4) ") && Catch::Contains(" pack(1,k0,"));
  }
}

TEST_CASE("Few terms are written out where each lane is a load of its own") {
  const std::string sum = "conv2d(cast(x, dtype=i32), cast(w, dtype=i32), padding=1, stride=2)";
  const std::string list = chosen(
      "var n in [1, 300] ~ 64\nvar m in [1, 300] ~ 64\ninput x: u8[1, 3, n, m]\n"
      "input w: u8[6, 3, 3, 3]\noutput y = reshape(" +
          sum + ", shape=[6 * ((n + 1) // 2) * ((m + 1) // 2)])\n",
      avx512());
  CHECK_THAT(list, Catch::Contains("vector(n0,16)") && !Catch::Contains("unroll(k1") && !Catch::Contains("unroll(k0"));
}

TEST_CASE("Sums whose steps fill a tile unit in part take it where there are several, and no row is computed twice") {
  Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
  caps.constants = {2}, caps.threads = false;
  const auto isInTiles = [&](int64_t filters, int64_t channels) {
    const std::string terms = std::to_string(channels);
    return chosen("input x: u8[1, " + terms + ", 14, 14]\ninput w: i8[" + std::to_string(filters) + ", " + terms +
                      ", 1, 1]\noutput y = conv2d(cast(x, dtype=i32), cast(w, dtype=i32))\n",
                  caps)
               .find("tc(1,") != std::string::npos;
  };
  CHECK(isInTiles(672, 112));
  CHECK(isInTiles(960, 160));
  CHECK(isInTiles(40, 64));
  CHECK_FALSE(isInTiles(40, 120));
  CHECK_FALSE(isInTiles(240, 40));
  CHECK_FALSE(isInTiles(112, 184));
}

TEST_CASE("A product has its lanes along the other loop where that takes less time over all sizes") {
  const OneKernel one(rowsTimesMatrix("[1, 4096] ~ 64"));
  const Kernel& kernel = *one;
  const auto listed = [](std::string_view text, std::string why) {
    Choice choice;
    const std::vector<OptOp> list = parseOpts(text).value();
    for (const OptOp& opt : list) choice.opts.push_back({opt, "as the test wants"});
    choice.why = std::move(why);
    return choice;
  };
  const auto chosenOf = [&](const char* first, const char* other) {
    const auto own = [&](UOp, const LoopNames&, const Caps&) { return listed(first, "first"); };
    const auto others = [&](UOp, const LoopNames&, const Caps&) { return std::optional(listed(other, "other")); };
    return chooseForPoints(*kernel.graph, kernel.sink, SizePoints(kernel.sink, withWeights()), avx512(), own, others)
        ->why;
  };
  const char *alongRows = "upcast(n1,8) vector(n0,16)", *alongColumns = "upcast(n0,6) vector(n1,16) upcast(n1,4)";
  CHECK_THAT(chosenOf(alongRows, alongColumns), Catch::StartsWith("other"));
  CHECK_THAT(chosenOf(alongColumns, alongRows), Catch::StartsWith("first"));
}

TEST_CASE("Short lines of a larger matrix are copied for a product") {
  const auto product = [](const std::string& read) {
    Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
    caps.constants = {2}, caps.threads = false;
    return chosen("input x: f32[1, 2048, 28, 28]\ninput w: f32[256, 2048, 1, 1]\noutput y = conv2d(" + read + ", w)\n",
                  caps);
  };
  const std::string lines = product("x[:, :, 12:28, 12:28]");
  INFO(lines);
  CHECK(lines.find("pack(1,k0,n1") != std::string::npos);
  CHECK(lines.find("merge(n1") != std::string::npos);
}

TEST_CASE("A panel is packed where the distance of its rows is a size of the run") {
  const std::string list = chosen(
      "var h in [1, 512] ~ 40\nvar w in [1, 512] ~ 40\ninput x: f32[256, h, w]\ninput f: f32[240, 256]\n"
      "output y = matmul(f, reshape(x, shape=[256, h * w]))\n",
      avx512());
  CHECK_THAT(list, Catch::Contains("pack("));
}

TEST_CASE("A picture is priced at another size too, for which nothing is chosen") {
  Graph g;
  const UOp w = g.variable("w", {1, 800}, 224);
  const SizePoints points(g.range(w, 0, AxisType::Loop));
  REQUIRE(points.all().size() == 4);
  CHECK(points.toText(points.all()[1]) == "w = 56");
  CHECK(points.toText(points.all()[2]) == "w = 320");
  CHECK(points.all()[2].isPricedOnly);
  CHECK(points.toText(points.larger()) == "w = 800");
  const SizePoint &likely = points.all()[0], &larger = points.larger();
  CHECK(points.between(larger, likely, 0.5) == std::vector<int64_t>{423});
  const std::vector<int64_t> from{423}, to{90}, all{1};
  CHECK(points.limits(larger, likely, from) == std::vector<SizeLimits>{{"w", 423, 800, 800}});
  CHECK(points.limits(points.all()[1], likely, to) == std::vector<SizeLimits>{{"w", 1, 90, 56}});
  CHECK(points.limits(larger, likely, all).empty());
}

TEST_CASE("Windows of one channel are chosen for the other size of a picture, too") {
  const auto isChosenFor320 = [](const std::string& operands, const std::string& result) {
    const OneKernel one("var h in [1, 800] ~ 224\nvar w in [1, 800] ~ 224\n" + operands + "\noutput y = " + result +
                        "\n");
    const SizePoints points((*one).sink);
    REQUIRE(points.toText(points.all()[2]) == "h = 320, w = 320");
    return !points.all()[2].isPricedOnly;
  };
  const std::string picture = "input x: f32[1, 32, h, w]\n";
  CHECK(isChosenFor320(picture + "input f: f32[32, 1, 5, 5]", "conv2d(x, f, padding=2, groups=32)"));
  CHECK(isChosenFor320(picture, "max_pool(x, kernel=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1])"));
  CHECK(!isChosenFor320(picture + "input f: f32[32, 32, 3, 3]", "conv2d(x, f, padding=1)"));
  CHECK(!isChosenFor320(picture, "relu(x)"));
}

TEST_CASE("A kernel that is slow at some sizes has another one there") {
  const OneKernel one(product("[1, 512] ~ 1", "[1, 512]"));
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink);
  REQUIRE(points.all().size() == 3);  // b = 1, s = 64; b = 1, s = 1; b = 8, s = 512
  std::vector<SizedChoice> choices(2);
  for (SizedChoice& choice : choices) choice.sink = kernel.sink;
  const auto casesWith = [&](const std::vector<double>& own, const std::vector<double>& other) {
    choices[0].times = own, choices[1].times = other;
    return casesBeside(*kernel.graph, points, choices, choices[0], avx512());
  };
  const std::vector<SizeCase> few = casesWith({1e6, 1e5, 1e7}, {2e6, 2e4, 1.5e7});
  REQUIRE(few.size() == 1);
  CHECK(few[0].sizes == std::vector<SizeLimits>{{"s", 1, 1, 1}});
  CHECK(few[0].nanoseconds == 80'000);
  const std::vector<SizeCase> many = casesWith({1e6, 1e5, 1e7}, {2e6, 1e5, 2e6});
  REQUIRE(many.size() == 1);
  CHECK(many[0].sizes == std::vector<SizeLimits>{{"b", 8, 512, 8}, {"s", 512, 512, 512}});
  CHECK(casesWith({1e6, 1e5, 1e7}, {1e6, 9e4, 9e6}).empty());      // hardly faster
  CHECK(casesWith({1e3, 9e2, 1e4}, {1e3, 1e2, 1e4}).empty());      // nothing to save
  CHECK(casesWith({1e6, 1e5, 1e7}, {2e6, 1e4, 1e6}).size() == 2);  // on both sides
}

TEST_CASE("A case that would hold for every size is none") {
  const OneKernel one(product("[1, 1]", "[1, 2] ~ 1"));
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink);
  REQUIRE(points.all().size() == 2);
  const Caps caps = avx512();
  const Result<UOp> tuned =
      applyOpts(*kernel.graph, kernel.sink, optsOf(choose(*kernel.graph, kernel.sink, caps)), caps);
  REQUIRE(tuned);
  std::vector<SizedChoice> choices(2);
  choices[0].sink = kernel.sink, choices[0].times = {1e6, 1e7};
  choices[1].sink = *tuned, choices[1].times = {2e6, 1e6}, choices[1].point = 1;
  const std::vector<int64_t> own = points.all()[0].sizes;
  REQUIRE(timeAt(*kernel.graph, *tuned, points, own, caps) < timeAt(*kernel.graph, kernel.sink, points, own, caps));
  CHECK(casesBeside(*kernel.graph, points, choices, choices[0], caps).empty());
}

TEST_CASE("A product of a free number of rows has points of few rows, and a kernel for them") {
  const OneKernel one(rowsTimesMatrix("[1, 4096] ~ 1"));
  const Kernel& kernel = *one;
  Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "znver3").value(), Numerics::Contract);
  caps.constants = {2};
  const SizePoints points(kernel.sink, caps);
  std::vector<std::string> texts;
  for (const SizePoint& point : points.all()) texts.push_back(points.toText(point));
  REQUIRE(texts.back() == "m = 3");
  CHECK(points.all().back().isForCase);
  CHECK(texts[texts.size() - 2] == "m = 18");
  CHECK(std::ranges::count(points.all(), false, &SizePoint::isForCase) == 2);  // 18 rows and the larger run

  const Choice choice = choose(*kernel.graph, kernel.sink, caps);
  const std::string opts = toText(optsOf(choice));
  CHECK_THAT(opts, Catch::Contains("upcast(n0,6)"));
  REQUIRE(choice.cases.size() == 1);
  CHECK(choice.cases[0].sizes == std::vector<SizeLimits>{{"m", 1, 3, 3}});
}

TEST_CASE("No panel is copied where a run may have few rows, for which that takes longer than the product") {
  Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
  CHECK_THAT(chosen("input x: f32[512, 768]\ninput w: f32[768, 768]\noutput y = matmul(x, w)\n", caps),
             Catch::Contains("pack("));
  const std::string opts = chosen(rowsTimesMatrix("[1, 4096] ~ 1"), caps);
  INFO(opts);
  CHECK_THAT(opts, !Catch::Contains("pack("));
}

TEST_CASE("A matrix that a run gives is read where it lies until there are rows enough to copy it") {
  const OneKernel one(
      "var m in [1, 4096] ~ 1\ninput x: f32[m, 768]\ninput w: f32[768, 3072]\noutput y = matmul(x, w)\n");
  const Kernel& kernel = *one;
  const Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
  const Choice choice = choose(*kernel.graph, kernel.sink, caps);
  // Two rows are few as well, and one row has no kernel that two would do without.
  CHECK_THAT(toText(optsOf(choice)), !Catch::Contains("pack(") && Catch::Contains("prefetch(2,k0,24576)"));
  REQUIRE(choice.cases.size() == 1);
  const SizeLimits many = choice.cases[0].sizes[0];
  CHECK((many.min > 16 && many.min <= 48 && many.max == 4096));
  const UOp rows = kernel.graph->variable("m", {many.min, many.max}, many.likely);
  const std::vector<UOp> nodes = toposort(kernel.sink);
  const UOp m = *std::ranges::find(nodes, Op::Var, &UOp::op);
  const std::string opts =
      toText(optsOf(choose(*kernel.graph, substitute(*kernel.graph, kernel.sink, {&m, 1}, {&rows, 1}), caps)));
  CHECK_THAT(opts, Catch::Contains("pack("));
}

TEST_CASE("What is chosen for few rows of a product is no case of many rows") {
  const OneKernel one(rowsTimesMatrix("[1, 4096] ~ 64"));
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink, withWeights());
  REQUIRE(points.all().size() == 5);  // m = 64, 1, 512, 18 and 3
  std::vector<SizedChoice> choices(2);
  for (SizedChoice& choice : choices) choice.sink = kernel.sink;
  choices[0].times = {1e6, 1e5, 1e7, 3e5, 2e5}, choices[1].times = {2e6, 2e4, 2e6, 6e5, 5e4};
  const auto sizes = [&] {
    std::vector<std::vector<SizeLimits>> found;
    for (const SizeCase& c : casesBeside(*kernel.graph, points, choices, choices[0], avx512()))
      found.push_back(c.sizes);
    return found;
  };
  REQUIRE(sizes().size() == 2);
  choices[1].point = 4;
  REQUIRE(points.all()[4].isForCase);
  CHECK(sizes() == std::vector<std::vector<SizeLimits>>{{{"m", 1, 3, 3}}});
}

TEST_CASE("A small product of rows that are likely to be few is chosen for these: it may have no case") {
  const auto madeFor = [](const std::string& columns) {
    const OneKernel one("var m in [1, 512] ~ 1\ninput x: f32[m, 200]\ninput w: f32[" + columns +
                        ", 200]\noutput y = matmul(x, transpose(w))\n");
    const Kernel& kernel = *one;
    const auto lists = [](UOp sink, const LoopNames&, const Caps&) {
      int64_t rows = 1;
      for (UOp n : toposort(sink))
        if (n.op() == Op::Var) rows = n.bounds().max;
      Choice choice;
      const std::vector<OptOp> list =
          parseOpts(rows <= 3 ? "upcast(n1,10) vector(k0,16)" : "upcast(n1,5) vector(n0,16)").value();
      for (const OptOp& opt : list) choice.opts.push_back({opt, "as the test wants"});
      return choice;
    };
    return chooseForPoints(*kernel.graph, kernel.sink, SizePoints(kernel.sink, withWeights()), avx512(), lists)->why;
  };
  CHECK(madeFor("50") == "for m = 3");
  CHECK(madeFor("20000") == "for m = 48");  // its case saves enough
}

TEST_CASE("A list that is chosen for few rows and for many is one for many") {
  const OneKernel one(rowsTimesMatrix("[1, 4096] ~ 1"));
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink, withWeights());
  REQUIRE(points.all()[0].isForCase);
  const auto none = [](UOp, const LoopNames&, const Caps&) { return Choice{}; };
  const std::optional<Choice> choice = chooseForPoints(*kernel.graph, kernel.sink, points, avx512(), none);
  REQUIRE(choice);
  CHECK(choice->why == "for " + points.toText(points.larger()));
}

TEST_CASE("A product of a free number of rows keeps lanes where one of a fixed number takes tiles") {
  Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value(), Numerics::Contract);
  caps.threads = false;
  const std::string rest = "input w: i8[256, 512]\noutput y = matmul(cast(x, dtype=i32), cast(w, dtype=i32))\n";
  CHECK_THAT(chosen("input x: u8[64, 256]\n" + rest, caps), Catch::Contains("tc(1,"));
  const auto ofRows = [&](const std::string& rows) { return chosen(rows + "\ninput x: u8[m, 256]\n" + rest, caps); };
  const std::string many = ofRows("var m in [1, 512] ~ 64");
  CHECK_THAT(many, Catch::Contains("dot(k0,4)") && Catch::Contains("vector(n1") && !Catch::Contains("tc("));
  CHECK_THAT(many, Catch::Contains("; for m = "));
  // Where one row is likely it copies nothing, not even into groups of a dot product: a case for many rows does.
  CHECK_THAT(ofRows("var m in [1, 512] ~ 1"), Catch::Contains("vector(n1") && !Catch::Contains("pack("));
}

TEST_CASE("Whole tiles of rows and what is left behind them are priced apart") {
  const OneKernel one("var m in [1, 4096] ~ 1\ninput x: f32[m, 64]\ninput w: f32[64, 96]\noutput y = matmul(x, w)\n");
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink);
  const Caps caps = avx512();
  const Result<std::vector<OptOp>> opts = parseOpts("upcast(0,6) vector(1,16) upcast(1,2)");
  REQUIRE(opts);
  const Result<UOp> tiled = applyOpts(*kernel.graph, kernel.sink, *opts, caps);
  REQUIRE(tiled);
  const auto at = [&](int64_t rows) { return timeAt(*kernel.graph, *tiled, points, {{rows}}, caps); };
  CHECK(at(8) == Approx(at(6) + at(2)).epsilon(0.001));
  CHECK(at(1) < at(6));
  CHECK(at(7) < at(12));
}

TEST_CASE("A single row behind whole tiles is priced without the prefetches that it does not have") {
  const OneKernel one(
      "var m in [1, 4096] ~ 1\ninput x: f32[m, 2048]\ninput w: f32[2048, 2048]\noutput y = matmul(x, w)\n");
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink);
  const auto at = [&](int64_t rows, const std::string& prefetch) {
    const std::string opts = "tile(1,32) order(1,0) upcast(n0,8) vector(n1.i,16) upcast(n1.i,2) " + prefetch;
    const Result<UOp> tiled = applyOpts(*kernel.graph, kernel.sink, parseOpts(opts).value(), avx512());
    REQUIRE(tiled);
    return timeAt(*kernel.graph, *tiled, points, {{rows}}, avx512());
  };
  CHECK(at(1, "prefetch(2,k0,16384)") == Approx(at(1, "")));
  CHECK(at(2, "prefetch(2,k0,16384)") < 0.8 * at(2, ""));
}

TEST_CASE("A copy that whole tiles share with what is left behind them is priced once") {
  const OneKernel one(rowsTimesMatrix("[1, 4096] ~ 1"));
  const Kernel& kernel = *one;
  const SizePoints points(kernel.sink);
  const Result<UOp> tiled =
      applyOpts(*kernel.graph, kernel.sink,
                parseOpts("tile(1,32) order(1,0) pack(2,2,3) vector(p2.n1.i,16) upcast(p2.n1.i,2) "
                          "upcast(n0,6) vector(n1.i,16) upcast(n1.i,2)")
                    .value(),
                avx512());
  REQUIRE(tiled);
  const auto at = [&](int64_t rows) { return timeAt(*kernel.graph, *tiled, points, {{rows}}, avx512()); };
  CHECK(at(13) < at(12) + at(1) / 2);
  CHECK(at(13) < at(18));
}

TEST_CASE("A large run has tiles for threads, also where the likely sizes are the greatest") {
  Caps caps = avx512();
  caps.workers = 8;
  for (const char* rows : {"[1, 64]", "[1, 4096] ~ 4096"}) {
    const std::string opts = chosen(product("[1, 8] ~ 8", rows), caps);
    INFO(opts);
    CHECK_THAT(opts, Catch::Contains("thread("));
  }
}

TEST_CASE("A kernel of fixed sizes is chosen as before") {
  Caps caps = avx512();
  const std::string fixed = chosen("input x: f32[64, 256]\ninput w: f32[256, 512]\noutput y = matmul(x, w)\n", caps);
  CHECK_THAT(fixed, !Catch::Contains(" = 64"));
}
