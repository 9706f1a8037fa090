#include "schedule/layout.h"

#include <algorithm>

#include "schedule/late_normalize.h"

namespace svod {

namespace {

/// Elements that stay next to each other: two vectors, so that a product that writes them has register tiles.
constexpr int64_t kMinRun = 32;

// Who reads a value, by its id; null where there are several.
class OnlyReaders {
 public:
  explicit OnlyReaders(std::span<const UOp> order) {
    uint32_t largest = 0;
    for (UOp n : order) largest = std::max(largest, n.id());
    readers_.resize(largest + 1), shared_.resize(largest + 1);
    for (UOp n : order)
      for (UOp s : n.src()) {
        shared_[s.id()] = shared_[s.id()] || (readers_[s.id()] && readers_[s.id()] != n);
        readers_[s.id()] = n;
      }
  }
  UOp of(UOp n) const { return shared_[n.id()] ? UOp() : readers_[n.id()]; }

 private:
  std::vector<UOp> readers_;
  std::vector<bool> shared_;
};

bool keepsRuns(UOp permute, int64_t least) {
  std::span<const int32_t> order = permute.argAs<AxesArg>().axes;
  return static_cast<size_t>(order.back()) + 1 == order.size() && permute.shape().back().bounds().min >= least &&
         !std::ranges::is_sorted(order);
}

// The permutation that is all that is read of `n`, if it keeps runs of `least` elements; null for none.
UOp orderOfReaders(UOp n, const OnlyReaders& readers, int64_t least) {
  UOp reader = readers.of(n);
  while (reader && reader.op() == Op::Reshape) reader = readers.of(reader);
  return reader && reader.op() == Op::Permute && keepsRuns(reader, least) ? reader : UOp();
}

bool isComputed(UOp n) { return n.op() == Op::Reduce || isElementwise(n.op()); }

}  // namespace

UOp layOutForReaders(Graph& g, UOp sink, const Fusion& fusion, std::set<uint32_t>& whole) {
  const std::vector<UOp> order = toposort(sink);
  const OnlyReaders readers(order);
  std::set<uint32_t> stored;  // permutations
  std::vector<UOp> roots{sink};
  for (UOp n : order) {
    if (whole.contains(n.id())) roots.push_back(n);
    // A product of a softmax keeps rows in its kernel, which then runs over these axes and not over those of an output.
    const bool keepsRows = isNormalizedLate(n);
    if (!keepsRows && !(isComputed(n) && fusion.materialized[n.id()])) continue;
    if (UOp permute = orderOfReaders(n, readers, keepsRows ? 1 : kMinRun)) stored.insert(permute.id());
  }
  if (stored.empty()) return sink;
  UOp changed = transform(g, g.make(Op::Sink, DType::Void, roots), [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    return stored.contains(n.id()) ? g.make(Op::Contiguous, n.dtype(), {same}) : same;
  });
  whole.clear();
  for (UOp n : changed.src().subspan(1)) whole.insert(n.id());
  return changed.src(0);
}

}  // namespace svod
