#include "tensor/dot_operands.h"

#include <algorithm>

#include "tensor/uses.h"

namespace svod {

namespace {

class Product {
 public:
  explicit Product(UOp reduce) {
    std::span<const int32_t> summed = reduce.argAs<ReduceArg>().axes;
    const UOp product = reduce.src(0);
    for (int axis = 0; axis < static_cast<int>(product.rank()); ++axis) {
      const bool isSummed = std::ranges::find(summed, axis) != summed.end();
      each_.index.push_back(isSummed ? tokens_.reduceAxis(reduce.id(), axis, 1) : tokens_.rootAxis(0, axis));
      if (!isSummed) column_ = axis;
    }
    for (UOp factor : product.src()) visit(factor);
  }

  bool suits() const { return suits_; }
  Bf16Product factors() const { return {widened_[0], widened_[1]}; }

 private:
  void visit(UOp factor) {
    Use use = each_;
    const UOp cast = followed(factor, use);
    const bool widens = cast.op() == Op::Cast && cast.dtype() == DType::F32 && cast.src(0).dtype() == DType::BF16;
    widened_.push_back(widens ? cast : UOp());
    suits_ &= widens && followed(cast.src(0), use).op() != Op::Pad && liesAlongRows(use);
  }

  // Behind movement, where `use` becomes what is read there.
  UOp followed(UOp value, Use& use) {
    while (isMovement(value.op()) && value.op() != Op::Pad) {
      const Use outer = std::move(use);
      passToOperands(value, outer, tokens_, [&](UOp, Use read) { use = std::move(read); });
      value = value.src(0);
    }
    return value;
  }

  bool liesAlongRows(const Use& use) const {
    const auto isPlain = [&](TokenId id) { return tokens_[id].isCounter || !tokens_[id].reduced; };
    if (use.index.empty() || !std::ranges::all_of(use.index, isPlain)) return false;
    const IndexToken& innermost = tokens_[use.index.back()];
    return innermost.isCounter || innermost.axes == std::vector{column_};
  }

  TokenTable tokens_;
  Use each_{0, {}};
  int column_ = -1;
  std::vector<UOp> widened_;
  bool suits_ = true;
};

}  // namespace

bool widensNarrow(UOp n) {
  if (n.op() != Op::Cast || n.dtype() != DType::F32) return false;
  const DType from = n.src(0).dtype();
  return isFloat(from) && info(from).bits == 16;
}

bool sumsByteProducts(UOp n) {
  if (n.op() != Op::Reduce || n.dtype() != DType::I32 || n.argAs<ReduceArg>().op != Op::Add) return false;
  const UOp product = n.src(0);
  return product.op() == Op::Mul && std::ranges::all_of(product.src(), [](UOp factor) {
           while (isMovement(factor.op())) factor = factor.src(0);
           return factor.op() == Op::Cast && isInt(factor.src(0).dtype()) && info(factor.src(0).dtype()).bits == 8;
         });
}

std::vector<Bf16Product> bf16Products(std::span<const UOp> order) {
  std::vector<Bf16Product> products;
  for (UOp n : order) {
    if (n.op() != Op::Reduce || n.argAs<ReduceArg>().op != Op::Add || n.src(0).op() != Op::Mul) continue;
    if (const Product product(n); product.suits()) products.push_back(product.factors());
  }
  return products;
}

}  // namespace svod
