#include "tensor/convolution.h"

#include <algorithm>

#include "ir/dim_facts.h"
#include "ir/evaluate.h"
#include "ir/shape.h"
#include "symbolic/symbolic.h"
#include "tensor/kernel_builder.h"

namespace svod {

namespace {

constexpr int64_t kTaps = 3;

/// Elements of a tensor that are read under `gate` (null: always) and count as 0 where it is false.
struct Read {
  UOp node;
  IndexList index;
  UOp gate;
};

/// Follows what an operand reads down to where it comes from.
class Reader {
 public:
  explicit Reader(Model& model) : counters_(model), builder_(g_, counters_, {}, [](UOp) { return nullptr; }) {}

  /// The counter of each axis; the constant 0 for axes of one element. Its id is the number of the axis.
  IndexList counters(std::span<const UOp> shape) {
    IndexList list;
    for (UOp d : shape)
      list.push_back(d.isConst(1) ? g_.index(0)
                                  : g_.range(imported(d), static_cast<uint32_t>(list.size()), AxisType::Loop));
    return list;
  }

  /// One node down; false at the end.
  bool stepDown(Read& read) {
    if (read.node.op() == Op::Gather) return gather(read);
    return isMovement(read.node.op()) && move(read);
  }

  /// Whether the clauses say that the position `at`, a sum of counters, is one of a dim of any size.
  bool isInside(std::span<const UOp> clauses, UOp at, UOp dim) {
    const UOp ends[] = {distance(g_.alu(Op::Le, {g_.index(0), at})), distance(g_.alu(Op::Lt, {at, imported(dim)}))};
    std::vector<UOp> said;
    for (UOp clause : clauses) {
      const UOp d = distance(clause);
      if (!d || (std::ranges::find(ends, d) == std::end(ends) && !isNeverNegative(d))) return false;
      said.push_back(d);
    }
    return std::ranges::all_of(
        ends, [&](UOp d) { return d && (std::ranges::find(said, d) != said.end() || isNeverNegative(d)); });
  }

  UOp flat(const Read& read) { return flatten(g_, read.index, imported(read.node.shape())); }

 private:
  UOp imported(UOp dim) { return simplify(g_, builder_.memory().import(dim)); }
  IndexList imported(std::span<const UOp> dims) {
    IndexList list;
    for (UOp d : dims) list.push_back(imported(d));
    return list;
  }

  bool move(Read& read) {
    UOp node = read.node;
    if (node.op() == Op::Pad && !(node.src(1).isConst() && node.src(1).constant().asFloat() == 0)) return false;
    IndexList operands;
    if (node.op() != Op::Permute && node.op() != Op::Flip)
      for (UOp s : node.src().subspan(1))
        operands.push_back(s.dtype() == DType::Index ? builder_.memory().import(s) : UOp());
    MovedIndex moved = moveIndex(g_, node, imported(node.src(0).shape()), operands, read.index);
    read = {node.src(0), std::move(moved.index), both(read.gate, moved.gate)};
    return true;
  }

  bool gather(Read& read) {
    UOp data = read.node.src(0);
    Read below{data, {}, read.gate};
    for (size_t axis = 0; axis < data.rank(); ++axis) {
      UOp source = read.node.src(1 + axis);
      if (!isPosition(source)) return false;
      UOp at = builder_.value(source, source.rank() == 0 ? IndexList{} : read.index, UOp());
      DataIndex d = dataIndex(g_, simplify(g_, at), imported(data.shape()[axis]));
      below.index.push_back(d.value);
      below.gate = both(below.gate, d.inside);
    }
    read = std::move(below);
    return true;
  }

  // Arithmetic on counters and sizes, nothing that is read.
  static bool isPosition(UOp index) {
    return std::ranges::all_of(toposort(index), [](UOp n) {
      return n.op() == Op::Const || n.op() == Op::Var || n.op() == Op::Iota || isMovement(n.op()) ||
             isElementwise(n.op());
    });
  }

  // What is not negative where a comparison holds; null for another clause.
  UOp distance(UOp clause) {
    if (clause.op() != Op::Lt && clause.op() != Op::Le) return {};
    Linear form = linearOf(clause.src(1));
    form.add(linearOf(clause.src(0)), -1);
    if (clause.op() == Op::Lt) form.add(-1);
    return form.overflow ? UOp() : build(g_, form);
  }

