// Which graphs are legal at which stage: a table of rules, each checking one fact about one node.
#pragma once
#include <string>

#include "ir/graph.h"
#include "support/result.h"

namespace svod {

/// A node that exists or is about to be made.
struct NodeView {
  Op op;
  DType dtype;
  std::span<const UOp> src;
  const Arg& arg;
};

/// One line of the specification. `check` returns "" or what is wrong, in words that continue "op: ".
struct SpecRule {
  std::string_view name, what;
  uint8_t stages;  // bits of Stage the rule holds in
  bool (*covers)(Op op);
  std::string (*check)(const NodeView& node);
};

/// Facts Graph::make relies on (arity, arg kind, axes, dim counts): checked before a node from a file is made.
std::span<const SpecRule> structuralRules();
/// dtypes and shapes, and storage and placement, per op.
std::span<const SpecRule> valueRules();
std::span<const SpecRule> storageRules();
/// Instructions of GPUs: operands, and that the threads they need together pass together.
std::span<const SpecRule> gpuRules();

/// "" or what is wrong with making this node at all.
std::string checkStructure(const NodeView& node);

struct VerifyOptions {
  /// Loads and stores whose index is not provably inside its buffer are evaluated at all values of their ranges and
  /// variables when these have at most this many combinations, else at their ends (ir/verify_access.h); 0 skips the
  /// check.
  int64_t enumerate = 4096;
};

/// Checks every node below `root` against all tables, that `root` is a sink with no open range, and that no load or
/// store can be shown to leave its buffer. The error names the rule, the node as `.uop` line and the stage.
Status verify(UOp root, Stage stage, const VerifyOptions& options = {});

/// The rule that no thread fills memory of its workgroup alone, on its own: what breaks it computes the right values,
/// many times slower. Of lowered graphs whose rings turn.
Status checkFills(UOp root);

}  // namespace svod
