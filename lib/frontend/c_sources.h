// Graph files that take functions from files of C: custom(x, source="median.c", function=median).
#pragma once
#include <map>
#include <string>

#include "frontend/frontend.h"

namespace svod {

/// The files of C that a graph names, and who calls them.
struct CSources {
  struct File {
    std::string path, text;
  };
  std::map<std::string, File, std::less<>> files;       // by the name in the graph
  std::map<std::string, SourceLoc, std::less<>> calls;  // the first of each function, by the name of its Custom nodes
};

/// As buildModel and checkGraphFile (frontend.h), which do not read the files.
Result<Model> buildModel(const GraphFile& file, const LoadOptions& options, CSources& sources);
std::vector<Error> checkGraphFile(const GraphFile& file, const LoadOptions& options, CSources& sources);

}  // namespace svod
