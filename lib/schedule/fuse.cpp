#include "schedule/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "schedule/fuse_rows.h"
#include "schedule/kernel_size.h"
#include "schedule/work.h"
#include "tensor/dot_operands.h"
#include "tensor/late_normalize.h"
#include "tensor/node_names.h"
#include "tensor/nodes.h"
#include "tensor/uses.h"

namespace svod {

namespace {

// Inside one kernel the operands stay in cache, so a value may be computed this often instead of being
// stored.
constexpr double kCachedRecompute = 3, kCachedWork = 40;
// A value inside a reduction is computed once for this many elements of the result: those of a register tile.
constexpr double kRegisterTile = 8;
// A value read at more indices than this is materialized: computing it at each would multiply without end.
constexpr size_t kMaxUses = 4;
bool alwaysMaterialized(Op op) {
  return op == Op::Contiguous || op == Op::Copy || op == Op::Custom || op == Op::Scatter;
}

class Fuser {
 public:
  Fuser(const Model& model, UOp sink, const FusionOptions& options, const Decisions& decisions)
      : order_(toposort(sink)), options_(options), decisions_(decisions), names_(model, order_), dots_(options.dots) {
    uint32_t largest = 0;
    for (UOp n : order_) largest = std::max(largest, n.id());
    uses_.resize(largest + 1);
    work_.resize(largest + 1);
    isCut_.resize(largest + 1);
    materialized_.resize(largest + 1);
  }

  /// Decides by cost alone, then cuts what became too large and decides again with these cuts as given.
  Fusion run() {
    isIndexMath_ = indexMath(order_, uses_.size());
    for (const Bf16Product& dot : dots_) dotOperands_.insert({dot.a.id(), dot.b.id()});
    do {
      measureWork();
      do decide();
      while (refuseRowsWithoutProduct() || refuseDots());
    } while (cutLargeKernels(order_, [this](UOp n) { return isKept(n); }, options_.whole, isCut_));
    Fusion fusion{materialized_, {}, {}};
    for (UOp n : order_)
      if (auto made = made_.find(n.id()); made != made_.end()) {
        made->second.name = "keep:" + names_.of(n);
        fusion.decisions.push_back(std::move(made->second));
      }
    const Readers readers(order_);
    for (UOp n : order_)
      if (rows_.contains(n.id())) fusion.rows.emplace(beforeSweeps(n, readers).id(), rows_.at(n.id()).axes);
    return fusion;
  }

 private:
  bool isKept(UOp n) const { return materialized_[n.id()] || rows_.contains(n.id()); }

  void decide() {
    materialized_.assign(materialized_.size(), false);
    uses_.assign(uses_.size(), {});
    isOperand_.clear(), rootShape_.clear(), rootOwner_.clear(), productOf_.clear();
    rows_.clear(), rowProducts_.clear(), made_.clear();
    for (size_t i = order_.size(); i-- > 0;) visit(order_[i]);
  }

  /// Arithmetic for one element when everything below it, down to reductions, is computed in place.
  void measureWork() {
    for (UOp n : order_) {
      double& sum = work_[n.id()] = isStorage(n) ? kLoadCost : isIndexMath_[n.id()] ? 0 : work(n);
      if (isStorage(n) || isIndexMath_[n.id()]) continue;
      for (UOp s : n.src())
        sum += isCut_[s.id()] || alwaysMaterialized(s.op()) || s.op() == Op::Reduce ? kLoadCost : work_[s.id()];
    }
  }

  void addUse(UOp node, Use use) {
    std::vector<Use>& uses = uses_[node.id()];
    for (Use& known : uses)
      if (known.key() == use.key()) {
        known.inReduce |= use.inReduce;
        known.outer = unite(known.outer, use.outer);
        return;
      }
    if (uses.size() <= kMaxUses) uses.push_back(std::move(use));
  }

