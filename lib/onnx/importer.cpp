#include "onnx/importer.h"

#include <algorithm>
#include <cstring>

#include "onnx/importer_text.h"
#include "onnx/onnx.h"
#include "onnx/working_sizes.h"
#include "support/text.h"

namespace svod {

OnnxImporter::OnnxImporter(std::shared_ptr<const OnnxFile> file, const LoadOptions& options,
                           const SizeFindings& findings, StateRooms rooms)
    : file_(std::move(file)), options_(options), lengthBounds_(file_->model, options), known_(builder_),
      loader_(file_, options.filesRead), problems_(file_->path), findings_(findings), cases_(findings.cases),
      rooms_(std::move(rooms)) {
  std::erase_if(cases_, [](const auto& c) { return c.second.leavesOut; });  // it may fit now
  builder_.leaveSizesToRuns();                                              // exporters name equal sizes differently
  builder_.setUnifier([this](Dim a, Dim b, SizeWish wish) { return canUnify(a, b, wish); });
}

void OnnxImporter::read() {
  const proto::ModelProto& model = file_->model;
  std::optional<Opsets> opsets = opsetsOf(model.opset_import(), "the model");
  if (!opsets) return;
  opsets_ = std::move(*opsets);
  readFunctions();
  const proto::GraphProto& graph = model.graph();
  readOptions(graph);
  readStates(graph);
  readDeclarations(graph);
  ImportedBody body;
  body.nodes = &graph.node();
  body.declarations = {&graph.value_info(), &graph.output()};
  body.opsets = &opsets_;
  for (const proto::ValueInfoProto& output : graph.output()) body.used.insert(output.name());
  addInitializers(body, graph);
  for (const proto::ValueInfoProto& input : graph.input()) addInput(body, input);
  importNodes(body);
  for (const proto::ValueInfoProto& output : graph.output()) addOutput(body, output);
  finishValues();
  if (problems_.isEmpty()) recordAll(lengthBounds_.unused());
}

std::optional<Opsets> OnnxImporter::opsetsOf(
    const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto>& imports, const std::string& what) {
  Opsets all;
  for (const proto::OperatorSetIdProto& i : imports) {
    std::string domain(canonicalDomain(i.domain()));
    all[domain] = std::max(all[domain], i.version());
    if (domain.empty() && i.version() > kNewestOnnxOpset) {
      record(Diag::Unsupported, what + " uses opset " + std::to_string(i.version()),
             "opsets up to " + std::to_string(kNewestOnnxOpset) + " are supported");
      return std::nullopt;
    }
    if (i.version() < 1) {
      record(Diag::Syntax, what + " uses opset " + std::to_string(i.version()), "versions start at 1");
      return std::nullopt;
    }
  }
  constexpr int64_t kFirstIrVersionWithImports = 3;
  if (all.empty() && file_->model.ir_version() < kFirstIrVersionWithImports) all[""] = 1;
  return all;
}

void OnnxImporter::readFunctions() {
  for (const proto::FunctionProto& f : file_->model.functions()) {
    std::optional<Opsets> opsets = opsetsOf(f.opset_import(), "the function '" + shortened(f.name()) + "'");
    if (!opsets) continue;
    for (const auto& [domain, version] : opsets_) opsets->try_emplace(domain, version);
    functions_[functionKey(f.domain(), f.name(), f.overload())] = {&f, std::move(*opsets)};
  }
}

// --- Names and values

void OnnxImporter::define(ImportedBody& body, const std::string& name, NamedValue value) {
  auto [it, isNew] = body.scope.values.try_emplace(name, value);
  if (isNew || it->second.isBroken) return;  // what is broken has its error
  record(Diag::DuplicateName, "the value '" + shortened(name) + "' is made twice" + body.place,
         "every name of a graph is defined once");
}

NamedValue* OnnxImporter::lookup(NameScope& scope, const std::string& name) {
  for (NameScope* s = &scope; s; s = s->outer)
    if (auto found = s->values.find(name); found != s->values.end()) return &found->second;
  return nullptr;
}

void OnnxImporter::addInitializers(ImportedBody& body, const proto::GraphProto& graph) {
  for (const proto::TensorProto& t : graph.initializer()) define(body, t.name(), {Tensor(), &t, false});
  for (const proto::SparseTensorProto& t : graph.sparse_initializer())
    define(body, t.values().name(), {Tensor(), nullptr, false, &t});
}

// Initializers become tensors when somebody uses them.
Tensor OnnxImporter::tensorOf(NamedValue& value, const std::string& name) {
  if ((!value.data && !value.sparse) || value.tensor || value.isBroken) return value.tensor;
  Result<TensorData> data = value.data ? loader_.load(*value.data) : loader_.load(*value.sparse);
  if (data) value.tensor = constantOf(*data, name);
  if (!data) record(data.error());
  value.isBroken = takeError() || !data;
  if (value.isBroken) problems_.addLasting();
  return value.tensor;
}

std::string OnnxImporter::uniqueName(std::string_view wanted) {
  constexpr size_t kLongest = 900;  // the builder allows 1024
  const std::string name(wanted.empty() ? "constant" : wanted.substr(0, kLongest));
  int& count = nameCounts_[name];
  if (++count == 1) return name;
  for (;; ++count)
    if (auto [it, isNew] = nameCounts_.try_emplace(name + "." + std::to_string(count), 1); isNew) return it->first;
}

namespace {

bool isUniform(const TensorData& t) {
  auto size = static_cast<size_t>(byteSize(t.dtype));
  if (!isPacked(t.dtype))
    return t.data.bytes >= size && std::memcmp(t.data.data, t.data.data + size, t.data.bytes - size) == 0;
  const int64_t count = numelOf(t.dims);
  for (int64_t i = 1; i < count; ++i)
    if (HostTensor::readMemory(t.dtype, t.data.data, i) != HostTensor::readMemory(t.dtype, t.data.data, 0))
      return false;
  return count > 0;
}

}  // namespace

// One number for all elements needs no storage; everything else is a weight.
Tensor OnnxImporter::constantOf(const TensorData& t, std::string_view name) {
  Dims dims;
  for (int64_t d : t.dims) dims.add(builder_.dim(d));
  if (isUniform(t)) return builder_.full(dims, builder_.constant(HostTensor::readMemory(t.dtype, t.data.data, 0)));
  return builder_.weight(uniqueName(name), t.dtype, dims, t.data);
}

Tensor OnnxImporter::constantTensor(const HostTensor& value, std::string_view name) {
  auto owner = std::make_shared<const std::vector<std::byte>>(value.toMemory());
  return constantOf({value.dtype, value.dims, {owner->data(), owner->size(), owner}}, name);
}

std::optional<HostTensor> OnnxImporter::tensorAttribute(const proto::AttributeProto& attribute) {
  Result<TensorData> t =
      attribute.has_sparse_tensor() ? loader_.load(attribute.sparse_tensor()) : loader_.load(attribute.t());
  if (!t) {
    builder_.fail(t.error()->diag, t.error()->message, t.error()->help);
    return std::nullopt;
  }
  return HostTensor::fromMemory(t->dtype, t->dims, {t->data.data, t->data.bytes});
}

// A node that is like no other one, and that nothing may compute with.
Tensor OnnxImporter::listOf(TensorList list) {
  const std::string name = "list " + std::to_string(lists_.size());
  const UOp node = builder_.graph().make(Op::Var, DType::Index, std::span<const UOp>(), VarArg{name, 0, 1});
  lists_.emplace(node.id(), std::move(list));
  return builder_.wrap(node);
}

const TensorList* OnnxImporter::list(const Tensor& x) const {
  auto known = lists_.find(x.node().id());
  return known == lists_.end() ? nullptr : &known->second;
}

std::string OnnxImporter::elementName(int i, int64_t element) const {
  if (!node_ || i >= node_->input_size() || node_->input(i).empty()) return {};
  return node_->input(i) + "." + std::to_string(element);
}

std::string OnnxImporter::lengthName() const {
  auto named = std::ranges::find_if(node_->output(), [](const std::string& name) { return !name.empty(); });
  return "length of " + (named == node_->output().end() ? opName(*node_) : shortened(*named));
}

// --- Entry points

bool isOnnxPath(std::string_view path) {
  constexpr std::string_view kEnding = ".onnx";
  if (path.size() < kEnding.size()) return false;
  path.remove_prefix(path.size() - kEnding.size());
  return std::ranges::equal(path, kEnding, [](char c, char want) { return c == want || c == want - 'a' + 'A'; });
}

Result<StateRooms> roomsOf(std::shared_ptr<const OnnxFile> file, const LoadOptions& options,
                           std::vector<Error>& errors) {
  if (options.states.empty()) return StateRooms();
  const std::unique_ptr<OnnxImporter> importer = OnnxImporter::readFile(std::move(file), options, {}, false);
  std::optional<StateRooms> rooms = !importer->hasErrors() ? importer->stateRooms() : std::nullopt;
  errors = importer->errors();
  if (rooms) return *std::move(rooms);
  return fail(errors.front());
}

namespace {

OnnxImport importFile(Result<std::shared_ptr<const OnnxFile>> file, const LoadOptions& options) {
  OnnxImport result;
  if (!file) {
    result.errors.push_back(file.error());
    result.model = fail(file.error());
    return result;
  }
  const proto::GraphProto& graph = (*file)->model.graph();
  result.counts = {static_cast<size_t>(graph.input_size()), static_cast<size_t>(graph.output_size()),
                   static_cast<size_t>(graph.node_size())};
  Result<StateRooms> rooms = roomsOf(*file, options, result.errors);
  if (!rooms) {
    result.model = fail(result.errors.front());
    return result;
  }
  const std::unique_ptr<OnnxImporter> importer = OnnxImporter::readFile(*file, options, *rooms, false);
  result.errors = importer->hasErrors() ? errorsWithSizes(*file, options, *importer) : std::vector<Error>();
  if (result.errors.empty()) {
    result.model = importer->finish();
    result.notes = importer->notes();
    if (result.model) return result;
    result.notes.clear();
    result.model.error()->loc.file = (*file)->path;
    result.errors.push_back(result.model.error());
  }
  result.model = fail(result.errors.front());
  return result;
}

}  // namespace

OnnxImport importOnnx(const std::string& path, const LoadOptions& options) {
  return importFile(readOnnxFile(path), options);
}

OnnxImport importOnnxBytes(std::span<const std::byte> bytes, const std::string& path, const LoadOptions& options) {
  return importFile(parseOnnx(bytes, path), options);
}

}  // namespace svod
