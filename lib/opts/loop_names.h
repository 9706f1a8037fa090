// Names of loops that stay what they are while opts come and go: taking one opt out of a list leaves the others meaning
// what they meant.
#pragma once
#include <map>
#include <span>
#include <string>

#include "facts/axes.h"
#include "ir/graph.h"
#include "opts/opt.h"

namespace svod {

/// Output loops of the kernel as it is given are n0, n1, .. from the outermost one, loops of reductions k0, k1, ..,
/// loops that fill local buffers s0, s1, .. Opts make others of them: `tile` n0.o and n0.i, `merge` n0+n1, `pack` of
/// parameter 2 p2.k0. What is left of a loop that vector, upcast or unroll take steps of keeps its name.
class LoopNames {
 public:
  /// Of a kernel before any opt.
  explicit LoopNames(UOp sink);
  /// After an opt that turned a kernel with these names into `applied`, whose nodes are these.
  LoopNames after(const Applied& applied, std::span<const UOp> nodes) const;

  /// Empty for a loop without a name.
  std::string_view nameOf(UOp range) const;

  /// The opt with every number in place of a name, or every name in place of a number, as far as there is one. `axes`:
  /// of the kernel the names are of. Errors: BadOpt for a name that no axis has.
  Result<OptOp> numbered(const OptOp& opt, std::span<const Axis> axes) const;
  OptOp named(const OptOp& opt, std::span<const Axis> axes) const;

  /// `0 n0 loop 8, 1 n1 loop 64`: describeAxes() with names.
  std::string describe(UOp sink) const;

 private:
  LoopNames() = default;
  bool isTaken(std::string_view name) const;

  std::map<uint32_t, std::string> names_;  // by range id
};

inline bool isPartOfLoopName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '_';
}

}  // namespace svod
