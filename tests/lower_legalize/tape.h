// Evaluates one expression on many inputs: the DAG as a list, and no operation that hardware could not do.
#pragma once
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/gpu_op.h"
#include "ir/graph.h"
#include "lower/decompose.h"

namespace svod {

/// A leaf that stands for an unknown value of a dtype.
inline UOp leaf(Graph& g, DType dtype, uint32_t slot) {
  UOp param = g.make(Op::Param, dtype, {g.index(16)}, SlotArg{slot, Space::Global});
  return g.load(g.make(Op::Index, dtype, {param, g.index(0)}));
}

class Tape {
 public:
  Tape(UOp root, const std::vector<UOp>& leaves) : leaves_(leaves) {
    std::map<uint32_t, int> position;
    for (size_t i = 0; i < leaves.size(); ++i) position[leaves[i].id()] = static_cast<int>(i);
    values_.resize(leaves.size());
    add(root, position);
    root_ = position[root.id()];
  }

  Scalar operator()(std::initializer_list<Scalar> inputs) {
    std::copy(inputs.begin(), inputs.end(), values_.begin());
    Scalar operands[3];
    for (const Step& s : steps_) {
      for (int i = 0; i < s.count; ++i) operands[i] = values_[s.src[i]];
      std::span<const Scalar> in(operands, s.count);
      checkDefined(s, in);
      values_[s.result] = s.instruction ? evalGpu(*s.instruction, in) : evalScalar(s.op, s.dtype, in);
    }
    return values_[root_];
  }
  const std::vector<UOp>& nodes() const { return nodes_; }

 private:
  struct Step {
    Op op;
    DType dtype;
    int src[3], count, result;
    const GpuOpInfo* instruction;  // of lanes of a GPU
  };

  void add(UOp n, std::map<uint32_t, int>& position) {
    if (position.count(n.id())) return;
    Step step{n.op(), n.dtype(), {}, static_cast<int>(n.srcCount()), 0, isGpuOfLane(n) ? &gpuOpOf(n) : nullptr};
    if (!n.isConst())
      for (size_t i = 0; i < n.srcCount(); ++i) {
        add(n.src(i), position);
        step.src[i] = position[n.src(i).id()];
      }
    step.result = position[n.id()] = static_cast<int>(values_.size());
    values_.push_back(n.isConst() ? n.constant() : Scalar());
    if (n.isConst()) return;
    if (!isElementwise(n.op()) && step.instruction == nullptr)
      throw std::runtime_error("not elementwise: " + std::string(toText(n.op())));
    steps_.push_back(step);
    nodes_.push_back(n);
  }

  // What C and LLVM leave undefined must not be reached, selected or not.
  static void checkDefined(const Step& s, std::span<const Scalar> in) {
    DType d = in[0].dtype();
    if (s.op == Op::Cdiv || s.op == Op::Cmod) {
      bool overflow = isSigned(d) && in[0].asInt() == minInt(d) && in[1].asInt() == -1;
      if (in[1].asInt() == 0 || overflow) throw std::runtime_error("division is not guarded");
    }
    if ((s.op == Op::Shl || s.op == Op::Shr) && (in[1].asInt() < 0 || in[1].asInt() >= info(d).bits))
      throw std::runtime_error("shift is not guarded");
    if (s.op == Op::Cast && isFloat(d) && isInt(s.dtype)) {
      double x = in[0].asFloat(), top = s.dtype == DType::U64 ? 0x1p64 : static_cast<double>(maxInt(s.dtype)) + 1;
      if (!(std::trunc(x) >= static_cast<double>(minInt(s.dtype)) && x < top))
        throw std::runtime_error("conversion to integer is not guarded");
    }
  }

  std::vector<UOp> leaves_, nodes_;
  std::vector<Step> steps_;
  std::vector<Scalar> values_;
  int root_ = 0;
};

}  // namespace svod
