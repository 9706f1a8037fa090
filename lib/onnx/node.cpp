#include "onnx/node.h"

#include <algorithm>
#include <charconv>

#include "onnx/dtypes.h"
#include "onnx/importer_text.h"
#include "onnx/known_values.h"
#include "support/text.h"

namespace svod {

OnnxNode::OnnxNode(GraphBuilder& builder, OnnxContext& context, const OnnxOp& row, int version,
                   std::vector<Tensor> inputs, std::vector<const proto::AttributeProto*> attributes,
                   std::vector<bool> wanted, std::vector<std::optional<Dims>> declared)
    : b(builder),
      op(row),
      opset(version),
      resultCount(static_cast<int>(wanted.size())),
      context_(context),
      inputs_(std::move(inputs)),
      attributes_(std::move(attributes)),
      wanted_(std::move(wanted)),
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
  b.fail(found.error().diag, found.error().message, found.error().help);
  return DType::Void;
}

std::optional<HostTensor> OnnxNode::tensor(std::string_view name) const {
  const proto::AttributeProto* a = find(name);
  return a ? context_.tensorAttribute(*a) : std::nullopt;
}

std::vector<Tensor> OnnxNode::graph(std::string_view name, std::span<const Tensor> inputs) const {
  const proto::AttributeProto* a = find(name);
  if (!a) return {};
  return context_.subgraph(a->g(), inputs);
}

// --- Known values

namespace {

// The name of operand i in the row of its op: "x, [scales], sizes".
std::string operandName(std::string_view names, int i) {
  for (int k = 0; k < i && names.find(',') != names.npos; ++k) names.remove_prefix(names.find(',') + 1);
  names.remove_prefix(names.starts_with(' ') ? 1 : 0);
  return std::string(names.substr(0, names.find(',')));
}

// "'a', 'b'" and, for each, the option that gives it a value.
std::pair<std::string, std::string> listed(const std::vector<std::string>& names, std::string_view flag,
                                           std::string_view value) {
  constexpr size_t kMostNamed = 4;
  std::string list, options;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    list += (i == 0 ? "'" : ", '") + shortened(names[i]) + "'";
    options += " " + optionText(flag, names[i], value);
  }
  if (names.size() > kMostNamed) list += ", ..", options += " ..";
  return {list, options};
}

}  // namespace

void OnnxNode::failUnknown(int i) const {
  const std::string what = "operand " + std::to_string(i) + " (" + operandName(op.inputs, i) +
                           ") must be known when the model is compiled";
  const Dependencies from = context_.knownValues().dependencies(arg(i));
  if (!from.inputs.empty()) {
    auto [names, options] = listed(from.inputs, "--const", "FILE.npy");
    unsupported(what + ", but depends on " + names, "give it a value:" + options);
  } else if (!from.variables.empty()) {
    auto [names, options] = listed(from.variables, "--var", "SIZE");
    unsupported(what + ", but depends on the size of " + names, "give it a value:" + options);
  } else {
    unsupported(what + ", but a loop of the plan makes it", "make it from constants and shapes");
  }
}

bool OnnxNode::isKnown(int i) const {
  std::optional<std::vector<UOp>> all = context_.knownValues().elements(arg(i));
  if (all && std::ranges::all_of(*all, [](UOp u) { return static_cast<bool>(u); })) return true;
  return context_.knownValues().constant(arg(i)).has_value();
}

std::optional<HostTensor> OnnxNode::valueOf(const Tensor& x) const {
  return context_.knownValues().constant(x);
}

std::optional<HostTensor> OnnxNode::constant(int i) const {
  std::optional<HostTensor> value = context_.knownValues().constant(arg(i));
  if (!value && !b.failed()) failUnknown(i);
  return value;
}

Dims OnnxNode::sizes(int i) const {
  Tensor x = arg(i);
  if (!x || !require(isInt(x.dtype()) && x.rank() <= 1, "sizes are an integer vector")) return {};
  std::optional<std::vector<UOp>> all = context_.knownValues().elements(x);
  Dims sizes;
  if (all)
    for (UOp u : *all)
      if (u) sizes.add(u.isConst() ? b.dim(u.constInt()) : Dim(b.graph(), u));
  if (all && static_cast<size_t>(sizes.rank()) == all->size()) return sizes;
  failUnknown(i);
  return {};
}

