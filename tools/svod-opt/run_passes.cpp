#include "run_passes.h"

#include "facts/axes.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir/workgroup.h"
#include "linearize/linearize.h"
#include "support/suggest.h"
#include "target/emittable.h"

namespace svod {

namespace {

constexpr const char* kKernelName = "kernel";

/// What the pass expand takes away.
bool hasLoopsToExpand(UOp root) {
  return std::ranges::any_of(toposort(root), [](UOp n) {
    const bool closes = n.op() == Op::Reduce || n.op() == Op::Fill;
    if (n.op() == Op::Range && isExpanded(axisType(n))) return true;
    return closes && std::ranges::any_of(n.src().subspan(1), [](UOp s) { return s.op() == Op::Range; });
  });
}

/// What it makes of reductions.
bool hasAccumulators(UOp root) {
  return std::ranges::any_of(toposort(root),
                             [](UOp n) { return n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Reg; });
}

}  // namespace

namespace {

/// What verifying a stage leaves open.
Status checkForm(UOp root, Stage stage) {
  if (stage == Stage::Lowered && hasLoopsToExpand(root))
    return fail(Diag::Usage,
                "a graph of stage lowered is needed, and this one has loops of reductions or of local buffers",
                "run the passes of stage kernel first, up to expand, or all with --all");
  if (stage == Stage::Kernel && hasAccumulators(root))
    return fail(Diag::Usage, "a graph of stage kernel is needed, and this one is expanded: it has accumulators",
                "take the graph before the pass expand");
  return {};
}

}  // namespace

Status checkStage(UOp root, Stage stage) {
  SVOD_CHECK(verify(root, stage));
  return checkForm(root, stage);
}

Result<Stage> stageOf(UOp root) {
  Status legal;
  for (Stage stage : {Stage::Kernel, Stage::Lowered}) {
    legal = checkStage(root, stage);
    if (legal) return stage;
  }
  return fail(std::move(legal).error());
}

Result<std::vector<Pass>> passesOf(const OptToolOptions& options, UOp root) {
  SVOD_TRY(const Target* target, targetByName(options.target));
  const std::span<const Pass> rows = kernelPasses(*target);
  std::vector<Pass> passes;
  if (options.all) {
    SVOD_TRY(const Stage stage, stageOf(root));
    for (const Pass& pass : rows)
      if (!passes.empty() || pass.in == stage) passes.push_back(pass);
    return passes;
  }
  std::vector<std::string_view> names;
  for (const Pass& pass : rows) names.push_back(pass.name);
  for (const std::string& name : options.passes) {
    const auto row = std::ranges::find(rows, name, &Pass::name);
    if (row == rows.end())
      return fail(Diag::Usage, "there is no pass '" + name + "'",
                  didYouMean(name, names, "svod-opt --list shows them"));
    if (!passes.empty() && passes.back().out != row->in)
      return fail(Diag::Usage,
                  name + " needs a graph of stage " + std::string(toText(row->in)) + ", and " +
                      std::string(passes.back().name) + " leaves stage " + std::string(toText(passes.back().out)),
                  "svod-opt --list shows the stages of all passes");
    if (passes.empty()) SVOD_CHECK(checkForm(root, row->in));
    passes.push_back(*row);
  }
  return passes;
}

Result<UOp> runPasses(std::span<const Pass> passes, const OptToolOptions& options, Graph& graph, UOp root,
                      PassLog& log) {
  SVOD_TRY(KernelJob job, kernelJobOf(options));
  PassOptions passOptions;
  passOptions.verifyEach = true;
  passOptions.timePasses = options.timePasses;
  passOptions.disabledRules = options.disabledRules;
  PassContext cx{graph, log, passOptions, options.file == "-" ? "stdin" : options.file, job.legalize.numerics, {}};
  cx.data.put(job);
  return runPipeline(passes, root, cx);
}

namespace {

/// Code is printed of what legalize leaves.
Status checkLegal(const LinearKernel& kernel) {
  const auto isLeft = [](UOp n) {
    return n.dtype() == DType::Index ||
           std::ranges::find(emittableOps(), n.op(), &Emittable::op) == emittableOps().end();
  };
  const auto left = std::ranges::find_if(kernel.ops, isLeft);
  if (left == kernel.ops.end()) return {};
  return fail(Diag::Usage, "--emit needs a legalized kernel, and this one has '" + toLineText(*left) + "'",
              "name legalize behind the passes, or run all with --all");
}

}  // namespace

Result<std::string> emitted(const OptToolOptions& options, Graph& graph, UOp root) {
  SVOD_TRY(const Numerics numerics, numericsOf(options));
  SVOD_CHECK(checkStage(root, Stage::Lowered));
  SVOD_TRY(const LinearKernel kernel, linearize(graph, root, kKernelName, numerics));
  SVOD_CHECK(checkLegal(kernel));
  const auto form = std::ranges::find(targets(), options.emit, &Target::textForm);
  return (*form)->print(kernel, options.triple, options.cpu);
}

}  // namespace svod
