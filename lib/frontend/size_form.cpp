#include "frontend/size_form.h"

namespace svod {

namespace {

constexpr int64_t kLargest = int64_t{1} << 62;

std::optional<int64_t> sumOf(int64_t a, int64_t b, int64_t factor) {
  int64_t product = 0, total = 0;
  if (__builtin_mul_overflow(b, factor, &product) || __builtin_add_overflow(a, product, &total)) return std::nullopt;
  if (total > kLargest || total < -kLargest) return std::nullopt;
  return total;
}

tl::unexpected<Error> tooLarge(const GraphExpr& e) {
  return fail(Diag::Usage, "the numbers in '" + writeGraphExpr(e) + "' are too large", "sizes lie below 2^60");
}

tl::unexpected<Error> notLinear(const GraphExpr& e) {
  return fail(Diag::Usage, "'" + writeGraphExpr(e) + "' is not a sum of multiples of variables",
              "such as n, 8*k, 2*k + 1 or past + seq; names with other characters stand in backquotes");
}

// A sum or product of two forms, as part of `e`.
Result<SizeForm> combined(const GraphExpr& e, std::string_view op, const SizeForm& a, const SizeForm& b) {
  std::optional<SizeForm> result;
  if (op == "+" || op == "-") {
    result = addMultiple(a, b, op == "+" ? 1 : -1);
  } else if (op == "*" && (a.isNumber() || b.isNumber())) {
    result = a.isNumber() ? addMultiple({}, b, a.constant) : addMultiple({}, a, b.constant);
  } else {
    return notLinear(e);
  }
  if (result) return *std::move(result);
  return tooLarge(e);
}

}  // namespace

std::optional<SizeForm> addMultiple(const SizeForm& a, const SizeForm& b, int64_t factor) {
  SizeForm total = a;
  std::optional<int64_t> constant = sumOf(a.constant, b.constant, factor);
  if (!constant) return std::nullopt;
  total.constant = *constant;
  for (const auto& [name, times] : b.factors) {
    std::optional<int64_t> next = sumOf(total.factors[name], times, factor);
    if (!next) return std::nullopt;
    total.factors[name] = *next;
  }
  std::erase_if(total.factors, [](const auto& entry) { return entry.second == 0; });
  return total;
}

std::string toText(const SizeForm& form) {
  std::string text;
  auto add = [&](int64_t times, const std::string& what) {
    const bool isNegative = times < 0;
    const std::string amount = std::to_string(isNegative ? -times : times);
    if (!text.empty()) text += isNegative ? " - " : " + ";
    if (text.empty() && isNegative) text += "-";
    text += what.empty() ? amount : amount == "1" ? what : amount + "*" + what;
  };
  // Positive terms come first: total - seq, not -seq + total.
  for (const auto& [name, times] : form.factors)
    if (times > 0) add(times, writeName(name));
  for (const auto& [name, times] : form.factors)
    if (times < 0) add(times, writeName(name));
  if (form.constant != 0 || form.factors.empty()) add(form.constant, "");
  return text;
}

Result<SizeForm> sizeFormOf(const GraphExpr& e) {
  if (e.kind == ExprKind::Int && !e.isBig) {
    if (e.integer > kLargest || e.integer < -kLargest) return tooLarge(e);
    return SizeForm::number(e.integer);
  }
  if (e.kind == ExprKind::Name) return SizeForm::variable(e.text);
  if (e.kind == ExprKind::Chain) {
    SVOD_TRY(SizeForm form, sizeFormOf(e.items[0]));
    for (size_t i = 1; i < e.items.size(); ++i) {
      SVOD_TRY(const SizeForm next, sizeFormOf(e.items[i]));
      SVOD_TRY(form, combined(e, e.operators[i - 1].text, form, next));
    }
    return form;
  }
  const bool isSign = e.kind == ExprKind::Call && e.text == "-" && e.items.size() == 1;
  const bool isPair = e.kind == ExprKind::Call && e.items.size() == 2 && e.attributes.empty();
  if (!isSign && !isPair) return notLinear(e);
  SVOD_TRY(const SizeForm first, sizeFormOf(e.items[0]));
  if (isSign) return *addMultiple({}, first, -1);
  SVOD_TRY(const SizeForm second, sizeFormOf(e.items[1]));
  return combined(e, e.text, first, second);
}

Result<SizeForm> parseSizeForm(std::string_view text) {
  Result<GraphExpr> expr = parseGraphExpr(text, "");
  if (expr) return sizeFormOf(*expr);
  return fail(Diag::Usage, "'" + std::string(text) + "' is no size: " + expr.error()->message,
              "write a number, a variable, or a sum of multiples of variables such as 8*k + 1");
}

}  // namespace svod
