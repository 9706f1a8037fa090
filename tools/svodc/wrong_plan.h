// What svodc compile --verify leaves of a plan that computes something else than its graph says.
#pragma once
#include "build.h"
#include "verify/verify.h"

namespace svod {

/// Writes the folder of --repro-dir: the graph, also a smaller one that is wrong as well (graph_reducer.h), the inputs
/// of the run and both values as .npy, and `report.txt` with the message, the commands that repeat it, the sizes and
/// the seed. The error gets a note that says where, or why it could not be written.
Error withWrongPlan(Error error, const WrongRun& wrong, const BuildResult& build, const Request& request);

}  // namespace svod
