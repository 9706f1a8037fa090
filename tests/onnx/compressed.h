// Graphs on what Compress leaves of their operands, and again on operands of just that size.
#pragma once
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "onnx_maker.h"
#include "onnx_run.h"

namespace svod {

inline constexpr int kInt64 = 7, kBool = 9;
inline constexpr int64_t kRows = 6, kColumns = 3;

/// Adds nodes that make "y" of "v" [k, 3], "w" [k, 3] and "u" [j, 3]; "six" is [6, 3], "at" [k] are positions
/// in it.
using Nodes = std::function<void(OnnxMaker& m)>;

struct Run {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

HostTensor inputValue(const std::string& name, DType dtype, std::vector<int64_t> rows);

/// The outputs y and, if there is one, y.length, of a run; inputs of a name are given. None if the run fails.
std::optional<Run> computed(const OnnxImport& import, const std::function<HostTensor(const ModelPort&)>& give,
                            VariableValues variables = {});

/// That both compute the same, for masks that keep nothing (if it `takesNone`), something and everything.
void checkLengths(const std::string& what, const Nodes& nodes, int type = 1, bool takesNone = true, int opset = 18);

}  // namespace svod
