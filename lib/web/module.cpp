// The text of the module: tables of the plan, its steps, what all modules have, and the kernels.
#include <algorithm>

#include "embed/fold_expr.h"
#include "plan/wgsl_arguments.h"
#include "support/expectation.h"
#include "support/version.h"
#include "web/check.h"
#include "web/parts.h"
#include "web/steps.h"

namespace svod::web {

namespace {

/// Whether an expression is times * variable + constant for any values of the others.
bool isLineIn(const Expr& expr, VariableId variable) {
  struct Part {
    bool isLine = true, has = false;
  };
  const auto leaf = [&](const ExprNode& node) {
    return Part{true, node.op == ExprOp::Var && static_cast<uint32_t>(node.value) == variable};
  };
  const auto combine = [](ExprOp op, Part a, Part b) {
    const bool has = a.has || b.has, isSum = op == ExprOp::Add || op == ExprOp::Sub;
    if (isSum) return Part{a.isLine && b.isLine, has};
    if (op == ExprOp::Mul) return Part{a.isLine && b.isLine && !(a.has && b.has), has};
    return Part{!has, has};
  };
  return foldExpr<Part>(expr, leaf, combine).isLine;
}

/// Template literals of JavaScript.
std::string literal(std::string_view text) {
  std::string out = "`";
  for (const char c : text) {
    if (c == '`' || c == '\\' || c == '$') out += '\\';
    out += c;
  }
  return out + "`";
}

/// "[1, 2]"
template <typename Items>
std::string list(const Items& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + std::to_string(item);
  return "[" + text + "]";
}

class ModuleText {
 public:
  ModuleText(const Plan& plan, const WebLayout& layout, const WebParts& parts, const WebOptions& options)
      : plan_(plan), layout_(layout), parts_(parts), options_(options), names_(plan), steps_(plan, layout, names_) {}

  std::string text() {
    const std::string steps = steps_.text();
    return std::string(kWebMark) + inComment(plan_.name) + ", by version " + std::string(kVersion) +
           ". The types of what it has are in " + options_.prefix + ".d.ts.\n\n" + memories() + tables() +
           "\n/** A run: what is copied and launched, in order. */\n" + steps + "\n" + std::string(runtimeText()) +
           "\n" + kernels();
  }

 private:
  /// The numbers of memories, by name.
  std::string memories() const {
    std::string text;
    for (size_t id = 0; id < layout_.memories.size(); id++)
      text += (id == 0 ? "const " : ", ") + layout_.memories[id].name + " = " + std::to_string(id);
    return text + ";\n\n";
  }

  std::string tables() {
    return "const plan = {\n  name: " + textOf(plan_.name) + ",\n  limits: " + limits() + ",\n" +
           rows("variables", names_.given(), [&](VariableId id) { return variable(plan_.variables[id]); }) +
           rows("inputs", plan_.inputs, [&](const Port& port) { return this->port(port); }) +
           rows("outputs", plan_.outputs, [&](const Port& port) { return this->port(port); }) +
           rows("states", plan_.states, [&](const State& state) { return this->state(state); }) +
           rows("memories", layout_.memories, memoryRow) +
           rows("arenas", layout_.arenas, [&](const RunArena& arena) { return this->arena(arena); }) +
           "  weights: " + weights() + ",\n" +
           rows("equalSizes", plan_.equalSizes, [&](const EqualExprs& equal) { return this->equal(equal); }) +
           rows("expectations", plan_.expectations, [&](const Expectation& e) { return this->expectation(e); }) +
           "};\n";
  }

  template <typename Items, typename Row>
  static std::string rows(const std::string& name, const Items& items, const Row& row) {
    std::string text;
    for (const auto& item : items) text += "    { " + row(item) + " },\n";
    return "  " + name + ": [" + (text.empty() ? "" : "\n" + text + "  ") + "],\n";
  }

  static std::string variable(const Variable& v) {
    return "name: " + textOf(v.name) + ", min: " + std::to_string(v.min) + ", max: " + std::to_string(v.max);
  }

  std::string port(const Port& port) const {
    const BufferDesc& buffer = plan_.buffers[port.buffer];
    std::string dims;
    for (const Expr& dim : port.shape) dims += (dims.empty() ? "" : ", ") + this->dim(dim);
    return "name: " + textOf(port.name) + ", dtype: " + textOf(nameOf(buffer.dtype)) + ", shape: [" + dims + "]";
  }

