#include "driver/variants.h"

#include <algorithm>

#include "driver/compile.h"
#include "driver/join_code.h"
#include "driver/needed_features.h"
#include "plan/variants.h"

namespace svod {

namespace {

/// What a launch needs to know of a kernel, whatever its images are.
KernelDesc launchedAs(const KernelDesc& desc) {
  KernelDesc launched = desc;
  if (launched.grid) launched.grid->images.clear();
  return launched;
}

/// But for their names, which are the same. Kernels with a grid have an image for each architecture in any case.
bool isSame(const CompiledKernel& a, const CompiledKernel& b) {
  if (a.layouts != b.layouts) return false;
  if (a.desc.grid) return launchedAs(a.desc) == launchedAs(b.desc);
  return a.desc == b.desc && a.code == b.code && a.object == b.object;
}

bool isSame(const FunctionObject& a, const FunctionObject& b) { return a.file == b.file && a.object == b.object; }

/// "kernels-x86-64-v3.so"
std::string nameFor(const std::string& path, const std::string& cpu) {
  return std::string(path).insert(path.rfind('.'), "-" + cpu);
}

class Joiner {
 public:
  Joiner(Compilation& c, std::vector<PlannedKernel>& kernels) : c_(c), kernels_(kernels) {
    std::vector<KernelId>& own = ids_.emplace_back();
    for (size_t i = 0; i < kernels.size(); ++i) own.emplace_back(i);
  }

  Result<PlannedVariant> add(CompiledVariant& variant, const CompileOptions& options) {
    return options.target->hasGrid() ? addArch(variant, options) : addProcessor(variant, options);
  }

 private:
  Result<PlannedVariant> addProcessor(CompiledVariant& variant, const CompileOptions& options) {
    const auto& cpu = std::get<CpuTarget>(options.machine);
    PlannedVariant planned{cpu.name, neededFeatures(cpu, variant.kernels), ids_[0]};
    SVOD_TRY(const FileId file, link(variant, options));
    for (size_t k = 0; k < variant.kernels.size(); ++k) {
      variant.kernels[k].desc.file = file;
      addKernel(variant, k, cpu.name, planned);
    }
    for (size_t f = 0; f < c_.functions.size(); ++f) {
      const size_t at = c_.kernels.size() + f;
      if (variant.sameFunctions) {
        planned.kernels[at] = ids_[*variant.sameFunctions][at];
        continue;
      }
      KernelDesc& function = variant.functions.emplace_back(c_.functions[f]);
      function.file = file;
      function.name += "@" + cpu.name;
      planned.kernels[at] = KernelId(kernels_.size());
      kernels_.push_back({function, {}});
    }
    ids_.push_back(planned.kernels);
    return planned;
  }

  /// Every kernel has an image of its own; where a device is told the same of two, they are images of one kernel.
  Result<PlannedVariant> addArch(CompiledVariant& variant, const CompileOptions& options) {
    std::vector<CompiledKernel*> own;
    for (CompiledKernel& kernel : variant.kernels)
      if (!kernel.name.empty()) own.push_back(&kernel);
    const size_t first = c_.files.size();
    SVOD_CHECK(joinCode(c_, own, {}, options));
    const std::string& arch = std::get<GpuTarget>(options.machine).name;
    PlannedVariant planned{"", {}, ids_[0]};
    if (c_.files.size() > first) planned.cpu = variantName(options.target->deviceKind, c_.files[first].image.arch);
    for (size_t k = 0; k < variant.kernels.size(); ++k) {
      if (variant.same[k]) {
        CompiledKernel& same = *variant.same[k] == 0 ? c_.kernels[k] : c_.variants[*variant.same[k] - 1].kernels[k];
        same.desc.grid->images.push_back(variant.kernels[k].desc.grid->images[0]);
      }
      addKernel(variant, k, arch, planned);
    }
    ids_.push_back(planned.kernels);
    return planned;
  }

