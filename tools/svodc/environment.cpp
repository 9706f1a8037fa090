#include <cstdlib>
#include <filesystem>

#include "command.h"

extern char** environ;

namespace svod {

Environment readEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.forTools.emplace_back(*entry);
  if (const char* directory = std::getenv("TMPDIR"); directory != nullptr && *directory != '\0')
    environment.tempDirectory = directory;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  std::error_code ignored;
  if (cache != nullptr && *cache == '/') {  // a relative one is to be ignored
    environment.cacheDirectory = std::string(cache) + "/svod";
  } else if (home != nullptr && std::filesystem::is_directory(home, ignored)) {  // some users have none
    environment.cacheDirectory = std::string(home) + "/.cache/svod";
  }
  if (const char* makeFlags = std::getenv("MAKEFLAGS")) environment.makeFlags = makeFlags;
  const char* noColor = std::getenv("NO_COLOR");
  environment.noColor = noColor != nullptr && *noColor != '\0';
  return environment;
}

}  // namespace svod
