#include "symbolic/memory_factor.h"

#include <algorithm>

#include "ir/local_memory.h"
#include "ir/multiple_of.h"
#include "ir/warpgroup_operand.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int kSwizzle = swizzleOf(kOperandRow);

bool isShared(UOp fill) {
  const auto isOfThread = [](UOp r) {
    const AxisType type = r.argAs<AxisArg>().type;
    return type == AxisType::Local || type == AxisType::Group || type == AxisType::Warp;
  };
  const SlotArg buffer = storageOf(fill.src(0).src(0)).argAs<SlotArg>();
  return std::ranges::none_of(fill.ranges(), isOfThread) && buffer.space == Space::Local && buffer.swizzle == kSwizzle;
}

/// Elements from the first of a tile to others of it, by the bits of row and term.
class Places {
 public:
  Places(const CoreForm& form, UOp index, char dim) : form_(form), dim_(dim), index_(graph_.clone(index)) {
    for (const TileRange& t : form.ranges) ranges_.push_back(graph_.clone(t.range));
    terms_ = graph_.clone(form.terms);
    first_ = at(0, 0);
  }

  UOp first() const { return first_; }
  /// -1 where that is no constant.
  int64_t behindFirst(int64_t row, int64_t term) {
    UOp apart = simplify(graph_, graph_.alu(Op::Sub, {at(row, term), first_}));
    return apart.isConst() ? apart.constInt() : -1;
  }
  UOp rowOf(int64_t side) { return simplify(graph_, graph_.alu(Op::Floordiv, {first_, graph_.index(side)})); }

 private:
  UOp at(int64_t row, int64_t term) {
    std::vector<UOp> from{terms_}, to{graph_.index(term)};
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const FragmentRun& run = form_.ranges[i].run;
      from.push_back(ranges_[i]);
      to.push_back(graph_.index(run.to.dim == dim_ ? row >> run.to.bit & (run.extent() - 1) : 0));
    }
    return simplify(graph_, substitute(graph_, index_, from, to));
  }

  Graph graph_;
  const CoreForm& form_;
  char dim_;
  UOp index_, terms_, first_;
  std::vector<UOp> ranges_;
};

bool areAt(Places& places, const CoreForm& form, int64_t rows, int64_t apart) {
  const int64_t bytes = byteSize(form.core->in);
  const auto isAt = [&](int64_t row, int64_t term) {
    return places.behindFirst(row, term) == operandPlace(row, term, apart, bytes);
  };
  for (int64_t row = 1; row < rows; row *= 2)
    if (!isAt(row, 0)) return false;
  for (int64_t term = 1; term < form.core->k; term *= 2)
    if (!isAt(0, term)) return false;
  return isAt(rows - 1, form.core->k - 1);
}

}  // namespace

UOp firstOfTile(Graph& g, const CoreForm& form, UOp factor) {
  std::vector<UOp> from{form.terms}, to{g.index(0)};
  for (const TileRange& t : form.ranges) from.push_back(t.range), to.push_back(g.index(0));
  return substitute(g, factor, from, to);
}

std::optional<int64_t> partsApart(const CoreForm& form, UOp factor) {
  const bool isBare = factor.op() == Op::Load && factor.srcCount() == 1 && factor.src(0).src(0).op() == Op::Fill;
  if (!isBare || !isShared(factor.src(0).src(0))) return std::nullopt;
  const char dim = factor == form.a ? 'm' : 'n';
  const int64_t rows = dim == 'm' ? form.core->m : form.core->n, bytes = byteSize(form.core->in);
  const int64_t side = kOperandRow / bytes, period = kOperandPeriod / bytes;
  Places places(form, factor.src(0).src(1), dim);
  if (places.behindFirst(0, 1) == 1) {
    const bool isAligned = multipleOf(places.rowOf(side)) % kOperandRows == 0;
    return isAligned && multipleOf(places.first()) % form.core->k == 0 && areAt(places, form, rows, 0)
               ? std::optional<int64_t>(0)
               : std::nullopt;
  }
  const int64_t apart = rows > side ? places.behindFirst(side, 0) * bytes : kOperandPeriod;
  const bool isAligned = apart > 0 && apart % kOperandPeriod == 0 && multipleOf(places.first()) % period == 0;
  return isAligned && areAt(places, form, rows, apart) ? std::optional(apart) : std::nullopt;
}

bool findsFactors(const CoreForm& form) {
  return !form.core->isOfWarpgroup() || (partsApart(form, form.a) && partsApart(form, form.b));
}

}  // namespace svod
