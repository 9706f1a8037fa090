#include "target/c/print_c.h"

#include <algorithm>

#include "target/c/c_dialect.h"
#include "target/c/op_text.h"
#include "target/c/value_text.h"

namespace svod {

namespace {

class KernelPrinter {
 public:
  explicit KernelPrinter(const LinearKernel& kernel) : kernel_(kernel), text_(kernel), needed_(neededIn(kernel)) {}

  Result<std::string> print() {
    printStorage();
    for (size_t i = 0; i < kernel_.ops.size(); ++i) {
      if (text_.groups().closesBefore[i]) flushGroup();
      if (needed_.contains(kernel_.ops[i].id())) SVOD_CHECK(printOp(kernel_.ops[i]));
    }
    flushGroup();
    const char* kSignature = "(void* const* buffers, const int64_t* values, int64_t tile_begin, int64_t tile_end,\n";
    std::string indent(kernel_.name.size() + 6, ' ');
    std::string head = "void " + kernel_.name + kSignature + indent + "void* scratch) {\n";
    return head + unusedText() + body_ + "}\n";
  }

 private:
  // Statements that keep unused arguments from being warned about.
  std::string unusedText() const {
    std::string text;
    for (const char* name : {"buffers[", "values[", "tile_begin", "tile_end", "scratch "}) {
      if (body_.find(name) != std::string::npos) continue;
      std::string_view argument(name);
      argument = argument.substr(0, argument.find_first_of("[ "));
      text += "  (void)" + std::string(argument) + ";\n";
    }
    return text;
  }

