// What the lowering of an ONNX op sees: operands, attributes with the defaults of the op's row, values that
// are known before the plan runs, and ways to say what is wrong. Everything here that fails records an error
// and gives something empty; the results of a lowering that recorded an error are dropped, so a lowering
// checks only where it would trip over an empty value.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/builder.h"
#include "interp/tensor.h"
#include "onnx/op_table.h"

namespace svod {

namespace proto {
class AttributeProto;
class GraphProto;
}  // namespace proto

/// Elements of u8 or i8, and their zero point where that is known to be one number for all of them.
struct Bytes {
  Tensor elements;  // null: of another type, or moved since
  std::optional<int64_t> zero;
};

/// Integers of at most 8 bits less their zero points, in i32, and what they are made of.
struct Quantized {
  Tensor distance;
  Bytes bytes = {};
};

/// A value that DequantizeLinear made: its integers times `scale`, one number or a vector along `axis`.
struct Dequantized : Quantized {
  Tensor scale;
  int axis = 0;
};

/// What an f32 value was made of: an i32 sum of products times `scale`, and the bias on top. Both are known when the
/// model is read, and broadcast to the sum; there may be no bias.
struct ScaledSum {
  Tensor sum, scale, bias = {};
};

/// What is remembered of values that are made of integers.
class QuantizedValues {
 public:
  void set(const Tensor& x, Dequantized from) { dequantized_[x.node().id()] = std::move(from); }
  void set(const Tensor& x, ScaledSum from) { sums_[x.node().id()] = std::move(from); }
  /// Null for all other values.
  const Dequantized* dequantized(const Tensor& x) const { return find(dequantized_, x); }
  const ScaledSum* scaledSum(const Tensor& x) const { return find(sums_, x); }

 private:
  template <class Value>
  static const Value* find(const std::unordered_map<uint32_t, Value>& values, const Tensor& x) {
    const auto known = values.find(x.node().id());
    return known == values.end() ? nullptr : &known->second;
  }

  std::unordered_map<uint32_t, Dequantized> dequantized_;  // by node
  std::unordered_map<uint32_t, ScaledSum> sums_;           // the same
};

/// What a value stands for that is no tensor: a sequence, or an optional without a value.
struct TensorList {
  std::vector<Tensor> elements;
  bool isNothing = false;
  /// In place of elements: tensors of one shape, as many as its axis 0 has, which may be a variable or a length.
  Tensor stack = {};
};

/// An output of a graph attribute that is asked for as another value of it; the node that makes it is left out.
struct OutputAs {
  std::string output, value;
};

/// What messages say about a condition that decides how many axes a result has.
struct CaseText {
  std::string holds, fails;       // "its condition holds"
  int part = 0;                   // which of the conditions of the node
  std::optional<bool> only = {};  // the one case that there is
};

/// What a node needs from the importer. Lowerings use the functions of OnnxNode instead.
class OnnxContext {
 public:
  virtual ~OnnxContext() = default;
  virtual class KnownValues& knownValues() = 0;
  virtual Tensor constantTensor(const HostTensor& value, std::string_view name) = 0;
  virtual std::optional<HostTensor> tensorAttribute(const proto::AttributeProto& attribute) = 0;
  /// The outputs of a graph attribute, some of them as other values; its names see those of the graph around it.
  virtual std::vector<Tensor> subgraph(const proto::GraphProto& graph, std::span<const Tensor> inputs,
                                       std::span<const OutputAs> others) = 0;
  /// Runs `build`. False when it comes upon something unsupported: then its errors and effects are forgotten.
  virtual bool attempt(const std::function<void()>& build) = 0;
  /// What a length that the node makes is called.
  virtual std::string lengthName() const = 0;
  virtual QuantizedValues& quantizedValues() = 0;
  /// A value for a list: only ops that take lists are given it.
  virtual Tensor listOf(TensorList list) = 0;
  /// Null for tensors.
  virtual const TensorList* list(const Tensor& x) const = 0;
  /// Another number with every call, the same ones for the same model.
  virtual uint64_t randomKey() = 0;
  /// Every run is to check that `given`, what it makes of these operands of the node, is `wanted`.
  virtual void expect(const Tensor& given, const Tensor& wanted, const std::string& operands) = 0;
  /// Sizes nobody bounded are to be such that least <= most, if they can: what the model was made for. No error
  /// otherwise. Not where one of them would have to be more than `farthest`. Whether they are, or will be when the
  /// import starts again.
  virtual bool prefer(Dim least, Dim most, int64_t farthest) = 0;
  virtual void preferShort(Dim sorted) = 0;
  /// An op was refused because it must know the value of these inputs.
  virtual void askForValues(std::span<const std::string> inputs) = 0;
  /// Whether a condition that decides how many axes a result has holds in the plan. Bounds of sizes leave the other
  /// case out, or every run checks that it is not in it.
  virtual bool decideCase(const Tensor& condition, const CaseText& text) = 0;
  /// Runs `build`. Its errors, where the model may be right without what they are about: then they and its effects are
  /// forgotten. Other errors stay.
  virtual std::vector<Error> errorsOf(const std::function<void()>& build) = 0;
  virtual void recordAll(const std::vector<Error>& errors) = 0;
  /// What --var calls an element of operand i, where a run computes it: VALUE.K.
  virtual std::string elementName(int i, int64_t element) const = 0;
  /// The bounds that --var gives it.
  virtual std::optional<Interval> elementBounds(const std::string& name) = 0;
  /// The bounds it is taken to have where neither --var nor the model gives it any; nothing where it is to be refused.
  virtual std::optional<Interval> usualElementBounds(const std::string& name) = 0;
  /// Whether what is imported now is forgotten, but for the dims of its results.
  bool isRehearsing = false;
};

/// One node, with attributes already resolved where they refer to those of a function. Lives during its
/// lowering.
class OnnxNode {
 public:
  GraphBuilder& b;
  const OnnxOp& op;
  const int opset;        // of the domain of the op
  const int resultCount;  // outputs the node lists

