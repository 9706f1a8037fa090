// What a tuning log calls a kernel and a target, and how its winners become the opts of a kernel.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "choose/choice.h"
#include "compile/kernel.h"
#include "compile/options.h"
#include "facts/caps.h"
#include "tuning/winners.h"

namespace svod {

/// 32 digits of a SHA-256 over what decides which opts apply and how fast they are: the scheduled kernel as text, the
/// arguments it may overwrite and those that are weights. Its name is not part of it. Before opts.
std::string tuningHash(const CompiledKernel& kernel);
/// What code is made for: "cpu x86_64-unknown-linux-gnu znver4 contract". No size of a cache and no number of cores, so
/// that the processor under its name finds what was measured on one of its kind.
std::string tuningTarget(const CompileOptions& options);

/// Which compiler this is: 16 digits of compilerId() (compiler_id.h).
std::string tuningCompiler();

/// The opts of a winner. Errors: those of the parser and of opts that do not apply to the kernel; TooLarge where it is
/// expected to come to more than twice `most` instructions, and to more than those that choose() finds.
Result<std::vector<OptOp>> applicable(Graph& graph, UOp sink, const Winner& winner, const Caps& caps, size_t most);

/// The first of `winners` that is applicable(); nothing where none is. `passed` gets why those before it are not.
std::optional<Choice> tunedChoice(Graph& graph, UOp sink, std::span<const Winner> winners, const Caps& caps,
                                  size_t most, std::vector<std::string>& passed);

}  // namespace svod
