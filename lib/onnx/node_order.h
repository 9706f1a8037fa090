// The order of nodes: files may list them in any order, the importer walks them in one in which every value is made
// before it is used.
#pragma once
#include <onnx.pb.h>

#include <string>
#include <string_view>
#include <unordered_set>

namespace svod {

using ProtoNodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

/// Puts the nodes of the graph, of its functions and of the graphs inside of nodes in an order in which values are made
/// before they are used. Of the nodes that could come next, the one listed first does: sorted graphs stay as they are.
/// Nodes of a circle, and what depends on them, come last, as they are listed.
void sortNodes(proto::ModelProto& model);

/// Names of values, which point into the model.
using UsedNames = std::unordered_set<std::string_view>;
/// Adds what one node takes, or all of them, and what graphs inside of them take from around.
void addUses(const proto::NodeProto& node, UsedNames& names);
void addUses(const ProtoNodes& nodes, UsedNames& names);

/// Why `name`, which one of the nodes makes, depends on itself: "'a' needs 'b', 'b' needs 'a'". Empty when it does not.
std::string circleThrough(const ProtoNodes& nodes, const std::string& name);

/// The node of a body that makes a value; null where none does.
const proto::NodeProto* makerOf(const proto::GraphProto& body, const std::string& name);

}  // namespace svod
