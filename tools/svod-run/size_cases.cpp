#include "size_cases.h"

#include <algorithm>
#include <limits>

#include "plan/pack.h"
#include "plan/variants.h"
#include "support/text.h"

namespace svod {

namespace {

/// What is known of the variables of a plan in a run.
struct Sizes {
  std::vector<std::string> names;
  std::vector<int64_t> values;
  std::vector<bool> areKnown;
};

Sizes sizesOf(const Plan& plan, const std::vector<std::pair<std::string, int64_t>>& given) {
  Sizes sizes;
  for (const Variable& v : plan.variables) {
    const auto at = std::ranges::find(given, v.name, &std::pair<std::string, int64_t>::first);
    sizes.names.push_back(v.name);
    sizes.values.push_back(at != given.end() ? at->second : v.kind == VariableKind::Fixed ? v.value : v.min);
    sizes.areKnown.push_back(at != given.end() || v.kind == VariableKind::Fixed || v.min == v.max);
  }
  return sizes;
}

/// Without the ends that no size of a run lies beyond.
std::string toText(const SizeRange& range, const Plan& plan, const Sizes& sizes) {
  const std::string size = toText(range.size, sizes.names);
  if (range.min == range.max) return size + " = " + std::to_string(range.min);
  const std::optional<uint32_t> variable = range.size.singleVar();
  const int64_t least = variable ? plan.variables[VariableId(*variable)].min : 0;
  const int64_t most = variable ? plan.variables[VariableId(*variable)].max : std::numeric_limits<int64_t>::max();
  if (range.max >= most) return size + " >= " + std::to_string(range.min);
  if (range.min <= least) return size + " <= " + std::to_string(range.max);
  return std::to_string(range.min) + " <= " + size + " <= " + std::to_string(range.max);
}

/// Nothing where a size is not known.
std::optional<bool> holds(const LaunchCase& one, const Sizes& sizes) {
  bool isKnown = true;
  for (const SizeRange& range : one.when) {
    const auto isOpen = [&](const ExprNode& n) {
      return n.op == ExprOp::Var && !sizes.areKnown[static_cast<size_t>(n.value)];
    };
    const std::optional<int64_t> value =
        std::ranges::any_of(range.size.nodes(), isOpen) ? std::nullopt : range.size.tryEvaluate(sizes.values);
    if (value && (*value < range.min || *value > range.max)) return false;
    isKnown = isKnown && value;
  }
  return isKnown ? std::optional(true) : std::nullopt;
}

SizedLaunch sized(const Plan& plan, uint64_t step, const Launch& launch, const Sizes& sizes) {
  SizedLaunch found{step, {}, {}};
  bool isDecided = true;
  for (const LaunchCase& one : launch.cases) {
    std::string when;
    for (const SizeRange& range : one.when) when += (when.empty() ? "" : " and ") + toText(range, plan, sizes);
    const std::optional<bool> isTaken = holds(one, sizes);
    isDecided = isDecided && isTaken;
    if (isDecided && *isTaken && !found.taken) found.taken = found.kernels.size();
    found.kernels.push_back({plan.kernels[one.launch.kernel].name, std::move(when)});
  }
  if (isDecided && !found.taken) found.taken = found.kernels.size();
  found.kernels.push_back({plan.kernels[launch.kernel].name, ""});
  return found;
}

}  // namespace

Result<std::vector<SizedLaunch>> sizedLaunches(const std::string& path, size_t processor,
                                               const std::vector<std::pair<std::string, int64_t>>& sizes) {
  SVOD_TRY(Plan plan, readPlan(path));
  takeVariant(plan, processor);
  const Sizes known = sizesOf(plan, sizes);
  std::vector<SizedLaunch> found;
  uint64_t number = 0;
  for (const Step& step : plan.steps) {
    const auto* launch = std::get_if<Launch>(&step.action);
    if (launch != nullptr && !launch->cases.empty()) found.push_back(sized(plan, number, *launch, known));
    ++number;
  }
  return found;
}

std::string toText(const std::vector<SizedLaunch>& launches) {
  std::string text;
  for (const SizedLaunch& launch : launches)
    for (size_t i = 0; i < launch.kernels.size(); ++i) {
      const SizedKernel& one = launch.kernels[i];
      text += (launch.taken == i ? "* " : "  ") + ("step " + std::to_string(launch.step)) + ": " +
              printable(one.kernel) + (one.when.empty() ? " for all other sizes" : " where " + printable(one.when)) +
              "\n";
    }
  return text;
}

nlohmann::ordered_json toJson(const std::vector<SizedLaunch>& launches) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const SizedLaunch& launch : launches) {
    nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
    for (size_t i = 0; i < launch.kernels.size(); ++i) {
      kernels.push_back({{"kernel", launch.kernels[i].kernel}});
      if (!launch.kernels[i].when.empty()) kernels.back()["when"] = launch.kernels[i].when;
      if (launch.taken) kernels.back()["used"] = launch.taken == i;
    }
    json.push_back({{"step", launch.step}, {"kernels", std::move(kernels)}});
  }
  return json;
}

}  // namespace svod
