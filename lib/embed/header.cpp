#include <algorithm>
#include <set>

#include "embed/c_parts.h"
#include "support/version.h"

namespace svod {

namespace {

std::string_view typeOf(ElementType type) {
  switch (type) {
    case ElementType::Bool: return "bool";
    case ElementType::I8: return "int8_t";
    case ElementType::I16: return "int16_t";
    case ElementType::I32: return "int32_t";
    case ElementType::I64: return "int64_t";
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16: return "uint16_t";
    case ElementType::U32: return "uint32_t";
    case ElementType::U64: return "uint64_t";
    case ElementType::F32: return "float";
    case ElementType::F64: return "double";
    default: return "uint8_t";
  }
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

/// What a comment may hold: no end of it, no end of line.
std::string inComment(std::string_view text) {
  std::string safe;
  for (char c : text) {
    const bool endsComment = !safe.empty() && ((safe.back() == '*' && c == '/') || (safe.back() == '/' && c == '*'));
    const bool isTrigraph = !safe.empty() && safe.back() == '?' && c == '?';
    if (endsComment || isTrigraph) safe += ' ';
    safe += c == '\\' || c == 127 || (c >= 0 && c < 32) ? '_' : c;
  }
  return safe;
}

std::string numberText(uint64_t number) { return std::to_string(number) + (number > INT32_MAX ? "LL" : ""); }

class HeaderText {
 public:
  HeaderText(const Plan& plan, const Interface& made)
      : plan_(plan), made_(made), names_(variableNames(plan)), macro_(upper(made.prefix)) {}

  std::string text() {
    std::string text = "/* " + inComment(plan_.name) + ", made by svodc " + std::string(kVersion) +
                       ": a function that runs the whole graph in the memory it is given.\n"
                       "   It calls no library of svod, allocates nothing and may run on any number of threads at "
                       "once, each with an arena "
                       "of\n   its own." +
                       processors() + " */\n";
    text += "#ifndef " + macro_ + "_MODEL_H\n#define " + macro_ + "_MODEL_H\n" +
            (made_.tag.empty() ? "" : "#define " + itself() + "\n") + "\n" + includes() + kTypes;
    text += variables() + memory() + ports() + functions();
    return text + "#ifdef __cplusplus\n}\n#endif\n#endif\n" + otherModel();
  }

 private:
  std::string itself() const { return macro_ + "_MODEL_" + upper(made_.tag); }

  /// What a file sees that includes headers of two models with one prefix.
  std::string otherModel() const {
    if (made_.tag.empty()) return {};
    return "#ifndef " + itself() + "\n#error \"another model has the prefix " + made_.prefix +
           ": give one of the two its own, svodc compile --prefix NAME\"\n#endif\n";
  }

  std::string processors() const {
    if (plan_.variants.empty()) return "";
    std::string text = "\n   It has code for " + plan_.target.cpu;
    for (const Variant& v : plan_.variants) text += (&v == &plan_.variants.back() ? " and " : ", ") + v.cpu;
    return text + ", and takes the best that the machine can run.";
  }

  static constexpr const char* kTypes =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "#ifndef SVOD_MODEL_TYPES\n#define SVOD_MODEL_TYPES\n"
      "/* What the functions return. */\n"
      "#define SVOD_MODEL_OK 0\n"
      "#define SVOD_MODEL_BAD_VARIABLE 1 /* a variable is outside its bounds, or sizes that must be equal are not */\n"
      "#define SVOD_MODEL_BAD_MEMORY 2   /* a pointer is null, or arena, states or weights are at no multiple of 64 "
      "bytes */\n"
      "#define SVOD_MODEL_BAD_VALUES 3   /* values of this run contradict the shapes it was compiled for */\n"
      "#define SVOD_MODEL_BAD_PROCESSOR 4 /* there is no code for this machine */\n"
      "/* Threads of the program. `run` calls body(task, begin, end, thread) for ranges that together are [0, tiles), "
      "and\n"
      "   returns when all calls have. `thread` is from 0 to count - 1; calls at the same time have different ones. "
      "How\n"
      "   the tiles are cut, and in which order they run, never changes a result. */\n"
      "typedef struct svod_model_threads {\n  void* user;\n  int32_t count;\n"
      "  void (*run)(void* user, int64_t tiles, void (*body)(void* task, int64_t begin, int64_t end, int32_t thread),\n"
      "              void* task);\n} svod_model_threads;\n#endif\n\n";

  std::string includes() const {
    const auto isBool = [&](const Port& p) { return plan_.buffers[p.buffer].dtype == ElementType::Bool; };
    const bool bools = std::ranges::any_of(plan_.inputs, isBool) || std::ranges::any_of(plan_.outputs, isBool);
    return std::string(bools ? "#include <stdbool.h>\n" : "") + "#include <stdint.h>\n\n";
  }

  void define(std::string& text, const std::string& name, const std::string& value) {
    std::string macro = macro_ + "_" + upper(name);
    while (!macros_.insert(macro).second) macro += "_";
    text += "#define " + macro + " " + value + "\n";
  }

  std::string variables() {
    std::string text;
    for (const Parameter& p : made_.parameters) {
      if (p.kind != ParameterKind::Variable) continue;
      const Variable& v = plan_.variables[VariableId(p.id)];
      text += "/* " + inComment(v.name) + ", from " + std::to_string(v.min) + " to " + std::to_string(v.max) + " */\n";
      define(text, p.name + "_MIN", std::to_string(v.min));
      define(text, p.name + "_MAX", std::to_string(v.max));
    }
    return text + (text.empty() ? "" : "\n");
  }

  std::string memory() {
    std::string text = "/* Bytes of the arena, at a multiple of 64 in memory; its contents mean nothing between runs." +
                       std::string(made_.units.empty() ? ""
                                                       : " These are for\n   the greatest sizes; " + made_.prefix +
                                                             "_arena_bytes tells what others need.") +
                       " */\n";
    define(text, "ARENA_BYTES", numberText(made_.declaredArenaBytes()));
    text += "/* Bytes more for each thread besides the first. */\n";
    define(text, "THREAD_BYTES", numberText(made_.scratchBytes));
    if (made_.stateBytes > 0) {
      text +=
          "/* Bytes of the states, at a multiple of 64 in memory, and where each begins. They keep their values from\n"
          "   run to run. */\n";
      define(text, "STATES_BYTES", numberText(made_.stateBytes));
      for (const State& state : plan_.states) {
        text += "/* " + inComment(state.name) + ": " + typeText(plan_.buffers[state.buffer]) + " */\n";
        define(text, "STATE_" + identifier(state.name) + "_OFFSET", numberText(made_.buffers[state.buffer].offset));
      }
    }
    if (made_.hasWeightsParameter()) {
      text += "/* Bytes of the weights, weights.bin of the plan, at a multiple of 64 in memory. */\n";
      define(text, "WEIGHTS_BYTES", numberText(made_.weightBytes));
    }
    return text + "\n";
  }

  std::string typeText(const BufferDesc& buffer) const {
    std::string dims;
    for (uint64_t dim : buffer.shape) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
    return std::string(nameOf(buffer.dtype)) + "[" + dims + "]";
  }

  std::string ports() {
    std::string text;
    for (const Parameter& p : made_.parameters) {
      if (p.kind != ParameterKind::Input && p.kind != ParameterKind::Output) continue;
      const bool isInput = p.kind == ParameterKind::Input;
      const Port& port = portOf(plan_, p);
      const BufferDesc& buffer = plan_.buffers[port.buffer];
      std::string dims, most;
      for (const Expr& dim : port.shape) dims += (dims.empty() ? "" : ", ") + toText(dim, names_);
      for (uint64_t dim : buffer.shape) most += (most.empty() ? "" : ", ") + numberText(dim);
      text += std::string("/* ") + (isInput ? "input " : "output ") + inComment(port.name) + ": " +
              std::string(nameOf(buffer.dtype)) + "[" + inComment(dims) + "]" + noteOf(buffer.dtype) + " */\n";
      const uint64_t bytes = *tensorBytes(buffer.dtype, buffer.shape);
      uint64_t elements = 1;
      for (uint64_t dim : buffer.shape) elements *= dim;
      const std::string note = dims == most ? "" : " /* of the greatest sizes */";
      define(text, p.name + "_BYTES", numberText(bytes) + note);
      define(text, p.name + "_ELEMENTS", numberText(elements) + note);
      define(text, p.name + "_RANK", std::to_string(port.shape.size()));
      for (size_t axis = 0; axis < buffer.shape.size(); axis++)
        define(text, p.name + "_DIM" + std::to_string(axis), numberText(buffer.shape[axis]));
    }
    return text + (text.empty() ? "" : "\n");
  }

  static std::string noteOf(ElementType type) {
    if (isPacked(type)) return ", " + std::to_string(8 / info(type).bits) + " in a byte, the first one lowest";
    return isFloat(type) && byteSize(type) < 4 ? ", as bits" : "";
  }

  std::string functions() const {
    std::string text;
    if (!made_.tag.empty()) {
      text +=
          "/* What the functions are called in objects, so that no model is taken for another one with this prefix. "
          "*/\n";
      for (const PublicFunction& f : made_.functions) text += "#define " + f.name + " " + made_.symbolOf(f) + "\n";
      text += "\n";
    }
    for (const PublicFunction& f : made_.functions) text += commentOf(f) + signatureOf(plan_, made_, f) + ";\n\n";
    return text;
  }

  std::string commentOf(const PublicFunction& f) const {
    const bool varies =
        std::ranges::any_of(made_.parameters, [](const Parameter& p) { return p.kind == ParameterKind::Variable; });
    switch (f.kind) {
      case FunctionKind::Reset:
        return "/* Gives the states their first values: to be called before the first run. */\n";
      case FunctionKind::Size:
        return "/* " + f.what + (varies ? " for these sizes; -1 where one is outside its bounds. */\n" : ". */\n");
      case FunctionKind::Run: break;
    }
    return std::string("/* Runs the graph. Inputs and outputs are dense") +
           (varies ? ", of the sizes that the variables give" : "") +
           ";\n   an output overlaps nothing else. `threads` may be null. */\n";
  }

  const Plan& plan_;
  const Interface& made_;
  const std::vector<std::string> names_;
  const std::string macro_;
  std::set<std::string> macros_;
};

std::string declaration(const Plan& plan, const Parameter& p) {
  switch (p.kind) {
    case ParameterKind::Variable: return "int64_t " + p.name;
    case ParameterKind::Input:
      return "const " + std::string(typeOf(plan.buffers[plan.inputs[p.id].buffer].dtype)) + "* " + p.name;
    case ParameterKind::Output:
      return std::string(typeOf(plan.buffers[plan.outputs[p.id].buffer].dtype)) + "* " + p.name;
    case ParameterKind::Weights: return "const void* " + p.name;
    case ParameterKind::Threads: return "const svod_model_threads* " + p.name;
    case ParameterKind::States:
    case ParameterKind::Arena: break;
  }
  return "void* " + p.name;
}

}  // namespace

std::string signatureOf(const Plan& plan, const Interface& made, const PublicFunction& function) {
  constexpr size_t kWidth = 120;
  const std::string head = (function.kind == FunctionKind::Size ? "int64_t " : "int32_t ") + function.name + "(";
  const std::vector<Parameter> parameters = parametersOf(made, function.kind);
  if (parameters.empty()) return head + "void)";
  std::string text = head;
  size_t column = head.size();
  for (const Parameter& p : parameters) {
    const std::string next = declaration(plan, p) + (&p == &parameters.back() ? ")" : ",");
    if (column + 1 + next.size() > kWidth) {
      text += "\n" + std::string(head.size(), ' ');
      column = head.size();
    } else if (column > head.size()) {
      text += " ", column++;
    }
    text += next, column += next.size();
  }
  return text;
}

std::string headerText(const Plan& plan, const Interface& made) { return HeaderText(plan, made).text(); }

}  // namespace svod
