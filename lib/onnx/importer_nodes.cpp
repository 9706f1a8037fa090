// Nodes: operands by name, and the row of the op.
#include <algorithm>

#include "onnx/dequantized.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "onnx/node_order.h"
#include "onnx/ops/append.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

// Functions and graph attributes may repeat; this ends what a small file could make large.
constexpr size_t kMaxNodes = size_t{1} << 20;

/// Ops that stay outside, and what to do instead. A name that ends in * stands for all that begin so.
struct Refusal {
  std::string_view name, help;
};
constexpr Refusal kRefusals[] = {
    {"String*", "plans hold numbers: pass the indices of the words"},
    {"RegexFullMatch", "plans hold numbers: match before, and pass the result"},
    {"TfIdfVectorizer", "plans hold numbers: count before, and pass the vector"},
    {"ai.onnx.ml::ZipMap",
     "plans hold dense tensors, not maps: leave it out, and the scores it gets become the output "
     "(skl2onnx: options={'zipmap': False})"},
    {"ai.onnx.ml::DictVectorizer", "plans hold dense tensors, not maps: make the vector before, and pass it"},
    {"ai.onnx.ml::CastMap", "plans hold dense tensors, not maps: pass the values of the map"},
    {"ai.onnx.ml::CategoryMapper", "plans hold numbers: pass the indices of the words"},
};

std::string refusalOf(std::string_view name) {
  for (const Refusal& r : kRefusals) {
    bool isPrefix = r.name.ends_with('*');
    if (isPrefix ? name.starts_with(r.name.substr(0, r.name.size() - 1)) : name == r.name) return std::string(r.help);
  }
  return {};
}

/// Whether operand i may be a sequence, or an optional without a value.
bool takesList(std::string_view op, int i) {
  if (op == "Loop") return i >= 2;  // behind the trip count and the condition
  return op == "Identity" || op == "ConcatFromSequence" || op.starts_with("Sequence") || op.starts_with("Optional");
}

// Ops of other domains may be functions of the application.
std::string hostOpHelp(const proto::NodeProto& node) {
  if (canonicalDomain(node.domain()).empty()) return {};
  const std::string op = shellWord(shortened(node.domain() + ":" + node.op_type()));
  return "; --host-op " + op + " makes it a function of the application";
}

// What to do where a lowering gave fewer results than the node has outputs.
std::string withoutOutput(const std::vector<Tensor>& results) {
  const auto supported = std::ranges::find_if(results, [](const Tensor& t) { return !t; }) - results.begin();
  if (supported == 0 && std::ranges::none_of(results, [](const Tensor& t) { return static_cast<bool>(t); }))
    return "none of the node's outputs is: express it with other ops";
  if (supported == 0) return "leave it out: only later outputs are";
  if (supported == 1) return "leave it out: only the first output is";
  return "leave it out: the first " + std::to_string(supported) + " outputs are";
}

}  // namespace

void OnnxImporter::importNodes(ImportedBody& body) {
  ImportedBody* outer = std::exchange(body_, &body);
  addUses(*body.nodes, body.used);
  for (const proto::NodeProto& node : *body.nodes) {
    if (problems_.isFull()) break;
    if (++nodeCount_ > kMaxNodes) {
      record(Diag::TooLarge, "functions and loops expand to more than 2^20 nodes", "use fewer or smaller ones");
      problems_.fill();
      break;
    }
    const bool isLeft = node.output_size() == 1 && body.left.contains(node.output(0));
    if (!isLeft) importNode(body, node);
  }
  body_ = outer;
}

// Nothing made the value that a node uses: nodes are sorted, so either a circle would, or nothing does.
void OnnxImporter::recordMissing(const ImportedBody& body, const proto::NodeProto& node, const std::string& name) {
  constexpr size_t kMostCircles = 20;  // each is looked for among all nodes
  for (const ImportedBody* b = problems_.count() < kMostCircles ? &body : nullptr; b; b = b->outer)
    if (std::string circle = circleThrough(*b->nodes, name); !circle.empty())
      return recordNode(body, node, Diag::Cycle, "values depend on each other in a circle: " + circle,
                        "no value may depend on itself: a value of an earlier step is an input of a Loop or Scan");
  recordNode(body, node, Diag::UnknownName, "no node, input or initializer makes '" + shortened(name) + "'",
             "the model is incomplete");
}

