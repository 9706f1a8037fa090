// The kernel cache: compiled kernels of earlier calls.
#pragma once
#include <memory>

#include "command.h"
#include "console/console.h"
#include "driver/kernel_cache.h"

namespace svod {

/// What the flags ask for; null: no cache. Errors: Usage.
Result<std::unique_ptr<KernelCache>> kernelCache(const Request& request);

/// Says once what is wrong with the cache, if something is.
void finishCache(KernelCache* cache, Console& console);

}  // namespace svod
