// The graph of tensors on one screen: what happens to it on the way to a schedule of kernels.
#pragma once
#include <optional>
#include <set>
#include <span>

#include "pass/pass.h"
#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "tensor/dot_operands.h"

namespace svod {

/// What the passes over one graph share. The root is the sink of tensors throughout; from make-kernels on, at stage
/// Kernel, the schedule is what is printed and verified.
struct GraphJob final : PassSubject {
  GraphJob(Model& model, const ScheduleOptions& options)
      : model(model), options(options), decisions(options.decisions) {}
  std::string text(UOp root, Stage stage) const override;
  size_t nodes(UOp root) const override;
  Status verify(UOp root, Stage stage) const override;

  Model& model;
  ScheduleOptions options;
  Decisions decisions;
  std::set<uint32_t> uncut;          // filled by winograd: ids of values that are not kept for the size of their kernel
  std::vector<Bf16Product> dots;     // filled by dot-operands
  std::optional<Fusion> fusion;      // filled by fuse
  std::optional<Schedule> schedule;  // filled by make-kernels
};

std::span<const Pass> graphPasses();

/// The schedule of `sink`, which computes what the model's does; none if PassOptions::stopAfter names one of the
/// passes.
Result<std::optional<Schedule>> runGraphPasses(Model& model, UOp sink, const ScheduleOptions& options, PassLog& log);

}  // namespace svod
