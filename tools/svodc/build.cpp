#include "build.h"

#include "depfile.h"
#include "driver/device_kernels.h"
#include "driver/tuned_opts.h"
#include "emit.h"
#include "models.h"
#include "repro.h"
#include "tuning_log.h"
#include "verify/c_calls.h"

namespace svod {

Result<std::unique_ptr<Workplace>> Workplace::make(const Request& request) {
  TempDir::removeAbandoned(request.environment.tempDirectory);
  SVOD_TRY(TempDir directory, TempDir::make(request.environment.tempDirectory));
  request.interrupts->removesFolder(directory.file(""));
  return std::make_unique<Workplace>(std::move(directory));
}

namespace {

/// Which kernels a list of --opts was taken for, where its name fits several.
void noteOptsOfSeveral(const BuildResult& build, Console& console) {
  for (const KernelOpts& entry : build.options.opts) {
    std::string names;
    size_t count = 0;
    for (const CompiledKernel& k : build.compilation->kernels)
      if (entry.isFor(k.name)) names += (count++ == 0 ? "" : ", ") + k.name;
    if (count > 1)
      console.note(Error(Diag::BadOpt,
                         "--opts '" + entry.kernel + "' is for " + std::to_string(count) + " kernels: " + names,
                         "a longer part of a name tells them apart"));
  }
}

/// Where make says how many jobs there are, and -j does not, they are asked for.
void askMakeForJobs(const Request& request, BuildResult& build, Console& console) {
  if (request.flags.jobs != 0) return;
  build.jobServer = std::make_shared<JobServer>(request.environment.makeFlags);
  if (!build.jobServer->isThere()) return;
  if (!build.jobServer->isReached())
    console.note(Error(Diag::Usage, "make limits its jobs and cannot be asked for one: kernels are compiled one by one",
                       "put + before the command in the makefile, or give -j N"));
  build.options.tokens = build.jobServer.get();
  request.interrupts->alsoDoes([server = build.jobServer] { server->giveAll(); });
}

}  // namespace

Result<BuildResult> buildGraph(const Request& request, Console& console, Workplace& place, bool keepSource,
                               const TuningLog* tuning) {
  BuildResult build;
  SVOD_TRY(build.options, compileOptions(request));
  askMakeForJobs(request, build, console);
  build.options.keepForms = needsForms(request.flags);
  build.options.keepSource = keepSource || build.options.keepForms;
  if (!keepSource) {
    SVOD_TRY(build.cache, kernelCache(request));
  }
  build.options.cache = build.cache.get();
  if (tuning != nullptr) {
    build.options.tuning = tuning, build.options.compiler = tuningCompiler();
  } else if (!request.flags.tuningLog.empty()) {
    SVOD_TRY(TuningLog log, readTuningLog(request.flags.tuningLog, warningsOf(console)));
    build.tuning = std::make_unique<TuningLog>(std::move(log));
    build.options.tuning = build.tuning.get(), build.options.compiler = tuningCompiler();
  }
  build.options.linker = &place.linker;
  build.options.progress = [&console](size_t done, size_t total) { console.progress(done, total); };
  SVOD_TRY(LoadOptions load, loadOptions(request.flags));
  build.filesRead = namedFiles(request, load);
  load.filesRead = &build.filesRead;
  CSources sources;
  std::vector<Error> notes;
  Result<Model> model = readModel(request.files.at(0), load, notes, sources);
  for (const Error& note : notes) console.note(note);
  SVOD_TRY(build.model, std::move(model));
  build.options.cFiles = filesOf(sources, request.files.at(0));
  if (request.flags.verify) SVOD_CHECK(checkAllowed(build.options, request.flags, "--verify"));
  SVOD_CHECK(
      checkFunctions(build.model, build.options.cFiles, sources, hostProcessor(build.options), &build.filesRead));
  PassFailure failure;
  build.options.failure = &failure;
  Result<std::unique_ptr<Compilation>> compiled = compile(build.model, build.options);
  build.options.failure = nullptr;
  finishCache(build.cache.get(), console);
  if (!compiled && !failure.pass.empty()) return fail(withRepro(std::move(compiled.error()), failure, request));
  SVOD_TRY(build.compilation, std::move(compiled));
  console.clearProgress();
  noteOptsOfSeveral(build, console);
  return build;
}

}  // namespace svod
