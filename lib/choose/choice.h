// What was chosen for a kernel, and why.
#pragma once
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

struct Choice {
  Pattern pattern;            // of the kernel as it was given
  std::string_view strategy;  // a row of strategies(); empty where none was asked for
  std::vector<ChosenOpt> opts;
  std::string_view branch = {};  // a row of allBranches() at which it goes the other way; empty: at none
  std::string why = {};          // it and no other seed
};

/// The opts alone.
inline std::vector<OptOp> optsOf(const Choice& choice) {
  std::vector<OptOp> opts;
  for (const ChosenOpt& chosen : choice.opts) opts.push_back(chosen.opt);
  return opts;
}

}  // namespace svod
