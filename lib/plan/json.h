// plan.json: the text form of a Plan. Key order and layout are fixed, so equal plans give equal bytes.
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "support/result.h"

namespace svod {

/// The first line of every plan.json, up to the digits of the checksum.
inline constexpr std::string_view kPlanJsonStart = "{\n  \"checksum\": \"";

/// The whole text. Its checksum is the SHA-256 of the text with zeros in place of the checksum's 64 digits.
std::string toJson(const Plan& plan);

/// Reads what toJson wrote into a plan that is as new, which is of no use after an error. Errors: Diag::PlanVersion,
/// Diag::PlanChecksum, Diag::BadPlan; `name` goes into them. Ids, offsets and sizes are not checked here: see
/// plan/check.h.
Status readPlanJson(std::string_view text, const std::string& name, Plan& plan);
inline Result<Plan> planFromJson(std::string_view text, const std::string& name) {
  Plan plan;
  SVOD_CHECK(readPlanJson(text, name, plan));
  return plan;
}

/// `text` with the checksum that belongs to it. Text that is no plan.json comes back unchanged.
std::string withChecksum(std::string text);

}  // namespace svod