  /// A kernel whose loops run over the axes of `shape`; it reads each of `values` at its own element.
  /// `owner`: the value or Store that the kernel is for.
  void addRoot(UOp owner, UOp shape, UOp value) { addRoot(owner, shape, std::span(&value, 1)); }
  void addRoot(UOp owner, UOp shape, std::span<const UOp> values) {
    auto root = static_cast<uint32_t>(rootShape_.size());
    rootShape_.push_back(shape);
    rootOwner_.push_back(owner);
    Use use{root, {}};
    for (size_t i = 0; i < shape.rank(); ++i)
      use.index.push_back(shape.dim(i) == 1 ? tokens_.zero() : tokens_.rootAxis(root, static_cast<int>(i)));
    for (UOp value : values) addUse(value, value.rank() == 0 ? Use{root, {}} : use);
  }

  void visit(UOp n) {
    if (n.op() == Op::Sink) return;
    if (n.op() == Op::Store) return visitStore(n);
    if (isStorage(n) || uses_[n.id()].empty()) return;
    if (decideFate(n) == Fate::Keep) {
      materialized_[n.id()] = true;
      uses_[n.id()].clear();
      addRoot(n, n, n);
      if (alwaysMaterialized(n.op())) return visitOwnKernel(n);
    }
    for (const Use& use : uses_[n.id()])
      passToOperands(n, use, tokens_, [this](UOp operand, Use read) { addUse(operand, std::move(read)); });
  }

  void visitStore(UOp store) {
    UOp value = store.src(1);
    if (!isStorage(value)) addRoot(store, value, value);
  }

  // Kinds with a kernel (or host call) of their own: their operands are read element by element, or as
  // buffers.
  void visitOwnKernel(UOp n) {
    if (n.op() == Op::Custom || n.op() == Op::Copy) {
      size_t inputs = n.op() == Op::Copy ? 1 : static_cast<size_t>(n.argAs<CustomArg>().inputs);
      for (UOp s : n.src().first(inputs))
        if (s.dtype() != DType::Index) materialize(s);  // sizes are passed as numbers
    } else if (n.op() == Op::Scatter) {
      addRoot(n, n.src(0), n.src(0));
      addRoot(n, n.src(n.srcCount() - 1), n.src().subspan(1));
    } else {
      addRoot(n, n.src(0), n.src(0));
    }
  }

  void materialize(UOp n) {
    if (isStorage(n)) return;
    isOperand_.insert(n.id());
    addRoot(n, n, n);
  }

  /// What becomes of a value: computed where it is read, kept in a buffer, or kept row by row in the kernel that reads
  /// it.
  enum class Fate : uint8_t { Fuse, Keep, Rows };
  static constexpr const char* kFates[] = {"fuse", "keep", "rows"};

  /// The best fate, why, and which others are legal.
  struct Verdict {
    Fate fate = Fate::Fuse;
    const char* reason = nullptr;  // null: there is nothing to choose
    bool mayFuse = true, mayKeep = true;
    std::optional<RowPlan> rows = {};
    std::optional<double> fuseCost = {}, keepCost = {};
  };

  static Verdict withRows(Verdict verdict, std::optional<RowPlan> rows, const char* reason) {
    verdict.fate = Fate::Rows, verdict.reason = reason, verdict.rows = std::move(rows);
    return verdict;
  }

  Verdict judge(UOp n) {
    if (alwaysMaterialized(n.op()) || isOperand_.contains(n.id())) return {Fate::Keep};
    const std::vector<Use>& uses = uses_[n.id()];
    if (uses.size() == 1 && isRootUse(n, uses[0])) return {};  // it is the value of a store: its buffer is the target
    if (isCut_[n.id()]) return {Fate::Keep, "its kernel would be too large", false};
    if (isIndexMath_[n.id()]) return {};
    if (n.op() == Op::Reduce) return judgeReduce(n);
    if (isMovement(n.op()) || work(n) == 0) return {};
    return judgeElementwise(n);
  }

  Verdict judgeReduce(UOp n) {
    Verdict verdict{Fate::Fuse, "no element of it is computed twice", uses_[n.id()].size() <= kMaxUses};
    const bool isHoisted = canHoist(n);
    if (isHoisted && !isSecondProduct(n)) return verdict;
    if (auto rows = planRowsOf(n))
      return withRows(verdict, std::move(rows), "reductions of its kernel sweep over its rows");
    verdict.fate = Fate::Keep;
    verdict.reason = isHoisted ? "its kernel computes another product" : "it would be computed more than once";
    return verdict;
  }

