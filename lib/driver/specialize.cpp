#include "driver/specialize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cost/parameters.h"
#include "ir/graph.h"
#include "schedule/add_kernel.h"
#include "schedule/name.h"
#include "support/integers.h"
#include "support/suggest.h"

namespace svod {

namespace {

constexpr size_t kMostCases = 64;  // of a kernel

using Sizes = std::vector<SizeLimits>;

/// An error where the variable never has this size.
Status checkSizes(const Model& model, const std::string& name, Interval sizes) {
  std::vector<std::string_view> names;
  for (UOp variable : model.variables) {
    const auto& known = variable.argAs<VarArg>();
    names.push_back(known.name);
    if (known.name != name) continue;
    if (known.min <= sizes.min && sizes.max <= known.max) return {};
    const std::string text = std::to_string(sizes.min) + (sizes.isConst() ? "" : ":" + std::to_string(sizes.max));
    return fail(Diag::Usage,
                "--specialize " + name + "=" + text + ": '" + name + "' is " + std::to_string(known.min) + " to " +
                    std::to_string(known.max),
                "give sizes in these bounds, or other bounds with --var");
  }
  return fail(Diag::Usage, "there is no variable '" + name + "' for --specialize",
              didYouMean(name, names, "svodc inspect GRAPH shows them"));
}

std::map<std::string_view, UOp> variablesOf(UOp root) {
  std::map<std::string_view, UOp> variables;
  for (UOp node : toposort(root))
    if (node.op() == Op::Var) variables.emplace(node.argAs<VarArg>().name, node);
  return variables;
}

/// All combinations of sizes, of which every variable may have none, those with the most sizes first.
std::vector<Sizes> combinationsOf(std::span<const Specialization> wanted) {
  std::vector<Sizes> all = {{}};
  for (const Specialization& one : wanted) {
    const size_t count = all.size();
    for (const Interval& sizes : one.sizes)
      for (size_t i = 0; i < count; ++i)
        all.emplace_back(all[i]).emplace_back(one.variable, sizes.min, sizes.max, usualSize(sizes));
  }
  std::ranges::stable_sort(all, std::greater<>(), [](const Sizes& sizes) { return sizes.size(); });
  all.pop_back();  // without a size
  return all;
}

class Specializer {
 public:
  Specializer(Compilation& compilation, std::vector<size_t>& targetOf) : c_(compilation), targetOf_(targetOf) {
    for (const CompiledKernel& kernel : c_.kernels) names_.insert(kernel.name);
  }

  /// A kernel that takes the place of another within these sizes. Nothing where a store never happens there: the kernel
  /// of all sizes does as little.
  std::optional<size_t> add(size_t of, const Sizes& sizes) {
    const CompiledKernel& own = c_.kernels[of];
    const UOp sized = withSizes(own, sizes);
    if (std::ranges::any_of(sized.src(), isIdle)) return std::nullopt;
    CompiledKernel kernel;
    kernel.inPlace = own.inPlace, kernel.constants = own.constants;
    kernel.graph = std::make_unique<Graph>();
    kernel.ast = kernel.graph->clone(sized);
    kernel.standsFor = of, kernel.orders = own.layouts;
    const auto key = std::tuple(kernel.ast.hash(), kernel.inPlace, kernel.constants, targetOf_[of],
                                own.layouts.empty() ? std::nullopt : kernel.standsFor);
    const auto [known, isNew] = known_.try_emplace(key, c_.kernels.size());
    if (!isNew) return known->second;
    kernel.name = nameFor(kernel.ast, own.name);
    targetOf_.push_back(targetOf_[of]);
    c_.kernels.push_back(std::move(kernel));
    return known->second;
  }

 private:
  static UOp withSizes(const CompiledKernel& kernel, const Sizes& sizes) {
    const std::map<std::string_view, UOp> variables = variablesOf(kernel.ast);
    std::vector<UOp> from, to;
    for (const SizeLimits& own : sizes) {
      const UOp variable = variables.at(own.size);
      from.push_back(variable);
      to.push_back(own.min == own.max
                       ? kernel.graph->index(own.min)
                       : kernel.graph->variable(variable.argAs<VarArg>().name, {own.min, own.max}, own.likely));
    }
    return substitute(*kernel.graph, kernel.ast, from, to);
  }

  /// "matmul_r64x128_1f3c9a2b" has "matmul" of the label.
  std::string nameFor(UOp ast, std::string_view own) {
    std::string_view label = own;
    for (int part = 0; part < 2 && label.rfind('_') != label.npos; ++part) label = label.substr(0, label.rfind('_'));
    const std::string plain = kernelName(ast, label);
    std::string name = plain;
    for (int number = 2; !names_.insert(name).second; ++number) name = plain + "_" + std::to_string(number);
    return name;
  }

  Compilation& c_;
  std::vector<size_t>& targetOf_;
  std::set<std::string> names_;
  std::map<std::tuple<Hash128, std::vector<int>, std::vector<uint32_t>, size_t, std::optional<size_t>>, size_t> known_;
};

}  // namespace

Status specialize(const Model& model, Compilation& compilation, std::vector<size_t>& targetOf,
                  std::span<const Specialization> wanted) {
  for (const Specialization& one : wanted)
    for (const Interval& sizes : one.sizes) SVOD_CHECK(checkSizes(model, one.variable, sizes));
  if (wanted.empty()) return {};
  const size_t count = compilation.kernels.size();
  compilation.cases.resize(count);
  Specializer specializer(compilation, targetOf);
  for (size_t kernel = 0; kernel < count; ++kernel) {
    const std::map<std::string_view, UOp> variables = variablesOf(compilation.kernels[kernel].ast);
    std::vector<Specialization> own;
    for (const Specialization& one : wanted)
      if (variables.contains(one.variable)) own.push_back(one);
    size_t combinations = 1;
    for (const Specialization& one : own) combinations *= 1 + one.sizes.size();
    if (combinations > kMostCases + 1)
      return fail(Diag::Usage,
                  "--specialize would make " + std::to_string(combinations - 1) + " kernels of " +
                      compilation.kernels[kernel].name,
                  "at most " + std::to_string(kMostCases) + ": give fewer sizes");
    for (const Sizes& sizes : combinationsOf(own))
      if (const std::optional<size_t> made = specializer.add(kernel, sizes))
        compilation.cases[kernel].push_back({sizes, *made});
  }
  return {};
}

void specializeAsChosen(Compilation& compilation, std::vector<size_t>& targetOf) {
  struct Wanted {
    size_t kernel;
    const SizeCase* one;
  };
  std::vector<Wanted> all;
  const size_t count = compilation.schedule.kernels.size();
  for (size_t k = 0; k < count; ++k)
    if (compilation.cases.empty() || compilation.cases[k].empty())
      for (const SizeCase& one : compilation.kernels[k].choice.cases) all.push_back({k, &one});
  if (all.empty()) return;
  compilation.cases.resize(count);
  std::ranges::stable_sort(all, std::greater<>(), [](const Wanted& w) { return w.one->nanoseconds; });
  all.resize(std::min<size_t>(all.size(), ceilDiv(static_cast<int64_t>(count), parameters::kCaseKernels)));
  std::vector<std::pair<size_t, Sizes>> cases;
  for (const Wanted& w : all) cases.emplace_back(w.kernel, w.one->sizes);
  Specializer specializer(compilation, targetOf);
  for (const auto& [kernel, sizes] : cases)
    if (const std::optional<size_t> made = specializer.add(kernel, sizes))
      compilation.cases[kernel].push_back({sizes, *made});
}

}  // namespace svod
