// A file mapped read-only into memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/result.h"

namespace svod {

/// "cannot open 'x': No such file or directory" as Diag::Io, from an errno value.
Error ioError(const std::string& action, const std::string& path, int errnoValue);

/// Owns the mapping; moves, does not copy. Pages are read when touched and shared between processes.
/// A file that shrinks while it is mapped makes later reads fault, as with any mapping.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  /// Regular files only. An empty file maps to no bytes.
  static Result<MappedFile> open(const std::string& path);

  const std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, static_cast<size_t>(size_)}; }

 private:
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

/// The whole file as text (or bytes), copied. Regular files only, of at most `limit` bytes.
Result<std::string> readWholeFile(const std::string& path, uint64_t limit = UINT64_C(1) << 32);

/// The same for what may be a pipe, too, which is read to its end: `-` is standard input.
Result<std::string> readWholeInput(const std::string& path, uint64_t limit = UINT64_C(1) << 32);

/// All that comes from standard input, whatever that is: at most `limit` bytes.
Result<std::string> readStandardInput(uint64_t limit = UINT64_C(1) << 32);

}  // namespace svod
