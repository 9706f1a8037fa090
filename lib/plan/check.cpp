#include "plan/check.h"

#include <algorithm>
#include <set>

#include "plan/hazards.h"

namespace svod {

namespace {

constexpr uint64_t kMaxBytes = UINT64_C(1) << 56;  // sums of two sizes never overflow
constexpr size_t kMaxLoopDepth = 16;

tl::unexpected<Error> bad(const std::string& where, const std::string& what) {
  return fail(Diag::BadPlan, where + ": " + what, "compile the graph again");
}
std::string at(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

template <class T>
Status checkNames(const std::vector<T>& rows, const char* list) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < rows.size(); i++)
    if (rows[i].name.empty() || !names.insert(rows[i].name).second)
      return bad(at(list, i), "empty or repeated name");
  return {};
}

Status checkFiles(const Plan& plan) {
  std::set<std::string_view> names = {"plan.json"};
  for (size_t i = 0; i < plan.files.size(); i++) {
    const FileDesc& file = plan.files[i];
    if (!isPlainFileName(file.path))
      return fail(Diag::PlanPath, at("files", i) + ": '" + file.path + "' is not a plain file name",
                  "a plan can only name files of its own directory");
    if (!names.insert(file.path).second) return bad(at("files", i), "'" + file.path + "' is listed twice");
    if (file.bytes > kMaxBytes) return bad(at("files", i), "the size is too large");
    const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (file.sha256.size() != 64 || !std::all_of(file.sha256.begin(), file.sha256.end(), isHex))
      return bad(at("files", i), "the SHA-256 is malformed");
  }
  return {};
}

Status checkConstants(const Plan& plan) {
  for (size_t i = 0; i < plan.constants.size(); i++) {
    const Constant& constant = plan.constants[i];
    if (constant.file >= plan.files.size() || plan.files[constant.file].kind != FileKind::Weights)
      return bad(at("constants", i), "its file is not a weights file of this plan");
    if (constant.offset % kPlanAlignment != 0)
      return bad(at("constants", i), "the offset is not a multiple of 64");
    if (constant.offset > kMaxBytes || constant.bytes > kMaxBytes ||
        constant.offset + constant.bytes > plan.files[constant.file].bytes)
      return bad(at("constants", i), "its bytes lie outside the file");
  }
  return {};
}

Status checkVariables(const Plan& plan) {
  SVOD_CHECK(checkNames(plan.variables, "variables"));
  for (size_t i = 0; i < plan.variables.size(); i++) {
    const Variable& variable = plan.variables[i];
    if (variable.name.find('`') != std::string::npos)
      return bad(at("variables", i), "a backquote in the name");
    if (variable.min > variable.max) return bad(at("variables", i), "the minimum is above the maximum");
    if (variable.kind == VariableKind::Fixed &&
        (variable.value < variable.min || variable.value > variable.max))
      return bad(at("variables", i), "the value lies outside the bounds");
  }
  return {};
}

Status checkPlace(const Plan& plan, const BufferDesc& buffer, const std::string& where) {
  if (buffer.place == Place::Arena) {
    if (buffer.offset % kPlanAlignment != 0) return bad(where, "the arena offset is not a multiple of 64");
    if (buffer.offset > kMaxBytes || buffer.offset + buffer.bytes > plan.arenaBytes)
      return bad(where, "it lies outside the arena");
  }
  if (buffer.place == Place::Constant) {
    if (buffer.constant >= plan.constants.size()) return bad(where, "no such constant");
    if (buffer.bytes > plan.constants[buffer.constant].bytes) return bad(where, "larger than its constant");
  }
  if (buffer.place == Place::View) {
    if (buffer.base >= plan.buffers.size() || plan.buffers[buffer.base].place == Place::View)
      return bad(where, "the base of the view is no buffer, or a view itself");
    if (buffer.offset % byteSize(buffer.dtype) != 0)
      return bad(where, "the view is not aligned for its dtype");
    if (buffer.offset > kMaxBytes || buffer.offset + buffer.bytes > plan.buffers[buffer.base].bytes)
      return bad(where, "the view reaches beyond its base");
  }
  return {};
}

Status checkBuffers(const Plan& plan) {
  if (plan.arenaBytes > kMaxBytes) return bad("arenaBytes", "too large");
  for (size_t i = 0; i < plan.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[i];
    const std::optional<uint64_t> needed = tensorBytes(buffer.dtype, buffer.shape);
    if (!needed || buffer.bytes > kMaxBytes || *needed > buffer.bytes)
      return bad(at("buffers", i), "the shape does not fit the size");
    SVOD_CHECK(checkPlace(plan, buffer, at("buffers", i)));
  }
  return {};
}

Status checkKernels(const Plan& plan) {
  for (size_t i = 0; i < plan.kernels.size(); i++) {
    const KernelDesc& kernel = plan.kernels[i];
    const std::string where = at("kernels", i);
    if (kernel.file >= plan.files.size() || plan.files[kernel.file].kind == FileKind::Weights)
      return bad(where, "its file holds no code");
    if (kernel.symbol.empty()) return bad(where, "the symbol is empty");
    for (const KernelArg& arg : kernel.args)
      if (arg.bytes > kMaxBytes || !(reads(arg.mode) || writes(arg.mode)))
        return bad(where, "an argument is malformed");
    if (kernel.scratchBytes > kMaxBytes) return bad(where, "the scratch size is too large");
    for (const Expr* expr : {&kernel.tiles, &kernel.flops, &kernel.bytes})
      if (expr->varCount() > kernel.values.size())
        return bad(where, "an expression names no value of the kernel");
  }
  return {};
}

/// Checks the steps with the loops that enclose each of them.
class StepChecker {
 public:
  explicit StepChecker(const Plan& plan) : plan_(plan) {}

