// The functions that run the steps of a plan, in C.
#include <algorithm>

#include "embed/c_names.h"
#include "embed/c_parts.h"
#include "embed/sharing.h"

namespace svod {

namespace {

constexpr const char* kMemmove =
    "#if defined(__GNUC__)\n#define memmove __builtin_memmove\n#else\n"
    "void* memmove(void* to, const void* from, size_t bytes);\n#endif\n\n";
// Runs the tiles of one launch on the threads of the caller, each with scratch memory of its own.
constexpr const char* kShared =
    "struct svod_task {\n"
    "  void (*kernel)(void* const*, const int64_t*, int64_t, int64_t, void*);\n"
    "  void* const* buffers;\n  const int64_t* values;\n  unsigned char* scratch;\n};\n\n"
    "static void svod_part(void* task, int64_t begin, int64_t end, int32_t thread) {\n"
    "  const struct svod_task* t = (const struct svod_task*)task;\n"
    "  t->kernel(t->buffers, t->values, begin, end, t->scratch + (size_t)thread * SVOD_SCRATCH_BYTES);\n}\n\n"
    "static void svod_share(void (*kernel)(void* const*, const int64_t*, int64_t, int64_t, void*), void* const* "
    "buffers,\n"
    "                       const int64_t* values, int64_t tiles, unsigned char* scratch,\n"
    "                       const svod_model_threads* threads) {\n"
    "  struct svod_task task;\n"
    "  if (threads == 0 || threads->count < 2 || tiles < 2) {\n"
    "    kernel(buffers, values, 0, tiles, scratch);\n    return;\n  }\n"
    "  task.kernel = kernel;\n  task.buffers = buffers;\n  task.values = values;\n  task.scratch = scratch;\n"
    "  threads->run(threads->user, tiles, svod_part, &task);\n}\n\n";

class DriverText {
 public:
  DriverText(const Plan& plan, const Interface& made) : plan_(plan), made_(made), c_(plan, made) {}

  std::string text() {
    for (const PublicFunction& f : made_.functions) printFunction(f);
    const std::string functions = layoutFunctions(made_, c_) + text_;
    std::string head;
    if (sharesAny_) head += kShared;
    if (functions.find("memmove(") != functions.npos) head += kMemmove;
    return exprFunctions(functions) + head + functions;
  }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void open(const std::string& text) { line(text), depth_++; }
  void close() { depth_--, line("}"); }
  void lines(const std::vector<std::string>& all) {
    for (const std::string& text : all) line(text);
  }

  void printFunction(const PublicFunction& f) {
    text_ += (text_.empty() ? "" : "\n") + signatureOf(plan_, made_, f) + " {\n";
    depth_ = 1;
    const size_t begin = text_.size();
    std::string result = "SVOD_MODEL_OK";
    switch (f.kind) {
      case FunctionKind::Run: printRun(); break;
      case FunctionKind::Reset: printReset(); break;
      case FunctionKind::Size:
        checkVariables("-1");
        if (f.ofUnits) lines(layoutCall(made_));
        result = (f.ofUnits ? "svod_at[" + std::to_string(made_.unitCount()) + "] + " : "") + c_.expr(f.size);
        break;
    }
    const std::string body = text_.substr(begin) + result;
    for (const Parameter& p : parametersOf(made_, f.kind))
      if (!mentions(body, p.name)) line("(void)" + p.name + ";");
    line("return " + result + ";");
    text_ += "}\n";
  }

  void printRun() {
    for (const Parameter& p : made_.parameters) checkGiven(p);
    checkVariables("SVOD_MODEL_BAD_VARIABLE");
    for (const Parameter& p : made_.parameters) checkElements(p);
    lines(layoutCall(made_));
    printSteps();
    for (const Expectation& e : plan_.expectations) checkExpectation(e);
  }

  void printReset() {
    const bool readsWeights = std::ranges::any_of(plan_.states, [](const State& s) { return s.init.has_value(); });
    checkMemory("states", true);
    checkMemory("weights", made_.hasWeightsParameter() && readsWeights);
    for (const State& state : plan_.states) {
      if (plan_.buffers[state.buffer].bytes == 0) continue;
      const std::string bytes = std::to_string(plan_.buffers[state.buffer].bytes);
      const std::string from = state.init ? "((const unsigned char*)" + c_.weights() + ")[" +
                                                std::to_string(plan_.constants[*state.init].offset) + " + i]"
                                          : "0";
      line("for (size_t i = 0; i < " + bytes + "; ++i) (" + c_.pointer(state.buffer) + ")[i] = " + from + ";");
    }
  }

