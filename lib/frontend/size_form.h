// Sizes as options and the dims of ONNX models write them: sums of multiples of variables, such as 8*k + 3.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/graph_file.h"
#include "support/result.h"

namespace svod {

struct SizeForm {
  std::map<std::string, int64_t, std::less<>> factors;  // by variable; none is 0
  int64_t constant = 0;

  static SizeForm number(int64_t value) { return {{}, value}; }
  static SizeForm variable(std::string name) { return {{{std::move(name), 1}}, 0}; }
  bool isNumber() const { return factors.empty(); }
  /// The variable that this is, alone and once.
  const std::string* asVariable() const {
    return constant == 0 && factors.size() == 1 && factors.begin()->second == 1 ? &factors.begin()->first : nullptr;
  }
  bool operator==(const SizeForm&) const = default;
};

/// a + factor * b; nothing where a number leaves 2^62.
std::optional<SizeForm> addMultiple(const SizeForm& a, const SizeForm& b, int64_t factor);

/// "8*k + 3"; names that are no identifiers stand in backquotes.
std::string toText(const SizeForm& form);

/// The form of an expression of graph files. Diag::Usage, which says what is not linear.
Result<SizeForm> sizeFormOf(const GraphExpr& expr);
/// The same from text.
Result<SizeForm> parseSizeForm(std::string_view text);

}  // namespace svod
