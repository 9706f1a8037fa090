// How the values and the memory of a plan read in C (an internal header of the room).
#pragma once
#include <string>
#include <vector>

#include "embed/interface.h"

namespace svod {

/// Whether the name stands in the code as a whole.
bool mentions(const std::string& code, const std::string& name);

class CNames {
 public:
  CNames(const Plan& plan, const Interface& made);

  std::string expr(const Expr& e) const;
  /// A pointer to the bytes of a buffer.
  std::string pointer(BufferId id) const;
  std::string weights() const { return made_.hasWeightsParameter() ? "weights" : "svod_weights"; }
  std::string scratch() const;
  /// Whether a case of a launch holds.
  std::string condition(const LaunchCase& one) const;
  const std::string& variable(VariableId id) const { return variables_[id]; }

 private:
  std::string inArena(uint32_t unit) const;

  const Interface& made_;
  std::vector<std::string> variables_;  // by id
};

/// The function that finds where the units of the arena begin; empty where there are none.
std::string layoutFunctions(const Interface& made, const CNames& names);
/// The lines that call it: what follows knows the beginning of each unit, and of what is behind the last one.
std::vector<std::string> layoutCall(const Interface& made);

}  // namespace svod