  Verdict judgeElementwise(UOp n) {
    const std::vector<Use>& uses = uses_[n.id()];
    Verdict verdict{Fate::Fuse, "computing it where it is read costs less", uses.size() <= kMaxUses,
                    n.dtype() != DType::Index};
    if (isNormalizedLate(n)) {
      verdict.reason = "it stays with its sum";
      if (!canHoist(n)) verdict.fate = Fate::Keep, verdict.reason = "its sum would be computed more than once";
      return verdict;
    }
    if (isByteDistance(n) && std::ranges::all_of(uses, &Use::inReduce)) {
      verdict.reason = "dot products take bytes";
      return verdict;
    }
    if (dotOperands_.contains(n.id())) {
      verdict.reason = "dot products take bf16";
      return verdict;
    }
    const bool isSweptAgain = uses.size() > 1 && work_[n.id()] >= kTranscendentalCost;
    if (isSweptAgain)
      if (auto rows = planRowsOf(n)) return withRows(verdict, std::move(rows), "reductions sweep over it again");
    const bool isCheaper = isCheaperMaterialized(n, verdict);
    if (uses.size() <= kMaxUses && !isCheaper) return verdict;
    if (auto rows = planRowsOf(n)) return withRows(verdict, std::move(rows), "reductions sweep over it again");
    verdict.fate = Fate::Keep;
    verdict.reason = isCheaper ? "computing it again costs more" : "it is read in too many ways";
    return verdict;
  }

  /// The fate that is asked for, or that of the verdict.
  Fate decideFate(UOp n) {
    Verdict verdict = judge(n);
    if (verdict.reason == nullptr) return verdict.fate;
    std::vector<Fate> legal;
    if (verdict.mayFuse || verdict.fate == Fate::Fuse) legal.push_back(Fate::Fuse);
    if (verdict.mayKeep || verdict.fate == Fate::Keep) legal.push_back(Fate::Keep);
    if (verdict.rows) legal.push_back(Fate::Rows);
    Decision decision{"keep:", {}, 0, verdict.reason};
    for (Fate fate : legal) {
      const std::optional<double> cost = fate == Fate::Fuse   ? verdict.fuseCost
                                         : fate == Fate::Keep ? verdict.keepCost
                                                              : std::nullopt;
      decision.alternatives.push_back({kFates[static_cast<size_t>(fate)], cost});
      if (fate == verdict.fate) decision.chosen = decision.alternatives.size() - 1;
    }
    if (decisions_.hasRequests()) {
      decision.name += names_.of(n);
      verdict.fate = legal[decisions_.answer(decision)];
    }
    made_.insert_or_assign(n.id(), std::move(decision));
    if (verdict.fate == Fate::Rows) keepRows(n, std::move(*verdict.rows));
    return verdict.fate;
  }

  /// How a product that several reductions of one kernel read, or what is computed from it, is kept there row by row.
  std::optional<RowPlan> planRowsOf(UOp n) {
    const std::vector<Use>& uses = uses_[n.id()];
    const uint32_t root = uses[0].root, owner = rootOwner_[root].id();
    const bool isProduct = n.op() == Op::Reduce;
    if (uses.size() > kMaxUses || noRows_.contains(owner) || rowProducts_.contains(owner)) return std::nullopt;
    if (isProduct && uses.size() < 2) return std::nullopt;
    if (!std::ranges::all_of(uses, [&](const Use& use) { return use.root == root && use.inReduce; }))
      return std::nullopt;
    std::optional<RowPlan> plan = planRows(n, uses, rootShape_[root], tokens_);
    if (!plan || repetitions(n, uses[0]) > 1) return std::nullopt;
    const auto repeats = [&](int axis) { return readsAgain(n, uses[0], {axis}); };
    if (isProduct && (!isRowProduct(n, *plan) || std::ranges::none_of(plan->over, repeats))) return std::nullopt;
    return plan;
  }

  void keepRows(UOp n, RowPlan plan) {
    std::vector<Use>& uses = uses_[n.id()];
    const uint32_t owner = rootOwner_[uses[0].root].id();
    rows_[n.id()] = {std::move(plan.axes), owner};
    if (n.op() == Op::Reduce)
      rowProducts_.insert(owner);           // what it reads is kept elsewhere: one product is enough to tile
    uses.resize(1), uses[0].outer.clear();  // its operands are read where it is filled, once
  }

