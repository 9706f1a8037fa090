// A private directory that disappears with its owner, or with the next one where the owner was killed.
#pragma once
#include <memory>
#include <string>

#include "data/temporary.h"
#include "support/result.h"

namespace svod {

class TempDir {
 public:
  /// Makes a new directory under `root`, readable by this user only. Errors: Io.
  static Result<TempDir> make(const std::string& root);
  /// Removes the directories under `root` whose process is gone, with what others made in them.
  static void removeAbandoned(const std::string& root);

  std::string file(const std::string& name) const { return directory_->path() + "/" + name; }

 private:
  TempDir() = default;
  std::unique_ptr<Temporary> directory_ = std::make_unique<Temporary>();
};

/// Errors: Io, naming the path and the system's reason.
Status writeWholeFile(const std::string& path, const std::string& bytes);

}  // namespace svod
