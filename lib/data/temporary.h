// What is written beside its name before it is renamed: `NAME.tmp-PID-N`. Its owner holds a lock on it, which ends with
// the process however that ends, so whoever writes the same name later knows what nobody will finish.
#pragma once
#include <functional>
#include <string>

namespace svod {

/// Owns a file or folder with a temporary name and deletes it at the end, unless it was released.
class Temporary {
 public:
  Temporary() = default;
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary();

  /// Makes one beside `path`: calls `create` with names until one is free and locked. `create` returns false with errno
  /// set; false leaves errno as it was.
  bool createBeside(const std::string& path, const std::function<bool(const std::string&)>& create);
  /// `path` becomes the name of something else, which is locked as well: done before two names are exchanged.
  void alsoLock(const std::string& path);
  /// It has another name now, and stays.
  void release() { path_.clear(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1, otherLock_ = -1;
};

/// Removes the temporaries of `path` that no process holds any more. Folders go only when they hold nothing but files,
/// and folders with nothing but files down to `levels`. Where the file system has no locks nothing is removed.
void removeAbandoned(const std::string& path, int levels = 0);

/// The folder that holds `path`.
std::string folderOf(const std::string& path);

}  // namespace svod
