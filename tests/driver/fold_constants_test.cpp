#include "driver/fold_constants.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "common/graphs.h"
#include "common/random_graph.h"

using namespace svod;

namespace {

constexpr FoldLimits kEverything{int64_t{1} << 40, int64_t{1} << 40};

void setWeight(ModelPort& port, const HostTensor& value) {
  auto bytes = std::make_shared<const std::vector<std::byte>>(value.toMemory());
  port.kind = PortKind::Weight;
  port.data = {bytes->data(), bytes->size(), bytes};
}

/// A weight of ones.
UOp weight(GraphMaker& m, const char* name, const GraphMaker::Dims& shape, DType dtype = DType::F32) {
  UOp w = m.port(PortKind::Weight, name, dtype, shape);
  HostTensor ones = HostTensor::zeros(dtype, shape);
  for (int64_t i = 0; i < ones.numel(); ++i) ones.set(i, Scalar::of(dtype, 1));
  setWeight(m.model.ports.back(), ones);
  return w;
}

/// int8 weights times a scale per column, as a factor of `rows` rows.
void dequantizedProduct(GraphMaker& m, int64_t rows, int64_t n, int64_t k, DType dtype = DType::I8) {
  UOp w = weight(m, "w", {k, n}, dtype), s = weight(m, "s", {n});
  UOp factor = m.g.alu(Op::Mul, {m.g.cast(w, DType::F32), m.expand(m.reshape(s, {1, n}), {k, n})});
  m.output("y", m.matmul(m.input("x", {rows, k}), factor, rows, n, k));
}

size_t foldedBy(Model& model, const FoldLimits& limits) {
  const size_t before = model.ports.size();
  REQUIRE(foldConstants(model, limits).has_value());
  return model.ports.size() - before;
}

std::vector<Op> opsOf(UOp sink) {
  std::vector<Op> ops;
  for (UOp n : toposort(sink)) ops.push_back(n.op());
  return ops;
}

}  // namespace

TEST_CASE("Folding changes no bit of any result") {
  size_t folded = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomOptions options;
    options.loops = seed % 3 == 0, options.transcendentals = seed % 2 == 0;
    Model model = randomModel(seed, options);
    ModelBindings bindings = randomBindings(model, seed, options);
    Draw draw(seed);
    for (size_t i = 0; i < model.ports.size(); ++i) {
      ModelPort& port = model.ports[i];
      if (port.kind != PortKind::Input || port.buffer.hasSymbolicShape() || !draw.chance(80)) continue;
      setWeight(port, bindings.ports[i]);
      bindings.ports[i] = {};
    }
    auto wanted = interpret(model, bindings);
    if (!wanted) continue;
    const size_t ports = model.ports.size();
    auto sink = foldConstants(model, kEverything);
    REQUIRE(sink);
    folded += model.ports.size() - ports;
    model.sink = *sink;
    auto got = interpret(model, bindings);
    REQUIRE(got);
    for (size_t i = 0; i < ports; ++i) {
      INFO("seed " << seed << ", port " << model.ports[i].name);
      REQUIRE(sameValues((*wanted)[i], (*got)[i]));
    }
  }
  CHECK(folded > 300);
}

TEST_CASE("A table of sines is folded, positions and masks are left to the kernels") {
  GraphMaker m;
  UOp positions = m.g.make(Op::Iota, DType::I32, {m.g.index(64)});
  UOp at = m.g.alu(Op::Mul, {m.g.cast(positions, DType::F32), m.f32(0.25)}), x = m.input("x", {64});
  m.output("s", m.g.alu(Op::Mul, {x, m.g.alu(Op::Sin, {at})}));
  m.output("p", m.g.alu(Op::Mul, {x, at}));
  auto sink = foldConstants(m.model, kEverything);
  REQUIRE(sink);
  CHECK(std::ranges::count(opsOf(*sink), Op::Sin) == 0);
  CHECK(std::ranges::count(opsOf(*sink), Op::Iota) == 1);
  CHECK(std::ranges::count(opsOf(m.model.sink), Op::Sin) == 1);  // the model means what it did
}

TEST_CASE("One number becomes a constant") {
  GraphMaker m;
  UOp half = m.expand(m.reshape(m.f32(0.5), {1}), {8});
  m.output("y", m.g.alu(Op::Add, {m.input("x", {8}), m.g.alu(Op::Exp, {half})}));
  auto sink = foldConstants(m.model, kEverything);
  REQUIRE(sink);
  CHECK(std::ranges::count(opsOf(*sink), Op::Exp) == 0);
  CHECK(m.model.ports.size() == 2);
}

TEST_CASE("Views of weights and weights in a wider float stay what they are") {
  GraphMaker m;
  UOp w = weight(m, "w", {32, 16}, DType::F16);
  m.output("y", m.matmul(m.input("x", {8, 16}), m.g.cast(m.permute(w, {1, 0}), DType::F32), 8, 32, 16));
  CHECK(foldedBy(m.model, kEverything) == 0);
}

