#include "lower/legalize_float.h"

namespace svod::detail {

namespace {

// One format seen from f32: `shift` fraction bits more, exponents smaller by `rebias`.
struct SmallFormat {
  Specials specials;
  int fraction, bias, shift, rebias, signBit;
  uint32_t largest, infinity, nan;  // storage bits: where finite overflow and infinity go, and NaN
  bool hasF32Exponents() const { return rebias == 0; }
};
SmallFormat formatOf(DType d) {
  FloatFormat f = floatFormat(d);
  auto infinity = static_cast<uint32_t>(f.hasInfinity() ? f.infinity : f.largest);
  auto largest = isMinifloat(d) ? static_cast<uint32_t>(f.largest) : infinity;
  return {f.specials,       f.fractionBits, f.bias,   23 - f.fractionBits,         127 - f.bias,
          info(d).bits - 1, largest,        infinity, static_cast<uint32_t>(f.nan)};
}

Ex asBits(Ex x) { return bitcast(x, DType::U32); }
Ex asFloat(Ex x) { return bitcast(x, DType::F32); }
Ex roundedUp(Ex bits, int shift) {  // bits + half a unit of bit `shift`, ties to even
  return bits + ((1u << (shift - 1)) - 1) + ((bits >> shift) & 1);
}

// f64 to f32 such that rounding the result again gives what rounding once would: inexact results get an odd last bit.
Ex roundToOdd(Ex x) {
  Ex nearest = cast(x, DType::F32), bits = asBits(nearest), back = cast(nearest, DType::F64);
  Ex even = (bits & 1) == 0;
  Ex tooSmall = even & (abs(back) < abs(x)), tooLarge = even & (abs(x) < abs(back));
  return asFloat(where(tooLarge, bits - 1, where(tooSmall, bits + 1, bits)));
}

// Multiples of the smallest subnormal number: adding `magic` rounds to one, and its bits then count them.
struct Subnormals {
  double limit, magic, unit;
};
Subnormals subnormalsOf(const SmallFormat& f) {
  return {std::ldexp(1.0, 1 - f.bias), std::ldexp(1.0, 24 - f.bias - f.fraction),
          std::ldexp(1.0, 1 - f.bias - f.fraction)};
}
Ex countUnits(Ex magnitude, const Subnormals& s) {
  return asBits(asFloat(magnitude) + s.magic) - asBits(asFloat(magnitude).num(s.magic));
}

// Powers of two are f32 exponents, except that f32 has the smallest one as a subnormal number.
constexpr uint32_t kSmallestPower = 1u << 22, kFirstNormal = 1u << 23;

Ex decodePower(Ex storage, const SmallFormat& f) {
  Ex u = cast(storage, DType::U32);
  return asFloat(where(u == 0, kSmallestPower, where(u == f.nan, 0x7fc00000, u << 23)));
}

Ex encodePower(Ex x, const SmallFormat& f) {
  Ex magnitude = asBits(x) & 0x7fffffff;
  Ex subnormal = where(magnitude < kSmallestPower + kSmallestPower / 2, magnitude.num(0), 1);
  Ex normal = bin(Op::Min, (magnitude + kFirstNormal / 2) >> 23, magnitude.num(f.largest));
  return cast(where(x != x, f.nan, where(magnitude < kFirstNormal, subnormal, normal)), DType::U8);
}

// The instruction that makes bits of an f32, or gives the value of bits; none where there is none, or the target lacks
// it.
std::string_view encoderOf(DType format, const Emitter& e) {
  const std::string_view name = format == DType::BF16     ? "f32_bf16"
                                : format == DType::F8E4M3 ? "f32_f8e4m3"
                                : format == DType::F8E5M2 ? "f32_f8e5m2"
                                                          : "";
  return e.has(name) ? name : "";
}

// Infinities stay, where the instruction takes them to the largest number.
Ex encodeByInstruction(std::string_view instruction, Ex x, const SmallFormat& f, DType format) {
  Ex bits = gpu(instruction, memoryDType(format), x);
  if (f.infinity == f.largest) return bits;
  Ex infinity = where(x < 0, bits.num(f.infinity | 1u << f.signBit), bits.num(f.infinity));
  return where(abs(x) == x.inf(), infinity, bits);
}

}  // namespace

Ex decodeFloat(Ex storage, DType format) {
  if (format == DType::F8E4M3 && storage.e->has("f8e4m3_f32")) return gpu("f8e4m3_f32", DType::F32, storage);
  // The upper byte of an f16.
  if (format == DType::F8E5M2 && storage.e->options.nativeF16 && storage.e->options.gpuGeneration > 0)
    return decodeFloat(cast(storage, DType::U16) << 8, DType::F16);
  if (format == DType::F16 && storage.e->options.nativeF16)
    return {storage.e, storage.e->graph.make(Op::Cast, DType::F32, {bitcast(storage, DType::F16).node})};
  SmallFormat f = formatOf(format);
  Ex u = cast(storage, DType::U32);
  if (f.specials == Specials::Powers) return decodePower(storage, f);
  if (f.hasF32Exponents()) return asFloat(u << 16);
  Ex sign = (u & (1u << f.signBit)) << (31 - f.signBit);
  Ex magnitude = (u & ((1u << f.signBit) - 1)) << f.shift;
  Ex normal = magnitude + (static_cast<uint32_t>(f.rebias) << 23);
  Ex subnormal = asBits(asFloat(magnitude + (static_cast<uint32_t>(f.rebias + 1) << 23)) - std::ldexp(1.0, 1 - f.bias));
  Ex bits = where(magnitude < (1u << 23), subnormal, normal);
  if (f.specials == Specials::ZeroNan) return asFloat(where(u == f.nan, 0x7fc00000, bits | sign));
  if (f.specials == Specials::Numbers) return asFloat(bits | sign);
  Ex special = f.specials == Specials::OneNan ? u.num(0x7fc00000) : magnitude | 0x7f800000;
  uint32_t firstSpecial = f.specials == Specials::OneNan ? f.nan : f.infinity;
  bits = where(magnitude < static_cast<double>(firstSpecial) * (1u << f.shift), bits, special);
  return asFloat(bits | sign);
}

Ex encodeFloat(Ex value, DType format) {
  SmallFormat f = formatOf(format);
  Ex x = value.dtype() == DType::F64 ? roundToOdd(value) : value;
  if (format == DType::F16 && x.e->options.nativeF16 && !x.node.isConst()) {
    Ex half{x.e, x.e->graph.make(Op::Cast, DType::F16, {x.node})};
    return bitcast(half, DType::U16);
  }
  if (f.specials == Specials::Powers) return encodePower(x, f);
  if (const std::string_view instruction = encoderOf(format, *x.e); !instruction.empty() && !x.node.isConst())
    return encodeByInstruction(instruction, x, f, format);
  Ex u = asBits(x);
  if (f.hasF32Exponents()) return cast(where(x != x, f.nan, roundedUp(u, 16) >> 16), DType::U16);
  Ex magnitude = u & 0x7fffffff;
  Ex normal = (roundedUp(magnitude, f.shift) >> f.shift) - (static_cast<uint32_t>(f.rebias) << f.fraction);
  Subnormals s = subnormalsOf(f);
  Ex bits = where(asFloat(magnitude) < s.limit, countUnits(magnitude, s), bin(Op::Min, normal, normal.num(f.largest)));
  if (f.infinity != f.largest) bits = where(magnitude == 0x7f800000, f.infinity, bits);
  Ex sign = (u >> (31 - f.signBit)) & (1u << f.signBit);
  bits = f.specials == Specials::ZeroNan ? where(bits == 0, bits, bits | sign) : bits | sign;
  return cast(where(x != x, f.nan, bits), memoryDType(format));
}

Ex roundFloat(Ex x, DType format) {
  if (format == DType::BF16 && x.e->has("round_bf16")) return gpu("round_bf16", DType::F32, x);
  SmallFormat f = formatOf(format);
  bool isPlain = f.specials == Specials::Ieee || f.specials == Specials::OneNan;
  if (!isPlain || !encoderOf(format, *x.e).empty() || (format == DType::F16 && x.e->options.nativeF16))
    return decodeFloat(encodeFloat(x, format), format);
  Ex u = asBits(x);
  uint32_t keep = ~((1u << f.shift) - 1);
  if (f.hasF32Exponents()) return asFloat(where(x != x, 0x7fc00000, roundedUp(u, f.shift) & keep));
  Ex magnitude = u & 0x7fffffff;
  Ex normal = roundedUp(magnitude, f.shift) & keep;
  Ex overflow = asBits(decodeFloat(cast(u.num(f.largest), memoryDType(format)), format));
  normal = where(asBits(x.num(maxFinite(format))) < normal, overflow, normal);
  if (f.infinity != f.largest) normal = where(magnitude == 0x7f800000, magnitude, normal);
  Subnormals s = subnormalsOf(f);
  Ex count = cast(countUnits(magnitude, s), DType::I32);
  Ex subnormal = asBits(Ex{x.e, x.e->graph.make(Op::Cast, DType::F32, {count.node})} * s.unit);
  Ex bits = where(asFloat(magnitude) < s.limit, subnormal, normal) | (u & 0x80000000);
  return where(x != x, x.nan(), asFloat(bits));
}

}  // namespace svod::detail
