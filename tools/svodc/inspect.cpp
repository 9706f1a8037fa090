// svodc inspect PLAN|GRAPH
#include <algorithm>

#include "build.h"
#include "data/atomic_write.h"
#include "data/distinct.h"
#include "data/mapped_file.h"
#include "driver/device_kernels.h"
#include "driver/variants.h"
#include "explain.h"
#include "explain_gpu.h"
#include "plan/pack.h"
#include "plan/variants.h"
#include "print.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

ReportOptions reportOptions(const Flags& flags) {
  if (!flags.html.empty()) return ReportOptions::all();
  const bool showKernels = flags.showKernels || !flags.profile.empty();
  ReportOptions options{flags.showGraph, showKernels,      flags.showMemory,
                        flags.showSteps, flags.showSource, flags.showDecisions};
  if (flags.json && !options.any()) return ReportOptions::all();
  return options;
}

/// The page takes the place of nothing that was read.
Status checkPage(const Request& request) {
  const Flags& flags = request.flags;
  if (flags.html == "-" && flags.json)
    return fail(Diag::Usage, "--html - and --json both write to stdout", "name a file: --html FILE");
  if (flags.html.empty() || flags.html == "-") return {};
  SVOD_CHECK(checkFolderOf(flags.html));
  const ResultFile page{"--html", flags.html};
  for (const ResultFile& read :
       {ResultFile{"the graph", request.files.at(0)}, ResultFile{"--profile", flags.profile},
        ResultFile{"--decide-from", flags.decideFrom}, ResultFile{"--tuning-log", flags.tuningLog}}) {
    const ResultFile files[] = {page, read};
    SVOD_CHECK(checkDistinct(files));
  }
  return {};
}

