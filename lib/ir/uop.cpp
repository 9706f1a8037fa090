#include "ir/uop.h"

#include <algorithm>

namespace svod {

bool AxesArg::operator==(const AxesArg& o) const { return std::ranges::equal(axes, o.axes); }
bool ReduceArg::operator==(const ReduceArg& o) const { return op == o.op && std::ranges::equal(axes, o.axes); }

std::string_view toText(AxisType type) {
  constexpr std::string_view kText[] = {"loop",   "serial", "thread", "global", "local", "group", "upcast",
                                        "vector", "reduce", "unroll", "dot",    "warp",  "core",  "spread"};
  return kText[static_cast<size_t>(type)];
}

std::string_view toText(Space space) {
  constexpr std::string_view kText[] = {"global", "local", "reg", "stream"};
  return kText[static_cast<size_t>(space)];
}

int64_t UOp::dim(size_t axis) const {
  UOp d = shape()[axis];
  return d.isConst() ? d.constInt() : -1;
}

int64_t UOp::maxNumel() const {
  int64_t product = 1;
  for (UOp d : shape())
    if (__builtin_mul_overflow(product, std::max<int64_t>(d.bounds().max, 0), &product)) return INT64_MAX;
  return product;
}

bool UOp::hasSymbolicShape() const {
  return std::any_of(shape().begin(), shape().end(), [](UOp d) { return !d.isConst(); });
}

bool UOp::dependsOn(UOp range) const { return std::find(ranges().begin(), ranges().end(), range) != ranges().end(); }

bool UOp::isConst(int64_t value) const { return op() == Op::Const && !isFloat(dtype()) && constant().asInt() == value; }

}  // namespace svod
