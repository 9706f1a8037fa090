#include "onnx/counted_loops.h"

#include <algorithm>

#include "onnx/node_order.h"

namespace svod {

namespace {

bool isStandard(const proto::NodeProto& node, std::string_view op, int inputs) {
  return node.op_type() == op && (node.domain().empty() || node.domain() == "ai.onnx") && node.input_size() == inputs;
}

// What a value is a copy of, in whatever type.
std::string sourceOf(const proto::GraphProto& body, std::string name, bool throughCasts) {
  for (int i = 0; i < body.node_size(); ++i) {
    const proto::NodeProto* node = makerOf(body, name);
    if (node == nullptr || !(isStandard(*node, "Identity", 1) || (throughCasts && isStandard(*node, "Cast", 1)))) break;
    name = node->input(0);
  }
  return name;
}

// The same in every step: a value from outside of the body, or one that is carried as it is.
bool isFixed(const proto::GraphProto& body, const std::string& name) {
  if (makerOf(body, name) != nullptr) return false;
  for (int i = 0; i < body.input_size(); ++i)
    if (body.input(i).name() == name)
      return i >= 2 && i - 1 < body.output_size() && sourceOf(body, body.output(i - 1).name(), false) == name;
  return true;
}

// The operand of the sum that is not `name`.
std::optional<std::string> addedTo(const proto::NodeProto* sum, const std::string& name) {
  if (sum == nullptr || !isStandard(*sum, "Add", 2)) return std::nullopt;
  if (sum->input(0) == name) return sum->input(1);
  if (sum->input(1) == name) return sum->input(0);
  return std::nullopt;
}

}  // namespace

std::optional<CountedLoop> countedLoop(const proto::GraphProto& body) {
  if (body.output_size() < 2 || body.input_size() < 3) return std::nullopt;
  const std::string& condition = body.output(0).name();
  const proto::NodeProto* less = makerOf(body, sourceOf(body, condition, false));
  if (less == nullptr || !isStandard(*less, "Less", 2)) return std::nullopt;
  const std::string counter = sourceOf(body, less->input(0), true), limit = sourceOf(body, less->input(1), true);
  if (!isFixed(body, limit)) return std::nullopt;
  for (int k = 0; k + 2 < body.input_size() && k + 1 < body.output_size(); ++k) {
    const std::string& made = body.output(k + 1).name();
    if (sourceOf(body, made, false) != counter) continue;
    const std::optional<std::string> step = addedTo(makerOf(body, counter), body.input(k + 2).name());
    if (step && isFixed(body, sourceOf(body, *step, false)))
      return CountedLoop{static_cast<size_t>(k), condition, *step, limit};
  }
  return std::nullopt;
}

}  // namespace svod
