#include "embed/interface.h"

#include <algorithm>
#include <set>

namespace svod {

namespace {

// Keywords of C and C++, what headers of the C library define as macros, and names of the generated code, with blanks
// around each.
constexpr std::string_view kReserved =
    " alignas alignof and asm auto bool break case catch char class const continue default delete do double else "
    "enum explicit export extern false float for friend goto if inline int int16_t int32_t int64_t int8_t long "
    "mutable namespace new not nullptr operator or private protected public register requires restrict return "
    "short signed sizeof static struct switch template this throw true try typedef typename uint16_t uint32_t "
    "uint64_t uint8_t union unsigned using virtual void volatile while xor concept typeof unix linux arena "
    "states weights threads errno buffers values tiles rows task memmove memset memcpy size_t uintptr_t base "
    "constexpr consteval constinit decltype dynamic_cast static_cast reinterpret_cast const_cast noexcept "
    "static_assert thread_local typeid wchar_t char8_t char16_t char32_t co_await co_return co_yield and_eq "
    "bitand bitor compl not_eq or_eq xor_eq typeof_unqual complex imaginary I "
    "stdin stdout stderr i386 assert main near far ";

bool isReserved(std::string_view name) { return kReserved.find(" " + std::string(name) + " ") != kReserved.npos; }

constexpr std::string_view kOwn = "svod_";  // how names of the generated code begin

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// A name that only compilers and libraries of C may use: _Bool, __x.
bool isOfCompiler(std::string_view text) {
  return text.size() > 1 && text[0] == '_' && (text[1] == '_' || (text[1] >= 'A' && text[1] <= 'Z'));
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && !isOfCompiler(text) && isLetter(text[0]) && text.size() <= 100 &&
         std::ranges::all_of(text, [](char c) { return isLetter(c) || isDigit(c); }) && !isReserved(text);
}

/// Written as macros are, such as INT8_MAX and BUFSIZ of headers that a program may include before this one.
bool looksLikeMacro(std::string_view text) {
  return text.size() > 2 && std::ranges::none_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

uint64_t aligned(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

/// Names of parameters, each once.
class Names {
 public:
  std::string add(const std::string& name) {
    std::string made = identifier(name);
    if (looksLikeMacro(made)) made += "_";
    while (!used_.insert(made).second) made += "_";
    return made;
  }

 private:
  std::set<std::string> used_;
};

Status checkDevices(const Plan& plan) {
  for (const DeviceDesc& device : plan.devices)
    if (device.kind != DeviceKind::Cpu)
      return fail(
          Diag::Unsupported,
          "a plan with device '" + device.name + "' of kind '" + device.kind + "' cannot be built into a program",
          "leave --device out, or load the plan with the runtime library");
  for (const Step& step : plan.steps)
    if (const auto* call = std::get_if<HostCall>(&step.action))
      return fail(Diag::Unsupported,
                  "a plan that calls the host function '" + call->function + "' cannot be built into a program",
                  "load the plan with the runtime library, which is given the functions");
  return {};
}

/// Every expression that a run evaluates has a value.
class SizeCheck {
 public:
  SizeCheck(const Plan& plan, const Interface& made) : plan_(plan), names_(variableNames(plan)), ranges_(made.ranges) {}

  Status check() const {
    for (const Step& step : plan_.steps) SVOD_CHECK(checkStep(step));
    for (const Variant& variant : plan_.variants)
      for (const VariantLaunch& instead : variant.launches) SVOD_CHECK(checkLaunch(instead.launch));
    for (const BufferDesc& buffer : plan_.buffers)
      if (buffer.run) SVOD_CHECK(has(buffer.run->bytes));
    for (const EqualExprs& equal : plan_.equalSizes)
      for (const Expr* expr : {&equal.a, &equal.b}) SVOD_CHECK(has(*expr));
    return {};
  }

 private:
  Status checkStep(const Step& step) const {
    if (const auto* copy = std::get_if<Copy>(&step.action)) return has(copy->bytes);
    if (const auto* loop = std::get_if<Loop>(&step.action)) return has(loop->trips);
    return checkLaunch(std::get<Launch>(step.action));
  }
  Status checkLaunch(const Launch& launch) const {
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    std::vector<ExprRange> values;
    for (const Expr& value : launch.values) {
      SVOD_CHECK(has(value));
      values.push_back(*rangeOf(value, ranges_));
    }
    if (!rangeOf(kernel.tiles, values)) return missing(kernel.tiles, kernel.values);
    for (const LaunchCase& one : launch.cases) {
      for (const SizeRange& range : one.when) SVOD_CHECK(has(range.size));
      SVOD_CHECK(checkLaunch(one.launch));
    }
    return {};
  }
  Status has(const Expr& expr) const { return rangeOf(expr, ranges_) ? Status() : missing(expr, names_); }
  static Status missing(const Expr& expr, std::span<const std::string> names) {
    return fail(Diag::Unsupported,
                "the size " + toText(expr, names) + " might overflow or divide by 0, which a built-in plan cannot tell",
                "give the variables tighter bounds: --var N=MIN:MAX");
  }

  const Plan& plan_;
  const std::vector<std::string> names_;
  std::span<const ExprRange> ranges_;
};

/// Fills Interface::units. Returns the first unit of each device.
std::vector<uint32_t> placeUnits(const Plan& plan, Interface& made) {
  std::vector<uint32_t> first(plan.devices.size(), 0);
  if (!isLaidOutPerRun(plan)) return first;
  for (DeviceId device = 0; device < plan.devices.size(); device++) {
    first[device] = made.unitCount();
    std::vector<UnitRoom> rooms;
    for (const BufferDesc& buffer : plan.buffers)
      if (buffer.run && buffer.device == device)
        rooms.push_back({first[device] + buffer.run->begin, first[device] + buffer.run->end, buffer.run->bytes});
    std::ranges::stable_sort(rooms, {}, &UnitRoom::end);
    const auto fixed = static_cast<int64_t>(plan.devices[device].arenaBytes);
    if (rooms.empty() && fixed > 0) rooms.push_back({first[device], first[device] + 1, fixed});
    made.units.insert(made.units.end(), rooms.begin(), rooms.end());
  }
  return first;
}

/// Fills Interface::buffers and the sizes.
void placeBuffers(const Plan& plan, Interface& made) {
  const std::vector<uint32_t> firstUnit = placeUnits(plan, made);
  std::vector<uint64_t> deviceAt;
  for (const DeviceDesc& device : plan.devices) {
    deviceAt.push_back(made.units.empty() ? made.scratchOffset : 0);
    made.scratchOffset += aligned(device.arenaBytes + device.sharedBytes);
  }
  const auto makeScratch = [&](const Launch& launch) {
    made.scratchBytes = std::max(made.scratchBytes, aligned(plan.kernels[launch.kernel].scratchBytes));
    for (const LaunchCase& one : launch.cases)
      made.scratchBytes = std::max(made.scratchBytes, aligned(plan.kernels[one.launch.kernel].scratchBytes));
  };
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) makeScratch(*launch);
  for (const Variant& variant : plan.variants)
    for (const VariantLaunch& instead : variant.launches) makeScratch(instead.launch);
  for (const Constant& constant : plan.constants)
    made.weightBytes = std::max(made.weightBytes, constant.offset + constant.bytes);

  made.buffers.resize(plan.buffers.size());
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if (buffer.place == Place::Arena)
      made.buffers[id] = {ParameterKind::Arena, 0, deviceAt[buffer.device] + (buffer.run ? 0 : buffer.offset),
                          firstUnit[buffer.device] + (buffer.run ? buffer.run->begin : 0)};
    // A constant without bytes has no place, and none is read.
    if (buffer.place == Place::Constant && plan.constants[buffer.constant].bytes > 0)
      made.buffers[id] = {ParameterKind::Weights, 0, plan.constants[buffer.constant].offset};
  }
  for (uint32_t i = 0; i < plan.inputs.size(); i++) made.buffers[plan.inputs[i].buffer] = {ParameterKind::Input, i, 0};
  for (uint32_t i = 0; i < plan.outputs.size(); i++)
    made.buffers[plan.outputs[i].buffer] = {ParameterKind::Output, i, 0};
  for (const State& state : plan.states) {
    made.buffers[state.buffer] = {ParameterKind::States, 0, made.stateBytes};
    made.stateBytes += aligned(plan.buffers[state.buffer].bytes);
  }
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    if (plan.buffers[id].place != Place::View) continue;
    made.buffers[id] = made.buffers[plan.buffers[id].base];
    made.buffers[id].offset += plan.buffers[id].offset;
  }
}

void nameParameters(const Plan& plan, Interface& made) {
  Names names;
  for (VariableId id = 0; id < plan.variables.size(); id++)
    if (plan.variables[id].kind == VariableKind::Free)
      made.parameters.push_back({ParameterKind::Variable, id, names.add(plan.variables[id].name)});
  for (uint32_t i = 0; i < plan.inputs.size(); i++)
    made.parameters.push_back({ParameterKind::Input, i, names.add(plan.inputs[i].name)});
  for (uint32_t i = 0; i < plan.outputs.size(); i++)
    made.parameters.push_back({ParameterKind::Output, i, names.add(plan.outputs[i].name)});
  if (made.stateBytes > 0) made.parameters.push_back({ParameterKind::States, 0, "states"});
  if (made.hasWeightsParameter()) made.parameters.push_back({ParameterKind::Weights, 0, "weights"});
  made.parameters.push_back({ParameterKind::Arena, 0, "arena"});
  made.parameters.push_back({ParameterKind::Threads, 0, "threads"});
}

void nameFunctions(const Plan& plan, Interface& made) {
  const auto add = [&](FunctionKind kind, const std::string& name, const std::string& what = "", const Expr& size = {},
                       bool ofUnits = false) {
    made.functions.push_back({kind, made.prefix + "_" + name, what, size, ofUnits});
  };
  add(FunctionKind::Run, "run");
  if (made.stateBytes > 0) add(FunctionKind::Reset, "reset");
  const uint64_t arena = made.units.empty() ? made.declaredArenaBytes() : made.scratchBytes;
  add(FunctionKind::Size, "arena_bytes", "Bytes of the arena", static_cast<int64_t>(arena), !made.units.empty());
  for (const Parameter& p : made.parameters) {
    if (p.kind != ParameterKind::Input && p.kind != ParameterKind::Output) continue;
    const std::optional<Expr> count = elementsOf(portOf(plan, p), made.ranges);
    if (count && count->varCount() > 0) add(FunctionKind::Size, p.name + "_elements", "Elements of " + p.name, *count);
  }
}

}  // namespace

