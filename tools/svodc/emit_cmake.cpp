#include "emit_cmake.h"

#include <algorithm>
#include <filesystem>

namespace svod {

namespace {

namespace fs = std::filesystem;

/// How CMake makes a target of a kind; `properties` come behind the location, `%` is the path.
struct LibraryKind {
  std::string_view kind, declaration, location, links;
};
constexpr LibraryKind kLibraries[] = {
    {"static-lib", "STATIC IMPORTED GLOBAL", "IMPORTED_LOCATION", ""},
    {"shared-lib", "SHARED IMPORTED GLOBAL", "IMPORTED_LOCATION", ""},
    {"c", "STATIC", "", "m"},
};
/// What programs load: properties of the target.
constexpr std::pair<std::string_view, std::string_view> kLoaded[] = {{"plan", "SVOD_PLAN"}, {"pack", "SVOD_PACK"}};

const Emission* find(std::span<const Emission> emissions, std::string_view kind) {
  const auto found = std::ranges::find_if(emissions, [&](const Emission& e) { return e.kind->name == kind; });
  return found == emissions.end() ? nullptr : &*found;
}

/// The path as CMake text in quotes, from the folder of the file.
std::string place(const std::string& path, const fs::path& folder) {
  std::string text = "\"${CMAKE_CURRENT_LIST_DIR}";
  const fs::path from = fs::absolute(path).lexically_normal().lexically_relative(folder);
  if (from != ".") text += "/";
  for (const char c : from == "." ? std::string() : from.string()) {
    if (c == '"' || c == '\\' || c == '$') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

Status checkForCmake(std::span<const Emission> emissions) {
  if (find(emissions, "cmake") == nullptr) return {};
  const auto isThere = [&](const auto& row) { return find(emissions, row) != nullptr; };
  const auto libraries = std::ranges::count_if(kLibraries, isThere, &LibraryKind::kind);
  const bool isLoaded = std::ranges::any_of(kLoaded, [&](const auto& row) { return isThere(row.first); });
  if (libraries == 1 || (libraries == 0 && isLoaded)) return {};
  return fail(Diag::Usage,
              "--emit cmake is for one library, and there " + std::string(libraries == 0 ? "is none" : "are two"),
              libraries == 0 ? "add one of --emit static-lib, --emit shared-lib and --emit c; or a plan or pack"
                             : "leave the others out, and compile once more for each of them");
}

std::string cmakeText(const std::string& target, std::string_view path, std::span<const Emission> emissions) {
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  std::string declaration = "INTERFACE IMPORTED GLOBAL", more;
  const auto property = [&](std::string_view name, const std::string& value) {
    more += "  set_property(TARGET " + target + " PROPERTY " + std::string(name) + " " + value + ")\n";
  };
  for (const LibraryKind& library : kLibraries) {
    const Emission* e = find(emissions, library.kind);
    if (e == nullptr) continue;
    declaration = library.declaration;
    if (library.location.empty())
      declaration += " " + place(e->path, folder);
    else
      property(library.location, place(e->path, folder));
    if (!library.links.empty()) property("INTERFACE_LINK_LIBRARIES", std::string(library.links));
  }
  if (const Emission* header = find(emissions, "header"))
    property("INTERFACE_INCLUDE_DIRECTORIES", place(fs::absolute(header->path).parent_path().string(), folder));
  for (const auto& [kind, name] : kLoaded)
    if (const Emission* e = find(emissions, kind)) property(name, place(e->path, folder));
  return "# The target " + target +
         ", made by svodc of the files beside this one: include() it and link the target.\n" + "if(NOT TARGET " +
         target + ")\n  add_library(" + target + " " + declaration + ")\n" + more + "endif()\n";
}

}  // namespace svod
