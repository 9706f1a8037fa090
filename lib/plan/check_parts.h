// What the parts of `check` share.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "support/says.h"

namespace svod {

// Functions of a file of their own: there are a hundred places that call them.
tl::unexpected<Error> bad(std::string_view where, std::string_view what);
tl::unexpected<Error> bad(std::string_view where, std::initializer_list<Part> what);
std::string at(const char* list, size_t index);
/// "there is no buffer 9 of 8"
std::string noSuch(const char* what, uint64_t id, size_t count);
/// "bytes 64 to 128 of 96": a part that reaches beyond what holds it.
std::string bytesOf(uint64_t offset, uint64_t size, uint64_t whole);

/// Whether an expression of a kernel stays with the kernel's values.
Status checkValues(const KernelDesc& kernel, const Expr& expr, const std::string& where);
/// The grid of a kernel that has one: sizes, attributes, tensor maps and images. Files must have been checked.
Status checkGrid(const Plan& plan, const KernelDesc& kernel, const std::string& where);
/// The processors of the variants, and that their launches are for steps that are launches, in their order.
Status checkVariants(const Plan& plan);
/// Whether a kernel that a variant launches is one for it: that of a device has an image for its architecture.
Status checkVariantKernel(const Plan& plan, const Variant& variant, const KernelDesc& kernel, const std::string& where);
/// Whether a launch, each of which fits its kernel, reads and writes what that of the plan does, so that no hazard
/// depends on the variant: other bytes only of weights.
Status checkSameBytes(const Plan& plan, const Launch& own, const Launch& instead, const std::string& where);
/// The same for a case of a launch, which may touch less of each argument, and whether it says when it holds.
Status checkCase(const Plan& plan, const Launch& own, const LaunchCase& one, const std::string& where);
/// Ids, arguments and expressions of the steps and of variants, which must have been checked, and which loops
/// enclose which. Buffers, kernels and variables must have been checked.
Status checkSteps(const Plan& plan);

}  // namespace svod
