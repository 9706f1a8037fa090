#include "target/cuda/print_cuda.h"

#include <algorithm>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/workgroup.h"
#include "target/c/op_text.h"
#include "target/c/value_text.h"
#include "target/cuda/kernel_body.h"
#include "target/cuda/statements.h"
#include "target/cuda/vector_access.h"
#include "target/cuda/warp_text.h"
#include "target/emittable.h"

namespace svod {

namespace {

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

class CudaPrinter {
 public:
  CudaPrinter(const LinearKernel& kernel, size_t arguments, int64_t threads)
      : kernel_(kernel), arguments_(arguments), threads_(threads), needed_(neededIn(kernel)), body_(kernel) {}

  Result<CudaText> print() {
    for (UOp n : kernel_.ops)
      if (isMap(n)) maps_.push_back(n);
    SVOD_CHECK(checkMaps());
    SVOD_CHECK(printStorage());
    for (UOp n : kernel_.ops)
      if (needed_.contains(n.id()) && !isWrittenWhereUsed(n.op())) SVOD_CHECK(printOp(n));
    const std::string head = "SVOD_KERNEL(" + std::to_string(threads_) + ") " + kernel_.name + "(" + parameters() + ")";
    return CudaText{head + " {\n" + body_.text() + "}\n", argumentAlignment(kernel_, needed_, arguments_), maps_};
  }

 private:
  // -- arguments, memory of the workgroup, registers, variables
  std::string parameters() const {
    const bool mayOverlap = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
    std::vector<std::string> all;
    for (size_t slot = 0; slot < arguments_; ++slot) {
      const KernelParam use = slot < kernel_.params.size() ? kernel_.params[slot] : KernelParam{};
      if (isMapped(slot)) {
        all.push_back("SVOD_MAP p" + std::to_string(slot));
        continue;
      }
      const std::string type = use.param ? typeName(use.param.dtype()) : "void";
      all.push_back((use.written ? "" : "const ") + type + (mayOverlap || !use.param ? "* p" : "* SVOD_RESTRICT p") +
                    std::to_string(slot));
    }
    for (size_t i = 0; i < kernel_.variables.size(); ++i) all.push_back("int64_t n" + std::to_string(i));
    std::string joined;
    for (const std::string& parameter : all) joined += (joined.empty() ? "" : ", ") + parameter;
    return joined;
  }
  bool isMapped(size_t slot) const {
    return std::ranges::any_of(maps_, [&](UOp map) { return storageOf(map.src(0)).argAs<SlotArg>().slot == slot; });
  }
  /// A map stands in place of an address, which nothing else can use then.
  Status checkMaps() const {
    for (UOp map : maps_)
      for (UOp n : kernel_.ops)
        if (n.op() == Op::Index && n != map.src(0) && storageOf(n) == storageOf(map.src(0)))
          return fail(Diag::Verify, "a parameter has a tensor map and is used without it");
    std::set<uint32_t> mapped;
    for (UOp map : maps_)
      if (!mapped.insert(storageOf(map.src(0)).id()).second)
        return fail(Diag::Verify, "a parameter has two tensor maps");
    return {};
  }
  static bool isMap(UOp n) { return n.op() == Op::Gpu && n.argAs<NameArg>().name == "tensor_map"; }
  /// Bytes that a buffer starts at a multiple of for the boxes that bulk copies put there; 0 without such.
  int64_t boxAlignment(UOp buffer) const {
    int64_t bytes = 0;
    for (UOp n : kernel_.ops)
      if (n.op() == Op::Gpu && gpuOpOf(n).does(Bulk) && gpuOpOf(n).does(Issues) && storageOf(n.src(0)) == buffer)
        bytes = std::max({bytes, kBoxAlignment, swizzlePeriod(bulkTensorOf(n.src(1)).swizzle)});
    return bytes;
  }
  Status printStorage() {
    std::vector<UOp> locals;
    for (UOp n : kernel_.ops) {
      if (!needed_.contains(n.id())) continue;
      if (n.op() == Op::Var) printVariable(n);
      if (n.op() != Op::Buffer) continue;
      if (n.argAs<SlotArg>().space == Space::Local)
        locals.push_back(n);
      else
        body_.line(typeName(n.dtype()) + " " + body_.values().name(n) + "[" + std::to_string(n.maxNumel()) + "];");
    }
    if (!locals.empty()) body_.line("SVOD_SHARED(" + std::to_string(kernel_.scratchBytes) + ");");
    for (const auto& [buffer, offset] : placesOf(std::move(locals))) {
      if (const int64_t bytes = boxAlignment(buffer); bytes > 0 && offset % bytes != 0)
        return fail(Diag::Verify, "a bulk copy goes to a buffer at byte " + std::to_string(offset),
                    "stages are as long as the period of their swizzle");
      const std::string type = typeName(buffer.dtype()) + "*";
      body_.line(type + " const " + body_.values().name(buffer) + " = (" + type + ")(svod_shared + " +
                 std::to_string(offset) + ");");
    }
    return {};
  }
  void printVariable(UOp var) {
    const auto position = std::ranges::find(kernel_.variables, var) - kernel_.variables.begin();
    body_.define(var, 0, "(" + typeName(var.dtype()) + ")n" + std::to_string(position));
  }

