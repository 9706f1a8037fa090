// Runs a fuzz target on its seeds, on every prefix of the small ones, and on seeds with single bytes changed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "common/fuzz_target.h"
#include "common/temp_folder.h"

TEST_CASE("the fuzz target survives its seed corpus") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSeedCorpus)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  const auto run = [](const std::string& bytes) {
    // An allocation of its own, so that a sanitizer sees every byte beyond the end.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  };
  for (const std::string& file : files) {
    INFO(file);
    std::string bytes = svod::readText(file);
    run(bytes);
    const size_t stride = 1 + bytes.size() / 256;
    for (size_t size = 0; size < bytes.size(); size += stride) run(bytes.substr(0, size));
    for (size_t at = 0; at < bytes.size(); at += stride) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
      run(bytes);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    }
    CHECK(!bytes.empty());
  }
}
