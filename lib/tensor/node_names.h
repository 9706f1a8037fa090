// Names of the nodes of a graph of tensors, for kernels and decisions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "support/decision.h"

namespace svod {

/// What the source file calls a node: a value without a name of its own is a step towards the first named value that
/// uses it. `order` is topological. The model keeps its labels and ports as they are while this lives.
class NodeLabels {
 public:
  NodeLabels(const Model& model, std::span<const UOp> order);
  /// The label, else the name of the port, else the op.
  std::string_view of(UOp node) const;

 private:
  const Model& model_;
  std::vector<const std::string*> labels_;  // by node id; null: none
};

/// `label` without what names in decisions cannot hold: spaces and = | , #.
std::string plainLabel(std::string label);

/// Names as label.op, which no two nodes share: further ones of a label and op are label.op#2, .., in order of their
/// distance from the leaves, then of content. So no name depends on an address or on parts of the graph beside its
/// label.
class NodeNames {
 public:
  NodeNames(const Model& model, std::span<const UOp> order) : model_(model), order_(order.begin(), order.end()) {}
  /// Empty for nodes that have none, and for those made after the first question.
  std::string of(UOp node);

 private:
  struct Name {
    uint32_t text = 0;  // among texts_; 0: none
    uint32_t number = 0;
  };

  void build();

  const Model& model_;
  std::vector<UOp> order_;
  std::vector<std::string> texts_;  // label.op
  std::vector<Name> names_;         // by node id
};

/// Decisions about the nodes of one graph.
struct NodeDecisions {
  NodeDecisions(const Model& model, std::span<const UOp> order, Decisions& decisions)
      : names(model, order), decisions(decisions) {}
  /// Of `alternatives` about `node`; `kind` is the first part of the name.
  size_t decide(const char* kind, UOp node, std::vector<Alternative> alternatives, size_t chosen, const char* reason) {
    return decisions.decide({std::string(kind) + ":" + names.of(node), std::move(alternatives), chosen, reason});
  }

  NodeNames names;
  Decisions& decisions;
};

}  // namespace svod
