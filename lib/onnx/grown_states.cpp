#include "onnx/grown_states.h"

#include <algorithm>
#include <optional>

#include "onnx/dtypes.h"
#include "onnx/node_order.h"

namespace svod {

namespace {

bool isStandard(const proto::NodeProto& node, std::string_view op) {
  return node.op_type() == op && (node.domain().empty() || node.domain() == "ai.onnx") && node.output_size() == 1;
}

bool isConcatOfTwo(const proto::NodeProto& node) {
  return isStandard(node, "Concat") && node.input_size() == 2 && node.attribute_size() == 1;
}

bool isInsertAtEnd(const proto::NodeProto& node) {
  const bool isLast = node.input_size() == 2 || (node.input_size() == 3 && node.input(2).empty());
  return isStandard(node, "SequenceInsert") && isLast;
}

bool isCastTo(const proto::NodeProto& node, DType dtype) {
  if (!isStandard(node, "Cast") || node.input_size() != 1) return false;
  const OnnxDType* to = nullptr;
  for (const proto::AttributeProto& attribute : node.attribute())
    if (attribute.name() == "to") to = findOnnxDType(static_cast<int>(attribute.i()));
  return to != nullptr && to->dtype == dtype;
}

/// Nodes that put something behind a carried value, from its first use to its next value.
struct Append {
  std::vector<const proto::NodeProto*> casts;  // of the carried value to its own dtype, the last one first
  const proto::NodeProto* concat = nullptr;
  std::string state;  // what the first of them takes
};

std::optional<Append> appendMaking(const proto::GraphProto& body, const std::string& made, DType dtype) {
  const proto::NodeProto* concat = makerOf(body, made);
  if (concat == nullptr || (!isConcatOfTwo(*concat) && !isInsertAtEnd(*concat))) return std::nullopt;
  Append append{{}, concat, concat->input(0)};
  for (const proto::NodeProto* cast = makerOf(body, append.state); cast != nullptr && isCastTo(*cast, dtype);
       cast = makerOf(body, append.state)) {
    if (std::ranges::find(append.casts, cast) != append.casts.end()) return std::nullopt;  // a circle
    append.casts.push_back(cast), append.state = cast->input(0);
  }
  return append;
}

/// Nobody but the nodes of `append` uses what they make on the way, which is no output either.
bool isOnlyAppended(const proto::GraphProto& body, const Append& append, const std::string& made) {
  UsedNames used;
  for (const proto::NodeProto& node : body.node())
    if (&node != append.concat && std::ranges::find(append.casts, &node) == append.casts.end()) addUses(node, used);
  auto isGiven = [&](const std::string& name) {
    return std::ranges::count(body.output(), name, &proto::ValueInfoProto::name);
  };
  auto isFree = [&](const std::string& name) {
    return isGiven(name) == 0 && !used.contains(name) && append.concat->input(1) != name;
  };
  return isGiven(made) == 1 && !used.contains(made) && isFree(append.state) &&
         std::ranges::all_of(append.casts, [&](const proto::NodeProto* cast) { return isFree(cast->output(0)); });
}

GrownState grownBy(size_t state, const std::string& made, const proto::NodeProto& node) {
  const bool isList = isInsertAtEnd(node);
  return {state, made, node.input(1), isList ? 0 : node.attribute(0).i(), isList};
}

}  // namespace

std::vector<GrownState> grownStates(const proto::GraphProto& body, std::span<const DType> carried) {
  std::vector<GrownState> all;
  for (size_t k = 0; k < carried.size(); ++k) {
    const int input = static_cast<int>(k) + 2, output = static_cast<int>(k) + 1;
    if (input >= body.input_size() || output >= body.output_size()) break;
    const std::string& made = body.output(output).name();
    const std::optional<Append> append = appendMaking(body, made, carried[k]);
    if (append && append->state == body.input(input).name() && isOnlyAppended(body, *append, made))
      all.push_back(grownBy(k, made, *append->concat));
  }
  return all;
}

}  // namespace svod
