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
  std::vector<int64_t> values;    // of its variables
  std::vector<ConstantLayout> layouts;
  int64_t tiles = 1;
  uint64_t scratchBytes = 0;
};

/// Where variables are while something is measured: at their likely values, or so many percent of the way from the
/// least value (0) to the greatest one (100).
inline constexpr int kLikely = -1;
int64_t measuredValue(Interval bounds, int64_t likely, int variablesAt);
inline int64_t measuredValue(const VarArg& v, int variablesAt) {
  return measuredValue({v.min, v.max}, v.likely, variablesAt);
}

/// Of a kernel that was lowered, with variables there; without a library.
CandidateCode describeCode(const CompiledKernel& kernel, int variablesAt);

/// One line that says all of it, for another process, and its inverse, which throws nlohmann::json::exception where the
/// text is another one.
std::string toText(const CandidateCode& code);
CandidateCode codeFromText(const std::string& text);

using KernelFunction = void (*)(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
                                void* scratch);

}  // namespace svod
