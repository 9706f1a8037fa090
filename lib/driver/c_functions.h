// Functions of C files that a graph calls: custom(x, source="median.c", function=median). They become kernels of the
// plan: `void median(float* result, const float* x, int64_t value)` gets the result, the operands, and `values`.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/options.h"
#include "ir/model.h"

namespace svod {

struct Compilation;

/// The first call of each function, by the name of its Custom nodes.
using CCallPlaces = std::map<std::string, SourceLoc, std::less<>>;

/// Whether the files have the functions that the graph calls, and these take what they are given. Adds what the files
/// include to `filesRead`. Errors: CompileFailed with the place in the file of C; BadAttribute with that of the call
/// for a function that is not there or has another signature.
Status checkCFunctions(const Model& model, const CFiles& files, const CpuTarget& cpu, const CCallPlaces& places,
                       std::set<std::string>* filesRead);

/// One kernel that calls a function with so many arrays, the result first, and numbers.
struct CCall {
  std::string symbol, function;
  size_t arrays = 0, numbers = 0;
};
/// The text of a file of C with kernels behind it.
CFile withKernels(const CFile& file, std::span<const CCall> calls);

/// Turns the schedule's calls of such functions into launches of kernels behind its own: fills Compilation::functions
/// and functionObjects, with code of the target that is for the host; and those of variants, whose options are
/// `variants`. `byTarget` as optionsByTarget() has it. Errors: those of the compiler; Unsupported without such a
/// target.
Status compileCFunctions(Compilation& compilation, std::span<const CompileOptions> byTarget,
                         std::span<const CompileOptions> variants);

}  // namespace svod
