#include "options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "data/mapped_file.h"
#include "driver/kernel_passes.h"
#include "plan/pack.h"
#include "processors.h"
#include "runtime-min/processors.h"
#include "support/suggest.h"
#include "support/utf8.h"
#include "symbolic/symbolic.h"
#include "target_flags.h"

namespace svod {

namespace {

Status checkRuleName(const std::string& name) {
  std::vector<std::string_view> names;
  for (const RuleGroup* group : kernelRules(Numerics::Fast).all())
    for (const Rule& rule : group->rules) names.push_back(rule.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return fail(Diag::Usage, "there is no rule '" + name + "' for --disable-rule",
              didYouMean(name, names, "svodc --list-rules shows them"));
}

/// `more`: what the flag takes besides names of passes; `isFor`: which passes it takes.
Status checkPassName(
    const Target& target, const std::string& name, std::string_view flag, std::string_view more = "",
    bool (*isFor)(const Pass&) = [](const Pass&) { return true; }) {
  std::vector<std::string_view> names;
  for (std::span<const Pass> passes : passTables(target))
    for (const Pass& pass : passes) {
      if (isFor(pass))
        names.push_back(pass.name);
      else if (pass.name == name)
        return fail(Diag::Usage, "pass '" + name + "' always runs: --" + std::string(flag) + " takes optional ones",
                    "svodc --list-passes shows them");
    }
  if (!more.empty()) names.push_back(more);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return fail(Diag::Usage, "there is no pass '" + name + "' for --" + std::string(flag),
              didYouMean(name, names, "svodc --list-passes shows them"));
}

Result<PassOptions> passOptions(const Flags& flags, const Target& target) {
  PassOptions options;
  for (const std::string& name : flags.printBefore) SVOD_CHECK(checkPassName(target, name, "print-before", "all"));
  for (const std::string& name : flags.printAfter) SVOD_CHECK(checkPassName(target, name, "print-after", "all"));
  if (!flags.stopAfter.empty()) SVOD_CHECK(checkPassName(target, flags.stopAfter, "stop-after"));
  for (const std::string& name : flags.disablePass)
    SVOD_CHECK(checkPassName(target, name, "disable-pass", "", [](const Pass& pass) { return pass.optional; }));
  for (const std::string& name : flags.disableRule) SVOD_CHECK(checkRuleName(name));
  options.printBefore = flags.printBefore;
  options.printAfter = flags.printAfter;
  options.printChanged = flags.printChanged;
  options.timePasses = flags.timePasses;
  options.ruleStats = flags.ruleStats;
  options.disabledRules = flags.disableRule;
  options.disabledPasses = flags.disablePass;
  options.stopAfter = flags.stopAfter;
  options.bisectLimit = flags.bisectLimit;
#ifdef SVOD_VERIFY_EACH
  options.verifyEach = true;
#else
  options.verifyEach = flags.verifyEach;
#endif
  return options;
}

Result<std::vector<KernelOpts>> kernelOpts(const Flags& flags) {
  std::vector<KernelOpts> all;
  for (const std::string& text : flags.opts) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      return fail(Diag::Usage, "--opts needs KERNEL=LIST, not '" + text + "'",
                  "such as --opts 'matmul=upcast(0,4) thread(0,1)'");
    Result<std::vector<OptOp>> opts = parseOpts(std::string_view(text).substr(equals + 1));
    if (!opts) return fail(std::move(opts.error()).withNote("in --opts for kernel '" + text.substr(0, equals) + "'"));
    all.push_back({text.substr(0, equals), std::move(*opts)});
  }
  return all;
}

/// "8", or "8:32".
std::optional<Interval> sizesOf(std::string_view word) {
  const std::string_view first = word.substr(0, word.find(':')),
                         last = word.substr(std::min(first.size() + 1, word.size()));
  Interval sizes{0, 0};
  const auto read = [](std::string_view text, int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (!read(first, sizes.min)) return std::nullopt;
  sizes.max = sizes.min;
  if (first.size() < word.size() && (!read(last, sizes.max) || sizes.max < sizes.min)) return std::nullopt;
  return sizes;
}

/// Sizes of one variable that are given twice are one row.
Result<std::vector<Specialization>> specializations(const Flags& flags) {
  std::vector<Specialization> all;
  for (const std::string& text : flags.specialize) {
    const size_t equals = text.find('=');
    const auto wrong = [&] {
      return fail(Diag::Usage, "--specialize needs N=SIZES[,SIZES], not '" + text + "'",
                  "such as --specialize n=1,8 or n=2:16");
    };
    if (equals == text.npos || equals == 0) return wrong();
    const std::string name = text.substr(0, equals);
    auto known = std::ranges::find(all, name, &Specialization::variable);
    if (known == all.end()) known = all.insert(known, {name, {}});
    std::string_view rest = std::string_view(text).substr(equals + 1);
    for (bool more = true; more;) {
      const std::string_view word = rest.substr(0, rest.find(','));
      const std::optional<Interval> sizes = sizesOf(word);
      if (!sizes) return wrong();
      if (std::ranges::find(known->sizes, *sizes) == known->sizes.end()) known->sizes.push_back(*sizes);
      more = word.size() < rest.size();
      rest.remove_prefix(more ? word.size() + 1 : word.size());
    }
  }
  return all;
}

/// Those of --decide come last, so they win over those of the file or plan of --decide-from.
Result<DecisionRequests> decisionRequests(const Flags& flags) {
  DecisionRequests requests;
  if (holdsPlan(flags.decideFrom)) {
    SVOD_TRY(const Plan plan, readPlan(flags.decideFrom));
    for (const std::string& line : plan.decisions) SVOD_CHECK(requests.add(line));
  } else if (!flags.decideFrom.empty()) {
    SVOD_TRY(const std::string text, readWholeFile(flags.decideFrom));
    SVOD_CHECK(requests.addLines(text, flags.decideFrom));
  }
  DecisionRequests named;
  for (const std::string& line : flags.decide) SVOD_CHECK(named.add(line));
  for (const auto& [name, value] : named.values) {
    requests.values.insert_or_assign(name, value);
    requests.places.erase(name);
  }
  return requests;
}

Result<MemoryMode> memoryMode(const std::string& name) {
  if (auto mode = memoryModeFromName(name)) return *mode;
  std::vector<std::string_view> names;
  for (MemoryMode mode : {MemoryMode::Arena, MemoryMode::Remap, MemoryMode::Off}) names.push_back(nameOf(mode));
  return fail(Diag::Usage, "there is no memory mode '" + name + "'", choicesFor(name, names));
}

Result<Numerics> numericsMode(const std::string& name) {
  if (auto mode = numericsFromText(name)) return *mode;
  std::vector<std::string_view> names;
  for (Numerics mode : {Numerics::Strict, Numerics::Contract, Numerics::Fast}) names.push_back(toText(mode));
  return fail(Diag::Usage, "there is no numerics mode '" + name + "'", choicesFor(name, names));
}

/// In bytes. -O0 carries out the graph as it is.
Result<size_t> mostInstructions(const Flags& flags) {
  constexpr int64_t kMost = 1000000;
  if (flags.mostInstructions >= 1 && flags.mostInstructions <= kMost)
    return static_cast<size_t>(flags.mostInstructions);
  return fail(Diag::Usage,
              "--most-instructions needs a number from 1 to " + std::to_string(kMost) + ", not " +
                  std::to_string(flags.mostInstructions),
              "leaving it out is 3000");
}

Result<int64_t> foldLimit(const Flags& flags) {
  constexpr int64_t kMostMiB = int64_t{1} << 32;
  if (flags.foldLimit < 0 || flags.foldLimit > kMostMiB)
    return fail(Diag::Usage,
                "--fold-limit needs a number of MiB from 0 to 2^32, not " + std::to_string(flags.foldLimit),
                "0 has every run compute all values, and leaving it out allows 64 MiB");
  return flags.optLevel == 0 ? 0 : flags.foldLimit << 20;
}

int jobsOf(int64_t wanted) {
  if (wanted > 0) return static_cast<int>(std::min<int64_t>(wanted, 1024));
  return static_cast<int>(usableProcessors());
}

/// Of a device, whose processor is none of --cpu.
Result<std::vector<Machine>> deviceMachines(const Target& target, const Flags& flags, const std::string& cpu) {
  Flags own = flags;
  own.triple = own.cpu = "";
  return machinesFor(target, own, cpu);
}

/// Of all machines that kernels of a target are compiled for.
std::string namesOf(const auto& compiledFor) {
  std::string text = toText(compiledFor.machine);
  for (const Machine& machine : compiledFor.variants) text += toText(machine);
  return text;
}

/// Devices of a target besides the plan's. One kind of device has one target.
Status addDevices(const Flags& flags, CompileOptions& options) {
  for (const std::string& text : flags.device) {
    const DeviceText parts = deviceText(text);
    if (text.find('=') == std::string::npos) continue;
    DeviceTarget device{parts.name, nullptr, {}};
    SVOD_TRY(device.target, targetByName(parts.target));
    if (device.target == options.target && parts.cpu.empty()) continue;
    SVOD_TRY(device.variants, deviceMachines(*device.target, flags, parts.cpu));
    device.machine = std::move(device.variants.front());
    device.variants.erase(device.variants.begin());
    const auto isOther = [&](const auto& known) {
      return known.target->deviceKind == device.target->deviceKind &&
             (known.target != device.target || namesOf(known) != namesOf(device));
    };
    if (isOther(options) || std::ranges::any_of(options.devices, isOther))
      return fail(Diag::Usage,
                  "--device '" + text + "' is of kind " + std::string(device.target->deviceKind) +
                      ", for which the plan has another target or processor",
                  "one plan has one target for each kind of device: leave =TARGET out, or give all of them the same");
    if (device.target != options.target) options.devices.push_back(std::move(device));
  }
  return {};
}

}  // namespace

Result<CompileOptions> compileOptions(const Request& request) {
  const Flags& flags = request.flags;
  if (flags.optLevel < 0 || flags.optLevel > 1)
    return fail(Diag::Usage, "there is no -O" + std::to_string(flags.optLevel), "-O0 or -O1");
  if (flags.jobs < 0)
    return fail(Diag::Usage, "-j needs a number of at least 0, not " + std::to_string(flags.jobs),
                "0, or leaving it out, is one per processor");
  CompileOptions options;
  options.name = graphName(request.files.at(0));
  SVOD_TRY(options.target, targetByName(flags.target));
  SVOD_TRY(options.numerics, numericsMode(flags.numerics));
  SVOD_CHECK(takeMachines(flags, options));
  SVOD_CHECK(addDevices(flags, options));
  options.optLevel = static_cast<int>(flags.optLevel);
  SVOD_TRY(options.fold.bytes, foldLimit(flags));
  SVOD_TRY(options.memory, memoryMode(flags.memory));
  SVOD_TRY(options.mostTuned, mostInstructions(flags));
  options.jobs = jobsOf(flags.jobs);
  SVOD_TRY(options.opts, kernelOpts(flags));
  SVOD_TRY(options.specializations, specializations(flags));
  SVOD_TRY(options.decisions, decisionRequests(flags));
  SVOD_TRY(options.passes, passOptions(flags, *options.target));
  options.passes.instrument = request.instrument;
  SVOD_CHECK(openTools(request, options));
  return options;
}

namespace {

/// Names that copy(x, device=NAME) can write.
Result<std::vector<std::string>> deviceNames(const std::vector<std::string>& given) {
  constexpr size_t kMost = 63;  // and the host
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto isPart = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); };
  std::vector<std::string> names;
  for (const std::string& text : given) {
    const std::string name = deviceText(text).name;
    if (name.empty() || !isLetter(name[0]) || !std::ranges::all_of(name, isPart))
      return fail(Diag::Usage, "--device '" + text + "' has no name",
                  "letters, digits and _, such as --device near or --device near=cpu");
    if (name.size() < text.size()) SVOD_CHECK(targetByName(deviceText(text).target));
    if (name == "cpu" || std::ranges::find(names, name) != names.end())
      return fail(Diag::Usage, "--device '" + name + "' is there already",
                  "cpu is the host, and every other device needs a name of its own");
    names.push_back(name);
  }
  if (names.size() > kMost)
    return fail(Diag::Usage, "--device is given " + std::to_string(names.size()) + " times",
                "at most " + std::to_string(kMost));
  return names;
}

}  // namespace

