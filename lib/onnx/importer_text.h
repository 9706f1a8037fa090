// Names and options in the messages about a model, and the keys of its functions.
#pragma once
#include <string>
#include <string_view>

#include "frontend/size_form.h"
#include "onnx/model_file.h"

namespace svod {

/// The op of a node, with its domain unless that is the default one.
std::string opName(const proto::NodeProto& node);
std::string functionKey(std::string_view domain, const std::string& name, const std::string& overload);
/// What to type: "--const s=FILE.npy", quoted where a shell would split it.
std::string optionText(std::string_view flag, const std::string& name, std::string_view value);
/// Whether an axis has no size: no number, or one below 0, which exporters write for "any".
bool isFreeDim(const proto::TensorShapeProto& shape, int axis);
/// The size of a free axis: its name, or what its name says. Where it has none, or a mark in its place ("?", "-1"),
/// INPUT.AXIS.
SizeForm formOfDim(const proto::ValueInfoProto& input, int axis);
bool hasShape(const proto::ValueInfoProto& value);
/// The shape of an input as --shape takes it: "SIZEx3x224x224", with SIZE for what has no number.
std::string shapeText(const proto::ValueInfoProto& input);
/// Names come from the file: what they hold must not steer the terminal that shows them.
Error printable(Error error);

}  // namespace svod
