// The command line of svod-opt.
#pragma once
#include <string>
#include <vector>

#include "driver/kernel_job.h"
#include "support/result.h"

namespace svod {

struct OptToolOptions {
  std::vector<std::string> passes;  // names, in the order in which they run
  std::string file;                 // "-" is stdin
  std::string output, emit, target = "cpu", triple, cpu, numerics = "contract", opts, diagnostics = "text";
  int64_t optLevel = 1;
  std::vector<std::string> disabledRules, decide;
  bool all = false, check = false, reduce = false, propose = false, list = false, timePasses = false, help = false,
       version = false;
};

/// `words` are the arguments without the program's name: passes, and one file, whose name has a dot or a slash or is
/// "-". Errors: Usage.
Result<OptToolOptions> parseOptToolOptions(const std::vector<std::string>& words);

std::string optToolHelp();

/// What the passes of the kernel are told. Errors: Usage.
Result<KernelJob> kernelJobOf(const OptToolOptions& options);
Result<Numerics> numericsOf(const OptToolOptions& options);

}  // namespace svod
