#include "web/check.h"

#include <algorithm>

#include "embed/range.h"
#include "plan/wgsl_arguments.h"

namespace svod::web {

namespace {

constexpr int64_t kMostExact = int64_t{1} << 53;  // that a number of JavaScript counts to
constexpr const char* kUseRuntime = "run the plan with the runtime library, or leave that part of the graph out";

class Checker {
 public:
  Checker(const Plan& plan, const WebLayout& layout, std::span<const std::string> kernels)
      : plan_(plan), layout_(layout), kernels_(kernels), names_(variableNames(plan)) {
    for (const Variable& v : plan.variables)
      ranges_.push_back(v.kind == VariableKind::Fixed ? ExprRange{v.value, v.value} : ExprRange{v.min, v.max});
  }

  Status check() const {
    if (!plan_.variants.empty())
      return fail(Diag::Unsupported, "a module for pages has kernels for one kind of limits", "name one in --cpu");
    for (const Step& step : plan_.steps) SVOD_CHECK(checkStep(step));
    for (const BufferDesc& buffer : plan_.buffers)
      if (buffer.run) SVOD_CHECK(has(buffer.run->bytes));
    for (const EqualExprs& equal : plan_.equalSizes)
      for (const Expr* expr : {&equal.a, &equal.b}) SVOD_CHECK(has(*expr));
    for (const auto* ports : {&plan_.inputs, &plan_.outputs})
      for (const Port& port : *ports)
        for (const Expr& dim : port.shape) SVOD_CHECK(has(dim));
    return {};
  }

 private:
  Status checkStep(const Step& step) const {
    if (const auto* call = std::get_if<HostCall>(&step.action))
      return fail(
          Diag::Unsupported,
          "the graph calls the function '" + call->function + "' on the processor, and a page has no such thing",
          kUseRuntime);
    if (const auto* copy = std::get_if<Copy>(&step.action)) return checkCopy(*copy);
    if (const auto* loop = std::get_if<Loop>(&step.action)) return has(loop->trips);
    return checkLaunch(std::get<Launch>(step.action));
  }

  /// The device copies words: those at the end of a buffer are its own, those in a view may be another's.
  Status checkCopy(const Copy& copy) const {
    SVOD_CHECK(has(copy.bytes));
    const BufferDesc& to = plan_.buffers[copy.dst];
    const std::optional<int64_t> bytes = copy.bytes.constant();
    const bool isWhole = to.place != Place::View || byteSize(to.dtype) >= 4 || (bytes && *bytes % 4 == 0);
    if (isWhole && layout_.buffers[copy.dst].offset % 4 == 0 && layout_.buffers[copy.src].offset % 4 == 0) return {};
    return fail(Diag::Unsupported,
                "value '" + to.name + "' is copied to a part of a word, and a page copies whole ones",
                "make its elements i32, u32 or f32");
  }

  Status checkLaunch(const Launch& launch) const {
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    if (!kernel.grid || kernels_[launch.kernel].find(kWgslKernel) == std::string::npos)
      return fail(Diag::Unsupported,
                  "'" + kernel.name + "' runs " + (kernel.grid ? "on another device" : "on the processor") +
                      ", and a page has WGSL alone",
                  kUseRuntime);
    std::vector<ExprRange> values;
    for (const Expr& value : launch.values) {
      SVOD_CHECK(has(value));
      values.push_back(*rangeOf(value, ranges_));
    }
    for (const Expr& groups : kernel.grid->groups)
      if (!isExact(groups, values)) return inexact(groups, kernel.values);
    for (const LaunchCase& one : launch.cases) {
      for (const SizeRange& range : one.when) SVOD_CHECK(has(range.size));
      SVOD_CHECK(checkLaunch(one.launch));
    }
    return {};
  }

  static bool isExact(const Expr& expr, std::span<const ExprRange> ranges) {
    const std::optional<ExprRange> range = rangeOf(expr, ranges);
    return range && range->min > -kMostExact && range->max < kMostExact;
  }
  static Status inexact(const Expr& expr, std::span<const std::string> names) {
    return fail(Diag::Unsupported, "the size " + toText(expr, names) + " might be more than JavaScript counts, 2^53",
                "give the variables tighter bounds: --var N=MIN:MAX");
  }
  Status has(const Expr& expr) const { return isExact(expr, ranges_) ? Status() : inexact(expr, names_); }

  const Plan& plan_;
  const WebLayout& layout_;
  std::span<const std::string> kernels_;
  const std::vector<std::string> names_;
  std::vector<ExprRange> ranges_;
};

}  // namespace

Status checkPlan(const Plan& plan, const WebLayout& layout, std::span<const std::string> kernels) {
  return Checker(plan, layout, kernels).check();
}

}  // namespace svod::web
