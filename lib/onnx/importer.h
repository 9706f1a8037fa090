// Walks an ONNX model node by node and builds the graph of tensors. A problem is recorded, the outputs of its
// node become "broken", and whatever needs them is skipped silently, so one pass over the model finds every
// problem.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/builder.h"
#include "frontend/frontend.h"
#include "frontend/model_writer.h"
#include "frontend/size_variables.h"
#include "frontend/weights.h"
#include "onnx/dim_names.h"
#include "onnx/imported_body.h"
#include "onnx/known_values.h"
#include "onnx/length_bounds.h"
#include "onnx/node.h"
#include "onnx/problem_list.h"
#include "onnx/size_findings.h"
#include "onnx/tensor_data.h"

namespace svod {

/// How large a state must be, and along which axes what follows it is larger.
struct StateRoom {
  std::vector<int64_t> dims;
  std::vector<bool> grows;
};
using StateRooms = std::map<std::string, StateRoom>;  // by input

/// An input that is a state.
struct ImportedState {
  std::string present;  // the output that is its next value
  Tensor content;       // all of it; null in an import without rooms
  UOp buffer;           // what it holds when a run begins
};

/// An element of an input that is a size.
struct ValueOfInput {
  std::string input;
  int64_t element = 0, count = 0;  // this one, and how many the input has
  Tensor x;
  Dim size;
};

class OnnxImporter : public OnnxContext {
 public:
  /// `findings`: what earlier attempts found out about sizes. Without rooms, the inputs that are to be states stay
  /// inputs.
  OnnxImporter(std::shared_ptr<const OnnxFile> file, const LoadOptions& options, const SizeFindings& findings,
               StateRooms rooms = {});
  /// An importer that has read the model: the first one whose ops find the sizes they need, or the last one.
  static std::unique_ptr<OnnxImporter> readFile(std::shared_ptr<const OnnxFile> file, const LoadOptions& options,
                                                const StateRooms& rooms, bool keepsLog);
  /// The cases of values whose number of axes conditions decide, after read(), and how far it came with them.
  const RankCases& cases() const { return cases_; }
  ReadingScore score() const;
  /// The whole model, once; errors() tell what is wrong with it.
  void read();
  bool hasErrors() const { return !problems_.isEmpty(); }
  std::vector<Error> errors() const { return problems_.errors(); }
  /// After read(): adds what ops lacked and free variables can give. False when there is nothing new.
  bool learn(SizeFindings& findings) const;
  /// The same for inputs whose elements ops need as sizes.
  bool learnValues(SizeFindings& findings) const;
  /// Whether elements of inputs are sizes that nothing tells; whether ops need bounds of sizes that a run computes.
  bool hasOpenValues() const { return isOpen_; }
  bool wantsLengths() const { return wantsLengths_; }
  /// What was chosen because neither the model nor the options do.
  std::vector<Error> notes() const;
  std::vector<std::string> openSizes() const;  // what --var may give a number and nothing bounds
  /// After read() without errors and without rooms: those that the states of the options need.
  std::optional<StateRooms> stateRooms();
  /// After read() without errors.
  Result<Model> finish() { return std::move(builder_).finish(); }
  /// To be called before read(), for write().
  void keepLog() { builder_.recordTo(&log_); }
  /// The model as a graph file, in place of finish().
  Result<WrittenModel> write(const std::string& weightFile);

  KnownValues& knownValues() override { return known_; }
  Tensor constantTensor(const HostTensor& value, std::string_view name) override;
  std::optional<HostTensor> tensorAttribute(const proto::AttributeProto& attribute) override;
  std::vector<Tensor> subgraph(const proto::GraphProto& graph, std::span<const Tensor> inputs,
                               std::span<const OutputAs> others) override;
  bool attempt(const std::function<void()>& build) override;
  std::string lengthName() const override;
  QuantizedValues& quantizedValues() override { return quantized_; }
  Tensor listOf(TensorList list) override;
  const TensorList* list(const Tensor& x) const override;
  uint64_t randomKey() override { return ++randomCount_; }
  void expect(const Tensor& given, const Tensor& wanted, const std::string& operands) override;
  bool prefer(Dim least, Dim most, int64_t farthest) override;
  void preferShort(Dim sorted) override;
  void askForValues(std::span<const std::string> inputs) override;
  bool decideCase(const Tensor& condition, const CaseText& text) override;
  std::vector<Error> errorsOf(const std::function<void()>& build) override;
  void recordAll(const std::vector<Error>& errors) override;
  std::string elementName(int i, int64_t element) const override;
  std::optional<Interval> elementBounds(const std::string& name) override { return lengthBounds_.use(name); }
  std::optional<Interval> usualElementBounds(const std::string& name) override;

