// A private directory that disappears with its owner.
#pragma once
#include <string>

#include "support/result.h"

namespace svod {

class TempDir {
 public:
  /// Makes a new directory under `root`, readable by this user only. Errors: Io.
  static Result<TempDir> make(const std::string& root);
  TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir();

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Errors: Io, naming the path and the system's reason.
Status writeWholeFile(const std::string& path, const std::string& bytes);

}  // namespace svod
