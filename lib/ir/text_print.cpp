// The printer of `.uop` text.
#include <algorithm>

#include "ir/text.h"

namespace svod {

namespace {

std::string literal(const Scalar& value) {
  std::string text = toText(value);
  if (value.dtype() == DType::Index || value.dtype() == DType::Bool) return text;
  return text + ":" + std::string(toText(value.dtype()));
}

std::string axesText(std::span<const int32_t> axes, std::string out) {
  for (int32_t axis : axes) {
    if (!out.empty()) out += ", ";
    out += std::to_string(axis);
  }
  return out;
}

// What stands between the braces.
struct ArgPrinter {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const Scalar& s) const { return literal(s); }
  std::string operator()(const SlotArg& a) const {
    std::string out = std::to_string(a.slot);
    if (a.space != Space::Global) out += ", " + std::string(toText(a.space));
    if (a.swizzle != 0) out += ", swizzle " + std::to_string(1 << a.swizzle);
    return a.ring == 0 ? out : out + ", ring " + std::to_string(a.ring);
  }
  std::string operator()(const VarArg& a) const {
    std::string out = quoted(a.name) + ", " + std::to_string(a.min) + ", " + std::to_string(a.max);
    return a.likely == usualSize({a.min, a.max}) ? out : out + ", " + std::to_string(a.likely);
  }
  std::string operator()(const AxisArg& a) const { return std::to_string(a.id) + ", " + std::string(toText(a.type)); }
  std::string operator()(const AxesArg& a) const { return axesText(a.axes, {}); }
  std::string operator()(const ReduceArg& a) const { return axesText(a.axes, std::string(toText(a.op))); }
  std::string operator()(const NameArg& a) const { return quoted(a.name); }
  std::string operator()(const CustomArg& a) const { return quoted(a.name) + ", " + std::to_string(a.inputs); }
};

// `op operands {arg} : type`, with each operand printed by `operand`.
template <class Operand>
std::string bodyText(UOp node, Operand operand) {
  std::string out(toText(node.op()));
  if (node.isConst()) return out + " " + literal(node.constant());
  for (size_t i = 0; i < node.srcCount(); ++i) out += (i == 0 ? " " : ", ") + operand(node.src(i));
  if (info(node.op()).arg != ArgKind::None) out += " {" + std::visit(ArgPrinter{}, node.arg()) + "}";
  if (node.dtype() != DType::Void) out += " : " + toTypeText(node);
  return out;
}

}  // namespace

std::string toUopText(UOp root) {
  std::vector<UOp> order = toposort(root);
  uint32_t largest = 0, next = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  std::vector<uint32_t> numberOf(largest + 1);
  std::string out;
  for (UOp n : order) {
    if (n.isConst() && n != root) continue;
    numberOf[n.id()] = next++;
    out += "%" + std::to_string(numberOf[n.id()]) + " = " +
           bodyText(
               n, [&](UOp s) { return s.isConst() ? literal(s.constant()) : "%" + std::to_string(numberOf[s.id()]); }) +
           "\n";
  }
  return out;
}

std::string toLineText(UOp node) {
  return bodyText(node, [](UOp s) { return s.isConst() ? literal(s.constant()) : toExpr(s, 60); });
}

}  // namespace svod
