// A compiled plan executed through the runtime library, in a process of its own and in watched memory.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "e2e/watched_memory.h"
#include "interp/interp.h"

namespace svod {

class SeparateDevice;

/// The files of a plan, as svod_plan_load_memory takes them. Every constant is a file of its own.
struct PlanImage {
  Plan plan;                          // with its files described
  std::vector<std::string> contents;  // by FileId
};

PlanImage planImage(const Compilation& compilation);
/// Sizes and checksums of plan.files, to be called after a change of `contents`.
void describeContents(PlanImage& image);

struct ExecuteOptions {
  Watch watch = Watch::End;
  bool separate = true;  // every intermediate buffer in memory of its own, else one arena
  size_t threads = 1;
  uint64_t orderSeed = 0;
  int runs = 1;  // executions of one instance, states carried over
  /// Devices besides the host have memory that the host cannot touch, and queues that run late by this seed; without
  /// one they are the host's.
  std::optional<uint32_t> deviceSeed = {};
  /// Before the runs that count comes one in which device 1 fails after this many pieces of work, with `isLost` all
  /// that its memory holds is gone, too. It must end with exit code 6 and name the step and the device.
  std::optional<uint64_t> failAfter = {};
  bool isLost = false;
  /// What stands for a device of the plan, from a seed and the most microseconds that its queue may be late; separate
  /// devices without it.
  std::function<std::unique_ptr<SeparateDevice>(const DeviceDesc&, uint32_t, uint32_t)> makeDevice = {};
};

/// What executePlan says where a device that was to fail had less to do than that.
inline constexpr std::string_view kNothingFailed = "nothing failed";

/// Contents of every output and state port after the runs, by Model::ports; inputs and weights are left as
/// given. Errors: what the runtime reports, and every access beside a buffer with the buffer and the kernel.
Result<std::vector<HostTensor>> executePlan(const PlanImage& image, const Model& model, const ModelBindings& bindings,
                                            const ExecuteOptions& options);

/// The same for each of `all`, which one instance gets one after the other.
Result<std::vector<std::vector<HostTensor>>> executePlan(const PlanImage& image, const Model& model,
                                                         std::span<const ModelBindings> all,
                                                         const ExecuteOptions& options);

}  // namespace svod
