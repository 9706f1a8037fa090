// Random ONNX models whose dims have names: what a plan for free sizes must compute like one for fixed sizes.
#pragma once
#include <cstdint>
#include <map>
#include <random>

#include "onnx_maker.h"
#include "onnx_run.h"

namespace svod {

/// Sizes by the name of a dim.
using NamedSizes = std::map<std::string, int64_t>;

/// Nodes are added one by one; what is not valid at the usual sizes is taken back.
class RandomModel {
 public:
  explicit RandomModel(uint64_t seed);

  OnnxMaker maker;
  std::vector<std::vector<std::string>> inputs;  // dims of x0, x1, ..
  static const NamedSizes& usualSizes();
  /// The options that make these sizes numbers.
  LoadOptions fixedTo(const NamedSizes& sizes) const;

 private:
  /// A float value of the model, with its dims at the usual sizes.
  struct Value {
    std::string name;
    std::vector<int64_t> dims;
  };
  int below(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  const Value& any() {
    return values_[values_.size() - 1 - static_cast<size_t>(below(std::min(4, int(values_.size()))))];
  }
  std::string fresh() { return "t" + std::to_string(count_++); }
  std::string numbers(const std::vector<int64_t>& values);
  std::string scalar(int64_t value);
  int axisOf(const Value& x) { return below(std::max<int>(1, static_cast<int>(x.dims.size()))); }
  std::string sizeOf(const Value& x, int axis, bool isVector);
  std::string shapeSum(const Value& x, int axis);
  void addInputs();
  bool step();
  std::string build(const Value& x, const Value& y);
  std::string movement(const Value& x, const Value& y);
  std::string shaped(const Value& x, const Value& y);
  std::string folded(const Value& x, const Value& y);
  std::string branched(const Value& x, const Value& y);
  std::string unary(const std::string& op, const std::vector<std::string>& operands);
  void branch(proto::NodeProto& node, const std::string& name, const Value& x, const Value& y);

  std::mt19937_64 random_;
  std::vector<Value> values_;
  int count_ = 0;
};

/// The sizes of an input with these dims.
std::vector<int64_t> sizesOf(const std::vector<std::string>& dims, const NamedSizes& sizes);

/// Outputs by name with the elements that their lengths say, or why there are none.
Result<std::map<std::string, HostTensor>> outputsAt(const OnnxImport& import, const RandomModel& model,
                                                    const NamedSizes& sizes);

}  // namespace svod