Dims OnnxNode::sizesOrDeclared(int i) const { return isKnown(i) || !declared(0) ? sizes(i) : *declared(0); }

std::vector<int64_t> OnnxNode::integers(int i) const {
  for (const Dim& d : arg(i).dims())
    if (d.is(0)) return {};
  std::optional<HostTensor> value = constant(i);
  std::vector<int64_t> all;
  if (!value || !require(!isFloat(value->dtype), "operand " + std::to_string(i) + " holds integers"))
    return all;
  for (int64_t k = 0; k < value->numel(); ++k) all.push_back(value->at(k).asInt());
  return all;
}

std::vector<double> OnnxNode::numbers(int i) const {
  std::optional<HostTensor> value = constant(i);
  std::vector<double> all;
  if (!value) return all;
  for (int64_t k = 0; k < value->numel(); ++k) {
    Scalar s = value->at(k);
    all.push_back(isFloat(s.dtype()) ? s.asFloat() : static_cast<double>(s.asInt()));
  }
  return all;
}

std::vector<int64_t> OnnxNode::integers(std::string_view attribute, int i) const {
  return has(i) ? integers(i) : integers(attribute);
}

int64_t OnnxNode::integer(std::string_view attribute, int i, int64_t absent) const {
  if (!has(i)) return has(attribute) ? integer(attribute) : absent;
  std::vector<int64_t> all = integers(i);
  if (b.failed() || !require(all.size() == 1, "operand " + std::to_string(i) + " is one number"))
    return absent;
  return all[0];
}

// --- Making values

Tensor OnnxNode::call(std::string_view name, std::initializer_list<Tensor> operands,
                      const Attributes& attributes) const {
  return b.op(name, operands, attributes);
}
Tensor OnnxNode::call(std::string_view name, std::span<const Tensor> operands,
                      const Attributes& attributes) const {
  return b.op(name, operands, attributes);
}
std::vector<Tensor> OnnxNode::callAll(std::string_view name, std::span<const Tensor> operands,
                                      const Attributes& attributes) const {
  return b.ops(name, operands, attributes);
}

Tensor OnnxNode::constantTensor(const HostTensor& value) const {
  return context_.constantTensor(value, op.name);
}

Tensor OnnxNode::constantTensor(DType dtype, std::vector<int64_t> dims,
                                std::initializer_list<double> values) const {
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

// --- Values that a run fills in part

Tensor OnnxNode::filledTo(Tensor x, int axis, Tensor count) const {
  if (!x || !count) return {};
  if (std::optional<HostTensor> known = valueOf(count))
    return narrow(x, axis, b.dim(0), b.dim(known->at(0).asInt()));
  Filled filled(static_cast<size_t>(x.rank()));
  filled[static_cast<size_t>(axis)] = count;
  return withFilled(x, std::move(filled));
}

Tensor OnnxNode::withFilled(Tensor x, Filled filled) const {
  if (x && std::ranges::any_of(filled, [](const Tensor& t) { return bool(t); }))
    context_.setFilled(x, std::move(filled));
  return x;
}

bool OnnxNode::requireWhole(std::span<const Tensor> values) const {
  bool isWhole = std::ranges::none_of(values, [&](const Tensor& x) { return x && filled(x); });
  if (!isWhole)
    unsupported("a value whose size only a run can tell, made under a condition or in a loop",
                "make such values outside of it");
  return isWhole;
}

// --- Errors

Tensor OnnxNode::fail(Diag diag, std::string message, std::string help) const {
  return b.fail(diag, std::move(message), std::move(help));
}

Tensor OnnxNode::unsupported(std::string message, std::string help) const {
  return b.fail(Diag::Unsupported, std::move(message), std::move(help));
}

bool OnnxNode::require(bool condition, std::string_view what) const {
  if (!condition)
    b.fail(Diag::ShapeMismatch, std::string(what), "the node breaks a rule of the ONNX operator");
  return condition;
}

int OnnxNode::axis(int64_t axis, int rank) const {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  b.fail(Diag::BadAttribute,
         "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank),
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