TEST_CASE("Weights of bytes stay bytes for dot products, with and without a zero point") {
  GraphMaker m;
  UOp w = m.g.cast(weight(m, "w", {16, 32}, DType::I8), DType::I32), zero = weight(m, "zero", {32}, DType::I8);
  UOp distance = m.g.alu(Op::Sub, {w, m.expand(m.reshape(m.g.cast(zero, DType::I32), {1, 32}), {16, 32})});
  UOp x = m.g.cast(m.input("x", {8, 16}, DType::U8), DType::I32);
  m.output("plain", m.matmul(x, w, 8, 32, 16));
  m.output("less", m.matmul(x, distance, 8, 32, 16));
  CHECK(foldedBy(m.model, kEverything) == 0);
}

TEST_CASE("A padded weight is a weight of its own, of the same bytes") {
  GraphMaker m;
  UOp w = weight(m, "w", {32, 3}, DType::I8);
  const UOp none[] = {m.g.index(0), m.g.index(0)}, after[] = {m.g.index(0), m.g.index(1)};
  UOp padded = m.g.pad(w, m.g.constant(Scalar::ofInt(DType::I8, 0)), none, after);
  UOp x = m.g.cast(m.input("x", {8, 4}, DType::U8), DType::I32);
  m.output("y", m.matmul(x, m.permute(m.g.cast(padded, DType::I32), {1, 0}), 8, 32, 4));
  CHECK(foldedBy(m.model, kEverything) == 1);
  CHECK(m.model.ports.back().data.bytes == 32 * 4);
}

TEST_CASE("Large weights grow only where many rows read them") {
  const int64_t n = 1024, k = 512;
  for (int64_t rows : {1, 7, 8, 64}) {
    GraphMaker m;
    dequantizedProduct(m, rows, n, k);
    CHECK(foldedBy(m.model, kEverything) == (rows >= 8 ? 1 : 0));
  }
  GraphMaker small, packed;
  dequantizedProduct(small, 1, 256, 256);
  CHECK(foldedBy(small.model, kEverything) == 1);
  dequantizedProduct(packed, 64, n, k, DType::I4);
  CHECK(foldedBy(packed.model, kEverything) == 0);
}

TEST_CASE("Folded values keep within the limits, the smallest growth first") {
  GraphMaker m;
  for (auto [name, size] : {std::pair{"a", 4000}, {"b", 1000}, {"c", 2000}}) {
    UOp w = weight(m, name, {size});
    UOp sines = m.g.alu(Op::Sin, {m.g.cast(m.g.make(Op::Iota, DType::I32, {m.g.index(size)}), DType::F32)});
    m.output((std::string(name) + "1").c_str(), sines);                     // grows by 4 * size
    m.output((std::string(name) + "2").c_str(), m.g.alu(Op::Mul, {w, w}));  // takes the place of w
    m.output((std::string(name) + "3").c_str(), m.g.alu(Op::Mul, {m.input("x", {size}), sines}));
  }
  auto folded = [&](FoldLimits limits) {
    Model& model = m.model;
    const size_t before = model.ports.size();
    REQUIRE(foldConstants(model, limits).has_value());
    std::vector<int64_t> sizes;
    for (size_t i = before; i < model.ports.size(); ++i) sizes.push_back(model.ports[i].buffer.maxNumel());
    return sizes;
  };
  CHECK(folded({0, 1 << 30}).empty());
  CHECK(folded({1, 1 << 30}) == std::vector<int64_t>{4000, 1000, 2000});
  CHECK(folded({12000, 1 << 30}) == std::vector<int64_t>{4000, 1000, 2000, 1000, 2000});
  CHECK(folded({1 << 30, 1 << 30}) == std::vector<int64_t>{4000, 1000, 2000, 1000, 2000, 4000});
  CHECK(folded({1 << 30, 3000}) == std::vector<int64_t>{1000, 2000});
}

TEST_CASE("Parts of a weight for devices count as far as they are more than the weight, and go together") {
  const auto sizes = [](std::initializer_list<std::pair<int64_t, int64_t>> parts, bool isReadWhole, FoldLimits limits) {
    GraphMaker m;
    UOp w = weight(m, "w", {100});
    int device = 0;
    for (auto [begin, size] : parts) {
      const std::string name = "d" + std::to_string(device++);
      UOp part = m.g.shrink(w, std::vector{m.g.index(begin)}, std::vector{m.g.index(size)});
      m.output(name.c_str(), m.g.make(Op::Copy, DType::F32, {part}, NameArg{name}));
    }
    if (isReadWhole) m.output("y", m.g.alu(Op::Mul, {w, m.input("x", {100})}));
    return foldedBy(m.model, limits);
  };
  const FoldLimits least{1, 1 << 30};
  CHECK(sizes({{0, 50}, {50, 50}}, false, least) == 2);  // in the place of the weight
  CHECK(sizes({{0, 60}, {50, 50}}, false, least) == 0);  // 10 elements twice
  CHECK(sizes({{0, 60}, {50, 50}}, false, {39, 1 << 30}) == 0);
  CHECK(sizes({{0, 60}, {50, 50}}, false, {40, 1 << 30}) == 2);
  CHECK(sizes({{0, 50}, {50, 50}}, true, {399, 1 << 30}) == 0);  // beside it
  CHECK(sizes({{0, 50}, {50, 50}}, true, {400, 1 << 30}) == 2);
  CHECK(sizes({{0, 30}}, true, {119, 1 << 30}) == 0);
  CHECK(sizes({{0, 30}}, true, {120, 1 << 30}) == 1);
  CHECK(sizes({{0, 30}, {10, 20}, {5, 30}}, false, least) == 3);  // together less than the weight
}
