// Kernels that were compiled before, by everything that decides their code.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "data/file_cache.h"
#include "support/result.h"

namespace svod {

struct CompiledKernel;
struct CompileOptions;
struct KernelOpts;

/// Shared by the threads of a compile, and through its folder by any number of processes. Trouble with the folder is no
/// error of a compile: kernels are compiled then.
class KernelCache {
 public:
  /// `compiler` tells compilers apart (compiler_id.h). At most `maxBytes` stay in the folder.
  KernelCache(std::string folder, uint64_t maxBytes, std::string compiler)
      : files_(std::move(folder)), maxBytes_(maxBytes), compiler_(std::move(compiler)) {}

  /// A SHA-256 of the scheduled kernel as text, its name, its opts where they are `requested`, and all options that
  /// code depends on.
  std::string keyOf(const CompiledKernel& kernel, const KernelOpts* requested, const CompileOptions& options) const;
  /// Fills `desc` and `code`; false when they have to be compiled.
  bool find(const std::string& key, CompiledKernel& kernel) const;
  void keep(const std::string& key, const CompiledKernel& kernel);
  /// The same for objects of other code.
  std::optional<std::string> findObject(const std::string& key) const { return files_.get(key); }
  void keepObject(const std::string& key, const std::string& object);
  const std::string& compiler() const { return compiler_; }

  /// To be called after the last kernel: removes what has to go. The first trouble there was, if any.
  std::optional<Error> finish();

 private:
  void remember(Status status);

  FileCache files_;
  uint64_t maxBytes_;
  std::string compiler_;
  std::atomic<bool> grew_ = false;
  std::mutex troubleLock_;
  std::optional<Error> trouble_;
};

}  // namespace svod
