// A candidate as machine code, with what a call of it needs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "constants/constant_layout.h"
#include "driver/compile.h"
#include "plan/plan.h"

namespace svod {

struct CandidateCode {
  std::string library, function;  // path of a shared object, and which of its functions it is
  std::string hash;               // codeHash()
  std::vector<KernelArg> args;    // as KernelDesc::args
  std::vector<int64_t> values;    // of its variables, each in the middle of its bounds
  std::vector<ConstantLayout> layouts;
  int64_t tiles = 1;
  uint64_t scratchBytes = 0;
};

/// Of a kernel that was lowered; without a library.
CandidateCode describeCode(const CompiledKernel& kernel);

/// The value that a variable has while kernels are measured: between the least and the greatest.
int64_t middleOf(const VarArg& variable);

/// One line that says all of it, for another process, and its inverse.
std::string toText(const CandidateCode& code);
CandidateCode codeFromText(const std::string& text);

using KernelFunction = void (*)(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
                                void* scratch);

}  // namespace svod
