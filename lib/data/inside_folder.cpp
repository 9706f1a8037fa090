#include "data/inside_folder.h"

#include <algorithm>
#include <filesystem>

namespace svod {

namespace fs = std::filesystem;

std::vector<std::string> foldersOf(const std::string& file) {
  std::vector<std::string> folders;
  std::error_code error;
  const fs::path named = fs::absolute(file, error), real = fs::weakly_canonical(file, error);
  for (const fs::path& each : {named.parent_path(), real.parent_path()}) {
    std::string folder = fs::weakly_canonical(each, error).string();
    if (!error && std::ranges::find(folders, folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

std::optional<std::string> pathInside(std::span<const std::string> folders, const std::string& path) {
  std::error_code error;
  if (path.find('\0') != path.npos) return std::nullopt;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path target = error ? fs::path() : fs::weakly_canonical(absolute, error);
  if (error) return std::nullopt;
  const auto holds = [&](const std::string& folder) {
    const fs::path inside = target.lexically_relative(folder);
    return !inside.empty() && *inside.begin() != ".." && inside != ".";
  };
  if (std::ranges::none_of(folders, holds)) return std::nullopt;
  return target.string();
}

}  // namespace svod
