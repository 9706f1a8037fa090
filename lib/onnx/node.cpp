#include "onnx/node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "onnx/dtypes.h"
#include "onnx/importer_text.h"
#include "onnx/known_values.h"

namespace svod {

OnnxNode::OnnxNode(GraphBuilder& builder, OnnxContext& context, const OnnxOp& row, int version,
                   std::vector<Tensor> inputs, std::vector<const proto::AttributeProto*> attributes,
                   std::vector<bool> wanted, std::vector<std::optional<Dims>> declared)
    : b(builder), op(row), opset(version), resultCount(static_cast<int>(wanted.size())), context_(context),
      inputs_(std::move(inputs)), attributes_(std::move(attributes)), wanted_(std::move(wanted)),
      declared_(std::move(declared)) {}

// --- Attributes

const proto::AttributeProto* OnnxNode::find(std::string_view name) const {
  for (const proto::AttributeProto* a : attributes_)
    if (a->name() == name) return a;
  return nullptr;
}

std::string_view OnnxNode::preset(std::string_view name) const {
  for (const OnnxAttribute& a : onnxAttributes(op))
    if (a.name == name) return a.preset.value_or("");
  return "";
}

bool OnnxNode::has(std::string_view name) const { return find(name) || !preset(name).empty(); }

int64_t OnnxNode::integer(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return a->i();
  std::string_view text = preset(name);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double OnnxNode::number(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return a->f();
  return std::strtod(std::string(preset(name)).c_str(), nullptr);
}

std::string OnnxNode::word(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return a->s();
  return std::string(preset(name));
}

std::vector<int64_t> OnnxNode::integers(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return {a->ints().begin(), a->ints().end()};
  if (preset(name).empty()) return {};
  return {integer(name)};
}

std::vector<double> OnnxNode::numbers(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return {a->floats().begin(), a->floats().end()};
  if (preset(name).empty()) return {};
  return {number(name)};
}

std::vector<std::string> OnnxNode::words(std::string_view name) const {
  if (const proto::AttributeProto* a = find(name)) return {a->strings().begin(), a->strings().end()};
  if (preset(name).empty()) return {};
  return {word(name)};
}

DType OnnxNode::dtype(std::string_view name) const {
  int64_t number = std::clamp<int64_t>(integer(name), INT32_MIN, INT32_MAX);
  Result<DType> found = dtypeOfOnnx(static_cast<int>(number), "the attribute '" + std::string(name) + "'");
  if (found) return *found;
  b.fail(found.error()->diag, found.error()->message, found.error()->help);
  return DType::Void;
}

std::optional<HostTensor> OnnxNode::tensor(std::string_view name) const {
  const proto::AttributeProto* a = find(name);
  return a ? context_.tensorAttribute(*a) : std::nullopt;
}

std::vector<Tensor> OnnxNode::graph(std::string_view name, std::span<const Tensor> inputs,
                                    std::span<const OutputAs> others) const {
  const proto::GraphProto* graph = graphText(name);
  return graph != nullptr ? context_.subgraph(*graph, inputs, others) : std::vector<Tensor>();
}

const proto::GraphProto* OnnxNode::graphText(std::string_view name) const {
  const proto::AttributeProto* a = find(name);
  return a != nullptr ? &a->g() : nullptr;
}

// --- Making values

Tensor OnnxNode::call(std::string_view name, std::initializer_list<Tensor> operands,
                      const Attributes& attributes) const {
  return b.op(name, operands, attributes);
}
Tensor OnnxNode::call(std::string_view name, std::span<const Tensor> operands, const Attributes& attributes) const {
  return b.op(name, operands, attributes);
}
std::vector<Tensor> OnnxNode::callAll(std::string_view name, std::span<const Tensor> operands,
                                      const Attributes& attributes) const {
  return b.ops(name, operands, attributes);
}

Tensor OnnxNode::constantTensor(const HostTensor& value) const { return context_.constantTensor(value, op.name); }

Tensor OnnxNode::constantTensor(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values) const {
  return constantTensor(HostTensor::of(dtype, std::move(dims), values));
}

Tensor OnnxNode::sizesTensor(const Dims& sizes) const {
  std::vector<UOp> elements;
  for (const Dim& d : sizes) {
    if (!d) return {};
    elements.push_back(cast(b.value(d), DType::I64).node());
  }
  if (elements.empty()) return constantTensor(HostTensor::zeros(DType::I64, {0}));
  return b.wrap(b.graph().make(Op::Stack, DType::I64, elements));
}

// --- Sizes that a run computes

namespace {

// Whether what a run computes occurs once at most: bounds of a size take each occurrence of a length for another.
bool isClose(const GraphBuilder& b, UOp size) {
  std::unordered_map<uint32_t, int> occurrences;
  for (UOp n : toposort(std::array{size})) {
    int& sum = occurrences[n.id()];
    sum = b.countOf(n) ? 1 : 0;
    for (UOp s : n.src()) sum += occurrences[s.id()];
    if (sum > 1) return false;
  }
  return true;
}

}  // namespace

// A count that sizes decide is a size itself, as long as that stays simple.
Dim OnnxNode::length(Tensor count, Dim room) const {
  if (std::optional<HostTensor> known = count ? valueOf(count) : std::nullopt) return b.dim(known->at(0).asInt());
  const std::optional<std::vector<UOp>> known = count ? context_.knownValues().elements(count) : std::nullopt;
  const UOp size = known && known->size() == 1 ? known->front() : UOp();
  constexpr size_t kMostNodes = 48;
  const bool isSize = size && size.dtype() == DType::Index && size.ranges().empty() &&
                      toposort(std::array{size}).size() <= kMostNodes && isClose(b, size) && !b.mayBeNegative(size);
  return isSize ? smaller(Dim(b.graph(), size), room) : b.length(context_.lengthName(), count, room);
}

Tensor OnnxNode::firstOf(Tensor x, int axis, Tensor count) const {
  Dim size = x ? length(count, x.dim(axis)) : Dim();
  return size ? narrow(x, axis, b.dim(0), size) : Tensor();
}

// --- Errors

Tensor OnnxNode::fail(Diag diag, std::string message, std::string help) const {
  return b.fail(diag, std::move(message), std::move(help));
}

Tensor OnnxNode::unsupported(std::string message, std::string help) const {
  return b.fail(Diag::Unsupported, std::move(message), std::move(help));
}

bool OnnxNode::require(bool condition, std::string_view what) const {
  if (!condition) b.fail(Diag::ShapeMismatch, std::string(what), "the node breaks a rule of the ONNX operator");
  return condition;
}

int OnnxNode::axis(int64_t axis, int rank) const {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  b.fail(Diag::BadAttribute, "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank),
         "axes count from 0, or from -1 backwards");
  return -1;
}

std::vector<int> OnnxNode::axes(std::span<const int64_t> axes, int rank) const {
  std::vector<int> all;
  for (int64_t a : axes) {
    int found = axis(a, rank);
    if (found < 0) return {};
    if (std::ranges::find(all, found) != all.end()) {
      b.fail(Diag::BadAttribute, "axis " + std::to_string(found) + " is listed twice", "list each axis once");
      return {};
    }
    all.push_back(found);
  }
  return all;
}

}  // namespace svod