  /// Rows pay where a product fills them; true when some kernel has others and all is to be decided without those.
  bool refuseRowsWithoutProduct() {
    const size_t before = noRows_.size();
    for (const auto& [id, row] : rows_)
      if (!rowProducts_.contains(row.owner)) noRows_.insert(row.owner);
    return noRows_.size() > before;
  }

  /// Dot product instructions take bf16 from memory, in kernels that do nothing but the product with it; true when some
  /// operands are otherwise and all is to be decided with these widened.
  bool refuseDots() {
    const size_t before = dotOperands_.size();
    for (const Bf16Product& dot : dots_)
      if (!isDotOperand(dot.a) || !isDotOperand(dot.b)) dotOperands_.erase(dot.a.id()), dotOperands_.erase(dot.b.id());
    return dotOperands_.size() < before;
  }
  bool isDotOperand(UOp widened) const {
    const UOp value = belowMovement(widened.src(0));
    if ((!isStorage(value) && !materialized_[value.id()]) || !dotOperands_.contains(widened.id())) return false;
    return std::ranges::all_of(uses_[widened.id()], [&](const Use& use) {
      return use.inReduce && !rowProducts_.contains(rootOwner_[use.root].id());
    });
  }

  bool isRootUse(UOp n, const Use& use) const { return rootShape_[use.root] == n && !use.inReduce; }

  double extent(const Use& use, std::span<const int> axes) const {
    double count = 1;
    UOp root = rootShape_[use.root];
    for (int axis : axes) count *= static_cast<double>(std::max<int64_t>(1, root.shape()[axis].bounds().max));
    return count;
  }

  /// Iterations of the loops around the kernel that `n` is no part of: it is computed again in each.
  double repetitions(UOp n, const Use& use) const {
    double count = 1;
    for (UOp loop : rootOwner_[use.root].ranges())
      if (!n.dependsOn(loop)) count *= static_cast<double>(std::max<int64_t>(1, loop.src(0).bounds().max));
    return count;
  }

  /// How many different elements this use reads, counting one again for every step of a reduction.
  double elementsRead(const Use& use) const {
    double count = extent(use, tokens_.axesOf(use));
    for (TokenId id : use.index) count *= tokens_[id].reduceExtent;
    return count;
  }

  /// How often the value is computed for this use: axes around a reduction repeat all of its loop.
  double evaluations(const Use& use) const {
    std::vector<int> axes = tokens_.axesOf(use);
    double repeats = extent(use, unite(axes, use.outer)) / extent(use, axes);
    return elementsRead(use) * std::max(1.0, repeats / kRegisterTile);
  }

  /// A reduction read at one index, over the leading axes of one kernel, each element once.
  bool canHoist(UOp n) const {
    const std::vector<Use>& uses = uses_[n.id()];
    if (uses.size() != 1) return false;
    const Use& use = uses[0];
    UOp root = rootShape_[use.root];
    std::vector<bool> used(root.rank());
    for (TokenId id : use.index) {
      if (tokens_[id].reduced) return false;
      for (int axis : tokens_[id].axes) used[axis] = true;
    }
    bool ended = false;
    for (size_t axis = 0; axis < root.rank(); ++axis) {
      if (root.dim(axis) == 1) continue;
      if (used[axis] && ended) return false;
      ended |= !used[axis];
    }
    return elementsRead(use) * repetitions(n, use) <= static_cast<double>(n.maxNumel());
  }

  /// A product for every element of a kernel that has another such: in one loop nest neither gets the tile, panel and
  /// order that suit it.
  bool isSecondProduct(UOp n) {
    constexpr double kLong = 16;  // steps from which that matters
    const Use& use = uses_[n.id()][0];
    bool everyElement = elementsRead(use) >= static_cast<double>(rootShape_[use.root].maxNumel());
    double steps = static_cast<double>(n.src(0).maxNumel()) / static_cast<double>(std::max<int64_t>(1, n.maxNumel()));
    if (!everyElement || steps < kLong || !readsAgain(n, use, tokens_.axesOf(use))) return false;
    return !productOf_.insert(use.root).second;
  }

