#include "target/cuda/print_cuda.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "ir/gpu_op.h"
#include "target/c/c_dialect.h"
#include "target/cuda/lane_text.h"
#include "target/cuda/vector_access.h"
#include "target/cuda/warp_text.h"
#include "target/target.h"

namespace svod {

namespace {

std::string typeName(DType dtype) { return std::string(kC11.typeName(dtype)); }

/// Effects and what they need.
std::set<uint32_t> neededIn(const LinearKernel& kernel) {
  std::set<uint32_t> needed;
  for (UOp n : kernel.ops | std::views::reverse) {
    if (n.dtype() == DType::Void || n.op() == Op::Range) needed.insert(n.id());
    if (!needed.contains(n.id())) continue;
    for (UOp s : n.src()) needed.insert(s.id());
  }
  return needed;
}

/// Ops that have no statement of their own.
bool isWrittenWhereUsed(Op op) {
  switch (op) {
    case Op::Const:
    case Op::Index:
    case Op::Param:
    case Op::Buffer:
    case Op::Var:
    case Op::After:
    case Op::Prefetch:
    case Op::Stack:
    case Op::Lane:
    case Op::Ramp:
    case Op::Group:
    case Op::Sink: return true;
    default: return false;
  }
}

/// f16 is its bits, in memory and in registers.
std::optional<std::string> halfText(UOp n, const std::string& x) {
  const DType from = n.src(0).dtype(), to = n.dtype();
  if (n.op() == Op::Bitcast && (from == DType::F16 || to == DType::F16)) return x;
  if (n.op() == Op::Cast && to == DType::F16) return "svod_" + std::string(toText(from)) + "_f16(" + x + ")";
  if (n.op() == Op::Cast && from == DType::F16) return "svod_f16_" + std::string(toText(to)) + "(" + x + ")";
  return std::nullopt;
}

std::string bitcastText(UOp n, const std::string& x) {
  if (isInt(n.dtype()) && isInt(n.src(0).dtype())) return "(" + typeName(n.dtype()) + ")" + x;
  return "bits_" + std::string(toText(n.src(0).dtype())) + "_" + std::string(toText(n.dtype())) + "(" + x + ")";
}

Status missing(UOp n) {
  return fail(Diag::Verify, "op " + std::string(toText(n.op())) + " reached print; legalize must remove it",
              "add its text to lib/target/c/c_dialect.cpp or its decomposition to lib/lower/decompose.cpp");
}

class CudaPrinter {
 public:
  CudaPrinter(const LinearKernel& kernel, size_t arguments, int64_t threads)
      : kernel_(kernel), text_(kernel), needed_(neededIn(kernel)), threads_(threads), alignment_(arguments, 1) {}

  Result<CudaText> print() {
    printStorage();
    for (UOp n : kernel_.ops)
      if (needed_.contains(n.id()) && !isWrittenWhereUsed(n.op())) SVOD_CHECK(printOp(n));
    return CudaText{
        "SVOD_KERNEL(" + std::to_string(threads_) + ") " + kernel_.name + "(" + parameters() + ") {\n" + body_ + "}\n",
        alignment_};
  }

