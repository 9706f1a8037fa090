// Names of a plan's things, as reports write them.
#pragma once
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

/// Of the kernel's variables; 1 where the plan names no such variable.
std::vector<int64_t> largestValues(const KernelDesc& kernel, const Plan& plan);

/// An estimate of a kernel: the number for the largest variables, shown as `<=2.50 M`.
Cell estimateCell(const Expr& expr, const KernelDesc& kernel, const Plan& plan);
/// How many tiles or workgroups a launch has: the number for the largest variables, shown as the expression.
Cell tilesCell(const KernelDesc& kernel, const Plan& plan);

/// What a step touches; buffer ids with views resolved to their base.
struct StepUse {
  std::vector<int64_t> reads, writes;
};
StepUse useOf(const Plan& plan, const Step& step);

}  // namespace svod
