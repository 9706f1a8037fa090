// svodc compile in this process, with its files and messages as data.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "data/mapped_file.h"
#include "support/result.h"
#include "toolchain/temp_dir.h"

namespace svod {

struct CompiledFile {
  std::string path;  // relative to the folder
  MappedFile file;
};

/// What one compile made.
struct CompiledFiles {
  std::vector<CompiledFile> files{};
  std::string report{}, notes{};
};

/// A folder of this process for files that only artifacts show, or for graphs that are compiled.
Result<TempDir> makeWorkFolder();

/// `words` are flags of svodc compile, in which results are relative to `folder`. One compile at a time; calls from
/// several threads wait. `name` is that of the plan where no result is named.
Result<CompiledFiles> compileInProcess(const std::string& graph, const std::string& name,
                                       const std::vector<std::string>& words, const std::string& folder);

}  // namespace svod
