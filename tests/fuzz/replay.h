// Runs a fuzz target over its seeds as a normal test, so that what fuzzing found stays fixed.
#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "common/temp_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace svod {

/// Every file with the extension in the folders, whole and with its end cut off at several places. Returns
/// how many.
inline size_t replaySeeds(std::initializer_list<const char*> folders, const std::string& extension) {
  size_t count = 0;
  for (const char* folder : folders) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!extension.empty() && entry.path().extension() != extension) continue;
      INFO(entry.path().string());
      std::string bytes = readText(entry.path().string());
      for (size_t cut = 0; cut <= 8; ++cut)
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                               bytes.size() - bytes.size() * cut / 9);
      ++count;
    }
  }
  return count;
}

}  // namespace svod
