// Sin, Cos, Tan. |x| = q pi/2 + r with |r| <= pi/4, exact for every finite x: the mantissa is multiplied by the bits of
// 2/pi that matter for its exponent (Payne and Hanek), which needs no branch and no table in memory.
#include <vector>

#include "lower/decompose_coefficients.h"
#include "lower/decompose_math.h"

namespace svod::detail {

namespace {

struct Reduced {
  Ex quadrant;   // unsigned; only the low two bits count
  Ex high, low;  // r as a sum
};

// words[start .. start + count) where the bits of `offset` above the lowest `wordBits` are the number `start`.
// `levels` are the values of those bits, largest first.
std::vector<Ex> window(std::vector<Ex> words, Ex offset, std::span<const int> levels, int wordBits, size_t count) {
  int later = 0;  // words that the levels to come may still skip
  for (int level : levels) later += level;
  for (int level : levels) {
    later -= level;
    Ex skip = (offset & static_cast<double>(level << wordBits)) != 0;
    std::vector<Ex> next;
    for (size_t i = 0; i < count + static_cast<size_t>(later) && i < words.size(); ++i) {
      size_t from = i + static_cast<size_t>(level);
      next.push_back(from < words.size() ? where(skip, words[from], words[i]) : words[i]);
    }
    words = std::move(next);
  }
  return words;
}

// Shifts the words left together by `offset` mod word width; one word fewer comes out.
std::vector<Ex> funnelShift(const std::vector<Ex>& words, Ex offset) {
  int width = info(words[0].dtype()).bits;
  Ex left = cast(offset & (width - 1), words[0].dtype()), right = (width - 1) - left;
  std::vector<Ex> shifted;
  for (size_t i = 0; i + 1 < words.size(); ++i) shifted.push_back((words[i] << left) | ((words[i + 1] >> 1) >> right));
  return shifted;
}

Ex wide(Ex x) { return cast(x, DType::U64); }
Ex toF64(Ex x) { return cast(x, DType::F64); }

// The bits of 2/pi for exponent field E start at `offset` = E - 126 in kTwoOverPi32: then mantissa times 96 bits of
// them is x 2/pi, with everything above two integer bits cut off.
Reduced reduceF32(Ex x) {
  Ex bits = bitcast(x, DType::U32), exponent = bits >> 23;
  Ex offset = where(exponent < 126, 0.0, exponent - 126);
  std::vector<Ex> words;
  for (uint32_t w : kTwoOverPi32) words.push_back(bits.num(w));
  constexpr int kLevels[] = {4, 2, 1};
  std::vector<Ex> a = funnelShift(window(words, offset, kLevels, 5, 4), offset);
  Ex mantissa = (bits & 0x7fffff) | 0x800000;
  Ex product = (wide(mantissa * a[0]) << 32) + wide(mantissa) * wide(a[1]) + ((wide(mantissa) * wide(a[2])) >> 32);
  Ex quadrant = cast((product + product.bits(uint64_t{1} << 61)) >> 62, DType::U32);
  Ex fraction = product << 2;  // of pi/2, signed, times 2^64
  Ex high = toF64(bitcast(cast(fraction >> 32, DType::U32), DType::I32)), low = toF64(cast(fraction, DType::U32));
  Ex r = fma(low, 0x1p-32, high) * (kHalfPiF64[0] * 0x1p-32);
  Ex rounded = cast(r, DType::F32);
  return {quadrant, rounded, cast(r - toF64(rounded), DType::F32)};
}

Ex multiplyHigh(Ex a, Ex b) {  // upper half of a u64 product
  Ex mask = a.num(0xffffffff);
  Ex aLow = a & mask, aHigh = a >> 32, bLow = b & mask, bHigh = b >> 32;
  Ex middle = aHigh * bLow + ((aLow * bLow) >> 32);
  Ex other = aLow * bHigh + (middle & mask);
  return aHigh * bHigh + (middle >> 32) + (other >> 32);
}

// A signed 128-bit fraction of pi/2, given by its halves, as radians.
struct HighLow {
  Ex high, low;
};
HighLow fractionToRadians(Ex high, Ex low) {
  Ex d0 = toF64(bitcast(cast(high >> 32, DType::U32), DType::I32)), d1 = toF64(cast(high, DType::U32)) * 0x1p-32;
  Ex d2 = toF64(cast(low >> 32, DType::U32)) * 0x1p-64, d3 = toF64(cast(low, DType::U32)) * 0x1p-96;
  Ex sum = d0 + d1, rest = ((d0 - sum) + d1) + (d2 + d3);
  Ex h = sum + rest, l = (sum - h) + rest;
  Product p = exactProduct(h, h.num(kHalfPiF64[0]));
  Ex small = fma(h, kHalfPiF64[1], fma(l, kHalfPiF64[0], p.low));
  return {p.high * 0x1p-32, small * 0x1p-32};
}

// As reduceF32, with 192 bits of 2/pi from `offset` = E - 1022 in kTwoOverPi64.
Reduced reduceF64(Ex x) {
  Ex bits = bitcast(x, DType::U64), exponent = bits >> 52;
  Ex offset = where(exponent < 1022, 0.0, exponent - 1022);
  std::vector<Ex> words;
  for (uint64_t w : kTwoOverPi64) words.push_back(bits.bits(w));
  constexpr int kLevels[] = {16, 8, 4, 2, 1};
  std::vector<Ex> a = funnelShift(window(words, offset, kLevels, 6, 4), offset);
  Ex mantissa = (bits & bits.bits(0xfffffffffffff)) | bits.bits(uint64_t{1} << 52);
  Ex low = mantissa * a[1], carryIn = multiplyHigh(mantissa, a[2]);
  Ex sum = low + carryIn, carry = cast(sum < low, DType::U64);
  Ex high = mantissa * a[0] + multiplyHigh(mantissa, a[1]) + carry;
  Ex quadrant = (high + high.bits(uint64_t{1} << 61)) >> 62;
  HighLow r = fractionToRadians((high << 2) | (sum >> 62), sum << 2);
  return {quadrant, r.high, r.low};
}

// Exact for arguments up to 2^13 pi/2 or so, a tenth of the work.
Reduced reduceSmall(Ex x) {
  bool single = x.dtype() == DType::F32;
  const double* halfPi = single ? kHalfPiF32 : kHalfPiF64;
  Rounded q = roundToInt(fma(x, 1 / kHalfPiF64[0], layoutOf(x.dtype()).roundMagic));
  Ex first = fma(q.value, -halfPi[0], x), second = fma(q.value, -halfPi[1], first);
  Ex rest = fma(q.value, -halfPi[2], fma(q.value, -halfPi[1], first - second));
  Ex high = second + rest;
  return {bitcast(q.integer, layoutOf(x.dtype()).uint), high, (second - high) + rest};
}

Reduced reduce(Ex x) {
  if (x.e->options.numerics == Numerics::Fast && x.e->options.fma) return reduceSmall(x);
  Reduced r = x.dtype() == DType::F32 ? reduceF32(x) : reduceF64(x);
  Ex inside = x < kHalfPiF64[0] / 2;
  return {where(inside, 0.0, r.quadrant), where(inside, x, r.high), where(inside, 0.0, r.low)};
}

// |a| >= |b|: the rounded sum and what rounding lost.
HighLow sumOf(Ex a, Ex b) {
  Ex sum = a + b;
  return {sum, (a - sum) + b};
}

HighLow sine(Ex r, Ex low, Ex square) {
  bool single = r.dtype() == DType::F32;
  Ex p = single ? poly(square, kSinF32) : poly(square, kSinF64);
  return sumOf(r, fma(r * square, p, low * fma(square, -0.5, 1.0)));
}

HighLow cosine(Ex r, Ex low, Ex square) {
  bool single = r.dtype() == DType::F32;
  Ex p = single ? poly(square, kCosF32) : poly(square, kCosF64);
  Ex half = square * 0.5, head = 1.0 - half;
  Ex tail = fma(square * square, p, -(r * low));
  return sumOf(head, ((1.0 - head) - half) + tail);
}

// One step of Newton's method on the rounded quotient removes the rounding errors of both operands.
Ex quotient(HighLow a, HighLow b) {
  Ex q = a.high / b.high;
  if (!q.e->options.fma) return q;
  Ex missing = fma(-q, b.high, a.high) + fma(-q, b.low, a.low);
  return q + missing / b.high;
}

HighLow select(Ex condition, HighLow a, HighLow b) {
  return {where(condition, a.high, b.high), where(condition, a.low, b.low)};
}

Ex flipSign(Ex x, Ex negative) { return where(negative, -x, x); }

}  // namespace

UOp decomposeTrig(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  Ex magnitude = abs(x);
  Reduced r = reduce(magnitude);
  Ex square = r.high * r.high;
  HighLow s = sine(r.high, r.low, square), c = cosine(r.high, r.low, square);
  Ex odd = (r.quadrant & 1) != 0;
  Ex negative = bitcast(x, layoutOf(x.dtype()).sint) < 0;
  Ex result = s.high;
  if (call.op == Op::Sin) result = flipSign(where(odd, c.high, s.high), ((r.quadrant & 2) != 0) ^ negative);
  if (call.op == Op::Cos) result = flipSign(where(odd, s.high, c.high), ((r.quadrant + 1) & 2) != 0);
  if (call.op == Op::Tan) result = flipSign(quotient(select(odd, c, s), select(odd, s, c)), odd ^ negative);
  return where(magnitude < x.inf(), result, x.nan());
}

}  // namespace svod::detail
