#include "tensor/layout.h"

#include <algorithm>

#include "tensor/node_names.h"
#include "tensor/nodes.h"
#include "tensor/softmax.h"

namespace svod {

namespace {

// Elements that stay next to each other, so that a product that writes them has register tiles. Narrow ones are
// computed in 32 bits.
int64_t leastRun(DType dtype, const GraphMachine& machine) {
  return machine.runBytes / std::max<int64_t>(4, byteSize(dtype));
}

bool keepsRuns(UOp permute, int64_t least) {
  std::span<const int32_t> order = permute.argAs<AxesArg>().axes;
  return static_cast<size_t>(order.back()) + 1 == order.size() && permute.shape().back().bounds().min >= least &&
         !std::ranges::is_sorted(order);
}

// The permutation that is all that is read of `n`, if it keeps runs of `least` elements; null for none.
UOp orderOfReaders(UOp n, const Readers& readers, int64_t least) {
  UOp reader = readers.only(n);
  while (reader && reader.op() == Op::Reshape) reader = readers.only(reader);
  return reader && reader.op() == Op::Permute && keepsRuns(reader, least) ? reader : UOp();
}

bool isComputed(UOp n) { return n.op() == Op::Reduce || isElementwise(n.op()); }

}  // namespace

UOp layOutForReaders(Model& model, UOp sink, const std::vector<bool>& kept, std::set<uint32_t>& uncut,
                     const GraphMachine& machine, Decisions& decisions) {
  Graph& g = *model.graph;
  const std::vector<UOp> order = toposort(sink);
  NodeDecisions decide(model, order, decisions);
  const Readers readers(order);
  std::set<uint32_t> laidOut;  // permutations
  std::vector<UOp> roots{sink};
  for (UOp n : order) {
    if (uncut.contains(n.id())) roots.push_back(n);
    // A product of a softmax holds rows in its kernel, which then runs over these axes and not over those of an output.
    const bool holdsRows = isNormalizedLate(n);
    if (!holdsRows && !(isComputed(n) && kept[n.id()])) continue;
    UOp permute = orderOfReaders(n, readers, holdsRows ? 1 : leastRun(n.dtype(), machine));
    if (permute &&
        decide.decide("layout", n, {{"read", {}}, {"computed", {}}}, 0, "all readers see it in one order") == 0)
      laidOut.insert(permute.id());
  }
  if (laidOut.empty()) return sink;
  UOp changed = transform(g, g.make(Op::Sink, DType::Void, roots), [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
    return laidOut.contains(n.id()) ? g.make(Op::Contiguous, n.dtype(), {same}) : same;
  });
  uncut.clear();
  for (UOp n : changed.src().subspan(1)) uncut.insert(n.id());
  return changed.src(0);
}

}  // namespace svod
