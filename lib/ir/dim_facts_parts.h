// What the files that decide about dims share.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ir/dim_facts.h"

namespace svod::detail {

enum class Question : uint8_t { IsZero, IsNotNegative };

inline bool holds(Question q, int64_t value) { return q == Question::IsZero ? value == 0 : value >= 0; }

inline Truth answerOf(Question q, int64_t value) { return holds(q, value) ? Truth::Always : Truth::Never; }

/// Of several cases that together are all values.
struct Cases {
  bool always = true, never = true, fails = false;
  void add(Truth t) {
    always &= t == Truth::Always;
    never &= t == Truth::Never;
    fails |= t == Truth::Never || t == Truth::NotAlways;
  }
  Truth all() const {
    return always ? Truth::Always : never ? Truth::Never : fails ? Truth::NotAlways : Truth::Unknown;
  }
};

/// What a dim is computed from: variables, counters and values that are loaded.
std::vector<UOp> leavesOf(UOp dim);
/// The answer from all values of the leaves; nullopt where there are too many, or where a leaf's values are not known.
std::optional<Truth> byAllPoints(Question question, UOp dim, std::span<const UOp> leaves);
/// Whether one of a few samples refutes it; false where a leaf is no variable.
bool failsSomewhere(Question question, UOp dim);

}  // namespace svod::detail
