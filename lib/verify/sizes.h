// The values of variables that a plan is verified with.
#pragma once
#include <vector>

#include "interp/interp.h"

namespace svod {

struct SizeChoice {
  VariableValues values;
  bool isReduced = false;  // below what was wanted: the interpreter would need more than some seconds
  int runs = 1;            // with other inputs each; more where there are few elements
  int64_t open = 0;        // elements of results that differ where the numerics leave them open
};

/// All variables at their least value, at their likely one, in the middle, at their greatest, and at primes, which
/// differ from each other where the bounds let them; no choice twice. One choice without values for a model without
/// variables. Sizes for which the interpreter would need an hour or more are left out; there may be none left.
std::vector<SizeChoice> chooseSizes(const Model& model);

/// `n=3, m=7`.
std::string toText(const VariableValues& values);

}  // namespace svod
