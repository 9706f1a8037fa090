// A folder of byte strings that can be computed again, each under a key that says what it is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.h"

namespace svod {

/// Any number of threads and processes may use one folder at once: values appear whole, under their name, or not at
/// all. Keys are 64 hexadecimal digits, such as a SHA-256. Files of other names in the folder are left alone.
class FileCache {
 public:
  /// `folder` is made, for this user only, when the first value is put.
  explicit FileCache(std::string folder) : folder_(std::move(folder)) {}

  /// What was put under `key`, and counts as used now. Nothing when it is not there or not what was put: it carries a
  /// checksum.
  std::optional<std::string> get(const std::string& key) const;
  /// Errors: Io, such as a full disk or a folder without permission. The key then has its old value, or none.
  Status put(const std::string& key, std::string_view value) const;

  struct Usage {
    uint64_t entries = 0, bytes = 0;  // bytes: on the disk, in blocks of 4 KiB
  };
  /// A folder that does not exist is empty.
  Result<Usage> usage() const;
  /// Removes what was not used for the longest time until at most `maxBytes` are left, and what interrupted processes
  /// left behind; returns what it removed. 0 removes everything.
  Result<Usage> trim(uint64_t maxBytes) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string fileOf(const std::string& key) const;
  std::string folder_;
};

}  // namespace svod
