#include "runtime-min/processor.h"

#include <algorithm>

#include "support/cpu_features.h"
#include "support/says.h"

namespace svod {

namespace {

/// Architecture and system of this build, as they begin and as they occur in a triple.
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#elif defined(__ARM_ARCH_7A__)
constexpr std::string_view kArchitecture = "armv7";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::string_view kArchitecture = "riscv64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? std::string_view() : between) += word;
  return text;
}

using Words = std::vector<std::vector<std::string>>;

Words missingOf(const std::vector<Processor>& processors) {
  const std::vector<std::string_view> present = hostCpuFeatures();
  Words missing;
  for (const Processor& processor : processors) {
    missing.push_back(missingCpuFeatures(processor.features, present));
    if (missing.back().empty() && needTiles(processor.features) && !requestTiles())
      missing.back().emplace_back(kTileFeature);
  }
  return missing;
}

std::string namesOf(const std::vector<Processor>& processors) {
  std::string names;
  for (const Processor& processor : processors) (names += names.empty() ? "" : ", ") += "'" + processor.cpu + "'";
  return names;
}

tl::unexpected<Error> lacks(const std::string& code, const std::vector<std::string>& missing) {
  return fail(Diag::CpuFeatures, says({code, joined(missing, ", ")}),
              "compile the graph with --cpu native on this machine, or for an older --cpu");
}

tl::unexpected<Error> noneRuns(const std::vector<Processor>& processors, const Words& missing) {
  size_t nearest = 0;
  for (size_t i = 1; i < missing.size(); i++)
    if (missing[i].size() < missing[nearest].size()) nearest = i;
  if (processors.size() == 1)
    return lacks(says({"the plan was compiled for CPU '", processors[0].cpu, "'; this one lacks "}), missing[0]);
  return lacks(says({"the plan was compiled for the CPUs ", namesOf(processors), "; of what the nearest, '",
                     processors[nearest].cpu, "', needs, this one lacks "}),
               missing[nearest]);
}

ProcessorChoice describe(const std::vector<Processor>& processors, const Words& missing) {
  ProcessorChoice choice;
  for (size_t i = 0; i < processors.size(); i++)
    choice.views.push_back({processors[i].cpu, joined(processors[i].features, " "), joined(missing[i], " ")});
  return choice;
}

}  // namespace

Result<ProcessorChoice> chooseProcessor(const Plan& plan, const char* asked) {
  const std::string& triple = plan.target.triple;
  if (triple.substr(0, triple.find('-')) != kArchitecture || triple.find("linux") == std::string::npos)
    return fail(Diag::CpuFeatures, says({"the plan is for ", triple, ", this machine is ", kArchitecture, "-linux"}),
                "compile the graph with --triple for this machine");
  const std::vector<Processor> processors = processorsOf(plan);
  const Words missing = missingOf(processors);
  ProcessorChoice choice = describe(processors, missing);
  if (asked == nullptr) {
    const std::optional<size_t> best = bestOf(processors, missing);
    if (!best) return noneRuns(processors, missing);
    choice.used = *best;
    return choice;
  }
  while (choice.used < processors.size() && processors[choice.used].cpu != asked) choice.used++;
  if (choice.used == processors.size())
    return fail(Diag::CpuFeatures, says({"the plan has no code for CPU '", asked, "', only for ", namesOf(processors)}),
                "leave the CPU out: the best of them is taken");
  if (missing[choice.used].empty()) return choice;
  return lacks(says({"this machine is no '", asked, "': it lacks "}), missing[choice.used]);
}

ProcessorChoice withoutChoice(const Plan& plan) {
  const std::vector<Processor> processors = processorsOf(plan);
  return describe(processors, missingOf(processors));
}

}  // namespace svod
