#include "schedule/fuse.h"

#include <algorithm>
#include <map>
#include <optional>

#include "schedule/fuse_rules.h"
#include "schedule/kernel_size.h"
#include "tensor/node_names.h"
#include "tensor/nodes.h"
#include "tensor/work.h"

namespace svod {

namespace {

/// Walks from results to operands and asks the rules (fuse_rules.h) about each value, until no limit is broken.
class Fuser {
 public:
  Fuser(const Model& model, UOp sink, const FusionOptions& options, const Decisions& decisions)
      : s_(sink, options.machine), options_(options), decisions_(decisions), names_(model, s_.order),
        dots_(options.dots), kept_(s_.isCut.size()) {}

  /// Decides by the rules alone, then cuts what became too large and decides again with these cuts as given.
  Fusion run() {
    for (const Bf16Product& dot : dots_) s_.dotOperands.insert({dot.a.id(), dot.b.id()});
    do {
      s_.costs.forget();
      do walk();
      while (refuseRowsWithoutProduct() || refuseDots());
    } while (cutLargeKernels(s_.order, s_.dag, [this](UOp n) { return hasBuffer(n); }, options_.uncut, s_.isCut));
    Fusion fusion{kept_, {}, {}};
    for (UOp n : s_.order)
      if (auto made = made_.find(n.id()); made != made_.end()) {
        made->second.name = "keep:" + names_.of(n);
        fusion.decisions.push_back(std::move(made->second));
      }
    const Readers readers(s_.order);
    for (UOp n : s_.order)
      if (rows_.contains(n.id())) fusion.rows.emplace(beforeSweeps(n, readers).id(), rows_.at(n.id()).axes);
    return fusion;
  }

 private:
  /// In memory, or for a row in the kernel.
  bool hasBuffer(UOp n) const { return kept_[n.id()] || rows_.contains(n.id()); }

  void walk() {
    kept_.assign(kept_.size(), false);
    s_.beginWalk();
    rows_.clear(), made_.clear();
    for (size_t i = s_.order.size(); i-- > 0;) visit(s_.order[i]);
  }

  void visit(UOp n) {
    if (n.op() == Op::Sink) return;
    if (n.op() == Op::Store) return visitStore(n);
    if (isStorage(n) || s_.uses.of(n).empty()) return;
    if (decideFate(n) == Fate::Keep) {
      kept_[n.id()] = true;
      s_.uses.drop(n);
      addRoot(n, n, n);
      if (hasOwnKernel(n.op())) return visitOwnKernel(n);
    }
    for (const Use& use : s_.uses.of(n))
      passToOperands(n, use, s_.uses.tokens(),
                     [this](UOp operand, Use read) { s_.uses.add(operand, std::move(read)); });
  }

  void addRoot(UOp owner, UOp shape, UOp value) { s_.uses.addRoot(owner, shape, std::span(&value, 1)); }

  void visitStore(UOp store) {
    UOp value = store.src(1);
    if (!isStorage(value)) addRoot(store, value, value);
  }

  // Their operands are read element by element, or as buffers.
  void visitOwnKernel(UOp n) {
    if (n.op() == Op::Custom || n.op() == Op::Copy) {
      for (UOp s : wholeOperands(n)) readWhole(s);
    } else if (n.op() == Op::Scatter) {
      addRoot(n, n.src(0), n.src(0));
      s_.uses.addRoot(n, n.src(n.srcCount() - 1), n.src().subspan(1));
    } else {
      addRoot(n, n.src(0), n.src(0));
    }
  }

  void readWhole(UOp n) {
    if (isStorage(n)) return;
    s_.isOperand.insert(n.id());
    addRoot(n, n, n);
  }

