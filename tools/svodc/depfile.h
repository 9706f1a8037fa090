// Depfiles for build tools: which files a result was made from, and that it can be written where it is to be.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "command.h"
#include "frontend/frontend.h"

namespace svod {

/// The files that the command line names and that are read; those that a graph names come from the reader of graphs.
/// No response files: they are part of the command line, and build tools remove them.
std::set<std::string> namedFiles(const Request& request, const LoadOptions& load);

/// Where the depfile goes; "" for nowhere.
std::string depfilePath(const Flags& flags);

/// Whether `path` would be a file of the plan that is written.
bool isInPlan(const std::string& path, const Flags& flags);

/// To be called before work starts. Errors: Usage for a depfile over another file or inside of the plan; Io for folders
/// that are not there or cannot be written.
Status checkResults(const Request& request);

/// Writes the depfile that the flags ask for. `results` depend on `read`, unless --depfile-target says what does.
/// Errors: Io; Usage for names that no depfile can hold.
Status writeDepfile(const Request& request, const std::vector<std::string>& results, const std::set<std::string>& read);

}  // namespace svod
