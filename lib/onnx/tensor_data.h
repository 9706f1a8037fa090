// The data of the tensors in a model: inside the file in one of several fields, or in files beside it.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "data/mapped_file.h"
#include "ir/model.h"
#include "onnx/model_file.h"

namespace svod {

/// Elements in row-major order, little endian, as GraphBuilder::weight takes them.
struct TensorData {
  DType dtype = DType::Void;
  std::vector<int64_t> dims;
  ConstData data;
};

class TensorLoader {
 public:
  /// `filesRead`, where given, gets the path of every file that is opened.
  explicit TensorLoader(std::shared_ptr<const OnnxFile> file, std::set<std::string>* filesRead = nullptr)
      : file_(std::move(file)), filesRead_(filesRead) {}

  /// Borrows from the model or a mapped file where the format allows it; the result keeps either alive.
  /// `tensor` is part of the model. Errors: Syntax, Unsupported dtypes, Io and BadWeights for external data.
  /// External files lie in the folder of the model or of what it is a link to, or below, wherever links lead.
  Result<TensorData> load(const proto::TensorProto& tensor);
  /// The same as a dense tensor of its own. Errors also: TooLarge above 2^30 bytes.
  Result<TensorData> load(const proto::SparseTensorProto& tensor);

 private:
  Result<ConstData> external(const proto::TensorProto& tensor, const std::string& name, uint64_t bytes);

  std::shared_ptr<const OnnxFile> file_;
  std::set<std::string>* filesRead_;
  std::map<std::string, std::shared_ptr<const MappedFile>> open_;
};

}  // namespace svod
