// What a variant or a case may change: the kernel of a launch, its numbers, and the weights it reads.
#include <set>

#include "plan/check_parts.h"
#include "plan/variants.h"
#include "support/says.h"

namespace svod {

namespace {

Status checkProcessors(const Plan& plan) {
  constexpr size_t kMostVariants = 63;
  if (plan.variants.size() > kMostVariants) return bad("variants", says({"more than ", kMostVariants}));
  std::set<std::string_view> names = {plan.target.cpu};
  const size_t ofDevices = deviceVariants(plan);
  for (size_t i = 0; i < plan.variants.size(); i++) {
    const Variant& variant = plan.variants[i];
    if (variant.cpu.empty()) return bad(at("variants", i), "the processor has no name");
    if (i >= ofDevices && isForDevice(variant))
      return bad(at("variants", i), says({"'", variant.cpu, "' stands behind one for a processor"}));
    if (!names.insert(variant.cpu).second) return bad(at("variants", i), says({"'", variant.cpu, "' is there twice"}));
    int64_t before = -1;
    for (const VariantLaunch& instead : variant.launches) {
      if (instead.step >= plan.steps.size())
        return bad(at("variants", i), noSuch("step", instead.step, plan.steps.size()));
      if (static_cast<int64_t>(instead.step) <= before)
        return bad(at("variants", i), says({"step ", instead.step, " comes behind ", before}));
      if (!std::holds_alternative<Launch>(plan.steps[instead.step].action))
        return bad(at("variants", i), says({"step ", instead.step, " is no launch"}));
      before = instead.step;
    }
  }
  return {};
}

bool isConstant(const Plan& plan, BufferId id) {
  const BufferDesc& buffer = plan.buffers[id];
  return (buffer.place == Place::View ? plan.buffers[buffer.base].place : buffer.place) == Place::Constant;
}

}  // namespace

Status checkVariants(const Plan& plan) { return checkProcessors(plan); }

Status checkVariantKernel(const Plan& plan, const Variant& variant, const KernelDesc& kernel,
                          const std::string& where) {
  if (!isForDevice(variant)) return {};
  for (size_t i = 0; kernel.grid && i < kernel.grid->images.size(); i++) {
    const ImageTarget& image = plan.files[kernel.grid->images[i].file].image;
    if (variantName(image.device, image.arch) == variant.cpu) return {};
  }
  return bad(where, says({"kernel '", kernel.name, "' has no image for ", variant.cpu}));
}

namespace {

using Fits = bool (*)(const KernelArg& own, const KernelArg& other);

Status checkBytes(const Plan& plan, const Launch& own, const Launch& instead, const std::string& where, Fits fits) {
  const std::vector<KernelArg>& args = plan.kernels[own.kernel].args;
  const std::vector<KernelArg>& others = plan.kernels[instead.kernel].args;
  if (others.size() != args.size())
    return bad(where, says({"its kernel takes ", others.size(), " buffers, that of the step ", args.size()}));
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].mode == others[i].mode && isConstant(plan, own.buffers[i]) && isConstant(plan, instead.buffers[i]))
      continue;
    if (!fits(args[i], others[i]) || own.buffers[i] != instead.buffers[i])
      return bad(where, says({"argument ", i, " touches other bytes than that of the step"}));
  }
  return {};
}

/// Of a size that is known before the first step.
Status checkRange(const Plan& plan, const SizeRange& range, const std::string& where) {
  for (const ExprNode& node : range.size.nodes()) {
    if (node.op != ExprOp::Var) continue;
    const auto id = static_cast<size_t>(node.value);
    if (id >= plan.variables.size()) return bad(where, noSuch("variable", id, plan.variables.size()));
    const Variable& variable = plan.variables[VariableId(id)];
    if (variable.kind == VariableKind::Loop)
      return bad(where, says({"'", variable.name, "' is known in its loop only"}));
  }
  if (range.min <= range.max) return {};
  return bad(where, says({"the minimum ", range.min, " is above the maximum ", range.max}));
}

}  // namespace

Status checkSameBytes(const Plan& plan, const Launch& own, const Launch& instead, const std::string& where) {
  return checkBytes(plan, own, instead, where, [](const KernelArg& a, const KernelArg& b) { return a == b; });
}

Status checkCase(const Plan& plan, const Launch& own, const LaunchCase& one, const std::string& where) {
  if (one.when.empty()) return bad(where, "nothing says when it holds");
  for (const SizeRange& range : one.when) SVOD_CHECK(checkRange(plan, range, where));
  return checkBytes(plan, own, one.launch, where, [](const KernelArg& a, const KernelArg& b) {
    return a.dtype == b.dtype && b.bytes <= a.bytes && reads(a.mode) >= reads(b.mode) &&
           writes(a.mode) >= writes(b.mode);
  });
}

}  // namespace svod
