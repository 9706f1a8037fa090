#include "target/webgpu/op_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ir/scalar.h"

namespace svod::webgpu {

namespace {

/// `$0 $1 $2` operands; `$s` is i64 or u64 in names of functions. An empty text: there is none.
struct Row {
  Op op;
  std::string_view ofBool, ofInt, ofPair, ofFloat, ofDouble;
};
constexpr Row kRows[] = {
    {Op::Neg, "", "(~$0) + 1", "svod_neg($0)", "-$0", "svod_neg_f64($0)"},
    {Op::Not, "!$0", "~$0", "~$0", "", ""},
    {Op::Abs, "", "", "", "abs($0)", "svod_abs_f64($0)"},
    {Op::Sqrt, "", "", "", "sqrt($0)", ""},
    {Op::Trunc, "", "", "", "trunc($0)", ""},
    {Op::Floor, "", "", "", "floor($0)", ""},
    {Op::Ceil, "", "", "", "ceil($0)", ""},
    {Op::Round, "", "", "", "round($0)", ""},
    {Op::Add, "", "$0 + $1", "svod_add($0, $1)", "$0 + $1", "svod_add_f64($0, $1)"},
    {Op::Sub, "", "$0 - $1", "svod_sub($0, $1)", "$0 - $1", "svod_add_f64($0, svod_neg_f64($1))"},
    {Op::Mul, "", "$0 * $1", "svod_mul($0, $1)", "$0 * $1", "svod_mul_f64($0, $1)"},
    {Op::Fdiv, "", "", "", "$0 / $1", ""},
    {Op::Max, "", "max($0, $1)", "select($0, $1, svod_lt_$s($0, $1))", "", ""},
    {Op::Min, "", "min($0, $1)", "select($0, $1, svod_lt_$s($1, $0))", "", ""},
    {Op::Cdiv, "", "$0 / $1", "svod_div_$s($0, $1)", "", ""},
    {Op::Cmod, "", "$0 % $1", "svod_mod_$s($0, $1)", "", ""},
    {Op::Shl, "", "$0 << u32($1)", "svod_shl($0, $1.x)", "", ""},
    {Op::Shr, "", "$0 >> u32($1)", "svod_shr_$s($0, $1.x)", "", ""},
    {Op::And, "$0 & $1", "$0 & $1", "$0 & $1", "", ""},
    {Op::Or, "$0 | $1", "$0 | $1", "$0 | $1", "", ""},
    {Op::Xor, "$0 != $1", "$0 ^ $1", "$0 ^ $1", "", ""},
    {Op::Lt, "", "$0 < $1", "svod_lt_$s($0, $1)", "$0 < $1", "svod_lt_f64($0, $1)"},
    {Op::Le, "", "$0 <= $1", "!svod_lt_$s($1, $0)", "$0 <= $1", "svod_le_f64($0, $1)"},
    {Op::Eq, "", "$0 == $1", "all($0 == $1)", "$0 == $1", "svod_eq_f64($0, $1)"},
    {Op::Ne, "", "$0 != $1", "any($0 != $1)", "$0 != $1", "!svod_eq_f64($0, $1)"},
    {Op::Where, "select($2, $1, $0)", "select($2, $1, $0)", "select($2, $1, $0)", "select($2, $1, $0)",
     "select($2, $1, $0)"},
    {Op::Mulacc, "", "", "", "fma($0, $1, $2)", "svod_add_f64(svod_mul_f64($0, $1), $2)"},
};

std::string_view textOf(const Row& row, DType operand) {
  switch (heldAs(operand)) {
    case Held::Bool: return row.ofBool;
    case Held::Signed:
    case Held::Unsigned: return row.ofInt;
    case Held::SignedPair:
    case Held::UnsignedPair: return row.ofPair;
    case Held::Float: return row.ofFloat;
    case Held::DoublePair: return row.ofDouble;
    default: return {};
  }
}

std::string filled(std::string_view text, DType operand, std::span<const std::string> operands) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$')
      out += text[i];
    else if (const char what = text[++i]; what == 's')
      out += heldAs(operand) == Held::SignedPair ? "i64" : "u64";
    else
      out += operands[static_cast<size_t>(what - '0')];
  }
  return out;
}

/// The value of a dtype of fewer than 32 bits that has the same lower bits.
std::string narrowed(DType dtype, const std::string& x) {
  if (info(dtype).bits >= 32) return x;
  if (isUnsigned(dtype)) return "(" + x + ") & " + std::to_string((1u << info(dtype).bits) - 1) + "u";
  const std::string count = std::to_string(32 - info(dtype).bits) + "u";
  return "((" + x + ") << " + count + ") >> " + count;
}

/// Whether the result of an op on numbers of few bits may have more of them.
bool widens(Op op) {
  return op == Op::Neg || op == Op::Not || op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Shl ||
         op == Op::Cdiv;
}

std::string pairText(uint64_t bits) {
  return "vec2u(" + std::to_string(bits & 0xffffffffu) + "u, " + std::to_string(bits >> 32) + "u)";
}