Result<int> show(const Subject& subject, const Request& request, Console& console) {
  const Flags& flags = request.flags;
  if (!flags.html.empty()) {
    const Document page = pageOf(subject);
    SVOD_CHECK(writeResult(flags.html, toHtml(page), request, console));
    if (flags.html != "-" && !flags.json)
      SVOD_CHECK(console.print(printable(flags.html + ": " + page.title) + " as one page\n"));
    if (!flags.json) return 0;
  }
  const Document document = describe(subject, reportOptions(flags));
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

/// Text of the first file of kind Source.
Result<std::string> sourceOf(const Plan& plan, const std::string& path) {
  for (FileId id = 0; id < plan.files.size(); id++)
    if (plan.files[id].kind == FileKind::Source) return readPlanFile(path, plan, id);
  return std::string();
}

/// A trace of another plan may name steps that this one does not have.
std::vector<TracedPart> eventsOf(const Measurements& profile, const Plan& plan) {
  const auto isKnown = [&](const TracedPart& e) { return e.step < plan.steps.size(); };
  return std::ranges::all_of(profile.events, isKnown) ? profile.events : std::vector<TracedPart>();
}

/// A profile of another plan, or of this one before it was compiled otherwise, says nothing here: kernels are named
/// after their content.
Status checkProfile(const std::string& path, const Measurements& profile, const Subject& subject) {
  const auto isMeasured = [&](const KernelView& kernel) { return profile.kernels.contains(std::string(kernel.name)); };
  if (path.empty() || subject.kernels.empty() || std::ranges::any_of(subject.kernels, isMeasured)) return {};
  return fail(Diag::Usage, "'" + path + "' is a profile of other kernels",
              "make one of this plan with: svod-run PLAN --json > FILE, or --trace FILE");
}

/// The architectures of the images for devices, as variants call them.
std::vector<std::string> archNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const FileDesc& file : plan.files) {
    if (file.kind != FileKind::Image) continue;
    const std::string name = variantName(file.image.device, file.image.arch);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Of a plan for several processors, or architectures of a device, what `name` runs.
Status showVariant(Plan& plan, const std::string& name) {
  if (name.empty()) return {};
  const std::vector<Processor> processors = processorsOf(plan);
  const std::vector<std::string> archs = archNames(plan);
  if (const auto cpu = std::ranges::find(processors, name, &Processor::cpu); cpu != processors.end()) {
    takeVariant(plan, static_cast<size_t>(cpu - processors.begin()));
    return {};
  }
  if (std::ranges::find(archs, name) == archs.end()) {
    std::vector<std::string_view> names(archs.begin(), archs.end());
    for (const Processor& processor : processors) names.push_back(processor.cpu);
    return fail(Diag::Usage, "the plan has no code for '" + name + "'", choicesFor(name, names));
  }
  for (DeviceId id = 0; id < plan.devices.size(); id++)
    if (name.starts_with(variantName(plan.devices[id].kind, "")))
      takeArch(plan, id, std::string_view(name).substr(plan.devices[id].kind.size() + 1));
  std::erase_if(plan.variants, [&](const Variant& variant) { return isForDevice(variant); });
  return {};
}

Result<int> inspectPlan(const std::string& path, const Request& request, Console& console) {
  if (request.flags.showGraph)
    return fail(Diag::Usage, "a plan does not hold the graph it came from", "svodc inspect GRAPH --graph");
  SVOD_TRY(Plan plan, readPlan(path));
  SVOD_CHECK(showVariant(plan, request.flags.variant));
  SVOD_TRY(const std::string source, sourceOf(plan, path));
  SVOD_TRY(const Measurements profile, readProfile(request.flags.profile));
  Subject subject{&plan, nullptr, {}, source, {}, eventsOf(profile, plan)};
  for (const KernelDesc& k : plan.kernels) {
    KernelInsight insight = insightOf(k, profile);
    addUnits(insight, k, plan.files);
    subject.kernels.push_back({k.name, nullptr, {}, std::move(insight)});
  }
  SVOD_CHECK(checkProfile(request.flags.profile, profile, subject));
  return show(subject, request, console);
}

std::string_view sourceOf(const Compilation& c) {
  for (const PlanFile& file : c.files)
    if (file.kind == FileKind::Source)
      return {reinterpret_cast<const char*>(file.chunks[0].data()), file.chunks[0].size()};
  return {};
}

/// Images are named by their files, of which nothing is written here.
void nameImages(Compilation& compilation) {
  const auto hasGrid = [](const CompiledKernel& kernel) { return kernel.desc.grid.has_value(); };
  if (std::ranges::none_of(compilation.kernels, hasGrid)) return;
  for (const PlanFile& file : compilation.files)
    compilation.plan.files.push_back({file.path, file.kind, 0, {}, file.image});
}

Subject subjectOf(const BuildResult& build, const Measurements& profile) {
  const Plan& plan = build.compilation->plan;
  Subject subject{&plan, &build.model, {}, sourceOf(*build.compilation), coreLimitsOf(build), eventsOf(profile, plan)};
  const std::vector<CompiledVariant>& variants = build.compilation->variants;
  // A kernel with the images that variants have of it; `place` as CompiledVariant::same counts.
  const auto add = [&](const CompiledKernel& kernel, const CompileOptions& options, size_t k, size_t place) {
    KernelInsight insight = insightOf(kernel, options, build, profile);
    for (const CompiledVariant& variant : variants)
      if (variant.same[k] == place) addLogs(insight, variant.kernels[k]);
    subject.kernels.push_back({kernel.desc.name, &kernel.linear, kernel.source, std::move(insight)});
  };
  for (size_t k = 0; k < build.compilation->kernels.size(); ++k)
    add(build.compilation->kernels[k], build.options, k, 0);
  const std::vector<CompileOptions> options = optionsOfVariants(optionsByTarget(build.options));
  for (size_t v = 0; v < variants.size(); ++v)
    for (size_t k = 0; k < variants[v].kernels.size(); ++k)
      if (const CompiledKernel& own = variants[v].kernels[k]; !own.name.empty() && !variants[v].same[k])
        add(own, options[v], k, v + 1);
  return subject;
}

}  // namespace

Result<int> runInspect(const Request& request, Console& console) {
  SVOD_CHECK(checkPage(request));
  const std::string& path = request.files.at(0);
  if (holdsPlan(path)) return inspectPlan(path, request, console);
  if (!request.flags.variant.empty())
    return fail(Diag::Usage, "--variant is for plans, and '" + path + "' is a graph",
                "--cpu names the processor to compile it for");
  SVOD_TRY(const Measurements profile, readProfile(request.flags.profile));
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(request));
  SVOD_TRY(const BuildResult build, buildGraph(request, console, *place, true));
  nameImages(*build.compilation);
  const Subject subject = subjectOf(build, profile);
  SVOD_CHECK(checkProfile(request.flags.profile, profile, subject));
  return show(subject, request, console);
}

}  // namespace svod
