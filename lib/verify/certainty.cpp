#include "verify/certainty.h"

#include <algorithm>

namespace svod {

namespace {

Certainty worst(Certainty a, Certainty b) { return std::max(a, b); }

bool isExtreme(Op op) { return op == Op::Max || op == Op::Min; }

bool roundsOnce(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Fdiv || op == Op::Sqrt || op == Op::Recip;
}

bool roundsToInteger(Op op) { return op == Op::Trunc || op == Op::Floor || op == Op::Ceil || op == Op::Round; }

class Analysis {
 public:
  Analysis(const Model& model, Numerics numerics)
      : numerics_(numerics), nodes_(toposort(model.sink)), of_(model.graph->size()),
        ports_(model.ports.size(), Certainty::Exact) {}

  /// Loops write what they read, so until nothing changes; values only get less certain.
  std::vector<Certainty> run() {
    for (std::vector<Certainty> before; before != ports_;) {
      before = ports_;
      for (UOp n : nodes_) {
        of_[n.id()] = compute(n);
        if (n.op() == Op::Store) portOf(n.src(0)) = worst(portOf(n.src(0)), of_[n.src(1).id()]);
      }
    }
    return ports_;
  }

 private:
  Certainty& portOf(UOp target) {
    while (target.op() != Op::Buffer) target = target.src(0);
    return ports_[target.argAs<SlotArg>().slot];
  }

  Certainty compute(UOp n) {
    if (n.op() == Op::Buffer) return portOf(n);
    Certainty sources = Certainty::Exact;
    for (UOp s : n.src()) sources = worst(sources, of_[s.id()]);
    if (has(n.op(), Transcend)) return Certainty::Free;
    if (n.op() == Op::Cast || n.op() == Op::Bitcast || has(n.op(), Comparison))
      return sources == Certainty::Free ? sources : Certainty::Exact;
    if (!isFloat(n.dtype()) || numerics_ == Numerics::Strict) return sources;
    if (n.op() == Op::Reduce || n.op() == Op::Scatter) return folded(n.argAs<ReduceArg>().op, sources);
    if (roundsOnce(n.op()))
      return sources == Certainty::Exact && numerics_ == Numerics::Contract ? Certainty::Rounded : Certainty::Free;
    if (numerics_ == Numerics::Fast && isExtreme(n.op())) return Certainty::Free;  // NaN may lose
    return roundsToInteger(n.op()) && sources != Certainty::Exact ? Certainty::Free : sources;
  }

  Certainty folded(Op op, Certainty sources) const {
    const bool chooses = op == Op::Store || (isExtreme(op) && numerics_ != Numerics::Fast);
    return chooses ? sources : Certainty::Free;
  }

  Numerics numerics_;
  std::vector<UOp> nodes_;
  std::vector<Certainty> of_;     // by node id
  std::vector<Certainty> ports_;  // by port
};

}  // namespace

std::vector<Certainty> certainties(const Model& model, Numerics numerics) { return Analysis(model, numerics).run(); }

bool dependsOnOpenBits(const Model& model) {
  bool chooses = false, divides = false, seesBits = false;
  for (UOp n : toposort(model.sink)) {
    const bool folds = n.op() == Op::Reduce || n.op() == Op::Scatter;
    chooses |= isFloat(n.dtype()) && isExtreme(folds ? n.argAs<ReduceArg>().op : n.op());
    divides |= n.op() == Op::Fdiv || n.op() == Op::Recip || n.op() == Op::Pow;
    seesBits |= n.op() == Op::Custom;
    seesBits |= n.op() == Op::Bitcast && isFloat(n.src(0).dtype());
  }
  return seesBits || (chooses && divides);
}

}  // namespace svod
