// svodc behind its main: a command line and an environment in, an exit code out.
#pragma once
#include <string>
#include <vector>

#include "command.h"

namespace svod {

/// `words`: those of the command line, without the program's name. `instrument` goes to the passes of every compile
/// (PassOptions::instrument): programs that test svodc give one, svodc itself does not.
int runProgram(const std::vector<std::string>& words, const Environment& environment,
               const PassInstrument& instrument = {});

}  // namespace svod
