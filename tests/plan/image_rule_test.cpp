// The image that a CUDA device is given.
#include <catch2/catch.hpp>

#include "plan/image_rule.h"

using namespace svod;

namespace {

/// The chosen one of archs that are separated by blanks, "" for none.
std::string chosen(std::string_view list, CudaCapability device, bool mayJit = true) {
  std::vector<std::string_view> archs;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    archs.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  const std::optional<size_t> index = chooseCudaImage(archs, device, mayJit);
  return index ? std::string(archs[*index]) : "";
}

struct Case {
  const char* archs;
  CudaCapability device;
  const char* chosen;
};
constexpr Case kCases[] = {
    // Exact code is for one capability.
    {"sm_80 sm_90 sm_90a", {9, 0}, "sm_90a"},
    {"sm_90a sm_90", {9, 0}, "sm_90a"},
    {"sm_90a", {10, 0}, ""},
    {"sm_90a", {8, 9}, ""},
    {"sm_100a", {10, 3}, ""},
    {"sm_103a sm_100a", {10, 3}, "sm_103a"},
    // The wheel with three kinds of code and no PTX, on a device that none of them is for.
    {"sm_80 sm_90a sm_100a", {10, 3}, ""},
    {"sm_80 sm_90a sm_100a compute_80", {10, 3}, "compute_80"},
    {"sm_80 sm_90a sm_100f", {10, 3}, "sm_100f"},
    // Families go on within a major number.
    {"sm_100f", {10, 0}, "sm_100f"},
    {"sm_103f", {10, 0}, ""},
    {"sm_100f sm_103f", {10, 3}, "sm_103f"},
    {"sm_100f sm_103", {10, 3}, "sm_100f"},
    {"sm_100f sm_103a", {10, 3}, "sm_103a"},
    {"sm_100f", {12, 0}, ""},
    {"sm_120f", {12, 1}, "sm_120f"},
    // Plain code runs on later minor numbers of its major one, the nearest is the best.
    {"sm_80", {8, 6}, "sm_80"},
    {"sm_80 sm_86", {8, 9}, "sm_86"},
    {"sm_86 sm_80", {8, 9}, "sm_86"},
    {"sm_89", {8, 6}, ""},
    {"sm_86", {9, 0}, ""},
    {"sm_80", {9, 0}, ""},
    {"sm_75", {8, 0}, ""},
    // PTX comes last, and the newest first.
    {"compute_80", {12, 0}, "compute_80"},
    {"compute_75 compute_80 compute_90", {8, 9}, "compute_80"},
    {"compute_90", {8, 9}, ""},
    {"compute_90 sm_80", {8, 9}, "sm_80"},
    {"compute_89 sm_80", {8, 9}, "sm_80"},
    {"compute_90a compute_90", {9, 0}, "compute_90a"},
    {"compute_90a", {10, 0}, ""},
    {"compute_100f", {10, 3}, "compute_100f"},
    {"compute_100f", {12, 0}, ""},
    // What is no arch is never taken.
    {"small", {9, 0}, ""},
    {"sm_ sm_9 sm_9a0 sm_0090 sm_90b gfx90a sm_-90 sm_9999", {9, 0}, ""},
};

}  // namespace

TEST_CASE("a CUDA device gets exact code, else that of its family, else plain code, else PTX") {
  for (const Case& c : kCases) {
    INFO(c.archs << " on " << toText(c.device));
    CHECK(chosen(c.archs, c.device) == c.chosen);
  }
}

TEST_CASE("without JIT no PTX is taken") {
  CHECK(chosen("compute_80", {9, 0}, false).empty());
  CHECK(chosen("compute_80 sm_90", {9, 0}, false) == "sm_90");
}

TEST_CASE("what is taken runs there, and nothing that runs there is better") {
  constexpr const char* kArchs[] = {"sm_75",  "sm_80",   "sm_86",   "sm_89",   "sm_90",      "sm_90a",
                                    "sm_100", "sm_100a", "sm_100f", "sm_103a", "compute_80", "compute_90a"};
  for (uint32_t major : {7u, 8u, 9u, 10u, 12u})
    for (uint32_t minor : {0u, 3u, 5u, 6u, 9u})
      for (const char* a : kArchs)
        for (const char* b : kArchs) {
          const CudaCapability device{major, minor};
          const uint32_t fitA = fitOf(*parseCudaArch(a), device), fitB = fitOf(*parseCudaArch(b), device);
          const std::string best = chosen(std::string(a) + " " + b, device);
          CHECK(best == (std::max(fitA, fitB) == 0 ? "" : fitA >= fitB ? a : b));
        }
}

TEST_CASE("archs say which devices they are for") {
  CHECK(runsOnText(*parseCudaArch("sm_90a")) == "9.0 alone");
  CHECK(runsOnText(*parseCudaArch("sm_86")) == "8.6 to 8.9");
  CHECK(runsOnText(*parseCudaArch("sm_100f")) == "10.0 to 10.9");
  CHECK(runsOnText(*parseCudaArch("sm_89")) == "8.9");
  CHECK(runsOnText(*parseCudaArch("compute_80")) == "8.0 and later");
  CHECK(cudaArchFor({9, 0}) == "sm_90a");
  CHECK(cudaArchFor({8, 6}) == "sm_86");
  CHECK(cudaArchFor({10, 3}) == "sm_103");
}