std::string floatText(const Scalar& value) {
  const double x = value.asFloat();
  char text[64];
  if (std::isfinite(x) && !(x == 0 && std::signbit(x)))
    std::snprintf(text, sizeof text, x < 0 ? "(%af)" : "%af", x);
  else
    std::snprintf(text, sizeof text, "svod_float(0x%llxu)", static_cast<unsigned long long>(value.storageBits()));
  return text;
}

/// Conversions from and to f64, and those between floats and pairs, are functions by the names of the dtypes that
/// values are held in.
std::string_view heldName(DType dtype) {
  switch (heldAs(dtype)) {
    case Held::Signed: return "i32";
    case Held::Unsigned: return "u32";
    case Held::SignedPair: return "i64";
    case Held::UnsignedPair: return "u64";
    case Held::Float: return "f32";
    default: return "f64";
  }
}
std::string converted(DType from, DType to, const std::string& x) {
  return "svod_" + std::string(heldName(from)) + "_" + std::string(heldName(to)) + "(" + x + ")";
}

std::string castDouble(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (from == DType::Bool) return converted(DType::U32, to, "u32(" + x + ")");
  if (to == DType::Bool) return "!svod_eq_f64(" + x + ", vec2u())";
  const std::string text = converted(from, to, x);
  return heldAs(to) == Held::Signed || heldAs(to) == Held::Unsigned ? narrowed(to, text) : text;
}

std::string fromPair(DType from, DType to, const std::string& x) {
  switch (heldAs(to)) {
    case Held::Bool: return "any(" + x + " != vec2u())";
    case Held::Float: return converted(from, to, x);
    case Held::Signed: return narrowed(to, "i32(" + x + ".x)");
    case Held::Unsigned: return narrowed(to, x + ".x");
    default: return x;
  }
}

std::string toPair(DType from, DType to, const std::string& x) {
  switch (heldAs(from)) {
    case Held::Bool: return "vec2u(u32(" + x + "), 0u)";
    case Held::Float: return converted(from, to, x);
    case Held::Signed: return converted(DType::I32, DType::I64, x);
    default: return "vec2u(" + x + ", 0u)";
  }
}

}  // namespace

Held heldAs(DType dtype) {
  if (dtype == DType::Bool) return Held::Bool;
  if (dtype == DType::F32) return Held::Float;
  if (dtype == DType::F64) return Held::DoublePair;
  if (isFloat(dtype) || dtype == DType::Void || dtype == DType::Index) return Held::None;
  if (info(dtype).bits == 64) return isSigned(dtype) ? Held::SignedPair : Held::UnsignedPair;
  return isSigned(dtype) ? Held::Signed : Held::Unsigned;
}

std::string_view typeName(DType dtype) {
  switch (heldAs(dtype)) {
    case Held::Bool: return "bool";
    case Held::Signed: return "i32";
    case Held::Unsigned: return "u32";
    case Held::SignedPair:
    case Held::UnsignedPair:
    case Held::DoublePair: return "vec2u";
    case Held::Float: return "f32";
    default: return {};
  }
}

std::string literal(const Scalar& value) {
  switch (heldAs(value.dtype())) {
    case Held::Bool: return value.asInt() != 0 ? "true" : "false";
    case Held::Unsigned: return std::to_string(value.raw()) + "u";
    case Held::SignedPair:
    case Held::UnsignedPair: return pairText(value.raw());
    case Held::Float: return floatText(value);
    case Held::DoublePair: return pairText(value.storageBits());
    default: break;
  }
  const int64_t x = value.asInt();
  return x < 0 ? "i32(" + std::to_string(x) + ")" : std::to_string(x) + "i";
}

std::optional<std::string> opText(Op op, DType result, DType operand, std::span<const std::string> operands) {
  const Row* const row = std::ranges::find(kRows, op, &Row::op);
  if (row == std::end(kRows) || typeName(result).empty()) return std::nullopt;
  const std::string_view text = textOf(*row, operand);
  if (text.empty()) return std::nullopt;
  // Compilers may take it that there is no NaN: its bits are looked at.
  const bool isSame = heldAs(operand) == Held::Float && operands.size() == 2 && operands[0] == operands[1];
  if (isSame && op == Op::Ne) return "svod_is_nan(" + operands[0] + ")";
  if (isSame && op == Op::Eq) return "!svod_is_nan(" + operands[0] + ")";
  const std::string all = filled(text, operand, operands);
  return widens(op) && !isFloat(result) && !isPair(result) && result != DType::Bool ? narrowed(result, all) : all;
}

std::string castText(DType from, DType to, const std::string& x) {
  if (from == DType::F64 || to == DType::F64) return castDouble(from, to, x);
  if (isPair(from)) return fromPair(from, to, x);
  if (isPair(to)) return toPair(from, to, x);
  const std::string text = std::string(typeName(to)) + "(" + x + ")";
  return heldAs(to) == Held::Signed || heldAs(to) == Held::Unsigned ? narrowed(to, text) : text;
}

std::optional<std::string> bitcastText(DType from, DType to, const std::string& x) {
  if (typeName(from).empty() || typeName(to).empty() || byteSize(from) != byteSize(to)) return std::nullopt;
  if (typeName(from) == typeName(to)) return byteSize(to) == 8 ? x : narrowed(to, x);
  return narrowed(to, "bitcast<" + std::string(typeName(to)) + ">(" + x + ")");
}

}  // namespace svod::webgpu