  // In all iterations of its counters and for all sizes.
  bool isNeverNegative(UOp distance) {
    const Linear form = linearOf(distance);
    UOp least = g_.index(form.constant);
    for (const Term& t : form.terms) {
      const bool isCounter = t.base.op() == Op::Range;
      if (!isCounter && !t.base.ranges().empty()) return false;
      if (isCounter && t.coef > 0) continue;
      const UOp most = isCounter ? subDims(g_, t.base.src(0), g_.index(1)) : t.base;
      least = addDims(g_, least, mulDims(g_, most, g_.index(t.coef)));
    }
    return lessEqualDims(g_.index(0), least) == Truth::Always;
  }

  UOp both(UOp a, UOp b) {
    if (!a || !b) return a ? a : b;
    return simplify(g_, g_.alu(Op::And, {a, b}));
  }

  Graph g_;
  Counters counters_;
  KernelBuilder builder_;
};

bool isCounter(UOp n) { return n.op() == Op::Range; }
int32_t axisOf(UOp counter) { return static_cast<int32_t>(counter.argAs<AxisArg>().id); }

class Matcher3x3 {
 public:
  Matcher3x3(Model& model, UOp reduce) : model_(model), product_(reduce.src(0)), reader_(model) {
    isReduced_.resize(product_.rank());
    for (int32_t axis : reduce.argAs<ReduceArg>().axes) isReduced_[static_cast<size_t>(axis)] = true;
    counters_ = reader_.counters(product_.shape());
  }

  std::optional<Convolution> match() {
    for (int data : {0, 1}) {
      found_ = {};
      if (matchData(product_.src(data)) && matchWeights(product_.src(1 - data)) && sortAxes()) return found_;
    }
    return std::nullopt;
  }

 private:
  bool isTap(int32_t axis) const { return isReduced_[static_cast<size_t>(axis)] && extent(axis) == kTaps; }
  UOp size(int32_t axis) const { return product_.shape()[static_cast<size_t>(axis)]; }
  int64_t extent(int32_t axis) const { return product_.dim(static_cast<size_t>(axis)); }

  bool matchData(UOp operand) {
    Read read{operand, counters_, UOp()};
    do {
      if (isUnderWindows(read)) return true;
    } while (reader_.stepDown(read));
    return false;
  }

  bool isUnderWindows(const Read& read) {
    found_.data = read.node;
    found_.axisOfDim.assign(read.node.rank(), -1);
    std::vector<ConvWindow> windows;
    for (size_t dim = 0; dim < read.index.size(); ++dim) {
      Linear form = linearOf(read.index[dim]);
      const auto& terms = form.terms;
      bool plain = std::ranges::all_of(terms, [](const Term& t) { return isCounter(t.base) && t.coef == 1; });
      if (form.overflow || !plain || terms.size() > 2) return false;
      if (terms.size() == 2) {
        int32_t a = axisOf(terms[0].base), b = axisOf(terms[1].base);
        if (isTap(a)) std::swap(a, b);
        if (isTap(a) || isReduced_[static_cast<size_t>(a)] || !isTap(b)) return false;
        windows.push_back({dim, a, b, -form.constant});
      } else if (form.constant != 0 || !isWholeDim(terms, read.node.shape()[dim])) {
        return false;
      } else if (terms.size() == 1) {
        found_.axisOfDim[dim] = axisOf(terms[0].base);
      }
    }
    if (windows.size() != 2) return false;
    found_.windows = {windows[0], windows[1]};
    return eachAxisOnce() && readsZerosOutside(read);
  }

  bool isWholeDim(std::span<const Term> terms, UOp dim) const {
    return terms.empty() ? dim.isConst(1) : alwaysEqual(size(axisOf(terms[0].base)), dim);
  }

  bool eachAxisOnce() const {
    std::vector<int> times(product_.rank());
    auto count = [&](int32_t axis) { return axis < 0 || ++times[static_cast<size_t>(axis)] == 1; };
    for (const ConvWindow& w : found_.windows)
      if (!count(w.out) || !count(w.tap)) return false;
    return std::ranges::all_of(found_.axisOfDim, count);
  }

