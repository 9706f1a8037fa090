#include "onnx/dim_names.h"

#include <algorithm>

#include "onnx/importer_text.h"

namespace svod {

void DimNames::findWhole(const proto::GraphProto& graph, const LoadOptions& options) {
  std::set<std::string, std::less<>> known;
  const auto keep = [&](const SizeForm& form) {
    for (const auto& [name, times] : form.factors) known.insert(name);
  };
  for (const VariableOption& o : options.variables) {
    known.insert(o.name);
    if (o.form) keep(*o.form);
  }
  for (const auto& [input, shape] : options.shapes) std::ranges::for_each(shape, keep);
  std::vector<std::pair<std::string, SizeForm>> open;
  for (const proto::ValueInfoProto& input : graph.input())
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i)
      if (isFreeDim(input.type().tensor_type().shape(), i))
        open.emplace_back(input.type().tensor_type().shape().dim(i).dim_param(), formOfDim(input, i));
  const auto isSolved = [&](const std::pair<std::string, SizeForm>& dim) {
    const auto isUnknown = [&](const auto& factor) { return !known.contains(factor.first); };
    if (std::ranges::count_if(dim.second.factors, isUnknown) > 1) return false;
    keep(dim.second);
    return true;
  };
  while (std::erase_if(open, isSolved) != 0) {
  }
  for (const auto& [name, form] : open) whole_.insert(name);
}

SizeForm DimNames::saidBy(const proto::ValueInfoProto& input, int axis) const {
  const std::string& name = input.type().tensor_type().shape().dim(axis).dim_param();
  return whole_.contains(name) ? SizeForm::variable(name) : formOfDim(input, axis);
}

void DimNames::read(const proto::GraphProto& graph, const LoadOptions& options) {
  findWhole(graph, options);
  std::set<std::string> taken, dims;
  for (const proto::ValueInfoProto& input : graph.input()) taken.insert(input.name());
  for (const proto::ValueInfoProto& input : graph.input())
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i)
      if (isFreeDim(input.type().tensor_type().shape(), i))
        for (const auto& [name, times] : saidBy(input, i).factors) dims.insert(name);
  std::set<std::string> all = taken;
  all.insert(dims.begin(), dims.end());
  for (const std::string& name : dims) {
    if (!taken.contains(name)) continue;
    std::string other = name + ".size";
    while (!all.insert(other).second) other += ".size";
    apart_[name] = other;
  }
}

SizeForm DimNames::apart(const SizeForm& form) const {
  SizeForm result = SizeForm::number(form.constant);
  for (const auto& [name, times] : form.factors) {
    auto other = apart_.find(name);
    result.factors[other == apart_.end() ? name : other->second] += times;
  }
  std::erase_if(result.factors, [](const auto& factor) { return factor.second == 0; });
  return result;
}

SizeForm DimNames::formOf(const proto::ValueInfoProto& input, int axis) const { return apart(saidBy(input, axis)); }

LoadOptions DimNames::apart(LoadOptions options) const {
  for (VariableOption& o : options.variables) {
    if (auto other = apart_.find(o.name); other != apart_.end()) o.name = other->second;
    if (o.form) o.form = apart(*o.form);
  }
  for (auto& [input, shape] : options.shapes)
    for (SizeForm& dim : shape) dim = apart(dim);
  return options;
}

}  // namespace svod
