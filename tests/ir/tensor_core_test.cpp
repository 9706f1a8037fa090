// The table of tensor cores: layouts against the published formulas, and what is derived from them.
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <tuple>

#include "ir/graph.h"
#include "ir/local_memory.h"
#include "ir/tensor_core.h"

using namespace svod;

namespace {

using Coordinates = std::pair<int, int>;
using Layout = std::function<Coordinates(int lane, int e)>;

void checkFragment(const Fragment& fragment, const std::function<Coordinates(TilePlace)>& ofMatrix,
                   const Layout& expected) {
  for (int lane = 0; lane < fragment.threads(); ++lane)
    for (int e = 0; e < fragment.elements(); ++e) {
      CAPTURE(lane, e);
      CHECK(ofMatrix(placeOf(fragment, lane, e)) == expected(lane, e));
    }
}

struct Formulas {
  Layout a, b, c;  // (m, k), (k, n), (m, n); g is lane / 4, q is lane % 4
};

Formulas formulasOf(const TensorCore& core) {
  auto g = [](int t) { return t >> 2; };
  auto q = [](int t) { return t & 3; };
  const Layout c = [=](int t, int e) { return Coordinates(g(t) + 8 * (e >> 1), 2 * q(t) + (e & 1)); };
  if (core.family == GpuFamily::Metal) {
    const Layout all = [](int t, int e) {
      return Coordinates(4 * (t >> 4) + ((t >> 1) & 3), 4 * ((t >> 3) & 1) + 2 * (t & 1) + e);
    };
    return {all, all, all};
  }
  if (core.isOfWarpgroup())
    return {nullptr, nullptr, [=](int t, int e) {
              return Coordinates(16 * (t >> 5) + (g(t) & 7) + 8 * ((e >> 1) & 1), 8 * (e >> 2) + 2 * q(t) + (e & 1));
            }};
  if (core.k == 32)
    return {[=](int t, int e) { return Coordinates(g(t) + 8 * ((e >> 2) & 1), 4 * q(t) + (e & 3) + 16 * (e >> 3)); },
            [=](int t, int e) { return Coordinates(4 * q(t) + (e & 3) + 16 * (e >> 2), g(t)); }, c};
  if (core.k == 16)
    return {[=](int t, int e) { return Coordinates(g(t) + 8 * ((e >> 1) & 1), 2 * q(t) + (e & 1) + 8 * (e >> 2)); },
            [=](int t, int e) { return Coordinates(2 * q(t) + (e & 1) + 8 * (e >> 1), g(t)); }, c};
  if (core.in == DType::F32)
    return {[=](int t, int e) { return Coordinates(g(t) + 8 * (e & 1), q(t) + 4 * (e >> 1)); },
            [=](int t, int e) { return Coordinates(q(t) + 4 * e, g(t)); }, c};
  return {[=](int t, int e) { return Coordinates(g(t) + 8 * (e >> 1), 2 * q(t) + (e & 1)); },
          [=](int t, int e) { return Coordinates(2 * q(t) + (e & 1), g(t)); }, c};
}

}  // namespace

TEST_CASE("fragments of tensor cores are those that the instructions define") {
  for (const TensorCore& core : allTensorCores()) {
    INFO(core.name);
    const Formulas expected = formulasOf(core);
    if (!core.isOfWarpgroup()) {
      checkFragment(core.a, [](TilePlace p) { return Coordinates(p.m, p.k); }, expected.a);
      checkFragment(core.b, [](TilePlace p) { return Coordinates(p.k, p.n); }, expected.b);
    }
    checkFragment(core.c, [](TilePlace p) { return Coordinates(p.m, p.n); }, expected.c);
  }
}

TEST_CASE("the lanes of a warp, or of a warpgroup, hold every element of a tile once") {
  for (const TensorCore& core : allTensorCores()) {
    INFO(core.name);
    CHECK(core.threads() == (core.isOfWarpgroup() ? 128 : 32));
    std::vector<std::pair<const Fragment*, int>> matrices{{&core.c, core.m * core.n}};
    if (!core.isOfWarpgroup())
      matrices.insert(matrices.end(), {{&core.a, core.m * core.k}, {&core.b, core.k * core.n}});
    for (auto [fragment, size] : matrices) {
      std::set<std::tuple<int, int, int>> seen;
      for (int lane = 0; lane < fragment->threads(); ++lane)
        for (int e = 0; e < fragment->elements(); ++e) {
          const TilePlace p = placeOf(*fragment, lane, e);
          CHECK((p.m < core.m && p.n < core.n && p.k < core.k));
          CHECK(seen.insert({p.m, p.n, p.k}).second);
        }
      CHECK(seen.size() == static_cast<size_t>(size));
    }
  }
}

