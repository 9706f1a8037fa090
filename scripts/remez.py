#!/usr/bin/env python3
"""Prints lib/lower/decompose_coefficients.h: minimax polynomials for the decompositions of transcendental ops.

Run:  pip install mpmath && python3 scripts/remez.py > lib/lower/decompose_coefficients.h
      python3 scripts/remez.py NAME ...     only these tables, with their error, on stderr

Every table approximates f on [lo, hi] by a polynomial in x (or x*x) so that the largest |(f - p) * weight| is smallest
(Remez exchange on a dense grid). Coefficients are rounded to the target format one after the other, lowest power first,
and the rest is fitted again after each rounding, so that later coefficients absorb the rounding of earlier ones. Where
arguments reach 1 in magnitude there is nothing to absorb: all are rounded at once.
"""
import sys
from mpmath import mp, mpf
import mpmath

mp.prec = 200
LN2 = mpmath.log(2)
HALF_LN2 = LN2 / 2


def round_to(x, bits):
    """x rounded to `bits` significant bits, nearest."""
    if x == 0:
        return x
    man, exp = mpmath.frexp(x)
    return mpmath.ldexp(mpmath.nint(man * mpf(2) ** bits), exp - bits)


def chebyshev_points(lo, hi, n):
    return [(lo + hi) / 2 - (hi - lo) / 2 * mpmath.cos(mpmath.pi * i / (n - 1)) for i in range(n)]


def remez(values, grid, powers, weight):
    """Coefficients for x**powers[k], and the largest weighted error on the grid."""
    n = len(powers)
    basis = [[x ** p for p in powers] for x in grid]
    picks = [round(i * (len(grid) - 1) / n) for i in range(n + 1)]
    best = None
    for _ in range(30):
        a = mpmath.matrix(n + 1, n + 1)
        b = mpmath.matrix(n + 1, 1)
        for row, i in enumerate(picks):
            for k in range(n):
                a[row, k] = basis[i][k] * weight[i]
            a[row, n] = (-1) ** row
            b[row] = values[i] * weight[i]
        solution = mpmath.lu_solve(a, b)
        c = [solution[k] for k in range(n)]
        error = [(values[i] - mpmath.fdot(c, basis[i])) * weight[i] for i in range(len(grid))]
        largest = max(abs(e) for e in error)
        if best is None or largest < best[1]:
            best = (c, largest)
        if largest <= abs(solution[n]) * mpf("1.0001"):
            break
        picks = exchange(error, n + 1)
    return best


def exchange(error, count):
    """Indices of `count` extrema with alternating signs."""
    runs, start = [], 0
    for i in range(1, len(error) + 1):
        if i == len(error) or (error[i] > 0) != (error[start] > 0):
            runs.append(max(range(start, i), key=lambda j: abs(error[j])))
            start = i
    while len(runs) > count:
        if len(runs) - count >= 2:
            k = min(range(len(runs) - 1), key=lambda j: max(abs(error[runs[j]]), abs(error[runs[j + 1]])))
            del runs[k:k + 2]
        else:
            del runs[0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1]
    extra = 0
    while len(runs) < count:  # too few sign changes: fill up with unused points
        if extra not in runs:
            runs.append(extra)
        extra += 1
    return sorted(runs)


class Table:
    def __init__(self, f, lo, hi, degree, weight, bits, even=False, fixed=(), at_once=False, what=""):
        self.f, self.lo, self.hi, self.degree, self.weight = f, mpf(lo), mpf(hi), degree, weight
        self.bits, self.even, self.fixed, self.what = bits, even, list(fixed), what
        self.at_once = at_once

    def fit(self):
        lo, hi = self.lo, self.hi
        grid = [x for x in chebyshev_points(lo, hi, 60 * (self.degree + 2)) if abs(x) > mpf(10) ** -6]
        values = [self.f(x) for x in grid]
        weight = [abs(self.weight(x)) for x in grid]
        points = [x * x for x in grid] if self.even else grid
        done = list(self.fixed)
        best, ideal = remez([v - sum(c * x ** k for k, c in enumerate(done)) for v, x in zip(values, points)],
                         points, list(range(len(done), self.degree + 1)), weight)
        if self.at_once:
            done += [round_to(c, self.bits) for c in best]
        while len(done) <= self.degree:
            rest = [v - sum(c * x ** k for k, c in enumerate(done)) for v, x in zip(values, points)]
            c, _ = remez(rest, points, list(range(len(done), self.degree + 1)), weight)
            done.append(round_to(c[0], self.bits))
        final = max(abs(v - sum(c * x ** k for k, c in enumerate(done))) * w
                    for v, x, w in zip(values, points, weight))
        return done, ideal, final


def log1p_tail(f):
    return (mpmath.log1p(f) - f + f * f / 2) / f ** 3


def log2_tail(f):
    return (mpmath.log1p(f) / LN2 / f - 1 / LN2) / f


def atanh_tail(s):
    return (2 * mpmath.atanh(s) - 2 * s) / s ** 3


