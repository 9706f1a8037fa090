#include <algorithm>

#include "plan/check_parts.h"
#include "support/says.h"

namespace svod {

namespace {

constexpr size_t kMaxLoopDepth = 16;

std::string counts(size_t buffers, size_t values) { return says({buffers, " buffers and ", values, " values"}); }

/// Whether the first bytes of two buffers of one arena may be the same.
bool isShared(const BufferDesc& a, uint64_t bytesOfA, const BufferDesc& b, uint64_t bytesOfB) {
  const ArenaRange first = placeOf(a), second = placeOf(b);
  return first.begin < (b.run ? second.end : b.offset + bytesOfB) &&
         second.begin < (a.run ? first.end : a.offset + bytesOfA);
}

/// Checks the steps with the loops that enclose each of them.
class StepChecker {
 public:
  explicit StepChecker(const Plan& plan)
      : plan_(plan), loopVariables_(plan.variables.size()), nextOf_(plan.variants.size()) {}

  Status run() {
    const auto count = StepId(plan_.steps.size());
    for (StepId i = 0; i < count; i++) {
      while (!loops_.empty() && i == loops_.back().end) loops_.pop_back();
      where_ = at("steps", i);
      SVOD_CHECK(deps(i));
      SVOD_CHECK(std::visit([&](const auto& action) { return check(action); }, plan_.steps[i].action));
      SVOD_CHECK(variants(i));
      if (const auto* loop = std::get_if<Loop>(&plan_.steps[i].action)) {
        const StepId end = loops_.empty() ? count : loops_.back().end;
        if (loop->length > end - i - 1)
          return bad(where_, {"its body of ", loop->length, " steps ends outside the enclosing one"});
        if (loop->length > 0) loops_.push_back({i, i + 1 + loop->length, loop->variable});
      }
    }
    return {};
  }

 private:
  struct Enclosing {
    StepId loop, end;
    VariableId variable;
  };

  /// Dependencies stay inside the innermost body and name a nested loop, not steps inside it.
  Status deps(StepId step) {
    const StepId first = loops_.empty() ? StepId() : loops_.back().loop + 1;
    int64_t before = -1;
    for (StepId dep : plan_.steps[step].deps) {
      const std::string what = "the dependency on step " + std::to_string(dep);
      if (dep >= step) return bad(where_, {what, ", which is no earlier one"});
      if (static_cast<int64_t>(dep) <= before) return bad(where_, {what, " comes behind that on ", before});
      if (dep < first || scopeOf_[dep] != scopeId()) return bad(where_, {what, " crosses the border of a loop"});
      before = dep;
    }
    scopeOf_.push_back(scopeId());
    return {};
  }
  /// What the variants launch in place of this step.
  Status variants(StepId step) {
    for (size_t v = 0; v < nextOf_.size(); v++) {
      const std::vector<VariantLaunch>& launches = plan_.variants[v].launches;
      if (nextOf_[v] == launches.size() || launches[nextOf_[v]].step != step) continue;
      where_ = at("variants", v) + "." + at("launches", nextOf_[v]);
      const Launch& instead = launches[nextOf_[v]++].launch;
      SVOD_CHECK(check(instead));
      SVOD_CHECK(checkVariantKernel(plan_, plan_.variants[v], plan_.kernels[instead.kernel], where_));
      for (const LaunchCase& one : instead.cases)
        SVOD_CHECK(checkVariantKernel(plan_, plan_.variants[v], plan_.kernels[one.launch.kernel], where_));
      SVOD_CHECK(checkSameBytes(plan_, std::get<Launch>(plan_.steps[step].action), instead, where_));
    }
    return {};
  }
  uint32_t scopeId() const { return loops_.empty() ? StepId() : loops_.back().loop + 1; }

  Status expr(const Expr& expr) {
    for (const ExprNode& node : expr.nodes()) {
      if (node.op != ExprOp::Var) continue;
      if (static_cast<size_t>(node.value) >= plan_.variables.size())
        return bad(where_, noSuch("variable", static_cast<size_t>(node.value), plan_.variables.size()));
      const VariableId index(node.value);
      const bool bound = plan_.variables[index].kind != VariableKind::Loop ||
                         std::any_of(loops_.begin(), loops_.end(), [&](auto& loop) { return loop.variable == index; });
      if (!bound) return bad(where_, {"'", plan_.variables[index].name, "' is used outside its loop"});
    }
    return {};
  }

  Status buffer(BufferId id, Mode mode) {
    if (id >= plan_.buffers.size()) return bad(where_, noSuch("buffer", id, plan_.buffers.size()));
    const BufferDesc& desc = plan_.buffers[id];
    const Place place = desc.place == Place::View ? plan_.buffers[desc.base].place : desc.place;
    if (writes(mode) && (place == Place::Input || place == Place::Constant))
      return bad(where_, {"it writes to '", desc.name, "', which is read-only"});
    return {};
  }

