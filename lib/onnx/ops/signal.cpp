// Fourier transforms, of a whole axis and of frames.
#include <algorithm>

#include "frontend/lower/common.h"
#include "frontend/lower/fourier.h"
#include "onnx/ops/common.h"
#include "onnx/ops/expectations.h"

namespace svod {

namespace {

constexpr int64_t kLongestTransform = 1 << 20;

// Splits the last axis of x, which has one element or two.
std::optional<Complex> complexOf(OnnxNode& n, Tensor x) {
  if (!n.require(x.rank() >= 2 && (x.dim(-1).is(1) || x.dim(-1).is(2)),
                 "x has a last axis of one element (real) or two (complex)"))
    return std::nullopt;
  if (x.dim(-1).is(2)) return complexOf(x);
  return Complex{squeeze(x, -1), {}};
}

Tensor firstTerms(OnnxNode& n, Tensor line, Dim count) {
  if (!line || smaller(line.dim(-1), count) == line.dim(-1)) return line;
  return narrow(line, -1, n.b.dim(0), smaller(line.dim(-1), count));
}

// The numbers of terms that there may be: that of operand 1, or of the axis, or those that give the stated result.
// None where it is a size over variables; none and an error when it is not known.
std::vector<int64_t> transformLengths(OnnxNode& n, Dim size, bool isMirrored, Dim stated) {
  bool isHalf = n.flag("onesided") && !isMirrored;
  auto checked = [&](std::vector<int64_t> all) {
    std::erase_if(all, [](int64_t length) { return length <= 0 || length > kLongestTransform; });
    n.require(!all.empty(), "transforms have 1 to 2^20 elements");
    return all;
  };
  if (n.has(1) && !n.isKnown(1) && stated && stated.isConst()) {
    int64_t bins = stated.constant();
    return checked(isHalf ? std::vector{2 * bins - 2, 2 * bins - 1} : std::vector{bins});
  }
  if (n.has(1)) {
    int64_t length = n.integer("", 1, 0);
    return n.b.failed() ? std::vector<int64_t>() : checked({length});
  }
  if (!size.isConst()) return {};
  return checked({isMirrored ? 2 * (size.constant() - 1) : size.constant()});
}

// The number of terms where it is a size over variables, of the axis or of operand 1; null where it is a number.
Dim symbolicLength(OnnxNode& n, Dim size, bool isMirrored) {
  if (!n.has(1)) return size.isConst() ? Dim() : larger(isMirrored ? (size - 1) * 2 : size, n.b.dim(1));
  if (!n.isKnown(1)) return {};
  const Dims given = n.sizes(1);
  return given.rank() == 1 && !given[0].isConst() ? larger(given[0], n.b.dim(1)) : Dim();
}

// Elements of a frame: operand 3, or what the window has, or what gives the stated number of results. None and an error
// when that is not known, or no length.
std::vector<int64_t> frameLengths(OnnxNode& n, const std::optional<Dims>& stated) {
  if (!n.require(n.has(2) || n.has(3), "frame_length, or a window, is given") ||
      !n.require(!n.has(2) || n.arg(2).rank() == 1, "window is [frame_length]"))
    return {};
  bool hasWindow = n.has(2) && n.arg(2).dim(0).isConst(), isOpen = n.has(3) && !n.isKnown(3);
  if (!n.has(3) && !hasWindow) {
    n.unsupported("a window of the symbolic length " + describe(n.arg(2).dim(0)), "give frame_length");
    return {};
  }
  std::vector<int64_t> all;
  if (isOpen && stated && !hasWindow) {
    int64_t bins = (*stated)[2].constant();
    all = n.flag("onesided") ? std::vector{2 * bins - 2, 2 * bins - 1} : std::vector{bins};
  } else {
    bool isFromWindow = !n.has(3) || (isOpen && stated && hasWindow);
    all = {isFromWindow ? n.arg(2).dim(0).constant() : n.integer("", 3, 0)};
  }
  if (n.b.failed()) return {};
  if (all.size() > 1) std::erase(all, 0);
  bool fits = n.require(all[0] > 0 && all[0] <= kLongestTransform,
                        "frames have 1 to 2^20 elements, not " + std::to_string(all[0])) &&
              n.require(!n.has(2) || n.arg(2).dim(0).is(all[0]), "window is [frame_length]");
  return fits ? all : std::vector<int64_t>();
}

// The transform along one axis.
Tensor transformedAlong(OnnxNode& n, const Complex& c, int axis, Dim length) {
  bool isInverse = n.flag("inverse"), isOneSided = n.flag("onesided"), isMirrored = isInverse && isOneSided;
  const Dim half = floordiv(length, 2) + 1;
  std::vector<int> order = orderWithLast(c.real.rank(), axis), back = inverseOrder(order);
  auto line = [&](Tensor t) { return t ? firstTerms(n, permute(t, order), isMirrored ? half : length) : t; };
  Complex terms{line(c.real), line(c.imaginary)};
  Complex y;
  if (isMirrored) {
    y.real = realSignal(terms, length);
  } else {
    const Dim results = isOneSided ? half : length;
    y = transformed(terms, results, length, isInverse);
  }
  if (!y.real) return {};
  y = {permute(y.real, back), y.imaginary ? permute(y.imaginary, back) : Tensor()};
  return joined(y);
}

// The transform where only a run knows the axis or the length: along every axis and of every length that give the
// stated dims.
Tensor transformedAtRun(OnnxNode& n, const Complex& c, int64_t knownAxis, const Dims& stated) {
  int rank = c.real.rank();
  bool isAxisKnown = knownAxis >= 0, isMirrored = n.flag("inverse") && n.flag("onesided");
  auto scalar = [&](int i) { return cast(reshape(n.arg(i), Dims()), DType::I64); };
  std::vector<CaseAtRun> cases;
  for (int axis = 0; axis < rank; ++axis) {
    if (isAxisKnown && axis != knownAxis) continue;
    for (int64_t length : transformLengths(n, c.real.dim(axis), isMirrored, stated[axis])) {
      Tensor result = transformedAlong(n, c, axis, n.b.dim(length));
      if (!result || result.dims() != stated) continue;
      Tensor isMeant = n.b.constant(Scalar::ofInt(DType::Bool, 1));
      if (!isAxisKnown) isMeant = either(eq(scalar(2), axis), eq(scalar(2), axis - rank - 1));
      if (n.has(1) && !n.isKnown(1)) isMeant = both(isMeant, eq(scalar(1), length));
      cases.push_back({isMeant, result});
    }
    if (n.b.failed()) return {};
  }
  return chosenAtRun(n, {1, 2}, cases);
}

}  // namespace

Results onnxDft(OnnxNode& n) {
  Tensor x = n.arg(0);
  bool isInverse = n.flag("inverse"), isOneSided = n.flag("onesided"), isMirrored = isInverse && isOneSided;
  std::optional<Complex> c = complexOf(n, cast(x, computeDType(x)));
  if (!c || !n.require(isMirrored || !isOneSided || !c->imaginary, "onesided=1 has a real x")) return Tensor();
  const std::optional<Dims> stated = n.declared(0);
  bool isAxisOpen = n.has(2) && !n.isKnown(2), isLengthOpen = n.has(1) && !n.isKnown(1);
  bool isAtRun = (isAxisOpen || isLengthOpen) && stated && stated->rank() == x.rank();
  int axis = -1;
  if (!isAxisOpen || !isAtRun) axis = n.axis(n.opset < 20 ? n.integer("axis") : n.integer("", 2, -2), x.rank());
  if (n.b.failed() || !n.require(axis < x.rank() - 1, "'axis' is not the last axis")) return Tensor();
  if (isAtRun) return cast(transformedAtRun(n, *c, axis, *stated), x.dtype());
  if (Dim length = symbolicLength(n, x.dim(axis), isMirrored))
    return cast(transformedAlong(n, *c, axis, length), x.dtype());
  std::vector<int64_t> lengths = transformLengths(n, x.dim(axis), isMirrored, Dim());
  return lengths.empty() ? Tensor() : cast(transformedAlong(n, *c, axis, n.b.dim(lengths[0])), x.dtype());
}

namespace {

// Frames of the signal times the window, each transformed. A step that only a run knows gives the stated frames.
Tensor framesTransformed(OnnxNode& n, const Complex& c, int64_t length, const std::optional<Dims>& stated) {
  bool isStepOpen = !n.isKnown(1);
  int64_t step = isStepOpen ? 1 : n.integer("", 1, 0);
  if (n.b.failed() || !n.require(step > 0, "frame_step is at least 1, not " + std::to_string(step))) return {};
  WindowAxis frames;
  frames.size = c.real.dim(1);
  frames.kernel = n.b.dim(length), frames.stride = step;
  frames.before = frames.after = n.b.dim(0);
  frames.count = isStepOpen ? (*stated)[1] : floordiv(frames.size - length, step) + 1;
  if (!n.require(frames.count.max() >= 0, "the signal is at least as long as a frame")) return {};
  auto framed = [&](Tensor t) {
    if (!t) return t;
    Tensor cut;
    if (isStepOpen) {
      Tensor start = cast(n.b.iota(frames.count), DType::I64) * cast(reshape(n.arg(1), Dims()), DType::I64);
      cut = take(t, 1, unsqueeze(start, -1) + cast(n.b.iota(frames.kernel), DType::I64));
    } else {
      cut = unfold(t, 1, {frames});
    }
    return n.has(2) ? cut * cast(n.arg(2), cut.dtype()) : cut;
  };
  Dim results = n.b.dim(n.flag("onesided") ? length / 2 + 1 : length);
  const Complex cut{framed(c.real), framed(c.imaginary)};
  return joined(transformed(cut, results, n.b.dim(length), false));
}

}  // namespace

Results onnxStft(OnnxNode& n) {
  Tensor x = n.arg(0), signal = cast(x, computeDType(x));
  if (signal.rank() == 2) signal = unsqueeze(signal, -1);
  std::optional<Complex> c = complexOf(n, signal);
  if (!c || !n.require(signal.rank() == 3, "signal is [n, length, 1 or 2]")) return Tensor();
  std::optional<Dims> stated = n.declared(0);
  if (stated && stated->rank() != 4) stated.reset();
  if (!n.isKnown(1) && !stated) n.integer("", 1, 0);
  std::vector<int64_t> lengths = n.b.failed() ? std::vector<int64_t>() : frameLengths(n, stated);
  bool isStepOpen = !n.isKnown(1), isLengthOpen = n.has(3) && !n.isKnown(3);
  std::vector<CaseAtRun> cases;
  for (int64_t length : lengths) {
    Tensor result = framesTransformed(n, *c, length, stated);
    if (!isStepOpen && !isLengthOpen) return cast(result, x.dtype());
    if (!result || result.dims() != *stated) continue;
    auto scalar = [&](int i) { return cast(reshape(n.arg(i), Dims()), DType::I64); };
    Tensor isMeant = n.b.constant(Scalar::ofInt(DType::Bool, 1));
    if (isLengthOpen) isMeant = eq(scalar(3), length);
    if (isStepOpen) {
      Tensor step = scalar(1), rest = cast(n.b.value(signal.dim(1)), DType::I64) - length;
      isMeant = both(isMeant, both(gt(step, 0), eq(floordiv(rest, max(step, 1)) + 1, (*stated)[1].constant())));
    }
    cases.push_back({isMeant, result});
  }
  return n.b.failed() ? Tensor() : cast(chosenAtRun(n, {1, 3}, cases), x.dtype());
}

}  // namespace svod
