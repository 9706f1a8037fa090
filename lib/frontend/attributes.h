// Attribute values of graph ops, typed by the op table.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/tensor.h"

namespace svod {

/// An integer, a number, a flag, a word, a dtype, a size, or a list of these.
struct AttributeValue {
  using List = std::vector<AttributeValue>;
  AttributeValue(int v) : value(int64_t{v}) {}
  AttributeValue(int64_t v) : value(v) {}
  AttributeValue(double v) : value(v) {}
  AttributeValue(bool v) : value(v) {}
  AttributeValue(const char* v) : value(std::string(v)) {}
  AttributeValue(std::string v) : value(std::move(v)) {}
  AttributeValue(DType v) : value(v) {}
  AttributeValue(Dim v) : value(v) {}
  AttributeValue(List v) : value(std::move(v)) {}
  AttributeValue(const Dims& dims) : value(List(dims.begin(), dims.end())) {}
  std::variant<int64_t, double, bool, std::string, DType, Dim, List> value;
};

std::string describe(const AttributeValue& value);  // for messages

/// Attributes by name, in any order.
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

}  // namespace svod
