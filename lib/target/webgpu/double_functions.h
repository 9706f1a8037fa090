// f64 in WGSL: the bits are a pair of words, and arithmetic is that of integers (an internal header of the room).
// Subnormal f64 are zeros.
#pragma once
#include "target/webgpu/functions.h"

namespace svod::webgpu {

inline constexpr Function kDoubleFunctions[] = {
    {"svod_neg_f64", "fn svod_neg_f64(a: vec2u) -> vec2u { return vec2u(a.x, a.y ^ 0x80000000u); }\n"},
    {"svod_abs_f64", "fn svod_abs_f64(a: vec2u) -> vec2u { return vec2u(a.x, a.y & 0x7fffffffu); }\n"},
    {"svod_is_nan_f64", R"(fn svod_is_nan_f64(a: vec2u) -> bool {
  let high = a.y & 0x7fffffffu;
  return high > 0x7ff00000u || (high == 0x7ff00000u && a.x != 0u);
}
)"},
    {"svod_eq_f64", R"(fn svod_eq_f64(a: vec2u, b: vec2u) -> bool {
  if (svod_is_nan_f64(a) || svod_is_nan_f64(b)) { return false; }
  return all(a == b) || (((a.y | b.y) & 0x7fffffffu) | a.x | b.x) == 0u;
}
)"},
    {"svod_lt_f64", R"(fn svod_lt_f64(a: vec2u, b: vec2u) -> bool {
  if (svod_is_nan_f64(a) || svod_is_nan_f64(b)) { return false; }
  if ((((a.y | b.y) & 0x7fffffffu) | a.x | b.x) == 0u) { return false; }
  let isNegative = (a.y >> 31u) != 0u;
  if (isNegative != ((b.y >> 31u) != 0u)) { return isNegative; }
  return select(svod_lt_u64(a, b), svod_lt_u64(b, a), isNegative);
}
)"},
    {"svod_le_f64", "fn svod_le_f64(a: vec2u, b: vec2u) -> bool { return svod_lt_f64(a, b) || svod_eq_f64(a, b); }\n"},
    {"svod_zeros", R"(fn svod_zeros(a: vec2u) -> u32 {
  return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}
)"},
    // `digits` begin with the highest bit, that of the exponent; one more bit says whether others were lost. Ties go to
    // even digits, of which 53 are kept.
    {"svod_pack_f64", R"(fn svod_pack_f64(sign: u32, exponent: i32, digits: vec2u, isMore: bool) -> vec2u {
  if (exponent <= 0) { return vec2u(0u, sign); }
  if (exponent >= 2047) { return vec2u(0u, sign | 0x7ff00000u); }
  let rest = digits.x & 0x7ffu;
  let isUp = rest > 0x400u || (rest == 0x400u && (isMore || (digits.x & 0x800u) != 0u));
  let kept = svod_add(svod_shr_u64(digits, 11u), vec2u(u32(isUp), 0u));
  return vec2u(kept.x, kept.y + ((u32(exponent - 1) << 20u) | sign));
}
)"},
    {"svod_digits_f64", "fn svod_digits_f64(a: vec2u) -> vec2u { return vec2u(a.x, (a.y & 0xfffffu) | 0x100000u); }\n"},
    {"svod_mul_f64", R"(fn svod_mul_f64(a: vec2u, b: vec2u) -> vec2u {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let ea = (a.y >> 20u) & 2047u;
  let eb = (b.y >> 20u) & 2047u;
  if (ea == 2047u || eb == 2047u) {
    let isNan = svod_is_nan_f64(a) || svod_is_nan_f64(b) || ea == 0u || eb == 0u;
    return vec2u(0u, select(sign | 0x7ff00000u, 0x7ff80000u, isNan));
  }
  if (ea == 0u || eb == 0u) { return vec2u(0u, sign); }
  let p = svod_shl(svod_digits_f64(a), 11u);
  let q = svod_shl(svod_digits_f64(b), 11u);
  let low = svod_mul(vec2u(p.x, 0u), vec2u(q.x, 0u));
  let first = svod_mul(vec2u(p.x, 0u), vec2u(q.y, 0u));
  let second = svod_mul(vec2u(p.y, 0u), vec2u(q.x, 0u));
  let middle = svod_add(svod_add(vec2u(first.x, 0u), vec2u(second.x, 0u)), vec2u(low.y, 0u));
  let outer = svod_add(svod_add(vec2u(first.y, 0u), vec2u(second.y, 0u)), vec2u(middle.y, 0u));
  let high = svod_add(svod_mul(vec2u(p.y, 0u), vec2u(q.y, 0u)), outer);
  let isOver = (high.y >> 31u) != 0u;
  let next = vec2u((high.x << 1u) | (middle.x >> 31u), (high.y << 1u) | (high.x >> 31u));
  let rest = select(middle.x << 1u, middle.x, isOver) | low.x;
  return svod_pack_f64(sign, i32(ea + eb) - 1023 + i32(isOver), select(next, high, isOver), rest != 0u);
}
)"},
    {"svod_add_f64", R"(fn svod_add_f64(x: vec2u, y: vec2u) -> vec2u {
  let isSwapped = svod_lt_u64(svod_abs_f64(x), svod_abs_f64(y));
  let a = select(x, y, isSwapped);
  let b = select(y, x, isSwapped);
  let ea = (a.y >> 20u) & 2047u;
  let eb = (b.y >> 20u) & 2047u;
  let sign = a.y & 0x80000000u;
  let isLess = ((a.y ^ b.y) >> 31u) != 0u;
  if (ea == 2047u) {
    let isNan = svod_is_nan_f64(a) || (eb == 2047u && isLess);
    return vec2u(0u, select(sign | 0x7ff00000u, 0x7ff80000u, isNan));
  }
  if (ea == 0u) { return vec2u(0u, a.y & b.y & 0x80000000u); }
  if (eb == 0u) { return a; }
  let p = svod_shl(svod_digits_f64(a), 10u);
  let q = svod_shl(svod_digits_f64(b), 10u);
  let by = min(ea - eb, 63u);
  let moved = svod_shr_u64(q, by);
  let near = vec2u(moved.x | u32(any(svod_shl(moved, by) != q)), moved.y);
  let sum = select(svod_add(p, near), svod_sub(p, near), isLess);
  if (all(sum == vec2u())) { return vec2u(); }
  let zeros = svod_zeros(sum);
  return svod_pack_f64(sign, i32(ea) + 1 - i32(zeros), svod_shl(sum, zeros), false);
}
)"},
    {"svod_u64_f64", R"(fn svod_u64_f64(a: vec2u) -> vec2u {
  if (all(a == vec2u())) { return a; }
  let zeros = svod_zeros(a);
  return svod_pack_f64(0u, 1086 - i32(zeros), svod_shl(a, zeros), false);
}
)"},
    {"svod_u32_f64", "fn svod_u32_f64(x: u32) -> vec2u { return svod_u64_f64(vec2u(x, 0u)); }\n"},
    {"svod_i64_f64", R"(fn svod_i64_f64(a: vec2u) -> vec2u {
  let size = svod_u64_f64(svod_abs(a));
  return vec2u(size.x, size.y | (a.y & 0x80000000u));
}
)"},
    {"svod_i32_f64", "fn svod_i32_f64(x: i32) -> vec2u { return svod_i64_f64(svod_i32_i64(x)); }\n"},
    {"svod_f32_f64", R"(fn svod_f32_f64(x: f32) -> vec2u {
  let bits = bitcast<u32>(x);
  let sign = bits & 0x80000000u;
  let part = bits & 0x7fffffu;
  let exponent = (bits >> 23u) & 255u;
  if (exponent == 255u) { return vec2u(part << 29u, sign | 0x7ff00000u | (part >> 3u)); }
  if (exponent != 0u) { return vec2u(part << 29u, sign | ((exponent + 896u) << 20u) | (part >> 3u)); }
  let size = svod_u64_f64(vec2u(part, 0u));
  if (part == 0u) { return vec2u(0u, sign); }
  return vec2u(size.x, (size.y - (149u << 20u)) | sign);
}
)"},
    {"svod_f64_f32", R"(fn svod_f64_f32(a: vec2u) -> f32 {
  let sign = a.y & 0x80000000u;
  let exponent = i32((a.y >> 20u) & 2047u) - 896;
  if (svod_is_nan_f64(a)) { return svod_float(0x7fc00000u); }
  if (exponent >= 255) { return svod_float(sign | 0x7f800000u); }
  if (exponent < -24) { return svod_float(sign); }
  let digits = svod_shl(svod_digits_f64(a), 11u);
  let by = u32(max(1 - exponent, 0));
  let moved = svod_shr_u64(digits, by);
  let isMore = moved.x != 0u || any(svod_shl(moved, by) != digits);
  let rest = moved.y & 255u;
  let isUp = rest > 128u || (rest == 128u && (isMore || (moved.y & 256u) != 0u));
  return svod_float(sign | ((u32(max(exponent - 1, 0)) << 23u) + (moved.y >> 8u) + u32(isUp)));
}
)"},
    {"svod_f64_u64", R"(fn svod_f64_u64(a: vec2u) -> vec2u {
  let exponent = (a.y >> 20u) & 2047u;
  if (exponent < 1023u) { return vec2u(); }
  if (exponent >= 1075u) { return svod_shl(svod_digits_f64(a), min(exponent - 1075u, 63u)); }
  return svod_shr_u64(svod_digits_f64(a), 1075u - exponent);
}
)"},
    {"svod_f64_i64", R"(fn svod_f64_i64(a: vec2u) -> vec2u {
  let size = svod_f64_u64(a);
  return select(size, svod_neg(size), (a.y >> 31u) != 0u);
}
)"},
    {"svod_f64_u32", "fn svod_f64_u32(a: vec2u) -> u32 { return svod_f64_u64(a).x; }\n"},
    {"svod_f64_i32", "fn svod_f64_i32(a: vec2u) -> i32 { return bitcast<i32>(svod_f64_i64(a).x); }\n"},
};

}  // namespace svod::webgpu
