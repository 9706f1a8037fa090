// The text of expressions, written and read.
#include <algorithm>

#include "plan/expr.h"
#include "support/says.h"

namespace svod {

namespace {

struct OpInfo {
  std::string_view text;
  int strength;
};
constexpr OpInfo kOps[] = {{"", 3},
                           {"", 3},
#define SVOD_EXPR_OP(name, text, strength) {text, strength},
                           SVOD_EXPR_OPS(SVOD_EXPR_OP)
#undef SVOD_EXPR_OP
};
const OpInfo& info(ExprOp op) { return kOps[static_cast<size_t>(op)]; }

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isIdentifier(std::string_view name) {
  if (name.empty() || !isNameStart(name[0]) || name == "max" || name == "min" || name == "ceildiv") return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return isNameStart(c) || isDigit(c) || c == '.'; });
}

/// Recursive descent, with the nesting bounded because the text may come from a damaged file.
class ExprParser {
 public:
  ExprParser(std::string_view text, std::span<const std::string> names) : text_(text), names_(names) {}

  Result<Expr> parse() {
    SVOD_TRY(Expr expr, sum(0));
    if (peek() != '\0') return bad(says({"unexpected '", std::string(1, peek()), "'"}));
    return expr;
  }

 private:
  tl::unexpected<Error> bad(const std::string& what) const {
    return fail(Diag::BadPlan, says({"expression '", text_.substr(0, 200), "': ", what}), "compile the graph again");
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view token) {
    peek();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Result<Expr> combine(ExprOp op, Expr a, const Expr& b) {
    if (a.nodes().size() + b.nodes().size() >= Expr::kMaxNodes) return bad("too long");
    return Expr::make(op, std::move(a), b);
  }
  Result<Expr> sum(size_t depth) {
    if (depth >= Expr::kMaxDepth) return bad("nested too deeply");
    SVOD_TRY(Expr left, product(depth));
    for (;;) {
      ExprOp op = ExprOp::Add;
      if (accept("-"))
        op = ExprOp::Sub;
      else if (!accept("+"))
        return left;
      SVOD_TRY(Expr right, product(depth));
      SVOD_TRY(left, combine(op, std::move(left), right));
    }
  }
  Result<Expr> product(size_t depth) {
    SVOD_TRY(Expr left, atom(depth));
    for (;;) {
      ExprOp op = ExprOp::Mul;
      if (accept("//"))
        op = ExprOp::FloorDiv;
      else if (accept("%"))
        op = ExprOp::Mod;
      else if (!accept("*"))
        return left;
      SVOD_TRY(Expr right, atom(depth));
      SVOD_TRY(left, combine(op, std::move(left), right));
    }
  }
  Result<Expr> call(ExprOp op, size_t depth) {
    if (!accept("(")) return bad("'(' expected after a function name");
    SVOD_TRY(Expr a, sum(depth + 1));
    if (!accept(",")) return bad("',' expected");
    SVOD_TRY(Expr b, sum(depth + 1));
    if (!accept(")")) return bad("')' expected");
    return combine(op, std::move(a), b);
  }
  Result<Expr> atom(size_t depth) {
    const char c = peek();
    if (accept("(")) {
      SVOD_TRY(Expr inner, sum(depth + 1));
      if (!accept(")")) return bad("')' expected");
      return inner;
    }
    if (isDigit(c) || c == '-') return number();
    std::string_view name;
    if (c == '`') {
      size_t end = text_.find('`', at_ + 1);
      if (end == std::string_view::npos) return bad("a backquoted name does not end");
      name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else {
      size_t end = at_;
      while (end < text_.size() &&
             (isNameStart(text_[end]) || (end > at_ && (isDigit(text_[end]) || text_[end] == '.'))))
        end++;
      name = text_.substr(at_, end - at_);
      at_ = end;
      for (ExprOp op : {ExprOp::Max, ExprOp::Min, ExprOp::CeilDiv})
        if (name == info(op).text) return call(op, depth);
    }
    if (name.empty()) return bad("a number, a name or '(' was expected");
    auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return bad(says({"no variable is called '", name, "'"}));
    return Expr::variable(static_cast<uint32_t>(found - names_.begin()));
  }
  Result<Expr> number() {
    const bool negative = accept("-");
    int64_t value = 0;
    if (!isDigit(peek())) return bad("a number was expected");
    for (; at_ < text_.size() && isDigit(text_[at_]); at_++)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, negative ? '0' - text_[at_] : text_[at_] - '0', &value))
        return bad("a number does not fit in 64 bits");
    return Expr(value);
  }

  std::string_view text_;
  std::span<const std::string> names_;
  size_t at_ = 0;
};

}  // namespace

bool canBeRead(const Expr& expr) {
  if (expr.nodes().size() > Expr::kMaxNodes) return false;
  struct Piece {  // as toText makes them
    int strength;
    size_t depth;  // of parentheses
  };
  std::vector<Piece> stack;
  for (const ExprNode& node : expr.nodes()) {
    if (node.op == ExprOp::Const || node.op == ExprOp::Var) {
      stack.push_back({node.op == ExprOp::Const && node.value < 0 ? 0 : 3, 0});
      continue;
    }
    if (stack.size() < 2) return false;
    const Piece right = stack.back();
    stack.pop_back();
    const Piece left = stack.back();
    const int strength = info(node.op).strength;
    const bool isCall = strength == 0;
    const size_t ofLeft = left.depth + (isCall || left.strength < strength ? 1 : 0);
    const size_t ofRight = right.depth + (isCall || right.strength <= strength ? 1 : 0);
    stack.back() = {isCall ? 3 : strength, std::max(ofLeft, ofRight)};
  }
  return stack.size() == 1 && stack[0].depth < Expr::kMaxDepth;
}

std::string toText(const Expr& expr, std::span<const std::string> names) {
  struct Piece {
    std::string text;
    int strength;
  };
  std::vector<Piece> stack;
  for (const ExprNode& node : expr.nodes()) {
    if (node.op == ExprOp::Const) {
      // A negative number reads back as one number only where no operator stands before it.
      stack.push_back({std::to_string(node.value), node.value < 0 ? 0 : 3});
      continue;
    }
    if (node.op == ExprOp::Var) {
      const auto index = static_cast<size_t>(node.value);
      if (index >= names.size())
        stack.push_back({"$" + std::to_string(index), 3});
      else
        stack.push_back({isIdentifier(names[index]) ? names[index] : "`" + names[index] + "`", 3});
      continue;
    }
    if (stack.size() < 2) return "?";
    Piece right = std::move(stack.back());
    stack.pop_back();
    Piece& left = stack.back();
    const OpInfo& op = info(node.op);
    if (op.strength == 0) {
      left = {std::string(op.text) + "(" + left.text + "," + right.text + ")", 3};
      continue;
    }
    // Operators group to the left, so a right operand of equal strength keeps its parentheses.
    if (left.strength < op.strength) left.text = "(" + left.text + ")";
    if (right.strength <= op.strength) right.text = "(" + right.text + ")";
    left.text.append(op.text).append(right.text);
    left.strength = op.strength;
  }
  return stack.size() == 1 ? stack[0].text : "?";
}

Result<Expr> parseExpr(std::string_view text, std::span<const std::string> names) {
  return ExprParser(text, names).parse();
}

}  // namespace svod
