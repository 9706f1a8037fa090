// The steps of a plan as a function in JavaScript, and the kernels that it launches (an internal header of the room).
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "web/layout.h"
#include "web/names.h"

namespace svod::web {

/// A kernel with its arguments in some memories: launches with others have another text.
struct PlacedKernel {
  KernelId kernel = {};
  std::vector<uint32_t> memories;   // of the module, by binding
  std::vector<uint32_t> bindingOf;  // by argument
};

class StepsText {
 public:
  StepsText(const Plan& plan, const WebLayout& layout, const Names& names)
      : plan_(plan), layout_(layout), names_(names) {}

  /// `function steps(run, [n]) { .. }`, async where a condition is read.
  std::string text();
  /// Those that it launches, by the number that it has for them.
  const std::vector<PlacedKernel>& kernels() const { return kernels_; }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  std::string memoryAndPlace(BufferId id) const;
  void printStep(const Step& step);
  void printLoop(const Loop& loop);
  void printLaunch(const Launch& launch);
  void printCases(const Launch& launch);
  std::string condition(const LaunchCase& one) const;
  uint32_t placed(const Launch& launch);

  const Plan& plan_;
  const WebLayout& layout_;
  const Names& names_;
  std::vector<PlacedKernel> kernels_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> known_;
  std::string text_;
  size_t depth_ = 1;
  bool isAsync_ = false;
};

}  // namespace svod::web
