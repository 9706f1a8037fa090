// A kernel of a graph, as a tune compiles it.
#pragma once
#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "common/temp_folder.h"
#include "measure/compile_candidates.h"
#include "toolchain/linker.h"

namespace svod {

struct CompiledGraph {
  TempFolder folder;
  Linker linker{folder / ""};
  CompileOptions options;
  Model model;
  std::unique_ptr<Compilation> compilation;
  const CompiledKernel* kernel = nullptr;

  explicit CompiledGraph(const std::string& text) : model(modelOf(text)) {
    options.machine = makeCpuTarget("", "native").value();
    options.linker = &linker;
    auto compiled = compile(model, options);
    if (!compiled) FAIL(toText(compiled.error()));
    compilation = std::move(*compiled);
    kernel = &compilation->kernels.at(0);
  }
  std::vector<CompiledCandidate> of(const std::vector<std::string>& texts, const CompileLimits& limits = {},
                                    const KnownCode& known = {}) {
    std::vector<std::vector<OptOp>> lists;
    for (const std::string& text : texts) lists.push_back(parseOpts(text).value());
    return compileCandidates(*kernel, lists, candidateOptions(options), limits, known,
                             folder / "c" + std::to_string(batches++) + "-");
  }
  int batches = 0;
};

inline constexpr const char* kProduct = "input a: f32[33, 20]\ninput b: f32[20, 48]\noutput y = matmul(a, b)\n";

}  // namespace svod
