// A plan as one file, which is mapped and run in place: a head, plan.json, and behind it the other files of the plan,
// each at a page. docs/pack.md has the format.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/directory.h"

namespace svod {

inline constexpr uint32_t kPackVersion = 1;       // what we write; the reader accepts exactly this one
inline constexpr uint64_t kPackAlignment = 4096;  // where files begin: multiples of it

/// Whether something at `path` may be a plan: a directory, or a file that begins as a pack does.
bool holdsPlan(const std::string& path);

/// The text of plan.json in a pack, called `name` in messages. Diag::BadPlan or PlanVersion when the head is none.
Result<std::string_view> manifestOf(std::span<const std::byte> pack, const std::string& name);

/// The contents of the files that the manifest lists, by FileId. Diag::BadPlan unless the pack holds them, zeros
/// between them and nothing else, and code that says which manifest it belongs to. Their checksums are the caller's to
/// compare.
Result<std::vector<std::span<const std::byte>>> filesOf(std::span<const std::byte> pack, const Plan& plan,
                                                        const std::string& name);

/// Fills plan.files from `files`, checks the plan and writes the file atomically, or nothing where it stands there
/// already.
Status writePack(const std::string& path, Plan plan, std::span<const PlanFile> files);

/// readPlanDirectory, or the same of a pack.
Result<Plan> readPlan(const std::string& path);
/// The contents of one file of a plan that readPlan took from there.
Result<std::string> readPlanFile(const std::string& path, const Plan& plan, FileId id);

}  // namespace svod
