// The data of weights and states: files are mapped and stay mapped as long as the data is used, inline values
// are packed.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/safetensors.h"
#include "frontend/graph_file.h"
#include "frontend/tensor.h"
#include "ir/dtype.h"
#include "ir/model.h"

namespace svod {

/// The initial value of a state: elements that share bytes in `data` get one each. And back.
ConstData byteForEach(DType dtype, const Dims& dims, ConstData data);
ConstData sharedBytes(DType dtype, ConstData data);

class WeightLoader {
 public:
  /// Relative paths start at `directory`. `filesRead`, where given, gets the path of every file that is opened.
  explicit WeightLoader(std::string directory, std::set<std::string>* filesRead = nullptr)
      : directory_(std::move(directory)), filesRead_(filesRead) {}

  /// Elements of dtype and shape from a data expression: "file.npy", "file.safetensors:tensor", a number or
  /// the words zeros and ones for every element, or nested lists of numbers.
  Result<ConstData> load(const GraphExpr& data, DType dtype, std::span<const int64_t> shape);
  /// Bytes of the right size that a file of this description is known to hold; it is not read then.
  void give(std::string description, ConstData data) {
    given_.insert_or_assign(std::move(description), std::move(data));
  }
  /// Shape of a .npy file, from its header.
  static Result<std::vector<int64_t>> npyShape(const std::string& path, DType dtype);
  /// The array that `--const input=path` gives to an input of this type.
  static Result<ConstData> loadConstant(const std::string& input, const std::string& path, DType dtype,
                                        std::span<const int64_t> shape);

 private:
  Result<ConstData> loadFile(const std::string& spec, DType dtype, std::span<const int64_t> shape);
  Result<ConstData> loadSafetensor(const std::string& path, const std::string& tensor, DType dtype,
                                   std::span<const int64_t> shape);
  std::string opened(const std::string& path);

  std::string directory_;
  std::set<std::string>* filesRead_;
  std::map<std::string, ConstData> given_;
  std::map<std::string, std::shared_ptr<const SafetensorsFile>> open_;
};

}  // namespace svod
