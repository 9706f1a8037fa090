#include "tune/budget.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace svod {

Result<double> parseSeconds(const std::string& text) {
  constexpr double kMost = 1e8;
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double each = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = number * each;
  if (problem != std::errc() || !(seconds > 0) || seconds > kMost)
    return fail(Diag::Usage, "'" + text + "' is no time to spend",
                "a number of seconds, or with a unit: 90s, 10m, 1.5h");
  return seconds;
}

std::string clockText(double seconds) {
  const auto all = static_cast<long long>(std::max(0.0, std::ceil(seconds)));
  char text[48];
  if (all >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", all / 60, all % 60);
  return text;
}

TuneClock::time_point afterSeconds(TuneClock::time_point from, double seconds) {
  return from + std::chrono::duration_cast<TuneClock::duration>(std::chrono::duration<double>(seconds));
}

double secondsBetween(TuneClock::time_point from, TuneClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

namespace {

constexpr double kLeastGain = 0.02;    // a turn without one says little about the next
constexpr double kShortRound = 4;      // seconds for each kernel: what is less is not cut in two
constexpr double kLeastPart = 0.6;     // of an equal one, that every kernel has of a short round
constexpr double kLeastWeight = 1e-9;  // every kernel gets a turn
constexpr double kOfStart = 4;         // times the start of a turn, that it is worth

}  // namespace

Turns::Turns(std::vector<TimeClaim> claims, double seconds) : claims_(std::move(claims)) { beginRound(seconds); }

double Turns::claimOf(size_t kernel) const {
  const TimeClaim& claim = claims_[kernel];
  return std::max(claim.weight, kLeastWeight) * std::max(claim.gain, kLeastGain);
}

void Turns::beginRound(double secondsLeft) {
  ++round_;
  for (size_t i = 0; i < claims_.size(); ++i)
    if (!claims_[i].isOver) waiting_.push_back(i);
  std::ranges::stable_sort(waiting_, {}, [&](size_t i) { return claimOf(i); });
  const auto count = static_cast<double>(waiting_.size());
  const bool isShort = secondsLeft < kShortRound * count;
  reserved_ = waiting_.size() < 2 || isShort ? 0 : secondsLeft / 2;
  least_ = isShort && !waiting_.empty() ? kLeastPart * secondsLeft / count : 0;
}

std::optional<Turns::Turn> Turns::next(double secondsLeft) {
  if (secondsLeft <= 0) return std::nullopt;
  if (waiting_.empty()) beginRound(secondsLeft);
  if (waiting_.empty()) return std::nullopt;
  double all = 0;
  for (size_t i : waiting_) all += claimOf(i);
  const size_t kernel = waiting_.back();
  waiting_.pop_back();
  const double free = std::max(0.0, secondsLeft - reserved_);
  const double most = free - least_ * static_cast<double>(waiting_.size());
  const double share = std::max(std::min(least_, free), std::min(free * claimOf(kernel) / all, most));
  const double worth = turns_ == 0 ? 0 : kOfStart * starts_ / turns_;
  return Turn{kernel, std::min(std::max(share, worth), secondsLeft), round_};
}

void Turns::ended(size_t kernel, const TimeClaim& claim) {
  claims_[kernel] = claim;
  starts_ += claim.start, ++turns_;
}

}  // namespace svod
