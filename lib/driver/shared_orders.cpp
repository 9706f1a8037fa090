#include "driver/shared_orders.h"

#include <algorithm>

#include "opts/opt.h"

namespace svod {

namespace {

/// A kernel on the way to being compiled again, and the options with its opts.
struct Again {
  CompiledKernel* kernel;
  CompiledKernel copy;
  CompileOptions options;
};

Result<Again> again(CompiledKernel& kernel, const CompileOptions& options, std::span<const ConstantLayout> orders) {
  Again made{&kernel, copyOf(kernel, kernel.name), options};
  CompiledKernel& copy = made.copy;
  copy.ast = copy.graph->clone(kernel.ast), copy.unopted = {};
  copy.orders.assign(orders.begin(), orders.end());
  SVOD_TRY(std::vector<OptOp> opts, parseOpts(kernel.desc.opts));
  made.options.opts = {{kernel.name, std::move(opts)}};
  return made;
}

/// What was known of the kernel besides its code stays.
void take(Again& made) {
  CompiledKernel &from = *made.kernel, &to = made.copy;
  to.choice = std::move(from.choice), to.known = from.known;
  to.tuned = std::move(from.tuned), to.passed = std::move(from.passed);
  from = std::move(to);
}

/// Whether it leaves out the least sizes of what it tells apart.
bool isForLargerSizes(const CompiledKernel& kernel, const KernelCase& one) {
  const std::vector<UOp> nodes = toposort(kernel.ast);
  return std::ranges::all_of(one.sizes, [&](const SizeLimits& limits) {
    return std::ranges::any_of(nodes, [&](UOp n) {
      return n.op() == Op::Var && n.argAs<VarArg>().name == limits.size && n.argAs<VarArg>().min < limits.min;
    });
  });
}

}  // namespace

void chooseOrders(Compilation& c, size_t first) {
  for (size_t k = 0; k < c.cases.size(); ++k) {
    if (c.cases[k].size() != 1 || c.cases[k][0].kernel < first) continue;
    CompiledKernel& other = c.kernels[c.cases[k][0].kernel];
    if (other.orders.empty() || !isForLargerSizes(c.kernels[k], c.cases[k][0])) continue;
    other.givesOrder = true;
    other.orders.clear();
  }
}

Status shareOrders(std::span<const SharedKernels> all, const CompileOptions& options) {
  std::vector<Again> made;
  for (const SharedKernels& shared : all)
    for (const CompiledKernel& other : shared.kernels) {
      if (!other.givesOrder || other.name.empty()) continue;
      CompiledKernel& kernel = shared.kernels[*other.standsFor];
      if (kernel.layouts == other.layouts) continue;
      SVOD_TRY(Again one, again(kernel, *shared.options[*other.standsFor], other.layouts));
      made.push_back(std::move(one));
    }
  std::vector<KernelTask> tasks;
  for (Again& one : made) tasks.push_back({&one.copy, &one.options});
  SVOD_CHECK(compileKernels(tasks, options));
  for (Again& one : made)
    if (one.copy.layouts == one.copy.orders) take(one);
  return {};
}

}  // namespace svod