  /// `attributes` fit the row; `wanted[i]` tells whether output i has a name, and
  /// `declared[i]` which dims the model states for it.
  OnnxNode(GraphBuilder& builder, OnnxContext& context, const OnnxOp& row, int version, std::vector<Tensor> inputs,
           std::vector<const proto::AttributeProto*> attributes, std::vector<bool> wanted,
           std::vector<std::optional<Dims>> declared = {});

  // --- Operands. Omitted ones are null.
  int count() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return static_cast<bool>(arg(i)); }
  Tensor arg(int i) const { return i >= 0 && i < count() ? inputs_[i] : Tensor(); }
  std::span<const Tensor> args() const { return inputs_; }
  /// The node with other operands.
  OnnxNode withArgs(std::vector<Tensor> inputs) const {
    OnnxNode other = *this;
    other.inputs_ = std::move(inputs);
    return other;
  }
  /// Whether somebody uses output i.
  bool wants(int i) const { return i < resultCount && wanted_[i]; }

  /// The dims of output i, where the model states numbers for all of them. When an operand that decides a
  /// shape is known only in a run, they are used in its place, and expect() has the run compare the two.
  std::optional<Dims> declared(int i) const {
    return static_cast<size_t>(i) < declared_.size() ? declared_[static_cast<size_t>(i)] : std::nullopt;
  }

  // --- Attributes, by the name in the row. Absent without default: 0, empty.
  bool has(std::string_view attribute) const;
  int64_t integer(std::string_view attribute) const;
  bool flag(std::string_view attribute) const { return integer(attribute) != 0; }
  double number(std::string_view attribute) const;
  std::string word(std::string_view attribute) const;
  std::vector<int64_t> integers(std::string_view attribute) const;
  std::vector<double> numbers(std::string_view attribute) const;
  std::vector<std::string> words(std::string_view attribute) const;
  /// Void and an error for element types that are not supported.
  DType dtype(std::string_view attribute) const;
  std::optional<HostTensor> tensor(std::string_view attribute) const;
  /// Imports the graph of an attribute with these inputs; its outputs, or nothing after an error.
  std::vector<Tensor> graph(std::string_view attribute, std::span<const Tensor> inputs,
                            std::span<const OutputAs> others = {}) const;
  /// The graph of an attribute as it is written; null where there is none.
  const proto::GraphProto* graphText(std::string_view attribute) const;
  /// Runs `build`. False when it comes upon something unsupported: then its errors and effects are forgotten.
  bool attempt(const std::function<void()>& build) const { return context_.attempt(build); }

  /// The same with the errors.
  std::vector<Error> errorsOf(const std::function<void()>& build) const { return context_.errorsOf(build); }
  void recordAll(const std::vector<Error>& errors) const { context_.recordAll(errors); }
  /// Whether the plan is for runs in which the condition holds, where it decides how many axes a result has.
  bool decideCase(const Tensor& condition, const CaseText& text) const { return context_.decideCase(condition, text); }

