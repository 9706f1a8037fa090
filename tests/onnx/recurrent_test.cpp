// Recurrent layers over a length that only a run knows: a state that is known to be zero is folded into the first step.
#include <cmath>

#include "frontend/graph_file.h"
#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int64_t kHidden = 3, kInputs = 2;

struct Layer {
  std::string op, direction, start;  // of the state: "omitted", "zeros" or "input"
  int64_t gates, directions;
  bool hasLengths;
};

void floats(OnnxMaker& m, const std::string& name, const std::vector<int64_t>& dims) {
  std::vector<float> values(static_cast<size_t>(dims[0] * dims[1] * (dims.size() > 2 ? dims[2] : 1)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.05F * (static_cast<float>(i % 13) - 6);
  m.floats(name, dims, values);
}

// "n" becomes the size of the batch as a list of one.
void addBatchSize(OnnxMaker& m) {
  m.ints("from", {1}, {1}).ints("to", {1}, {2});
  m.node("Shape", {"x"}, {"shape"}), m.node("Slice", {"shape", "from", "to"}, {"n"});
}

OnnxMaker modelOf(const Layer& l) {
  OnnxMaker m(18);
  m.input("x", {"steps", "batch", std::to_string(kInputs)}).output("y");
  floats(m, "w", {l.directions, l.gates * kHidden, kInputs});
  floats(m, "r", {l.directions, l.gates * kHidden, kHidden});
  floats(m, "b", {l.directions, 2 * l.gates * kHidden});
  addBatchSize(m);
  std::vector<std::string> operands = {"x", "w", "r", "b", "", ""};
  if (l.hasLengths) {
    m.ints("two", {}, {2}).node("Expand", {"two", "n"}, {"longs"});
    addAttribute(m.node("Cast", {"longs"}, {operands[4] = "lengths"}), "to", int64_t{6});
  }
  if (l.start == "input") m.input(operands[5] = "h0", {std::to_string(l.directions), "batch", std::to_string(kHidden)});
  if (l.start == "zeros") {
    m.ints("front", {1}, {l.directions}).ints("back", {1}, {kHidden});
    addAttribute(m.node("Concat", {"front", "n", "back"}, {"dims"}), "axis", int64_t{0});
    m.node("ConstantOfShape", {"dims"}, {operands[5] = "h0"});
  }
  proto::NodeProto& layer = m.node(l.op, operands, {"every", "last"});
  addAttribute(layer, "hidden_size", kHidden), addAttribute(layer, "direction", l.direction);
  m.ints("flat", {1}, {-1}).node("Reshape", {"every", "flat"}, {"a"});
  m.node("Reshape", {"last", "flat"}, {"c"});
  addAttribute(m.node("Concat", {"a", "c"}, {"y"}), "axis", int64_t{0});
  return m;
}

void check(const Layer& l) {
  INFO(l.op << " " << l.direction << ", state " << l.start << (l.hasLengths ? ", lengths" : ""));
  const OnnxMaker m = modelOf(l);
  const OnnxImport free = m.import();
  const Result<WrittenModel> written = m.convert();
  if (!written) FAIL(toText(written.error()));
  CHECK((writeGraphText(written->file).find("< steps - 1") != std::string::npos) == (l.start != "input"));
  for (const auto& [steps, batch] : {std::pair<int64_t, int64_t>{1, 1}, {1, 3}, {2, 1}, {5, 2}}) {
    INFO(steps << " steps, batch " << batch);
    LoadOptions fixed;
    fixed.variables = {{"steps", {}, {}, steps}, {"batch", {}, {}, batch}};
    const HostTensor have = run(free, {{"steps", steps}, {"batch", batch}}), want = run(m.import(fixed));
    REQUIRE(have.dims == want.dims);
    for (int64_t i = 0; i < want.numel(); ++i) CHECK(std::fabs(have.at(i).asFloat() - want.at(i).asFloat()) <= 1e-6);
  }
}

}  // namespace

TEST_CASE("a first step that knows its state makes what it makes from zeros") {
  const std::pair<std::string, int64_t> kOps[] = {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}};
  for (const auto& [op, gates] : kOps)
    for (const std::string start : {"omitted", "zeros", "input"})
      for (const std::string direction : {"forward", "reverse", "bidirectional"})
        for (bool hasLengths : {false, true})
          check({op, direction, start, gates, direction == "bidirectional" ? 2 : 1, hasLengths});
}
