#include "ir/gpu_op.h"
#include "target/c/c_dialect.h"
#include "target/c/op_text.h"
#include "target/grid/statements.h"

namespace svod {

namespace {

/// A sum that products of a warpgroup were waited for behind their loop.
bool isAwaitedSum(UOp x) {
  x = behindAliases(x);
  if (x.op() == Op::Lane) x = behindAliases(x.src(0));
  const UOp sums = x.op() == Op::Load ? x.src(0).src(0) : UOp();
  return sums && sums.op() == Op::After && sums.src(sums.srcCount() - 1).op() == Op::Gpu;
}

/// As an operand of a conversion.
std::string convertible(UOp x, const std::string& text) { return isAwaitedSum(x) ? "svod_sum(" + text + ")" : text; }

/// An instruction of lanes.
std::string instructionText(UOp n, std::span<const std::string> operands) {
  const GpuOpInfo& row = gpuOpOf(n);
  const bool converts = row.result == GpuResult::Half || row.result == GpuResult::Byte;
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i == 0 ? "" : ", ") + (converts ? convertible(n.src(i), operands[i]) : operands[i]);
  return "svod_" + std::string(row.name) + "(" + text + ")";
}

/// f16 is its bits, in memory and in registers.
std::optional<std::string> halfText(UOp n, const std::string& x) {
  const DType from = n.src(0).dtype(), to = n.dtype();
  if (n.op() == Op::Bitcast && (from == DType::F16 || to == DType::F16)) return x;
  if (n.op() == Op::Cast && to == DType::F16)
    return "svod_" + std::string(toText(from)) + "_f16(" + convertible(n.src(0), x) + ")";
  if (n.op() == Op::Cast && from == DType::F16) return "svod_f16_" + std::string(toText(to)) + "(" + x + ")";
  return std::nullopt;
}

}  // namespace

Status printValue(UOp n, KernelBody& body) {
  for (int lane = 0; lane < n.lanes(); ++lane) {
    const std::vector<std::string> operands = body.values().operands(n, lane);
    std::optional<std::string> text = n.srcCount() == 1 ? halfText(n, operands[0]) : std::nullopt;
    if (n.op() == Op::Gpu) text = instructionText(n, operands);
    if (!text)
      text = n.op() == Op::Bitcast ? bitcastText(body.dialect(), n, operands[0]) : opText(body.dialect(), n, operands);
    if (!text) return missingText(n);
    body.define(n, lane, *text);
  }
  return {};
}

Status printReduce(UOp reduce, KernelBody& body) {
  UOp x = reduce.src(0);
  std::vector<std::string> lanes;
  for (int lane = 0; lane < x.lanes(); ++lane) lanes.push_back(body.values().ref(x, lane));
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      const std::string both[2] = {lanes[i], lanes[i + half]};
      const std::optional<std::string> step = foldText(body.dialect(), reduce, both);
      if (!step) return missingText(reduce);
      const std::string name = half == 1
                                   ? body.values().name(reduce)
                                   : body.values().name(reduce) + "_" + std::to_string(half) + "_" + std::to_string(i);
      body.line("const " + body.typeName(reduce.dtype()) + " " + name + " = " + *step + ";");
      lanes[i] = name;
    }
  body.name(reduce, {lanes[0]});
  return {};
}

void printDot(UOp dot, KernelBody& body) {
  const int group = static_cast<int>(dot.argAs<SlotArg>().slot), lanes = dot.lanes() * group;
  const std::string type = body.typeName(dot.dtype());
  const std::string sum = isFloat(dot.dtype()) ? type : body.typeName(DType::U32);
  const auto factor = [&](UOp x, int lane, int j) {
    return body.values().ref(x, x.lanes() == lanes ? lane * group + j : j);
  };
  for (int lane = 0; lane < dot.lanes(); ++lane) {
    std::string text = "(" + sum + ")" + body.values().ref(dot.src(2), lane);
    for (int j = 0; j < group; ++j)
      text =
          "(" + text + " + (" + sum + ")(" + factor(dot.src(0), lane, j) + " * " + factor(dot.src(1), lane, j) + "))";
    body.define(dot, lane, "(" + type + ")" + text);
  }
}

}  // namespace svod