Result<LoadOptions> loadOptions(const Flags& flags) {
  LoadOptions options;
  for (const std::string& text : flags.var) {
    SVOD_TRY(VariableOption option, parseVariableOption(text));
    options.variables.push_back(std::move(option));
  }
  for (const std::string& text : flags.shape) {
    SVOD_TRY(auto option, parseShapeOption(text));
    options.shapes.push_back(std::move(option));
  }
  for (const std::string& text : flags.constant) {
    SVOD_TRY(auto option, parseConstantOption(text));
    options.constants.push_back(std::move(option));
  }
  for (const std::string& text : flags.state) {
    SVOD_TRY(auto option, parseStateOption(text));
    options.states.push_back(std::move(option));
  }
  for (const std::string& text : flags.hostOp) {
    SVOD_TRY(auto option, parseHostOpOption(text));
    options.hostOps.push_back(std::move(option));
  }
  options.inputDefaults = flags.inputDefault;
  SVOD_TRY(options.devices, deviceNames(flags.device));
  return options;
}

std::string sourceOf(const Request& request, std::string_view flag) {
  const auto row = std::ranges::find(allFlags(), flag, &FlagInfo::name);
  const auto variable = std::ranges::find(request.variables, row->env);
  return variable == request.variables.end() ? "--" + std::string(flag) : *variable;
}

std::string graphName(const std::string& path) {
  return path == "-" ? "stdin" : toUtf8(std::filesystem::path(path).stem().string());
}

}  // namespace svod
