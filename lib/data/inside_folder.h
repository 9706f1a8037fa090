// The files that a stranger's file may name: those in its folder and below it, wherever links lead.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace svod {

/// The folders of `file`, without links: where its name lies, and where the file lies that it is a link to.
std::vector<std::string> foldersOf(const std::string& file);

/// `path` without links, if that is below one of the folders; nothing may be there. A caller opens what is returned.
std::optional<std::string> pathInside(std::span<const std::string> folders, const std::string& path);

}  // namespace svod
