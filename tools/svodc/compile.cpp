// svodc compile GRAPH -o PLAN
#include <algorithm>
#include <set>

#include "arena_limit.h"
#include "build.h"
#include "depfile.h"
#include "emit.h"
#include "emit_targets.h"
#include "plan/directory.h"
#include "print.h"
#include "processors.h"
#include "support/text.h"
#include "tune/log_use.h"
#include "verify/guilty_pass.h"
#include "verify/verify.h"
#include "wrong_plan.h"

namespace svod {

namespace {

int64_t reusedKernels(const Compilation& c) {
  int64_t count = std::ranges::count(c.kernels, true, &CompiledKernel::reused);
  for (const CompiledVariant& variant : c.variants)
    count += std::ranges::count(variant.kernels, true, &CompiledKernel::reused);
  return count;
}

Document timesDocument(const Compilation& c) {
  double total = 0;
  for (const PhaseTime& t : c.times) total += t.seconds;
  Table phases{"phases", {{"phase", "phase"}, {"seconds", "ms", true}, {"share", "%", true}}, {}};
  auto fixed = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return std::string(text);
  };
  for (const PhaseTime& t : c.times) {
    const double share = total > 0 ? 100 * t.seconds / total : 0;
    phases.rows.push_back({t.phase, Cell(t.seconds, fixed(t.seconds * 1e3)), Cell(share, fixed(share))});
  }
  const FactList facts = {{"reused", "kernels from the cache", reusedKernels(c)}};
  return {"", {{"", "", {facts, phases}}}};
}

/// What --print-*, --time-passes and --rule-stats ask for.
Status printInsights(const Compilation& c, const Flags& flags, Console& console) {
  if (!c.log.text.empty()) SVOD_CHECK(console.print(printable(c.log.text, Lines::Kept)));
  if (flags.timePasses) {
    SVOD_CHECK(console.print(toText(timesDocument(c), styleOf(console))));
    SVOD_CHECK(console.print("\n" + toText(c.log.times)));
  }
  if (flags.ruleStats) SVOD_CHECK(console.print("\n" + toText(c.log.rules)));
  return {};
}

std::string plural(size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::vector<std::string> filesWritten(std::span<const EmitPart> parts, const Flags& flags, const EmbedOptions& embed) {
  std::vector<std::string> files;
  if (!flags.output.empty()) files = filesOfPlan(flags.output, *parts[0].build.compilation);
  for (const EmitPart& part : parts)
    for (const Emission& e : part.emissions)
      for (std::string& path : filesOf(e, *part.build.compilation, embed)) files.push_back(std::move(path));
  if (const std::string depfile = depfilePath(flags); !depfile.empty()) files.push_back(depfile);
  return files;
}

std::set<std::string> filesRead(std::span<const EmitPart> parts) {
  std::set<std::string> files;
  for (const EmitPart& part : parts) files.insert(part.build.filesRead.begin(), part.build.filesRead.end());
  return files;
}

/// The processors, and which is the one that svodc runs on, asked for by no other name.
std::string processorsText(const Plan& plan, const Flags& flags) {
  const std::vector<bool> native = areNative(flags);
  const std::vector<Processor> processors = processorsOf(plan);
  std::string text;
  for (size_t i = 0; i < processors.size(); ++i) {
    text += (i == 0 ? "for " : ", ") + processors[i].cpu;
    if (i < native.size() && native[i]) text += " (native: this machine)";
    if (flags.cpu.empty() && flags.target == "cpu" && !isNative(flags))
      text += " (any of the architecture; --cpu names one)";
  }
  return text + " on " + plan.target.triple;
}

/// An arena that is laid out for the sizes of a run is told at the likely ones.
std::string arenaText(const Plan& plan) {
  if (!isLaidOutPerRun(plan)) return "arena " + bytesCell(arenaBytes(plan)).text();
  return "arena " + bytesCell(plan.memory.peakBytes).text() + " at likely sizes";
}

/// What the compilation took from a tuning log, if there was one.
std::optional<TuningUse> useIn(const EmitPart& part) {
  if (!part.build.tuning) return std::nullopt;
  return tuningUse(*part.build.compilation, *part.build.tuning, part.build.options.compiler);
}

Status printSummary(std::span<const EmitPart> parts, const Flags& given, const EmbedOptions& embed, Console& console) {
  const EmitPart& first = parts[0];
  const Flags& flags = first.request.flags;
  const Compilation& compilation = *first.build.compilation;
  const std::string& path = flags.output.empty() ? first.emissions[0].path : flags.output;
  const Plan& plan = compilation.plan;
  const std::optional<TuningUse> tuning = useIn(first);
  const int64_t reused = reusedKernels(compilation);
  if (flags.json) {
    const std::set<std::string> read = filesRead(parts);
    Document document = describe(Subject{&plan, nullptr, {}, {}}, {});
    document.sections.insert(document.sections.begin(),
                             Section{"",
                                     "",
                                     {FactList{{"plan", "plan", path},
                                               {"reusedKernels", "kernels from the cache", reused},
                                               {"native", "for the processor of this machine", isNative(flags)},
                                               {"filesRead", "read", Cell::Words(read.begin(), read.end())},
                                               {"filesWritten", "written", filesWritten(parts, given, embed)}}}});
    if (tuning) document.sections.insert(document.sections.begin() + 1, sectionOf(*tuning));
    return console.print(toJson(document));
  }
  const std::string from = reused == 0 ? "" : " (" + std::to_string(reused) + " from the cache)";
  const size_t own = compilation.kernels.size() + compilation.functions.size();
  const std::string all = plan.variants.empty() ? ""
                                                : ", " + std::to_string(plan.kernels.size()) + " for all " +
                                                      (isForDevice(plan.variants[0]) ? "architectures" : "processors");
  return console.print(printable(path) + ": " + plural(own, "kernel") + all + from + ", " +
                       plural(plan.steps.size(), "step") + ", " + arenaText(plan) + ", " + plan.target.numerics + ", " +
                       processorsText(plan, flags) + "\n" +
                       (tuning ? toText(*tuning, printable(flags.tuningLog)) : ""));
}

/// Says with which sizes, where some were too large to wait for.
void noteSizes(const std::vector<SizeChoice>& choices, Console& console) {
  std::string ran;
  for (const SizeChoice& c : choices) ran += (ran.empty() ? "" : "; ") + toText(c.values);
  if (std::ranges::none_of(choices, &SizeChoice::isReduced)) return;
  console.note(
      Error(Diag::VariableBounds, "--verify ran with " + ran + ", not up to the greatest values",
            "the interpreter would need long for these; give the variables tighter bounds to have all of them run"));
}

/// Says how much a right plan could differ in.
void noteOpen(const std::vector<SizeChoice>& choices, const std::string& numerics, Console& console) {
  int64_t open = 0;
  for (const SizeChoice& c : choices) open += c.open;
  if (open == 0) return;
  console.note(Error(Diag::Mismatch,
                     "--verify: " + plural(static_cast<size_t>(open), "element") +
                         " of the results, not what the interpreter says, can be anything in " + numerics +
                         " numerics: a NaN, an infinity, or a choice between values that are too near",
                     "verify with --numerics " + std::string(numerics == "fast" ? "contract" : "strict") + " as well"));
}

/// Says whose code ran, where a plan has code that this machine cannot run.
void noteProcessors(const Plan& plan, Console& console) {
  const std::vector<Processor> here = processorsToVerify(plan);
  if (here.size() == processorsOf(plan).size()) return;
  std::string ran;
  for (const Processor& processor : here) ran += (ran.empty() ? "" : ", ") + processor.cpu;
  console.note(Error(Diag::CpuFeatures, "--verify ran the code for " + ran + "; this machine cannot run the rest",
                     "verify on machines that are the other processors as well"));
}

Status verified(BuildResult& build, const Request& request, Console& console) {
  SVOD_TRY(const CustomFunctions functions, isolatedFunctions(build.model, build.options));
  WrongRun run;
  auto choices = verifyPlan(build.model, *build.compilation, build.options.numerics, functions, &run);
  if (choices) {
    noteSizes(*choices, console);
    noteOpen(*choices, build.compilation->plan.target.numerics, console);
    noteProcessors(build.compilation->plan, console);
    return {};
  }
  Error error = std::move(choices.error());
  if (error->diag != Diag::Mismatch) return fail(std::move(error));
  if (build.options.passes.bisectLimit < 0) error = withGuiltyPass(std::move(error), build.model, build.options);
  return fail(withWrongPlan(std::move(error), run, build, request));
}

Status checkOutput(const Request& request) {
  const Flags& flags = request.flags;
  if (!flags.stopAfter.empty()) return {};
  if (flags.output.empty() && flags.emit.empty())
    return fail(Diag::Usage, "svodc compile needs -o PLAN", "svodc compile --help");
  if (flags.output == "-") return fail(Diag::Usage, "a plan is a directory and cannot go to stdout", "give -o a path");
  if (!flags.output.empty()) SVOD_CHECK(checkPlanTarget(flags.output));  // before a long compilation
  return checkResults(request);
}

/// Before a long compilation: a plan of machine code is a library.
Status checkMachine(const Flags& flags) {
  if (flags.output.empty() || flags.target != "cpu") return {};
  SVOD_TRY(const CpuTarget cpu, cpuTarget(flags));
  if (cpu.hasElf()) return {};
  return fail(Diag::Unsupported, "no runtime loads a plan for " + cpu.triple,
              "leave -o out: --emit static-lib=FILE and --emit header=FILE make a function of it");
}

/// Whether the work stopped where --stop-after says.
Result<bool> buildPart(EmitPart& part, Console& console, Workplace& place) {
  const Flags& flags = part.request.flags;
  SVOD_TRY(part.build, buildGraph(part.request, console, place, false));
  const Compilation& compilation = *part.build.compilation;
  SVOD_CHECK(printInsights(compilation, flags, console));
  if (compilation.log.stopped) return true;
  if (const std::optional<TuningUse> use = useIn(part)) {
    for (const Error& warning : passedOver(*use, flags.tuningLog)) console.warn(warning);
    if (flags.tuningRequired) SVOD_CHECK(checkUsed(*use, flags.tuningLog));
  }
  SVOD_TRY(const std::optional<Error> large, arenaWarning(compilation.plan, flags.maxArena));
  if (large) console.warn(*large);
  if (flags.verify) SVOD_CHECK(verified(part.build, part.request, console));
  return false;
}

Status writeParts(const Request& request, std::span<const EmitPart> parts, std::span<const Emission> emissions,
                  const EmbedOptions& embed) {
  const std::string& output = request.flags.output;
  std::vector<std::string> results;
  for (const EmitPart& part : parts) {
    const Compilation& compilation = *part.build.compilation;
    SVOD_CHECK(writeEmissions(part.emissions, {compilation, part.build.options, embed, emissions}));
    for (const Emission& e : part.emissions)
      if (output.empty()) results.push_back(filesOf(e, compilation, embed)[0]);
  }
  if (!output.empty()) {
    const Compilation& compilation = *parts[0].build.compilation;
    SVOD_CHECK(writePlanDirectory(output, compilation.plan, compilation.files));
    results.push_back(output + "/" + kPlanFileName);
  }
  return writeDepfile(request, results, filesRead(parts));
}

}  // namespace

Result<int> runCompile(const Request& request, Console& console) {
  const Flags& flags = request.flags;
  SVOD_CHECK(checkOutput(request));
  SVOD_TRY(const std::vector<Emission> emissions, emissionsOf(request));
  SVOD_TRY(std::vector<EmitPart> parts, partsOf(request, emissions));
  for (const EmitPart& part : parts) SVOD_CHECK(checkMachine(part.request.flags));
  SVOD_CHECK(checkReproducible(flags));
  SVOD_TRY(const EmbedOptions embed, embedOptions(flags));
  if (flags.tuningRequired && flags.tuningLog.empty())
    return fail(Diag::Usage, "--tuning-required needs --tuning-log FILE", "svodc tune fills one");
  if (!flags.maxArena.empty()) SVOD_CHECK(parseBytes(flags.maxArena));
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(request));
  for (EmitPart& part : parts) {
    SVOD_TRY(const bool isStopped, buildPart(part, console, *place));
    if (isStopped) return 0;
  }
  SVOD_CHECK(request.interrupts->place([&] { return writeParts(request, parts, emissions, embed); }));
  SVOD_CHECK(printSummary(parts, flags, embed, console));
  return 0;
}

}  // namespace svod
