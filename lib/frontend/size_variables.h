// The variables of a graph before it is built: what options, the shapes of inputs and the ops say about them, solved
// for those that stay free. Equations are linear; each takes away one variable that stands in it once.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/size_form.h"
#include "ir/uop.h"

namespace svod {

class SizeVariables {
 public:
  /// Whose wish bounds are: nobody's, or the graph's or an option's.
  enum class Source : uint8_t { Default, Given };

  /// A variable of the graph with its bounds.
  void declare(const std::string& name, Interval bounds, Source source);
  /// Other bounds, which an option gives; also of a name that only equations have.
  void bound(const std::string& name, Interval bounds);
  /// The likely value of a variable, which the graph or an option gives.
  void prefer(const std::string& name, int64_t value);
  /// The variables in a size that an option gives: they are known, and settle() bounds those that nothing else does.
  void mention(const SizeForm& form);
  /// Bounds in place of those that are nobody's wish; false where some are given, or the variable is not free.
  bool suggest(const std::string& name, Interval bounds);
  /// left == right, as `from` says ("--var h=8*k"). Takes away a variable of `left` where it can, else the one declared
  /// last. Diag::BindMismatch where the two contradict what is known.
  Status equate(const SizeForm& left, const SizeForm& right, const std::string& from);
  /// The same for what nobody said: only variables without given bounds may be taken away, and which one is (the form
  /// it has from now on) is the result; nothing when there is none or the two can never be equal.
  std::optional<std::pair<std::string, SizeForm>> unify(const SizeForm& left, const SizeForm& right);

  /// Bounds of the free variables, once all is said. `unstated`: those of a new variable that nothing bounds.
  Status settle(std::optional<Interval> unstated);

  /// In free variables only.
  SizeForm reduced(const SizeForm& form) const;
  bool isFree(const std::string& name) const { return !solved_.contains(name); }
  bool isDeclared(std::string_view name) const { return order_.contains(name); }
  /// Names of equations and options that the graph does not declare.
  bool isKnown(const std::string& name) const { return named_.contains(name) || order_.contains(name); }
  /// After settle(), of a free variable; those that settle() gives unstated ones where nobody named it.
  Interval boundsOf(const std::string& name) const;
  bool isGiven(const std::string& name) const;
  /// After settle(), of a free variable, within its bounds: what prefer() says of it or of a multiple of it, otherwise
  /// `usual`.
  int64_t likelyOf(const std::string& name, int64_t usual) const;
  /// Which option or line fixed a variable that is not free.
  const std::string& reasonOf(const std::string& name) const { return solved_.at(name).from; }

 private:
  struct Stated {
    Interval bounds;
    Source source;
  };
  struct Solved {
    SizeForm form;  // in free variables
    std::string from;
  };
  std::optional<SizeForm> difference(const SizeForm& left, const SizeForm& right) const;
  void substitute(const std::string& name, const SizeForm& form, const std::string& from);
  Status derive(const std::string& name, const SizeForm& form, const Stated& stated);

  std::map<std::string, size_t, std::less<>> order_;  // of declaration
  std::map<std::string, Stated> stated_;
  std::map<std::string, int64_t> preferred_;
  std::map<std::string, Solved> solved_;
  std::map<std::string, Interval> derived_;  // bounds of free variables that follow from those of solved ones
  std::set<std::string> named_;
  Interval unstated_{1, 1};
};

}  // namespace svod