  std::string dim(const Expr& dim) const {
    if (const std::optional<int64_t> number = dim.constant()) return std::to_string(*number);
    std::vector<size_t> uses, lines;
    for (size_t i = 0; i < names_.given().size(); i++) {
      const VariableId id = names_.given()[i];
      const auto isIt = [&](const ExprNode& n) {
        return n.op == ExprOp::Var && static_cast<uint32_t>(n.value) == static_cast<uint32_t>(id);
      };
      if (std::ranges::none_of(dim.nodes(), isIt)) continue;
      uses.push_back(i);
      if (isLineIn(dim, id)) lines.push_back(i);
    }
    return "{ text: " + textOf(toText(dim, variableNames(plan_))) + ", of: " + names_.function(dim) +
           ", uses: " + list(uses) + ", lines: " + list(lines) + " }";
  }

  std::string state(const State& state) const {
    const BufferDesc& buffer = plan_.buffers[state.buffer];
    const WebPlace& at = layout_.buffers[state.buffer];
    return "name: " + textOf(state.name) + ", dtype: " + textOf(nameOf(buffer.dtype)) +
           ", shape: " + list(buffer.shape) + ", memory: " + layout_.memories[at.memory].name +
           ", place: " + std::to_string(at.offset) + ", bytes: " + std::to_string(buffer.bytes) +
           ", init: " + (state.init ? initOf(*state.init) : "null");
  }
  std::string initOf(ConstantId id) const {
    const Constant& constant = plan_.constants[id];
    for (const WeightPart& part : layout_.weights)
      if (constant.offset >= part.begin && constant.offset + constant.bytes <= part.end)
        return "[" + layout_.memories[part.memory].name + ", " + std::to_string(constant.offset - part.begin) + "]";
    return "null";
  }

  static std::string memoryRow(const Memory& memory) {
    return "name: " + textOf(memory.name) + (memory.bytes ? ", bytes: " + std::to_string(*memory.bytes) : "");
  }

  std::string arena(const RunArena& arena) const {
    std::string units;
    for (const RunPlace* buffer : arena.buffers)
      units += (units.empty() ? "[" : ", [") + std::to_string(buffer->begin) + ", " + std::to_string(buffer->end) +
               ", " + names_.expr(buffer->bytes) + "]";
    return "memory: " + layout_.memories[arena.memory].name + ", most: " + std::to_string(arena.most) + ", units: (" +
           names_.parameter() + ") => [" + units + "]";
  }

  std::string weights() const {
    std::string ranges;
    for (const WeightPart& part : layout_.weights)
      ranges += (ranges.empty() ? "[" : ", [") + layout_.memories[part.memory].name + ", " +
                std::to_string(part.begin) + ", " + std::to_string(part.end) + "]";
    const std::string bytes = options_.holdsWeights ? "base64: \"" + base64(parts_.weights) + "\""
                                                    : "file: " + textOf(options_.prefix + ".bin");
    return "{ bytes: " + std::to_string(totalBytes(parts_.weights)) + ", parts: [" + ranges +
           "], digest: " + textOf(options_.digest) + ", " + bytes + " }";
  }

  std::string equal(const EqualExprs& equal) const {
    return "a: " + names_.function(equal.a) + ", b: " + names_.function(equal.b) + ", text: " + textOf(equal.text);
  }

  std::string expectation(const Expectation& e) const {
    struct Kind {
      Diag diag;
      std::string_view says, help;
    };
    static constexpr Kind kKinds[] = {
#define EXPECTATION(name, text, diag, says, help) {Diag::diag, #says, help},
#include "support/expectations.def"
#undef EXPECTATION
    };
    const Kind& kind = kKinds[static_cast<size_t>(e.kind)];
    const WebPlace& at = layout_.buffers[e.buffer];
    return "memory: " + layout_.memories[at.memory].name + ", place: (arenas) => " + placeText(at) +
           ", count: " + std::to_string(plan_.buffers[e.buffer].shape[1]) + ", code: " + textOf(info(kind.diag).code) +
           ", says: " + textOf(kind.says) + ", text: " + textOf(e.text) + ", help: " + textOf(kind.help);
  }

