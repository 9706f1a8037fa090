// Names of a model in messages, and the keys of its functions.
#pragma once
#include <string>
#include <string_view>

#include "onnx/model_file.h"

namespace svod {

/// The op of a node, with its domain unless that is the default one.
std::string opName(const proto::NodeProto& node);
std::string functionKey(std::string_view domain, const std::string& name, const std::string& overload);
/// A name of any length, fit for a message.
std::string shortened(const std::string& name);

}  // namespace svod
