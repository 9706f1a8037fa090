// How ops read in C-like languages, as data.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/uop.h"
#include "target/emittable.h"

namespace svod {

/// `$0 $1 $2` operands, `$T` type of the result, `$U` unsigned type to compute in without undefined behaviour,
/// `$f` the suffix of math functions for the result's dtype.
struct OpText {
  Op op;
  uint8_t operands;  // bits of OperandKind
  std::string_view text;
};

struct CDialect {
  std::string_view name;
  std::span<const OpText> ops;
  std::string_view (*typeName)(DType);
  std::string_view floatSuffix = "f";  // of math functions of f32
  const CDialect* others = nullptr;    // has the ops that this one lacks
};

extern const CDialect kC11;

/// The row for an op on operands of a dtype; null if the dialect has none.
const OpText* findText(const CDialect& dialect, Op op, DType operand);

/// `text` with its `$` parts replaced, for a result of dtype `d`.
std::string fillText(const CDialect& dialect, std::string_view text, DType d, std::span<const std::string> operands);

/// The text of one op with its operands filled in; nullopt if the dialect has none.
std::optional<std::string> opText(const CDialect& dialect, UOp node, std::span<const std::string> operands);

/// A constant as an expression of exactly its value and dtype.
std::string literalText(const Scalar& value);

}  // namespace svod
