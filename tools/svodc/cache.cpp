#include "cache.h"

#include "driver/compiler_id.h"
#include "print.h"

namespace svod {

namespace {

constexpr int64_t kMostMiB = int64_t{1} << 30;

Result<uint64_t> limitBytes(const Flags& flags) {
  if (flags.cacheLimit < 0 || flags.cacheLimit > kMostMiB)
    return fail(Diag::Usage,
                "--cache-limit needs a number of MiB from 0 to 2^30, not " + std::to_string(flags.cacheLimit),
                "0 keeps no kernels, and leaving it out 256 MiB");
  return static_cast<uint64_t>(flags.cacheLimit) << 20;
}

/// Empty when neither a flag nor the environment names one.
std::string cacheFolder(const Request& request) {
  return request.flags.cacheDir.empty() ? request.environment.cacheDirectory : request.flags.cacheDir;
}

}  // namespace

Result<std::unique_ptr<KernelCache>> kernelCache(const Request& request) {
  SVOD_TRY(const uint64_t limit, limitBytes(request.flags));
  const std::string folder = cacheFolder(request);
  std::string compiler = compilerId();
  if (request.flags.noCache || folder.empty() || compiler.empty() || limit == 0) return nullptr;
  return std::make_unique<KernelCache>(folder, limit, std::move(compiler));
}

void finishCache(KernelCache* cache, Console& console) {
  if (cache == nullptr) return;
  if (std::optional<Error> trouble = cache->finish()) {
    (*trouble)->help = "kernels are compiled anew; name another folder with --cache-dir, or use --no-cache";
    console.warn(*trouble);
  }
}

Result<int> runCache(const Request& request, Console& console) {
  SVOD_TRY(const uint64_t limit, limitBytes(request.flags));
  const std::string folder = cacheFolder(request);
  if (folder.empty())
    return fail(Diag::Usage, "there is no folder for compiled kernels: HOME is not set", "give --cache-dir DIR");
  const FileCache files(folder);
  FactList facts = {{"folder", "folder", folder}};
  if (request.flags.clear) {
    SVOD_TRY(const FileCache::Usage removed, files.trim(0));
    facts.push_back({"removed", "removed kernels", removed.entries});
    facts.push_back({"removedBytes", "removed", bytesCell(removed.bytes)});
  }
  SVOD_TRY(const FileCache::Usage usage, files.usage());
  facts.push_back({"kernels", "kernels", usage.entries});
  facts.push_back({"bytes", "size", bytesCell(usage.bytes)});
  facts.push_back({"limitBytes", "at most", bytesCell(limit)});
  const Document document{"", {{"", "Compiled kernels", {facts}}}};
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

}  // namespace svod