 private:
  // importer_nodes.cpp
  void importNodes(ImportedBody& body);
  void importNode(ImportedBody& body, const proto::NodeProto& node);
  bool gatherInputs(ImportedBody& body, const proto::NodeProto& node, std::vector<Tensor>& inputs);
  void recordMissing(const ImportedBody& body, const proto::NodeProto& node, const std::string& name);
  std::vector<Tensor> lowered(ImportedBody& body, const proto::NodeProto& node, const OnnxOp& op,
                              std::vector<Tensor> inputs);
  std::vector<Tensor> called(ImportedBody& body, const proto::NodeProto& node, const ImportedFunction& function,
                             const std::vector<Tensor>& inputs);
  Tensor graphResult(ImportedBody& graph, const std::string& name);
  Tensor appended(const ImportedBody& body, const proto::NodeProto& node, const OnnxNode& view);
  const OnnxOp* rowOf(ImportedBody& body, const proto::NodeProto& node);

  // importer.cpp: names and values
  NamedValue* lookup(NameScope& scope, const std::string& name);
  void define(ImportedBody& body, const std::string& name, NamedValue value);
  void addInitializers(ImportedBody& body, const proto::GraphProto& graph);
  Tensor tensorOf(NamedValue& value, const std::string& name);
  std::optional<Opsets> opsetsOf(const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto>& imports,
                                 const std::string& what);
  void readFunctions();
  void readDeclarations(const proto::GraphProto& graph);
  std::vector<std::optional<Dims>> declaredDims(const ImportedBody& body, const proto::NodeProto& node);

  // importer_options.cpp: what the command line says about the inputs
  void readOptions(const proto::GraphProto& graph);
  void findBatches(const proto::GraphProto& graph);
  void readVariables(const proto::GraphProto& graph);
  void readConstant(const proto::ValueInfoProto& input, const std::string& path);
  void readDefaults(const proto::GraphProto& graph);
  const proto::ValueInfoProto* inputFor(std::string_view flag, const proto::GraphProto& graph, const std::string& name);
  void bind(const std::string& variable, int64_t value, const std::string& from);
  bool bindShape(const proto::ValueInfoProto& input, const std::vector<SizeForm>& shape, const std::string& from,
                 const std::string& help);
  void giveShape(const std::string& value, const std::vector<SizeForm>& shape);
  void applyFindings();
  bool canUnify(Dim a, Dim b, SizeWish wish) const;
  void equate(const SizeForm& left, const SizeForm& right, const std::string& from);
  Dim sizeOf(const SizeForm& form);
  Dim freeVariable(const std::string& name);
  LoadOptions optionsNamedApart() const;

  // importer_host.cpp
  const HostOpOption* hostOpOf(const proto::NodeProto& node) const;
  bool isHostValue(const std::string& name) const;
  bool makesHostValue(const NodeList& nodes, const std::string& name) const;
  static const proto::ValueInfoProto* declarationOf(const ImportedBody& body, const std::string& name);
  DType hostDType(const ImportedBody& body, const HostOpOption& option, const std::string& name);
  std::optional<Dims> hostDims(const ImportedBody& body, const std::string& name);
  std::vector<Tensor> hostCalls(ImportedBody& body, const proto::NodeProto& node, const HostOpOption& option,
                                std::vector<Tensor> operands);

  // importer_states.cpp
  void readStates(const proto::GraphProto& graph);
  Tensor stateInput(const std::string& name, DType dtype, const Dims& dims);
  void finishState(const std::string& past, const Tensor& x);

  // importer_values.cpp: elements of inputs as sizes
  void declareValues(const proto::GraphProto& graph, Interval bounds);
  void addValues(const proto::ValueInfoProto& input, const Tensor& x);
  bool isOfValues(Dim d) const;
  void demandDeclared(const proto::ValueInfoProto& output, const Tensor& x);
  void finishValues();

  // importer_ports.cpp: inputs and outputs
  void addInput(ImportedBody& body, const proto::ValueInfoProto& input);
  std::optional<Dims> dimsOf(const proto::ValueInfoProto& input);
  Tensor constantInput(const std::string& name, const std::string& path, DType dtype, const Dims& dims);
  void addOutput(ImportedBody& body, const proto::ValueInfoProto& output);
  void addLengths(const std::string& name, const Tensor& x);

