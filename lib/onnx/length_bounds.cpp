#include "onnx/length_bounds.h"

#include <algorithm>

#include "support/text.h"

namespace svod {

namespace {

using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

bool makesValue(const Nodes& nodes, std::string_view name) {
  return std::ranges::any_of(nodes, [&](const proto::NodeProto& n) {
    return std::ranges::find(n.output(), name) != n.output().end() ||
           std::ranges::any_of(n.attribute(), [&](const proto::AttributeProto& a) {
             return a.has_g() && makesValue(a.g().node(), name);
           });
  });
}

// NAME of NAME.K; empty for other words.
std::string_view valueOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || dot + 1 == name.size()) return {};
  const std::string_view number = name.substr(dot + 1);
  const bool isNumber = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return isNumber && number.size() < 10 ? name.substr(0, dot) : std::string_view();
}

}  // namespace

LengthBounds::LengthBounds(const proto::ModelProto& model, const LoadOptions& options) {
  auto isComputed = [&](const std::string& name) {
    const std::string_view value = valueOf(name);
    if (value.empty()) return false;
    return makesValue(model.graph().node(), value) ||
           std::ranges::any_of(model.functions(), [&](const auto& f) { return makesValue(f.node(), value); });
  };
  for (const VariableOption& o : options.variables)
    if (!o.form && isComputed(o.name))
      bounds_[o.name] = o.value ? Interval{*o.value, *o.value} : Interval{*o.min, *o.max};
}

std::optional<Interval> LengthBounds::use(const std::string& name) {
  const auto given = bounds_.find(name);
  if (given == bounds_.end()) return std::nullopt;
  used_.insert(name);
  return given->second;
}

std::vector<Error> LengthBounds::unused() const {
  std::vector<Error> all;
  for (const auto& [name, bounds] : bounds_)
    if (!used_.contains(name))
      all.emplace_back(
          Diag::UnknownPort, "--var: '" + shortened(name) + "' is not a size that a run computes",
          "leave it out: bounds are for elements of values that decide sizes and that only a run can tell");
  return all;
}

}  // namespace svod