const Port& portOf(const Plan& plan, const Parameter& p) {
  return (p.kind == ParameterKind::Input ? plan.inputs : plan.outputs)[p.id];
}

std::optional<Expr> elementsOf(const Port& port, std::span<const ExprRange> variables) {
  Expr count = 1;
  for (const Expr& dim : port.shape) count = Expr::make(ExprOp::Mul, std::move(count), dim);
  if (!rangeOf(count, variables)) return std::nullopt;
  return count;
}

Need needOf(const Plan& plan, const Interface& made, const Parameter& parameter) {
  if (parameter.kind != ParameterKind::Input && parameter.kind != ParameterKind::Output) return Need::Never;
  const std::optional<Expr> count = elementsOf(portOf(plan, parameter), made.ranges);
  if (!count) return Need::Always;
  const ExprRange range = *rangeOf(*count, made.ranges);
  return range.max <= 0 ? Need::Never : range.min > 0 ? Need::Always : Need::WithElements;
}

std::vector<Parameter> parametersOf(const Interface& made, FunctionKind kind) {
  std::vector<Parameter> some;
  for (const Parameter& p : made.parameters)
    if (kind == FunctionKind::Run || (kind == FunctionKind::Size && p.kind == ParameterKind::Variable) ||
        (kind == FunctionKind::Reset && (p.kind == ParameterKind::States || p.kind == ParameterKind::Weights)))
      some.push_back(p);
  return some;
}

