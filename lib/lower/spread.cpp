#include "lower/spread.h"

#include <algorithm>
#include <map>

#include "ir/ranges.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool isSpread(UOp u) { return u.op() == Op::Range && u.argAs<AxisArg>().type == AxisType::Spread; }

bool fillsRing(UOp store) {
  UOp storage = storageOf(store.src(0));
  return storage.op() == Op::Buffer && storage.argAs<SlotArg>().ring > 0;
}

bool isRegister(UOp u) { return u.op() == Op::Buffer && u.argAs<SlotArg>().space == Space::Reg; }
bool isInRegisters(UOp access) { return isRegister(storageOf(access.src(0))); }

class Dealer {
 public:
  Dealer(Graph& graph, UOp sink, std::span<const UOp> threads) : g_(graph), nextRange_(nextRangeId(sink)) {
    thread_ = g_.index(0);
    for (UOp t : threads) {
      thread_ = g_.alu(Op::Add, {g_.alu(Op::Mul, {thread_, t.src(0)}), t});
      count_ *= t.src(0).bounds().max;
    }
    for (UOp n : toposort(sink))
      if (isRegister(n)) nextReg_ = std::max(nextReg_, n.argAs<SlotArg>().slot + 1);
  }

  UOp run(UOp sink) {
    sink = transform(g_, sink, [&](UOp n, std::span<const UOp> src) {
      UOp same = std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      const auto spread = same.op() == Op::End ? std::ranges::find_if(same.src(), isSpread) : same.src().end();
      return spread == same.src().end() ? same : dealt(same, *spread);
    });
    return grown_.empty() ? sink : substitute(g_, sink, grown_, room_);
  }

 private:
  UOp dealt(UOp end, UOp spread) {
    if (!spread.src(0).isConst()) return dealtByLoop(end, spread);
    const int64_t size = spread.src(0).constInt(), rounds = (size + count_ - 1) / count_;
    std::vector<UOp> bodies, closed{UOp()};
    for (UOp r : end.src().subspan(1))
      if (r != spread) closed.push_back(r);
    if (rounds <= kMostWritten) {
      for (int64_t i = 0; i < rounds; ++i)
        add(bodies, round(end.src(0), spread, {g_.index(i * count_), UOp(), (i + 1) * count_ > size}));
    } else {
      UOp step = g_.range(g_.index(rounds), nextRange_++, AxisType::Loop);
      add(bodies, round(end.src(0), spread, {g_.alu(Op::Mul, {step, g_.index(count_)}), step, size % count_ != 0}));
      closed.push_back(step);
    }
    if (size % count_ != 0) makeRoom(end.src(0), size, rounds * count_);
    closed[0] = bodies.size() == 1 ? bodies[0] : g_.make(Op::Group, DType::Void, bodies);
    return closed.size() == 1 ? closed[0] : g_.make(Op::End, DType::Void, closed);
  }

  /// Of a number that a run tells: rings have none.
  UOp dealtByLoop(UOp end, UOp spread) {
    UOp all = g_.alu(Op::Add, {spread.src(0), g_.index(count_ - 1)});
    UOp rounds = simplify(g_, g_.alu(Op::Floordiv, {all, g_.index(count_)}));
    UOp step = g_.range(rounds, nextRange_++, AxisType::Loop);
    std::vector<UOp> closed{round(end.src(0), spread, {g_.alu(Op::Mul, {step, g_.index(count_)}), step, true})};
    for (UOp r : end.src().subspan(1))
      if (r != spread) closed.push_back(r);
    closed.push_back(step);
    return g_.make(Op::End, DType::Void, closed);
  }

  static void add(std::vector<UOp>& bodies, UOp body) {
    if (body.op() != Op::Group) return bodies.push_back(body);
    bodies.insert(bodies.end(), body.src().begin(), body.src().end());
  }

  struct Round {
    UOp first, loop;  // iteration of the first thread; the loop over rounds, null where they are written out
    bool isPartial;
  };
  UOp round(UOp body, UOp spread, const Round& round) {
    UOp at = simplify(g_, g_.alu(Op::Add, {thread_, round.first}));
    body = withOwnSums(body, spread, round.loop);
    return substitute(g_, round.isPartial ? gated(body, spread) : body, {&spread, 1}, {&at, 1});
  }

  /// Sums of an element start anew in every round, in registers of their own.
  UOp withOwnSums(UOp body, UOp spread, UOp loop) {
    std::map<uint32_t, UOp> own;  // by id of the buffer
    const auto ownOf = [&](UOp buffer) {
      UOp& mine = own[buffer.id()];
      if (!mine) mine = g_.make(Op::Buffer, buffer.dtype(), buffer.src(), SlotArg{nextReg_++, Space::Reg});
      return mine;
    };
    return transform(g_, body, [&](UOp n, std::span<const UOp> src) -> UOp {
      std::vector<UOp> left(src.begin(), src.end());
      if (n.op() == Op::After && n.dependsOn(spread)) {
        if (isRegister(n.src(0))) left[0] = ownOf(n.src(0));
        const auto at = std::ranges::find(left, spread);
        if (at != left.end() && loop) *at = loop;
        if (at != left.end() && !loop) left.erase(at);
        if (left.size() == 1) return left[0];
      }
      return std::ranges::equal(left, n.src()) ? n : g_.withSrc(n, left);
    });
  }

  /// Stores, and the loads of their values, only where the iteration exists.
  UOp gated(UOp body, UOp spread) {
    UOp exists = g_.alu(Op::Lt, {spread, spread.src(0)});
    const auto both = [&](UOp gate) { return gate ? g_.alu(Op::And, {gate, exists}) : exists; };
    return transform(g_, body, [&](UOp n, std::span<const UOp> src) -> UOp {
      UOp same = std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      if (!n.dependsOn(spread)) return same;
      if (n.op() == Op::Load && !isInRegisters(n))
        return g_.load(src[0], src.size() > 1 ? src[1] : g_.constant(Scalar::of(n.dtype(), 0)),
                       both(src.size() > 2 ? src[2] : UOp()));
      if (n.op() == Op::Store && !fillsRing(n) && !isInRegisters(n))
        return g_.make(Op::Store, DType::Void, {src[0], src[1], both(src.size() > 2 ? src[2] : UOp())});
      return same;
    });
  }

  void makeRoom(UOp body, int64_t size, int64_t padded) {
    for (UOp store : body.op() == Op::Group ? body.src() : std::span<const UOp>(&body, 1)) {
      if (store.op() != Op::Store || !fillsRing(store)) continue;
      UOp buffer = storageOf(store.src(0)), room = g_.index(buffer.maxNumel() / size * padded);
      if (std::ranges::find(grown_, buffer) != grown_.end()) continue;
      grown_.push_back(buffer), room_.push_back(g_.make(Op::Buffer, buffer.dtype(), {room}, buffer.arg()));
    }
  }

  static constexpr int64_t kMostWritten = 16;
  Graph& g_;
  UOp thread_;
  int64_t count_ = 1;
  uint32_t nextRange_, nextReg_ = 0;
  std::vector<UOp> grown_, room_;  // buffers, and others in their place
};

}  // namespace

UOp dealSpreads(Graph& graph, UOp sink, std::span<const UOp> threads) {
  if (std::ranges::none_of(toposort(sink), isSpread)) return sink;
  return Dealer(graph, sink, threads).run(sink);
}

}  // namespace svod
