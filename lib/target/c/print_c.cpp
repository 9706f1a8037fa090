#include "target/c/print_c.h"

#include <algorithm>
#include <map>
#include <set>

#include "target/c/c_dialect.h"
#include "target/c/lane_groups.h"

namespace svod {

namespace {

std::string idText(const char* prefix, int64_t number) { return prefix + std::to_string(number); }

// Prints one kernel. Scalars are locals `vN`; a vector is a local inside its group's loop over `l`, and an array of the
// same name outside if somebody else needs it.
class KernelPrinter {
 public:
  explicit KernelPrinter(const LinearKernel& kernel) : kernel_(kernel), groups_(findLaneGroups(kernel)) {
    for (UOp n : kernel.ops) name_.emplace(n.id(), name_.size());
    markNeeded();
  }

  Result<std::string> print() {
    printStorage();
    for (size_t i = 0; i < kernel_.ops.size(); ++i) {
      if (groups_.closesBefore[i]) flushGroup();
      if (isNeeded(kernel_.ops[i])) SVOD_CHECK(printOp(kernel_.ops[i]));
    }
    flushGroup();
    const char* kSignature = "(void* const* buffers, const int64_t* values, int64_t tile_begin, int64_t tile_end,\n";
    std::string indent(kernel_.name.size() + 6, ' ');
    std::string head = "void " + kernel_.name + kSignature + indent + "void* scratch) {\n";
    return head + unusedText() + body_ + "}\n";
  }

 private:
  static std::string typeName(DType d) { return std::string(kC11.typeName(d)); }
  std::string local(UOp n) const { return idText("v", static_cast<int64_t>(name_.at(n.id()))); }

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

  // The end of the tiled range is not printed, so what only it needs would be an unused variable.
  void markNeeded() {
    for (auto n = kernel_.ops.rbegin(); n != kernel_.ops.rend(); ++n) {
      bool acts = n->dtype() == DType::Void || n->op() == Op::Range;
      if (acts) needed_.insert(n->id());
      if (!isNeeded(*n) || *n == kernel_.threadRange) continue;
      for (UOp s : n->src()) needed_.insert(s.id());
    }
  }
  bool isNeeded(UOp n) const { return needed_.contains(n.id()); }

  // -- storage: pointers to arguments and scratch, arrays for registers, variables
  void printStorage() {
    std::vector<UOp> locals;
    for (UOp n : kernel_.ops) {
      if (!isNeeded(n)) continue;
      if (n.op() == Op::Param) printParam(n);
      if (n.op() == Op::Var) printVariable(n);
      if (n.op() != Op::Buffer) continue;
      if (n.argAs<SlotArg>().space == Space::Local)
        locals.push_back(n);
      else
        line(typeName(n.dtype()) + " " + local(n) + "[" + std::to_string(n.maxNumel()) + "];");
    }
    std::ranges::sort(locals, {}, [](UOp b) { return b.argAs<SlotArg>().slot; });
    int64_t offset = 0;
    for (UOp b : locals) {
      std::string type = typeName(b.dtype()) + "*";
      line(type + " " + local(b) + " = (" + type + ")((char*)scratch + " + std::to_string(offset) + ");");
      offset += (b.maxNumel() * byteSize(b.dtype()) + 63) / 64 * 64;
    }
  }
  void printParam(UOp param) {
    uint32_t slot = param.argAs<SlotArg>().slot;
    bool written = slot >= kernel_.params.size() || kernel_.params[slot].written;
    std::string type = (written ? "" : "const ") + typeName(param.dtype()) + "*";
    const bool mayOverlap = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
    std::string quals = mayOverlap ? " " : " restrict ";
    line(type + quals + local(param) + " = (" + type + ")buffers[" + std::to_string(slot) + "];");
  }
  void printVariable(UOp var) {
    auto position = std::ranges::find(kernel_.variables, var) - kernel_.variables.begin();
    std::string value = "values[" + std::to_string(position) + "]";
    line("const " + typeName(var.dtype()) + " " + local(var) + " = (" + typeName(var.dtype()) + ")" + value + ";");
  }

  // -- operands
  /// An expression for `n` in a scalar statement, or for lane `l` inside the loop of `group`.
  std::string ref(UOp n, int group) const {
    n = behindAliases(n);
    if (n.isConst()) return literalText(n.constant());
    if (n.op() == Op::Ramp) return rampText(n, "l");
    if (n.rank() == 0) return local(n);
    return groupOf(n) == group ? laneName(n) : local(n) + "[l]";
  }
  // Inside its group; an array of the plain name exists as well if the value is needed elsewhere.
  std::string laneName(UOp n) const { return local(n) + (groups_.escapes[n.id()] ? "s" : ""); }
  std::string rampText(UOp ramp, const std::string& lane) const {
    return "(" + ref(ramp.src(0), -1) + " + " + lane + ")";
  }
  std::string element(UOp address, int group) const {
    UOp a = behindAliases(address);
    return local(storageOf(a)) + "[" + ref(a.src(1), group) + "]";
  }
  int groupOf(UOp n) const { return groups_.groupOf[n.id()]; }

