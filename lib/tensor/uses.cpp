#include "tensor/uses.h"

#include <algorithm>

#include "ir/likely.h"
#include "tensor/movement.h"

namespace svod {

std::vector<int> unite(std::span<const int> a, std::span<const int> b) {
  std::vector<int> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

TokenId TokenTable::make(std::vector<int64_t> key, IndexToken token) {
  auto [it, isNew] = ids_.try_emplace(std::move(key), static_cast<TokenId>(tokens_.size()));
  if (isNew) tokens_.push_back(std::move(token));
  return it->second;
}

TokenId TokenTable::reduceAxis(uint32_t node, int axis, double extent) {
  const auto number = static_cast<int>(extents_.size());
  const TokenId id = make({2, node, axis}, {{}, {number}, true, true});
  if (tokens_[static_cast<size_t>(id)].reduces[0] == number) extents_.push_back(extent);
  return id;
}

TokenId TokenTable::derive(std::vector<int64_t> key, std::span<const TokenId> from, bool fromData) {
  IndexToken token;
  token.reduced = fromData;
  key.insert(key.begin(), 3);
  for (TokenId id : from) {
    const IndexToken& t = (*this)[id];
    key.push_back(id);
    token.axes = unite(token.axes, t.axes);
    token.reduces = unite(token.reduces, t.reduces);
    token.reduced |= t.reduced;
  }
  return make(std::move(key), std::move(token));
}

std::vector<int> TokenTable::axesOf(const Use& use) const {
  std::vector<int> axes;
  for (TokenId id : use.index) axes = unite(axes, (*this)[id].axes);
  return axes;
}

std::vector<int> TokenTable::reducesOf(std::span<const TokenId> index) const {
  std::vector<int> reduces;
  for (TokenId id : index) reduces = unite(reduces, (*this)[id].reduces);
  return reduces;
}

double TokenTable::reduceExtent(std::span<const int> reduces) const {
  double count = 1;
  for (int number : reduces) count *= extents_[static_cast<size_t>(number)];
  return count;
}

namespace {

class Operands {
 public:
  Operands(UOp n, const Use& use, TokenTable& tokens, const std::function<void(UOp, Use)>& add)
      : n_(n), use_(use), tokens_(tokens), add_(add) {}

  void visit() const {
    if (isElementwise(n_.op()) || n_.op() == Op::Contiguous) {
      for (UOp s : n_.src()) add_(s, s.rank() == 0 ? atScalar() : use_);
    } else if (n_.op() == Op::Reduce) {
      visitReduce();
    } else if (n_.op() == Op::Gather) {
      visitGather();
    } else if (isMovement(n_.op())) {
      visitMovement();
    } else if (n_.op() == Op::Stack) {
      for (UOp s : n_.src()) add_(s, atScalar());
    }
  }

 private:
  Use at(std::vector<TokenId> index) const {
    return {use_.root, std::move(index), use_.inReduce, use_.outer, use_.loops};
  }
  Use atScalar() const { return at({}); }

  void visitReduce() const {
    std::span<const int32_t> axes = n_.argAs<ReduceArg>().axes;
    Use inner{
        use_.root, {}, true, unite(tokens_.axesOf(use_), use_.outer), unite(tokens_.reducesOf(use_.index), use_.loops)};
    size_t next = 0;
    for (size_t i = 0; i < n_.src(0).rank(); ++i) {
      bool reduced = std::ranges::find(axes, static_cast<int32_t>(i)) != axes.end();
      double extent = static_cast<double>(std::max<int64_t>(1, likelySize(n_.src(0).shape()[i])));
      inner.index.push_back(reduced ? tokens_.reduceAxis(n_.id(), static_cast<int>(i), extent) : use_.index[next++]);
    }
    add_(n_.src(0), std::move(inner));
  }

  void visitGather() const {
    Use data = atScalar();
    for (size_t i = 1; i < n_.srcCount(); ++i) {
      UOp index = n_.src(i);
      add_(index, index.rank() == 0 ? atScalar() : use_);
      bool isConst = index.op() == Op::Const;
      data.index.push_back(isConst ? tokens_.zero() : tokens_.derive({index.id()}, use_.index, true));
    }
    add_(n_.src(0), std::move(data));
  }

  void visitMovement() const {
    UOp source = n_.src(0);
    const size_t rank = source.rank();
    std::vector<TokenId> moved(rank, tokens_.zero());
    // The index along one axis plus or minus `offset`, which is the same index when that is 0.
    auto shift = [&](size_t axis, UOp offset) {
      bool isSame = n_.op() != Op::Flip && offset.isConst(0);
      moved[axis] = isSame ? use_.index[axis]
                           : tokens_.derive({static_cast<int64_t>(n_.op()), offset.id()}, {&use_.index[axis], 1});
    };
    switch (n_.op()) {
      case Op::Expand:
        for (size_t i = 0; i < rank; ++i) moved[i] = source.dim(i) == 1 ? tokens_.zero() : use_.index[i];
        break;
      case Op::Permute:
        for (size_t i = 0; i < rank; ++i) moved[static_cast<size_t>(n_.argAs<AxesArg>().axes[i])] = use_.index[i];
        break;
      case Op::Shrink:
        for (size_t i = 0; i < rank; ++i) shift(i, n_.src(1 + i));
        break;
      case Op::Pad:
        add_(n_.src(1), atScalar());
        for (size_t i = 0; i < rank; ++i) shift(i, n_.src(2 + i));
        break;
      case Op::Flip:
        moved = use_.index;
        for (int32_t axis : n_.argAs<AxesArg>().axes) shift(static_cast<size_t>(axis), source.shape()[axis]);
        break;
      default: reshape(moved); break;
    }
    add_(source, at(std::move(moved)));
  }

  void reshape(std::vector<TokenId>& moved) const {
    for (const AxisGroup& g : matchAxes(n_.src(0).shape(), n_.shape())) {
      std::vector<size_t> ins, outs;  // axes with more than one element
      for (size_t i = g.inBegin; i < g.inEnd; ++i)
        if (n_.src(0).dim(i) != 1) ins.push_back(i);
      for (size_t o = g.outBegin; o < g.outEnd; ++o)
        if (n_.dim(o) != 1) outs.push_back(o);
      if (ins.size() == 1 && outs.size() == 1) {
        moved[ins[0]] = use_.index[outs[0]];
        continue;
      }
      std::vector<TokenId> from;
      for (size_t o : outs) from.push_back(use_.index[o]);
      for (size_t i : ins) moved[i] = tokens_.derive(reshapeKey(g, i), from);
    }
  }

  std::vector<int64_t> reshapeKey(const AxisGroup& g, size_t axis) const {
    std::vector<int64_t> key{static_cast<int64_t>(Op::Reshape), static_cast<int64_t>(axis - g.inBegin)};
    for (size_t i = g.inBegin; i < g.inEnd; ++i) key.push_back(n_.src(0).shape()[i].id());
    key.push_back(-1);
    for (size_t o = g.outBegin; o < g.outEnd; ++o) key.push_back(n_.shape()[o].id());
    return key;
  }

  UOp n_;
  const Use& use_;
  TokenTable& tokens_;
  const std::function<void(UOp, Use)>& add_;
};

}  // namespace

void passToOperands(UOp n, const Use& use, TokenTable& tokens, const std::function<void(UOp, Use)>& add) {
  Operands(n, use, tokens, add).visit();
}

}  // namespace svod