  // The gate says for each window whether its position is one of the data, and nothing else.
  bool readsZerosOutside(const Read& read) {
    std::vector<UOp> clauses = read.gate ? splitClauses(read.gate) : std::vector<UOp>{};
    size_t known = 0;
    for (const ConvWindow& w : found_.windows) {
      std::vector<UOp> own;
      for (UOp clause : clauses)
        if (std::ranges::all_of(clause.ranges(), [&](UOp r) { return axisOf(r) == w.out || axisOf(r) == w.tap; }))
          own.push_back(clause);
      known += own.size();
      const UOp dim = read.node.shape()[w.dim];
      const bool isFree = !dim.isConst() || !size(w.out).isConst();
      if (isFree ? !reader_.isInside(own, read.index[w.dim], dim) : !isInside(own, w, dim.constInt())) return false;
    }
    return known == clauses.size();
  }

  bool isInside(std::span<const UOp> clauses, const ConvWindow& w, int64_t size) const {
    for (int64_t out = 0; out < extent(w.out); ++out)
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        auto holds = [&](UOp clause) {
          std::optional<Scalar> value = evaluate(clause, [&](UOp leaf) -> std::optional<Scalar> {
            if (!isCounter(leaf)) return std::nullopt;
            return Scalar::ofInt(DType::Index, axisOf(leaf) == w.out ? out : tap);
          });
          return value && value->asInt() != 0;
        };
        const int64_t at = out + tap - w.before;
        if (std::ranges::all_of(clauses, holds) != (at >= 0 && at < size)) return false;
      }
    return true;
  }

  bool matchWeights(UOp operand) {
    Read read{operand, counters_, UOp()};
    while (reader_.stepDown(read)) {
    }
    if (read.gate || read.node.op() != Op::Buffer || read.node.hasSymbolicShape()) return false;
    found_.weights = read.node.argAs<SlotArg>().slot;
    const ModelPort& port = model_.ports[found_.weights];
    if (port.kind != PortKind::Weight || port.data.bytes != static_cast<size_t>(read.node.maxNumel()) * sizeof(float))
      return false;
    Linear form = linearOf(reader_.flat(read));
    found_.strides.assign(product_.rank(), 0), found_.first = form.constant;
    for (const Term& t : form.terms) {
      if (!isCounter(t.base)) return false;
      found_.strides[static_cast<size_t>(axisOf(t.base))] = t.coef;
    }
    return !form.overflow;
  }

  bool sortAxes() {
    for (int32_t axis = 0; axis < static_cast<int32_t>(product_.rank()); ++axis) {
      const bool inData = std::ranges::find(found_.axisOfDim, axis) != found_.axisOfDim.end();
      const bool inWeights = found_.strides[static_cast<size_t>(axis)] != 0;
      const bool isOut = std::ranges::find(found_.windows, axis, &ConvWindow::out) != found_.windows.end();
      const bool isOwnTap = std::ranges::find(found_.windows, axis, &ConvWindow::tap) != found_.windows.end();
      if (isOut && inWeights) return false;
      if (isOut || isOwnTap || extent(axis) == 1) continue;
      if (!size(axis).isConst() && (inWeights || !inData || isReduced_[static_cast<size_t>(axis)])) return false;
      if (!inData && (!inWeights || isReduced_[static_cast<size_t>(axis)])) return false;
      (isReduced_[static_cast<size_t>(axis)] ? found_.channels
       : !inData                             ? found_.filters
       : inWeights                           ? found_.groups
                                             : found_.batch)
          .push_back(axis);
    }
    return true;
  }

  Model& model_;
  UOp product_;
  Reader reader_;
  std::vector<bool> isReduced_;  // by axis of the product
  IndexList counters_;
  Convolution found_;
};

}  // namespace

std::optional<Convolution> convolutionOf(Model& model, UOp reduce) {
  if (reduce.op() != Op::Reduce || reduce.dtype() != DType::F32 || reduce.src(0).op() != Op::Mul) return std::nullopt;
  const auto& arg = reduce.argAs<ReduceArg>();
  UOp product = reduce.src(0);
  auto isTap = [&](int32_t axis) { return product.dim(static_cast<size_t>(axis)) == kTaps; };
  if (arg.op != Op::Add || product.maxNumel() == 0) return std::nullopt;
  if (std::ranges::count_if(arg.axes, isTap) < 2) return std::nullopt;
  return Matcher3x3(model, reduce).match();
}

}  // namespace svod
