#include "report/profile_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/mapped_file.h"

namespace svod {

namespace {

using Json = nlohmann::json;

double numberIn(const Json& row, const char* key) {
  const auto found = row.is_object() ? row.find(key) : row.end();
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::string textIn(const Json& row, const char* key) {
  const auto found = row.is_object() ? row.find(key) : row.end();
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

Measurements ofProfile(const Json& rows) {
  Measurements profile;
  for (const Json& row : rows)
    if (const std::string name = textIn(row, "name"); !name.empty())
      profile.kernels[name] = {numberIn(row, "calls"), numberIn(row, "busyNs"), numberIn(row, "flops"),
                               numberIn(row, "bytes")};
  return profile;
}

struct TracedEvent {
  TracedPart event;
  std::string kernel;  // empty: no kernel
  bool isFirstPart;    // of its step
};

std::vector<TracedEvent> tracedEvents(const Json& rows) {
  std::vector<TracedEvent> events;
  for (const Json& row : rows) {
    const double start = numberIn(row, "ts"), length = numberIn(row, "dur"), thread = numberIn(row, "tid");
    const auto args = row.is_object() ? row.find("args") : row.end();
    if (textIn(row, "ph") != "X" || args == row.end() || start < 0 || length < 0 || thread < 0 || thread > 4096)
      continue;
    const double step = numberIn(*args, "step");
    if (step < 0 || step > 1e9) continue;
    constexpr double kNanoseconds = 1e3;  // of a microsecond, in which traces count
    events.push_back({{static_cast<size_t>(step), static_cast<uint32_t>(thread), start * kNanoseconds,
                       (start + length) * kNanoseconds},
                      textIn(row, "cat") == "kernel" ? textIn(row, "name") : "",
                      textIn(*args, "tiles").starts_with("0..")});
  }
  std::ranges::stable_sort(events, {}, [](const TracedEvent& e) { return e.event.start; });
  return events;
}

/// A trace holds one run after the other. The last begins with the last first part of the first step, and with what ran
/// beside that: all that begins after the run before has ended.
double startOfLastRun(const std::vector<TracedEvent>& events) {
  const size_t first = std::ranges::min(events, {}, [](const TracedEvent& e) { return e.event.step; }).event.step;
  double marker = events.front().event.start, before = 0;
  for (const TracedEvent& e : events)
    if (e.event.step == first && e.isFirstPart) marker = e.event.start;
  for (const TracedEvent& e : events)
    if (e.event.end <= marker) before = std::max(before, e.event.end);
  return before;
}

Measurements ofTrace(const Json& rows) {
  Measurements profile;
  const std::vector<TracedEvent> events = tracedEvents(rows);
  if (events.empty()) return profile;
  for (const TracedEvent& e : events) {
    if (e.kernel.empty()) continue;
    MeasuredKernel& kernel = profile.kernels[e.kernel];
    kernel.calls += e.isFirstPart ? 1 : 0;
    kernel.busyNs += e.event.end - e.event.start;
  }
  const double from = startOfLastRun(events);
  double origin = -1;
  for (const TracedEvent& e : events) {
    if (e.event.start < from) continue;
    if (origin < 0) origin = e.event.start;
    profile.events.push_back({e.event.step, e.event.thread, e.event.start - origin, e.event.end - origin});
  }
  return profile;
}

}  // namespace

Result<Measurements> readProfile(const std::string& path) {
  if (path.empty()) return Measurements();
  SVOD_TRY(const std::string text, readWholeInput(path));
  const Json json = Json::parse(text, nullptr, false);
  const auto member = [&](const char* key) { return json.is_object() && json.contains(key) && json[key].is_array(); };
  if (member("profile")) return ofProfile(json["profile"]);
  if (member("traceEvents")) return ofTrace(json["traceEvents"]);
  return fail(Diag::Usage, "'" + path + "' is no profile",
              "make one with: svod-run PLAN --json > FILE, or --trace FILE");
}

}  // namespace svod
