// Instances that are lent devices of the tests, for programs linked with --wrap=svod_instance_create.
#pragma once
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime-min/handles.h"

namespace svod {

/// As svod_instance_create, with a device by `make` for each of kind `kind` that the plan has; `make` is told how many
/// there are. Devices live as long as the program, so longer than instances. For one thread.
inline int createWithLentDevices(const svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                 svod_error* error, std::string_view kind,
                                 const std::function<std::unique_ptr<Device>(size_t)>& make) {
  static std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> lent;
  for (const DeviceDesc& device : plan->loaded->plan().devices) {
    if (device.kind == kind) devices.push_back(make(devices.size()));
    lent.push_back(device.kind == kind ? devices.back().get() : nullptr);
  }
  const svod_instance_options chosen = options != nullptr ? *options : svod_instance_options{};
  auto made = Instance::create(plan->loaded, chosen, chosen.pool == nullptr ? nullptr : chosen.pool->pool.get(), lent);
  if (made) {
    *instance = new svod_instance{chosen.pool == nullptr ? nullptr : chosen.pool->pool, std::move(*made)};
    return 0;
  }
  const Error& reason = made.error();
  std::snprintf(error->message, sizeof error->message, "%s", reason->message.c_str());
  std::snprintf(error->help, sizeof error->help, "%s", reason->help.c_str());
  std::snprintf(error->code, sizeof error->code, "%s", info(reason->diag).code.data());
  return error->exit_code = info(reason->diag).exitCode;
}

}  // namespace svod
