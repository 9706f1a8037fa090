#include "interp/warp.h"

#include "ir/gpu_op.h"

namespace svod {

namespace {

Scalar valueOf(const Scalar& x, DType dtype) {
  return x.dtype() == dtype ? x : Scalar::fromBits(dtype, static_cast<uint64_t>(x.asInt()));
}

/// Element `e` of a factor, which may lie in words with others.
Scalar factorOf(const LaneValues& factor, size_t e, DType dtype) {
  const auto bits = static_cast<size_t>(info(dtype).bits);
  if (factor[0].dtype() != DType::U32 || bits >= 32) return valueOf(factor[e], dtype);
  const auto word = static_cast<uint64_t>(factor[e * bits / 32].asInt());
  return Scalar::fromBits(dtype, word >> (e * bits % 32) & ((uint64_t{1} << bits) - 1));
}

/// A matrix whose elements lie in the registers of a warp, row by row; rows and columns are the two dims it has.
class Tile {
 public:
  Tile(const Fragment& fragment, int columns) : fragment_(fragment), columns_(columns) {
    elements_.resize(static_cast<size_t>(fragment.threads() * fragment.elements()));
  }
  Scalar& at(int row, int column) { return elements_[static_cast<size_t>(row * columns_ + column)]; }

  template <class Visit>
  void forEach(Visit visit) const {
    for (int lane = 0; lane < fragment_.threads(); ++lane)
      for (int e = 0; e < fragment_.elements(); ++e)
        visit(static_cast<size_t>(lane), static_cast<size_t>(e), placeOf(fragment_, lane, e));
  }

 private:
  const Fragment& fragment_;
  int columns_;
  std::vector<Scalar> elements_;
};

}  // namespace

std::vector<LaneValues> multiplyTile(const TensorCore& core, DType result, std::span<const WarpOperands> lanes) {
  Tile a(core.a, core.k), b(core.b, core.n), c(core.c, core.n);
  auto widened = [&](const LaneValues& factor, size_t e) {
    Scalar value = factorOf(factor, e, core.in);
    return evalScalar(Op::Cast, core.out, std::span(&value, 1));
  };
  a.forEach([&](size_t lane, size_t e, TilePlace p) { a.at(p.m, p.k) = widened(*lanes[lane].a, e); });
  b.forEach([&](size_t lane, size_t e, TilePlace p) { b.at(p.k, p.n) = widened(*lanes[lane].b, e); });
  c.forEach([&](size_t lane, size_t e, TilePlace p) { c.at(p.m, p.n) = valueOf((*lanes[lane].c)[e], core.out); });
  std::vector<LaneValues> results(lanes.size(),
                                  LaneValues(std::vector<Scalar>(static_cast<size_t>(core.c.elements()))));
  c.forEach([&](size_t lane, size_t e, TilePlace p) {
    Scalar sum = c.at(p.m, p.n);
    for (int k = 0; k < core.k; ++k) {
      Scalar operands[] = {a.at(p.m, k), b.at(k, p.n), sum};
      sum = evalScalar(Op::Mulacc, core.out, operands);
    }
    results[lane].vector[e] = result == core.out ? sum : Scalar::fromBits(result, sum.storageBits());
  });
  return results;
}

std::vector<LaneValues> shuffled(std::span<const LaneValues* const> values, int64_t mask) {
  std::vector<LaneValues> results;
  for (size_t lane = 0; lane < values.size(); ++lane) results.push_back(*values[lane ^ static_cast<size_t>(mask)]);
  return results;
}

std::vector<LaneValues> matrixWords(std::span<const std::array<uint16_t, 8>> rows, bool isTransposed) {
  constexpr size_t kSide = 8;
  std::vector<LaneValues> results;
  for (size_t lane = 0; lane < kWarpLanes; ++lane) {
    std::vector<Scalar> words;
    for (size_t matrix = 0; matrix < rows.size() / kSide; ++matrix) {
      const auto at = [&](size_t i) {
        const size_t far = 2 * (lane % 4) + i, near = lane / 4;
        return uint32_t{isTransposed ? rows[matrix * kSide + far][near] : rows[matrix * kSide + near][far]};
      };
      words.push_back(Scalar::ofInt(DType::U32, static_cast<int64_t>(at(0) | at(1) << 16)));
    }
    results.emplace_back(std::move(words));
  }
  return results;
}

}  // namespace svod
