#include "target/grid/print_grid.h"

#include <algorithm>

#include "facts/axes.h"
#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/workgroup.h"
#include "target/c/op_text.h"
#include "target/emittable.h"
#include "target/grid/kernel_body.h"
#include "target/grid/rounds.h"
#include "target/grid/statements.h"
#include "target/grid/vector_access.h"
#include "target/grid/warp_text.h"

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

/// "$n" and the like in a text of a dialect.
std::string filled(std::string_view text, std::initializer_list<std::pair<char, int64_t>> numbers) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto* const row =
        text[i] == '$' ? std::ranges::find(numbers, text[i + 1], &std::pair<char, int64_t>::first) : numbers.end();
    if (row == numbers.end())
      out += text[i];
    else
      out += std::to_string(row->second), ++i;
  }
  return out;
}

int64_t threadsAlong(const LinearKernel& kernel, std::string_view index) {
  for (UOp n : kernel.ops)
    if (isThreadIndex(n) && n.argAs<VarArg>().name == index) return maxExtent(n);
  return 1;
}

class GridPrinter {
 public:
  GridPrinter(const GridDialect& dialect, const LinearKernel& kernel, size_t arguments, int64_t threads)
      : dialect_(dialect), kernel_(kernel), arguments_(arguments), threads_(threads), needed_(neededIn(kernel)),
        body_(dialect.ops, kernel) {}

  Result<GridText> print() {
    for (UOp n : kernel_.ops)
      if (isMap(n)) maps_.push_back(n);
    SVOD_CHECK(checkMaps());
    if (dialect_.hasOffsets) printAddresses();
    SVOD_CHECK(printStorage());
    for (UOp n : kernel_.ops)
      if (needed_.contains(n.id()) && !isWrittenWhereUsed(n.op())) SVOD_CHECK(printOp(n));
    const std::string head = filled(dialect_.head, {{'n', threads_},
                                                    {'x', threadsAlong(kernel_, "lidx0")},
                                                    {'y', threadsAlong(kernel_, "lidx1")},
                                                    {'z', threadsAlong(kernel_, "lidx2")}});
    return GridText{head + " " + kernel_.name + "(" + parameters() + ") {\n" + body_.text() + "}\n",
                    argumentAlignment(kernel_, needed_, arguments_), maps_};
  }

 private:
  // -- arguments, memory of the workgroup, registers, variables
  KernelParam useOf(size_t slot) const { return slot < kernel_.params.size() ? kernel_.params[slot] : KernelParam{}; }
  /// Of the pointer in a slot: "const float*", and what it promises.
  std::string pointerType(size_t slot) const {
    const KernelParam use = useOf(slot);
    const std::string type = use.param ? typeName(use.param.dtype()) : "void";
    return std::string(dialect_.inDevice) + (use.written ? "" : "const ") + type + "*";
  }
  std::string promiseOf(size_t slot) const {
    const bool mayOverlap = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
    return mayOverlap || !useOf(slot).param ? "" : " " + std::string(dialect_.restricted);
  }
  std::string parameters() const {
    std::vector<std::string> all;
    for (size_t slot = 0; slot < arguments_; ++slot) {
      const std::string number = std::to_string(slot);
      if (isMapped(slot)) {
        all.push_back("SVOD_MAP p" + number);
        continue;
      }
      all.push_back(pointerType(slot) + promiseOf(slot) + (dialect_.hasOffsets ? " m" : " p") + number);
      if (dialect_.hasOffsets) all.push_back(typeName(DType::U64) + " o" + number);
    }
    for (size_t i = 0; i < kernel_.variables.size(); ++i)
      all.push_back(typeName(DType::I64) + " n" + std::to_string(i));
    std::string joined;
    for (const std::string& parameter : all) joined += (joined.empty() ? "" : ", ") + parameter;
    return joined;
  }
  void printAddresses() {
    for (size_t slot = 0; slot < arguments_; ++slot) {
      const std::string number = std::to_string(slot), type = pointerType(slot);
      if (useOf(slot).param)
        body_.line(type + promiseOf(slot) + " const p" + number + " = SVOD_AT(" + type + ", m" + number + ", o" +
                   number + ");");
    }
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
    if (!locals.empty()) body_.line(filled(dialect_.shared, {{'n', kernel_.scratchBytes}}));
    for (const auto& [buffer, offset] : placesOf(std::move(locals))) {
      if (const int64_t bytes = boxAlignment(buffer); bytes > 0 && offset % bytes != 0)
        return fail(Diag::Verify, "a bulk copy goes to a buffer at byte " + std::to_string(offset),
                    "stages are as long as the period of their swizzle");
      const std::string type = std::string(dialect_.inShared) + typeName(buffer.dtype()) + "*";
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
      case Op::Wmma:
        if (!dialect_.hasWarps) return missingText(n);
        printCall(n, wmmaText(n, body_.values()));
        return {};
      case Op::Gpu:
        if (!dialect_.hasWarps) return missingText(n);
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
    const bool isOfWarp = dialect_.hasWarps && isThreadIndex(special) && name != "lidx0" &&
                          threadsAlong(kernel_, "lidx0") % kWarpLanes == 0;
    body_.define(special, 0, "(" + typeName(special.dtype()) + ")" + (isOfWarp ? "svod_uniform(" + call + ")" : call));
  }

  void openLoop(UOp range) {
    if (const int64_t rounds = roundsOf(kernel_, range); rounds > 0 && !dialect_.rounds.empty())
      body_.line(filled(dialect_.rounds, {{'n', rounds}}));
    const std::string i = body_.values().name(range), end = body_.values().ref(range.src(0), 0);
    body_.open("for (" + typeName(range.dtype()) + " " + i + " = 0; " + i + " < " + end + "; ++" + i + ")");
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

  std::string typeName(DType dtype) const { return std::string(dialect_.ops.typeName(dtype)); }

  const GridDialect& dialect_;
  const LinearKernel& kernel_;
  const size_t arguments_;
  const int64_t threads_;
  const std::set<uint32_t> needed_;  // ids
  std::vector<UOp> maps_;
  KernelBody body_;
};

}  // namespace

Result<GridText> printGrid(const GridDialect& dialect, const LinearKernel& kernel, size_t arguments, int64_t threads) {
  SVOD_CHECK(checkEmittable(kernel, true, true));
  return GridPrinter(dialect, kernel, arguments, threads).print();
}

void addAlignment(const GridText& printed, KernelDesc& kernel) {
  for (size_t slot = 0; slot < printed.alignment.size(); ++slot)
    if (printed.alignment[slot] > static_cast<int64_t>(byteSize(kernel.args[slot].dtype)))
      kernel.grid->attributes.push_back({"align." + std::to_string(slot), printed.alignment[slot]});
}

int64_t threadsOf(const LinearKernel& kernel) {
  int64_t threads = 1;
  for (UOp op : kernel.ops)
    if (isThreadIndex(op)) threads *= maxExtent(op);
  return threads;
}

}  // namespace svod
