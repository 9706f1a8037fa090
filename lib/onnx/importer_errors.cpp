// How the importer records what is wrong.
#include <algorithm>

#include "frontend/size_bounds.h"
#include "ir/dim_facts.h"
#include "ir/likely.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

std::string namesOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& n : names) {
    if (text.size() > 300) return text + ", ..";
    text += (text.empty() ? "'" : ", '") + shortened(n) + "'";
  }
  return text.empty() ? "none" : text;
}

// The axes of an operand that windows go along: of a signal its samples, else what stands behind channels.
std::vector<int> sweptAxes(const proto::NodeProto& node, const Tensor& x) {
  constexpr std::string_view kWithWindows[] = {"Conv",    "ConvInteger", "QLinearConv",
                                               "MaxPool", "AveragePool", "LpPool"};
  std::vector<int> axes;
  if (node.op_type() == "STFT" && x.rank() > 1) axes.push_back(1);
  if (std::ranges::find(kWithWindows, node.op_type()) != std::end(kWithWindows))
    for (int axis = 2; axis < x.rank(); ++axis)
      if (!x.dim(axis).is(1)) axes.push_back(axis);
  return axes;
}

}  // namespace

void OnnxImporter::recordAll(const std::vector<Error>& errors) {
  for (const Error& e : errors) record(e);
}

void OnnxImporter::record(Error error) { problems_.add(std::move(error), nodeCount_); }

void OnnxImporter::record(Diag diag, std::string message, std::string help) {
  record(Error(diag, std::move(message), std::move(help)));
}

bool OnnxImporter::takeError() {
  std::optional<Error> error = builder_.takeError();
  if (error) record(std::move(*error));
  return error.has_value();
}

// The error of the builder may be about sizes that could be what the op needs.
void OnnxImporter::noteDemand(const std::string& by) {
  if (const auto& demand = builder_.demand())
    demands_.push_back(
        {demand->left.node(), demand->right.node(), demand->isEqual, by, demand->isRoom, false, demand->stretch});
}

// How large the sizes that windows go along usually are.
void OnnxImporter::noteSwept(const proto::NodeProto& node, std::span<const Tensor> inputs) {
  if (inputs.empty() || !inputs[0]) return;
  const Tensor& x = inputs[0];
  const std::vector<int> axes = sweptAxes(node, x);
  if (axes.empty() || axes.size() > 2) return;
  const bool isSignal = node.op_type() == "STFT" || x.dim(1).is(1);
  const int64_t likely = axes.size() == 2 ? UsualSizes::kImage : isSignal ? UsualSizes::kSamples : UsualSizes::kFrames;
  for (int axis : axes)
    for (UOp n : toposort(x.dim(axis).node())) {
      if (n.op() != Op::Var) continue;
      int64_t& known = seen_.swept[std::string(n.argAs<VarArg>().name)];
      known = std::max(known, likely);
    }
}

// Whether the output is the next value of what an input was: floats of the same sizes, none of which windows go along.
void OnnxImporter::noteKept(const ImportedBody& body, const Tensor& output) {
  const auto isCount = [&](const Dim& d) {
    return d && d.node().op() == Op::Var && !seen_.swept.contains(std::string(d.node().argAs<VarArg>().name));
  };
  const auto isSame = [&](const Dim& a, const Dim& b) {  // exporters name equal sizes differently
    return a && b && (a.node() == b.node() ? a.isConst() || isCount(a) : isCount(a) && isCount(b));
  };
  const auto isPast = [&](const Tensor& x) {
    if (!x || x.dtype() != output.dtype() || !std::ranges::equal(x.dims(), output.dims(), isSame)) return false;
    return std::ranges::any_of(x.dims(), [](const Dim& d) { return d.isConst() && d.constant() > 1; });
  };
  if (!isFloat(output.dtype())) return;
  for (const proto::ValueInfoProto& input : file_->model.graph().input()) {
    const auto found = body.scope.values.find(input.name());
    if (found == body.scope.values.end() || !isPast(found->second.tensor)) continue;
    if (!seen_.kept) seen_.kept.emplace();
    for (const Dim& d : found->second.tensor.dims())
      if (!d.isConst()) seen_.kept->insert(std::string(d.node().argAs<VarArg>().name));
  }
}

int64_t OnnxImporter::usualMost(const std::string& name, int64_t least) const {
  auto swept = findings_.swept.find(name);
  const int64_t most = swept == findings_.swept.end() ? UsualSizes::kAny.max : UsualSizes::mostOf(swept->second);
  return std::max(most, kUsualMultiple * least);
}

