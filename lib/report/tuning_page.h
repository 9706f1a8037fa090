// What there is to say about a tuning log, as a Document (document.h) for render.h.
#pragma once
#include <span>
#include <string>

#include "report/document.h"
#include "tuning/account.h"

namespace svod {

/// Why the winner of a kernel won, or why -O1 stays: its opts beside those of -O1, times, who came close, what failed.
Section tunedKernel(const KernelAccount& account);

/// Gain of each graph, of each kernel and of all of them, how the searches went, predictions beside measurements, what
/// failed and what winners do differently.
Document tuningPage(const TuningLog& log, std::string_view compiler, const std::string& title);

/// Where a page says all of the kernel.
std::string anchorOf(const KernelAccount& account);
/// "-" where it is not known.
Cell timeOrNone(double nanoseconds);
/// "none" for the empty list, which is one that may win.
Cell optsCell(const std::string& opts);
/// "71.2", with the ratio itself as value.
Cell percentCell(double ratio);
/// What whole graphs gained, each with all its winners.
Table gainsTable(const TuningLog& log, std::string_view compiler);
/// Decisions about graphs that won, with those before them that are passed over, and all plans that were measured;
/// decisions as one line.
Table planWinnersTable(const TuningLog& log, std::string_view compiler);
Table plansTable(const TuningLog& log);
std::string decisionsText(const std::vector<std::string>& decisions);
/// Candidates by what became of them.
Table outcomesTable(const std::map<Outcome, int64_t>& counts);

}  // namespace svod
