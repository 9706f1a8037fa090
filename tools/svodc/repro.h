// Crash reproducers: what is needed to look at a failed pass again.
#pragma once
#include "command.h"
#include "driver/compile.h"

namespace svod {

/// A file of each folder that a failure leaves.
inline constexpr const char* kReportFile = "report.txt";
/// Whether a folder holds nothing but what an earlier failure left: it may be replaced.
bool isRepro(const std::string& folder);

/// Writes the folder of --repro-dir: `before.uop`, the graph that the pass was given, and `report.txt` with the kernel,
/// the pass, the message, the command, and that of svod-opt which runs the pass alone. The error gets a note that says
/// where, or why it could not be written.
Error withRepro(Error error, const PassFailure& failure, const Request& request);

/// The words as a shell reads them.
std::string shellCommand(const std::vector<std::string>& words);

}  // namespace svod