SQRT2 = mpmath.sqrt(2)
LOW, HIGH = 1 / SQRT2 - 1, SQRT2 - 1          # mantissa - 1 of the logarithms
S = (SQRT2 - 1) / (SQRT2 + 1)                 # its atanh argument
QUARTER = mpmath.pi / 4
SLACK = mpf("1.001")

exp_tail = lambda r: (mpmath.expm1(r) - r) / r ** 2
exp2_tail = lambda r: mpmath.expm1(r * LN2) / r
sin_tail = lambda r: (mpmath.sin(r) - r) / r ** 3
cos_tail = lambda r: (mpmath.cos(r) - 1 + r * r / 2) / r ** 4
tanh_tail = lambda x: (mpmath.tanh(x) - x) / x ** 3
erf_head = lambda x: mpmath.erf(x) / x - 1
ERF_SCALE = mpf("0.13525390625")              # times x^2 is 2 about where erf rounds to 1 in f32
log_erfc = lambda x: mpmath.log(mpmath.erfc(x))


def erf_ratio(u):
    x = mpmath.sqrt((u + 1) / ERF_SCALE)
    return mpmath.erf(x) / x if x > 0 else 2 / mpmath.sqrt(mpmath.pi)


TABLES = {}


def table(name, *args, **keys):
    TABLES[name] = Table(*args, **keys)


for suffix, bits, d in (("F32", 24, {"exp": 4, "exp2": 5, "sin": 3, "cos": 2, "tanh": 5}),
                        ("F64", 53, {"exp": 9, "exp2": 11, "sin": 6, "cos": 6, "tanh": 12})):
    table("kExp" + suffix, exp_tail, -HALF_LN2 * SLACK, HALF_LN2 * SLACK, d["exp"], lambda r: r * r / mpmath.exp(r), bits,
          what="e^r = 1 + r + r^2 p(r), |r| <= ln2/2, relative error")
    table("kExp2" + suffix, exp2_tail, -SLACK / 2, SLACK / 2, d["exp2"], lambda r: r / mpf(2) ** r, bits,
          what="2^r = 1 + r p(r), |r| <= 1/2, relative error")
    table("kSin" + suffix, sin_tail, 0, QUARTER * SLACK, d["sin"], lambda r: r ** 3 / mpmath.sin(r), bits, even=True,
          what="sin r = r + r^3 p(r^2), |r| <= pi/4, relative error")
    table("kCos" + suffix, cos_tail, 0, QUARTER * SLACK, d["cos"], lambda r: r ** 4 / mpmath.cos(r), bits, even=True,
          what="cos r = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4, relative error")
    table("kTanh" + suffix, tanh_tail, 0, mpf("0.625"), d["tanh"], lambda x: x ** 3 / mpmath.tanh(x), bits, even=True,
          what="tanh x = x + x^3 p(x^2), |x| <= 0.625, relative error")

table("kLogF32", log1p_tail, LOW, HIGH, 7, lambda f: f ** 3 / mpmath.log1p(f), 24,
      what="log(1 + f) = f - f^2/2 + f^3 p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error")
table("kLog2F32", log2_tail, LOW, HIGH, 8, lambda f: f * f * LN2 / mpmath.log1p(f), 24,
      what="log2(1 + f) = f log2(e) + f^2 p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error")
table("kErfF32", erf_ratio, -1, 1, 15, lambda u: 1 / erf_ratio(u), 24, at_once=True,
      what=f"erf x = x p({mpmath.nstr(ERF_SCALE, 15)} x^2 - 1), |x| <= 3.845, relative error")
table("kErfF64", erf_head, 0, mpf("0.9375"), 12, lambda x: x / mpmath.erf(x), 53, even=True,
      what="erf x = x + x p(x^2), |x| <= 0.9375, relative error")
table("kPowLog2F32", lambda f: mpmath.log1p(f) / LN2 / f, LOW, HIGH, 13, lambda f: f * LN2 / mpmath.log1p(f), 53,
      what="log2(1 + f) = f p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error")
table("kPowExp2F32", exp2_tail, -SLACK / 2, SLACK / 2, 6, lambda r: r / mpf(2) ** r, 53,
      what="2^r = 1 + r p(r), |r| <= 1/2, relative error")
table("kPowLogF64", lambda s: (2 * mpmath.atanh(s) - 2 * s - s ** 3 * 2 / 3) / s ** 5, 0, S * SLACK, 7,
      lambda s: s ** 5 / mpmath.atanh(s), 53, even=True,
      what="log((1 + s)/(1 - s)) = 2s + 2/3 s^3 + s^5 p(s^2), |s| <= 0.1716, relative error")
table("kErfcF64", log_erfc, mpf("0.93"), 6, 18, lambda x: mpmath.erfc(x) / mpmath.erf(x), 53,
      what="erf x = 1 - e^p(x), 0.9375 <= x <= 6, relative error of erf")
