// Inputs that become states: a past that an output gives a new value in every run.
#include <algorithm>
#include <ranges>

#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

// What every * of the pattern stands for in `name`; nothing when it does not fit. A * stands for as little as it can.
std::optional<std::vector<std::string>> matched(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name ? std::optional(std::vector<std::string>()) : std::nullopt;
  if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
  pattern.remove_prefix(star + 1), name.remove_prefix(star);
  for (size_t taken = 0; taken <= name.size(); ++taken)
    if (auto rest = matched(pattern, name.substr(taken))) {
      rest->insert(rest->begin(), std::string(name.substr(0, taken)));
      return rest;
    }
  return std::nullopt;
}

std::string filledIn(std::string_view pattern, const std::vector<std::string>& parts) {
  std::string text;
  size_t next = 0;
  for (char c : pattern) {
    if (c == '*' && next < parts.size()) {
      text += parts[next++];
    } else {
      text += c;
    }
  }
  return text;
}

const proto::ValueInfoProto* outputOf(const proto::GraphProto& graph, const std::string& name) {
  auto found = std::ranges::find(graph.output(), name, [](const auto& o) { return o.name(); });
  return found == graph.output().end() ? nullptr : &*found;
}

}  // namespace

void OnnxImporter::readStates(const proto::GraphProto& graph) {
  for (const auto& [past, present] : options_.states) {
    const std::string flag = "--state " + shellWord(past + "=" + present);
    bool isUsed = false;
    for (const proto::ValueInfoProto& input : graph.input()) {
      const auto parts = matched(past, input.name());
      const std::string name = parts ? filledIn(present, *parts) : "";
      if (!parts || !outputOf(graph, name)) {
        if (parts && past.find('*') == past.npos)
          record(Diag::UnknownPort, flag + ": the model has no output '" + shortened(name) + "'",
                 "name the output that holds the new value of '" + shortened(input.name()) + "'");
        isUsed |= parts && past.find('*') == past.npos;
        continue;
      }
      isUsed = true;
      const bool isNew = states_.try_emplace(input.name(), ImportedState{name, {}, {}}).second;
      if (!isNew || !presentOf_.try_emplace(name, input.name()).second)
        record(Diag::UnknownPort, flag + ": '" + shortened(isNew ? name : input.name()) + "' is named by two states",
               "an input is one state, and an output the value of one");
    }
    std::vector<std::string_view> names;
    for (const proto::ValueInfoProto& input : graph.input()) names.push_back(input.name());
    if (!isUsed)
      record(Diag::UnknownPort, flag + ": no input has such a name with an output of the other",
             didYouMean(past, names, "a * stands for the same text on both sides: --state 'past.*.key=present.*.key'"));
  }
  // An output may be made by a node and then renamed.
  for (const auto& [present, past] : presentOf_) {
    std::string made = present;
    for (const proto::NodeProto& node : std::views::reverse(graph.node()))
      if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1 && node.output(0) == made)
        made = node.input(0);
    presentMakers_[made] = past;
  }
}

// The greatest dims that the past and what follows it have in a run of a plan without states.
std::optional<StateRooms> OnnxImporter::stateRooms() {
  StateRooms rooms;
  auto dimsOfPort = [&](PortKind kind, const std::string& name) -> UOp {
    for (const ModelPort& p : builder_.model().ports)
      if (p.kind == kind && p.name == name) return p.buffer;
    return {};
  };
  for (const auto& [past, state] : states_) {
    const UOp from = dimsOfPort(PortKind::Input, past), to = dimsOfPort(PortKind::Output, state.present);
    if (!from || !to || from.dtype() != to.dtype() || from.rank() != to.rank()) {
      record(Diag::ShapeMismatch,
             "--state: the input '" + shortened(past) + "' and the output '" + shortened(state.present) +
                 "' have other types or numbers of axes",
             "a state keeps both");
      return std::nullopt;
    }
    StateRoom room;
    for (size_t i = 0; i < from.rank(); ++i) {
      room.dims.push_back(std::max(from.shape()[i].bounds().max, to.shape()[i].bounds().max));
      room.grows.push_back(from.shape()[i] != to.shape()[i]);
    }
    rooms[past] = std::move(room);
  }
  return rooms;
}

// The state, as large as it may get, and the part of it that is the past.
Tensor OnnxImporter::stateInput(const std::string& name, DType dtype, const Dims& dims) {
  ImportedState& state = states_[name];
  const StateRoom& room = rooms_.at(name);
  Dims whole, offsets;
  for (int64_t size : room.dims) whole.add(builder_.dim(size)), offsets.add(builder_.dim(0));
  state.content = builder_.state(name, dtype, whole);
  if (!state.content) return {};
  state.buffer = state.content.node();
  Tensor past = whole == dims ? builder_.held(state.content) : shrink(state.content, offsets, dims);
  if (past) stateOf_[past.node().id()] = name;
  return past;
}

// In place of an output: what is not in the state yet is stored there.
void OnnxImporter::finishState(const std::string& past, const Tensor& x) {
  const ImportedState& state = states_[past];
  if (!state.content) return;
  Dims none;
  for (int i = 0; i < x.rank(); ++i) none.add(builder_.dim(0));
  Tensor place = shrink(state.content, none, x.dims());
  if (!place || place.node() == x.node()) return;
  if (state.content.node() == state.buffer) return builder_.assign(place, x);
  record(Diag::Unsupported,
         "--state: '" + shortened(past) + "' is appended to, but '" + shortened(state.present) + "' is another value",
         "name the output that is the past with what is new behind it");
}

}  // namespace svod
