#include "graph_run.h"

#include <algorithm>

#include "driver/kernel_job.h"
#include "driver/same_graph.h"
#include "interp/same_values.h"
#include "ir/model_text.h"
#include "ir/verify.h"
#include "support/suggest.h"

namespace svod {

namespace {

const Pass* graphPass(std::string_view name) {
  const auto row = std::ranges::find(graphPasses(), name, &Pass::name);
  return row == graphPasses().end() ? nullptr : &*row;
}

/// What kernels do not have.
bool hasPorts(UOp root) {
  return std::ranges::any_of(toposort(root),
                             [](UOp n) { return n.op() == Op::Buffer && n.argAs<SlotArg>().space == Space::Global; });
}

Result<std::vector<Pass>> namedPasses(const OptToolOptions& options) {
  std::vector<Pass> passes;
  if (options.all) return std::vector<Pass>(graphPasses().begin(), graphPasses().end());
  std::vector<std::string_view> names;
  for (const Pass& pass : graphPasses()) names.push_back(pass.name);
  for (const std::string& name : options.passes) {
    const Pass* row = graphPass(name);
    if (row == nullptr)
      return fail(Diag::Usage, "'" + name + "' is no pass over a graph of tensors",
                  didYouMean(name, names,
                             "svod-opt --list shows which are; run those of a kernel on one that "
                             "make-kernels leaves"));
    const Stage stage = passes.empty() ? Stage::Tensor : passes.back().out;
    if (row->in != stage && row->in == Stage::Kernel)
      return fail(Diag::Usage, name + " works on the schedule that make-kernels leaves", "name make-kernels before it");
    if (row->in != stage)
      return fail(Diag::Usage,
                  name + " works on a graph of tensors, and " + std::string(passes.back().name) + " leaves a schedule",
                  "name it before make-kernels");
    passes.push_back(*row);
  }
  return passes;
}

/// Elements like those that --check binds to inputs: what a pass does with weights does not depend on them.
void fillWeights(Model& model) {
  std::mt19937 random(2);
  for (ModelPort& port : model.ports) {
    if (port.kind != PortKind::Weight || port.buffer.hasSymbolicShape()) continue;
    const auto bytes = std::make_shared<std::vector<std::byte>>(
        plainValues(port.buffer.dtype(), {port.buffer.maxNumel()}, random).toMemory());
    port.data = {bytes->data(), bytes->size(), bytes};
  }
}

/// With all variables at their least values, at their greatest and between.
Status checkValues(Model& model, UOp root, const GraphJob& job) {
  for (int part : {0, 1, 2}) {
    VariableValues variables;
    for (UOp node : model.variables) {
      const VarArg& v = node.argAs<VarArg>();
      variables[std::string(v.name)] = part == 0 ? v.min : part == 1 ? v.max : v.min + (v.max - v.min) / 2;
    }
    SVOD_CHECK(checkSameGraph(model, root, job, variables));
    if (variables.empty()) break;
  }
  return {};
}

Status checkFlags(const OptToolOptions& options) {
  if (options.emit.empty() && !options.propose && options.opts.empty()) return {};
  return fail(Diag::Usage, "--emit, --propose and --opts are about a kernel, and this is a graph of tensors",
              "run make-kernels on it, and take one of the kernels it prints");
}

}  // namespace

bool isOverGraph(const OptToolOptions& options, UOp root) {
  if (options.passes.empty()) return hasPorts(root);
  return std::ranges::any_of(options.passes, [](const std::string& name) { return graphPass(name) != nullptr; });
}

Result<std::string> runOverGraph(const OptToolOptions& options, std::string_view text, PassLog& log) {
  SVOD_CHECK(checkFlags(options));
  Result<Model> parsed = parseModel(text);
  if (!parsed) {
    parsed.error()->loc.file = options.file;
    return fail(std::move(parsed).error());
  }
  Model model = std::move(*parsed);
  SVOD_TRY(const std::vector<Pass> passes, namedPasses(options));
  SVOD_CHECK(verify(model.sink, Stage::Tensor));
  if (model.sink.op() != Op::Sink)
    return fail(Diag::Usage, "a graph of tensors ends in a sink of its stores", "add a line such as %9 = sink %8");
  fillWeights(model);
  SVOD_TRY(const KernelJob kernel, kernelJobOf(options));
  ScheduleOptions schedule{kernel.legalize.numerics, graphMachine(kernel.caps), {}, {}};
  schedule.passes.verifyEach = true, schedule.passes.timePasses = options.timePasses;
  schedule.passes.disabledRules = options.disabledRules;
  for (const std::string& line : options.decide) SVOD_CHECK(schedule.decisions.add(line));
  GraphJob job(model, schedule);
  const std::string name = options.file == "-" ? "stdin" : options.file;
  PassContext cx{*model.graph, log, job.options.passes, name, kernel.legalize.numerics, {}, &job};
  cx.data.put(job);
  SVOD_TRY(const UOp root, runPipeline(passes, model.sink, cx));
  SVOD_CHECK(job.decisions.check());
  if (options.check) SVOD_CHECK(checkValues(model, root, job));
  std::string result = job.text(root, job.schedule ? Stage::Kernel : Stage::Tensor);
  for (const Decision& decision : job.decisions.made()) result += "; " + toText(decision) + "\n";
  return result;
}

}  // namespace svod
