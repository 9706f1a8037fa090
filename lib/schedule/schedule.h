// From a tensor graph to kernels: which values get a buffer, the kernel that computes each, and a program order in
// which every value is written before it is read and every old state is read before it is overwritten.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/model.h"
#include "ir/numerics.h"
#include "pass/pass.h"
#include "support/decision.h"
#include "support/result.h"
#include "tensor/graph_machine.h"

namespace svod {

struct ScheduleOptions {
  Numerics numerics = Numerics::Contract;
  GraphMachine machine = {};
  PassOptions passes = {};
  DecisionRequests decisions = {};  // others than the usual choices
};

/// Storage of one value: dense at the sizes of a run, but for a state, whose strides are those of the greatest sizes.
struct ScheduleBuffer {
  DType dtype;
  int64_t maxElements;
  int port = -1;           // position in Model::ports, or -1 for a temporary
  std::string name;        // of the port or of the node that is stored here
  int viewOf = -1;         // another buffer whose bytes these are, which is no view itself, or -1
  int64_t viewOffset = 0;  // elements into viewOf
  UOp elements = {};       // of a temporary: how many lie between its first one and its last one at the sizes of a run
};

/// A kernel AST in a graph of its own: sink(end(store(index(param), value), ranges..), ..).
struct Kernel {
  std::unique_ptr<Graph> graph;
  UOp sink;
  std::string name;  // readable and unique in the schedule: label, extents, content hash
  /// Slots of arguments whose memory could take the result: an element of theirs is read for the result's element at
  /// the same place only. Empty in kernels that are never asked to do so.
  std::vector<int> inPlace;
};

/// A loop over items. Kernels, and the counts of loops inside, know its counter as the variable `counter`, which is
/// unlike every variable of the model and every counter of the loops around it.
struct ScheduleLoop {
  std::string counter;
  UOp count;           // in the model's graph, over variables; a negative one is an error of the caller
  int condition = -1;  // bool buffer of one element; an iteration begins only if it is true
};

enum class ItemKind : uint8_t { Launch, Copy, HostCall, Loop };

/// One step in program order. Sizes are expressions in the model's graph, over variables and counters. Launch:
/// args[slot] is the buffer of Param slot. Copy: args = {destination, source}. HostCall: args = {result, inputs...}.
/// Loop: its body is the `length` items that follow, those of inner loops counted.
struct ScheduleItem {
  ItemKind kind;
  int kernel = -1;       // Launch; Loop: position in Schedule::loops
  std::string function;  // HostCall
  std::vector<int> args;
  std::vector<bool> writes;  // per arg; an arg that is written may be read as well
  std::vector<bool> reads;
  std::string label;
  size_t length = 0;                          // Loop
  UOp elements = {};                          // Copy: how many, from the first on
  std::vector<std::vector<UOp>> shapes = {};  // HostCall: per arg, dense at this shape
  std::vector<UOp> values = {};               // HostCall: numbers it gets besides
  std::string device = {};                    // Launch, Copy: where the graph wants the result; empty: anywhere
  int overwrites = -1;  // Launch: slot of a temporary that nobody reads afterwards and the result may lie on
};

struct Schedule {
  std::vector<ScheduleBuffer> buffers;
  std::vector<Kernel> kernels;  // equal content appears once
  std::vector<ScheduleItem> items;
  std::vector<ScheduleLoop> loops;
  std::vector<Decision> decisions;  // that were made about the graph, in order
};

/// The buffer that has the memory of one: itself, or what it is a view of.
inline int ownerOf(const Schedule& schedule, int buffer) {
  const int viewOf = schedule.buffers[static_cast<size_t>(buffer)].viewOf;
  return viewOf < 0 ? buffer : viewOf;
}

/// Runs all of graphPasses() (graph_passes.h) on the model. Adds nodes to its graph but changes no existing one. Pure
/// constants, zero-element values and ports that are only copied are handled; a value that can never be ordered (a
/// state read both before and after its own store by one value) is given a snapshot.
Result<Schedule> makeSchedule(Model& model, const ScheduleOptions& options);

/// The schedule as text: buffers, then items with their arguments, then each kernel.
std::string toText(const Schedule& schedule);

}  // namespace svod