  /// Memory of the program's that every run needs.
  void checkGiven(const Parameter& p) {
    switch (p.kind) {
      case ParameterKind::Variable: break;
      case ParameterKind::Input:
      case ParameterKind::Output:
        if (needOf(plan_, made_, p) == Need::Always) line("if (" + p.name + " == 0) return SVOD_MODEL_BAD_MEMORY;");
        break;
      case ParameterKind::States:
      case ParameterKind::Weights: checkMemory(p.name, true); break;
      case ParameterKind::Arena: checkMemory(p.name, made_.arenaBytes() > 0); break;
      case ParameterKind::Threads:
        line("if (threads != 0 && threads->count > 1 && threads->run == 0) return SVOD_MODEL_BAD_MEMORY;");
        break;
    }
  }

  /// A tensor without elements at these sizes may be null.
  void checkElements(const Parameter& p) {
    if (needOf(plan_, made_, p) != Need::WithElements) return;
    const std::string count = c_.expr(*elementsOf(portOf(plan_, p), made_.ranges));
    line("if (" + p.name + " == 0 && " + count + " > 0) return SVOD_MODEL_BAD_MEMORY;");
  }

  void checkMemory(const std::string& name, bool isUsed) {
    if (isUsed) line("if (" + name + " == 0 || (uintptr_t)" + name + " % 64 != 0) return SVOD_MODEL_BAD_MEMORY;");
  }

  void checkVariables(const std::string& code) {
    for (const Parameter& p : made_.parameters) {
      if (p.kind != ParameterKind::Variable) continue;
      const Variable& v = plan_.variables[VariableId(p.id)];
      line("if (" + p.name + " < " + exprText(v.min, {}) + " || " + p.name + " > " + exprText(v.max, {}) + ") return " +
           code + ";");
    }
    for (const EqualExprs& equal : plan_.equalSizes)
      line("if (" + c_.expr(equal.a) + " != " + c_.expr(equal.b) + ") return " + code + ";");
  }

  void checkExpectation(const Expectation& e) {
    const uint64_t count = plan_.buffers[e.buffer].shape[1];
    if (count == 0) return;
    open("{");
    line("const int64_t* rows = (const int64_t*)(const void*)(" + c_.pointer(e.buffer) + ");");
    line("for (size_t i = 0; i < " + std::to_string(count) + "; ++i)");
    line("  if (rows[i] != rows[i + " + std::to_string(count) + "]) return SVOD_MODEL_BAD_VALUES;");
    close();
  }

  void printSteps() {
    std::vector<StepId> ends;  // of the loops that are open
    for (StepId id = 0; id < plan_.steps.size(); id++) {
      while (!ends.empty() && ends.back() == id) ends.pop_back(), close();
      const auto& action = plan_.steps[id].action;
      if (const auto* loop = std::get_if<Loop>(&action)) {
        openLoop(*loop);
        ends.push_back(id + 1 + loop->length);
      } else if (const auto* copy = std::get_if<Copy>(&action)) {
        line("memmove(" + c_.pointer(copy->dst) + ", " + c_.pointer(copy->src) + ", (size_t)" + c_.expr(copy->bytes) +
             ");");
      } else if (const auto* launch = std::get_if<Launch>(&action)) {
        printCases(*launch);
      }
    }
    while (!ends.empty()) ends.pop_back(), close();
  }

  void openLoop(const Loop& loop) {
    const ExprRange trips = *rangeOf(loop.trips, made_.ranges), bounds = made_.ranges[loop.variable];
    const std::string name = c_.variable(loop.variable);
    if (trips.max > 0 && (bounds.min > 0 || trips.max - 1 > bounds.max))
      line("if (" + c_.expr(loop.trips) + " > " + exprText(bounds.min > 0 ? 0 : bounds.max + 1, {}) +
           ") return SVOD_MODEL_BAD_VARIABLE;");
    open("for (int64_t " + name + " = 0; " + name + " < " + c_.expr(loop.trips) + "; ++" + name + ") {");
    if (loop.condition) line("if (*(" + c_.pointer(*loop.condition) + ") == 0) break;");
  }