bool OnnxImporter::prefer(Dim least, Dim most, int64_t farthest) {
  if (!least || !most) return false;
  if (lessEqualDims(least.node(), most.node()) == Truth::Always) return true;
  if (builder_.isConditional()) return false;  // runs of the other branch may have all sizes
  // What a length may be bounds no variable: only a run tells how much of its room it takes.
  if (builder_.hasLength(least) || builder_.hasLength(most)) return false;
  // Where it depends on several sizes, one of them may be small while another one is large: the op checks its run.
  if (variablesIn(most.node(), least.node()) > 1) return false;
  const SizeDemand demand{most.node(), least.node(), false, nameOf(*body_, *node_)};
  SizeVariables sizes = sizes_;
  SizeFindings findings;
  const bool isMet = svod::learn(demand, sizes, findings);
  for (const auto& [name, found] : findings.bounds)
    if (found.bounds.min > farthest) return false;
  demands_.push_back(demand);
  return isMet;
}

void OnnxImporter::preferShort(Dim sorted) {
  if (!sorted) return;
  constexpr int64_t kShort = 512, kUsual = 64, kTimesLikely = 16;
  const Dim length = builder_.roomOf(sorted);
  const int64_t likely = likelySize(length.node()), most = likely > kUsual ? kTimesLikely * likely : kShort;
  demands_.push_back({builder_.dim(most).node(), length.node(), false, nameOf(*body_, *node_), true});
}

std::string OnnxImporter::nameOf(const ImportedBody& body, const proto::NodeProto& node) const {
  auto opset = body.opsets->find(canonicalDomain(node.domain()));
  std::string name = opName(node);
  name += " (opset " + (opset == body.opsets->end() ? "?" : std::to_string(opset->second)) + ")";
  if (!node.name().empty()) name += ", node '" + shortened(node.name()) + "'";
  return name + body.place;
}

void OnnxImporter::expect(const Tensor& given, const Tensor& wanted, const std::string& operands) {
  Error text(Diag::InputMismatch, nameOf(*body_, *node_) + ": " + operands, {});
  text->message += " against the declared dims of " + namesOf(node_->output());
  builder_.expect(given, wanted, printable(std::move(text))->message);
}

void OnnxImporter::recordNode(const ImportedBody& body, const proto::NodeProto& node, Error error) {
  if (error->diag == Diag::Unsupported && problems_.isRepeated(opName(node) + "\n" + error->message)) return;
  error->message = nameOf(body, node) + ": " + error->message;
  error->notes.push_back("inputs " + namesOf(node.input()) + ", outputs " + namesOf(node.output()));
  record(std::move(error));
}

// What the nodes make counts, also where the declaration of an output says something else.
void OnnxImporter::noteShape(const ImportedBody& body, const proto::ValueInfoProto& output, const Tensor& x) {
  if (!output.type().tensor_type().has_shape()) return;
  const proto::TensorShapeProto& shape = output.type().tensor_type().shape();
  bool fits = shape.dim_size() == x.rank();
  otherRanks_ += !fits;
  std::string declared;
  for (int i = 0; i < shape.dim_size(); ++i) {
    const auto& d = shape.dim(i);
    const std::string name = d.dim_param().empty() ? "?" : d.dim_param();
    declared += (declared.empty() ? "" : ", ") + (d.has_dim_value() ? std::to_string(d.dim_value()) : name);
    if (!fits || d.dim_value() < 0 || !d.has_dim_value()) continue;
    fits = d.dim_value() >= x.dim(i).min() && d.dim_value() <= x.dim(i).max();
  }
  if (fits) return;
  auto makes = [&](const proto::NodeProto& n) {
    return std::ranges::find(n.output(), output.name()) != n.output().end();
  };
  constexpr size_t kMostNamed = 100;  // each is looked for among all nodes
  auto node = problems_.notes().size() < kMostNamed ? std::ranges::find_if(*body.nodes, makes) : body.nodes->end();
  Error note(Diag::ShapeMismatch,
             "the output '" + shortened(output.name()) + "' is declared as [" + declared + "], but " +
                 (node == body.nodes->end() ? "the model" : nameOf(body, *node)) + " makes " + describe(x) +
                 ", which the plan has",
             "correct the declaration, or the sizes that lead to it", {file_->path, 0, 0});
  problems_.addNote(std::move(note));
}

bool OnnxImporter::attempt(const std::function<void()>& build) {
  GraphBuilder::Mark before = builder_.mark();
  ProblemList::Mark problems = problems_.mark();
  size_t demands = demands_.size(), asked = asked_.size();
  build();
  bool isGood = !builder_.failed() && problems_.count() == problems.count;
  if (isGood || !problems_.areLimitsSince(problems)) return true;
  builder_.takeError();
  builder_.rewind(std::move(before));
  problems_.rewind(std::move(problems));
  demands_.resize(demands);
  asked_.resize(asked);
  return false;
}

}  // namespace svod
