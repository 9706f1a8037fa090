#include "interp/products.h"

#include <cmath>
#include <utility>

#include "ir/gpu_op.h"
#include "ir/text.h"
#include "ir/warpgroup_operand.h"

namespace svod {

bool Products::isInside(const Factor& factor, int rows, const TensorCore& core) {
  const int64_t bytes = byteSize(core.in),
                last = factor.first + operandPlace(rows - 1, core.k - 1, factor.apart, bytes);
  return factor.first >= 0 && (last * bytes | (kOperandPeriod - 1)) < factor.storage->numel() * bytes;
}

Status Products::execute(UOp node, std::span<Thread* const> lanes) {
  const GpuOpInfo& row = gpuOpOf(node);
  if (productOf(row)) return start(node, lanes);
  if (row.does(Commits)) groups_.push_back(std::exchange(open_, {}));
  if (!row.does(Waits)) return {};
  const auto left = static_cast<size_t>(lanes[0]->operand(node, 1).first.asInt());
  for (; groups_.size() > left; groups_.erase(groups_.begin()))
    for (const Product& product : groups_.front()) multiply(product);
  return {};
}

Status Products::start(UOp node, std::span<Thread* const> lanes) {
  Product product{productOf(node), {}, {}, {}};
  for (Thread* lane : lanes) {
    SVOD_TRY(const Address sums, lane->address(node.src(0)));
    product.sums.push_back(sums.storage);
    for (size_t i : {1, 2}) {
      SVOD_TRY(const Address place, lane->address(node.src(i)));
      Factor& known = i == 1 ? product.a : product.b;
      const int64_t first = place.at[0].asInt();
      const bool isSwizzled = storageOf(node.src(i)).argAs<SlotArg>().swizzle == 0;
      if ((first * byteSize(product.core->in) & (kOperandPeriod - kOperandRow)) != 0)
        return fail(Diag::Verify, "a factor starts inside of eight rows: " + toLineText(node),
                    "the pass that made the address is wrong");
      if (lane == lanes[0]) known = {place.storage, first, node.src(i + 2).constInt(), isSwizzled};
      if (i == 1 ? !isInside(known, product.core->m, *product.core) : !isInside(known, product.core->n, *product.core))
        return fail(Diag::Mismatch, "multiplies what lies beyond its buffer: " + toLineText(node),
                    "the pass that made the address is wrong");
      if (known.first != first)
        return fail(Diag::Verify, "threads of a warpgroup multiply unlike factors: " + toLineText(node),
                    "addresses of factors depend on the warpgroup alone");
    }
  }
  open_.push_back(std::move(product));
  return {};
}

/// Of a factor with `rows` rows (columns of B), all terms of the core, row by row.
std::vector<float> Products::valuesOf(const TensorCore& core, const Factor& factor, int rows) {
  const int64_t bytes = byteSize(core.in);
  std::vector<float> values;
  for (int row = 0; row < rows; ++row)
    for (int term = 0; term < core.k; ++term) {
      int64_t at = factor.first + operandPlace(row, term, factor.apart, bytes);
      if (factor.isSwizzled) at ^= (at * bytes >> 7 & 7) * (16 / bytes);
      const Scalar value = factor.storage->at(at);
      const Scalar known = value.dtype() == core.in ? value : Scalar::fromBits(core.in, value.storageBits());
      values.push_back(static_cast<float>(known.asFloat()));
    }
  return values;
}

/// Products are added one by one in the order of their terms, each rounded once.
void Products::multiply(const Product& product) {
  const TensorCore& core = *product.core;
  const std::vector<float> a = valuesOf(core, product.a, core.m), b = valuesOf(core, product.b, core.n);
  const auto terms = static_cast<size_t>(core.k);
  for (int lane = 0; lane < core.threads(); ++lane)
    for (int e = 0; e < core.c.elements(); ++e) {
      const TilePlace place = placeOf(core.c, lane, e);
      const float *row = &a[static_cast<size_t>(place.m) * terms], *column = &b[static_cast<size_t>(place.n) * terms];
      HostTensor& sums = *product.sums[static_cast<size_t>(lane)];
      auto sum = static_cast<float>(sums.at(e).asFloat());
      for (size_t k = 0; k < terms; ++k) sum = std::fma(row[k], column[k], sum);
      sums.set(e, Scalar::ofFloat(core.out, sum));
    }
}

}  // namespace svod