  void line(const std::string& text) { body_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n"; }

  // -- storage: pointers to arguments and scratch, arrays for registers, variables
  void printStorage() {
    std::vector<UOp> locals;
    for (UOp n : kernel_.ops) {
      if (!needed_.contains(n.id())) continue;
      if (n.op() == Op::Param) printParam(n);
      if (n.op() == Op::Var) printVariable(n);
      if (n.op() != Op::Buffer) continue;
      if (n.argAs<SlotArg>().space == Space::Local)
        locals.push_back(n);
      else
        printRegister(n);
    }
    std::ranges::sort(locals, {}, [](UOp b) { return b.argAs<SlotArg>().slot; });
    int64_t offset = 0;
    for (UOp b : locals) {
      std::string type = typeName(b.dtype()) + "*";
      line(type + " " + text_.local(b) + " = (" + type + ")((char*)scratch + " + std::to_string(offset) + ");");
      offset += (b.maxNumel() * byteSize(b.dtype()) + 63) / 64 * 64;
    }
  }
  /// A vector that is written lane by lane begins with a value: each lane is put into what it was.
  void printRegister(UOp buffer) {
    const std::string text = text_.storage(buffer, buffer.maxNumel());
    line(text + (text.ends_with("]") ? ";" : " = {0};"));
  }
  void printParam(UOp param) {
    uint32_t slot = param.argAs<SlotArg>().slot;
    bool written = slot >= kernel_.params.size() || kernel_.params[slot].written;
    std::string type = (written ? "" : "const ") + typeName(param.dtype()) + "*";
    const bool mayOverlap = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
    std::string quals = mayOverlap ? " " : " restrict ";
    line(type + quals + text_.local(param) + " = (" + type + ")buffers[" + std::to_string(slot) + "];");
  }
  void printVariable(UOp var) {
    auto position = std::ranges::find(kernel_.variables, var) - kernel_.variables.begin();
    std::string value = "values[" + std::to_string(position) + "]";
    line("const " + typeName(var.dtype()) + " " + text_.local(var) + " = (" + typeName(var.dtype()) + ")" + value +
         ";");
  }

  // -- statements
  Status printOp(UOp n) {
    if (printsNothing(n.op())) return {};
    switch (n.op()) {
      case Op::Range: openLoop(n); return {};
      case Op::End: closeLoops(n); return {};
      case Op::Stack: printStack(n); return {};
      case Op::Lane: printLane(n); return {};
      case Op::Reduce: return printReduce(n);
      case Op::Dot: printDot(n); return {};
      default: return printValue(n);
    }
  }

  void openLoop(UOp range) {
    bool tiled = range == kernel_.threadRange;
    std::string i = text_.local(range), type = typeName(range.dtype());
    std::string begin = tiled ? "tile_begin" : "0", end = tiled ? "tile_end" : text_.ref(range.src(0), -1);
    line("for (" + type + " " + i + " = " + begin + "; " + i + " < " + end + "; ++" + i + ") {");
    ++depth_;
  }
  void closeLoops(UOp end) {
    for (size_t i = 1; i < end.srcCount(); ++i) {
      --depth_;
      line("}");
    }
  }

  void printStack(UOp stack) {
    std::string items;
    for (const std::string& text : text_.operands(stack, -1)) items += (items.empty() ? "" : ", ") + text;
    line("const " + typeName(stack.dtype()) + " " + text_.local(stack) + "[" + std::to_string(stack.srcCount()) +
         "] = {" + items + "};");
  }
  void printLane(UOp lane) {
    std::string number = std::to_string(lane.argAs<SlotArg>().slot);
    UOp vector = behindAliases(lane.src(0));
    std::string text = vector.op() == Op::Ramp ? text_.rampText(vector, number)
                       : vector.rank() == 0    ? text_.ref(vector, -1)
                                               : text_.local(vector) + "[" + number + "]";
    line("const " + typeName(lane.dtype()) + " " + text_.local(lane) + " = " + text + ";");
  }

  // A sum per lane, of integers wrapping; the products of small numbers are exact.
  void printDot(UOp dot) {
    const std::string group = std::to_string(dot.argAs<SlotArg>().slot), type = typeName(dot.dtype());
    const bool isVector = dot.rank() > 0;
    const int lanes = dot.lanes() * static_cast<int>(dot.argAs<SlotArg>().slot);
    auto factor = [&](UOp x) {
      return text_.local(behindAliases(x)) + (x.lanes() == lanes ? "[l * " + group + " + j]" : "[j]");
    };
    line(type + " " + text_.local(dot) + (isVector ? "[" + std::to_string(dot.lanes()) + "];" : ";"));
    line("for (int l = 0; l < " + std::to_string(dot.lanes()) + "; ++l) {");
    const std::string sum = isFloat(dot.dtype()) ? type : "uint32_t";
    line("  " + sum + " sum = (" + sum + ")" + text_.ref(dot.src(2), ValueText::kNoGroup) + ";");
    const std::string product = factor(dot.src(0)) + " * " + factor(dot.src(1));
    line("  for (int j = 0; j < " + group + "; ++j) sum += (" + sum + ")(" + product + ");");
    line("  " + text_.local(dot) + (isVector ? "[l]" : "") + " = (" + type + ")sum;");
    line("}");
  }

  // Halves are combined until one lane is left.
  Status printReduce(UOp reduce) {
    UOp x = behindAliases(reduce.src(0));
    std::string type = typeName(x.dtype()), fold = text_.local(reduce) + "f", width = std::to_string(x.lanes());
    line(type + " " + fold + "[" + width + "];");
    line("for (int l = 0; l < " + width + "; ++l) " + fold + "[l] = " + text_.ref(x, ValueText::kNoGroup) + ";");
    std::string half[2] = {fold + "[l]", fold + "[l + h]"};
    std::optional<std::string> step = foldText(kC11, reduce, half);
    if (!step) return missingText(reduce);
    line("for (int h = " + std::to_string(x.lanes() / 2) + "; h > 0; h /= 2) {");
    line("  for (int l = 0; l < h; ++l) " + half[0] + " = " + *step + ";");
    line("}");
    line("const " + type + " " + text_.local(reduce) + " = " + fold + "[0];");
    return {};
  }
  Status printValue(UOp n) {
    int group = text_.groupOf(n);
    std::string text;
    if (n.op() == Op::Store) {
      text = text_.element(n.src(0), group) + " = " + text_.ref(n.src(1), group) + ";";
      if (n.srcCount() == 3) text = "if (" + text_.ref(n.src(2), group) + ") " + text;
    } else if (n.op() == Op::Load) {
      text = text_.element(n.src(0), group);
      if (n.srcCount() == 3) text = text_.ref(n.src(2), group) + " ? " + text + " : " + text_.ref(n.src(1), group);
      text = text_.define(n, text);
    } else if (n.op() == Op::Bitcast) {
      text = text_.define(n, bitcastText(kC11, n, text_.ref(n.src(0), group)));
    } else {
      std::optional<std::string> filled = opText(kC11, n, text_.operands(n, group));
      if (!filled) return missingText(n);
      text = text_.define(n, *filled);
    }
    if (group < 0) {
      line(text);
      return {};
    }
    width_ = n.op() == Op::Store ? std::max(n.src(0).lanes(), n.src(1).lanes()) : n.lanes();
    pending_ += std::string(2 * static_cast<size_t>(depth_ + 1), ' ') + text + "\n";
    if (text_.groups().escapes[n.id()]) {
      line(text_.storage(n, n.lanes()) + ";");
      copies_ +=
          std::string(2 * static_cast<size_t>(depth_ + 1), ' ') + text_.local(n) + "[l] = " + text_.local(n) + "s;\n";
    }
    return {};
  }
  void flushGroup() {
    if (pending_.empty()) return;
    line("SVOD_LANES");
    line("for (int l = 0; l < " + std::to_string(width_) + "; ++l) {");
    body_ += pending_ + copies_;
    line("}");
    pending_.clear();
    copies_.clear();
  }

  const LinearKernel& kernel_;
  const ValueText text_;
  const std::set<uint32_t> needed_;  // ids
  std::string body_, pending_, copies_;
  int depth_ = 1, width_ = 0;
};

}  // namespace

Result<std::string> printFunction(const LinearKernel& kernel) {
  SVOD_CHECK(checkEmittable(kernel));
  return KernelPrinter(kernel).print();
}

Result<std::string> printC(std::span<const LinearKernel> kernels) {
  std::vector<std::string> functions;
  for (const LinearKernel& kernel : kernels) {
    SVOD_TRY(functions.emplace_back(), printFunction(kernel));
  }
  return joinFunctions(functions);
}

}  // namespace svod
