// Builds a Model from a GraphFile, statement by statement, in the order of the file.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/builder.h"
#include "frontend/c_sources.h"
#include "frontend/frontend.h"
#include "frontend/graph_op.h"
#include "frontend/size_variables.h"
#include "frontend/weights.h"

namespace svod {

class ModelReader {
 public:
  /// Without `sources` files of C are not read.
  ModelReader(const GraphFile& file, const LoadOptions& options, CSources* sources = nullptr);
  /// Runs over every statement; errors() is empty afterwards if the model is good.
  void read();
  const std::vector<Error>& errors() const { return errors_; }
  GraphBuilder& builder() { return builder_; }
  WeightLoader& weights() { return weights_; }
  Result<Model> finish() { return std::move(builder_).finish(); }

 private:
  static constexpr size_t kMaxErrors = 20;  // more are not looked for

  /// What a name stands for. Broken: its line had an error, so uses of it say nothing more. Literal: a parameter that
  /// is a number, a word or a list of them.
  struct Entry {
    enum class Kind : uint8_t { Variable, Value, Literal, Broken } kind = Kind::Broken;
    Dim dim;
    Tensor tensor;
    Position at;
    const GraphExpr* literal = nullptr;
    bool isLet = false, isShared = false;  // shared: functions defined below see it
    size_t order = 0, copies = 0;          // names before it; copies of repeats and bodies around it
    int bodies = 0;
  };
  struct Function {
    const Statement* definition;
    size_t known;  // names of the file above it
    bool isGood;   // else an error was recorded
    size_t calls;  // so far
  };
  /// A call that is being read, with the names of its caller.
  struct FunctionCall {
    std::unordered_map<std::string, Entry> scope;
    std::vector<std::string> order;
    std::map<std::string, Position, std::less<>> ended;
    const Function* function;
    Position at;
    std::string prefix;  // of the names of its values, for people
    size_t copies;       // of repeats around it
  };
  struct StatedType {
    DType dtype;
    Dims dims;
  };
  struct Bound {
    int64_t value;
    std::string from;  // "--var n=8" or "graph.svod:3"
  };

  // model_reader.cpp, model_bodies.cpp: statements
  void statement(const Statement& s);
  void variable(const Statement& s);
  void input(const Statement& s);
  void weightOrState(const Statement& s);
  void let(const Statement& s);
  void assign(const Statement& s);
  void output(const Statement& s);
  /// All of them, until there are too many errors.
  void inOrder(const std::vector<Statement>& statements);
  bool declare(const NameAt& name);
  void define(const NameAt& name, Tensor value);
  void record(Error error, Position at);
  void record(Diag diag, Position at, std::string message, std::string help = {});
  /// Moves an error of the builder here; true if there was one.
  bool takeError(Position at);
  std::string place(Position at) const;
  SourceLoc locationOf(Position at) const;

  // model_bodies.cpp
  void temporary(const Statement& s);
  void loop(const Statement& s);
  void branch(const Statement& s);
  void body(const std::vector<Statement>& statements);
  void scoped(const std::vector<Statement>& statements);
  void end(const NameAt& name);

  // model_functions.cpp
  void repeat(const Statement& s);
  void function(const Statement& s);
  bool mayCopy(const Statement& s, Position at);
  bool isCarried(const NameAt& name) const;
  std::string fullName(const NameAt& name) const;
  GraphExpr filled(GraphExpr data) const;
  const Entry* find(const std::string& name) const;
  bool isVisible(const Function& function) const;
  bool isSize(const GraphExpr& e) const;
  Entry operand(const GraphExpr& e);
  std::vector<Tensor> callFunction(Function& function, const GraphExpr& e);
  std::vector<Tensor> bodyResults(const Statement& definition);
  void swapNames(FunctionCall& call);

  // model_options.cpp
  void applyOptions();
  void declareVariables();
  void bindShape(const std::string& input, const std::vector<SizeForm>& shape, const std::string& from);
  void bindDim(const Statement& input, size_t axis, const SizeForm& wanted, const std::string& from);
  void bind(const std::string& variable, int64_t value, const std::string& from);
  Dim sizeOf(const SizeForm& form);
  Dim freeVariable(const std::string& name);
  void checkShapeOption(const Statement& s, const Dims& dims);

  // model_types.cpp; nothing: an error was recorded
  std::optional<DType> dtype(const TypeExpr& type);
  std::optional<Dims> dims(const TypeExpr& type);
  std::optional<StatedType> statedType(const TypeExpr& type);
  void checkAnnotation(const Statement& s, const Tensor& value);

  // model_expr.cpp: expressions. Null results: an error was recorded, here or where a name was defined.
  Tensor value(const GraphExpr& e);
  std::vector<Tensor> values(const GraphExpr& e);
  std::vector<Tensor> call(const GraphExpr& e);
  Tensor chain(const GraphExpr& e);
  Dim size(const GraphExpr& e);
  Dim sizeCall(const GraphExpr& e);
  Dim sizeOf(const std::string& symbol, const std::vector<Dim>& sides, Position at);
  std::optional<AttributeValue> attribute(const GraphExpr& e, AttributeType type);
  Tensor named(const GraphExpr& e);
  bool readSource(const Attributes& attributes, Position at);
  const Entry* lookup(const GraphExpr& e, bool isSize = false);
  void unknownName(const GraphExpr& e, bool isSize);
  void unknownOp(const GraphExpr& e);
  std::string memberOf(const std::string& name, bool hasArguments) const;
  bool isComment(std::string_view op, const GraphExpr& behind);
  bool isAttributeGivenAsOperand(const GraphOp& op, const GraphExpr& e);
  const Statement* definitionOf(std::string_view name);
  bool dependsOnStatement(const Statement& from, const Statement& target);

  const GraphFile& file_;
  const LoadOptions& options_;
  CSources* sources_;
  GraphBuilder builder_;
  WeightLoader weights_;
  std::unordered_map<std::string, Entry> scope_;
  std::vector<std::string> order_;                            // names in scope_, in order of definition
  std::map<std::string_view, const Statement*> definitions_;  // made when an unknown name is met
  std::map<std::string, Bound> bound_;
  SizeVariables sizes_;
  std::map<std::string, Dim> freeVariables_;
  std::map<std::string, std::string> constantFiles_;
  std::vector<Error> errors_;
  const Statement* current_ = nullptr;
  int bodies_ = 0;               // open ones
  std::vector<int64_t> copies_;  // numbers of those that are being read, of nested repeats
  size_t copied_ = 0;            // statements of copies and calls so far
  std::map<std::string, Function, std::less<>> functions_;
  std::vector<FunctionCall> calls_;                     // open ones
  std::map<std::string, Position, std::less<>> ended_;  // names that were defined in a body
};

}  // namespace svod