  Status check(const Launch& launch) {
    if (launch.kernel >= plan_.kernels.size())
      return bad(where_, noSuch("kernel", launch.kernel, plan_.kernels.size()));
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    if (launch.buffers.size() != kernel.args.size() || launch.values.size() != kernel.values.size())
      return bad(where_, {"'", kernel.name, "' takes ", counts(kernel.args.size(), kernel.values.size()), ", not ",
                          counts(launch.buffers.size(), launch.values.size())});
    for (size_t i = 0; i < launch.buffers.size(); i++) {
      SVOD_CHECK(buffer(launch.buffers[i], kernel.args[i].mode));
      const BufferDesc& desc = plan_.buffers[launch.buffers[i]];
      if (kernel.args[i].bytes > desc.bytes || byteSize(kernel.args[i].dtype) != byteSize(desc.dtype))
        return bad(where_, {"'", desc.name, "', of ", desc.bytes, " bytes, does not fit argument ", i, " of '",
                            kernel.name, "', of ", kernel.args[i].bytes});
    }
    for (const Expr& value : launch.values) SVOD_CHECK(expr(value));
    SVOD_CHECK(onOneDevice(launch));
    const DeviceDesc& device = plan_.devices[deviceOf(plan_, launch)];
    if (!runsOn(plan_, kernel, device.kind))
      return bad(where_, {"'", kernel.name, "' is no kernel for device '", device.name, "', of kind ", device.kind});
    for (size_t i = 0; i < launch.buffers.size(); i++)
      if (writes(kernel.args[i].mode)) SVOD_CHECK(apart(launch, i));
    return cases(launch);
  }

  /// What runs in place of a launch.
  Status cases(const Launch& own) {
    const std::string outer = where_;
    for (size_t i = 0; i < own.cases.size(); where_ = outer, i++) {
      where_ = outer + "." + at("cases", i);
      if (!own.cases[i].launch.cases.empty()) return bad(where_, "it has cases of its own");
      SVOD_CHECK(check(own.cases[i].launch));
      SVOD_CHECK(checkCase(plan_, own, own.cases[i], where_));
    }
    return {};
  }

  Status onOneDevice(const Launch& launch) {
    std::optional<DeviceId> device;
    for (BufferId id : launch.buffers) {
      const std::optional<DeviceId> other = deviceOf(plan_, id);
      if (device && other && *device != *other)
        return bad(where_, {"'", plan_.kernels[launch.kernel].name, "' has buffers on '", plan_.devices[*device].name,
                            "' and on '", plan_.devices[*other].name, "'"});
      if (other) device = other;
    }
    return {};
  }
  /// What the host itself reads or gives to a function.
  Status onHost(BufferId id) {
    if (deviceOf(plan_, id).value_or(0) == 0) return {};
    return bad(where_, {"'", plan_.buffers[id].name, "' is not in the memory of the host"});
  }

  /// Code takes the arguments of a launch for memory of their own: only what is done in place may overlap.
  Status apart(const Launch& launch, size_t written) {
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    const BufferId result = launch.buffers[written];
    const BufferDesc& desc = plan_.buffers[result];
    for (size_t i = 0; i < launch.buffers.size(); i++) {
      const BufferId source = launch.buffers[i];
      const BufferDesc& other = plan_.buffers[source];
      const bool overlap = desc.place == Place::Arena && other.place == Place::Arena && source != result &&
                           desc.device == other.device && desc.space == other.space &&
                           isShared(desc, kernel.args[written].bytes, other, kernel.args[i].bytes);
      const std::vector<InPlace>& known = plan_.memory.inPlace;
      if (overlap && std::find(known.begin(), known.end(), InPlace{source, result}) == known.end())
        return bad(where_, {"'", desc.name, "' and '", other.name, "' share bytes"});
    }
    return {};
  }
  Status check(const Copy& copy) {
    SVOD_CHECK(buffer(copy.src, Mode::Read));
    SVOD_CHECK(buffer(copy.dst, Mode::Write));
    SVOD_CHECK(expr(copy.bytes));
    const std::optional<int64_t> bytes = copy.bytes.constant();
    const uint64_t most = std::min(plan_.buffers[copy.src].bytes, plan_.buffers[copy.dst].bytes);
    if (bytes && (*bytes < 0 || static_cast<uint64_t>(*bytes) > most))
      return bad(where_, {"it copies ", *bytes, " bytes between buffers of ", most});
    return {};
  }

  Status check(const HostCall& call) {
    if (call.function.empty()) return bad(where_, "the function has no name");
    for (const HostArg& arg : call.args) {
      SVOD_CHECK(buffer(arg.buffer, arg.mode));
      SVOD_CHECK(onHost(arg.buffer));
      for (const Expr& dim : arg.shape) SVOD_CHECK(expr(dim));
    }
    for (const Expr& value : call.values) SVOD_CHECK(expr(value));
    return {};
  }

  Status check(const Loop& loop) {
    SVOD_CHECK(expr(loop.trips));
    if (loop.variable >= plan_.variables.size())
      return bad(where_, noSuch("variable", loop.variable, plan_.variables.size()));
    const std::string variable = "'" + plan_.variables[loop.variable].name + "'";
    if (plan_.variables[loop.variable].kind != VariableKind::Loop)
      return bad(where_, {variable, " is no variable of a loop"});
    if (loopVariables_[loop.variable]++ != 0) return bad(where_, {variable, " belongs to another loop"});
    if (loop.condition) {
      SVOD_CHECK(buffer(*loop.condition, Mode::Read));
      SVOD_CHECK(onHost(*loop.condition));
      const BufferDesc& flag = plan_.buffers[*loop.condition];
      if (flag.dtype != ElementType::Bool || flag.bytes < 1)
        return bad(where_, {"its condition '", flag.name, "' is no bool"});
    }
    if (loops_.size() >= kMaxLoopDepth) return bad(where_, "loops are nested too deeply");
    return {};
  }

  const Plan& plan_;
  std::string where_;
  std::vector<Enclosing> loops_;        // innermost last
  std::vector<uint8_t> loopVariables_;  // by VariableId: whether a loop seen so far has it
  std::vector<uint32_t> scopeOf_;       // per step, 0 or 1 + the innermost loop
  std::vector<size_t> nextOf_;          // by variant, its first launch for a later step
};

}  // namespace

Status checkSteps(const Plan& plan) { return StepChecker(plan).run(); }

}  // namespace svod
