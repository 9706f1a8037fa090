// What a program calls to run a plan that is built into it: the names, in which order things are given, and where in
// the caller's memory every buffer lies. Headers and drivers are made from it.
#pragma once
#include <cstdint>
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

/// The memory that a buffer is part of.
struct Location {
  ParameterKind memory = ParameterKind::Arena;
  uint32_t id = 0;  // of the port
  uint64_t offset = 0;
};

struct Interface {
  std::string prefix;  // "alike"
  WeightsPlace weights;
  std::vector<Parameter> parameters;  // in order
  std::vector<Location> buffers;      // by BufferId
  std::vector<ExprRange> ranges;      // by VariableId
  uint64_t stateBytes = 0;
  uint64_t scratchOffset = 0;  // in the arena: what is behind it is for threads
  uint64_t scratchBytes = 0;   // of each thread
  uint64_t weightBytes = 0;

  uint64_t arenaBytes() const { return scratchOffset + scratchBytes; }
  bool hasWeightsParameter() const { return weightBytes > 0 && weights.kind == WeightsPlace::Kind::File; }
  /// Null where the function has none of this kind.
  const Parameter* find(ParameterKind kind, uint32_t id = 0) const;
};

/// Errors: Usage for a prefix that is no identifier of C; Unsupported for plans with host functions, devices that are
/// no processor, or sizes that might overflow.
Result<Interface> interfaceOf(const Plan& plan, const EmbedOptions& options);

/// How names begin that others see. Errors: Usage for a prefix that is no identifier of C.
Result<std::string> prefixOf(const Plan& plan, const EmbedOptions& options);

/// A name as an identifier of C: `_` for what none has.
std::string identifier(std::string_view name);

}  // namespace svod