// False when an input has an error, which was recorded.
bool OnnxImporter::gatherInputs(ImportedBody& body, const proto::NodeProto& node, std::vector<Tensor>& inputs) {
  bool isGood = true;
  for (const std::string& name : node.input()) {
    NamedValue* value = name.empty() ? nullptr : lookup(body.scope, name);
    if (!name.empty() && !value) {
      recordMissing(body, node, name);
      body.scope.values[name].isBroken = true;
      isGood = false;
      continue;
    }
    inputs.push_back(value ? tensorOf(*value, name) : Tensor());
    isGood &= !value || !value->isBroken;
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return isGood;
}

void OnnxImporter::importNode(ImportedBody& body, const proto::NodeProto& node) {
  std::vector<Tensor> inputs, results;
  size_t problemsBefore = problems_.count();
  noteNode(node);
  bool isGood = gatherInputs(body, node, inputs);
  auto function = functions_.find(functionKey(node.domain(), node.op_type(), node.overload()));
  bool isFunction = function != functions_.end();
  const HostOpOption* host = isFunction ? nullptr : hostOpOf(node);
  const OnnxOp* op = isFunction || host ? nullptr : rowOf(body, node);
  if (isGood && isFunction) results = called(body, node, function->second, inputs);
  if (isGood && host && std::ranges::any_of(inputs, [this](const Tensor& x) { return x && list(x); })) {
    builder_.fail(Diag::Unsupported, "a sequence goes into a function of the application", "pass its elements");
  } else if (isGood && host)
    results = hostCalls(body, node, *host, inputs);
  if (isGood && op) {
    noteSwept(node, inputs);
    const proto::NodeProto* outer = std::exchange(node_, &node);
    results = lowered(body, node, *op, std::move(inputs));
    node_ = outer;
  }
  if (builder_.demand()) noteDemand(nameOf(body, node));
  std::optional<Error> error = builder_.takeError();
  bool isBroken = !isGood || error || problems_.count() != problemsBefore || (!isFunction && !host && !op);
  if (error) recordNode(body, node, std::move(*error));
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    bool has = !isBroken && i < static_cast<int>(results.size()) && results[static_cast<size_t>(i)];
    if (!has && !isBroken && body.used.contains(name))
      recordNode(body, node, Diag::Unsupported,
                 "the output '" + shortened(name) + "' (number " + std::to_string(i) + ") is not supported",
                 withoutOutput(results));
    if (has) {
      label(results[static_cast<size_t>(i)], name);
      if (auto room = roomDemand(results[static_cast<size_t>(i)])) {
        room->by = nameOf(body, node);
        demands_.push_back(std::move(*room));
      }
    }
    define(body, name,
           has ? NamedValue{results[static_cast<size_t>(i)], nullptr, false} : NamedValue{Tensor(), nullptr, true});
  }
}

const OnnxOp* OnnxImporter::rowOf(ImportedBody& body, const proto::NodeProto& node) {
  const std::string name = opName(node);
  auto opset = body.opsets->find(canonicalDomain(node.domain()));
  if (opset == body.opsets->end()) {
    recordNode(body, node, Diag::Syntax, "no version of the domain '" + shortened(node.domain()) + "' is imported",
               "opset_import must name every domain");
    return nullptr;
  }
  int version = static_cast<int>(std::min<int64_t>(opset->second, INT32_MAX));
  if (const OnnxOp* op = findOnnxOp(name, version)) return op;
  if (std::optional<int> first = firstOnnxOpset(name)) {
    recordNode(body, node, Diag::Unsupported, "the op is not supported before opset " + std::to_string(*first),
               "convert the model to a newer opset");
  } else {
    std::string help = refusalOf(name);
    if (help.empty())
      help = didYouMean(name, onnxOpNames(),
                        "express it with other ops, or as a function of the model" + hostOpHelp(node));
    recordNode(body, node, Diag::Unsupported, "the op is not supported", std::move(help));
  }
  return nullptr;
}

std::vector<Tensor> OnnxImporter::lowered(ImportedBody& body, const proto::NodeProto& node, const OnnxOp& op,
                                          std::vector<Tensor> inputs) {
  int count = static_cast<int>(inputs.size());
  if (count < op.minInputs || count > op.maxInputs) {
    builder_.fail(Diag::Arity, "got " + std::to_string(count) + " inputs",
                  "it takes " + std::string(op.inputs) + (op.inputs.empty() ? "none" : ""));
    return {};
  }
  for (int i = 0; i < count; ++i)
    if (const Tensor& x = inputs[static_cast<size_t>(i)]; x && list(x) && !takesList(op.name, i)) {
      builder_.fail(Diag::Unsupported,
                    "operand " + std::to_string(i) + " is " + (list(x)->isNothing ? "nothing" : "a sequence"),
                    "it takes tensors: SequenceAt gives an element, ConcatFromSequence all of them");
      return {};
    }
  std::vector<std::unique_ptr<proto::AttributeProto>> made;
  std::vector<const proto::AttributeProto*> attributes = resolveAttributes(node, body.attributes, made);
  if (Status fits = checkAttributes(op, attributes); !fits) {
    builder_.fail(fits.error()->diag, fits.error()->message, fits.error()->help);
    return {};
  }
  std::vector<bool> wanted;
  for (const std::string& name : node.output()) wanted.push_back(body.used.contains(name));
  int opset = static_cast<int>(body.opsets->find(canonicalDomain(node.domain()))->second);
  OnnxNode view(builder_, *this, op, opset, std::move(inputs), std::move(attributes), std::move(wanted),
                declaredDims(body, node));
  if (Tensor kept = appended(body, node, view)) return {kept};
  auto lower = [&](OnnxNode& n) -> std::vector<Tensor> {
    return op.lower ? op.lower(n) : builder_.ops(op.graphOp, n.args(), graphAttributes(n));
  };
  std::vector<Tensor> results = lower(view);
  carryDequantized(view, results, lower);
  return results;
}

// What Concat makes of the past in a state and what is new behind it, stored there; null for all other nodes. Exporters
// also put the past behind nothing at all, which leaves it what it is.
Tensor OnnxImporter::appended(const ImportedBody& body, const proto::NodeProto& node, const OnnxNode& view) {
  if (stateOf_.empty() || view.op.name != "Concat" || body.depth > 0) return {};
  const int rank = view.arg(0).rank(), axis = view.axis(view.integer("axis"), rank);
  std::vector<Tensor> parts;
  for (const Tensor& x : view.args())
    if (axis >= 0 && x && !x.dim(axis).is(0)) parts.push_back(x);
  auto past = parts.empty() ? stateOf_.end() : stateOf_.find(parts[0].node().id());
  if (past == stateOf_.end()) return {};
  if (parts.size() == 1) return parts[0];
  auto state = presentMakers_.find(node.output(0));
  if (state == presentMakers_.end() || past->second != state->second) return {};
  Tensor fresh = parts.size() == 2 ? parts[1] : view.call("concat", std::span(parts).subspan(1), {{"axis", axis}});
  return appendedToState(builder_, parts[0], fresh, axis);
}

}  // namespace svod