  /// The first case that holds, or else the launch.
  void printCases(const Launch& launch) {
    if (launch.cases.empty()) return printLaunch(launch);
    std::string begin = "if (";
    for (const LaunchCase& one : launch.cases) {
      open(begin + c_.condition(one) + ") {");
      printLaunch(one.launch);
      depth_--;
      begin = "} else if (";
    }
    open("} else {");
    printLaunch(launch);
    close();
  }

  void printLaunch(const Launch& launch) {
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    const ExprRange range = tilesOf(plan_, made_, launch);
    if (range.max <= 0) return;
    open("{");
    std::string items;
    for (BufferId id : launch.buffers) items += (items.empty() ? "" : ", ") + c_.pointer(id);
    line("void* const buffers[] = {" + items + "};");
    std::vector<std::string> values;
    for (const Expr& value : launch.values) values.push_back(c_.expr(value));
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
    if (!values.empty()) line("const int64_t values[] = {" + list + "};");
    std::string tiles = exprText(kernel.tiles, values);
    if (range.min <= 0) {
      line("const int64_t tiles = " + tiles + ";");
      tiles = "tiles";
    }
    const std::string given = values.empty() ? "0" : "values", guard = range.min <= 0 ? "if (tiles > 0) " : "";
    if (isWorthSharing(plan_, made_, launch)) {
      sharesAny_ = true;
      line(guard + "svod_share(" + kernel.symbol + ", buffers, " + given + ", " + tiles + ", " + c_.scratch() +
           ", threads);");
    } else {
      line(guard + kernel.symbol + "(buffers, " + given + ", 0, " + tiles + ", " +
           (made_.scratchBytes > 0 ? c_.scratch() : "0") + ");");
    }
    close();
  }

  const Plan& plan_;
  const Interface& made_;
  const CNames c_;
  std::string text_;
  size_t depth_ = 0;
  bool sharesAny_ = false;
};

// Compilers would reorder accesses of several types to one memory.
constexpr const char* kKernelMacro =
    "/* Kernels use one memory for values of several types, one after the other, so none is made part of another. */\n"
    "#if defined(__GNUC__)\n#define SVOD_KERNEL static __attribute__((noinline))\n#else\n"
    "#define SVOD_KERNEL static\n#endif\n\n";

/// For programs that have no header: the functions by their plain names.
std::string plainNames(const Plan& plan, const Interface& made) {
  if (made.tag.empty()) return {};
  std::string text =
      "\n/* The same for programs that know the functions by their plain names, without the header. */\n";
  for (const PublicFunction& f : made.functions) text += "#undef " + f.name + "\n";
  for (const PublicFunction& f : made.functions) {
    std::string arguments;
    for (const Parameter& p : parametersOf(made, f.kind)) arguments += (arguments.empty() ? "" : ", ") + p.name;
    const std::string signature = signatureOf(plan, made, f);
    text += signature + ";\n" + signature + " {\n  return " + made.symbolOf(f) + "(" + arguments + ");\n}\n";
  }
  return text;
}

}  // namespace

std::string kernelMacro() { return kKernelMacro; }

std::string driverText(const Plan& plan, const Interface& made) { return DriverText(plan, made).text(); }

std::string fileText(const Plan& plan, const Interface& made, const EmbedParts& parts) {
  const std::string driver = driverText(plan, made);
  std::string kernels;
  for (KernelId id = 0; id < plan.kernels.size(); id++)
    if (driver.find(plan.kernels[id].symbol) != driver.npos) kernels += "SVOD_KERNEL\n" + parts.kernels[id] + "\n";
  std::string text = headerText(plan, made) + "\n#include <stddef.h>\n" + parts.head(kernels);
  if (!kernels.empty()) text += kKernelMacro;
  text += weightsText(made, parts.weights) + kernels;
  if (driver.find("SVOD_SCRATCH_BYTES") != driver.npos)
    text += "#define SVOD_SCRATCH_BYTES " + std::to_string(made.scratchBytes) + "\n\n";
  return text + driver + plainNames(plan, made);
}

}  // namespace svod
