// What the names of dims of inputs say about sizes.
#pragma once
#include <map>
#include <set>
#include <string>

#include "frontend/frontend.h"
#include "frontend/size_form.h"

namespace svod {

namespace proto {
class GraphProto;
class ValueInfoProto;
}  // namespace proto

/// Dims and values have names of their own in a model, and one space of names in a graph: a dim that is named like an
/// input becomes NAME.size, and options may use either name. A name such as past + seq says what a size is by others
/// where a run finds all but one of these elsewhere; where two stand in such names only, the shapes of a run would not
/// tell them, and the name is that of one size.
class DimNames {
 public:
  void read(const proto::GraphProto& graph, const LoadOptions& options);
  /// The size of a free axis.
  SizeForm formOf(const proto::ValueInfoProto& input, int axis) const;
  /// The options with the names of variables.
  LoadOptions apart(LoadOptions options) const;

 private:
  void findWhole(const proto::GraphProto& graph, const LoadOptions& options);
  SizeForm saidBy(const proto::ValueInfoProto& input, int axis) const;
  SizeForm apart(const SizeForm& form) const;

  std::set<std::string, std::less<>> whole_;  // names that are written as sums, of one size
  std::map<std::string, std::string> apart_;  // variables of dims that are named like an input
};

}  // namespace svod
