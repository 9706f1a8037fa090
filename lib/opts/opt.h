// OptOp: one schedule decision about one kernel, as data with a text form. docs/opts.md explains each for
// users.
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "facts/caps.h"
#include "ir/graph.h"
#include "support/result.h"

namespace svod {

enum class OptKind : uint8_t {
  Upcast,
  Vector,
  Unroll,
  Acc,
  Dot,
  Tc,
  Tile,
  PadTo,
  Merge,
  Pitch,
  Order,
  Thread,
  Pack,
  Window,
  Share,
  KBlock,
  Hold,
  Prefetch,
  Stream,
  Global,
  Local,
  Group,
  GroupTop,
  Swap,
  NoLocals
};

/// The arguments of an opt: a closed set of named structs. Axis numbers are positions in axesOf() (axes.h).
struct NoArgs {
  auto operator<=>(const NoArgs&) const = default;
};
struct AxisAmount {  // "upcast(0,4)"; amount 0 stands for the whole axis where an opt allows that
  int32_t axis = 0;
  int64_t amount = 0;
  auto operator<=>(const AxisAmount&) const = default;
};
struct AxisList {  // "order(1,0,2)"
  std::vector<int32_t> axes;
  auto operator<=>(const AxisList&) const = default;
};
struct PackArgs {  // "pack(2,3,1)": the kernel parameter in slot 2, panel layout axis 3 then axis 1
  uint32_t slot = 0;
  std::vector<int32_t> axes;
  auto operator<=>(const PackArgs&) const = default;
};
struct ParamSlot {  // "stream(0)": the kernel parameter in slot 0
  uint32_t slot = 0;
  auto operator<=>(const ParamSlot&) const = default;
};
struct SlotAxisAmount {  // "prefetch(1,0,512)": the kernel parameter in slot 1, axis 0, 512 elements
  uint32_t slot = 0;
  int32_t axis = 0;
  int64_t amount = 0;
  auto operator<=>(const SlotAxisAmount&) const = default;
};
struct CoreAxes {  // "tc(0,0,1,2)": tensor core 0 of the target, rows axis 0, columns axis 1, sums along axis 2
  uint32_t core = 0;
  int32_t m = 0, n = 0, k = 0;
  auto operator<=>(const CoreAxes&) const = default;
};
using OptArgs = std::variant<NoArgs, AxisAmount, AxisList, PackArgs, ParamSlot, SlotAxisAmount, CoreAxes>;

struct OptOp {
  OptKind kind;
  OptArgs args;
  auto operator<=>(const OptOp&) const = default;
};

enum class OptShape : uint8_t { None, AxisAmount, AxisList, Pack, Param, SlotAxisAmount, CoreAxes };

/// One row per kind. `apply` returns the changed kernel, or an error (BadOpt) that says why the opt does not
/// apply; it never changes what the kernel computes, except for the rounding of float reductions where `caps`
/// allows it.
struct OptInfo {
  OptKind kind;
  std::string_view name, signature, what;
  OptShape shape;
  Result<UOp> (*apply)(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
};

const OptInfo& info(OptKind kind);
std::string usageOf(OptKind kind);  // how it is written and what it does
std::span<const OptInfo> allOpts();

/// `upcast(0,4)`, and a list separated by spaces.
std::string toText(const OptOp& opt);
std::string toText(std::span<const OptOp> opts);

/// Parses such a list; separators are spaces, semicolons or line ends. Errors: BadOpt with the position in
/// `text`.
Result<std::vector<OptOp>> parseOpts(std::string_view text);

}  // namespace svod
