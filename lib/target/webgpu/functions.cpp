// Integers of 64 bits are pairs of words, the lower one first. Counts of shifts are from 0 to 63, and divisors are not
// 0.
#include "target/webgpu/double_functions.h"

#include <span>

namespace svod::webgpu {

namespace {

/// A function calls only those in front of it.
constexpr Function kFunctions[] = {
    // No number that compilers see is infinite or NaN: the first word is 0.
    {"svod_float", "fn svod_float(x: u32) -> f32 { return bitcast<f32>(x | svod_words[0].x); }\n"},
    {"svod_is_nan", "fn svod_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }\n"},
    {"svod_add", R"(fn svod_add(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + u32(low < a.x));
}
)"},
    {"svod_sub", "fn svod_sub(a: vec2u, b: vec2u) -> vec2u { return vec2u(a.x - b.x, a.y - b.y - u32(a.x < b.x)); }\n"},
    {"svod_neg", "fn svod_neg(a: vec2u) -> vec2u { return vec2u(0u - a.x, 0u - a.y - u32(a.x != 0u)); }\n"},
    {"svod_mul", R"(fn svod_mul(a: vec2u, b: vec2u) -> vec2u {
  let a0 = a.x & 0xffffu;
  let a1 = a.x >> 16u;
  let b0 = b.x & 0xffffu;
  let b1 = b.x >> 16u;
  let low = a0 * b0;
  let first = a1 * b0 + (low >> 16u);
  let second = a0 * b1 + (first & 0xffffu);
  let high = a1 * b1 + (first >> 16u) + (second >> 16u);
  return vec2u((second << 16u) | (low & 0xffffu), high + a.x * b.y + a.y * b.x);
}
)"},
    {"svod_shl", R"(fn svod_shl(a: vec2u, n: u32) -> vec2u {
  if (n == 0u) { return a; }
  if (n >= 32u) { return vec2u(0u, a.x << (n & 31u)); }
  return vec2u(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}
)"},
    {"svod_shr_u64", R"(fn svod_shr_u64(a: vec2u, n: u32) -> vec2u {
  if (n == 0u) { return a; }
  if (n >= 32u) { return vec2u(a.y >> (n & 31u), 0u); }
  return vec2u((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}
)"},
    {"svod_shr_i64", R"(fn svod_shr_i64(a: vec2u, n: u32) -> vec2u {
  let high = bitcast<i32>(a.y);
  if (n == 0u) { return a; }
  if (n >= 32u) { return vec2u(bitcast<u32>(high >> (n & 31u)), bitcast<u32>(high >> 31u)); }
  return vec2u((a.x >> n) | (a.y << (32u - n)), bitcast<u32>(high >> n));
}
)"},
    {"svod_lt_u64", "fn svod_lt_u64(a: vec2u, b: vec2u) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }\n"},
    {"svod_lt_i64", R"(fn svod_lt_i64(a: vec2u, b: vec2u) -> bool {
  return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}
)"},
    // The quotient, then the remainder, bit by bit where they do not fit into a word.
    {"svod_divide", R"(fn svod_divide(a: vec2u, b: vec2u) -> vec4u {
  if (a.y == 0u && b.y == 0u) { return vec4u(a.x / b.x, 0u, a.x % b.x, 0u); }
  var quotient = vec2u();
  var rest = vec2u();
  for (var i: u32 = 0u; i < 64u; i = i + 1u) {
    let n = 63u - i;
    let isOver = (rest.y >> 31u) != 0u;
    let bit = (select(a.x, a.y, n >= 32u) >> (n & 31u)) & 1u;
    rest = vec2u((rest.x << 1u) | bit, (rest.y << 1u) | (rest.x >> 31u));
    if (isOver || !svod_lt_u64(rest, b)) {
      rest = svod_sub(rest, b);
      quotient = quotient | select(vec2u(1u << (n & 31u), 0u), vec2u(0u, 1u << (n & 31u)), n >= 32u);
    }
  }
  return vec4u(quotient, rest);
}
)"},
    {"svod_div_u64", "fn svod_div_u64(a: vec2u, b: vec2u) -> vec2u { return svod_divide(a, b).xy; }\n"},
    {"svod_mod_u64", "fn svod_mod_u64(a: vec2u, b: vec2u) -> vec2u { return svod_divide(a, b).zw; }\n"},
    {"svod_abs", "fn svod_abs(a: vec2u) -> vec2u { return select(a, svod_neg(a), (a.y >> 31u) != 0u); }\n"},
    {"svod_div_i64", R"(fn svod_div_i64(a: vec2u, b: vec2u) -> vec2u {
  let quotient = svod_divide(svod_abs(a), svod_abs(b)).xy;
  return select(quotient, svod_neg(quotient), ((a.y ^ b.y) >> 31u) != 0u);
}
)"},
    {"svod_mod_i64", R"(fn svod_mod_i64(a: vec2u, b: vec2u) -> vec2u {
  let rest = svod_divide(svod_abs(a), svod_abs(b)).zw;
  return select(rest, svod_neg(rest), (a.y >> 31u) != 0u);
}
)"},
    {"svod_i32_i64", "fn svod_i32_i64(x: i32) -> vec2u { return vec2u(bitcast<u32>(x), bitcast<u32>(x >> 31u)); }\n"},
    // Rounded to 24 bits, ties to even; what is left is a power of two.
    {"svod_u64_f32", R"(fn svod_u64_f32(a: vec2u) -> f32 {
  if (a.y == 0u && a.x < 0x1000000u) { return f32(a.x); }
  let zeros = select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
  let bits = svod_shl(a, zeros);
  let top = bits.y >> 8u;
  let rest = bits.y & 255u;
  let isUp = rest > 128u || (rest == 128u && (bits.x != 0u || (top & 1u) != 0u));
  return f32(top + u32(isUp)) * bitcast<f32>((167u - zeros) << 23u);
}
)"},
    {"svod_i64_f32", R"(fn svod_i64_f32(a: vec2u) -> f32 {
  let x = svod_u64_f32(svod_abs(a));
  return select(x, -x, (a.y >> 31u) != 0u);
}
)"},
    {"svod_f32_u64", R"(fn svod_f32_u64(x: f32) -> vec2u {
  let bits = bitcast<u32>(x);
  let exponent = (bits >> 23u) & 255u;
  let digits = vec2u((bits & 0x7fffffu) | 0x800000u, 0u);
  if (exponent < 127u) { return vec2u(); }
  if (exponent >= 150u) { return svod_shl(digits, min(exponent - 150u, 63u)); }
  return svod_shr_u64(digits, 150u - exponent);
}
)"},
    {"svod_f32_i64", R"(fn svod_f32_i64(x: f32) -> vec2u {
  let size = svod_f32_u64(abs(x));
  return select(size, svod_neg(size), x < 0f);
}
)"},
};

}  // namespace

std::string functionsFor(std::string_view text) {
  std::string all;
  const auto addCalled = [&](std::span<const Function> functions) {
    for (size_t i = functions.size(); i-- > 0;) {
      const std::string call = std::string(functions[i].name) + "(";
      if (text.find(call) != text.npos || all.find(call) != all.npos) all.insert(0, functions[i].text);
    }
  };
  addCalled(kDoubleFunctions);
  addCalled(kFunctions);
  return all;
}

}  // namespace svod::webgpu
