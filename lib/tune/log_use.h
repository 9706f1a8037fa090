// Coverage of a tuning log: what a compile took from it, and why it took no more.
#pragma once
#include <string>
#include <vector>

#include "driver/compile.h"
#include "report/document.h"

namespace svod {

/// One kernel, of the plan or of its code for another processor.
struct TunedKernelUse {
  std::string kernel, reason;       // reason: a word for programs, empty where opts of the log were taken
  std::string message;              // for people: why not
  bool isHint = false;              // it won with code of another svodc alone
  std::vector<std::string> passed;  // winners that do not apply, and why
};

struct TuningUse {
  std::vector<TunedKernelUse> kernels;
  size_t used = 0, hints = 0;  // kernels with opts of the log
  size_t decisions = 0;        // about the graph
  std::string graphReason;     // why there are none
  std::vector<std::string> decisionsPassed;
};

/// `compiler`: that made the compilation, as CompileOptions says it.
TuningUse tuningUse(const Compilation& compilation, const TuningLog& log, const std::string& compiler);

/// Warnings of winners that do not apply. `path`: of the log.
std::vector<Error> passedOver(const TuningUse& use, const std::string& path);
/// Errors: BadOpt where nothing of the log was taken.
Status checkUsed(const TuningUse& use, const std::string& path);

/// One line.
std::string toText(const TuningUse& use, const std::string& path);
/// The member `tuning` of --json.
Section sectionOf(const TuningUse& use);

}  // namespace svod
