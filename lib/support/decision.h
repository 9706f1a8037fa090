// Choices that change how fast results are computed, never what they are: as data that is shown, recorded and replayed.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

struct Alternative {
  std::string value;
  std::optional<double> cost = {};  // in ops: the cheapest op on one element is 1; none: not known
  bool operator==(const Alternative&) const = default;
};

/// One choice. Its name is made of what it is about, as the graph names it: kind:label.op, such as keep:scores.reduce.
struct Decision {
  std::string name;
  std::vector<Alternative> alternatives;  // all of them legal
  size_t chosen = 0;                      // position in alternatives
  std::string reason;
  bool requested = false;  // somebody asked for the value; the reason then also says what is usual, and why
  const std::string& value() const { return alternatives[chosen].value; }
  bool operator==(const Decision&) const = default;
};

/// One line: `NAME=VALUE | VALUE cost, VALUE | reason`.
std::string toText(const Decision& decision);
/// The inverse; `NAME=VALUE` alone has one alternative and no reason. Errors: Usage.
Result<Decision> parseDecision(std::string_view line);

/// What is asked of decisions, by name.
struct DecisionRequests {
  std::map<std::string, std::string, std::less<>> values = {};
  std::map<std::string, SourceLoc, std::less<>> places = {};  // of values that stand in a file
  std::set<std::string, std::less<>> tuned = {};              // names of values that a tuning log asks for
  /// Adds the decisions of `text`, one a line; empty lines and those that begin with # are left out. Errors: Usage,
  /// with the line of `file`.
  Status addLines(std::string_view text, const std::string& file);
  /// Adds one. Errors: Usage, also for a name that is there already.
  Status add(std::string_view line);
  /// Asked where no value is given: the position of an alternative, or nothing for the usual choice. May be empty.
  std::function<std::optional<size_t>(const Decision&)> choose = {};
  bool empty() const { return values.empty() && !choose; }
};

/// Makes decisions and remembers them, in order.
class Decisions {
 public:
  explicit Decisions(DecisionRequests requests = {}) : requests_(std::move(requests)) {}

  /// The alternative to take: the requested one, or `decision.chosen`.
  size_t answer(const Decision& decision) const;
  /// Records a decision with the answer to it, which is returned. A name that was taken gets a number.
  size_t decide(Decision decision);
  const std::vector<Decision>& made() const { return made_; }
  bool hasRequests() const { return !requests_.empty(); }
  /// Errors: Usage, for a value that is no alternative, with these, and a name that no decision has, with those it is
  /// the beginning of or near to; with the place of the request.
  Status check() const;

 private:
  const std::string* requested(const std::string& name) const;

  DecisionRequests requests_;
  std::vector<Decision> made_;
  std::map<std::string, int> taken_;  // names, and how often
};

}  // namespace svod
