// What programs build into themselves, beside the plan: code of its kernels, or the whole plan as a function.
// --emit KIND=PATH.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "build.h"
#include "embed/interface.h"

namespace svod {

struct Emission;

/// What files are made of.
struct EmitSource {
  const Compilation& compilation;
  const CompileOptions& options;
  const EmbedOptions& embed;
  std::span<const Emission> emissions;  // all that there will be
  std::string_view content = {};        // a digest of the compilation, for kinds that are functions
  std::string_view path = {};           // of the file that is made
};

struct EmitKind {
  std::string_view name, what, target = {};                               // the one of --target that has it, or empty
  std::string_view extension = {};                                        // of the files of a folder
  const TargetFiles* files = nullptr;                                     // a folder of kernels
  Result<std::string> (*file)(const EmitSource&) = nullptr;               // or the one file that it is
  std::string_view ending = {};                                           // of a path that is not given; empty: .NAME
  Status (*write)(const std::string& path, const EmitSource&) = nullptr;  // or what writes the plan itself
  bool isPlan = false;                                                    // a folder like that of -o
  bool hasProcessors = false;                                             // code for all of --cpu, or none
  bool isFunction = false;                                                // the whole plan as one, or its header
  /// Of a folder that `write` makes: what may stand there before, and the names of its files.
  Status (*checkFolder)(const std::string& path) = nullptr;
  std::vector<std::string> (*fileNames)(const Compilation&, const EmbedOptions&) = nullptr;

  bool isFolder() const { return files != nullptr; }
  /// Of kernels, which are compiled anew for it.
  bool needsForms() const { return isFolder() ? files->needsForms : write == nullptr; }
};

struct Emission {
  const EmitKind* kind = nullptr;
  std::string path;
  std::string target;  // of the compilation that it is made of
};

/// What --emit asks for. To be called before work starts. Errors: Usage for unknown kinds, paths over other files and
/// targets without such code; Io where something else stands.
Result<std::vector<Emission>> emissionsOf(const Request& request);

/// Errors: Usage where --cpu names several processors and `kind` has code for one, with these flags.
Status checkProcessors(const EmitKind& kind, const Flags& flags);

/// Whether CompileOptions::keepForms is needed for what --emit asks for.
bool needsForms(const Flags& flags);

/// How a plan is built into a program. Errors: Usage.
Result<EmbedOptions> embedOptions(const Flags& flags);

/// Writes all of them. Files that hold the same bytes are left alone. Errors: Unsupported where there is no kernel for
/// an object, or the plan needs the runtime; Usage for names; Io.
Status writeEmissions(std::span<const Emission> emissions, EmitSource source);

/// The paths of the files of a plan in the folder `path`, and of an emission.
std::vector<std::string> filesOfPlan(const std::string& path, const Compilation& compilation);
std::vector<std::string> filesOf(const Emission& emission, const Compilation& compilation, const EmbedOptions& embed);

}  // namespace svod
