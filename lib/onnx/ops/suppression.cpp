// NonMaxSuppression: of boxes that overlap much, the one with the best score. A loop of the plan takes the best box
// that is left and rules out what overlaps it, in all classes at once, until none is left.
#include <algorithm>

#include "onnx/ops/common.h"
#include "onnx/ops/dynamic.h"

namespace svod {

namespace {

constexpr int64_t kOut = 0, kLeft = 1, kKept = 2;  // what becomes of a box

struct Box {
  Tensor y1, x1, y2, x2, area;  // [batch, classes, boxes], in order of the scores
};

class Suppression {
 public:
  explicit Suppression(OnnxNode& n);
  bool check() const;
  Results run();

 private:
  Box corners(Tensor order) const;
  Tensor overlap(const Box& a, const Box& b) const;
  Tensor scalar(int operand) const {
    Tensor x = n_.arg(operand);
    return x && x.rank() > 0 ? reshape(x, Dims()) : x;
  }
  void suppress(const Box& all, Tensor fate) const;
  Results listed(Tensor isKept, Tensor order) const;
  Dim room() const;

  OnnxNode& n_;
  Tensor boxes_, scores_;
};

Suppression::Suppression(OnnxNode& n) : n_(n), boxes_(n.arg(0)), scores_(n.arg(1)) {}

bool Suppression::check() const {
  return n_.require(boxes_.rank() == 3 && boxes_.dim(2).is(4), "boxes are [batch, boxes, 4]") &&
         n_.require(scores_.rank() == 3 && n_.b.agree(boxes_.dim(0), scores_.dim(0)) &&
                        n_.b.agree(boxes_.dim(1), scores_.dim(2)),
                    "scores are [batch, classes, boxes]") &&
         n_.require(isFloat(boxes_.dtype()) && isFloat(scores_.dtype()), "boxes and scores are floats") &&
         n_.require(n_.integer("center_point_box") == 0 || n_.integer("center_point_box") == 1,
                    "center_point_box is 0 or 1");
}

Box Suppression::corners(Tensor order) const {
  Dims dims = order.dims();
  auto coordinate = [&](int64_t i) {
    Tensor batch = along(cast(n_.b.iota(dims[0]), DType::I64), 3, 0);
    Tensor which = n_.b.constant(Scalar::ofInt(DType::I64, i));
    return gather(boxes_, std::vector{batch, order, which});
  };
  Tensor a = coordinate(0), b = coordinate(1), c = coordinate(2), d = coordinate(3);
  Box box;
  if (n_.integer("center_point_box") == 1) {
    box = {b - d * 0.5, a - c * 0.5, b + d * 0.5, a + c * 0.5, {}};
  } else {
    box = {min(a, c), min(b, d), max(a, c), max(b, d), {}};
  }
  for (Tensor* t : {&box.y1, &box.x1, &box.y2, &box.x2}) *t = contiguous(*t);
  box.area = (box.y2 - box.y1) * (box.x2 - box.x1);
  return box;
}

// Intersection over union.
Tensor Suppression::overlap(const Box& a, const Box& b) const {
  Tensor height = max(min(a.y2, b.y2) - max(a.y1, b.y1), 0), width = max(min(a.x2, b.x2) - max(a.x1, b.x1), 0);
  Tensor common = height * width;
  return where(gt(common, 0), common / (a.area + b.area - common), 0);
}

// The first box that is left is kept, and those that overlap it are ruled out.
void Suppression::suppress(const Box& all, Tensor fate) const {
  const Dim boxes = scores_.dim(2);
  const DType narrow = boxes.max() <= INT32_MAX ? DType::I32 : DType::I64;
  const Tensor place = cast(n_.b.iota(boxes), narrow), end = cast(n_.b.value(boxes), narrow);
  const Tensor first = contiguous(reduce(Op::Min, where(eq(fate, kLeft), place, end), {{2}}, true));
  const Tensor inside = min(first, end - 1);  // where none is left, what follows changes nothing
  const auto line = [&](int axis) { return along(cast(n_.b.iota(scores_.dim(axis)), DType::I64), 3, axis); };
  const auto one = [&](Tensor t) { return gather(t, std::vector{line(0), line(1), cast(inside, DType::I64)}); };
  const Box mine{one(all.y1), one(all.x1), one(all.y2), one(all.x2), one(all.area)};
  const Tensor threshold = n_.has(3) ? cast(scalar(3), boxes_.dtype()) : cast(n_.b.literal(0.0), boxes_.dtype());
  const Tensor isRuledOut = both(eq(fate, kLeft), gt(overlap(mine, all), threshold));
  n_.b.assign(fate, cast(where(eq(place, first), kKept, where(isRuledOut, kOut, fate)), DType::U8));
}

// As many as can be kept.
Dim Suppression::room() const {
  Dim perClass = scores_.dim(2);
  if (n_.isKnown(2)) {
    std::vector<int64_t> limit = n_.integers(2);
    if (limit.size() == 1) perClass = smaller(perClass, n_.b.dim(std::max<int64_t>(0, limit[0])));
  }
  return scores_.dim(0) * scores_.dim(1) * perClass;
}

// [batch, class, box] of every box that is kept.
Results Suppression::listed(Tensor isKept, Tensor order) const {
  Dim classes = scores_.dim(1), boxes = scores_.dim(2);
  Places places = placesOf(n_, reshape(isKept, {scores_.dim(0) * classes * boxes}), room());
  if (!places.list) return Tensor();
  auto size = [&](Dim d) { return cast(n_.b.value(larger(d, n_.b.dim(1))), DType::I64); };
  Tensor place = floormod(places.list, size(boxes)), list = floordiv(places.list, size(boxes));
  Tensor kind = floormod(list, size(classes)), batch = floordiv(list, size(classes));
  Tensor box = gather(order, std::vector{batch, kind, place});
  return n_.firstOf(n_.call("stack", {batch, kind, box}, {{"axis", 1}}), 0, places.count);
}

Results Suppression::run() {
  GraphBuilder& b = n_.b;
  // Without a limit nothing is kept.
  if (!n_.has(2) || room().is(0)) return b.full({b.dim(0), b.dim(3)}, b.constant(Scalar::ofInt(DType::I64, 0)));
  n_.preferShort(scores_.dim(2));
  std::vector<Tensor> sorted = n_.callAll("sort", std::vector{scores_}, {{"axis", 2}, {"descending", true}});
  if (sorted.size() < 2) return Tensor();
  Tensor order = contiguous(sorted[1]);
  Box all = corners(order);
  Tensor isGood = n_.has(4) ? gt(sorted[0], cast(scalar(4), scores_.dtype()))
                            : b.full(scores_.dims(), b.constant(Scalar::ofInt(DType::Bool, 1)));
  if (!isGood || !all.area) return Tensor();
  const Tensor fate = b.temporary(cast(isGood, DType::U8)),
               kept = b.temporary(b.constant(Scalar::ofInt(DType::I64, 0)));
  const Tensor limit = cast(scalar(2), DType::I64);
  GraphBuilder::LoopOptions options;
  options.condition = [&] { return both(reduce(Op::Max, eq(fate, kLeft), {}, false), lt(kept, limit)); };
  const auto body = [&](Dim) {
    suppress(all, fate);
    b.assign(kept, kept + 1);
  };
  b.loop("box", scores_.dim(2), body, options);
  if (b.failed()) return Tensor();
  return listed(eq(b.wrap(fate.node()), kKept), order);
}

}  // namespace

Results onnxNonMaxSuppression(OnnxNode& n) {
  Suppression suppression(n);
  return suppression.check() ? suppression.run() : Tensor();
}

}  // namespace svod
