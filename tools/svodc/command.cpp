#include "command.h"

namespace svod {

namespace {

constexpr Command kCommands[] = {
    {"compile", "GRAPH -o PLAN", "compile a graph file or an ONNX model to a plan", Compile, 1, 1, runCompile},
    {"inspect", "PLAN|GRAPH", "show what a plan holds, or what compiling a graph would make", Inspect, 1, 1,
     runInspect},
    {"check", "GRAPH", "report every problem of a graph file", Check, 1, 1, runCheck},
    {"convert", "GRAPH|MODEL.onnx -o GRAPH",
     "convert a graph file to the other format, or a model to a graph file: .svod is text, .json is JSON; large "
     "weights "
     "of a model go into a .safetensors file beside it",
     Convert, 1, 1, runConvert},
    {"targets", "", "list what code can be generated for; with --cpu NAME, describe a processor", Targets, 0, 0,
     runTargets},
    {"tune", "GRAPH.. --tuning-log FILE | plan GRAPH.. -o WORK | run WORK --unit N | status WORK",
     "search for faster opts of every kernel by running candidates here, and append the times to a tuning log; plan "
     "divides that into units for several machines, run does one of them, status reports their progress",
     Tune, 0, 4096, runTune},
    {"log", "merge|stats|best|diff|prune|html LOG..",
     "merge tuning logs, count their records (stats), show the winners (best), compare those of two (diff), drop what "
     "decides nothing (prune), or write all of it as a page (html)",
     Log, 1, 4096, runLog},
    {"cache", "", "show or clear the kernel cache", Cache, 0, 0, runCache},
};

}  // namespace

std::span<const Command> allCommands() { return kCommands; }

}  // namespace svod
