// Results that would be written over each other.
#pragma once
#include <span>
#include <string>

#include "support/result.h"

namespace svod {

/// Something that is written, or read and to be kept, and where it stands: "-" for standard output, "" for nowhere.
struct ResultFile {
  std::string what;  // for messages: a flag, or "output 'y'"
  std::string path;
};

/// Errors: Usage, when two of them are one file, however it is named. Devices and pipes take any number.
Status checkDistinct(std::span<const ResultFile> files);

}  // namespace svod
