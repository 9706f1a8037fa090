// What a program calls to run a plan that is built into it: the names, in which order things are given, and where in
// the caller's memory every buffer lies. Headers and drivers are made from it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "embed/range.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod {

/// Where the weights of an embedded plan are.
struct WeightsPlace {
  enum class Kind : uint8_t {
    Object,   // a constant array of the object
    Section,  // the same in a section of its own
    File,     // in memory that the caller gives, such as weights.bin of the plan, mapped
  };
  Kind kind = Kind::Object;
  std::string section;
  bool isChosen = false;  // and not what is usual
};

/// "object", "file" or "section=NAME". Errors: Usage.
Result<WeightsPlace> weightsPlace(const std::string& text);

struct EmbedOptions {
  std::string prefix;  // of every name that others see; empty: the graph's
  WeightsPlace weights;
};

enum class ParameterKind : uint8_t { Variable, Input, Output, States, Weights, Arena, Threads };

/// One parameter of the function.
struct Parameter {
  ParameterKind kind;
  uint32_t id = 0;   // of the variable or port
  std::string name;  // in C
};

/// Where units of an arena that is laid out for every run make room for a buffer (RunPlace in plan/plan.h).
struct UnitRoom {
  uint32_t begin = 0, end = 0;
  Expr bytes;  // to be rounded up to kPlanAlignment
};

/// The memory that a buffer is part of.
struct Location {
  ParameterKind memory = ParameterKind::Arena;
  uint32_t id = 0;  // of the port
  uint64_t offset = 0;
  uint32_t unit = 0;  // of the arena, that the offset counts from
};

/// What a function that others see does.
enum class FunctionKind : uint8_t {
  Run,
  Reset,  // gives states their first values
  Size,   // tells a number of given variables, or -1 where they are outside their bounds
};

struct PublicFunction {
  FunctionKind kind;
  std::string name;      // "alike_run"
  std::string what;      // of a size, for people
  Expr size = {};        // over the plan's variables
  bool ofUnits = false;  // and besides all units of the arena
};

struct Interface {
  std::string prefix;  // "alike"
  std::string tag;     // stands behind the names of functions in objects; of all that decides what they do
  WeightsPlace weights;
  std::vector<Parameter> parameters;  // of Run, in order
  std::vector<PublicFunction> functions;
  std::vector<Location> buffers;  // by BufferId
  std::vector<ExprRange> ranges;  // by VariableId
  uint64_t stateBytes = 0;
  /// All arenas of the plan as one row, by `end`; empty where the arena is the same in every run. Scratch is behind it.
  std::vector<UnitRoom> units;
  uint64_t scratchOffset = 0;  // in the arena, at the greatest sizes: what is behind it is for threads
  uint64_t scratchBytes = 0;   // of each thread
  uint64_t weightBytes = 0;

  uint32_t unitCount() const { return units.empty() ? 0 : units.back().end; }
  uint64_t arenaBytes() const { return scratchOffset + scratchBytes; }
  /// As arrays are declared, which C wants to have an element.
  uint64_t declaredArenaBytes() const { return std::max<uint64_t>(arenaBytes(), kPlanAlignment); }
  /// The name of a function in objects: two models with one prefix have no such name in common.
  std::string symbolOf(const PublicFunction& function) const { return function.name + "_" + tag; }
  bool hasWeightsParameter() const { return weightBytes > 0 && weights.kind == WeightsPlace::Kind::File; }
  /// Null where the function has none of this kind.
  const Parameter* find(ParameterKind kind, uint32_t id = 0) const;
};

/// The tag is empty. Errors: Usage for a prefix that is no identifier of C; Unsupported for plans with host functions,
/// devices that are no processor, or sizes that might overflow.
Result<Interface> interfaceOf(const Plan& plan, const EmbedOptions& options);

/// Parameters of a function, in order: those of Run, or some of them.
std::vector<Parameter> parametersOf(const Interface& made, FunctionKind kind);

/// What a parameter for an input or output is given.
const Port& portOf(const Plan& plan, const Parameter& parameter);

/// When an input or output must not be null.
enum class Need : uint8_t { Never, Always, WithElements };
Need needOf(const Plan& plan, const Interface& made, const Parameter& parameter);

/// How many elements a port has; nothing where the number might overflow within the bounds of the variables.
std::optional<Expr> elementsOf(const Port& port, std::span<const ExprRange> variables);

/// How names begin that others see. Errors: Usage for a prefix that is no identifier of C.
Result<std::string> prefixOf(const Plan& plan, const EmbedOptions& options);

/// A name as an identifier of C: `_` for what none has.
std::string identifier(std::string_view name);

}  // namespace svod
