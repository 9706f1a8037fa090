#include "onnx/grown_states.h"

#include <algorithm>

#include "onnx/node_order.h"

namespace svod {

namespace {

const proto::NodeProto* makerOf(const proto::GraphProto& body, const std::string& name) {
  for (const proto::NodeProto& node : body.node())
    if (std::ranges::find(node.output(), name) != node.output().end()) return &node;
  return nullptr;
}

bool isConcatOfTwo(const proto::NodeProto& node) {
  return node.op_type() == "Concat" && (node.domain().empty() || node.domain() == "ai.onnx") &&
         node.input_size() == 2 && node.output_size() == 1 && node.attribute_size() == 1;
}

bool isUsedBeside(const proto::GraphProto& body, const proto::NodeProto& append, const std::string& name) {
  UsedNames used;
  for (const proto::NodeProto& node : body.node())
    if (&node != &append) addUses(node, used);
  return used.contains(name);
}

}  // namespace

std::vector<GrownState> grownStates(const proto::GraphProto& body, size_t carried) {
  std::vector<GrownState> all;
  for (size_t k = 0; k < carried; ++k) {
    const int input = static_cast<int>(k) + 2, output = static_cast<int>(k) + 1;
    if (input >= body.input_size() || output >= body.output_size()) break;
    const std::string &state = body.input(input).name(), &made = body.output(output).name();
    const proto::NodeProto* append = makerOf(body, made);
    if (append == nullptr || !isConcatOfTwo(*append) || append->input(0) != state || append->input(1) == state)
      continue;
    auto isGiven = [&](const std::string& name) {
      return std::ranges::count(body.output(), name, &proto::ValueInfoProto::name);
    };
    if (isGiven(made) != 1 || isGiven(state) != 0) continue;
    if (isUsedBeside(body, *append, state) || isUsedBeside(body, *append, made)) continue;
    all.push_back({k, made, append->input(1), append->attribute(0).i()});
  }
  return all;
}

}  // namespace svod