  Status run() {
    const auto count = static_cast<StepId>(plan_.steps.size());
    for (StepId i = 0; i < count; i++) {
      while (!loops_.empty() && i == loops_.back().end) loops_.pop_back();
      where_ = at("steps", i);
      SVOD_CHECK(deps(i));
      SVOD_CHECK(std::visit([&](const auto& action) { return check(action); }, plan_.steps[i].action));
      if (const auto* loop = std::get_if<Loop>(&plan_.steps[i].action)) {
        const StepId end = loops_.empty() ? count : loops_.back().end;
        if (loop->length > end - i - 1)
          return bad(where_, "the body of the loop ends outside the enclosing body");
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
    const StepId first = loops_.empty() ? 0 : loops_.back().loop + 1;
    int64_t before = -1;
    for (StepId dep : plan_.steps[step].deps) {
      if (dep >= step || static_cast<int64_t>(dep) <= before)
        return bad(where_, "dependencies must increase and come earlier");
      if (dep < first || (dep < scopeOf_.size() && scopeOf_[dep] != scopeId()))
        return bad(where_, "a dependency crosses the border of a loop");
      before = dep;
    }
    scopeOf_.push_back(scopeId());
    return {};
  }
  uint32_t scopeId() const { return loops_.empty() ? 0 : loops_.back().loop + 1; }

  Status expr(const Expr& expr) {
    for (const ExprNode& node : expr.nodes()) {
      if (node.op != ExprOp::Var) continue;
      const auto index = static_cast<size_t>(node.value);
      if (index >= plan_.variables.size()) return bad(where_, "an expression names no variable");
      const bool bound =
          plan_.variables[index].kind != VariableKind::Loop ||
          std::any_of(loops_.begin(), loops_.end(), [&](auto& loop) { return loop.variable == index; });
      if (!bound) return bad(where_, "'" + plan_.variables[index].name + "' is used outside its loop");
    }
    return {};
  }

  Status buffer(BufferId id, Mode mode) {
    if (id >= plan_.buffers.size()) return bad(where_, "no such buffer");
    const BufferDesc& desc = plan_.buffers[id];
    const Place place = desc.place == Place::View ? plan_.buffers[desc.base].place : desc.place;
    if (writes(mode) && (place == Place::Input || place == Place::Constant))
      return bad(where_, "it writes to '" + desc.name + "', which is read-only");
    return {};
  }

  Status check(const Launch& launch) {
    if (launch.kernel >= plan_.kernels.size()) return bad(where_, "no such kernel");
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    if (launch.buffers.size() != kernel.args.size() || launch.values.size() != kernel.values.size())
      return bad(where_, "the arguments do not fit the kernel '" + kernel.name + "'");
    for (size_t i = 0; i < launch.buffers.size(); i++) {
      SVOD_CHECK(buffer(launch.buffers[i], kernel.args[i].mode));
      const BufferDesc& desc = plan_.buffers[launch.buffers[i]];
      if (kernel.args[i].bytes > desc.bytes || byteSize(kernel.args[i].dtype) != byteSize(desc.dtype))
        return bad(where_, "'" + desc.name + "' does not fit argument " + std::to_string(i) + " of '" +
                               kernel.name + "'");
    }
    for (const Expr& value : launch.values) SVOD_CHECK(expr(value));
    return {};
  }

  Status check(const Copy& copy) {
    SVOD_CHECK(buffer(copy.src, Mode::Read));
    SVOD_CHECK(buffer(copy.dst, Mode::Write));
    SVOD_CHECK(expr(copy.bytes));
    const std::optional<int64_t> bytes = copy.bytes.constant();
    const uint64_t most = std::min(plan_.buffers[copy.src].bytes, plan_.buffers[copy.dst].bytes);
    if (bytes && (*bytes < 0 || static_cast<uint64_t>(*bytes) > most))
      return bad(where_, "it copies more than the buffers hold");
    return {};
  }

  Status check(const HostCall& call) {
    if (call.function.empty()) return bad(where_, "the function has no name");
    for (const HostArg& arg : call.args) SVOD_CHECK(buffer(arg.buffer, arg.mode));
    return {};
  }

  Status check(const Loop& loop) {
    SVOD_CHECK(expr(loop.trips));
    if (loop.variable >= plan_.variables.size() || plan_.variables[loop.variable].kind != VariableKind::Loop)
      return bad(where_, "its variable is no loop variable");
    if (!loopVariables_.insert(loop.variable).second)
      return bad(where_, "another loop uses the same variable");
    if (loop.condition) {
      SVOD_CHECK(buffer(*loop.condition, Mode::Read));
      const BufferDesc& flag = plan_.buffers[*loop.condition];
      if (flag.dtype != ElementType::Bool || flag.bytes < 1) return bad(where_, "its condition is no bool");
    }
    if (loops_.size() >= kMaxLoopDepth) return bad(where_, "loops are nested too deeply");
    return {};
  }

  const Plan& plan_;
  std::string where_;
  std::vector<Enclosing> loops_;        // innermost last
  std::set<VariableId> loopVariables_;  // of the loops seen so far
  std::vector<uint32_t> scopeOf_;       // per step, 0 or 1 + the innermost loop
};

Status checkPorts(const Plan& plan, const std::vector<Port>& ports, Place place, const char* list,
                  std::vector<bool>& owned) {
  SVOD_CHECK(checkNames(ports, list));
  for (size_t i = 0; i < ports.size(); i++) {
    const Port& port = ports[i];
    if (port.buffer >= plan.buffers.size() || plan.buffers[port.buffer].place != place || owned[port.buffer])
      return bad(at(list, i), "its buffer has another place or another owner");
    owned[port.buffer] = true;
    const BufferDesc& buffer = plan.buffers[port.buffer];
    if (port.shape.size() != buffer.shape.size())
      return bad(at(list, i), "the rank differs from the buffer's");
    for (size_t axis = 0; axis < port.shape.size(); axis++) {
      const std::optional<int64_t> dim = port.shape[axis].constant();
      if (dim && (*dim < 0 || static_cast<uint64_t>(*dim) > buffer.shape[axis]))
        return bad(at(list, i), "axis " + std::to_string(axis) + " is larger than the buffer");
      for (const ExprNode& node : port.shape[axis].nodes())
        if (node.op == ExprOp::Var &&
            (static_cast<size_t>(node.value) >= plan.variables.size() ||
             plan.variables[static_cast<size_t>(node.value)].kind == VariableKind::Loop))
          return bad(at(list, i), "the shape names no variable of the plan");
    }
  }
  return {};
}

Status checkStates(const Plan& plan, std::vector<bool>& owned) {
  SVOD_CHECK(checkNames(plan.states, "states"));
  for (size_t i = 0; i < plan.states.size(); i++) {
    const State& state = plan.states[i];
    if (state.buffer >= plan.buffers.size() || plan.buffers[state.buffer].place != Place::State ||
        owned[state.buffer])
      return bad(at("states", i), "its buffer has another place or another owner");
    owned[state.buffer] = true;
    if (state.init && (*state.init >= plan.constants.size() ||
                       plan.constants[*state.init].bytes != plan.buffers[state.buffer].bytes))
      return bad(at("states", i), "its first contents do not fit");
  }
  return {};
}

}  // namespace

bool isPlainFileName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == '\\' || (c >= 0 && c < 32); });
}

Status check(const Plan& plan) {
  if (plan.version != kPlanVersion) return bad("version", "not the current one");
  SVOD_CHECK(checkFiles(plan));
  SVOD_CHECK(checkConstants(plan));
  SVOD_CHECK(checkVariables(plan));
  SVOD_CHECK(checkBuffers(plan));
  SVOD_CHECK(checkKernels(plan));
  SVOD_CHECK(StepChecker(plan).run());
  std::vector<bool> owned(plan.buffers.size(), false);
  SVOD_CHECK(checkPorts(plan, plan.inputs, Place::Input, "inputs", owned));
  SVOD_CHECK(checkPorts(plan, plan.outputs, Place::Output, "outputs", owned));
  SVOD_CHECK(checkStates(plan, owned));
  for (size_t i = 0; i < plan.buffers.size(); i++) {
    const Place place = plan.buffers[i].place;
    if (!owned[i] && (place == Place::Input || place == Place::Output || place == Place::State))
      return bad(at("buffers", i), "no input, output or state owns it");
  }
  return checkHazards(plan);
}

}  // namespace svod
