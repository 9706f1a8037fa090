#include "profile_report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>

#include "summary.h"
#include "support/text.h"

namespace svod {

namespace {

constexpr size_t kCell = 11, kNarrowCell = 10;  // columns of a cell

/// Units per nanosecond are giga-units per second. "-" when the plan has no estimate.
std::string rateText(uint64_t units, uint64_t ns) {
  if (units == 0 || ns == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(units) / static_cast<double>(ns));
  return text;
}

struct RunTimes {
  double best, median, mean;  // seconds

  explicit RunTimes(const ProfileRow& row)
      : best(static_cast<double>(row.runNs.front()) / 1e9),
        median(static_cast<double>(row.runNs[row.runNs.size() / 2]) / 1e9),
        mean(static_cast<double>(row.busyNs) / static_cast<double>(row.runNs.size()) / 1e9) {}
};

}  // namespace

std::string durationText(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.2f us", seconds * 1e6);
  else if (seconds < 10)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

void ProfileHistory::add(const svod_instance* instance) {
  for (const ProfileRow& row : profileRows(instance, names_)) totals_[{row.kind, row.name}].push_back(row.busyNs);
}

std::vector<uint64_t> ProfileHistory::of(const ProfileRow& row) const {
  const auto found = totals_.find({row.kind, row.name});
  if (found == totals_.end() || found->second.size() < 2) return {};
  std::vector<uint64_t> runs;
  std::adjacent_difference(found->second.begin(), found->second.end(), std::back_inserter(runs));
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::vector<ProfileRow> profileRows(const svod_instance* instance, const StepNames& names,
                                    const ProfileHistory* history) {
  std::map<std::pair<std::string, std::string>, ProfileRow> byName;
  svod_profile_record record = {};
  for (size_t i = 0; svod_profile_get(instance, i, &record) == 0; i++) {
    const std::string name = record.step < names.size() ? names[record.step] : record.name;
    const std::string kind = record.step < names.size() ? "steps" : record.kind;
    ProfileRow& row = byName[{kind, name}];
    row.name = name;
    row.kind = kind;
    row.calls += record.calls;
    row.busyNs += record.busy_ns;
    row.wallNs += record.wall_ns;
    row.bytes += record.bytes;
    row.flops += record.flops;
  }
  std::vector<ProfileRow> rows;
  for (auto& [key, row] : byName) {
    if (history != nullptr) row.runNs = history->of(row);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.busyNs > b.busyNs; });
  return rows;
}

std::optional<ProfileRow> gapRow(const RunGaps& gaps) {
  const std::vector<uint64_t> runs = gaps.sorted();
  if (runs.empty()) return {};
  ProfileRow row;
  row.name = "(between kernels)", row.kind = "gap", row.calls = runs.size();
  row.busyNs = row.wallNs = std::accumulate(runs.begin(), runs.end(), uint64_t{0});
  if (runs.size() > 1) row.runNs = runs;
  return row;
}

namespace {

std::vector<std::string> cellsOf(const ProfileRow& row, uint64_t totalNs) {
  char share[16];
  std::snprintf(share, sizeof share, "%.1f%%",
                totalNs == 0 ? 0.0 : 100.0 * static_cast<double>(row.busyNs) / static_cast<double>(totalNs));
  std::vector<std::string> cells = {std::to_string(row.calls), durationText(static_cast<double>(row.busyNs) / 1e9),
                                    share, rateText(row.bytes, row.wallNs), rateText(row.flops, row.wallNs)};
  if (row.runNs.empty()) return cells;
  const RunTimes times(row);
  for (double seconds : {times.best, times.median, times.mean}) cells.push_back(durationText(seconds));
  return cells;
}

}  // namespace

std::string profileText(const std::vector<ProfileRow>& rows, const std::string& title,
                        const std::optional<ProfileRow>& gap, size_t columns) {
  size_t width = title.size();
  uint64_t calls = 0, totalNs = gap ? gap->busyNs : 0;
  const bool manyRuns = std::any_of(rows.begin(), rows.end(), [](const ProfileRow& row) { return !row.runNs.empty(); });
  for (const ProfileRow& row : rows) {
    width = std::max(width, printable(row.name).size());
    calls += row.calls;
    totalNs += row.busyNs;
  }
  if (gap) width = std::max(width, gap->name.size());
  std::vector<std::string> titles = {"calls", "time", "share", "GB/s", "GFLOP/s"};
  if (manyRuns) titles.insert(titles.end(), {"best", "median", "mean"});
  const size_t cell = columns > 0 && width + titles.size() * kCell > columns ? kNarrowCell : kCell;
  width = nameWidth(width, titles.size(), columns, cell);
  std::string text = tableLine(title, width, titles, cell);
  for (const ProfileRow& row : rows) text += tableLine(row.name, width, cellsOf(row, totalNs), cell);
  if (gap) text += tableLine(gap->name, width, cellsOf(*gap, totalNs), cell);
  return text +
         tableLine("total", width, {std::to_string(calls), durationText(static_cast<double>(totalNs) / 1e9)}, cell);
}

nlohmann::ordered_json profileJson(const std::vector<ProfileRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProfileRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"kind", row.kind},
                    {"calls", row.calls},
                    {"busyNs", row.busyNs},
                    {"wallNs", row.wallNs},
                    {"bytes", row.bytes},
                    {"flops", row.flops}});
    if (row.runNs.empty()) continue;
    const RunTimes times(row);
    list.back()["run"] = {{"bestNs", times.best * 1e9}, {"medianNs", times.median * 1e9}, {"meanNs", times.mean * 1e9}};
  }
  return list;
}

std::string traceJson(const svod_instance* instance) {
  uint64_t origin = UINT64_MAX;
  uint32_t threads = 0;
  svod_trace_event event = {};
  for (size_t i = 0; svod_trace_get(instance, i, &event) == 0; i++) {
    origin = std::min(origin, event.start_ns);
    threads = std::max(threads, event.thread + 1);
  }
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (uint32_t thread = 0; thread < threads; thread++)
    text += "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(thread) +
            ",\"args\":{\"name\":\"worker " + std::to_string(thread) + "\"}},\n";
  const size_t count = svod_trace_count(instance);
  for (size_t i = 0; i < count; i++) {
    svod_trace_get(instance, i, &event);
    char numbers[256];
    std::snprintf(numbers, sizeof numbers,
                  "\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32
                  ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"step\":%zu,\"tiles\":\"%" PRId64 "..%" PRId64 "\"}}",
                  event.thread, static_cast<double>(event.start_ns - origin) / 1e3,
                  static_cast<double>(event.end_ns - event.start_ns) / 1e3, event.step, event.tile_begin,
                  event.tile_end);
    text += "{\"name\":" + nlohmann::json(event.name).dump() + ",\"cat\":\"" + event.kind + "\"," + numbers +
            (i + 1 < count ? ",\n" : "\n");
  }
  return text + "],\"droppedEvents\":" + std::to_string(svod_trace_dropped(instance)) + "}\n";
}

}  // namespace svod
