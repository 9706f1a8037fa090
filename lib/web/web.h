// A plan for adapters of WebGPU as an ES module that pages load: its functions, their types for TypeScript, and the
// weights. It needs no library.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/result.h"

namespace svod {

struct WebParts {
  std::vector<std::string> kernels;                 // WGSL as the target writes it, by KernelId
  std::vector<std::span<const std::byte>> weights;  // weights.bin, in pieces
};

struct WebOptions {
  std::string prefix;            // of the names of files
  bool holdsWeights = false;     // in the module, in place of a file of their own
  std::string_view digest = {};  // of the weights, by which pages know them from those of another build
};

struct WebFile {
  std::string name, text;
  bool isWeights = false;  // the bytes of WebParts::weights, in place of `text`
};

/// NAME.js, NAME.d.ts and, where there are weights, NAME.bin. Errors: Unsupported for what a page cannot do: functions
/// on the processor, kernels without WGSL, sizes that JavaScript does not count exactly.
Result<std::vector<WebFile>> webFiles(const Plan& plan, const WebParts& parts, const WebOptions& options);

/// How such a module and such declarations begin.
inline constexpr std::string_view kWebMark = "// Made by svodc: ";

}  // namespace svod