  // --- Values known before the plan runs. When operand i is not known, that is an error that names the
  // inputs it comes from; isKnown() asks without one.
  bool isKnown(int i) const;
  /// The options that give the sizes a value depends on a number, each with a blank in front; empty without such sizes.
  std::string sizeOptions(const Tensor& x) const;
  /// The value of any tensor, if it is known.
  std::optional<HostTensor> valueOf(const Tensor& x) const;
  std::optional<HostTensor> constant(int i) const;
  /// The elements of an integer operand as sizes: numbers, or expressions over variables.
  Dims sizes(int i) const;
  /// The same, where elements that only a run knows become lengths if something bounds them, such as Min, Clip or
  /// --var. A run in which one is negative, or outside of what --var says, fails.
  Dims sizesOrLengths(int i) const;
  /// The same of amounts, which may be negative.
  Dims amountsOrLengths(int i) const;
  /// Operand i, one integer, as such a length, or 0 where it is negative; null where nothing bounds it.
  Dim lengthOf(int i) const;
  /// A size that may be negative, and that no bounds of variables keep from it, as one that is 0 then; such a run
  /// fails.
  Dim natural(Dim size) const;
  std::vector<int64_t> integers(int i) const;
  std::vector<double> numbers(int i) const;
  /// A list that older opsets have as attribute and newer ones as operand: the operand if there is one.
  std::vector<int64_t> integers(std::string_view attribute, int i) const;
  /// The dims of output 0 to use in place of the sizes in operand i, when only a run knows these.
  std::optional<Dims> declaredFor(int i) const { return has(i) && !isKnown(i) ? declared(0) : std::nullopt; }
  /// Every run checks that `given`, an integer vector that it makes of these operands, is `wanted`, which the plan is
  /// compiled for.
  void expect(std::initializer_list<int> operands, Tensor given, const Dims& wanted) const;
  /// Whether operand i is a vector of so many entries, or of a number that is not a variable; if not, that is an error.
  bool hasEntries(int i, std::optional<int> count = {}) const;
  /// As above for one number.
  int64_t integer(std::string_view attribute, int i, int64_t absent) const;

  // --- Making values
  /// An op of frontend/ops.def. Prefer it to formulas where one fits: converted graphs stay readable.
  Tensor call(std::string_view graphOp, std::initializer_list<Tensor> operands,
              const Attributes& attributes = {}) const;
  Tensor call(std::string_view graphOp, std::span<const Tensor> operands, const Attributes& attributes = {}) const;
  std::vector<Tensor> callAll(std::string_view graphOp, std::span<const Tensor> operands,
                              const Attributes& attributes = {}) const;
  Tensor constantTensor(const HostTensor& value) const;
  Tensor constantTensor(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values) const;
  /// Sizes as an i64 vector, known to isKnown() and sizes().
  Tensor sizesTensor(const Dims& sizes) const;
  /// A sort costs what the greatest size does: sizes that nobody bounds leave this one short.
  void preferShort(Dim sorted) const { context_.preferShort(sorted); }
  bool prefer(Dim least, Dim most, int64_t farthest = INT64_MAX) const {
    return context_.prefer(least, most, farthest);
  }
  uint64_t randomKey() const { return context_.randomKey(); }
  bool isRehearsing() const { return context_.isRehearsing; }
  void setRehearsing(bool isRehearsing) const { context_.isRehearsing = isRehearsing; }

  // --- Sizes that a run computes
  /// The size that an i64 scalar has in a run, at most `room`; the scalar itself where it is known.
  Dim length(Tensor count, Dim room) const;
  /// The first `count` entries along an axis.
  Tensor firstOf(Tensor x, int axis, Tensor count) const;
  void setDequantized(const Tensor& x, Dequantized from) const { context_.quantizedValues().set(x, std::move(from)); }
  const Dequantized* dequantized(int i) const {
    return has(i) ? context_.quantizedValues().dequantized(arg(i)) : nullptr;
  }
  void setScaledSum(const Tensor& x, ScaledSum from) const { context_.quantizedValues().set(x, std::move(from)); }
  const ScaledSum* scaledSum(int i) const { return has(i) ? context_.quantizedValues().scaledSum(arg(i)) : nullptr; }

  // --- Lists of tensors
  Tensor listOf(TensorList list) const { return context_.listOf(std::move(list)); }
  const TensorList* list(const Tensor& x) const { return x ? context_.list(x) : nullptr; }
  const TensorList* list(int i) const { return list(arg(i)); }

  // --- Errors
  Tensor fail(Diag diag, std::string message, std::string help = {}) const;
  /// `help` names the nearest form that is supported.
  Tensor unsupported(std::string message, std::string help) const;
  /// Unless `condition` holds, records that the model breaks a rule of the op; operands are described.
  bool require(bool condition, std::string_view what) const;
  /// axis counted from the front; -1 and an error when it is out of range.
  int axis(int64_t axis, int rank) const;
  /// Several axes from the front; nothing and an error when one is out of range or listed twice.
  std::vector<int> axes(std::span<const int64_t> axes, int rank) const;

 private:
  std::optional<Interval> namedBounds(int i, int64_t element, const Tensor& value, bool isUsual) const;
  Dim bounded(int i, int64_t element, bool isSigned) const;
  Dims boundedAll(int i, bool areSigned) const;
  const proto::AttributeProto* find(std::string_view attribute) const;
  std::string_view preset(std::string_view attribute) const;
  /// `elements`: those of operand i that --var may bound, where the node takes such sizes.
  void failUnknown(int i, std::span<const int64_t> elements = {}) const;

  OnnxContext& context_;
  std::vector<Tensor> inputs_;
  std::vector<const proto::AttributeProto*> attributes_;
  std::vector<bool> wanted_;
  std::vector<std::optional<Dims>> declared_;
};

}  // namespace svod
