#include "frontend/lower/fourier.h"

#include <bit>
#include <map>
#include <numbers>

#include "frontend/lower/common.h"

namespace svod {

namespace {

/// cos and sin of 2 pi k t / n, in f64, in which the angle of a term far out is still exact enough for f32.
struct Circle {
  Tensor cosine, sine;
};

Circle circleOf(Tensor steps, Tensor period, DType dtype) {
  const Tensor angle = cast(floormod(steps, period), DType::F64) * (2 * std::numbers::pi) / cast(period, DType::F64);
  return {cast(cos(angle), dtype), cast(sin(angle), dtype)};
}

/// For k, t: [results, terms].
Circle circleOf(GraphBuilder& b, DType dtype, Dim results, Dim terms, Dim length) {
  const Tensor steps = unsqueeze(b.iota(results), -1) * b.iota(terms);
  return circleOf(steps, b.value(larger(length, b.dim(1))), dtype);
}

Complex times(const Complex& x, const Circle& c, double sign) {
  const Tensor sine = c.sine * sign;
  if (!x.imaginary) return {x.real * c.cosine, x.real * sine};
  return {x.real * c.cosine - x.imaginary * sine, x.real * sine + x.imaginary * c.cosine};
}

Tensor summed(Tensor line, Tensor factors) { return reduce(Op::Add, unsqueeze(line, -2) * factors, {{-1}}, false); }

/// By the definition: a product with a matrix.
Complex dense(const Complex& x, Dim results, Dim length, double sign) {
  const Circle circle = circleOf(*x.real.builder(), x.real.dtype(), results, x.real.dim(-1), length);
  Complex y{summed(x.real, circle.cosine), summed(x.real, circle.sine * sign)};
  if (x.imaginary) {
    y.real = y.real - summed(x.imaginary, circle.sine * sign);
    y.imaginary = y.imaginary + summed(x.imaginary, circle.cosine);
  }
  return y;
}

template <class Part>
Complex eachPart(const Complex& x, Part part) {
  return {part(x.real), x.imaginary ? part(x.imaginary) : Tensor()};
}

Complex withZeros(const Complex& x, Dim length) {
  if (x.real.dim(-1) == length) return x;
  GraphBuilder& b = *x.real.builder();
  return eachPart(x, [&](Tensor part) {
    Dims before, after;
    for (int i = 0; i < part.rank(); ++i) before.add(b.dim(0)), after.add(b.dim(0));
    after.set(-1, length - part.dim(-1));
    return pad(part, before, after, 0);
  });
}

Complex firstOf(const Complex& x, Dim count) {
  return eachPart(x, [&](Tensor part) { return narrow(part, -1, part.builder()->dim(0), count); });
}

/// How a line is transformed: by the definition, as `factor` lines of a part of its length, or as a convolution
/// (Bluestein 1970), where the factor is 0. The price counts multiplications for each element.
struct Way {
  double price;
  int64_t factor;
};

class Ways {
 public:
  Way of(int64_t length) {
    if (auto known = known_.find(length); known != known_.end()) return known->second;
    Way best{static_cast<double>(length), length};
    for (int64_t factor = 2; factor <= kMostDense && factor * 2 <= length; ++factor)
      if (length % factor == 0)
        keepBetter(best, {static_cast<double>(factor) + kPass + of(length / factor).price, factor});
    if (best.factor == length && length > kMostDense) {
      const int64_t padded = paddedFor(length);
      const double share = static_cast<double>(padded) / static_cast<double>(length);
      keepBetter(best, {share * 2 * (of(padded).price + kPass), 0});
    }
    return known_[length] = best;
  }
  /// The length of a convolution that gives a transform of this one.
  static int64_t paddedFor(int64_t length) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
  }

 private:
  static constexpr int64_t kMostDense = 64;
  static constexpr double kPass = 16;  // over the line, beside multiplications

  static void keepBetter(Way& best, const Way& other) {
    if (other.price < best.price) best = other;
  }

  std::map<int64_t, Way> known_;
};

/// Transforms of one length that is a number, without the factor of the inverse.
class FastTransform {
 public:
  FastTransform(GraphBuilder& b, double sign) : b_(b), sign_(sign) {}

  Complex of(const Complex& x) {
    const int64_t length = x.real.dim(-1).constant(), factor = ways_.of(length).factor;
    if (factor == length) return dense(x, b_.dim(length), b_.dim(length), sign_);
    return factor == 0 ? byConvolution(x, length) : inParts(x, factor, length / factor);
  }

 private:
  static Tensor turned(Tensor x) {
    std::vector<int> order = orderWithLast(x.rank(), x.rank() - 2);
    return permute(x, order);
  }
  static Complex withLast(const Complex& x, const Dims& last) {
    return eachPart(x, [&](Tensor part) { return reshape(part, part.dims().slice(0, part.rank() - 1) + last); });
  }

