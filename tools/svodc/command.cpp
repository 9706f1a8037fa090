#include "command.h"

namespace svod {

namespace {

constexpr Command kCommands[] = {
    {"compile", "GRAPH -o PLAN", "compile a graph file to a plan", Compile, 1, 1, runCompile},
    {"inspect", "PLAN|GRAPH", "show what a plan holds, or what compiling a graph would make", Inspect, 1, 1,
     runInspect},
    {"check", "GRAPH", "report every problem of a graph file", Check, 1, 1, runCheck},
    {"convert", "GRAPH|MODEL.onnx -o GRAPH",
     "write a graph file in the other format, or a model as a graph file: .svod is text, .json is JSON; large weights "
     "of a "
     "model go into a .safetensors file beside it",
     Convert, 1, 1, runConvert},
    {"targets", "", "list what code can be generated for; with --cpu NAME, describe a processor", Targets, 0, 0,
     runTargets},
    {"tune", "GRAPH.. --tuning-log FILE | plan GRAPH.. -o WORK | run WORK --unit N | status WORK",
     "look for better opts for every kernel of some graphs by running them here, and append what was measured to a "
     "log; "
     "plan cuts that into units for several machines, run does one of them, status says how far they are",
     Tune, 0, 4096, runTune},
    {"log", "merge|stats|best|diff|prune|html LOG..",
     "tuning logs: merge puts several into one, stats counts what is in them, best shows the opts that win, diff where "
     "those of two differ, prune leaves out what decides nothing, html writes a page of all of it",
     Log, 1, 4096, runLog},
    {"cache", "", "show or clear the compiled kernels that are kept for later", Cache, 0, 0, runCache},
};

}  // namespace

std::span<const Command> allCommands() { return kCommands; }

}  // namespace svod