 private:
  void line(const std::string& text) { body_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n"; }
  void define(UOp n, int lane, const std::string& value) {
    const DType dtype = n.dtype() == DType::F16 ? DType::U16 : n.dtype();
    line("const " + typeName(dtype) + " " + text_.laneName(n, lane) + " = " + value + ";");
  }

  // -- arguments, memory of the workgroup, registers, variables
  std::string parameters() const {
    const bool mayOverlap = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
    std::vector<std::string> all;
    for (size_t slot = 0; slot < alignment_.size(); ++slot) {
      const KernelParam use = slot < kernel_.params.size() ? kernel_.params[slot] : KernelParam{};
      const std::string type = use.param ? typeName(use.param.dtype()) : "void";
      all.push_back((use.written ? "" : "const ") + type + (mayOverlap || !use.param ? "* p" : "* SVOD_RESTRICT p") +
                    std::to_string(slot));
    }
    for (size_t i = 0; i < kernel_.variables.size(); ++i) all.push_back("int64_t n" + std::to_string(i));
    std::string joined;
    for (const std::string& parameter : all) joined += (joined.empty() ? "" : ", ") + parameter;
    return joined;
  }
  void printStorage() {
    std::vector<UOp> locals;
    for (UOp n : kernel_.ops) {
      if (!needed_.contains(n.id())) continue;
      if (n.op() == Op::Var) printVariable(n);
      if (n.op() != Op::Buffer) continue;
      if (n.argAs<SlotArg>().space == Space::Local)
        locals.push_back(n);
      else
        line(typeName(n.dtype()) + " " + text_.name(n) + "[" + std::to_string(n.maxNumel()) + "];");
    }
    if (!locals.empty()) line("SVOD_SHARED(" + std::to_string(kernel_.scratchBytes) + ");");
    std::ranges::sort(locals, {}, [](UOp b) { return b.argAs<SlotArg>().slot; });
    int64_t offset = 0;
    for (UOp b : locals) {
      const std::string type = typeName(b.dtype()) + "*";
      line(type + " const " + text_.name(b) + " = (" + type + ")(svod_shared + " + std::to_string(offset) + ");");
      offset += (b.maxNumel() * byteSize(b.dtype()) + 63) / 64 * 64;
    }
  }
  void printVariable(UOp var) {
    const auto position = std::ranges::find(kernel_.variables, var) - kernel_.variables.begin();
    define(var, 0, "(" + typeName(var.dtype()) + ")n" + std::to_string(position));
  }

  // -- statements
  Status printOp(UOp n) {
    switch (n.op()) {
      case Op::Range: openLoop(n); return {};
      case Op::End: closeLoops(n); return {};
      case Op::Special:
        define(n, 0, "(" + typeName(n.dtype()) + ")svod_" + std::string(n.argAs<VarArg>().name) + "()");
        return {};
      case Op::Barrier: line("svod_barrier();"); return {};
      case Op::Load: printLoad(n); return {};
      case Op::Store: printStore(n); return {};
      case Op::Reduce: return printReduce(n);
      case Op::Dot: printDot(n); return {};
      case Op::Wmma: printCall(n, wmmaText(n, text_)); return {};
      case Op::Gpu: printGpu(n); return {};
      default: return printValue(n);
    }
  }

  void openLoop(UOp range) {
    const std::string i = text_.name(range);
    line("for (" + typeName(range.dtype()) + " " + i + " = 0; " + i + " < " + text_.ref(range.src(0), 0) + "; ++" + i +
         ") {");
    ++depth_;
  }
  void closeLoops(UOp end) {
    for (size_t i = 1; i < end.srcCount(); ++i) {
      --depth_;
      line("}");
    }
  }

  Status printValue(UOp n) {
    for (int lane = 0; lane < n.lanes(); ++lane) {
      const std::vector<std::string> operands = text_.operands(n, lane);
      std::optional<std::string> text = n.srcCount() == 1 ? halfText(n, operands[0]) : std::nullopt;
      if (!text) text = n.op() == Op::Bitcast ? bitcastText(n, operands[0]) : opText(kC11, n, operands);
      if (!text) return missing(n);
      define(n, lane, *text);
    }
    return {};
  }

  /// Halves are combined until one lane is left.
  Status printReduce(UOp reduce) {
    UOp x = reduce.src(0);
    std::vector<std::string> lanes;
    for (int lane = 0; lane < x.lanes(); ++lane) lanes.push_back(text_.ref(x, lane));
    for (size_t half = lanes.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) {
        const std::string both[2] = {lanes[i], lanes[i + half]};
        const std::optional<std::string> step = foldText(reduce, both);
        if (!step) return missing(reduce);
        const std::string name =
            half == 1 ? text_.name(reduce) : text_.name(reduce) + "_" + std::to_string(half) + "_" + std::to_string(i);
        line("const " + typeName(reduce.dtype()) + " " + name + " = " + *step + ";");
        lanes[i] = name;
      }
    text_.set(reduce, {lanes[0]});
    return {};
  }
  static std::optional<std::string> foldText(UOp reduce, std::span<const std::string> halves) {
    for (const OpText& row : kC11.ops)
      if (row.op == reduce.argAs<ReduceArg>().op && (row.operands & operandKind(reduce.dtype())) != 0)
        return fillText(kC11, row.text, reduce.dtype(), halves);
    return std::nullopt;
  }

  // A sum per lane, of integers wrapping; the products of small numbers are exact.
  void printDot(UOp dot) {
    const int group = static_cast<int>(dot.argAs<SlotArg>().slot), lanes = dot.lanes() * group;
    const std::string type = typeName(dot.dtype()), sum = isFloat(dot.dtype()) ? type : "uint32_t";
    const auto factor = [&](UOp x, int lane, int j) { return text_.ref(x, x.lanes() == lanes ? lane * group + j : j); };
    for (int lane = 0; lane < dot.lanes(); ++lane) {
      std::string text = "(" + sum + ")" + text_.ref(dot.src(2), lane);
      for (int j = 0; j < group; ++j)
        text =
            "(" + text + " + (" + sum + ")(" + factor(dot.src(0), lane, j) + " * " + factor(dot.src(1), lane, j) + "))";
      define(dot, lane, "(" + type + ")" + text);
    }
  }

  /// A call that may have arguments to declare in front of it.
  void printCall(UOp n, const CallText& call) {
    for (const std::string& declaration : call.declarations) line(declaration);
    if (n.dtype() == DType::Void) return line(call.text + ";");
    if (n.rank() == 0) return define(n, 0, call.text);
    line("const " + vectorType(n) + " " + text_.name(n) + " = " + call.text + ";");
    std::vector<std::string> lanes;
    for (int lane = 0; lane < n.lanes(); ++lane) lanes.push_back(text_.name(n) + ".v[" + std::to_string(lane) + "]");
    text_.set(n, std::move(lanes));
  }
  void printGpu(UOp n) {
    for (UOp operand : operandsOf(n))
      if (UOp a = behindAliases(operand); a.op() == Op::Index && storageOf(a).op() == Op::Param) {
        int64_t& known = alignment_.at(storageOf(a).argAs<SlotArg>().slot);
        known = std::max(known, bytesCopied(gpuOpOf(n)));
      }
    printCall(n, gpuText(n, text_, threads_));
  }

  // -- memory
  void printLoad(UOp load) {
    const VectorAccess access(load.src(0), load.lanes(), text_);
    note(access);
    const std::string gate = load.srcCount() == 3 && load.src(2).rank() == 0 ? text_.ref(load.src(2), 0) : "";
    if (access.width() == 1 || (load.srcCount() == 3 && gate.empty())) return printLoadByLane(load, access);
    std::vector<std::string> lanes;
    for (int first = 0; first < load.lanes(); first += access.width()) {
      const std::string name = text_.name(load) + "_" + std::to_string(first);
      const std::string loaded = access.load(first);
      if (gate.empty()) {
        line("const " + access.type() + " " + name + " = " + loaded + ";");
      } else {
        std::string alternative;
        for (int i = 0; i < access.width(); ++i)
          alternative += (i == 0 ? "" : ", ") + text_.ref(load.src(1), first + i);
        line(access.type() + " " + name + " = {{" + alternative + "}};");
        line("if (" + gate + ") " + name + " = " + loaded + ";");
      }
      for (int i = 0; i < access.width(); ++i) lanes.push_back(name + ".v[" + std::to_string(i) + "]");
    }
    text_.set(load, std::move(lanes));
  }
  void printLoadByLane(UOp load, const VectorAccess& access) {
    for (int lane = 0; lane < load.lanes(); ++lane) {
      std::string text = access.loadLane(lane);
      if (load.srcCount() == 3)
        text = text_.ref(load.src(2), lane) + " ? " + text + " : " + text_.ref(load.src(1), lane);
      define(load, lane, text);
    }
  }
  void printStore(UOp store) {
    const int lanes = std::max(store.src(0).lanes(), store.src(1).lanes());
    const VectorAccess access(store.src(0), lanes, text_);
    note(access);
    const bool isByLane = access.width() == 1 || (store.srcCount() == 3 && store.src(2).rank() > 0);
    for (int first = 0; first < lanes; first += isByLane ? 1 : access.width()) {
      const std::string gate = store.srcCount() == 3 ? "if (" + text_.ref(store.src(2), first) + ") " : "";
      if (isByLane) {
        line(gate + access.storeLane(first, text_.ref(store.src(1), first)) + ";");
        continue;
      }
      const std::string name = "s" + text_.name(store).substr(1) + "_" + std::to_string(first);
      std::string values;
      for (int i = 0; i < access.width(); ++i) values += (i == 0 ? "" : ", ") + text_.ref(store.src(1), first + i);
      line("const " + access.type() + " " + name + " = {{" + values + "}};");
      line(gate + access.store(first, name) + ";");
    }
  }
  void note(const VectorAccess& access) {
    if (access.slot() >= 0) {
      int64_t& known = alignment_.at(static_cast<size_t>(access.slot()));
      known = std::max(known, access.alignment());
    }
  }

  const LinearKernel& kernel_;
  LaneText text_;
  const std::set<uint32_t> needed_;  // ids
  const int64_t threads_;
  std::vector<int64_t> alignment_;
  std::string body_;
  int depth_ = 1;
};

}  // namespace

Result<CudaText> printCuda(const LinearKernel& kernel, size_t arguments, int64_t threads) {
  SVOD_CHECK(checkEmittable(kernel, true, true));
  return CudaPrinter(kernel, arguments, threads).print();
}

}  // namespace svod
