#include "plan/plan.h"

namespace svod {

std::vector<std::string> variableNames(const Plan& plan) {
  std::vector<std::string> names;
  names.reserve(plan.variables.size());
  for (const Variable& variable : plan.variables) names.push_back(variable.name);
  return names;
}

}  // namespace svod