  std::vector<std::string> operands(UOp n, int group) const {
    std::vector<std::string> texts;
    for (UOp s : n.src()) texts.push_back(s.op() == Op::Index ? "" : ref(s, group));
    return texts;
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
    std::string i = local(range), type = typeName(range.dtype());
    std::string begin = tiled ? "tile_begin" : "0", end = tiled ? "tile_end" : ref(range.src(0), -1);
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
    for (const std::string& text : operands(stack, -1)) items += (items.empty() ? "" : ", ") + text;
    line("const " + typeName(stack.dtype()) + " " + local(stack) + "[" + std::to_string(stack.srcCount()) + "] = {" +
         items + "};");
  }
  void printLane(UOp lane) {
    std::string number = std::to_string(lane.argAs<SlotArg>().slot);
    UOp vector = behindAliases(lane.src(0));
    std::string text = vector.op() == Op::Ramp ? rampText(vector, number)
                       : vector.rank() == 0    ? ref(vector, -1)
                                               : local(vector) + "[" + number + "]";
    line("const " + typeName(lane.dtype()) + " " + local(lane) + " = " + text + ";");
  }

  // A sum per lane, of integers wrapping; the products of small numbers are exact.
  void printDot(UOp dot) {
    const std::string group = std::to_string(dot.argAs<SlotArg>().slot), type = typeName(dot.dtype());
    const bool isVector = dot.rank() > 0;
    const int lanes = dot.lanes() * static_cast<int>(dot.argAs<SlotArg>().slot);
    auto factor = [&](UOp x) {
      return local(behindAliases(x)) + (x.lanes() == lanes ? "[l * " + group + " + j]" : "[j]");
    };
    line(type + " " + local(dot) + (isVector ? "[" + std::to_string(dot.lanes()) + "];" : ";"));
    line("for (int l = 0; l < " + std::to_string(dot.lanes()) + "; ++l) {");
    const std::string sum = isFloat(dot.dtype()) ? type : "uint32_t";
    line("  " + sum + " sum = (" + sum + ")" + ref(dot.src(2), kNoGroup) + ";");
    const std::string product = factor(dot.src(0)) + " * " + factor(dot.src(1));
    line("  for (int j = 0; j < " + group + "; ++j) sum += (" + sum + ")(" + product + ");");
    line("  " + local(dot) + (isVector ? "[l]" : "") + " = (" + type + ")sum;");
    line("}");
  }

  // Halves are combined until one lane is left.
  Status printReduce(UOp reduce) {
    UOp x = behindAliases(reduce.src(0));
    std::string type = typeName(x.dtype()), fold = local(reduce) + "f", width = std::to_string(x.lanes());
    line(type + " " + fold + "[" + width + "];");
    line("for (int l = 0; l < " + width + "; ++l) " + fold + "[l] = " + ref(x, kNoGroup) + ";");
    std::string half[2] = {fold + "[l]", fold + "[l + h]"};
    std::optional<std::string> step = foldText(reduce, half);
    if (!step) return missing(reduce);
    line("for (int h = " + std::to_string(x.lanes() / 2) + "; h > 0; h /= 2) {");
    line("  for (int l = 0; l < h; ++l) " + half[0] + " = " + *step + ";");
    line("}");
    line("const " + type + " " + local(reduce) + " = " + fold + "[0];");
    return {};
  }
  static constexpr int kNoGroup = 1 << 30;  // a lane loop outside every group
  std::optional<std::string> foldText(UOp reduce, std::span<const std::string> halves) const {
    for (const OpText& row : kC11.ops)
      if (row.op == reduce.argAs<ReduceArg>().op && (row.operands & operandKind(reduce.dtype())) != 0)
        return fillText(kC11, row.text, reduce.dtype(), halves);
    return std::nullopt;
  }

  Status printValue(UOp n) {
    int group = groupOf(n);
    std::string text;
    if (n.op() == Op::Store) {
      text = element(n.src(0), group) + " = " + ref(n.src(1), group) + ";";
      if (n.srcCount() == 3) text = "if (" + ref(n.src(2), group) + ") " + text;
    } else if (n.op() == Op::Load) {
      text = element(n.src(0), group);
      if (n.srcCount() == 3) text = ref(n.src(2), group) + " ? " + text + " : " + ref(n.src(1), group);
      text = define(n, text);
    } else if (n.op() == Op::Bitcast) {
      text = define(n, bitcastText(n, ref(n.src(0), group)));
    } else {
      std::optional<std::string> filled = opText(kC11, n, operands(n, group));
      if (!filled) return missing(n);
      text = define(n, *filled);
    }
    if (group < 0) {
      line(text);
      return {};
    }
    width_ = n.op() == Op::Store ? std::max(n.src(0).lanes(), n.src(1).lanes()) : n.lanes();
    pending_ += std::string(2 * static_cast<size_t>(depth_ + 1), ' ') + text + "\n";
    if (groups_.escapes[n.id()]) {
      line(typeName(n.dtype()) + " " + local(n) + "[" + std::to_string(n.lanes()) + "];");
      copies_ += std::string(2 * static_cast<size_t>(depth_ + 1), ' ') + local(n) + "[l] = " + local(n) + "s;\n";
    }
    return {};
  }
  std::string define(UOp n, const std::string& value) const {
    return "const " + typeName(n.dtype()) + " " + laneName(n) + " = " + value + ";";
  }
  static std::string bitcastText(UOp n, const std::string& x) {
    if (isInt(n.dtype()) && isInt(n.src(0).dtype())) return "(" + typeName(n.dtype()) + ")" + x;
    return "bits_" + std::string(toText(n.src(0).dtype())) + "_" + std::string(toText(n.dtype())) + "(" + x + ")";
  }
  Status missing(UOp n) const {
    return fail(Diag::Verify, "op " + std::string(toText(n.op())) + " reached print; legalize must remove it",
                "add its text to lib/target/c/c_dialect.cpp or its decomposition to lib/lower/decompose.cpp");
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
  const LaneGroups groups_;
  std::map<uint32_t, size_t> name_;  // by node id
  std::set<uint32_t> needed_;        // ids
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
