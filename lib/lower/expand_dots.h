// Operands of dot product instructions: each lane of the results holds a group of elements of a factor.
#pragma once
#include <functional>
#include <map>

#include "lower/dot_form.h"
#include "lower/expand_index.h"
#include "lower/fold_terms.h"

namespace svod {

class DotExpander {
 public:
  /// How what surrounds a dot product expands: values without lanes of their own, and what a buffer is stored in.
  struct Around {
    std::function<UOp(UOp node, const Assignment&)> value, storage;
  };
  /// `graph` and `index` are those of the expansion, and outlive this.
  DotExpander(Graph& graph, IndexExpander& index, Around around)
      : g_(graph), index_(index), around_(std::move(around)) {}

  FoldTerm term(const DotForm& form, const Assignment& point);

 private:
  UOp factor(UOp node, UOp dot, const Assignment& point);
  UOp grouped(UOp node, const DotLanes& lanes, const Assignment& point);
  UOp buildGrouped(UOp node, const DotLanes& lanes, const Assignment& point);

  Graph& g_;
  IndexExpander& index_;
  Around around_;
  // By range of the lanes; by node and assignment.
  std::map<uint32_t, std::map<std::pair<uint32_t, Assignment>, UOp>> groups_;
};

/// Lanes that access one address under different gates each have an address of their own.
UOp widenedAddress(Graph& graph, UOp address, int lanes);

}  // namespace svod
