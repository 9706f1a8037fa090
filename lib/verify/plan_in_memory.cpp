#include "verify/plan_in_memory.h"

#include <cstring>

#include "plan/json.h"

namespace svod {

namespace {

constexpr uint64_t kAlignment = 64;  // the runtime copies weights that have less

}  // namespace

Error toError(const svod_error& error, const std::string& doing) {
  Diag diag = Diag::DeviceFailure;
  for (size_t i = 0; i < allDiagnostics().size(); ++i)
    if (allDiagnostics()[i].code == error.code) diag = static_cast<Diag>(i);
  return Error(diag, doing + ": " + std::string(error.message), error.help);
}

PlanInMemory::PlanInMemory(const Compilation& c) {
  Plan plan = c.plan;
  plan.files = describeFiles(c.files);
  json = toJson(plan);
  files.push_back({kPlanFileName, json.data(), json.size()});
  for (const PlanFile& file : c.files) {
    size_t bytes = 0;
    for (std::span<const std::byte> chunk : file.chunks) bytes += chunk.size();
    std::vector<std::byte>& own = memory.emplace_back(bytes + kAlignment);
    std::byte* const start =
        own.data() + (kAlignment - reinterpret_cast<uintptr_t>(own.data()) % kAlignment) % kAlignment;
    std::byte* at = start;
    for (std::span<const std::byte> chunk : file.chunks) {
      if (!chunk.empty()) std::memcpy(at, chunk.data(), chunk.size());
      at += chunk.size();
    }
    files.push_back({file.path.c_str(), start, bytes});
  }
}

Result<PlanHandle> PlanInMemory::load(const std::string& doing, const char* cpu) const {
  svod_error error{};
  svod_load_options options = {};
  options.cpu = cpu;
  svod_plan* plan = nullptr;
  if (svod_plan_load_memory(files.data(), files.size(), &options, &plan, &error) != 0)
    return fail(toError(error, doing));
  return PlanHandle(plan, svod_plan_free);
}

}  // namespace svod