TEST_CASE("runs cover the bits of a fragment in order and cannot be joined") {
  for (const TensorCore& core : allTensorCores())
    for (const Fragment* fragment : {&core.a, &core.b, &core.c}) {
      INFO(core.name);
      int bit = 0;
      const std::vector<FragmentRun> runs = runsOf(*fragment);
      for (size_t r = 0; r < runs.size(); ++r) {
        CHECK(runs[r].first == (runs[r].ofLane ? bit : bit - fragment->laneBits));
        for (int i = 0; i < runs[r].count; ++i, ++bit)
          CHECK(fragment->bits[static_cast<size_t>(bit)] ==
                TileBit{runs[r].to.dim, static_cast<uint8_t>(runs[r].to.bit + i)});
        if (r == 0) continue;
        const FragmentRun& before = runs[r - 1];
        CHECK((before.ofLane != runs[r].ofLane || before.to.dim != runs[r].to.dim ||
               before.to.bit + before.count != runs[r].to.bit));
      }
      CHECK(bit == fragment->count());
    }
}

TEST_CASE("dtypes, terms and the walk through the result tell tensor cores apart") {
  std::set<std::string> seen;
  for (const TensorCore& core : allTensorCores()) {
    CHECK(findTensorCore(core.name) == &core);
    std::string key = std::string(toText(core.in)) + " " + std::string(toText(core.out)) + " " + std::to_string(core.k);
    for (const FragmentRun& run : runsOf(core.c))
      key += (run.ofLane ? " lane " : " element ") + std::to_string(run.extent());
    INFO(key);
    CHECK(seen.insert(key).second);
  }
  CHECK(findTensorCore("m16n8k16") == nullptr);
}

TEST_CASE("a generation of a family has what older ones have, and more") {
  auto names = [](GpuFamily family, int generation) {
    std::set<std::string_view> all;
    for (const TensorCore* core : tensorCoresOf(family, generation)) all.insert(core->name);
    return all;
  };
  using Names = std::set<std::string_view>;
  CHECK(names(GpuFamily::Cuda, 70).empty());
  CHECK(names(GpuFamily::Cuda, 75) == Names{"m16n8k8-f16-f32", "m16n8k8-f16-f16"});
  CHECK(names(GpuFamily::Cuda, 80) == Names{"m16n8k16-f16-f32", "m16n8k16-bf16-f32", "m16n8k16-f16-f16",
                                            "m16n8k8-f16-f32", "m16n8k8-f16-f16", "m16n8k8-tf32-f32"});
  CHECK(names(GpuFamily::Cuda, 89).size() == 8);
  CHECK(names(GpuFamily::Cuda, 90) == names(GpuFamily::Cuda, 89));
  for (const TensorCore* core : tensorCoresOf(GpuFamily::Cuda, 90, true))
    CHECK((core->isOfWarpgroup() || names(GpuFamily::Cuda, 90).contains(core->name)));
  CHECK(tensorCoresOf(GpuFamily::Cuda, 90, true).size() == 8 + 6);
  CHECK(tensorCoresOf(GpuFamily::Cuda, 100, true).size() == 8);
  CHECK(names(GpuFamily::Metal, 6).empty());
  CHECK(names(GpuFamily::Metal, 7).size() == 5);
}

TEST_CASE("factors of warpgroups start at whole periods of their swizzle, whatever lies in front by its slot") {
  Graph g;
  const auto local = [&](uint32_t slot, int64_t bytes) {
    UOp size = g.index(bytes / 2);
    return g.buffer(DType::BF16, {&size, 1}, {slot, Space::Local});
  };
  const std::vector<LocalPlace> places =
      placesOf({local(3, 8192), local(0, 100), local(1, 8192), local(2, 130), local(4, 16384)});
  std::vector<std::pair<uint32_t, int64_t>> found;  // slots with their offsets
  for (const auto& [buffer, offset] : places) found.emplace_back(buffer.argAs<SlotArg>().slot, offset);
  CHECK(found == std::vector<std::pair<uint32_t, int64_t>>{{1, 0}, {3, 8192}, {4, 16384}, {0, 32768}, {2, 32896}});
}
