#include "driver/describe_kernel.h"

#include <algorithm>

#include "driver/estimate.h"
#include "driver/launched.h"
#include "target/to_expr.h"

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

/// Hardware indices are gidx0..2 of workgroups and lidx0..2 of their threads, x first; the others have one value.
Result<Grid> gridOf(const LinearKernel& linear, std::span<const UOp> launched, std::span<const std::string> values) {
  Grid grid;
  grid.sharedBytes = static_cast<uint64_t>(linear.scratchBytes);
  grid.images = {{0, 0, 0}};
  for (UOp op : linear.ops) {
    if (op.op() != Op::Special) continue;
    const std::string_view name = op.argAs<VarArg>().name;
    const auto axis = static_cast<size_t>(name.back() - '0');
    SVOD_TRY(Expr extent, toExpr(launchSize(op, launched), values));
    if (name.starts_with("gidx")) {
      grid.groups.at(axis) = std::move(extent);
      continue;
    }
    const std::optional<int64_t> threads = extent.constant();
    if (!threads)
      return fail(Diag::Unsupported, "the threads of a workgroup would be " + toText(extent, values),
                  "split the axis with opts, such as local(0,32)");
    grid.threads.at(axis) = static_cast<uint64_t>(*threads);
  }
  return grid;
}

}  // namespace

ElementType storedType(DType dtype) {
  return dtype == DType::Index ? ElementType::I64 : *elementTypeFromName(toText(dtype));
}

Result<KernelDesc> describeKernel(const LinearKernel& linear, UOp ast, std::string opts,
                                  std::span<const ConstantLayout> layouts, std::span<const UOp> launched,
                                  bool hasGrid) {
  KernelDesc k;
  k.symbol = k.name = linear.name;
  k.opts = std::move(opts);
  for (UOp v : linear.variables) k.values.emplace_back(v.argAs<VarArg>().name);
  if (hasGrid) {
    SVOD_TRY(k.grid, gridOf(linear, launched, k.values));
  } else {
    k.scratchBytes = static_cast<uint64_t>(linear.scratchBytes);
    if (linear.threadRange) {
      SVOD_TRY(k.tiles, toExpr(launchSize(linear.threadRange, launched), k.values));
    }
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
