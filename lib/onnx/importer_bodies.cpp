// Graphs and functions that nodes have or call: their nodes with names of their own.
#include <algorithm>

#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

// Functions and graph attributes may nest; this ends what a small file could make deep.
constexpr int kDeepest = 64;

}  // namespace

std::vector<Tensor> OnnxImporter::called(ImportedBody& body, const proto::NodeProto& node,
                                         const ImportedFunction& function, const std::vector<Tensor>& inputs) {
  const proto::FunctionProto& f = *function.proto;
  if (body.depth >= kDeepest) {
    builder_.fail(Diag::TooLarge, "functions nest deeper than 64 levels", "a function may not call itself");
    return {};
  }
  if (static_cast<int>(inputs.size()) > f.input_size()) {
    builder_.fail(Diag::Arity, "got " + std::to_string(inputs.size()) + " inputs",
                  "the function takes " + std::to_string(f.input_size()));
    return {};
  }
  ImportedBody inner;
  std::vector<std::unique_ptr<proto::AttributeProto>> made;
  for (const proto::AttributeProto& a : f.attribute_proto()) inner.attributes[a.name()] = &a;
  for (const proto::AttributeProto* a : resolveAttributes(node, body.attributes, made)) inner.attributes[a->name()] = a;
  inner.nodes = &f.node();
  inner.declarations = {&f.value_info()};
  inner.isOfFunction = true;
  inner.opsets = &function.opsets;
  inner.used.insert(f.output().begin(), f.output().end());
  inner.place = body.place + " in function '" + shortened(f.name()) + "'";
  inner.depth = body.depth + 1;
  for (int i = 0; i < f.input_size(); ++i)
    define(inner, f.input(i),
           {i < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(i)] : Tensor(), nullptr, false});
  importNodes(inner);
  std::vector<Tensor> results;
  for (const std::string& name : f.output()) {
    NamedValue* value = lookup(inner.scope, name);
    if (!value)
      builder_.fail(Diag::UnknownName, "no node of the function makes its output '" + shortened(name) + "'",
                    "the model is incomplete");
    results.push_back(value ? tensorOf(*value, name) : Tensor());
  }
  return results;
}

/// An output of a graph; null: an error was recorded, here or where its value was made.
Tensor OnnxImporter::graphResult(ImportedBody& graph, const std::string& name) {
  NamedValue* value = lookup(graph.scope, name);
  if (Tensor result = value ? tensorOf(*value, name) : Tensor()) return result;
  if (!value)
    return builder_.fail(Diag::UnknownName, "no node of the graph makes its output '" + shortened(name) + "'",
                         "the model is incomplete");
  if (!value->isBroken)
    return builder_.fail(Diag::Unsupported, "the output '" + shortened(name) + "' of the graph is an omitted input",
                         "give the input a value");
  problems_.addUnsaid();  // of a node outside of the graph
  return {};
}

std::vector<Tensor> OnnxImporter::subgraph(const proto::GraphProto& graph, std::span<const Tensor> inputs,
                                           std::span<const OutputAs> others) {
  if (body_->depth >= kDeepest) {
    builder_.fail(Diag::TooLarge, "graphs nest deeper than 64 levels", "use fewer levels");
    return {};
  }
  if (static_cast<int>(inputs.size()) != graph.input_size()) {
    builder_.fail(Diag::Syntax, "the graph '" + shortened(graph.name()) + "' has " +
                                    std::to_string(graph.input_size()) + " inputs, not " +
                                    std::to_string(inputs.size()));
    return {};
  }
  ImportedBody inner;
  inner.scope.outer = &body_->scope;
  inner.outer = body_;
  inner.nodes = &graph.node();
  inner.declarations = {&graph.value_info(), &graph.output()};
  inner.isOfFunction = body_->isOfFunction;
  inner.opsets = body_->opsets;
  std::vector<std::string> wanted;
  for (const proto::ValueInfoProto& output : graph.output()) {
    auto other = std::ranges::find(others, output.name(), &OutputAs::output);
    wanted.push_back(other != others.end() ? other->value : output.name());
    if (other != others.end()) inner.left.insert(output.name());
  }
  inner.used.insert(wanted.begin(), wanted.end());
  inner.attributes = body_->attributes;
  inner.place = body_->place + " in graph '" + shortened(graph.name()) + "'";
  inner.depth = body_->depth + 1;
  for (int i = 0; i < graph.input_size(); ++i)
    define(inner, graph.input(i).name(), {inputs[static_cast<size_t>(i)], nullptr, false});
  addInitializers(inner, graph);
  size_t problemsBefore = problems_.count();
  importNodes(inner);
  std::vector<Tensor> results;
  for (const std::string& name : wanted) {
    results.push_back(graphResult(inner, name));
    if (!results.back()) return {};
  }
  if (results.empty())
    builder_.fail(Diag::Syntax, "the graph '" + shortened(graph.name()) + "' has no outputs",
                  "the model is incomplete");
  return problems_.count() == problemsBefore ? results : std::vector<Tensor>();
}

}  // namespace svod
