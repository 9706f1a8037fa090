#include "driver/variants.h"

#include <algorithm>

namespace svod {

namespace {

/// But for their names, which are the same.
bool isSame(const CompiledKernel& a, const CompiledKernel& b) {
  return a.desc == b.desc && a.layouts == b.layouts && a.code == b.code && a.compiled == b.compiled;
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
    const auto& cpu = std::get<CpuTarget>(options.machine);
    PlannedVariant planned{cpu.name, cpu.features, ids_[0]};
    SVOD_TRY(const FileId file, link(variant, options));
    for (size_t k = 0; k < variant.kernels.size(); ++k) {
      if (variant.same[k]) {
        planned.kernels[k] = ids_[*variant.same[k]][k];
      } else if (!variant.kernels[k].name.empty()) {
        CompiledKernel& kernel = variant.kernels[k];
        kernel.desc.file = file;
        kernel.desc.name += "@" + cpu.name;
        planned.kernels[k] = KernelId(kernels_.size());
        kernels_.push_back({kernel.desc, kernel.layouts});
      }
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

 private:
  /// Its own code; no file where it has none.
  Result<FileId> link(CompiledVariant& variant, const CompileOptions& options) {
    std::vector<CompiledKernel*> own;
    for (size_t k = 0; k < variant.kernels.size(); ++k)
      if (!variant.same[k] && !variant.kernels[k].name.empty()) own.push_back(&variant.kernels[k]);
    const size_t first = c_.files.size();
    const std::vector<FunctionObject> noFunctions;
    const std::vector<FunctionObject>& functions = variant.sameFunctions ? noFunctions : variant.functionObjects;
    SVOD_CHECK(options.target->finish(c_, {own, functions}, options));
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

std::vector<CompileOptions> optionsOfVariants(const CompileOptions& options) {
  std::vector<CompileOptions> all;
  for (const Machine& machine : options.variants) {
    CompileOptions& own = all.emplace_back(options);
    own.machine = machine, own.variants.clear();
  }
  return all;
}

void copyForVariants(Compilation& c, const CompileOptions& options, std::span<const size_t> targetOf) {
  for (size_t v = 0; v < options.variants.size(); ++v) {
    CompiledVariant& variant = c.variants.emplace_back();
    variant.kernels.resize(c.kernels.size());
    variant.same.resize(c.kernels.size());
    for (size_t k = 0; k < c.kernels.size(); ++k)
      if (targetOf[k] == 0) variant.kernels[k] = copyOf(c.kernels[k], c.kernels[k].name);
  }
}

void findSame(Compilation& c) {
  for (size_t v = 0; v < c.variants.size(); ++v) {
    CompiledVariant& variant = c.variants[v];
    for (size_t before = 0; before <= v; ++before) {
      const bool isPlan = before == 0;
      const std::vector<CompiledKernel>& kernels = isPlan ? c.kernels : c.variants[before - 1].kernels;
      for (size_t k = 0; k < kernels.size(); ++k)
        if (!variant.same[k] && !variant.kernels[k].name.empty() && isSame(variant.kernels[k], kernels[k]))
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
