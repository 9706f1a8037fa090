#include "schedule/graph_passes.h"

#include "ir/model_text.h"
#include "ir/verify.h"
#include "schedule/in_place.h"
#include "schedule/scheduler.h"
#include "schedule/siblings.h"
#include "schedule/unchosen.h"
#include "schedule/verify_schedule.h"
#include "schedule/views.h"
#include "tensor/late_normalize.h"
#include "tensor/layout.h"
#include "tensor/loops.h"
#include "tensor/rescale.h"
#include "tensor/split_reduce.h"
#include "tensor/winograd.h"

namespace svod {

namespace {

GraphJob& jobOf(PassContext& cx) { return cx.data.get<GraphJob>(); }

std::vector<Bf16Product> dotsOf(UOp root, const GraphJob& job) {
  return job.options.machine.bf16Dots ? bf16Products(toposort(root)) : std::vector<Bf16Product>();
}

Result<UOp> unroll(UOp root, PassContext& cx) { return unrollLoops(jobOf(cx).model, root, jobOf(cx).decisions); }

Result<UOp> lateNormalize(UOp root, PassContext& cx) {
  return normalizeLate(jobOf(cx).model, root, cx.numerics, jobOf(cx).options.machine, jobOf(cx).decisions);
}

Result<UOp> winograd(UOp root, PassContext& cx) {
  if (cx.numerics == Numerics::Strict) return root;
  WinogradGraph fast = useWinograd(jobOf(cx).model, root, cx.numerics, jobOf(cx).options.machine, jobOf(cx).decisions);
  jobOf(cx).uncut = std::move(fast.uncut);
  return fast.sink;
}

Result<UOp> rescaleSums(UOp root, PassContext& cx) {
  return rescaleLongSums(jobOf(cx).model, root, cx.numerics, jobOf(cx).options.machine, jobOf(cx).decisions);
}

Result<UOp> splitReduces(UOp root, PassContext& cx) {
  return splitReduces(jobOf(cx).model, root, cx.numerics, jobOf(cx).options.machine, jobOf(cx).decisions);
}

Result<UOp> layOut(UOp root, PassContext& cx) {
  GraphJob& job = jobOf(cx);
  const std::vector<Bf16Product> dots = dotsOf(root, job);
  const Fusion fusion = chooseFusion(job.model, root, {job.uncut, dots, job.options.machine}, job.decisions);
  return layOutForReaders(job.model, root, fusion.kept, job.uncut, job.options.machine, job.decisions);
}

Result<UOp> dotOperands(UOp root, PassContext& cx) {
  jobOf(cx).dots = dotsOf(root, jobOf(cx));
  return root;
}

Result<UOp> fuse(UOp root, PassContext& cx) {
  GraphJob& job = jobOf(cx);
  job.fusion = chooseFusion(job.model, root, {job.uncut, job.dots, job.options.machine}, job.decisions);
  for (const Decision& decision : job.fusion->decisions) job.decisions.decide(decision);
  return root;
}

Result<UOp> makeKernels(UOp root, PassContext& cx) {
  GraphJob& job = jobOf(cx);
  if (!job.fusion) job.fusion = keepAll(root);
  SVOD_TRY(job.schedule, scheduleOf(job.model, root, *job.fusion));
  return root;
}

Result<UOp> viewParts(UOp root, PassContext& cx) {
  useViews(jobOf(cx).model, *jobOf(cx).schedule, jobOf(cx).options.machine.viewBytes);
  return root;
}

/// On a GPU the host would wait for each condition.
Result<UOp> skipSides(UOp root, PassContext& cx) {
  GraphJob& job = jobOf(cx);
  if (job.options.machine.gpu.threads == 0 && job.model.devices.size() <= 1)
    skipUnchosen(job.model, *job.schedule, job.decisions);
  return root;
}

Result<UOp> joinKernels(UOp root, PassContext& cx) {
  joinSiblings(*jobOf(cx).schedule, jobOf(cx).decisions);
  return root;
}

Result<UOp> overwriteOperands(UOp root, PassContext& cx) {
  offerInPlace(*jobOf(cx).schedule);
  return root;
}

constexpr Stage T = Stage::Tensor, K = Stage::Kernel;
constexpr Pass kGraphPasses[] = {
    // First: every other pass sees the body of such a loop as often as it runs, like any other part of the graph.
    {"unroll-loops", "loops that ask for it as copies of their bodies", T, T, unroll, true},
    // Before split-reduces, which leaves products of a softmax in one piece, and tells them by what stands here.
    {"normalize-late", "softmax rows that a product sums up are divided by their sum after it", T, T, lateNormalize,
     true},
    // Before what cuts and lays out sums: the products over channels it makes are sums like others.
    {"winograd", "convolutions of 3 x 3 taps as two transforms and a product over channels; not in `strict`", T, T,
     winograd, true},
    // Before split-reduces, which would cut the maximum and the sum of a row apart.
    {"rescale-sums", "long rows of a softmax in parts whose sums are rescaled: memory is swept once less", T, T,
     rescaleSums, true},
    {"split-reduces", "reductions to few results in parts, which threads share, and a reduction over the parts", T, T,
     splitReduces, true},
    // Asks what fusion would keep, so it sees the graph that fusion will see, but for the order of what is stored.
    {"lay-out", "values whose readers all see them in one order are stored in it", T, T, layOut, true},
    // From here on nodes stay the same: these name nodes of the graph, and kernels are made of them.
    {"dot-operands", "operands of products that dot product instructions take as bf16", T, T, dotOperands, true},
    // Without it every value is kept.
    {"fuse", "which values are kept in memory or held in rows of a kernel; others are computed where they are read", T,
     T, fuse, true},
    {"make-kernels", "a kernel for each kept value, in an order in which all is written before it is read", T, K,
     makeKernels},
    // Before kernels are joined: what only moves elements would become a result of another kernel.
    {"use-views", "contiguous parts of buffers that are used where they lie", K, K, viewParts, true},
    // Before kernels are joined: those of two sides would become one that both need.
    {"skip-unchosen", "what one side of a choice needs is left out where a run takes the other side", K, K, skipSides,
     true},
    // Before in-place: a joined kernel has several results and takes no operand's place.
    {"join-siblings", "kernels with equal loops that read one memory become one with several results", K, K,
     joinKernels, true},
    {"in-place", "results that may lie on an operand nobody reads afterwards", K, K, overwriteOperands, true},
};

}  // namespace

std::string GraphJob::text(UOp root, Stage stage) const {
  return stage == Stage::Kernel ? toText(*schedule) : toText(model, root);
}

size_t GraphJob::nodes(UOp root) const {
  if (!schedule) return toposort(root).size();
  size_t sum = 0;
  for (const Kernel& kernel : schedule->kernels) sum += toposort(kernel.sink).size();
  return sum;
}

Status GraphJob::verify(UOp root, Stage stage) const {
  return stage == Stage::Kernel ? verifySchedule(*schedule) : svod::verify(root, stage);
}

std::span<const Pass> graphPasses() { return kGraphPasses; }

Result<std::optional<Schedule>> runGraphPasses(Model& model, UOp sink, const ScheduleOptions& options, PassLog& log) {
  if (sink.srcCount() == 0)
    return fail(Diag::NoOutputs, "the graph has no outputs and assigns no state", "declare at least one output");
  GraphJob job(model, options);
  PassContext cx{*model.graph, log, options.passes, "graph", options.numerics, {}, &job};
  cx.data.put(job);
  SVOD_CHECK(runPipeline(graphPasses(), sink, cx));
  if (log.stopped) return std::nullopt;
  SVOD_CHECK(job.decisions.check());
  job.schedule->decisions = job.decisions.made();
  return std::move(job.schedule);
}

Result<Schedule> makeSchedule(Model& model, const ScheduleOptions& options) {
  PassLog log;
  SVOD_TRY(std::optional<Schedule> schedule, runGraphPasses(model, model.sink, options, log));
  return std::move(*schedule);
}

}  // namespace svod
