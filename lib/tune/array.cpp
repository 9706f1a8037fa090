#include "tune/array.h"

#include <charconv>
#include <optional>

namespace svod {

namespace {

constexpr ArrayEngine kEngines[] = {
    {"Slurm", "SLURM_ARRAY_TASK_ID", 0, ""},
    {"Kubernetes", "JOB_COMPLETION_INDEX", 0, ""},
    {"PBS Pro, OpenPBS", "PBS_ARRAY_INDEX", 0, ""},
    {"Torque", "PBS_ARRAYID", 0, ""},
    {"LSF", "LSB_JOBINDEX", 1, "0"},
    {"SGE", "SGE_TASK_ID", 1, "undefined"},
    {"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", 0, ""},
};

std::string variables() {
  std::string names;
  for (const ArrayEngine& e : kEngines) names += (names.empty() ? "" : ", ") + std::string(e.variable);
  return names;
}

std::optional<int64_t> numberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::span<const ArrayEngine> allArrayEngines() { return kEngines; }

Result<int64_t> arrayNumber(const std::vector<std::string>& environment) {
  const ArrayEngine* found = nullptr;
  int64_t number = 0;
  for (const ArrayEngine& engine : kEngines)
    for (const std::string& entry : environment) {
      if (!entry.starts_with(std::string(engine.variable) + "=")) continue;
      const std::string text = entry.substr(engine.variable.size() + 1);
      if (text.empty() || text == engine.none) continue;
      const std::optional<int64_t> given = numberOf(text);
      if (!given || *given < engine.first)
        return fail(Diag::Usage, std::string(engine.variable) + " is '" + text + "', which is no part of an array",
                    "--unit N names the unit");
      if (found != nullptr && *given - engine.first != number)
        return fail(Diag::Usage,
                    std::string(found->variable) + " and " + std::string(engine.variable) + " name different units",
                    "--unit N names the unit");
      found = &engine, number = *given - engine.first;
    }
  if (found == nullptr)
    return fail(Diag::Usage, "--unit auto is for job arrays, and none of their variables is set: " + variables(),
                "--unit N names the unit");
  return number;
}

Result<int64_t> unitNumber(const std::string& text, const std::vector<std::string>& environment) {
  if (text == "auto") return arrayNumber(environment);
  const std::optional<int64_t> number = numberOf(text);
  if (!number)
    return fail(Diag::Usage, "--unit needs a number from 0 on, or auto, not '" + text + "'",
                "svodc tune status WORK lists the units");
  return *number;
}

}  // namespace svod
