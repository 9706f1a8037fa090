// --emit web: a plan for adapters of WebGPU as a folder with an ES module, its types and its weights.
#pragma once
#include "emit.h"

namespace svod {

/// Errors: Unsupported for plans that pages cannot run; Usage for places of weights that a module does not have; Io.
Status writeWeb(const std::string& path, const EmitSource& from);

/// Errors: Io where something else stands at `path` than such a folder, naming it.
Status checkWebFolder(const std::string& path);

/// The names of the files, the module first.
std::vector<std::string> webFileNames(const Compilation& compilation, const EmbedOptions& embed);

}  // namespace svod
