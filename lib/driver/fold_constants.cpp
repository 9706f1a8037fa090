#include "driver/fold_constants.h"

#include <algorithm>
#include <map>
#include <memory>

#include "interp/interp.h"
#include "tensor/work.h"

namespace svod {

namespace {

/// What is known of a value: Varies, with the run; Stored, in weights as it is, or in narrower ones; Foldable.
enum class Kind : uint8_t { Varies, Stored, Foldable };

bool isWeight(const Model& model, UOp n) {
  return n.op() == Op::Buffer && model.ports[n.argAs<SlotArg>().slot].kind == PortKind::Weight;
}

/// Whether the interpreter can compute the value, its sources known.
bool isPure(UOp n) {
  if (!n.ranges().empty() || n.hasSymbolicShape()) return false;
  if (isElementwise(n.op()) || isMovement(n.op())) return true;
  constexpr Op kOthers[] = {Op::Const, Op::Iota, Op::Stack, Op::Reduce, Op::Gather, Op::Scatter, Op::Contiguous};
  return std::ranges::find(kOthers, n.op()) != std::end(kOthers);
}

/// Movement that only changes where a kernel reads. What is padded takes a mask there.
bool isFreeMovement(UOp n) { return isMovement(n.op()) && n.op() != Op::Pad; }

/// Loads and dot product instructions do these, so the weight stays narrow.
bool widens(UOp n) {
  if (isByteDistance(n) || isPartOfByte(n)) return true;
  if (n.op() != Op::Cast || byteSize(n.src(0).dtype()) > byteSize(n.dtype())) return false;
  auto areBoth = [&](bool (*is)(DType)) { return is(n.dtype()) && is(n.src(0).dtype()); };
  return areBoth(isFloat) || areBoth(isInt);
}

int64_t bytesOf(UOp n) { return static_cast<int64_t>(memoryBytes(n.dtype(), static_cast<uint64_t>(n.maxNumel()))); }

int64_t leastNumel(UOp n) {
  int64_t count = 1;
  for (UOp d : n.shape()) count *= std::max<int64_t>(0, d.bounds().min);
  return count;
}

/// Elements that computing this node alone takes.
int64_t elementsOf(UOp n) {
  if (n.op() == Op::Reduce) return n.src(0).maxNumel();
  if (n.op() == Op::Gather || n.op() == Op::Scatter) return n.maxNumel() * static_cast<int64_t>(n.srcCount());
  return isElementwise(n.op()) || n.op() == Op::Pad || n.op() == Op::Iota || n.op() == Op::Stack ? n.maxNumel() : 0;
}

class Folder {
 public:
  explicit Folder(Model& model) : model_(model), g_(*model.graph), nodes_(toposort(model.sink)) {}

  Result<UOp> run(const FoldLimits& limits) {
    classify();
    findRoots();
    findFolds();
    findOwners();
    findReaders();
    const std::vector<UOp> chosen = choose(limits);
    if (chosen.empty()) return model_.sink;
    SVOD_TRY(std::vector<HostTensor> values, interpretNodes(model_, chosen, {}));
    std::vector<UOp> replacement(g_.size());
    for (size_t i = 0; i < chosen.size(); ++i) replacement[chosen[i].id()] = constantOf(chosen[i], values[i]);
    return rebuilt(replacement);
  }

 private:
  struct Fold {
    std::vector<UOp> roots;
    int64_t growth = 0, elements = 0;
  };
  static constexpr size_t kNoFold = SIZE_MAX;

  bool is(Kind kind, UOp n) const { return kinds_[n.id()] == kind; }

  void classify() {
    kinds_.assign(g_.size(), Kind::Varies);
    const std::vector<bool> isMath = indexMath(nodes_, g_.size());
    std::vector<bool> isKnown(g_.size());
    for (UOp n : nodes_) {
      const bool weight = isWeight(model_, n);
      isKnown[n.id()] = weight || (isPure(n) && std::ranges::all_of(n.src(), [&](UOp s) { return isKnown[s.id()]; }));
      if (!isKnown[n.id()] || (isMath[n.id()] && !weight)) continue;
      const bool sameValues = weight || ((isFreeMovement(n) || widens(n)) && is(Kind::Stored, n.src(0)));
      kinds_[n.id()] = sameValues ? Kind::Stored : Kind::Foldable;
    }
  }

  /// The value below movement and wider types, which kernels do for nothing; not below a part of it.
  UOp rootBelow(UOp n) const {
    auto isFree = [](UOp m) {
      return (isFreeMovement(m) && m.op() != Op::Shrink) || m.op() == Op::Contiguous || widens(m);
    };
    while (isFree(n) && is(Kind::Foldable, n.src(0))) n = n.src(0);
    return n;
  }

  /// Whether a device is given a view of a weight, such as a part: it then has that as a weight of its own.
  bool isPartFor(UOp reader, UOp n) const {
    if (reader.op() != Op::Copy || !is(Kind::Stored, n) || isWeight(model_, n)) return false;
    const UOp weight = weightBelow(n);
    return isWeight(model_, weight) && n.maxNumel() <= weight.maxNumel();
  }
  static UOp weightBelow(UOp view) {
    while (isMovement(view.op())) view = view.src(0);
    return view;
  }

  void findRoots() {
    isRoot_.assign(g_.size(), false);
    for (UOp n : nodes_)
      for (UOp s : n.src()) {
        const bool isPart = isPartFor(n, s);
        if (!isPart && (!is(Kind::Foldable, s) || is(Kind::Foldable, n))) continue;
        UOp root = isPart ? s : rootBelow(s);
        if (root.dtype() != DType::Index && root.maxNumel() > 0) isRoot_[root.id()] = true;
      }
  }

