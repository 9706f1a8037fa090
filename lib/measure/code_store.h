// A store of candidates that were compiled ahead, in a folder that other machines see.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "measure/compile_candidates.h"

namespace svod {

/// Libraries, and for every kernel a list of what they hold. Any number of processes may write; each writes files of
/// its own, whose names begin with `writer`.
class CodeStore {
 public:
  explicit CodeStore(std::string folder) : folder_(std::move(folder)) {}

  /// Where libraries of a writer go: a prefix of their paths.
  std::string libraries(const std::string& kernel, const std::string& writer) const;
  /// `lists`: as texts, in the order of `compiled`, whose libraries lie in the folder. Errors: Io.
  Status add(const std::string& kernel, const std::string& writer, const std::vector<std::string>& lists,
             const std::vector<CompiledCandidate>& compiled) const;
  /// What all writers have compiled of the kernel, by the text of the list. What cannot be read is left out.
  std::map<std::string, CompiledCandidate> of(const std::string& kernel) const;

 private:
  std::string folder_;
};

}  // namespace svod
