// Sizes, numbers, attributes and data as expressions of a graph file.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "frontend/attributes.h"
#include "frontend/graph_file.h"
#include "ir/model.h"

namespace svod {

/// The name in the file of a variable or loop counter.
using SizeNames = std::function<std::string(UOp)>;

/// A size over variables and counters; nothing when it holds something else.
std::optional<GraphExpr> sizeExpr(UOp size, const SizeNames& names);
/// Whether the size is what the expression of sizeExpr becomes when it is read. Values computed from sizes need not be.
bool isWrittenSize(Graph& graph, UOp size);

/// The number alone; it takes the dtype of what it meets.
GraphExpr numberExpr(const Scalar& value);
/// The number with its dtype.
GraphExpr constantExpr(const Scalar& value);

std::optional<GraphExpr> attributeExpr(const AttributeValue& value, const SizeNames& names);

/// The elements of a weight as a nested list, if there are few and the list says exactly these bytes.
std::optional<GraphExpr> inlineData(DType dtype, const std::vector<int64_t>& dims, const ConstData& data);

}  // namespace svod
