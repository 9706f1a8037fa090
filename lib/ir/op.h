// The op table (ops.def) as an enum with queries.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace svod {

enum class Op : uint8_t {
#define OP(name, text, min, max, arg, stages, traits, what) name,
#include "ir/ops.def"
#undef OP
};

/// Where a node may appear. A graph belongs to exactly one stage.
enum class Stage : uint8_t { Tensor = 1, Kernel = 2, Lowered = 4, Linear = 8 };
std::string_view toText(Stage stage);

enum OpTrait : uint32_t {
  Elementwise = 1,  // lane-wise over equal shapes; () broadcasts
  Commutative = 2,
  Associative = 4,              // exactly for integers; for floats only where reassociation is allowed
  Idempotent = 8,               // op(x, x) == x
  Comparison = 16,              // yields bool
  Movement = 32,                // rearranges elements without computing
  Memory = 64,                  // touches storage
  IntOnly = 128,                // integers, Index and bool
  FloatOnly = 256,              // floats
  Transcend = 512 | FloatOnly,  // floats; decomposed to polynomials, documented error bound
};

enum class ArgKind : uint8_t { None, Const, Slot, Var, Axis, Axes, Reduce, Name, Custom };

inline constexpr int kAny = 65535;

struct OpInfo {
  std::string_view name, text;
  int minSrc, maxSrc;  // maxSrc == kAny: unbounded
  ArgKind arg;
  uint8_t stages;   // bits of Stage
  uint32_t traits;  // bits of OpTrait
  std::string_view what;
};

const OpInfo& info(Op op);
std::span<const Op> allOps();
inline std::string_view toText(Op op) { return info(op).text; }
std::optional<Op> opFromText(std::string_view text);
inline bool has(Op op, OpTrait trait) { return (info(op).traits & trait) == static_cast<uint32_t>(trait); }
inline bool isElementwise(Op op) { return has(op, Elementwise); }
inline bool isMovement(Op op) { return has(op, Movement); }

}  // namespace svod
