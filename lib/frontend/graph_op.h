// The table of graph ops (ops.def): what a graph file and GraphBuilder::op can name.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/builder.h"

namespace svod {

enum class AttributeType : uint8_t { Int, Float, Bool, Word, DType, Dim, Ints, Floats, Dims };
std::string_view toText(AttributeType type);

/// One attribute of an op, read from its row: `name:type` is required, `name:type=default` is not, and the
/// default `none` means "absent". A type `a|b|c` is a choice of words; `word` takes any.
struct AttributeSpec {
  std::string_view name;
  AttributeType type;
  std::vector<std::string_view> choices;
  bool required;
  std::string_view defaultText;
};

struct OpCall;

/// The results of a lowering. Empty or holding a null Tensor after an error.
struct Results : std::vector<Tensor> {
  Results(Tensor one) : std::vector<Tensor>{std::move(one)} {}
  Results(std::vector<Tensor> all) : std::vector<Tensor>(std::move(all)) {}
};

struct GraphOp {
  std::string_view name;
  int minOperands, maxOperands;  // maxOperands == kAny: unbounded
  std::string_view operands;     // their names, for messages and docs: "x, w, [bias]"
  std::string_view attributes;   // text of the specs
  Results (*lower)(OpCall& call);
  std::string_view what;
  std::string_view theme;  // heading of the section in ops.def
};

std::span<const GraphOp> allGraphOps();
/// Also finds the operator symbols: + - * / // %, and - with one operand.
const GraphOp* findGraphOp(std::string_view name, size_t operandCount = 2);
/// Names for did-you-mean.
std::span<const std::string_view> graphOpNames();
const std::vector<AttributeSpec>& attributeSpecs(const GraphOp& op);

/// What a lowering function sees: operands and attributes that already fit the row.
struct OpCall {
  GraphBuilder& b;
  const GraphOp& op;
  std::span<const Tensor> operands;
  const Attributes& attributes;

  size_t count() const { return operands.size(); }
  Tensor arg(size_t i) const { return i < operands.size() ? operands[i] : Tensor(); }
  bool has(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string word(std::string_view name) const;
  DType dtype(std::string_view name) const;
  Dim dim(std::string_view name) const;
  std::vector<int> axes(std::string_view name) const;  // list of int, or one int
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  Dims dims(std::string_view name) const;

  Tensor fail(Diag diag, std::string message, std::string help = {}) const {
    return b.fail(diag, std::move(message), std::move(help));
  }
  /// Records a shape error that names every operand, unless `condition` holds.
  bool require(bool condition, std::string_view what) const;

 private:
  AttributeValue find(std::string_view name) const;
};

}  // namespace svod
