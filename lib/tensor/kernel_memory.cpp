#include "tensor/kernel_memory.h"

#include <algorithm>

#include "ir/shape.h"
#include "symbolic/symbolic.h"
#include "tensor/packing.h"

namespace svod {

UOp KernelMemory::import(UOp dim) { return g_.clone(counters_.asVariables(dim)); }

IndexList KernelMemory::imported(std::span<const UOp> dims) {
  IndexList list;
  for (UOp d : dims) list.push_back(import(d));
  return list;
}

UOp KernelMemory::param(const Storage& storage) {
  auto it = std::find(args_.begin(), args_.end(), storage.buffer);
  auto slot = static_cast<uint32_t>(it - args_.begin());
  if (it == args_.end()) args_.push_back(storage.buffer);
  UOp elements = numel(g_, imported(storage.dims));
  int64_t each = storage.packed ? elementsPerByte(storage.node.dtype()) : 1;
  if (each > 1) elements = g_.alu(Op::Floordiv, {g_.alu(Op::Add, {elements, g_.index(each - 1)}), g_.index(each)});
  elements = simplify(g_, elements);
  int64_t most = 1;
  for (UOp d : storage.dims) most *= std::max<int64_t>(d.bounds().max, 0);
  most = (std::min(most, storage.room) + each - 1) / each;
  // The dims bound their product more tightly than the sum it is multiplied out to: h * w - w for (h - 1) * w.
  if (elements.bounds().max > most) elements = g_.alu(Op::Min, {elements, g_.index(most)});
  return g_.make(Op::Param, storedDType(storage.node.dtype()), {elements}, SlotArg{slot});
}

UOp KernelMemory::addressIn(const Storage& storage, std::span<const UOp> index) {
  UOp flat = flatten(g_, index, imported(storage.dims));
  return g_.indexInto(param(storage), {&flat, 1});
}

KernelMemory::GatedAddress KernelMemory::addressOf(UOp target, std::span<const UOp> index, const Storage& base) {
  IndexList at(index.begin(), index.end());
  UOp gate;
  for (; target != base.node; target = target.src(0)) {
    MovedIndex m = moveIndex(g_, target, imported(target.src(0).shape()), imported(target.src().subspan(1)), at);
    at = std::move(m.index);
    if (m.gate) gate = gate ? simplify(g_, g_.alu(Op::And, {gate, m.gate})) : m.gate;
  }
  return {addressIn(base, at), gate};
}

UOp KernelMemory::storeAt(UOp address, UOp value, UOp gate) {
  if (isPacked(value.dtype())) value = codeOf(g_, value);
  std::vector<UOp> src{address, value};
  if (gate) src.push_back(gate);
  return g_.make(Op::Store, DType::Void, src);
}

UOp KernelMemory::loadAt(UOp address, UOp gate) {
  if (!gate) return g_.load(address);
  UOp flat = simplifyUnder(g_, address.src(1), gate);
  address = g_.indexInto(address.src(0), {&flat, 1});
  return g_.load(address, g_.constant(Scalar::of(address.dtype(), 0)), gate);
}

UOp KernelMemory::load(const Storage& storage, std::span<const UOp> index, UOp gate) {
  if (std::find(reads_.begin(), reads_.end(), storage.node) == reads_.end()) reads_.push_back(storage.node);
  DType dtype = storage.node.dtype();
  UOp at = addressIn(storage, index);
  if (!isPacked(dtype)) return loadAt(at, gate);
  if (!storage.packed) return elementOf(g_, loadAt(at, gate), dtype);
  UOp each = g_.index(elementsPerByte(dtype)), flat = at.src(1);
  UOp byte = simplify(g_, g_.alu(Op::Floordiv, {flat, each}));
  UOp shift = simplify(g_, g_.alu(Op::Mul, {g_.alu(Op::Floormod, {flat, each}), g_.index(info(dtype).bits)}));
  UOp code = loadAt(g_.indexInto(at.src(0), {&byte, 1}), gate);
  return elementOf(g_, g_.alu(Op::Shr, {code, g_.cast(shift, DType::U8)}), dtype);
}

}  // namespace svod
