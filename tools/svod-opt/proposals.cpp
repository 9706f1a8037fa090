#include "proposals.h"

#include "opts/propose.h"
#include "opts/replay.h"
#include "run_passes.h"

namespace svod {

Result<std::string> proposalsFor(const OptToolOptions& options, Graph& graph, UOp root) {
  SVOD_TRY(const Stage stage, stageOf(root));
  if (stage != Stage::Kernel)
    return fail(Diag::Usage,
                "--propose needs a kernel with loops, and this graph is of stage " + std::string(toText(stage)),
                "opts change loops: leave out the passes from expand on");
  SVOD_TRY(const KernelJob job, kernelJobOf(options));
  NamedKernel kernel(root);
  for (const OptOp& opt : job.requested.value_or(std::vector<OptOp>{})) {
    SVOD_TRY(AppliedOpt applied, applyOpt(graph, kernel, opt, job.caps));
    kernel = std::move(applied.kernel);
  }
  std::string text;
  for (const OptOp& opt : proposeOpts(KernelFacts(kernel.sink), kernel.names, job.caps)) {
    const Result<AppliedOpt> applied = tryOpt(graph, kernel, opt, job.caps);
    text += toText(opt) + (applied ? "" : "  ; " + applied.error()->message) + "\n";
  }
  return text;
}

}  // namespace svod
