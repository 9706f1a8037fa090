#include "target/webgpu/print_wgsl.h"

#include <algorithm>

#include "facts/axes.h"
#include "ir/workgroup.h"
#include "target/c/op_text.h"
#include "target/emittable.h"
#include "target/webgpu/access.h"
#include "target/webgpu/body.h"
#include "target/webgpu/functions.h"
#include "target/webgpu/op_text.h"

namespace svod::webgpu {

namespace {

constexpr int64_t kRegisterBytes = 8192;  // that the variables of a function may take

bool isWrittenWhereUsed(Op op) {
  switch (op) {
    case Op::Const:
    case Op::Index:
    case Op::Param:
    case Op::Buffer:
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

int64_t extentAlong(const LinearKernel& kernel, std::string_view index) {
  for (UOp n : kernel.ops)
    if (n.op() == Op::Special && n.argAs<VarArg>().name == index) return maxExtent(n);
  return 1;
}

class WgslPrinter {
 public:
  WgslPrinter(const LinearKernel& kernel, std::span<const WordUse> arguments)
      : kernel_(kernel), arguments_(arguments), needed_(neededIn(kernel)),
        isFolded_(extentAlong(kernel, "gidx0") > kMostGroups), body_(kernel) {}

  Result<WgslText> print() {
    SVOD_CHECK(checkWritable());
    if (isFolded_) printFold();
    SVOD_CHECK(printStorage());
    for (UOp n : kernel_.ops)
      if (needed_.contains(n.id()) && !isWrittenWhereUsed(n.op())) SVOD_CHECK(printOp(n));
    std::vector<uint32_t> memories(arguments_.size());
    for (uint32_t slot = 0; slot < memories.size(); ++slot) memories[slot] = slot;
    return WgslText{wgslArguments(arguments_, kernel_.variables.size(), memories) + module(), sharedBytes_, isFolded_};
  }

 private:
  /// What stands behind the arguments.
  std::string module() const {
    std::string accesses;
    for (size_t slot = 0; slot < kernel_.params.size(); ++slot)
      if (const UOp param = kernel_.params[slot].param) accesses += accessFunctions(body_.text(), slot, param.dtype());
    const auto threads = [&](const char* index) { return std::to_string(extentAlong(kernel_, index)); };
    return functionsFor(body_.text()) + accesses + shared_ + "\n@compute @workgroup_size(" + threads("lidx0") + ", " +
           threads("lidx1") + ", " + threads("lidx2") +
           ")\nfn main(@builtin(workgroup_id) svod_group: vec3u, @builtin(local_invocation_id) svod_thread: vec3u) "
           "{\n" +
           body_.text() + "}\n";
  }

  Status checkWritable() const {
    for (UOp n : kernel_.ops) {
      if (!needed_.contains(n.id())) continue;
      if (n.dtype() == DType::F32 && kernel_.numerics == Numerics::Strict)
        return fail(Diag::Unsupported,
                    "kernel '" + kernel_.name +
                        "' is strict, and WGSL promises neither subnormal f32 nor quotients that are rounded correctly",
                    "compile the graph with --numerics contract, or choose another target");
    }
    return {};
  }

  /// Functions of f64 rely on sums of products that are rounded once; those of f32 need no more than f64 has.
  bool keepsDoubles() const {
    return std::ranges::any_of(
        kernel_.ops, [](UOp n) { return n.dtype() == DType::F64 && (n.op() == Op::Param || n.op() == Op::Buffer); });
  }

  Status doubles(const std::string& what) const {
    return fail(Diag::Unsupported, "kernel '" + kernel_.name + "' " + what + ", which WGSL does not have",
                "make the graph's values f32, or choose another target");
  }

  /// Workgroups along x are counted in parts, which are further workgroups along z.
  void printFold() {
    const std::string z = wordText(kGroupsZ);
    body_.line("let svod_x = svod_group.x + " + std::to_string(kMostGroups) + "u * (svod_group.z / " + z + ");");
    body_.line("let svod_z = svod_group.z % " + z + ";");
    body_.line("if (svod_x >= " + wordText(kGroupsX) + ") { return; }");
  }

  Status printStorage() {
    int64_t registerBytes = 0;
    for (UOp n : kernel_.ops) {
      if (!needed_.contains(n.id()) || n.op() != Op::Buffer) continue;
      const bool isShared = n.argAs<SlotArg>().space == Space::Local;
      (isShared ? sharedBytes_ : registerBytes) += bytesHeld(n);
      if (isShared)
        shared_ += "var<workgroup> " + body_.values().name(n) + ": " + arrayType(n) + ";\n";
      else
        body_.line("var " + body_.values().name(n) + ": " + arrayType(n) + ";");
    }
    if (registerBytes <= kRegisterBytes) return {};
    return fail(Diag::Unsupported,
                "a thread of kernel '" + kernel_.name + "' would keep " + std::to_string(registerBytes) +
                    " bytes, and WGSL gives it " + std::to_string(kRegisterBytes),
                "--opts with smaller tiles needs less");
  }

  // -- statements
  Status printOp(UOp n) {
    switch (n.op()) {
      case Op::Range: openLoop(n); return {};
      case Op::End:
        for (size_t i = 1; i < n.srcCount(); ++i) body_.close();
        return {};
      case Op::Var: printVariable(n); return {};
      case Op::Special: printIndex(n); return {};
      case Op::Barrier:
        if (meetsInDevice()) body_.line("storageBarrier();");
        body_.line("workgroupBarrier();");
        return {};
      case Op::Load: printLoad(n, body_); return {};
      case Op::Store: printStore(n, body_); return {};
      case Op::Reduce: return printReduce(n, body_);
      case Op::Dot: printDot(n, body_); return {};
      default: return printValue(n);
    }
  }

  void openLoop(UOp range) {
    const std::string i = body_.values().name(range), end = body_.values().ref(range.src(0), 0);
    const std::string head = "for (var " + i + ": " + std::string(typeName(range.dtype())) + " = ";
    if (isPair(range.dtype()))
      body_.open(head + "vec2u(); svod_lt_i64(" + i + ", " + end + "); " + i + " = svod_add(" + i +
                 ", vec2u(1u, 0u)))");
    else
      body_.open(head + "0; " + i + " < " + end + "; " + i + " = " + i + " + 1)");
  }
  void printVariable(UOp var) {
    const auto position = static_cast<size_t>(std::ranges::find(kernel_.variables, var) - kernel_.variables.begin());
    const uint32_t word = wordOfValue(arguments_.size(), position);
    body_.define(var, 0,
                 castText(DType::I64, var.dtype(), "vec2u(" + wordText(word) + ", " + wordText(word + 1) + ")"));
  }
  void printIndex(UOp special) {
    const std::string name(special.argAs<VarArg>().name), axis(1, "xyz"[name.back() - '0']);
    const bool isThread = isThreadIndex(special);
    const bool isOfFold = !isThread && isFolded_ && axis != "y";
    const std::string at = isOfFold ? "svod_" + axis : (isThread ? "svod_thread." : "svod_group.") + axis;
    body_.define(special, 0, castText(DType::U32, special.dtype(), at));
  }
  /// Whether threads of a workgroup may write what others of them read in memory of the device.
  bool meetsInDevice() const {
    return std::ranges::any_of(kernel_.params, [](const KernelParam& p) { return p.inPlace || (p.read && p.written); });
  }

  Status printValue(UOp n) {
    for (int lane = 0; lane < n.lanes(); ++lane) {
      const std::vector<std::string> operands = body_.values().operands(n, lane);
      const DType operand = n.op() == Op::Where ? n.dtype() : n.src(0).dtype();
      std::optional<std::string> text;
      if (n.op() == Op::Cast)
        text = castText(operand, n.dtype(), operands[0]);
      else if (n.op() == Op::Bitcast)
        text = bitcastText(operand, n.dtype(), operands[0]);
      else
        text = opText(n.op(), n.dtype(), operand, operands);
      const bool isInexact = keepsDoubles() && n.op() == Op::Mulacc;
      if ((!text || isInexact) && operand == DType::F64)
        return doubles("computes " + std::string(toText(n.op())) + " of f64");
      if (!text) return missingText(n);
      body_.define(n, lane, *text);
    }
    return {};
  }

  const LinearKernel& kernel_;
  const std::span<const WordUse> arguments_;
  const std::set<uint32_t> needed_;  // ids
  const bool isFolded_;
  WgslBody body_;
  std::string shared_;
  int64_t sharedBytes_ = 0;
};

}  // namespace

Result<WgslText> printWgsl(const LinearKernel& kernel, std::span<const WordUse> arguments) {
  SVOD_CHECK(checkEmittable(kernel, false, true));
  return WgslPrinter(kernel, arguments).print();
}

std::vector<WordUse> wordUses(const LinearKernel& kernel) {
  std::vector<WordUse> uses;
  for (const KernelParam& p : kernel.params) {
    const Mode mode = p.written ? Mode::ReadWrite : Mode::Read;
    uses.push_back(p.param ? wordUse(mode, static_cast<uint64_t>(byteSize(p.param.dtype()))) : WordUse::Reads);
  }
  return uses;
}

}  // namespace svod::webgpu
