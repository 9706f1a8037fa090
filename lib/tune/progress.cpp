#include "tune/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

namespace svod {

namespace {

constexpr double kSecondsBetween = 0.1;  // what people and programs can read

std::string number(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string microseconds(double nanoseconds) {
  const double value = nanoseconds / 1e3;
  return number(value < 100 ? "%.1f" : "%.0f", value);
}

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

}  // namespace

void TuneProgress::begin(const std::vector<TuneKernel>& kernels) {
  for (const TuneKernel& k : kernels)
    rows_.push_back({k.kernel->name, k.hash, static_cast<double>(k.launches), k.predicted});
  own_ = rows_.size();
  show("begin");
}

size_t TuneProgress::add(const std::vector<TuneKernel>& kernels) {
  const size_t first = rows_.size();
  for (const TuneKernel& k : kernels) rows_.push_back({k.kernel->name, k.hash, 0, k.predicted});
  return first;
}

void TuneProgress::decisions() { does("decisions", "looks for decisions"); }
void TuneProgress::checks() { does("checks", "checks the winners"); }

void TuneProgress::plans(size_t measured) {
  plans_ = measured;
  does("plans", "measures a plan");
}

void TuneProgress::does(std::string_view event, std::string what) {
  doing_ = std::move(what);
  show(event);
}

void TuneProgress::turn(size_t kernel, int round) {
  if (kernel < own_ && std::exchange(round_, round) != round)
    for (Row& row : rows_) row.isDone = row.isOver;
  at_ = kernel;
  does("turn", "");
}

void TuneProgress::knows(size_t kernel, double baseline, double best) {
  rows_[kernel].baseline = baseline, rows_[kernel].best = best;
}

void TuneProgress::tried() {
  ++candidates_;
  if (secondsBetween(shown_, TuneClock::now()) >= kSecondsBetween) show("candidates");
}

void TuneProgress::hadTurn(size_t kernel, bool isOver) {
  Row& row = rows_[kernel];
  row.isDone = row.hadTurn = true, row.isOver = isOver;
  show("done");
}

void TuneProgress::end() {
  for (Row& row : rows_) row.isDone = row.hadTurn;
  show("end");
}

double TuneProgress::expected() const {
  double before = 0, after = 0;
  for (const Row& row : rows_) {
    const double time = row.launches * (row.baseline > 0 ? row.baseline : row.predicted);
    before += time, after += time * (row.baseline > 0 && row.best > 0 ? row.best / row.baseline : 1);
  }
  return before > 0 ? after / before : 1;
}

double TuneProgress::perSecond() const {
  return static_cast<double>(candidates_) / std::max(secondsBetween(start_, TuneClock::now()), 0.1);
}

size_t TuneProgress::kernelsDone() const {
  return static_cast<size_t>(std::ranges::count(std::span(rows_).first(own_), true, &Row::isDone));
}

void TuneProgress::show(std::string_view event) {
  shown_ = TuneClock::now();
  if (shows_) shows_(*this, event);
}

std::string TuneProgress::text(size_t width) const {
  if (rows_.empty()) return doing_;
  const double left = secondsBetween(TuneClock::now(), deadline_);
  const std::string line = std::to_string(kernelsDone()) + "/" + std::to_string(own_) +
                           (round_ == 1 ? " kernels, " : " in round " + std::to_string(round_) + ", ") +
                           std::to_string(candidates_) + " tried, " +
                           (plans_ > 0 ? std::to_string(plans_) + (plans_ == 1 ? " plan, " : " plans, ") : "") +
                           number("%.0f", perSecond()) + "/s, " + number("%.1f", 100 * expected()) + " % of -O1, " +
                           clockText(left) + " left; ";
  return line + (doing_.empty() ? kernelText(width - std::min(width, line.size())) : doing_);
}

/// Its times are worth more than all of its name.
std::string TuneProgress::kernelText(size_t room) const {
  constexpr size_t kLeast = 8;
  const Row& row = rows_[at_];
  const bool isTimed = row.baseline > 0 && row.best > 0;
  const std::string times = isTimed ? microseconds(row.baseline) + " -> " + microseconds(row.best) + " us" : "";
  if (room < times.size() + 2 + kLeast) return times;
  const std::string name = shortName(row.name, room - (isTimed ? times.size() + 2 : 0));
  return isTimed ? name + ": " + times : name;
}

std::string TuneProgress::json(std::string_view event) const {
  const Row row = rows_.empty() ? Row() : rows_[at_];  // where graphs alone are checked there is none
  nlohmann::ordered_json line = {
      {"progress", event},
      {"kernel", row.name},
      {"hash", row.hash},
      {"round", round_},
      {"kernelsDone", kernelsDone()},
      {"kernels", own_},
      {"planKernels", rows_.size() - own_},
      {"candidates", candidates_},
      {"plans", plans_},
      {"perSecond", rounded(perSecond(), 10)},
      {"nsUsual", rounded(row.baseline, 10)},
      {"nsBest", rounded(row.best, 10)},
      {"expected", rounded(expected(), 1e4)},
      {"secondsLeft", rounded(std::max(0.0, secondsBetween(TuneClock::now(), deadline_)), 10)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace svod
