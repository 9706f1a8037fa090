#include "data/distinct.h"

#include <filesystem>
#include <map>

namespace svod {

namespace {

/// One text for all names of a file; "" for what takes any number of results.
std::string placeOf(const std::string& path) {
  if (path.empty() || path == "-") return path;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(status))
    return {};
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : place.string();
}

}  // namespace

Status checkDistinct(std::span<const ResultFile> files) {
  std::map<std::string, const ResultFile*> owners;
  for (const ResultFile& file : files) {
    const std::string place = placeOf(file.path);
    if (place.empty()) continue;
    const auto [owner, isNew] = owners.emplace(place, &file);
    if (isNew) continue;
    return fail(Diag::Usage, owner->second->what + " and " + file.what + " are both '" + file.path + "'",
                "name a file for each");
  }
  return {};
}

}  // namespace svod