  /// What the kernels need of an adapter, by the names of WebGPU.
  std::string limits() const {
    uint64_t threads[3] = {1, 1, 1}, all = 1, shared = 0, words = 1, buffers = 1;
    for (const PlacedKernel& placed : steps_.kernels()) {
      const KernelDesc& kernel = plan_.kernels[placed.kernel];
      const Grid& grid = *kernel.grid;
      for (size_t axis = 0; axis < 3; axis++) threads[axis] = std::max(threads[axis], grid.threads[axis]);
      all = std::max(all, grid.threads[0] * grid.threads[1] * grid.threads[2]);
      shared = std::max(shared, grid.sharedBytes);
      words = std::max<uint64_t>(words, 4 * launchWords(kernel.args.size(), kernel.values.size()));
      buffers = std::max<uint64_t>(buffers, placed.memories.size());
    }
    const std::pair<const char*, uint64_t> rows[] = {
        {"maxComputeInvocationsPerWorkgroup", all}, {"maxComputeWorkgroupSizeX", threads[0]},
        {"maxComputeWorkgroupSizeY", threads[1]},   {"maxComputeWorkgroupSizeZ", threads[2]},
        {"maxComputeWorkgroupStorageSize", shared}, {"maxStorageBuffersPerShaderStage", buffers},
        {"maxUniformBufferBindingSize", words}};
    std::string text;
    for (const auto& [name, need] : rows)
      text += (text.empty() ? "{ " : ", ") + std::string(name) + ": " + std::to_string(need);
    return text + " }";
  }

  std::string kernels() const {
    std::string text = "const kernels = [";
    for (const PlacedKernel& placed : steps_.kernels()) text += "\n" + kernel(placed);
    return text + "\n];\n";
  }

  std::string kernel(const PlacedKernel& placed) const {
    const KernelDesc& desc = plan_.kernels[placed.kernel];
    std::vector<WordUse> uses;
    std::vector<uint64_t> bytes;
    for (const KernelArg& arg : desc.args)
      uses.push_back(wordUse(arg.mode, byteSize(arg.dtype))), bytes.push_back(arg.bytes);
    std::string memories;
    for (const uint32_t memory : placed.memories)
      memories += (memories.empty() ? "" : ", ") + layout_.memories[memory].name;
    const std::string& code = parts_.kernels[placed.kernel];
    const std::string_view own = std::string_view(code).substr(code.find(kWgslKernel) + kWgslKernel.size());
    return "  {\n    name: " + textOf(desc.name) + ",\n    memories: [" + memories +
           "], places: " + list(placed.bindingOf) + ", bytes: " + list(bytes) +
           ", isFolded: " + (desc.grid->attributes.empty() ? "false" : "true") +
           ",\n    code: " + literal(wgslArguments(uses, desc.values.size(), placed.bindingOf) + std::string(own)) +
           ",\n  },";
  }

  const Plan& plan_;
  const WebLayout& layout_;
  const WebParts& parts_;
  const WebOptions& options_;
  const Names names_;
  StepsText steps_;
};

}  // namespace

uint64_t totalBytes(std::span<const std::span<const std::byte>> chunks) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> chunk : chunks) bytes += chunk.size();
  return bytes;
}

std::string base64(std::span<const std::span<const std::byte>> chunks) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0, count = 0;
  for (const std::span<const std::byte> chunk : chunks)
    for (const std::byte b : chunk) {
      bits = bits << 8 | std::to_integer<uint32_t>(b), count += 8;
      for (; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 63];
    }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string moduleText(const Plan& plan, const WebLayout& layout, const WebParts& parts, const WebOptions& options) {
  return ModuleText(plan, layout, parts, options).text();
}

}  // namespace svod::web

namespace svod {

Result<std::vector<WebFile>> webFiles(const Plan& plan, const WebParts& parts, const WebOptions& options) {
  const web::WebLayout layout = web::layoutOf(plan);
  SVOD_CHECK(web::checkPlan(plan, layout, parts.kernels));
  std::vector<WebFile> files = {{options.prefix + ".js", web::moduleText(plan, layout, parts, options)},
                                {options.prefix + ".d.ts", web::declarationText(plan, options)}};
  if (!options.holdsWeights && web::totalBytes(parts.weights) > 0) files.push_back({options.prefix + ".bin", {}, true});
  return files;
}

}  // namespace svod
