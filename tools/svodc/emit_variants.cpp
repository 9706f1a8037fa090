#include "emit_variants.h"

#include <map>

#include "embed/llvm_driver.h"
#include "embed/processor_code.h"
#include "emit_kinds.h"
#include "toolchain/archive.h"
#include "toolchain/clang.h"

namespace svod {

namespace {

/// One object after another; those of variants under names of their own.
class Objects {
 public:
  Objects(const Compilation& c, Linker& linker) : linker_(linker), plan_(c.plan) {
    for (KernelId id = 0; id < plan_.kernels.size(); id++) idOf_[plan_.kernels[id].name] = id;
    for (const CompiledKernel* k : processorKernels(c)) objects_.push_back(k->code);
    for (const FunctionObject& f : c.functionObjects) objects_.push_back(f.object);
  }

  /// Joined with each other first: what functions of C files call for this processor is among them.
  Status add(const CompiledVariant& variant, const std::string& suffix) {
    std::vector<std::string> own;
    for (size_t k = 0; k < variant.kernels.size(); ++k)
      if (!variant.same[k] && !variant.kernels[k].name.empty()) {
        own.push_back(variant.kernels[k].code);
        rename(variant.kernels[k].desc.name, suffix);
      }
    if (!variant.sameFunctions)
      for (const FunctionObject& f : variant.functionObjects) own.push_back(f.object);
    for (const KernelDesc& function : variant.functions) rename(function.name, suffix);
    if (own.empty()) return {};
    SVOD_TRY(const std::string joined, linker_.linkRelocatable(own));
    SVOD_TRY(std::string renamed, withSuffixedSymbols(joined, suffix));
    objects_.push_back(std::move(renamed));
    return {};
  }

  /// The plan with the names that its kernels have here.
  const Plan& plan() const { return plan_; }
  std::vector<std::string> take() { return std::move(objects_); }

 private:
  void rename(const std::string& kernel, const std::string& suffix) {
    plan_.kernels[idOf_.at(kernel)].symbol += suffix;
  }

  Linker& linker_;
  Plan plan_;
  std::map<std::string, KernelId> idOf_;
  std::vector<std::string> objects_;
};

}  // namespace

Result<std::string> objectOfVariants(const EmitSource& from, const Interface& made,
                                     std::span<const std::span<const std::byte>> weights) {
  const Compilation& c = from.compilation;
  SVOD_TRY(const CpuTarget any, makeCpuTarget(c.plan.target.triple, ""));
  Objects all(c, *from.options.linker);
  for (size_t v = 0; v < c.variants.size(); ++v) SVOD_CHECK(all.add(c.variants[v], ".v" + std::to_string(v + 1)));
  SVOD_TRY(std::string driver, driverObject(all.plan(), made, weights, any, {}));
  const std::vector<Processor> processors = processorsOf(c.plan);
  SVOD_TRY(std::string choice, compileC({"processor.c", processorCode(processors, any.arch)}, any, OptLevel::O1));
  SVOD_TRY(const std::vector<std::string> arithmetic, compileArithmetic(any));
  std::vector<std::string> objects = {std::move(driver), std::move(choice)};
  for (std::string& object : all.take()) objects.push_back(std::move(object));
  objects.insert(objects.end(), arithmetic.begin(), arithmetic.end());
  SVOD_TRY(const std::string object, from.options.linker->linkRelocatable(objects));
  return withLocalSymbols(object, functionNames(made));
}

}  // namespace svod
