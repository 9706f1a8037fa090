// The help texts, made from the tables of commands, flags and lists.
#pragma once
#include <string>

#include "command.h"

namespace svod {

/// Of one command, or of svodc when null.
std::string helpText(const Command* command);

}  // namespace svod
