// Choices that a run makes by one value: what only one side needs runs where that side is taken.
#pragma once
#include "ir/model.h"
#include "schedule/schedule.h"
#include "support/decision.h"

namespace svod {

/// Puts items into loops of one trip under a condition where kernels read their results on one side of a `where` alone,
/// whose condition is the same for all elements. The other side is then of what memory holds: nothing but the choice
/// reads it. Items stay in order among what they share, and each is worth its condition.
void skipUnchosen(const Model& model, Schedule& schedule, Decisions& decisions);

}  // namespace svod
