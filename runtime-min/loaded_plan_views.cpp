// Ports, states and intermediate buffers of a plan as the C interface shows them.
#include <map>

#include "runtime-min/loaded_plan.h"
#include "runtime-min/probes.h"

namespace svod {

namespace {

std::vector<std::string> numberTexts(const std::vector<uint64_t>& shape) {
  std::vector<std::string> texts;
  for (uint64_t dim : shape) texts.push_back(std::to_string(dim));
  return texts;
}

}  // namespace

void LoadedPlan::addView(svod_kind kind, std::string name, BufferId buffer, std::vector<std::string> texts) {
  const BufferDesc& desc = plan_.buffers[buffer];
  views_[kind].push_back({std::move(name), std::string(nameOf(desc.dtype)), desc.shape, std::move(texts), {}, {}});
  views_[kind].back().c.element_bytes = byteSize(desc.dtype);
  views_[kind].back().c.max_bytes = *tensorBytes(desc.dtype, desc.shape);
}

/// Names that several buffers have are told apart by the buffer's number.
void LoadedPlan::addIntermediates() {
  std::map<std::string_view, size_t> uses;
  for (BufferId id = 0; id < plan_.buffers.size(); id++) {
    if (!isIntermediate(plan_, id)) continue;
    intermediates_.push_back(id);
    uses[plan_.buffers[id].name]++;
  }
  for (BufferId id : intermediates_) {
    const std::string& name = plan_.buffers[id].name;
    const bool isAlone = !name.empty() && uses[name] == 1;
    addView(SVOD_INTERMEDIATE, isAlone ? name : name + "#" + std::to_string(id), id,
            numberTexts(plan_.buffers[id].shape));
  }
}

void LoadedPlan::describe() {
  auto addPorts = [&](svod_kind kind, const std::vector<Port>& ports) {
    for (const Port& port : ports) {
      std::vector<std::string> texts;
      for (const Expr& dim : port.shape) texts.push_back(toText(dim, names_));
      addView(kind, port.name, port.buffer, std::move(texts));
    }
  };
  addPorts(SVOD_INPUT, plan_.inputs);
  addPorts(SVOD_OUTPUT, plan_.outputs);
  for (const State& state : plan_.states)
    addView(SVOD_STATE, state.name, state.buffer, numberTexts(plan_.buffers[state.buffer].shape));
  addIntermediates();
  for (std::vector<TensorView>& views : views_)
    for (TensorView& view : views) {  // the vectors have their final size: addresses stay
      for (const std::string& text : view.texts) view.textPointers.push_back(text.c_str());
      view.c.name = view.name.c_str();
      view.c.dtype = view.dtype.c_str();
      view.c.rank = view.shape.size();
      view.c.max_shape = view.shape.data();
      view.c.shape_texts = view.textPointers.data();
    }
  for (VariableId id = 0; id < plan_.variables.size(); id++)
    if (plan_.variables[id].kind != VariableKind::Loop) variables_.push_back(id);
}

}  // namespace svod