  // -- statements
  Status printOp(UOp n) {
    switch (n.op()) {
      case Op::Range: openLoop(n); return {};
      case Op::End: closeLoops(n); return {};
      case Op::Special: printIndex(n); return {};
      case Op::Barrier: body_.line("svod_barrier();"); return {};
      case Op::Load: printLoad(n, body_); return {};
      case Op::Store: printStore(n, body_); return {};
      case Op::Reduce: return printReduce(n, body_);
      case Op::Dot: printDot(n, body_); return {};
      case Op::Wmma: printCall(n, wmmaText(n, body_.values())); return {};
      case Op::Gpu:
        if (isMap(n)) return {};
        if (gpuOpOf(n).isOfLane()) return printValue(n, body_);
        printCall(n, gpuText(n, body_.values(), threads_));
        return {};
      default: return printValue(n, body_);
    }
  }

  /// What all lanes of a warp have in common is said to be so: whatever is computed from it takes one register for all.
  void printIndex(UOp special) {
    const std::string name(special.argAs<VarArg>().name), call = "svod_" + name + "()";
    const bool isOfWarp = isThreadIndex(special) && name != "lidx0" && lanesInRow() % kWarpLanes == 0;
    body_.define(special, 0, "(" + typeName(special.dtype()) + ")" + (isOfWarp ? "svod_uniform(" + call + ")" : call));
  }
  int64_t lanesInRow() const {
    for (UOp n : kernel_.ops)
      if (isThreadIndex(n) && n.argAs<VarArg>().name == "lidx0") return n.src(0).constInt();
    return 1;
  }

  void openLoop(UOp range) {
    // In rounds that threads start together the next copies are under way: more of them at once would only be long.
    if (const int64_t meetings = meetingsIn(range); meetings > 0)
      body_.line("SVOD_ROUNDS(" + std::to_string(meetings == 1 ? turnsOf(range) : 1) + ")");
    else if (hasClampIn(range))
      body_.line("SVOD_ROUNDS(1)");
    const std::string i = body_.values().name(range), end = body_.values().ref(range.src(0), 0);
    body_.open("for (" + typeName(range.dtype()) + " " + i + " = 0; " + i + " < " + end + "; ++" + i + ")");
  }
  int64_t meetingsIn(UOp range) const {
    return std::ranges::count_if(kernel_.ops, [&](UOp n) { return n.op() == Op::Barrier && n.dependsOn(range); });
  }
  /// Whether an integer in the loop is a maximum or a minimum. ptxas 13.0 and 13.2 write such loops out for sm_90 and
  /// get the constants of some of them wrong: of max(2 - 1, 0) they make a VIADDMNMX of 1 - 2 and 0.
  bool hasClampIn(UOp range) const {
    return std::ranges::any_of(kernel_.ops, [&](UOp n) { return isClamp(n) && n.dependsOn(range); });
  }
  static bool isClamp(UOp n) {
    if (!isInt(n.dtype())) return false;
    if (n.op() == Op::Max || n.op() == Op::Min) return true;
    if (n.op() != Op::Where || n.src(0).srcCount() != 2) return false;
    const UOp a = n.src(0).src(0), b = n.src(0).src(1);
    return (n.src(1) == a && n.src(2) == b) || (n.src(1) == b && n.src(2) == a);
  }
  /// Rounds after which a ring is back at its first stage: written out, they have constants where stages are.
  int64_t turnsOf(UOp range) const {
    int64_t turns = 1;
    for (UOp n : kernel_.ops) {
      if (n.srcCount() != 2 || n.src(0) != range || !n.src(1).isConst() || !isInt(n.dtype())) continue;
      const int64_t by = n.src(1).constInt();
      const bool isOfRing = n.op() == Op::And || n.op() == Op::Floormod || n.op() == Op::Cmod;
      if (isOfRing && by > kMostStages) return 1;
      if (isOfRing) turns = std::max(turns, n.op() == Op::And ? by + 1 : by);
    }
    return turns <= kMostStages ? turns : 1;
  }
  void closeLoops(UOp end) {
    for (size_t i = 1; i < end.srcCount(); ++i) body_.close();
  }

  /// A call that may have arguments to declare in front of it.
  void printCall(UOp n, const CallText& call) {
    for (const std::string& declaration : call.declarations) body_.line(declaration);
    if (n.dtype() == DType::Void) return body_.line(call.text + ";");
    if (n.rank() == 0) return body_.define(n, 0, call.text);
    body_.line("const " + vectorType(n) + " " + body_.values().name(n) + " = " + call.text + ";");
    std::vector<std::string> lanes;
    for (int lane = 0; lane < n.lanes(); ++lane)
      lanes.push_back(body_.values().name(n) + ".v[" + std::to_string(lane) + "]");
    body_.name(n, std::move(lanes));
  }

  const LinearKernel& kernel_;
  const size_t arguments_;
  const int64_t threads_;
  const std::set<uint32_t> needed_;  // ids
  std::vector<UOp> maps_;
  KernelBody body_;
};

}  // namespace

Result<CudaText> printCuda(const LinearKernel& kernel, size_t arguments, int64_t threads) {
  SVOD_CHECK(checkEmittable(kernel, true, true));
  return CudaPrinter(kernel, arguments, threads).print();
}

}  // namespace svod