table("kLogF64", atanh_tail, 0, S * SLACK, 6, lambda s: s ** 3 / mpmath.atanh(s), 53, even=True,
      what="log((1 + s)/(1 - s)) = 2s + s^3 p(s^2), |s| <= 0.1716, relative error")


# For formulas of lib/frontend/lower/elementary.cpp; printed by name.
ELSEWHERE = {}
expm1_factor = lambda x: (mpmath.expm1(x) - x) / x ** 2
sinh_tail = lambda x: (mpmath.sinh(x) - x) / x ** 3
log1p_sum = lambda t: 2 * mpmath.atanh(t / 2)  # log(1 + u) for t = 2 u / (u + 2)
for suffix, bits, d in (("F32", 24, (5, 3, 3)), ("F64", 53, (11, 9, 6))):
    ELSEWHERE["kExpm1" + suffix] = Table(expm1_factor, -0.5, 0.5, d[0], lambda x: x ** 2 / mpmath.expm1(x), bits)
    ELSEWHERE["kLog1p" + suffix] = Table(lambda t: (log1p_sum(t) - t) / t ** 3, 0, mpf(2) / 3, d[1],
                                         lambda t: t ** 3 / log1p_sum(t), bits, even=True)
    ELSEWHERE["kSinh" + suffix] = Table(sinh_tail, 0, 1, d[2], lambda x: x ** 3 / mpmath.sinh(x), bits, even=True)


def split(x, sizes):
    """x as a sum of floats with the given numbers of significant bits, largest first."""
    parts = []
    for bits in sizes:
        parts.append(round_to(x, bits))
        x -= parts[-1]
    return parts


# The high part of ln 2 leaves room for a product with an exponent; log2(e) for one with half a mantissa.
CONSTANTS = {
    "kLn2F32": (LN2, (15, 24), "log 2 as a sum; exponent times the first part is exact"),
    "kLn2F64": (LN2, (41, 53), "log 2 as a sum; exponent times the first part is exact"),
    "kLog2eF32": (1 / LN2, (24, 24), "log2 e as a sum"),
    "kLog2eF64": (1 / LN2, (26, 53), "log2 e as a sum; the first part times 27 bits is exact"),
    "kLog2eF64Pair": (1 / LN2, (53, 53), "log2 e as a sum"),
    "kTwoThirds": (mpf(2) / 3, (53, 53), "2/3 as a sum"),
    "kHalfPiF32": (mpmath.pi / 2, (24, 24, 24), "pi/2 as a sum"),
    "kHalfPiF64": (mpmath.pi / 2, (53, 53, 53), "pi/2 as a sum"),
}


SCALARS = {
    "kErfScaleF32": (ERF_SCALE, "of x^2 in the argument of kErfF32"),
}


def two_over_pi_words(zeros, width, count):
    """`zeros` zero bits, then the bits of 2/pi, in words of `width` bits."""
    total = width * count
    mp.prec = total + 64
    value = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** (total - zeros)))
    mp.prec = 200
    return [value >> (total - width * (i + 1)) & ((1 << width) - 1) for i in range(count)]


WORDS = {
    "kTwoOverPi32": ("uint32_t", two_over_pi_words(26, 32, 8), "26 zero bits and the first bits of 2/pi"),
    "kTwoOverPi64": ("uint64_t", two_over_pi_words(55, 64, 20), "55 zero bits and the first bits of 2/pi"),
}


def print_array(kind, name, items, what):
    print(f"// {what}\ninline constexpr {kind} {name}[] = {{")
    line = "   "
    for text in items:
        if len(line) + len(text) + 2 > 108:
            print(line)
            line = "   "
        line += " " + text + ","
    print(line + "\n};\n")


def literal(c):
    return mpmath.nstr(c, 17, strip_zeros=False) if c != 0 else "0.0"


def main(names):
    if names:
        for name in names:
            c, ideal, final = (TABLES | ELSEWHERE)[name].fit()
            print(f"{name}: ideal 2^{float(mpmath.log(ideal, 2)):.2f} rounded 2^{float(mpmath.log(final, 2)):.2f}",
                  [literal(x) for x in c], file=sys.stderr)
        return
    print("// Printed by scripts/remez.py, which says how. Lowest power first; exact in the format they are for.\n"
          "#pragma once\n#include <cstdint>\n\nnamespace svod::detail {\n")
    for name, (value, sizes, what) in CONSTANTS.items():
        print_array("double", name, [float(x).hex() for x in split(value, sizes)], what)
    for name, (value, what) in SCALARS.items():
        print(f"// {what}\ninline constexpr double {name} = {float(value).hex()};\n")
    for name, (kind, words, what) in WORDS.items():
        print_array(kind, name, [hex(w) for w in words], what)
    for name, t in TABLES.items():
        c, ideal, final = t.fit()
        print_array("double", name, [float(x).hex() for x in c], f"{t.what} 2^{float(mpmath.log(final, 2)):.1f}")
    print("}  // namespace svod::detail")


main(sys.argv[1:])
