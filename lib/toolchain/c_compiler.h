// Running the user's C compiler (`--cc PROGRAM`) on a generated source file.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

/// A program to run, found in PATH when its name has no slash, and all it sees of the environment
/// ("NAME=value").
struct Tool {
  std::string program;
  std::vector<std::string> environment;
};

/// Runs the tool and waits for it. What it prints is captured; it reads nothing from stdin.
/// Errors: CompileFailed when it cannot start, exits with a status other than 0 or is killed; the last lines
/// of its output are the notes.
Status runTool(const Tool& tool, std::span<const std::string> args);

/// Compiles C11 source `source` to the shared library `output`. `extraArgs` come last, e.g.
/// {"-march=native"}. Float expressions are not contracted: a fused operation stands in the source as fma().
Status compileShared(const Tool& compiler, const std::string& source, const std::string& output,
                     std::span<const std::string> extraArgs = {});

}  // namespace svod
