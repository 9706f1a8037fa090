// A candidate as machine code, with what a call of it needs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "constants/constant_layout.h"
#include "plan/plan.h"

namespace svod {

struct CandidateCode {
  std::string library;          // path of a shared object, with the function kCandidateName
  std::string hash;             // of the machine code
  std::vector<KernelArg> args;  // as KernelDesc::args
  std::vector<int64_t> values;  // of its variables, each in the middle of its bounds
  std::vector<ConstantLayout> layouts;
  int64_t tiles = 1;
  uint64_t scratchBytes = 0;
};

inline constexpr const char* kCandidateName = "candidate";

using KernelFunction = void (*)(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
                                void* scratch);

}  // namespace svod
