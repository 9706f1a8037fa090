// What --var says, put into the variables of a graph. The readers of graph files and of ONNX models share it.
#pragma once
#include <functional>
#include <string>

#include "frontend/frontend.h"
#include "frontend/size_variables.h"

namespace svod {

struct SizeOptionHooks {
  std::function<void(Error)> record;
  /// A name in an option that no variable has.
  std::function<Error(const std::string& name)> unknown;
  /// variable == value.
  std::function<void(const std::string& variable, int64_t value, const std::string& from)> bind;
};

/// All --var of `options`, after the variables of the graph were declared. Names are known when the graph, the form of
/// another option or a dim of --shape has them.
void applyVariableOptions(SizeVariables& sizes, const LoadOptions& options, const SizeOptionHooks& hooks);

/// "--shape x: axis 1 of input 'x' is 784, not n".
Error fixedDimError(const std::string& from, const std::string& input, int axis, const std::string& declared,
                    const SizeForm& wanted, std::string help);

}  // namespace svod
