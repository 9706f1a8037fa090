// Objects to a shared library, in process with LLD.
#pragma once
#include <mutex>
#include <span>
#include <string>

#include "support/result.h"

namespace svod {

/// LLD keeps process-wide state, so a process has one Linker, and it links one library at a time (calls from
/// several threads wait). Intermediate files live in private directories under `tempRoot` and never show in
/// the result.
class Linker {
 public:
  explicit Linker(std::string tempRoot) : tempRoot_(std::move(tempRoot)) {}

  /// Links ELF objects of one architecture to a shared library that needs no other library, and returns its
  /// bytes. They depend on the objects and their order alone. Errors: CompileFailed with LLD's messages (an
  /// undefined symbol is one), Io for the temporary files.
  Result<std::string> linkShared(std::span<const std::string> objects);
  /// A shared library `name` of one object, in which what the object does not define is left to the program.
  Result<std::string> linkLibrary(const std::string& object, const std::string& name);
  /// Objects to one relocatable object, in which undefined symbols stay.
  Result<std::string> linkRelocatable(std::span<const std::string> objects);

 private:
  Result<std::string> link(std::span<const char* const> flags, std::span<const std::string> objects);

  std::string tempRoot_;
  std::mutex linking_;
  bool usable_ = true;
};

}  // namespace svod
