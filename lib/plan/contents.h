// What is written of a plan, in a directory or a pack.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/directory.h"

namespace svod {

/// The chunks of files of code end with that of `record`, whose bytes stay where they are when this is moved.
struct PlanContents {
  std::string json;
  std::vector<char> record;
  std::vector<PlanFile> files;
};

/// Fills plan.files from `files` and checks the plan. Borrows the chunks.
Result<PlanContents> contentsOf(Plan plan, std::span<const PlanFile> files);

}  // namespace svod