  /// Element t1 * width + t2 of the line, and term k1 + factor * k2 (Cooley and Tukey 1965).
  Complex inParts(const Complex& x, int64_t factor, int64_t width) {
    const Dim first = b_.dim(factor), second = b_.dim(width), length = b_.dim(factor * width);
    Complex y = eachPart(withLast(x, {first, second}), turned);
    y = times(of(y), circleOf(b_, x.real.dtype(), second, first, length), sign_);
    y = of(eachPart(y, [](Tensor part) { return contiguous(turned(part)); }));
    return eachPart(y, [&](Tensor part) {
      part = turned(part);
      return contiguous(reshape(part, part.dims().slice(0, part.rank() - 2) + Dims{length}));
    });
  }

  /// k t = (k^2 + t^2 - (k - t)^2) / 2, so that the sum over t is a convolution with a chirp.
  Complex byConvolution(const Complex& x, int64_t length) {
    const int64_t padded = Ways::paddedFor(length);
    const DType dtype = x.real.dtype();
    const Circle chirp = chirpOf(b_.iota(b_.dim(length)), length, dtype);
    const Tensor at = b_.iota(b_.dim(padded));
    const Circle whole = chirpOf(min(at, padded - at), length, dtype);
    const Tensor isUsed = either(lt(at, length), gt(at, padded - length));
    const Complex other{where(isUsed, whole.cosine, 0), where(isUsed, whole.sine * -sign_, 0)};
    const Complex spectrum = FastTransform(b_, -1).of(other);
    Complex y = FastTransform(b_, -1).of(withZeros(times(x, chirp, sign_), b_.dim(padded)));
    y = FastTransform(b_, 1).of(times(y, {spectrum.real, spectrum.imaginary}, 1));
    const double share = 1.0 / static_cast<double>(padded);
    return times(eachPart(y, [&](Tensor part) { return narrow(part, -1, b_.dim(0), b_.dim(length)) * share; }), chirp,
                 sign_);
  }
  /// exp(i pi k^2 / length) for k at `at`.
  Circle chirpOf(Tensor at, int64_t length, DType dtype) {
    return circleOf(at * at, b_.value(b_.dim(2 * length)), dtype);
  }
  GraphBuilder& b_;
  double sign_;
  Ways ways_;
};

// 1 / length, in the dtype of x.
Tensor inverseOf(Dim length, const Tensor& x) {
  GraphBuilder& b = *x.builder();
  return cast(recip(cast(b.value(larger(length, b.dim(1))), DType::F64)), x.dtype());
}

bool isFast(Dim length) {
  return length.isConst() && length.constant() > 0 && Ways().of(length.constant()).factor != length.constant();
}

}  // namespace

Complex transformed(const Complex& x, Dim results, Dim length, bool isInverse) {
  if (!x.real) return {};
  GraphBuilder& b = *x.real.builder();
  const double sign = isInverse ? 1 : -1;
  const Complex y = isFast(length) ? firstOf(FastTransform(b, sign).of(withZeros(x, length)), results)
                                   : dense(x, results, length, sign);
  if (!isInverse || !y.real) return y;
  const Tensor share = inverseOf(length, y.real);
  return {y.real * share, y.imaginary * share};
}

Tensor realSignal(const Complex& x, Dim length) {
  if (!x.real) return {};
  GraphBuilder& b = *x.real.builder();
  if (isFast(length)) {
    const Dim half = floordiv(length, 2) + 1, others = length - half;
    const Complex first = withZeros(x, half);
    const auto mirrored = [&](Tensor part) { return flip(narrow(part, -1, b.dim(1), others), std::vector{-1}); };
    const auto behind = [&](Tensor part, Tensor more) { return b.op("concat", {part, more}, {{"axis", -1}}); };
    Complex whole{behind(first.real, mirrored(first.real)), {}};
    if (first.imaginary) whole.imaginary = behind(first.imaginary, -mirrored(first.imaginary));
    return transformed(whole, length, length, true).real;
  }
  const Circle circle = circleOf(b, x.real.dtype(), length, x.real.dim(-1), length);
  const Tensor k = b.iota(x.real.dim(-1));
  const Tensor isSingle = either(eq(k, 0), eq(k * 2, b.value(length)));
  const Tensor share = cast(where(isSingle, 1.0, 2.0), x.real.dtype()) * inverseOf(length, x.real);
  const Tensor y = summed(x.real * share, circle.cosine);
  return x.imaginary ? y - summed(x.imaginary * share, circle.sine) : y;
}

Complex complexOf(Tensor x) {
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  auto part = [&](int64_t i) { return squeeze(narrow(x, -1, b.dim(i), b.dim(1)), -1); };
  return {part(0), part(1)};
}

Tensor joined(const Complex& y) {
  if (!y.real) return {};
  return y.imaginary ? y.real.builder()->op("stack", {y.real, y.imaginary}, {{"axis", -1}}) : unsqueeze(y.real, -1);
}

}  // namespace svod
