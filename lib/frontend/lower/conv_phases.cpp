#include "frontend/lower/conv_phases.h"

#include <algorithm>

namespace svod {

namespace {

// Along an axis of stride s, element o of the result sums over the taps (o + before) % s + s * u, each of which meets x
// at (o + before) / s - u: elements s apart, a phase, are a convolution of stride 1, and no tap meets the zeros in
// between. One kernel computes neighbouring phases of equally many taps that begin at the same place of x.
struct Phases {
  int64_t first, count;  // the first taps: one of each phase
  int64_t taps;
  int64_t ahead;  // elements of x that the first window has passed
};

struct PhaseAxis : WindowAxis {
  int64_t lead = 0;  // elements that are computed in front of the result
  std::vector<Phases> phases;

  explicit PhaseAxis(const WindowAxis& a) : WindowAxis(a) {
    const int64_t whole = before.constant() / stride * stride;
    phases = phasesFrom(before.constant());
    std::vector<Phases> aligned = phasesFrom(whole);
    if (aligned.size() == phases.size()) return;  // fewer kernels with more results each are worth the lead
    lead = before.constant() - whole, phases = std::move(aligned);
  }

  Dim blocks() const { return floordiv(count + (lead + stride - 1), stride); }

 private:
  // The phases of elements from one that lies `skipped` after the first that any tap reaches.
  std::vector<Phases> phasesFrom(int64_t skipped) const {
    const int64_t longer = kernel.constant() % stride, taps = kernel.constant() / stride;
    std::vector<Phases> groups;
    for (int64_t q = 0; q < stride; q += groups.back().count) {
      const int64_t first = (q + skipped) % stride, end = first < longer ? longer : stride;
      groups.push_back({first, std::min(end - first, stride - q), taps + (first < longer), (q + skipped) / stride});
    }
    return groups;
  }
};

class PhaseConvolution {
 public:
  /// x [n, g, c/g, sizes..], w [c, m/g, taps..]
  PhaseConvolution(OpCall& call, Tensor x, const ConvShape& shape, const std::vector<WindowAxis>& axes)
      : b_(call.b), x_(x), w_(call.arg(1)), wide_(sumDType(commonDType(call.operands))), shape_(shape),
        axes_(axes.begin(), axes.end()) {}

  /// [n, g, m/g, results..]
  Tensor sums() {
    Tensor all = assembled({});  // [n, g, phases.., m/g, blocks..]
    if (!all) return {};
    const int spatial = shape_.spatial;
    std::vector<int> order{0, 1, 2 + spatial};
    Dims whole{all.dim(0), all.dim(1), shape_.outPerGroup}, offsets{b_.dim(0), b_.dim(0), b_.dim(0)}, sizes = whole;
    for (int i = 0; i < spatial; ++i) {
      const PhaseAxis& a = axes_[static_cast<size_t>(i)];
      order.push_back(3 + spatial + i), order.push_back(2 + i);
      whole.add(a.blocks() * a.stride), offsets.add(b_.dim(a.lead)), sizes.add(a.count);
    }
    return shrink(reshape(permute(all, order), whole), offsets, sizes);
  }

 private:
  // All phases of the axes that are not chosen yet.
  Tensor assembled(std::vector<Phases> chosen) {
    const size_t axis = chosen.size();
    if (axis == axes_.size()) return convolved(chosen);
    const int at = 2 + static_cast<int>(axis);
    std::vector<Tensor> parts;
    int64_t zeros = 0;  // phases before the first part that no tap reaches
    for (const Phases& p : axes_[axis].phases) {
      if (p.taps == 0 && parts.empty()) zeros += p.count;
      if (p.taps == 0 && !parts.empty()) parts.back() = padAlong(parts.back(), at, 0, p.count);
      if (p.taps == 0) continue;
      chosen.push_back(p);
      parts.push_back(padAlong(assembled(chosen), at, zeros, 0));
      chosen.pop_back(), zeros = 0;
      if (!parts.back()) return {};
    }
    return joined(parts, at);
  }

  Tensor convolved(const std::vector<Phases>& chosen) {
    std::vector<WindowAxis> windows;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const PhaseAxis& a = axes_[i];
      const int64_t before = (chosen[i].taps - 1) * a.dilation - chosen[i].ahead;
      windows.push_back({a.size, b_.dim(chosen[i].taps), b_.dim(before), b_.dim(0), a.blocks(), 1, a.dilation});
    }
    Tensor under = unfold(x_, 3, windows);
    for (int i = 0; i <= shape_.spatial; ++i) under = unsqueeze(under, 2);
    std::vector<int> folded{3 + shape_.spatial};
    for (int i = 0; i < shape_.spatial; ++i) folded.push_back(4 + 2 * shape_.spatial + i);
    return contiguous(reduce(Op::Add, cast(under, wide_) * cast(weights(chosen), wide_), folded, false));
  }

  // [1, g, phases.., m/g, c/g, 1.., taps..], the last tap first.
  Tensor weights(const std::vector<Phases>& chosen) {
    const int spatial = shape_.spatial;
    Dims split{b_.dim(1), b_.dim(shape_.groups), shape_.perGroup, shape_.outPerGroup};
    Dims none(std::vector<Dim>(static_cast<size_t>(w_.rank()), b_.dim(0))), missing = none;
    for (int i = 0; i < spatial; ++i) {
      const PhaseAxis& a = axes_[static_cast<size_t>(i)];
      const int64_t most = (a.kernel.constant() + a.stride - 1) / a.stride;
      missing.set(2 + i, b_.dim(most * a.stride) - a.kernel);
      split.add(b_.dim(most)), split.add(b_.dim(a.stride));
    }
    Tensor w = reshape(pad(w_, none, missing, 0), split);
    std::vector<int> order{0, 1}, taps;
    for (int i = 0; i < spatial; ++i) {
      const Phases& p = chosen[static_cast<size_t>(i)];
      w = narrow(narrow(w, 4 + 2 * i, b_.dim(0), b_.dim(p.taps)), 5 + 2 * i, b_.dim(p.first), b_.dim(p.count));
      order.push_back(5 + 2 * i), taps.push_back(4 + 2 * i);
    }
    w = flip(w, taps);
    order.push_back(3), order.push_back(2);
    order.insert(order.end(), taps.begin(), taps.end());
    w = permute(w, order);
    for (int i = 0; i < spatial; ++i) w = unsqueeze(w, 4 + spatial);
    return w;
  }

  GraphBuilder& b_;
  Tensor x_, w_;
  DType wide_;
  const ConvShape& shape_;
  std::vector<PhaseAxis> axes_;
};

}  // namespace

bool haveOwnPhases(const std::vector<WindowAxis>& axes) {
  auto isPlain = [](const WindowAxis& a) { return (a.dilation == 1 || a.stride == 1) && a.kernel.isConst(); };
  return std::ranges::all_of(axes, isPlain) &&
         std::ranges::any_of(axes, [](const WindowAxis& a) { return a.stride > 1; });
}

Tensor phaseSums(OpCall& call, Tensor x, const ConvShape& shape, const std::vector<WindowAxis>& axes) {
  return PhaseConvolution(call, x, shape, axes).sums();
}

}  // namespace svod
