// An ONNX model in memory, as the file has it.
#pragma once
#include <onnx.pb.h>

#include <memory>
#include <span>
#include <string>

#include "support/result.h"

namespace svod {

struct OnnxFile {
  proto::ModelProto model;      // with its nodes sorted
  std::string path, directory;  // external data is looked for in the directory
};

/// Errors: Io; Syntax when the bytes are no model; TooLarge for 2 GiB and more, which protobuf cannot read.
Result<std::shared_ptr<const OnnxFile>> readOnnxFile(const std::string& path);
Result<std::shared_ptr<const OnnxFile>> parseOnnx(std::span<const std::byte> bytes, const std::string& path);

/// "" for the default domain, which files also call "ai.onnx".
std::string_view canonicalDomain(std::string_view domain);

}  // namespace svod
