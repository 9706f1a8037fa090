// OptOp: one schedule decision about one kernel, as data with a text form. docs/opts.md explains each for
// users.
#pragma once
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

class KernelFacts;
class LoopNames;

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
  NoLocals,
  Spread,
  Swizzle,
  Async,
  Bulk,
  Raster,
  Persist,
  Stash
};

/// A loop of the kernel: its number in axesOf() (facts/axes.h), or the name LoopNames (loop_names.h) has for it.
struct AxisRef {
  int32_t number = 0;     // -1: by name
  std::string name = {};  // empty: by number

  AxisRef() = default;
  AxisRef(int32_t axis) : number(axis) {}
  AxisRef(std::string loop) : number(-1), name(std::move(loop)) {}
  operator int32_t() const { return number; }
  bool operator==(const AxisRef&) const = default;
};

/// The arguments of an opt: a closed set of named structs.
struct NoArgs {
  bool operator==(const NoArgs&) const = default;
};
struct AxisAmount {  // "upcast(0,4)"; amount 0 stands for the whole axis where an opt allows that
  AxisRef axis;
  int64_t amount = 0;
  bool operator==(const AxisAmount&) const = default;
};
struct AxisList {  // "order(1,0,2)"
  std::vector<AxisRef> axes;
  bool operator==(const AxisList&) const = default;
};
struct TwoAxesAmount {  // "pitch(0,1,9)"
  AxisRef outer, inner;
  int64_t amount = 0;
  bool operator==(const TwoAxesAmount&) const = default;
};
struct PackArgs {  // "pack(2,3,1)": the kernel parameter in slot 2, panel layout axis 3 then axis 1
  uint32_t slot = 0;
  std::vector<AxisRef> axes;
  bool operator==(const PackArgs&) const = default;
};
struct ParamSlot {  // "stream(0)": the kernel parameter in slot 0
  uint32_t slot = 0;
  bool operator==(const ParamSlot&) const = default;
};
struct SlotAxisAmount {  // "prefetch(1,0,512)": the kernel parameter in slot 1, axis 0, 512 elements
  uint32_t slot = 0;
  AxisRef axis;
  int64_t amount = 0;
  bool operator==(const SlotAxisAmount&) const = default;
};
struct CoreAxes {  // "tc(0,0,1,2)": tensor core 0 of the target, rows axis 0, columns axis 1, sums along axis 2
  uint32_t core = 0;
  AxisRef m, n, k;
  bool operator==(const CoreAxes&) const = default;
};
using OptArgs =
    std::variant<NoArgs, AxisAmount, AxisList, TwoAxesAmount, PackArgs, ParamSlot, SlotAxisAmount, CoreAxes>;

struct OptOp {
  OptKind kind;
  OptArgs args;
  bool operator==(const OptOp&) const = default;
};

/// The alternatives of OptArgs, in their order.
enum class OptShape : uint8_t { None, AxisAmount, AxisList, TwoAxesAmount, Pack, Param, SlotAxisAmount, CoreAxes };

/// A loop that an opt made, and those it was made from. How it is named follows from that.
struct MadeLoop {
  enum class How : uint8_t {
    Part,  // `label` says which part of a loop it is: "i" for n.i
    Join,  // runs through all of them: n0+n1
    Copy,  // the same loop elsewhere: that of the local buffer `label`, p2.n - or n, where no other is left
  };
  How how;
  UOp range;
  std::vector<UOp> from;
  std::string label = {};
};

/// What an opt came to.
struct Applied {
  UOp sink;
  std::vector<MadeLoop> made = {};

  Applied() = default;
  Applied(UOp kernel, std::vector<MadeLoop> loops = {}) : sink(kernel), made(std::move(loops)) {}
};

/// One row per kind. `apply` returns the changed kernel with the loops it has now and had not before, or an error
/// (BadOpt) that says why the opt does not apply; it never changes what the kernel computes, except for the rounding of
/// float reductions where `caps` allows it. It reads numbers of axes alone: names are looked up before (replay.h).
/// `propose` lists the moves that make sense for a kernel (propose.h).
struct OptInfo {
  OptKind kind;
  std::string_view name, signature, what;
  OptShape shape;
  Result<Applied> (*apply)(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
  std::vector<OptOp> (*propose)(const KernelFacts& kernel, const LoopNames& names, const Caps& caps);
};

const OptInfo& info(OptKind kind);
std::string usageOf(OptKind kind);  // how it is written and what it does
std::span<const OptInfo> allOpts();

/// Calls `slot(uint32_t&)`, `axis(AxisRef&)` and `amount(int64_t&)` for the arguments in the order in which they are
/// written; lists of axes come last.
template <class Args, class Slot, class Axis, class Amount>
void forEachArg(Args& args, const Slot& slot, const Axis& axis, const Amount& amount) {
  std::visit(
      [&](auto& a) {
        if constexpr (requires { a.core; }) slot(a.core);
        if constexpr (requires { a.slot; }) slot(a.slot);
        if constexpr (requires { a.axis; }) axis(a.axis);
        if constexpr (requires { a.outer; }) axis(a.outer), axis(a.inner);
        if constexpr (requires { a.m; }) axis(a.m), axis(a.n), axis(a.k);
        if constexpr (requires { a.axes; })
          for (auto& each : a.axes) axis(each);
        if constexpr (requires { a.amount; }) amount(a.amount);
      },
      args);
}

/// `upcast(0,4)`, `upcast(n0,4)`, and a list separated by spaces.
std::string toText(const OptOp& opt);
std::string toText(std::span<const OptOp> opts);

/// Parses such a list; separators are spaces, semicolons or line ends. Errors: BadOpt with the position in
/// `text`.
Result<std::vector<OptOp>> parseOpts(std::string_view text);

}  // namespace svod