  void addKernel(CompiledVariant& variant, size_t k, const std::string& suffix, PlannedVariant& planned) {
    CompiledKernel& kernel = variant.kernels[k];
    if (variant.same[k]) {
      planned.kernels[k] = ids_[*variant.same[k]][k];
    } else if (!kernel.name.empty()) {
      kernel.desc.name += "@" + suffix;
      planned.kernels[k] = KernelId(kernels_.size());
      kernels_.push_back({kernel.desc, kernel.layouts});
    }
  }

  /// Its own code; no file where it has none.
  Result<FileId> link(CompiledVariant& variant, const CompileOptions& options) {
    std::vector<CompiledKernel*> own;
    for (size_t k = 0; k < variant.kernels.size(); ++k)
      if (!variant.same[k] && !variant.kernels[k].name.empty()) own.push_back(&variant.kernels[k]);
    const size_t first = c_.files.size();
    const std::vector<FunctionObject> noFunctions;
    const std::vector<FunctionObject>& functions = variant.sameFunctions ? noFunctions : variant.functionObjects;
    SVOD_CHECK(joinCode(c_, own, functions, options));
    for (size_t i = first; i < c_.files.size(); ++i)
      c_.files[i].path = nameFor(c_.files[i].path, std::get<CpuTarget>(options.machine).name);
    variant.functions.reserve(c_.functions.size());  // the plan borrows them
    return FileId(first);
  }

  Compilation& c_;
  std::vector<PlannedKernel>& kernels_;
  std::vector<std::vector<KernelId>> ids_;  // by processor, the plan's first, and kernel of the plan
};

}  // namespace

void copyForVariants(Compilation& c, std::span<const CompileOptions> variants, std::span<const CompileOptions> byTarget,
                     std::span<const size_t> targetOf) {
  c.variants.resize(variants.size());
  for (size_t v = 0; v < variants.size(); ++v) {
    CompiledVariant& variant = c.variants[v];
    if (variants[v].target->hasGrid()) variant.sameFunctions = 0;
    variant.same.resize(c.kernels.size());
    for (size_t k = variant.kernels.size(); k < c.kernels.size(); ++k) {
      CompiledKernel& copy = variant.kernels.emplace_back();
      if (byTarget[targetOf[k]].target == variants[v].target) copy = copyOf(c.kernels[k], c.kernels[k].name);
      if (copy.standsFor && !copy.givesOrder) copy.orders = variant.kernels[*copy.standsFor].layouts;
    }
  }
}

void findSame(Compilation& c) {
  for (size_t v = 0; v < c.variants.size(); ++v) {
    CompiledVariant& variant = c.variants[v];
    for (size_t before = 0; before <= v; ++before) {
      const bool isPlan = before == 0;
      const std::vector<CompiledKernel>& kernels = isPlan ? c.kernels : c.variants[before - 1].kernels;
      for (size_t k = 0; k < kernels.size(); ++k)
        if (!variant.same[k] && !variant.kernels[k].name.empty() && !kernels[k].name.empty() &&
            isSame(variant.kernels[k], kernels[k]))
          variant.same[k] = before;
      const auto& objects = isPlan ? c.functionObjects : c.variants[before - 1].functionObjects;
      if (!variant.sameFunctions && std::ranges::equal(variant.functionObjects, objects,
                                                       [](const auto& a, const auto& b) { return isSame(a, b); }))
        variant.sameFunctions = before;
    }
  }
}

Result<std::vector<PlannedVariant>> joinVariants(Compilation& c, std::span<const CompileOptions> options,
                                                 std::vector<PlannedKernel>& kernels) {
  std::vector<PlannedVariant> planned;
  Joiner joiner(c, kernels);
  for (size_t v = 0; v < c.variants.size(); ++v) {
    SVOD_TRY(PlannedVariant variant, joiner.add(c.variants[v], options[v]));
    planned.push_back(std::move(variant));
  }
  return planned;
}

}  // namespace svod
