// Vectors put together from scalars and from lanes of other vectors.
#include <algorithm>

#include "target/cpu/elementwise.h"
#include "target/cpu/kernel_emitter.h"

namespace svod {

namespace {

/// What one vector gives to the result: for each lane of the result its lane, or -1.
struct LaneSource {
  UOp vector;  // null: the constants
  llvm::SmallVector<int> lanes;
};

// Null where a scalar that is no constant takes part.
std::vector<LaneSource> laneSources(UOp stack) {
  std::vector<LaneSource> sources;
  auto sourceOf = [&](UOp vector) -> LaneSource& {
    auto at = std::ranges::find(sources, vector, &LaneSource::vector);
    if (at != sources.end()) return *at;
    return sources.emplace_back(vector, llvm::SmallVector<int>(stack.srcCount(), -1));
  };
  for (size_t i = 0; i < stack.srcCount(); ++i) {
    UOp lane = stack.src(i);
    if (lane.op() == Op::Const)
      sourceOf(UOp()).lanes[i] = static_cast<int>(i);
    else if (lane.op() == Op::Lane && lane.src(0).lanes() > 1)
      sourceOf(lane.src(0)).lanes[i] = static_cast<int>(lane.argAs<SlotArg>().slot);
    else
      return {};
  }
  return sources;
}

}  // namespace

llvm::Value* KernelEmitter::emitStack(UOp node) {
  if (node.lanes() == 1) return value(node.src(0));
  if (llvm::Value* shuffled = emitShuffle(node)) return shuffled;
  llvm::Value* vector = llvm::PoisonValue::get(llvmType(context_, node.dtype(), node.lanes()));
  for (size_t i = 0; i < node.srcCount(); ++i) vector = builder_.CreateInsertElement(vector, value(node.src(i)), i);
  return vector;
}

// Two vectors, then the result and one more vector each time; all of the same length until the last step. Null where
// other scalars take part, or so many vectors that inserting lanes one by one is as good.
llvm::Value* KernelEmitter::emitShuffle(UOp node) {
  const size_t width = node.srcCount();
  std::vector<LaneSource> sources = laneSources(node);
  if (sources.empty() || sources.size() > std::max<size_t>(2, width / 2)) return nullptr;
  if (sources.size() == 1 && !sources[0].vector) return nullptr;  // nothing but constants
  size_t common = width;
  for (const LaneSource& s : sources)
    if (s.vector) common = std::max(common, static_cast<size_t>(s.vector.lanes()));

  llvm::Value* gathered = widened(node, sources[0].vector, common);
  llvm::SmallVector<int> mask = sources[0].lanes;
  mask.resize(common, -1);
  for (size_t k = 1; k < sources.size(); ++k) {
    for (size_t i = 0; i < width; ++i) {
      if (k > 1 && mask[i] >= 0) mask[i] = static_cast<int>(i);
      if (sources[k].lanes[i] >= 0) mask[i] = static_cast<int>(common) + sources[k].lanes[i];
    }
    gathered = builder_.CreateShuffleVector(gathered, widened(node, sources[k].vector, common), mask);
  }
  if (sources.size() > 1)
    for (size_t i = 0; i < width; ++i) mask[i] = static_cast<int>(i);
  mask.resize(width);
  return sources.size() > 1 && common == width ? gathered : builder_.CreateShuffleVector(gathered, mask);
}

// A source of a shuffle in `lanes` lanes, those beyond its own undefined; the constants of `stack` for a null vector.
llvm::Value* KernelEmitter::widened(UOp stack, UOp vector, size_t lanes) {
  if (!vector) {
    std::vector<llvm::Constant*> constants(lanes, llvm::PoisonValue::get(llvmType(context_, stack.dtype(), 1)));
    for (size_t i = 0; i < stack.srcCount(); ++i)
      if (stack.src(i).op() == Op::Const) constants[i] = llvm::cast<llvm::Constant>(value(stack.src(i)));
    return llvm::ConstantVector::get(constants);
  }
  llvm::SmallVector<int> mask(lanes, -1);
  for (int i = 0; i < vector.lanes(); ++i) mask[static_cast<size_t>(i)] = i;
  return static_cast<size_t>(vector.lanes()) == lanes ? value(vector)
                                                      : builder_.CreateShuffleVector(value(vector), mask);
}

llvm::Value* KernelEmitter::emitRamp(UOp node) {
  const int lanes = node.lanes();
  if (lanes == 1) return value(node.src(0));
  llvm::Type* element = llvmType(context_, node.dtype(), 1);
  llvm::SmallVector<llvm::Constant*> steps;
  for (int i = 0; i < lanes; ++i) steps.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(i)));
  return builder_.CreateAdd(value(node.src(0), lanes), llvm::ConstantVector::get(steps));
}

// Halves the vector until one lane is left: v[i] = op(v[i], v[i + w/2]). Sums of integers have no order. They take
// LLVM's own reduction, as LLVM 19 takes halves of byte products that are added for a dot product and drops lanes.
Result<llvm::Value*> KernelEmitter::emitLaneFold(UOp node) {
  if (node.srcCount() != 1) return refuse(node, "a reduction over ranges must be an accumulator");
  llvm::Value* folded = value(node.src(0));
  if (folded->getType()->isVectorTy() && isInt(node.dtype()) && node.argAs<ReduceArg>().op == Op::Add)
    return builder_.CreateAddReduce(folded);
  for (int lanes = node.src(0).lanes(); lanes > 1; lanes /= 2) {
    if (lanes % 2 != 0) return refuse(node, "the number of lanes is not a power of two");
    llvm::SmallVector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) low.push_back(i), high.push_back(i + lanes / 2);
    llvm::Value* a = builder_.CreateShuffleVector(folded, low);
    folded =
        emitCombine(builder_, node.argAs<ReduceArg>().op, node.dtype(), a, builder_.CreateShuffleVector(folded, high));
    if (folded == nullptr) return refuse(node, "no such reduction");
  }
  return folded->getType()->isVectorTy() ? builder_.CreateExtractElement(folded, uint64_t{0}) : folded;
}

}  // namespace svod
