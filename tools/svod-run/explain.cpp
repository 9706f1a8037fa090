#include "explain.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "c_call.h"
#include "session.h"
#include "size_cases.h"
#include "support/text.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;

struct Seen {
  std::string name;
  std::vector<std::string> features, missing;
  bool isUsed = false;
};

std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, blank - at));
    at = blank + 1;
  }
  return words;
}

std::vector<Seen> processorsOf(const svod_plan* plan) {
  std::vector<Seen> all;
  svod_processor one = {};
  for (size_t i = 0; svod_plan_processor(plan, i, &one) == 0; i++)
    all.push_back({one.name, wordsOf(one.features), wordsOf(one.missing), one.used != 0});
  return all;
}

std::string reasonOf(const Seen& processor, const std::vector<Seen>& all, const RunOptions& options) {
  if (!processor.missing.empty()) {
    std::string text = "this machine lacks";
    for (const std::string& name : processor.missing) text += " " + name;
    return text;
  }
  if (processor.isUsed && !options.cpu.empty()) return "taken: --cpu asks for it";
  const auto runs = [](const Seen& other) { return other.missing.empty(); };
  if (processor.isUsed && all.size() == 1) return "taken: this machine lacks nothing, and there is no other";
  if (processor.isUsed && std::ranges::count_if(all, runs) == 1) return "taken: the only one that this machine is";
  if (processor.isUsed) return "taken: of those that run here the one with the most features";
  const auto used = std::ranges::find(all, true, &Seen::isUsed);
  if (!options.cpu.empty() || used == all.end()) return "runs here";
  return processor.features.size() < used->features.size() ? "runs here, with fewer features"
                                                           : "runs here, with as many features as the one before";
}

/// What the devices besides the host are, which code they run, and why. Nothing runs.
Result<std::vector<std::string>> devicesOf(svod_plan* plan, const RunOptions& options) {
  std::vector<std::string> lines;
  if (svod_plan_device(plan, 1) == nullptr) return lines;
  const std::vector<svod_device_option> given = deviceOptions(options);
  svod_instance_options make = {};
  make.device_options = given.data(), make.device_option_count = given.size();
  svod_instance* created = nullptr;
  SVOD_CHECK(checked([&](svod_error* error) { return svod_instance_create(plan, &make, &created, error); }));
  const std::unique_ptr<svod_instance, decltype(&svod_instance_free)> instance(created, svod_instance_free);
  while (const char* line = svod_instance_device_text(instance.get(), lines.size())) lines.emplace_back(line);
  return lines;
}

}  // namespace

Result<Explanation> explanation(const RunOptions& options) {
  svod_load_options load = {};
  load.cpu = options.cpu.empty() ? nullptr : options.cpu.c_str();
  load.verify_weights = -1;
  svod_plan* loaded = nullptr;
  SVOD_CHECK(checked([&](svod_error* error) { return svod_plan_load(options.plan.c_str(), &load, &loaded, error); }));
  const std::unique_ptr<svod_plan, decltype(&svod_plan_free)> plan(loaded, svod_plan_free);
  const std::vector<Seen> all = processorsOf(plan.get());
  const auto used = std::ranges::find(all, true, &Seen::isUsed);
  const auto processor = static_cast<size_t>(used == all.end() ? 0 : used - all.begin());
  SVOD_TRY(const std::vector<SizedLaunch> launches, sizedLaunches(options.plan, processor, options.variables));
  Result<std::vector<std::string>> devices = devicesOf(plan.get(), options);
  const std::vector<std::string> lines = devices ? *devices : std::vector<std::string>();
  Status trouble = devices ? Status() : fail(std::move(devices.error()));
  std::vector<std::string> absent;
  for (size_t i = 1; !trouble && svod_plan_device(plan.get(), i) != nullptr; i++)
    absent.emplace_back(svod_plan_device(plan.get(), i));
  if (options.json) {
    Json json = {{"plan", options.plan}, {"processors", Json::array()}};
    for (const Seen& p : all)
      json["processors"].push_back({{"cpu", p.name},
                                    {"features", p.features},
                                    {"missing", p.missing},
                                    {"used", p.isUsed},
                                    {"reason", reasonOf(p, all, options)}});
    json["devices"] = lines;
    if (!launches.empty()) json["sizes"] = toJson(launches);
    if (!trouble)
      json["notOpened"] = {{"devices", absent}, {"reason", trouble.error()->message}, {"help", trouble.error()->help}};
    return Explanation{json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", std::move(trouble)};
  }
  size_t width = 0;
  for (const Seen& p : all) width = std::max(width, printable(p.name).size());
  std::string text;
  for (const Seen& p : all) {
    std::string name = printable(p.name);
    name.resize(width, ' ');
    text += (p.isUsed ? "* " : "  ") + name + "  " + printable(reasonOf(p, all, options)) + "\n";
  }
  for (const std::string& line : lines) text += "* " + printable(line) + "\n";
  for (const std::string& name : absent)
    text += "  " + printable(name) + ": not opened: " + printable(trouble.error()->message) + "\n";
  return Explanation{text + toText(launches), std::move(trouble)};
}

}  // namespace svod
