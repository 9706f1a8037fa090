// What the ops of a model say about its sizes where nobody else does: dims that must be one, and the bounds without
// which an op is refused. The importer collects demands while it builds, and starts again with what follows from them.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/size_variables.h"
#include "frontend/tensor.h"
#include "onnx/rank_cases.h"

namespace svod {

/// What an op needs for all values of the variables: left == right, or left >= right.
struct SizeDemand {
  UOp left, right;  // over free variables
  bool isEqual = true;
  std::string by;       // the op and its node
  bool isRoom = false;  // left is what there is, right what is taken: all variables leave some, not one of them all
};

/// A value takes addresses for its greatest sizes, and a process has few: what it must not exceed, with `by` left
/// empty. Nothing where it does not.
std::optional<SizeDemand> roomDemand(const Tensor& value);

/// Bounds of a size that nothing else bounds, by what the model does with it: buffers have room for the greatest ones.
struct UsualSizes {
  static constexpr Interval kAny{1, 512};
  static constexpr int64_t kImage = 800;        // along each of the two axes that windows go along
  static constexpr int64_t kFrames = 1000;      // along one axis, behind channels
  static constexpr int64_t kSamples = 480'000;  // along one axis, of one channel: 30 seconds at 16 kHz

  /// What a size with one of these bounds is likely to be; 0 for kAny.
  static constexpr int64_t likelyOf(int64_t most) {
    return most == kImage ? 224 : most == kFrames ? 256 : most == kSamples ? 16'000 : 0;
  }
};

struct SizeFindings {
  static constexpr int64_t kUsual = INT64_MAX;  // a greatest value that no op asks for
  struct Equality {
    SizeForm left, right;
    std::string by;
  };
  struct Bounds {
    Interval bounds;
    std::string by;
  };
  std::vector<Equality> equalities;      // each takes away one variable
  std::map<std::string, Bounds> bounds;  // of variables that stay free
  std::set<std::string> values;          // inputs whose elements are sizes
  std::map<std::string, int64_t> swept;  // greatest values of variables that windows go along
  RankCases cases;                       // by node
};

/// Adds to `findings` what meets the demand, as far as variables are concerned that nobody bounded: an equality, or
/// tighter bounds. `sizes` has all equalities found so far. False, and nothing is added, when nothing meets it.
bool learn(const SizeDemand& demand, SizeVariables& sizes, SizeFindings& findings);

}  // namespace svod