  void label(const Tensor& value, const std::string& name);  // convert.cpp: what converted graphs look like
  void noteNode(const proto::NodeProto& node);

  // importer_errors.cpp
  void record(Error error);
  void record(Diag diag, std::string message, std::string help = {});
  void recordNode(const ImportedBody& body, const proto::NodeProto& node, Error error);
  void recordNode(const ImportedBody& body, const proto::NodeProto& node, Diag diag, std::string text,
                  std::string help) {
    recordNode(body, node, Error(diag, std::move(text), std::move(help)));
  }
  std::string nameOf(const ImportedBody& body, const proto::NodeProto& node) const;
  void noteShape(const ImportedBody& body, const proto::ValueInfoProto& output, const Tensor& x);
  bool takeError();
  void noteDemand(const std::string& by);
  void noteSwept(const proto::NodeProto& node, std::span<const Tensor> inputs);
  void noteKept(const ImportedBody& body, const Tensor& output);  // behind all nodes
  bool learnSwept(SizeFindings& findings) const;
  bool learnDemands(SizeFindings& findings) const;
  bool learnRooms(SizeFindings& findings) const;
  int64_t usualMost(const std::string& name, int64_t least = 0) const;
  int64_t usualOf(const std::string& name, Interval bounds) const;  // the likely size
  std::string uniqueName(std::string_view wanted);
  Tensor constantOf(const TensorData& data, std::string_view name);

  std::shared_ptr<const OnnxFile> file_;
  const LoadOptions& options_;
  LengthBounds lengthBounds_;
  GraphBuilder builder_;
  BuildLog log_;
  KnownValues known_;
  TensorLoader loader_;
  Opsets opsets_;
  std::map<std::string, ImportedFunction> functions_;    // by domain::name::overload
  std::map<std::string, Tensor> constants_;              // weights made from bytes, by name
  std::map<std::string, int64_t> bound_;                 // variables with a value
  std::map<std::string, std::string> boundFrom_;         // who gave it
  std::map<std::string, std::vector<SizeForm>> shapes_;  // of inputs, from the options
  SizeVariables sizes_;
  DimNames dimNames_;
  std::map<std::string, const proto::ValueInfoProto*> inputOf_;  // an input with this variable in its dims
  std::map<std::string, std::string> constantFiles_;             // empty: the file has an error
  std::set<std::string> keptInputs_;                             // although the model has a value for them
  std::map<std::string, Dim> variables_;
  std::set<std::string> batches_;                                             // free variables that count samples
  std::vector<std::string> unbounded_;                                        // free variables that no option bounds
  std::unordered_map<std::string, const proto::TensorShapeProto*> declared_;  // of values of the main graph
  std::map<std::string, int> nameCounts_;
  ProblemList problems_;
  SizeFindings findings_;
  std::vector<SizeDemand> demands_;  // of ops that were refused, and what they would rather have
  SizeFindings seen_;                // of this attempt: swept and kept
  std::vector<std::string> asked_;   // inputs whose value ops were refused for
  RankCases cases_;                  // as SizeFindings::cases
  std::vector<ValueOfInput> values_;
  bool isOpen_ = false, wantsLengths_ = false;  // some of values_ are sizes that nothing tells; as wantsLengths()
  ImportedBody* body_ = nullptr;                // the one a lowering runs in
  const proto::NodeProto* node_ = nullptr;      // the one that is lowered
  size_t nodeCount_ = 0, otherRanks_ = 0;       // outputs whose rank the model declares otherwise
  uint64_t randomCount_ = 0;
  QuantizedValues quantized_;
  std::unordered_map<uint32_t, TensorList> lists_;  // by node
  StateRooms rooms_;
  std::map<std::string, ImportedState> states_;                   // by input
  std::map<std::string, std::string> presentOf_, presentMakers_;  // the input, by output, and by what becomes it
  std::unordered_map<uint32_t, std::string> stateOf_;             // the input, by the node of its past
};

/// How much room the states that the options name need: from an import without them. With `errors` when that fails.
Result<StateRooms> roomsOf(std::shared_ptr<const OnnxFile> file, const LoadOptions& options,
                           std::vector<Error>& errors);

}  // namespace svod
