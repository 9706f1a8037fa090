// Functions of one operand: their calls in graph files, what they are worth in higher precision, and how far a plan may
// be off.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace svod {

struct Function {
  std::string_view op, attributes;  // of a call: op(x, attributes)
  long double (*exact)(long double);
  double ulp;  // bound in units of the last place of the result, for f32 and f64; small floats are within one unit
  double onGpu = 0;  // the bound of f32 on GPUs where numerics are not strict, if it is another one
  /// What else may be off, for an operand, in units of the last place of 1; null: nothing.
  double (*absolute)(double) = nullptr;
  bool eitherZero = false;  // of -0 and +0, which come out of max, min and sign
  /// Factors that meet below the range of normal numbers lose digits: |x| times the smallest number counts as nothing.
  bool isProduct = false;
};
std::span<const Function> unaryFunctions();

/// "" if `got` is within the bound of what the function is worth at x, both values of dtype d, else the difference in
/// words.
std::string differenceAt(const Function& f, DType d, double x, long double exact, double got);

}  // namespace svod
