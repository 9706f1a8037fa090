// compile(): a model in, a plan with its code out. The one place that sees every room.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compile/compilation.h"
#include "compile/options.h"
#include "ir/model.h"

namespace svod {

/// A kernel before its opts, under another name and in a graph of its own: as far as it was simplified, if it was.
/// Nothing is compiled.
CompiledKernel copyOf(const CompiledKernel& kernel, std::string name);
/// Takes a kernel as far as its opts: unopted, optimized, choice.
Status chooseFor(CompiledKernel& kernel, const CompileOptions& options);
/// Takes a copy with these opts as far as `linear` and `desc`, from where the copy begins; emitTogether()
/// (kernel_batch.h) makes its code. Errors: as for compile(); TooLarge beyond mostInstructions.
Status lowerWith(CompiledKernel& copy, std::vector<OptOp> opts, const CompileOptions& options);

/// The model must outlive the result: constants stay borrowed from it. With PassOptions::stopAfter the result has
/// no plan. Errors name the kernel and the pass.
Result<std::unique_ptr<Compilation>> compile(Model& model, const CompileOptions& options);

}  // namespace svod
