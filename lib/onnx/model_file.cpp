#include "onnx/model_file.h"

#include <google/protobuf/io/coded_stream.h>

#include "data/mapped_file.h"
#include "onnx/model_names.h"
#include "onnx/node_order.h"

namespace svod {

namespace {

// A graph inside a node of a graph takes three levels of messages.
constexpr int kMaxMessageDepth = 100;

Error damaged(const std::string& path) {
  return {Diag::Syntax,
          "'" + path + "' is not an ONNX model, or is truncated or nested too deeply",
          "check the file: an ONNX model is a protobuf message of type ModelProto",
          {path, 0, 0}};
}

}  // namespace

std::string_view canonicalDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

Result<std::shared_ptr<const OnnxFile>> parseOnnx(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() > INT32_MAX)
    return fail(Diag::TooLarge, "'" + path + "' has 2 GiB or more, which is beyond the format",
                "store the weights as external data");
  if (bytes.empty())
    return fail(Error(Diag::Syntax, "'" + path + "' is empty", "write or download the model again", {path, 0, 0}));
  auto file = std::make_shared<OnnxFile>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  if (!file->model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) return fail(damaged(path));
  if (!file->model.has_graph()) return fail(damaged(path));
  SVOD_CHECK(checkNames(file->model, path));
  sortNodes(file->model);
  file->path = path;
  size_t slash = path.rfind('/');
  file->directory = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  return file;
}

Result<std::shared_ptr<const OnnxFile>> readOnnxFile(const std::string& path) {
  SVOD_TRY(MappedFile mapped, MappedFile::open(path));
  return parseOnnx(mapped.bytes(), path);
}

}  // namespace svod
