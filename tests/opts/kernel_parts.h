// What test kernels are made of.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace svod {

// Builds kernels over row-major parameters.
struct Builder {
  explicit Builder(Graph& graph) : g(graph) {}

  Graph& g;
  uint32_t nextRange = 0;

  UOp loop(int64_t n, AxisType type = AxisType::Loop) { return g.range(g.index(n), nextRange++, type); }
  UOp loop(UOp n, AxisType type = AxisType::Loop) { return g.range(n, nextRange++, type); }
  UOp add(UOp a, UOp b) { return g.alu(Op::Add, {a, b}); }
  UOp sub(UOp a, UOp b) { return g.alu(Op::Sub, {a, b}); }
  UOp mul(UOp a, UOp b) { return g.alu(Op::Mul, {a, b}); }
  UOp lt(UOp a, UOp b) { return g.alu(Op::Lt, {a, b}); }
  UOp both(UOp a, UOp b) { return g.alu(Op::And, {a, b}); }
  UOp i(int64_t n) { return g.index(n); }

  // Parameter `slot` of these (maximum) dims at `at`.
  UOp at(uint32_t slot, DType dtype, std::vector<int64_t> dims, std::vector<UOp> at) {
    int64_t size = 1;
    for (int64_t d : dims) size *= d;
    UOp param = g.make(Op::Param, dtype, {g.index(size)}, SlotArg{slot, Space::Global});
    UOp flat = at.empty() ? g.index(0) : at[0];
    for (size_t axis = 1; axis < at.size(); ++axis) flat = add(mul(flat, g.index(dims[axis])), at[axis]);
    return g.indexInto(param, std::vector<UOp>{flat});
  }
  UOp read(uint32_t slot, std::vector<int64_t> dims, std::vector<UOp> where) {
    return g.load(at(slot, DType::F32, std::move(dims), std::move(where)));
  }
  UOp reduce(Op op, UOp value, std::vector<UOp> ranges) { return g.reduceRanges(op, value, ranges); }
  UOp store(UOp address, UOp value) { return g.make(Op::Store, DType::Void, {address, value}); }
  UOp end(UOp body, std::vector<UOp> ranges) {
    ranges.insert(ranges.begin(), body);
    return g.make(Op::End, DType::Void, ranges);
  }
  UOp sink(std::vector<UOp> ends) { return g.make(Op::Sink, DType::Void, ends); }
};

}  // namespace svod
