// Sequences of as many tensors as a size says: what they give is what lists of a known number of tensors give.
#include <catch2/catch.hpp>

#include <functional>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

using Write = std::function<void(OnnxMaker&)>;

// x is [n, 2, m] of 0, 1, ..; `write` makes y of it.
OnnxMaker model(const std::string& n, const Write& write) {
  OnnxMaker m(18);
  m.input("x", {n, "2", "3"}).output("y");
  m.ints("zero", {}, {0}).ints("one", {}, {1}).ints("last", {}, {-1}).floats("half", {}, {0.5F});
  write(m);
  return m;
}

void checkAsLists(const std::string& what, const std::vector<int64_t>& sizes, const Write& write) {
  const OnnxImport free = model("n", write).import();
  for (const int64_t n : sizes) {
    INFO(what << " of " << n);
    CHECK(run(free, {{"n", n}}) == run(model(std::to_string(n), write).import()));
  }
  CHECK(model("n", write).convert());
}

void split(OnnxMaker& m, int64_t keepdims = 0) {
  addAttribute(m.node("SplitToSequence", {"x"}, {"s"}), "keepdims", keepdims);
}

void join(OnnxMaker& m, const std::string& list, int64_t axis, int64_t isNew) {
  proto::NodeProto& node = m.node("ConcatFromSequence", {list}, {"y"});
  addAttribute(node, "axis", axis), addAttribute(node, "new_axis", isNew);
}

// A loop of as many steps as x has rows, which puts one of them behind the list in every step.
void grow(OnnxMaker& m, const std::string& first, const std::string& place = "") {
  m.node("Shape", {"x"}, {"dims"}), m.node("Gather", {"dims", "zero"}, {"rows"});
  proto::NodeProto& loop = m.node("Loop", {"rows", "", first, "half"}, {"all", "sum"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "l", "t"}, {"go", "more", "u"});
  auto& nodes = *body.mutable_node();
  addNode(nodes, "Identity", {"on"}, {"go"}), addNode(nodes, "Gather", {"x", "i"}, {"row"});
  addNode(nodes, "Add", {"t", "half"}, {"u"}), addNode(nodes, "Mul", {"row", "u"}, {"v"});
  OnnxMaker::Names inputs{"l", "v"};
  if (!place.empty()) inputs.push_back(place);
  addNode(nodes, "SequenceInsert", inputs, {"more"});
}

}  // namespace

TEST_CASE("an axis of a free size is cut and put together again") {
  for (const int64_t keepdims : {0, 1})
    for (const int64_t axis : {0, 1, -1})
      for (const int64_t isNew : {0, 1})
        checkAsLists("parts of 1", {1, 2, 5}, [&](OnnxMaker& m) { split(m, keepdims), join(m, "s", axis, isNew); });
}

TEST_CASE("an axis of a free size is cut into parts of several elements, of which it has a multiple") {
  const Write parts = [](OnnxMaker& m) {
    m.ints("two", {}, {2}).node("SplitToSequence", {"x", "two"}, {"s"});
    join(m, "s", 2, 0);
  };
  checkAsLists("parts of 2", {2, 6}, parts);
  const OnnxImport free = model("n", parts).import();
  REQUIRE(free.model);
  REQUIRE(free.model->equalSizes.size() == 1);  // every run compares
  CHECK(free.model->equalSizes[0].text.find("the last may be smaller with --var n=SIZE") != std::string::npos);
}

TEST_CASE("elements of a list with a free length are put in, taken out and counted") {
  for (const char* place : {"", "zero"})
    for (const char* op : {"SequenceInsert", "SequenceErase"})
      for (const char* shown : {"zero", "last"})
        checkAsLists(op, {2, 4}, [&](OnnxMaker& m) {
          split(m);
          m.node("Gather", {"x", "zero"}, {"row"}), m.node("Neg", {"row"}, {"v"});
          OnnxMaker::Names inputs{"s"};
          if (std::string_view(op) == "SequenceInsert") inputs.push_back("v");
          if (*place != '\0') inputs.push_back(place);
          m.node(op, inputs, {"t"});
          m.node("SequenceAt", {"t", shown}, {"e"}), m.node("SequenceLength", {"t"}, {"k"});
          m.node("CastLike", {"k", "e"}, {"kf"}), m.node("Add", {"e", "kf"}, {"y"});
        });
}

TEST_CASE("places inside of a list with a free length are known, from either end") {
  for (const int64_t place : {1, 2, -1, -2, -3})
    for (const char* op : {"SequenceInsert", "SequenceErase"})
      checkAsLists(op, {3, 4, 7}, [&](OnnxMaker& m) {
        split(m);
        m.ints("place", {}, {place}).node("Gather", {"x", "zero"}, {"row"}), m.node("Neg", {"row"}, {"v"});
        m.node(op,
               std::string_view(op) == "SequenceInsert" ? OnnxMaker::Names{"s", "v", "place"}
                                                        : OnnxMaker::Names{"s", "place"},
               {"t"});
        join(m, "t", 0, 1);
      });
  const OnnxMaker shifted = model("n", [](OnnxMaker& m) {
    split(m);
    m.node("Shape", {"x"}, {"dims"}), m.node("Gather", {"dims", "zero"}, {"rows"});
    m.node("Sub", {"rows", "one"}, {"place"}), m.node("SequenceErase", {"s", "place"}, {"t"}), join(m, "t", 0, 1);
  });
  const OnnxImport import = shifted.import();
  REQUIRE(import.model);
  OnnxMaker atRun = model("n", [](OnnxMaker& m) {
    split(m);
    m.input("place", {}, 7).node("SequenceErase", {"s", "place"}, {"t"}), join(m, "t", 0, 1);
  });
  CHECK(isRefused(atRun.import(), "a position that only a run can tell"));
}

