// Names of a plan's things, as reports write them.
#pragma once
#include <span>
#include <string>

#include "plan/plan.h"
#include "report/document.h"

namespace svod {

std::string_view toText(Place place);
std::string_view toText(VariableKind kind);
std::string_view toText(FileKind kind);
std::string_view toText(Mode mode);

/// `f32[64,128]`; only the dtype for rank 0.
std::string typeText(const BufferDesc& buffer);
/// `f32[n,128]`, over the plan's variables.
std::string typeText(const Plan& plan, const Port& port);
/// `b3 hidden`, `b3` when it has no name.
std::string bufferText(const Plan& plan, BufferId id);

/// A number where the expression is one, otherwise its text.
Cell exprCell(const Expr& expr, std::span<const std::string> names);

/// Of the plan's variables: the likely value of one that a caller binds, the greatest of one that a loop counts.
std::vector<int64_t> usualValues(const Plan& plan);
/// Of the kernel's variables; 1 where the plan names no such variable.
std::vector<int64_t> usualValues(const KernelDesc& kernel, const Plan& plan);
/// `batch = 1, length = 64`: the likely values of the variables that a caller binds. Empty where there are none.
std::string likelyText(const Plan& plan);

/// An estimate of a kernel: the number for its usual values, shown as `~2.50 M`.
Cell estimateCell(const Expr& expr, const KernelDesc& kernel, const Plan& plan);
/// How many tiles or workgroups a launch has: the number for its usual values, shown as the expression.
Cell tilesCell(const KernelDesc& kernel, const Plan& plan);

/// How often each step runs in a run with the usual values.
std::vector<double> timesOf(const Plan& plan);

/// What a step computes, by the name of its result in the graph, `layer1.0.conv`; of a step without, what it is.
std::string labelOf(const Plan& plan, const Step& step);
/// Of the first step that launches a kernel; its name where none does.
std::string labelOf(const Plan& plan, KernelId kernel);

/// Where a step runs, or the buffers are that it works on, in a plan with several devices; empty in others.
std::string deviceText(const Plan& plan, std::span<const BufferId> buffers);
std::string deviceText(const Plan& plan, const Step& step);

/// Places of a page.
std::string kernelAnchor(KernelId id);
inline constexpr std::string_view kBufferAnchor = "buffer-", kStepAnchor = "step-";

/// What a step touches; buffer ids with views resolved to their base.
struct StepUse {
  std::vector<int64_t> reads, writes;
};
StepUse useOf(const Plan& plan, const Step& step);

}  // namespace svod