  /// The fate that is asked for, or that of the verdict. Values that are not kept for the size of their kernel, the
  /// scalars of a transform, are many and of no interest one by one.
  Fate decideFate(UOp n) {
    Verdict verdict = judge(s_, n);
    if (verdict.reason.empty() || options_.uncut.contains(n.id())) return take(n, std::move(verdict));
    if (verdict.isUnpriced) verdict.cost = s_.costs.weigh(n, s_.uses);
    std::vector<Fate> legal;
    if (verdict.mayFuse || verdict.fate == Fate::Fuse) legal.push_back(Fate::Fuse);
    if (verdict.mayKeep || verdict.fate == Fate::Keep) legal.push_back(Fate::Keep);
    if (verdict.rows) legal.push_back(Fate::Rows);
    Decision decision{"keep:", {}, 0, std::string(verdict.reason)};
    for (Fate fate : legal) {
      decision.alternatives.push_back({std::string(toText(fate)), costOf(verdict, fate)});
      if (fate == verdict.fate) decision.chosen = decision.alternatives.size() - 1;
    }
    if (decisions_.hasRequests()) {
      decision.name += names_.of(n);
      verdict.fate = legal[decisions_.answer(decision)];
    }
    made_.insert_or_assign(n.id(), std::move(decision));
    return take(n, std::move(verdict));
  }

  Fate take(UOp n, Verdict verdict) {
    if (verdict.fate == Fate::Rows) holdRows(n, std::move(*verdict.rows));
    return verdict.fate;
  }

  static std::optional<double> costOf(const Verdict& verdict, Fate fate) {
    if (verdict.times && fate != Fate::Fuse) return fate == Fate::Rows ? verdict.times->held : verdict.times->kept;
    if (!verdict.cost || fate == Fate::Rows) return std::nullopt;
    return fate == Fate::Fuse ? verdict.cost->fuse : verdict.cost->keep;
  }

  void holdRows(UOp n, RowPlan plan) {
    const uint32_t owner = s_.uses.owner(s_.uses.of(n)[0]).id();
    rows_[n.id()] = {std::move(plan.axes), owner};
    if (n.op() == Op::Reduce)
      s_.rowProducts.insert(owner);  // what it reads lies elsewhere: one product is enough to tile
    s_.uses.readOnce(n);
  }

  /// Rows pay where a product fills them; true when some kernel has others and all is to be decided without those.
  bool refuseRowsWithoutProduct() {
    const size_t before = s_.noRows.size();
    for (const auto& [id, row] : rows_)
      if (!s_.rowProducts.contains(row.owner)) s_.noRows.insert(row.owner);
    return s_.noRows.size() > before;
  }

  /// Dot product instructions take bf16 from memory, in kernels that do nothing but the product with it; true when some
  /// operands are otherwise and all is to be decided with these widened.
  bool refuseDots() {
    const size_t before = s_.dotOperands.size();
    for (const Bf16Product& dot : dots_)
      if (!isDotOperand(dot.a) || !isDotOperand(dot.b))
        s_.dotOperands.erase(dot.a.id()), s_.dotOperands.erase(dot.b.id());
    return s_.dotOperands.size() < before;
  }
  bool isDotOperand(UOp widened) const {
    const UOp value = belowMovement(widened.src(0));
    if ((!isStorage(value) && !kept_[value.id()]) || !s_.dotOperands.contains(widened.id())) return false;
    return std::ranges::all_of(s_.uses.of(widened), [&](const Use& use) {
      return use.inReduce && !s_.rowProducts.contains(s_.uses.owner(use).id());
    });
  }

  struct Row {
    std::vector<int> axes;
    uint32_t owner;  // of the kernel that holds it
  };

  FusionState s_;
  const FusionOptions& options_;
  const Decisions& decisions_;
  NodeNames names_;
  std::span<const Bf16Product> dots_;
  std::vector<bool> kept_;             // by node id
  std::map<uint32_t, Decision> made_;  // by node id, before the answers to them
  std::map<uint32_t, Row> rows_;       // by node id
};

}  // namespace

Fusion chooseFusion(const Model& model, UOp sink, const FusionOptions& options, const Decisions& decisions) {
  return Fuser(model, sink, options, decisions).run();
}

Fusion keepAll(UOp sink) {
  const std::vector<UOp> order = toposort(sink);
  const std::vector<bool> isMath = indexMath(order, idsBelow(order));
  Fusion fusion{std::vector<bool>(isMath.size()), {}, {}};
  const auto keep = [&](UOp n) {
    if (!isStorage(n)) fusion.kept[n.id()] = true;
  };
  for (UOp n : order) {
    const bool isComputed = isElementwise(n.op()) || n.op() == Op::Reduce || n.op() == Op::Gather;
    if (hasOwnKernel(n.op()) || (isComputed && !isMath[n.id()] && n.dtype() != DType::Index)) keep(n);
    for (UOp s : wholeOperands(n)) keep(s);
  }
  return fusion;
}

}  // namespace svod
