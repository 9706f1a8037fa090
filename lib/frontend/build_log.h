// What was asked of a GraphBuilder, in order. With it, model_writer.h writes the graph as a file in the words it was
// built with; the graph alone knows only primitives.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/attributes.h"

namespace svod {

struct BuildLog {
  /// Call: an op of the table; `name`, `operands`, `attributes`, `results`. Calls inside of its lowering are not kept.
  /// Note: `name` says what the nodes from here on belong to.
  /// Temporary: `operands` the start value, `results` the buffer. Assign: `operands` target and value.
  /// Output: `name`, `operands` the value. Expect: `name` the text, `operands` what is given and wanted,
  /// `attributes` a kind that is not the usual one; or `attributes` two sizes a and b. Loop: `name` the counter,
  /// `count`, `unroll`, `operands` the condition if there is one, `results` the range. Branch: `operands` the
  /// condition. Otherwise and End: of the innermost of these.
  enum class Kind : uint8_t { Call, Note, Temporary, Assign, Output, Expect, Loop, Branch, Otherwise, End };

  struct Operand {
    UOp node;  // states and temporaries: the content that was read
    bool isLiteral = false;
  };

  struct Step {
    Kind kind = Kind::Call;
    uint32_t at = 0;  // nodes in the graph before it
    std::string name;
    std::vector<Operand> operands;
    Attributes attributes;
    std::vector<UOp> results;  // Branch and Otherwise: the range of the body
    UOp effect;                // Assign, Temporary: the store. Otherwise, End: the end of the body before it, or null
    Dim count;
    bool unroll = false;
  };

  /// The place of a node in the order of the steps, which counts like Step::at.
  uint32_t placeOf(UOp node) const { return node.id() < places.size() ? places[node.id()] : node.id(); }

  std::vector<Step> steps;
  std::vector<uint32_t> places;  // by id; empty as long as nodes are numbered in the order of the steps
};

/// Adds to a log, or to none.
class BuildRecorder {
 public:
  BuildRecorder() = default;
  explicit BuildRecorder(BuildLog* log) : log_(log) {}

  BuildLog* log() const { return log_; }
  size_t size() const { return log_ ? log_->steps.size() : 0; }
  /// A step in front of which the graph has `at` nodes, or null.
  BuildLog::Step* add(BuildLog::Kind kind, std::string_view name, size_t at,
                      std::vector<BuildLog::Operand> operands = {});
  /// The same for what an op expects while it is lowered: it stands before the call.
  BuildLog::Step* addBeforeCall(BuildLog::Kind kind, std::string_view name, size_t at);
  /// The last step is the call of an op that is lowered now; ends that, and gives the step.
  void openCall() { openCall_ = log_->steps.size() - 1; }
  BuildLog::Step& closeCall();
  /// Forgets what was asked for from step `first` on, but for calls and notes.
  void dropStatements(size_t first);

 private:
  BuildLog* log_ = nullptr;
  std::optional<size_t> openCall_;  // the step of the op that is being lowered
};

/// Gives nodes that were rebuilt their places among the steps: sources first, as late as they are needed.
void placeNodes(BuildLog& log, size_t nodes);

}  // namespace svod
