// What a node knows of its operands before the plan runs, and what it has every run check of the others.
#include <algorithm>
#include <array>

#include "onnx/importer_text.h"
#include "onnx/known_values.h"
#include "onnx/node.h"
#include "onnx/run_elements.h"
#include "support/text.h"

namespace svod {

namespace {

// Operand i with its name in the row of its op: "x, [scales], sizes".
std::string operandName(std::string_view names, int i) {
  for (int k = 0; k < i && names.find(',') != names.npos; ++k) names.remove_prefix(names.find(',') + 1);
  names.remove_prefix(names.starts_with(' ') ? 1 : 0);
  std::string text = "operand " + std::to_string(i) + " (";
  text += names.substr(0, names.find(','));
  return text += ")";
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

namespace {

// An input of a few integers may be sizes of the plan, which every run compares with it: NAME.0 is its first element.
std::string sizesOfInputs(const Model& model, std::span<const std::string> names) {
  constexpr int64_t kMost = 64;
  std::string options;
  for (const ModelPort& port : model.ports) {
    const bool isMeant = port.kind == PortKind::Input && std::ranges::find(names, port.name) != names.end();
    const bool isFixed = std::ranges::all_of(port.buffer.shape(), [](UOp d) { return d.isConst(); });
    if (!isMeant || !isFixed || !isInt(port.buffer.dtype())) continue;
    const int64_t count = port.buffer.maxNumel();
    if (count < 1 || count > kMost) continue;
    options += " " + optionText("--var", port.name + ".0", "SIZE");
    if (count > 1) options += " to " + shellWord(port.name + "." + std::to_string(count - 1));
  }
  return options.empty() ? options : "; or make it a size of this plan:" + options;
}

}  // namespace

void OnnxNode::failUnknown(int i, std::span<const int64_t> elements) const {
  std::vector<std::string> computed;
  for (int64_t element : elements)
    if (const std::string name = context_.elementName(i, element); !name.empty()) computed.push_back(name);
  const std::string bound =
      computed.empty() ? "" : "bound what the model computes:" + listed(computed, "--var", "LEAST:MOST").second;
  const std::string what = operandName(op.inputs, i) + " must be known when the model is compiled";
  const Dependencies from = context_.knownValues().dependencies(arg(i));
  context_.askForValues(from.inputs);
  if (!from.inputs.empty()) {
    auto [names, options] = listed(from.inputs, "--const", "FILE.npy");
    const std::string bounds = listed(from.variables, "--var", "LEAST:MOST").second;
    unsupported(what + ", but depends on " + names,
                (bound.empty() ? "" : bound + "; or ") + "give it a value:" + options +
                    sizesOfInputs(b.model(), from.inputs) +
                    (bounds.empty() ? "" : "; where a size bounds it, bound that:" + bounds));
  } else if (!from.variables.empty()) {
    auto [names, options] = listed(from.variables, "--var", "SIZE");
    unsupported(what + ", but depends on the size of " + names, "give it a value:" + options);
  } else {
    unsupported(what + ", but a loop of the plan makes it", "make it from constants and shapes");
  }
}

std::string OnnxNode::sizeOptions(const Tensor& x) const {
  return listed(context_.knownValues().dependencies(x).variables, "--var", "SIZE").second;
}

bool OnnxNode::isKnown(int i) const {
  std::optional<std::vector<UOp>> all = context_.knownValues().elements(arg(i));
  // Only integers are of use as expressions.
  const bool isSize = isInt(arg(i) ? arg(i).dtype() : DType::Void);
  if (all && std::ranges::all_of(*all, [&](UOp u) { return u && (isSize || u.isConst()); })) return true;
  return context_.knownValues().constant(arg(i)).has_value();
}

std::optional<HostTensor> OnnxNode::valueOf(const Tensor& x) const { return context_.knownValues().constant(x); }

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

// What --var says of an element, or what it is taken for without, which every run checks.
std::optional<Interval> OnnxNode::namedBounds(int i, int64_t element, const Tensor& value, bool isUsual) const {
  const std::string name = context_.elementName(i, element);
  if (name.empty() || !b.counters().empty()) return std::nullopt;
  const std::optional<Interval> given = isUsual ? context_.usualElementBounds(name) : context_.elementBounds(name);
  if (!given) return std::nullopt;
  b.expect(value, min(max(value, given->min), given->max),
           std::string(op.name) + ": the size '" + shortened(name) + "', which " +
               optionText("--var", name, std::to_string(given->min) + ":" + std::to_string(given->max)) + " bounds");
  return given;
}

// The size that an element is in a run, or a signed amount; null when nothing bounds it.
Dim OnnxNode::bounded(int i, int64_t element, bool isSigned) const {
  constexpr double kMost = 1 << 16;
  Tensor x = arg(i);
  UOp node = runElement(b, x.node(), x.rank() == 0 ? std::vector<int64_t>() : std::vector{element});
  if (!node) return {};
  Tensor value = cast(b.asIs(node), DType::I64);
  ValueRange range = context_.knownValues().range(b.asIs(node));
  std::optional<Interval> given = namedBounds(i, element, value, false);
  if (!given && range.most > kMost) {
    if (!isSigned) given = namedBounds(i, element, value, true);
    if (!given || range.least > static_cast<double>(given->max)) return {};
  }
  if (given) {
    if (given->min == given->max) return b.dim(given->min);
    range = {std::max(range.least, static_cast<double>(given->min)), static_cast<double>(given->max)};
  }
  const bool isNatural = range.least >= 0;
  if (isSigned ? range.least < -kMost : !isNatural && !b.counters().empty()) return {};
  if (!isNatural && !isSigned) expect({i}, min(value, 0), {b.dim(0)});
  const int64_t least = isSigned && !isNatural ? static_cast<int64_t>(range.least) : 0;
  // No run writes outside of the room, whatever it computes before it is found to be wrong.
  const Dim room = b.dim(std::max<int64_t>(0, static_cast<int64_t>(range.most) - least));
  return length(max(min(value - least, cast(b.value(room), DType::I64)), 0), room) + least;
}

Dims OnnxNode::boundedAll(int i, bool areSigned) const {
  Tensor x = arg(i);
  std::optional<std::vector<UOp>> all = x ? context_.knownValues().elements(x) : std::nullopt;
  if (!all || x.rank() > 1 || !isInt(x.dtype())) return sizes(i);
  Dims found;
  std::vector<int64_t> open;
  for (size_t k = 0; k < all->size() && !b.failed(); ++k) {
    UOp u = (*all)[k];
    if (!u)
      found.add(bounded(i, static_cast<int64_t>(k), areSigned));
    else if (u.isConst())
      found.add(b.dim(u.constInt()));
    else
      found.add(areSigned ? Dim(b.graph(), u) : natural(Dim(b.graph(), u)));
    if (!found[-1]) open.push_back(static_cast<int64_t>(k));
  }
  if (open.empty() || b.failed()) return found;
  failUnknown(i, open);
  return {};
}

Dims OnnxNode::sizesOrLengths(int i) const { return boundedAll(i, false); }
Dims OnnxNode::amountsOrLengths(int i) const { return boundedAll(i, true); }

Dim OnnxNode::lengthOf(int i) const {
  return withArgs({max(cast(reshape(arg(i), Dims()), DType::I64), 0)}).bounded(0, 0, false);
}

Dim OnnxNode::natural(Dim size) const {
  if (size.isConst() || !b.mayBeNegative(size.node()) || size.max() < 0 || !size.node().ranges().empty()) return size;
  // Bounds of one variable say nothing about its relation to another one.
  const std::array root{size.node()};
  if (std::ranges::count(toposort(root), Op::Var, &UOp::op) < 2) prefer(b.dim(0), size);
  return b.expectAtMost(b.dim(0), size, "sizes are 0 or more") ? larger(size, b.dim(0)) : size;
}

bool OnnxNode::hasEntries(int i, std::optional<int> count) const {
  Tensor x = arg(i);
  bool isVector = x.rank() == 1, fits = isVector && (!count || x.dim(0).is(*count));
  if (!isVector || x.dim(0).isConst())
    return require(fits, operandName(op.inputs, i) + " fits the declared dims of the result");
  unsupported(operandName(op.inputs, i) + " decides a shape, and its length is a variable",
              "bind the variable with --var");
  return false;
}

void OnnxNode::expect(std::initializer_list<int> operands, Tensor given, const Dims& wanted) const {
  if (!given || b.failed()) return;
  bool isOne = given.rank() == 0 && wanted.rank() == 1;
  bool isVector = given.rank() == 1 && given.dim(0).is(wanted.rank());
  if (!require(isOne || isVector, "the operands fit the declared dims of the result") || wanted.rank() == 0) return;
  std::string text;
  std::vector<std::string> from;
  for (int i : operands) {
    if (!has(i) || isKnown(i)) continue;
    text += (text.empty() ? "" : ", ") + operandName(op.inputs, i);
    for (const std::string& name : context_.knownValues().dependencies(arg(i)).inputs)
      if (std::ranges::find(from, name) == from.end()) from.push_back(name);
  }
  if (!from.empty()) text += " from " + listed(from, "", "").first;
  context_.expect(reshape(cast(given, DType::I64), {b.dim(wanted.rank())}), sizesTensor(wanted), text);
}

std::vector<int64_t> OnnxNode::integers(int i) const {
  for (const Dim& d : arg(i).dims())
    if (d.is(0)) return {};
  std::optional<HostTensor> value = constant(i);
  std::vector<int64_t> all;
  if (!value || !require(!isFloat(value->dtype), "operand " + std::to_string(i) + " holds integers")) return all;
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
  if (b.failed() || !require(all.size() == 1, "operand " + std::to_string(i) + " is one number")) return absent;
  return all[0];
}

}  // namespace svod