  /// Whether the reduction reads elements that it reads for other results along `axes`, too, as products and
  /// convolutions do.
  bool readsAgain(UOp reduce, const Use& use, const std::vector<int>& axes) {
    std::vector<std::pair<UOp, Use>> open{{reduce, use}};
    std::set<uint32_t> seen;
    bool found = false;
    auto visitOperand = [&](UOp n, Use read) {
      if (isIndexMath_[n.id()] || !seen.insert(n.id()).second) return;
      bool leaf = isStorage(n) || isCut_[n.id()] || alwaysMaterialized(n.op()) || n.op() == Op::Reduce;
      if (leaf)
        found |= !std::ranges::includes(tokens_.axesOf(read), axes);
      else
        open.emplace_back(n, std::move(read));
    };
    while (!found && !open.empty()) {
      auto [n, read] = std::move(open.back());
      open.pop_back();
      passToOperands(n, read, tokens_, visitOperand);
    }
    return found;
  }

  bool isCheaperMaterialized(UOp n, Verdict& verdict) const {
    const std::vector<Use>& uses = uses_[n.id()];
    double elements = static_cast<double>(n.maxNumel()), total = 0, each = work_[n.id()];
    bool oneKernel = true, isStored = false;
    for (const Use& use : uses) {
      total += evaluations(use) * repetitions(n, use);
      oneKernel &= use.root == uses[0].root;
      isStored |= isRootUse(n, use);
    }
    verdict.fuseCost = total * each, verdict.keepCost = elements * (each + kStoreCost) + total * kLoadCost + kLaunch;
    if (uses.size() == 1 && total <= elements) return false;
    if (oneKernel && total <= kCachedRecompute * elements && each <= kCachedWork) return false;
    if (isStored) return (total - elements) * kLoadCost < (total - elements) * each;  // an output anyway
    return *verdict.keepCost < *verdict.fuseCost;
  }

  std::vector<UOp> order_;
  const FusionOptions& options_;
  const Decisions& decisions_;
  NodeNames names_;
  std::map<uint32_t, Decision> made_;  // by node id, before the answers to them
  std::set<uint32_t> isOperand_;       // ids of values that kinds with kernels of their own read whole
  std::vector<std::vector<Use>> uses_;
  std::vector<double> work_;
  std::vector<bool> isIndexMath_, isCut_, materialized_;
  std::vector<UOp> rootShape_;    // by root number: the value whose axes the kernel runs over
  std::set<uint32_t> productOf_;  // roots that compute a long reduction for each of their elements
  std::vector<UOp> rootOwner_;    // and the value or Store it is for
  struct Row {
    std::vector<int> axes;
    uint32_t owner;  // of the kernel that keeps it
  };
  std::map<uint32_t, Row> rows_;             // by node id
  std::set<uint32_t> rowProducts_, noRows_;  // owners of kernels that keep rows of a product, or none
  TokenTable tokens_;
  std::span<const Bf16Product> dots_;
  std::set<uint32_t> dotOperands_;  // of all of them, but for those where something is in the way
};

}  // namespace

Fusion chooseFusion(const Model& model, UOp sink, const FusionOptions& options, const Decisions& decisions) {
  return Fuser(model, sink, options, decisions).run();
}

Fusion keepAll(UOp sink) {
  const std::vector<UOp> order = toposort(sink);
  uint32_t largest = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  const std::vector<bool> isMath = indexMath(order, largest + 1);
  Fusion fusion{std::vector<bool>(largest + 1), {}, {}};
  const auto keep = [&](UOp n) {
    if (!isStorage(n)) fusion.materialized[n.id()] = true;
  };
  for (UOp n : order) {
    const bool isComputed = isElementwise(n.op()) || n.op() == Op::Reduce || n.op() == Op::Gather;
    if (alwaysMaterialized(n.op()) || (isComputed && !isMath[n.id()] && n.dtype() != DType::Index)) keep(n);
    if (n.op() != Op::Custom && n.op() != Op::Copy) continue;  // their operands are read as buffers
    for (UOp s : n.src().first(n.op() == Op::Copy ? 1 : static_cast<size_t>(n.argAs<CustomArg>().inputs)))
      if (s.dtype() != DType::Index) keep(s);
  }
  return fusion;
}

}  // namespace svod