std::string identifier(std::string_view name) {
  std::string text;
  for (char c : name.substr(0, 80)) text += isLetter(c) || isDigit(c) ? c : '_';
  if (text.empty() || isDigit(text[0])) text.insert(0, "_");
  if (isReserved(text)) text += "_";
  if (text.starts_with(kOwn)) text.insert(0, "_");
  if (isOfCompiler(text)) text.insert(0, "x");
  return text;
}

Result<WeightsPlace> weightsPlace(const std::string& text) {
  using Kind = WeightsPlace::Kind;
  if (text.empty() || text == "object") return WeightsPlace{Kind::Object, {}, !text.empty()};
  if (text == "file") return WeightsPlace{Kind::File, {}, true};
  constexpr std::string_view kSection = "section=";
  const std::string name = text.starts_with(kSection) ? text.substr(kSection.size()) : "";
  const auto isPart = [](char c) { return isLetter(c) || isDigit(c) || c == '.' || c == '-' || c == '$'; };
  if (!name.empty() && name.size() <= 100 && std::ranges::all_of(name, isPart))
    return WeightsPlace{Kind::Section, name, true};
  return fail(Diag::Usage, "--weights has no place '" + text + "'",
              "object, file, or section=NAME with letters, digits, '.', '_', '-' and '$'");
}

const Parameter* Interface::find(ParameterKind kind, uint32_t id) const {
  const auto found = std::ranges::find_if(parameters, [&](const Parameter& p) { return p.kind == kind && p.id == id; });
  return found == parameters.end() ? nullptr : &*found;
}

Result<std::string> prefixOf(const Plan& plan, const EmbedOptions& options) {
  if (options.prefix.empty()) return identifier(plan.name);
  if (isIdentifier(options.prefix)) return options.prefix;
  return fail(Diag::Usage, "--prefix '" + options.prefix + "' is no identifier of C",
              "letters, digits and _, such as --prefix digits");
}

Result<Interface> interfaceOf(const Plan& plan, const EmbedOptions& options) {
  Interface made;
  SVOD_TRY(made.prefix, prefixOf(plan, options));
  SVOD_CHECK(checkDevices(plan));
  made.weights = options.weights;
  for (const Variable& v : plan.variables)
    made.ranges.push_back(v.kind == VariableKind::Fixed ? ExprRange{v.value, v.value} : ExprRange{v.min, v.max});
  SVOD_CHECK(SizeCheck(plan, made).check());
  placeBuffers(plan, made);
  nameParameters(plan, made);
  nameFunctions(plan, made);
  return made;
}

}  // namespace svod