  /// folds_: what is folded together or not at all: one root, or all parts of a weight for devices.
  void findFolds() {
    std::map<uint32_t, size_t> partsOf;  // by weight
    for (UOp n : nodes_) {
      if (!isRoot_[n.id()]) continue;
      const bool isPart = is(Kind::Stored, n);
      const size_t at = isPart ? partsOf.try_emplace(weightBelow(n).id(), folds_.size()).first->second : folds_.size();
      if (at == folds_.size()) folds_.emplace_back();
      folds_[at].roots.push_back(n);
      folds_[at].growth += bytesOf(n);
    }
  }

  /// owner_: the one fold whose values all readers of a node serve, or kNoFold.
  void findOwners() {
    owner_.assign(g_.size(), kNoFold);
    for (size_t at = 0; at < folds_.size(); ++at)
      for (UOp root : folds_[at].roots) owner_[root.id()] = at;
    std::vector<bool> hasUser(g_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      UOp n = nodes_[i];
      for (UOp s : n.src()) {
        if (!isRoot_[s.id()])
          owner_[s.id()] = !hasUser[s.id()] || owner_[s.id()] == owner_[n.id()] ? owner_[n.id()] : kNoFold;
        hasUser[s.id()] = true;
      }
    }
    for (UOp n : nodes_) {
      if (owner_[n.id()] == kNoFold) continue;
      Fold& fold = folds_[owner_[n.id()]];
      if (isWeight(model_, n))
        fold.growth -= bytesOf(n);
      else
        fold.elements += elementsOf(n);
    }
  }

  /// reads_: as how many elements kernels see a value, repeated ones counted, with variables at their least.
  void findReaders() {
    reads_.assign(g_.size(), 0);
    for (size_t i = nodes_.size(); i-- > 0;) {
      UOp n = nodes_[i];
      reads_[n.id()] = std::max(reads_[n.id()], leastNumel(n));
      if (!isElementwise(n.op()) && !isMovement(n.op())) continue;
      for (UOp s : n.src()) reads_[s.id()] = std::max(reads_[s.id()], reads_[n.id()]);
    }
  }

  /// Reading what weights were widened to costs every run more than widening them, where each is needed once; weights
  /// of less than a byte are what they are to be small.
  bool isWorthReading(const Fold& f) const {
    using namespace parameters;
    const UOp root = f.roots[0];
    if (f.growth <= kCachedBytes || is(Kind::Stored, root) || !readsWeights(root)) return true;
    const int64_t bytes = bytesOf(root), weights = bytes - f.growth;
    return bytes <= kMostWidening * weights && reads_[root.id()] / root.maxNumel() >= kManyReads;
  }

  std::vector<UOp> choose(const FoldLimits& limits) {
    std::ranges::stable_sort(folds_, {}, &Fold::growth);
    std::vector<UOp> chosen;
    int64_t bytes = limits.bytes, elements = limits.elements;
    for (const Fold& f : folds_) {
      if (f.growth > bytes || f.elements > elements || !isWorthReading(f)) continue;
      bytes -= std::max<int64_t>(0, f.growth), elements -= f.elements;
      chosen.insert(chosen.end(), f.roots.begin(), f.roots.end());
    }
    return chosen;
  }

  /// One number that no weight holds stands in the code, all else in a weight: kernels of equal form stay one.
  UOp constantOf(UOp root, const HostTensor& value) {
    if (isUniform(value) && !readsWeights(root)) {
      UOp one = g_.reshape(g_.constant(value.at(0)), std::vector<UOp>(root.rank(), g_.index(1)));
      return g_.expand(one, root.shape());
    }
    auto bytes = std::make_shared<const std::vector<std::byte>>(value.toMemory());
    const auto slot = static_cast<uint32_t>(model_.ports.size());
    UOp buffer = g_.buffer(root.dtype(), root.shape(), {slot, Space::Global});
    auto label = model_.labels.find(root.id());
    const std::string name = label == model_.labels.end() ? "folded" : label->second;
    model_.ports.push_back({PortKind::Weight, name, buffer, {bytes->data(), bytes->size(), bytes}});
    return buffer;
  }

  static bool isUniform(const HostTensor& value) {
    const Scalar first = value.at(0);
    for (int64_t i = 1; i < value.numel(); ++i)
      if (value.at(i) != first) return false;
    return true;
  }

  bool readsWeights(UOp root) const {
    return std::ranges::any_of(toposort(root), [&](UOp n) { return isWeight(model_, n); });
  }

  UOp rebuilt(const std::vector<UOp>& replacement) {
    return transform(g_, model_.sink, [&](UOp node, std::span<const UOp> src) {
      if (replacement[node.id()]) return replacement[node.id()];
      if (std::ranges::equal(src, node.src())) return node;
      UOp made = g_.withSrc(node, src);
      if (auto label = model_.labels.find(node.id()); label != model_.labels.end())
        model_.labels.emplace(made.id(), label->second);
      return made;
    });
  }

  Model& model_;
  Graph& g_;
  std::vector<UOp> nodes_;   // sources first
  std::vector<Kind> kinds_;  // by node id, as those below
  std::vector<bool> isRoot_;
  std::vector<Fold> folds_;
  std::vector<size_t> owner_;
  std::vector<int64_t> reads_;
};

}  // namespace

Result<UOp> foldConstants(Model& model, const FoldLimits& limits) {
  if (limits.bytes <= 0) return model.sink;
  return Folder(model).run(limits);
}

}  // namespace svod
