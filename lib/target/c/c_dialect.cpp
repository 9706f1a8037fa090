#include "target/c/c_dialect.h"

#include <cmath>
#include <cstdio>

namespace svod {

namespace {

constexpr OpText kOps[] = {
    {Op::Neg, OnFloat, "-$0"},
    {Op::Neg, OnInt, "($T)(($U)0 - ($U)$0)"},
    {Op::Not, OnBool, "!$0"},
    {Op::Not, OnInt, "($T)~$0"},
    {Op::Abs, OnFloat, "fabs$f($0)"},
    {Op::Sqrt, OnFloat, "sqrt$f($0)"},
    {Op::Trunc, OnFloat, "trunc$f($0)"},
    {Op::Floor, OnFloat, "floor$f($0)"},
    {Op::Ceil, OnFloat, "ceil$f($0)"},
    {Op::Round, OnFloat, "nearbyint$f($0)"},
    {Op::Cast, OnAny, "($T)$0"},
    {Op::Add, OnFloat, "$0 + $1"},
    {Op::Add, OnInt, "($T)(($U)$0 + ($U)$1)"},
    {Op::Sub, OnFloat, "$0 - $1"},
    {Op::Sub, OnInt, "($T)(($U)$0 - ($U)$1)"},
    {Op::Mul, OnFloat, "$0 * $1"},
    {Op::Mul, OnInt, "($T)(($U)$0 * ($U)$1)"},
    {Op::Fdiv, OnFloat, "$0 / $1"},
    {Op::Max, OnInt, "$0 > $1 ? $0 : $1"},
    {Op::Min, OnInt, "$0 < $1 ? $0 : $1"},
    {Op::Cdiv, OnInt, "($T)($0 / $1)"},
    {Op::Cmod, OnInt, "($T)($0 % $1)"},
    {Op::Shl, OnInt, "($T)(($U)$0 << $1)"},
    {Op::Shr, OnInt, "($T)($0 >> $1)"},
    {Op::And, OnBool | OnInt, "($T)($0 & $1)"},
    {Op::Or, OnBool | OnInt, "($T)($0 | $1)"},
    {Op::Xor, OnBool | OnInt, "($T)($0 ^ $1)"},
    {Op::Lt, OnInt | OnFloat, "$0 < $1"},
    {Op::Le, OnInt | OnFloat, "$0 <= $1"},
    {Op::Eq, OnInt | OnFloat, "$0 == $1"},
    {Op::Ne, OnInt | OnFloat, "$0 != $1"},
    {Op::Where, OnAny, "$0 ? $1 : $2"},
    {Op::Mulacc, OnFloat, "fma$f($0, $1, $2)"},
};

std::string_view cTypeName(DType d) {
  switch (d) {
    case DType::Bool: return "bool";
    case DType::I8: return "int8_t";
    case DType::I16: return "int16_t";
    case DType::I32: return "int32_t";
    case DType::I64: return "int64_t";
    case DType::U8: return "uint8_t";
    case DType::U16: return "uint16_t";
    case DType::U32: return "uint32_t";
    case DType::U64: return "uint64_t";
    case DType::F32: return "float";
    case DType::F64: return "double";
    default: return {};
  }
}

// Narrow integers would be promoted to int, which overflows; u32 does not.
DType wrapType(DType d) { return byteSize(d) == 8 ? DType::U64 : DType::U32; }

std::string floatLiteral(const Scalar& value) {
  bool single = value.dtype() == DType::F32;
  double x = value.asFloat();
  char text[64];
  if (std::isfinite(x))
    std::snprintf(text, sizeof text, single ? "%af" : "%a", x);
  else
    std::snprintf(text, sizeof text, single ? "bits_u32_f32(0x%llxu)" : "bits_u64_f64(0x%llxu)",
                  static_cast<unsigned long long>(value.storageBits()));
  return std::signbit(x) ? "(" + std::string(text) + ")" : text;
}

}  // namespace

constinit const CDialect kC11{"c11", kOps, cTypeName};

std::string literalText(const Scalar& value) {
  DType d = value.dtype();
  if (isFloat(d)) return floatLiteral(value);
  if (d == DType::Bool) return value.asInt() != 0 ? "true" : "false";
  if (d == DType::U64) return "UINT64_C(" + std::to_string(value.raw()) + ")";
  if (d == DType::U32) return std::to_string(value.raw()) + "u";
  int64_t v = value.asInt();
  if (d == DType::I64 && v == INT64_MIN) return "INT64_MIN";
  if (d == DType::I32 && v == INT32_MIN) return "INT32_MIN";
  std::string text = d == DType::I64 ? "INT64_C(" + std::to_string(v) + ")" : std::to_string(v);
  return v < 0 && d != DType::I64 ? "(" + text + ")" : text;
}

const OpText* findText(const CDialect& dialect, Op op, DType operand) {
  for (const CDialect* d = &dialect; d != nullptr; d = d->others)
    for (const OpText& row : d->ops)
      if (row.op == op && (row.operands & operandKind(operand)) != 0) return &row;
  return nullptr;
}

std::string fillText(const CDialect& dialect, std::string_view text, DType d, std::span<const std::string> operands) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    char what = text[++i];
    if (what == 'T')
      out += dialect.typeName(d);
    else if (what == 'U')
      out += dialect.typeName(wrapType(d));
    else if (what == 'f')
      out += d == DType::F32 ? dialect.floatSuffix : "";
    else
      out += operands[static_cast<size_t>(what - '0')];
  }
  return out;
}

std::optional<std::string> opText(const CDialect& dialect, UOp node, std::span<const std::string> operands) {
  DType operand = node.op() == Op::Where ? node.dtype() : node.src(0).dtype();
  if (dialect.typeName(node.dtype()).empty()) return std::nullopt;
  const OpText* row = findText(dialect, node.op(), operand);
  if (row == nullptr) return std::nullopt;
  return fillText(dialect, row->text, node.dtype(), operands);
}

}  // namespace svod
