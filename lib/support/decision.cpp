#include "support/decision.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "support/suggest.h"

namespace svod {

namespace {

constexpr std::string_view kBar = " | ";

/// A whole number: costs are compared, and nobody needs parts of an op.
std::string costText(double cost) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", cost);
  return text;
}

std::optional<Alternative> parseAlternative(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == text.npos) return Alternative{std::string(text), {}};
  const std::string_view number = text.substr(space + 1);
  double cost = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), cost);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return Alternative{std::string(text.substr(0, space)), cost};
}

std::string listed(const Decision& decision) {
  std::string text;
  for (const Alternative& a : decision.alternatives) text += (text.empty() ? "" : ", ") + a.value;
  return text;
}

std::optional<size_t> positionOf(const Decision& decision, std::string_view value) {
  const auto found = std::ranges::find(decision.alternatives, value, &Alternative::value);
  if (found == decision.alternatives.end()) return std::nullopt;
  return static_cast<size_t>(found - decision.alternatives.begin());
}

template <class T>
Result<T> placed(Result<T> result, const SourceLoc& place) {
  if (!result) result.error()->loc = place;
  return result;
}

}  // namespace

Status DecisionRequests::add(std::string_view line) {
  SVOD_TRY(const Decision decision, parseDecision(line));
  const auto [at, isNew] = values.emplace(decision.name, decision.value());
  if (isNew) return {};
  return fail(
      Diag::Usage,
      "decision '" + decision.name + "' is asked for twice: '" + at->second + "' and '" + decision.value() + "'",
      "leave one of them out");
}

Status DecisionRequests::addLines(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    ++number;
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    const SourceLoc place{file, number, 1};
    SVOD_TRY(const Decision decision, placed(parseDecision(line), place));
    SVOD_CHECK(placed(add(line), place));
    places.insert_or_assign(decision.name, place);
  }
  return {};
}

std::string toText(const Decision& d) {
  std::string text = d.name + "=" + d.value() + std::string(kBar);
  for (const Alternative& a : d.alternatives)
    text += (&a == d.alternatives.data() ? "" : ", ") + a.value + (a.cost ? " " + costText(*a.cost) : "");
  return text + std::string(kBar) + d.reason;
}

Result<Decision> parseDecision(std::string_view line) {
  const auto wrong = [&] {
    return fail(Diag::Usage, "'" + std::string(line) + "' is no decision", "such as keep:scores.reduce=keep");
  };
  const size_t first = line.find(kBar), equals = line.substr(0, first).rfind('=');
  if (equals == line.npos || equals == 0) return wrong();
  Decision d{std::string(line.substr(0, equals)), {}, 0, ""};
  const std::string value(line.substr(0, first).substr(equals + 1));
  if (value.empty()) return wrong();
  if (first == line.npos) {
    d.alternatives.push_back({value, {}});
    return d;
  }
  std::string_view rest = line.substr(first + kBar.size());
  const size_t second = rest.find(kBar);
  if (second == rest.npos) return wrong();
  d.reason = rest.substr(second + kBar.size());
  rest = rest.substr(0, second);
  while (!rest.empty()) {
    const size_t comma = rest.find(", ");
    const std::optional<Alternative> a = parseAlternative(rest.substr(0, comma));
    if (!a) return wrong();
    d.alternatives.push_back(*a);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 2);
  }
  const std::optional<size_t> chosen = positionOf(d, value);
  if (!chosen) return wrong();
  d.chosen = *chosen;
  return d;
}

namespace {

/// Why a decision is as it was asked for: what is usual, and the reason for that.
std::string reasonOfRequest(const Decision& usual, size_t chosen, bool isTuned) {
  const std::string how = isTuned ? "as in the tuning log" : "requested";
  const std::string why = usual.reason.empty() ? "" : ": " + usual.reason;
  return how + (chosen == usual.chosen ? ", and usual" : " in place of " + usual.value()) + why;
}

/// The names that `wanted` is the beginning of, or the one it probably meant.
std::string namesNear(std::string_view wanted, const std::vector<Decision>& made) {
  constexpr size_t kMost = 8;
  if (made.empty()) return "no decision is made about this graph, so there is none to ask for";
  std::vector<std::string_view> names, longer;
  for (const Decision& d : made) {
    names.push_back(d.name);
    if (d.name.starts_with(wanted)) longer.push_back(d.name);
  }
  const std::string all = "svodc inspect GRAPH --decisions shows them";
  if (longer.empty() && names.size() > kMost) return didYouMean(wanted, names, all);
  if (longer.empty()) return choicesFor(wanted, names);
  if (longer.size() == 1) return "did you mean '" + std::string(longer[0]) + "'?";
  if (longer.size() <= kMost) return choicesFor(wanted, longer);
  return std::to_string(longer.size()) + " names begin with it: " + all;
}

}  // namespace

const std::string* Decisions::requested(const std::string& name) const {
  const auto found = requests_.values.find(name);
  return found == requests_.values.end() ? nullptr : &found->second;
}

size_t Decisions::answer(const Decision& decision) const {
  if (const std::string* value = requested(decision.name))
    return positionOf(decision, *value).value_or(decision.chosen);
  if (!requests_.choose) return decision.chosen;
  const size_t chosen = requests_.choose(decision).value_or(decision.chosen);
  return chosen < decision.alternatives.size() ? chosen : decision.chosen;
}

size_t Decisions::decide(Decision decision) {
  if (const int before = taken_[decision.name]++; before > 0) decision.name += "#" + std::to_string(before + 1);
  const size_t chosen = answer(decision);
  decision.requested = chosen != decision.chosen || requested(decision.name) != nullptr;
  if (decision.requested) decision.reason = reasonOfRequest(decision, chosen, requests_.tuned.contains(decision.name));
  decision.chosen = chosen;
  made_.push_back(std::move(decision));
  return chosen;
}

Status Decisions::check() const {
  for (const auto& [name, value] : requests_.values) {
    const auto from = requests_.places.find(name);
    const SourceLoc place = from == requests_.places.end() ? SourceLoc{} : from->second;
    const auto found = std::ranges::find(made_, name, &Decision::name);
    if (found == made_.end())
      return fail(
          Error(Diag::Usage, "there is no decision '" + name + "' about this graph", namesNear(name, made_), place));
    if (!positionOf(*found, value))
      return fail(Error(Diag::Usage, "decision '" + name + "' cannot be '" + value + "'",
                        "it can be: " + listed(*found), place));
  }
  return {};
}

}  // namespace svod
