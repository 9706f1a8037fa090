// The names of a model are checked before anything else is read of it.
#pragma once
#include <onnx.pb.h>

#include <string>

#include "support/result.h"

namespace svod {

/// Errors: Syntax at `path`, naming the first byte of a name that is not UTF-8.
Status checkNames(const proto::ModelProto& model, const std::string& path);

}  // namespace svod
