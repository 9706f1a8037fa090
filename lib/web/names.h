// How the values of a plan read in JavaScript and TypeScript (an internal header of the room).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace svod::web {

/// A text in quotes.
std::string textOf(std::string_view text);
/// A name as a property of an object: quoted where it is no identifier.
std::string property(std::string_view name);
/// What a comment may hold.
std::string inComment(std::string_view text);

/// An expression over `names`, of numbers that are exact below 2^53.
std::string exprText(const Expr& expr, std::span<const std::string> names);

/// "f32[n, 1, 8, 8]"
std::string typeText(const Plan& plan, ElementType type, std::span<const Expr> shape);

/// The names of variables: those of the graph, where JavaScript and the module have no other use for them.
class Names {
 public:
  explicit Names(const Plan& plan);

  std::string expr(const Expr& e) const { return exprText(e, variables_); }
  const std::string& variable(VariableId id) const { return variables_[id]; }
  /// Those that callers give, in order.
  const std::vector<VariableId>& given() const { return given_; }
  /// "[n, m]", the parameter of a function of them
  std::string parameter() const;
  /// "([n]) => 4 * n"
  std::string function(const Expr& e) const { return "(" + parameter() + ") => " + expr(e); }

 private:
  std::vector<std::string> variables_;  // by id; numbers for those that are fixed
  std::vector<VariableId> given_;
};

}  // namespace svod::web
