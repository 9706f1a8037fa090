#include "tune_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "support/suggest.h"

namespace svod {

namespace {

constexpr double kSecondsBetween = 0.1;  // what people and programs can read

std::string number(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

}  // namespace

Result<ProgressForm> progressForm(const std::string& name) {
  if (name == "text") return ProgressForm::Text;
  if (name == "json") return ProgressForm::Json;
  constexpr std::string_view kForms[] = {"text", "json"};
  return fail(Diag::Usage, "there is no form '" + name + "' of progress", choicesFor(name, kForms));
}

void TuneProgress::begin(const std::vector<TuneKernel>& kernels) {
  for (const TuneKernel& k : kernels)
    rows_.push_back({k.kernel->name, k.hash, static_cast<double>(k.launches), k.predicted});
  show("begin");
}

size_t TuneProgress::add(const std::vector<TuneKernel>& kernels) {
  const size_t first = rows_.size();
  for (const TuneKernel& k : kernels) rows_.push_back({k.kernel->name, k.hash, 0, k.predicted});
  return first;
}

void TuneProgress::plans(size_t measured) {
  plans_ = measured;
  show("plans");
}

void TuneProgress::turn(size_t kernel) {
  at_ = kernel;
  show("turn");
}

void TuneProgress::knows(size_t kernel, double usual, double best) {
  rows_[kernel].usual = usual, rows_[kernel].best = best;
}

void TuneProgress::tried() {
  ++candidates_;
  if (secondsBetween(shown_, TuneClock::now()) >= kSecondsBetween) show("candidates");
}

void TuneProgress::isDone(size_t kernel) {
  if (std::exchange(rows_[kernel].isDone, true)) return;
  show("done");
}

void TuneProgress::end() {
  show("end");
  console_.clearProgress();
}

double TuneProgress::expected() const {
  double before = 0, after = 0;
  for (const Row& row : rows_) {
    const double time = row.launches * (row.usual > 0 ? row.usual : row.predicted);
    before += time, after += time * (row.usual > 0 && row.best > 0 ? row.best / row.usual : 1);
  }
  return before > 0 ? after / before : 1;
}

double TuneProgress::perSecond() const {
  return static_cast<double>(candidates_) / std::max(secondsBetween(start_, TuneClock::now()), 0.1);
}

size_t TuneProgress::kernelsDone() const { return static_cast<size_t>(std::ranges::count(rows_, true, &Row::isDone)); }

void TuneProgress::show(const char* event) {
  if (rows_.empty()) return;
  shown_ = TuneClock::now();
  if (form_ == ProgressForm::Json)
    console_.event(json(event));
  else
    console_.progress(text());
}

std::string TuneProgress::text() const {
  const Row& row = rows_[at_];
  const double left = secondsBetween(TuneClock::now(), deadline_);
  std::string line =
      std::to_string(kernelsDone()) + "/" + std::to_string(rows_.size()) + " kernels, " + std::to_string(candidates_) +
      " tried, " + (plans_ > 0 ? std::to_string(plans_) + " plans, " : "") + number("%.0f", perSecond()) +
      "/s, all at " + number("%.1f", 100 * expected()) + " % of -O1, " + clockText(left) + " left; " + row.name;
  if (row.usual > 0 && row.best > 0)
    line += ": " + number("%.1f", row.usual / 1e3) + " -> " + number("%.1f", row.best / 1e3) + " us";
  return line;
}

std::string TuneProgress::json(const char* event) const {
  const Row& row = rows_[at_];
  nlohmann::ordered_json line = {
      {"progress", event},
      {"kernel", row.name},
      {"hash", row.hash},
      {"kernelsDone", kernelsDone()},
      {"kernels", rows_.size()},
      {"candidates", candidates_},
      {"plans", plans_},
      {"perSecond", rounded(perSecond(), 10)},
      {"nsUsual", rounded(row.usual, 10)},
      {"nsBest", rounded(row.best, 10)},
      {"expected", rounded(expected(), 1e4)},
      {"secondsLeft", rounded(std::max(0.0, secondsBetween(TuneClock::now(), deadline_)), 10)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace svod
