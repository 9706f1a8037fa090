// The two forms of a small float (an internal header of the room): its storage bits (an unsigned value, where it was
// loaded or only moved) or an f32 (where it was computed). Whoever uses it asks for the form needed, so copies never
// convert and keep the payload of a NaN. An f32 of f16 or bf16 may hold more digits than the format, unless numerics
// are strict. Whoever would show them, a conversion, a comparison or a rounding to whole numbers, asks for the value of
// the format.
#pragma once
#include <set>
#include <unordered_map>
#include <vector>

#include "lower/legalize_float.h"

namespace svod::detail {

class SmallFloats {
 public:
  /// `emitter` outlives it.
  explicit SmallFloats(Emitter& emitter) : emitter_(emitter) {}

  /// As an f32 that may hold more digits than `format`, and as one that holds none.
  UOp value(UOp x, DType format);
  UOp exactValue(UOp x, DType format);
  UOp bits(UOp x, DType format);
  /// As an f32 or as bits.
  UOp form(UOp x, DType format, DType wanted) { return wanted == DType::F32 ? value(x, format) : bits(x, format); }

  /// Notes that an f32 is a value of `format`.
  UOp isOf(DType format, UOp x);
  bool isKnownOf(DType format, UOp x) const { return exact_.contains({x.id(), format}); }
  /// No form of `x` holds more digits than the format.
  bool holdsExactly(DType format, UOp x) const { return roundsEveryOp(format) || isKnownOf(format, x); }

  /// Rounds an f32 or f64 that stands for a value of `format` before rounding.
  UOp rounded(UOp exact, DType format);
  bool roundsEveryOp(DType format) const;
  /// The result of an op on small floats given as f32.
  UOp compute(Op op, DType format, std::vector<UOp> src);

 private:
  /// What was rounded to it, lane by lane; itself where nothing was.
  UOp unrounded(UOp x) const;
  Ex ex(UOp x) { return {&emitter_, x}; }

  Emitter& emitter_;
  std::set<std::pair<uint32_t, DType>> exact_;   // ids of f32 values that are values of a format
  std::unordered_map<uint32_t, UOp> unrounded_;  // id of a rounded f32 -> what was rounded
};

}  // namespace svod::detail
