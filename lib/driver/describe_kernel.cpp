#include "driver/describe_kernel.h"

#include <algorithm>

#include "driver/estimate.h"
#include "driver/to_expr.h"

namespace svod {

namespace {

KernelArg describe(UOp param, const KernelParam& use, std::span<const ConstantLayout> layouts) {
  auto layout = std::ranges::find(layouts, static_cast<uint32_t>(param.argAs<SlotArg>().slot), &ConstantLayout::slot);
  const int64_t elements = layout == layouts.end() ? param.src(0).bounds().max : layout->elements();
  KernelArg arg;
  arg.dtype = storedType(param.dtype());
  arg.mode = use.read && use.written ? Mode::ReadWrite : use.written ? Mode::Write : Mode::Read;
  arg.bytes = static_cast<uint64_t>(elements) * byteSize(arg.dtype);
  return arg;
}

}  // namespace

ElementType storedType(DType dtype) {
  return dtype == DType::Index ? ElementType::I64 : *elementTypeFromName(toText(dtype));
}

Result<KernelDesc> describeKernel(const LinearKernel& linear, UOp ast, std::string opts,
                                  std::span<const ConstantLayout> layouts) {
  KernelDesc k;
  k.symbol = k.name = linear.name;
  k.opts = std::move(opts);
  k.scratchBytes = static_cast<uint64_t>(linear.scratchBytes);
  for (UOp v : linear.variables) k.values.emplace_back(v.argAs<VarArg>().name);
  if (linear.threadRange) {
    SVOD_TRY(k.tiles, toExpr(linear.threadRange.src(0), k.values));
  }
  // The arguments are those of the scheduled kernel: code may use fewer, and see another storage dtype.
  std::vector<UOp> params;
  for (UOp n : toposort(ast)) {
    if (n.op() != Op::Param) continue;
    params.resize(std::max<size_t>(params.size(), n.argAs<SlotArg>().slot + 1));
    params[n.argAs<SlotArg>().slot] = n;
  }
  for (size_t i = 0; i < params.size(); ++i)
    k.args.push_back(describe(params[i], i < linear.params.size() ? linear.params[i] : KernelParam{}, layouts));
  const Estimate cost = estimate(ast, k.values);
  k.flops = cost.flops, k.bytes = cost.bytes;
  return k;
}

}  // namespace svod
