// One-line infix expressions and type texts.
#include <algorithm>
#include <cctype>

#include "ir/text.h"
#include "support/hex.h"

namespace svod {

namespace {

// Binding strength as in C; a node that is printed as a call or a name binds tightest.
struct Infix {
  Op op;
  std::string_view text;
  int strength;
};
constexpr Infix kInfix[] = {
    {Op::Mul, "*", 10},  {Op::Fdiv, "/", 10},  {Op::Floordiv, "//", 10}, {Op::Floormod, "%", 10}, {Op::Add, " + ", 9},
    {Op::Sub, " - ", 9}, {Op::Shl, " << ", 8}, {Op::Shr, " >> ", 8},     {Op::Lt, " < ", 7},      {Op::Le, " <= ", 7},
    {Op::Eq, " == ", 6}, {Op::Ne, " != ", 6},  {Op::And, " & ", 5},      {Op::Xor, " ^ ", 4},     {Op::Or, " | ", 3},
};
constexpr int kUnary = 11, kTernary = 2, kAtom = 12;

bool isIdentifier(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

std::string nameText(std::string_view name) { return isIdentifier(name) ? std::string(name) : quoted(name); }

/// Deep expressions are cut, as long ones are: nobody reads them, and they would take a deep stack.
class ExprPrinter {
 public:
  explicit ExprPrinter(size_t maxLength) : maxLength_(maxLength) {}

  std::string print(UOp value) {
    expr(value, 0);
    if (full()) out_ = out_.substr(0, maxLength_) + "...";
    return out_;
  }

 private:
  bool full() const { return out_.size() > maxLength_; }

  // A strength below `outer` needs parentheses.
  void expr(UOp u, int outer) {
    if (full()) return;
    if (depth_ == kMaxDepth) return void(out_ += "...");
    ++depth_;
    binding(u, outer);
    --depth_;
  }

  void binding(UOp u, int outer) {
    for (const Infix& row : kInfix)
      if (row.op == u.op()) return wrap(row.strength < outer, [&] { infix(u, row); });
    if (u.op() == Op::Where) return wrap(kTernary < outer, [&] { ternary(u); });
    if (u.op() == Op::Neg || u.op() == Op::Not) return wrap(kUnary < outer, [&] { unary(u); });
    atom(u);
  }

  template <class Body>
  void wrap(bool parentheses, Body body) {
    if (parentheses) out_ += "(";
    body();
    if (parentheses) out_ += ")";
  }

  void infix(UOp u, const Infix& row) {
    expr(u.src(0), row.strength);
    out_ += row.text;
    expr(u.src(1), row.strength + 1);
  }

  void ternary(UOp u) {
    expr(u.src(0), kTernary + 1);
    out_ += " ? ";
    expr(u.src(1), kTernary + 1);
    out_ += " : ";
    expr(u.src(2), kTernary);
  }

  void unary(UOp u) {
    out_ += u.op() == Op::Neg ? "-" : u.dtype() == DType::Bool ? "!" : "~";
    expr(u.src(0), kUnary);
  }

  void atom(UOp u) {
    switch (u.op()) {
      case Op::Const: out_ += toText(u.constant()); return;
      case Op::Var:
      case Op::Special: out_ += nameText(u.argAs<VarArg>().name); return;
      case Op::Range: out_ += "r" + std::to_string(u.argAs<AxisArg>().id); return;
      case Op::Param:
      case Op::Buffer: out_ += std::string(toText(u.op())) + std::to_string(u.argAs<SlotArg>().slot); return;
      case Op::Index: expr(u.src(0), kAtom); return list(u.src().subspan(1), "[", "]");
      case Op::Cast: out_ += toText(u.dtype()); return list(u.src(), "(", ")");
      default: out_ += toText(u.op()); return list(u.src(), "(", ")");
    }
  }

  void list(std::span<const UOp> items, std::string_view open, std::string_view close) {
    out_ += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (full()) return;
      if (i > 0) out_ += ", ";
      expr(items[i], 0);
    }
    out_ += close;
  }

  static constexpr int kMaxDepth = 200;
  size_t maxLength_;
  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string toExpr(UOp value, size_t maxLength) { return ExprPrinter(maxLength).print(value); }

std::string toTypeText(UOp node) {
  std::string out(toText(node.dtype()));
  if (node.isScalar()) return out;
  out += "[";
  for (size_t i = 0; i < node.rank(); ++i) {
    if (i > 0) out += ",";
    out += toExpr(node.shape()[i]);
  }
  return out + "]";
}

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (unsigned char c : name) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c >= 0x7f || c == ';') {
      out += "\\x";
      appendHex(out, c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

}  // namespace svod
