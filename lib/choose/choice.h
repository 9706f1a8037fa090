// What was chosen for a kernel, and why.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/patterns.h"
#include "opts/opt.h"

namespace svod {

/// One decision, and in a phrase what speaks for it.
struct ChosenOpt {
  OptOp opt;
  std::string why;
};

/// What a size of the run is within, both ends inclusive, and what it is likely to be there.
struct SizeLimits {
  std::string size;
  int64_t min = 0, max = 0, likely = 0;
  bool operator==(const SizeLimits&) const = default;
};

/// Sizes of a run for which a kernel of its own is expected to be clearly better than that of all sizes.
struct SizeCase {
  std::vector<SizeLimits> sizes;
  int64_t nanoseconds = 0;  // that it is expected to save in one launch
  bool operator==(const SizeCase&) const = default;
};

struct Choice {
  Pattern pattern;            // of the kernel as it was given
  std::string_view strategy;  // a row of strategies(); empty where none was asked for
  std::vector<ChosenOpt> opts;
  std::string_view branch = {};  // a row of allBranches() at which it goes the other way; empty: at none
  std::string why = {};          // it and no other seed
  std::vector<SizeCase> cases = {};
};

/// The opts alone.
inline std::vector<OptOp> optsOf(const Choice& choice) {
  std::vector<OptOp> opts;
  for (const ChosenOpt& chosen : choice.opts) opts.push_back(chosen.opt);
  return opts;
}

}  // namespace svod
