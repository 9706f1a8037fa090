// Random numbers: the same in every run, others in every node and step.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <set>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

TEST_CASE("random numbers: reproducible, different from node to node and step to step") {
  OnnxMaker m;
  m.output("y");
  addAttribute(m.node("RandomUniform", {}, {"a"}), "shape", std::vector<int64_t>{500});
  addAttribute(m.node("RandomUniform", {}, {"b"}), "shape", std::vector<int64_t>{500});
  addAttribute(m.node("Concat", {"a", "b"}, {"y"}), "axis", int64_t{0});
  HostTensor y = run(m.import());
  CHECK(y == run(m.import()));
  std::set<double> seen;
  double total = 0;
  for (int64_t i = 0; i < y.numel(); ++i) seen.insert(y.at(i).asFloat()), total += y.at(i).asFloat();
  CHECK(seen.size() > 990);
  CHECK(total == Approx(500).margin(40));

  for (int64_t count : {4, 40}) {
    OnnxMaker loop;
    loop.ints("count", {}, {count}).output("y");
    proto::GraphProto& body = addGraph(loop.node("Loop", {"count", ""}, {"y"}), "body", {"i", "on"}, {"on", "u"});
    addNode(*body.mutable_node(), "RandomNormal", {}, {"u"});
    addAttribute(*body.mutable_node(0), "shape", std::vector<int64_t>{2});
    addAttribute(*body.mutable_node(0), "mean", 10.0F);
    HostTensor all = run(loop.import());
    std::set<double> values;
    for (int64_t i = 0; i < all.numel(); ++i) values.insert(all.at(i).asFloat());
    CHECK(values.size() == static_cast<size_t>(2 * count));
  }
}

TEST_CASE("Bernoulli and Multinomial follow their probabilities") {
  OnnxMaker m;
  m.floats("p", {1}, {0.25F}).ints("size", {1}, {4000}).output("y");
  m.node("Expand", {"p", "size"}, {"all"});
  m.node("Bernoulli", {"all"}, {"y"});
  HostTensor y = run(m.import());
  double ones = 0;
  for (int64_t i = 0; i < y.numel(); ++i) ones += y.at(i).asFloat();
  CHECK(ones == Approx(1000).margin(120));

  OnnxMaker pick;
  pick.floats("p", {1, 3}, {std::log(1.0F), std::log(2.0F), -INFINITY}).output("y", 6);
  addAttribute(pick.node("Multinomial", {"p"}, {"y"}), "sample_size", int64_t{3000});
  HostTensor picked = run(pick.import());
  std::array<int, 3> counts{};
  for (int64_t i = 0; i < picked.numel(); ++i) ++counts.at(static_cast<size_t>(picked.at(i).asInt()));
  CHECK(counts[0] == Approx(1000).margin(120));
  CHECK(counts[2] == 0);
}
