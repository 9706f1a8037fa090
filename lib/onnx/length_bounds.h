// Sizes that a run computes, by name: the element K of the value NAME is NAME.K, and --var bounds it where nothing in
// the model does.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "onnx/model_file.h"

namespace svod {

class LengthBounds {
 public:
  LengthBounds(const proto::ModelProto& model, const LoadOptions& options);
  bool isNamed(const std::string& name) const { return bounds_.contains(name); }
  /// The bounds of an element that decides a size, which are used from here on.
  std::optional<Interval> use(const std::string& name);
  /// Names in options that are no such elements.
  std::vector<Error> unused() const;

 private:
  std::map<std::string, Interval> bounds_;
  std::set<std::string> used_;
};

}  // namespace svod