TEST_CASE("steps of a free number put tensors behind a list") {
  for (const int64_t isNew : {0, 1}) {
    checkAsLists("an empty list", {1, 3, 20}, [&](OnnxMaker& m) {
      m.node("SequenceEmpty", {}, {"none"});
      grow(m, "none"), join(m, "all", 1, isNew);
    });
    checkAsLists("a list of two", {1, 3, 20}, [&](OnnxMaker& m) {
      m.node("Gather", {"x", "zero"}, {"row"}), m.node("SequenceConstruct", {"row", "row"}, {"two"});
      grow(m, "two"), join(m, "all", 0, isNew);
    });
    checkAsLists("a list with a free length", {1, 3, 20}, [&](OnnxMaker& m) {
      split(m);
      grow(m, "s"), join(m, "all", -1, isNew);
    });
  }
  OnnxMaker front = model("n", [](OnnxMaker& m) {
    m.node("SequenceEmpty", {}, {"none"});
    grow(m, "none", "zero"), join(m, "all", 0, 1);
  });
  CHECK(isRefused(front.import(), "a sequence that goes from step to step"));
}

TEST_CASE("the steps of a loop read a list with a free length") {
  checkAsLists("SequenceAt by step", {1, 3, 20}, [](OnnxMaker& m) {
    split(m);
    m.node("SequenceLength", {"s"}, {"rows"});
    proto::NodeProto& loop = m.node("Loop", {"rows", "", "half"}, {"sum", "y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "t"}, {"go", "u", "kept"});
    auto& nodes = *body.mutable_node();
    addNode(nodes, "Identity", {"on"}, {"go"}), addNode(nodes, "Add", {"t", "half"}, {"u"});
    addNode(nodes, "SequenceAt", {"s", "i"}, {"row"}), addNode(nodes, "Mul", {"row", "u"}, {"kept"});
  });
}

TEST_CASE("a body is mapped over a list with a free length") {
  checkAsLists("SequenceMap", {1, 3, 20}, [](OnnxMaker& m) {
    split(m);
    proto::NodeProto& map = m.node("SequenceMap", {"s", "s", "half"}, {"t"});
    proto::GraphProto& body = addGraph(map, "body", {"a", "b", "h"}, {"c"});
    addNode(*body.mutable_node(), "Mul", {"a", "h"}, {"less"});
    addNode(*body.mutable_node(), "Add", {"less", "b"}, {"c"});
    join(m, "t", 1, 0);
  });
}

TEST_CASE("a run chooses between lists with a free length") {
  checkAsLists("If", {1, 3}, [](OnnxMaker& m) {
    split(m);
    m.floats("few", {}, {4}).node("ReduceSum", {"x"}, {"total"});
    m.node("Greater", {"total", "few"}, {"isLarge"});
    proto::NodeProto& choice = m.node("If", {"isLarge"}, {"t"});
    addNode(*addGraph(choice, "then_branch", {}, {"a"}).mutable_node(), "Identity", {"s"}, {"a"});
    proto::GraphProto& other = addGraph(choice, "else_branch", {}, {"b"});
    addNode(*other.mutable_node(), "Exp", {"x"}, {"e"});
    addNode(*other.mutable_node(), "SplitToSequence", {"e"}, {"b"});
    addAttribute(*other.mutable_node(1), "keepdims", int64_t{0});
    join(m, "t", 0, 1);
  });
}

// As PyTorch's exporter writes EmbeddingBag: a counter below a size, and no trip count.
Write counting(bool isByTwo) {
  return [isByTwo](OnnxMaker& m) {
    m.node("Shape", {"x"}, {"dims"}), m.node("Gather", {"dims", "zero"}, {"rows"});
    m.node("SequenceEmpty", {}, {"none"}), m.node("Less", {"zero", "rows"}, {"first"});
    proto::NodeProto& loop = m.node("Loop", {"", "first", "zero", "none"}, {"end", "all"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "on", "k", "l"}, {"go", "next", "more"});
    auto& nodes = *body.mutable_node();
    addNode(nodes, "Gather", {"x", "k"}, {"row"}), addNode(nodes, "SequenceInsert", {"l", "row"}, {"more"});
    if (isByTwo) addNode(nodes, "Add", {"k", "one"}, {"between"});
    addNode(nodes, "Add", {isByTwo ? "between" : "k", "one"}, {"next"}),
        addNode(nodes, "Less", {"next", "rows"}, {"go"});
    join(m, "all", 0, 1);
  };
}

TEST_CASE("a loop that a counter ends has as many steps as the size that the counter comes to") {
  checkAsLists("Loop by a counter", {1, 3, 20}, counting(false));
}

TEST_CASE("a loop that a counter ends otherwise names the size that the counter comes to") {
  CHECK(isRefused(model("n", counting(true)).import(), "a number: --var n=SIZE"));
  CHECK(model("3", counting(true)).import().model);
}
