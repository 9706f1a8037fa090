#include "target/cpu/tiles.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "support/cpu_features.h"
#include "target/cpu/elementwise.h"

namespace svod {

namespace {

llvm::Intrinsic::ID intrinsicOf(UOp product) {
  if (isFloat(findTileUnit(product.argAs<NameArg>().name)->in)) return llvm::Intrinsic::x86_tdpbf16ps;
  const bool isSignedB = isSigned(product.src(1).dtype());
  if (isSigned(product.src(0).dtype())) return isSignedB ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbsud;
  return isSignedB ? llvm::Intrinsic::x86_tdpbusd : llvm::Intrinsic::x86_tdpbuud;
}

/// What holds the sums that a product adds to: their storage, or the first product where they have none.
UOp holderOf(UOp sums) {
  while (sums.op() == Op::TileDot && sums.src(2).op() == Op::TileDot) sums = sums.src(2);
  const UOp from = sums.op() == Op::TileDot ? sums.src(2) : sums;
  return from.op() == Op::Load ? storageOf(from.src(0)) : sums;
}

/// Places in the list at which a matrix is needed.
struct Life {
  UOp node;
  size_t first, last;
  TileRegisters::Shape shape;
};

TileRegisters::Shape shapeOf(UOp factor, int64_t rows) {
  const int64_t elements = factor.dim(0);
  return {static_cast<uint8_t>(rows), static_cast<uint8_t>(elements / rows * byteSize(factor.dtype()))};
}

class Lives {
 public:
  explicit Lives(std::span<const UOp> ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].op() == Op::Range) loops_.push_back({i, ops.size()});
      if (ops[i].op() == Op::End) close(ops[i], i);
    }
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops[i].op() == Op::TileDot) addProduct(ops[i], i);
    // Their first store and their last load.
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops[i].op() == Op::Load || ops[i].op() == Op::Store)
        for (UOp node : {ops[i], storageOf(ops[i].src(0))})
          if (find(node) != all_.end()) use(node, i);
  }

  /// In the order of their beginnings.
  std::vector<Life> sorted() {
    for (Life& life : all_)
      for (const auto& [first, last] : loops_)
        if (life.first < first && first < life.last) life.last = std::max(life.last, last);
    std::ranges::sort(all_, {}, &Life::first);
    return std::move(all_);
  }

 private:
  void addProduct(UOp product, size_t at) {
    const TileUnit& unit = *findTileUnit(product.argAs<NameArg>().name);
    const UOp a = product.src(0), b = product.src(1);
    use(a, at, shapeOf(a, unit.m));
    use(b, at, shapeOf(b, b.dim(0) / (unit.n * unit.group())));
    use(holderOf(product), at);
  }

  std::vector<Life>::iterator find(UOp node) { return std::ranges::find(all_, node, &Life::node); }

  void use(UOp node, size_t at, TileRegisters::Shape shape = {}) {
    const auto known = find(node);
    if (known == all_.end()) return all_.push_back({node, at, at, shape});
    known->first = std::min(known->first, at), known->last = std::max(known->last, at);
  }

  // Loops that it closes are the innermost of those that are open.
  void close(UOp end, size_t at) {
    for (size_t left = end.srcCount() - 1, i = loops_.size(); left > 0 && i-- > 0;)
      if (!isClosed_.contains(i)) isClosed_.insert(i), loops_[i].second = at, --left;
  }

  std::vector<Life> all_;
  std::vector<std::pair<size_t, size_t>> loops_;  // places of their beginning and end
  std::set<size_t> isClosed_;
};

bool isZero(UOp sums) {
  if (sums.op() == Op::Stack) return std::ranges::all_of(sums.src(), isZero);
  return sums.isConst() && sums.constant().storageBits() == 0;
}

}  // namespace

TileRegisters::TileRegisters(const LinearKernel& kernel) {
  if (std::ranges::find(kernel.ops, Op::TileDot, &UOp::op) == kernel.ops.end()) return;
  std::array<size_t, kCount> until{};  // place in the list behind that up to which each is taken
  for (const Life& life : Lives(kernel.ops).sorted()) {
    size_t free = 0;
    while (free < kCount && (until[free] > life.first || (until[free] > 0 && shapes_[free] != life.shape))) ++free;
    suffice_ = suffice_ && free < kCount;
    if (!suffice_) return;
    until[free] = life.last + 1;  // an instruction takes three registers that differ
    shapes_[free] = life.shape;
    numbers_[life.node.id()] = static_cast<int>(free);
  }
}

std::optional<int> TileRegisters::find(UOp node) const {
  const auto found = numbers_.find(node.id());
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

TileEmitter::TileEmitter(llvm::IRBuilder<>& builder, const LinearKernel& kernel,
                         std::function<llvm::Value*(llvm::Type*)> allocate)
    : builder_(builder), registers_(kernel), allocate_(std::move(allocate)) {
  for (UOp node : kernel.ops) {
    if (node.op() != Op::Lane) continue;
    const size_t id = node.src(0).id();
    if (inLanes_.size() <= id) inLanes_.resize(id + 1);
    inLanes_[id] = true;
  }
}

void TileEmitter::start() {
  constexpr uint64_t kArchPrctl = 158;  // as Linux numbers it
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* request = llvm::InlineAsm::get(llvm::FunctionType::get(i64, {i64, i64, i64}, false), "syscall",
                                       "={ax},{ax},{di},{si},~{rcx},~{r11},~{memory}", /*hasSideEffects=*/true);
  builder_.CreateCall(request,
                      {builder_.getInt64(kArchPrctl), builder_.getInt64(kRequestState), builder_.getInt64(kTileState)});
  // Intel 64 and IA-32 Architectures Software Developer's Manual, LDTILECFG: palette, bytes of a row by register from
  // byte 16 on, rows by register from byte 48 on.
  std::array<uint8_t, 64> sizes{1};
  for (size_t i = 0; i < TileRegisters::kCount; ++i) {
    const auto [rows, rowBytes] = registers_.shapes()[i];
    sizes[16 + 2 * i] = rowBytes, sizes[48 + i] = rows;
  }
  llvm::Module& module = *builder_.GetInsertBlock()->getModule();
  llvm::Constant* data = llvm::ConstantDataArray::get(builder_.getContext(), sizes);
  auto* table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, data, "svod.tiles");
  table->setAlignment(llvm::Align(64));
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  call(llvm::Intrinsic::x86_ldtilecfg, {table});
}

void TileEmitter::finish() { call(llvm::Intrinsic::x86_tilerelease, {}); }

void TileEmitter::loadFactor(UOp load, llvm::Value* address) {
  const int64_t apart = load.src(0).src(1).src(1).constInt() * byteSize(load.dtype());
  call(llvm::Intrinsic::x86_tileloadd64, {builder_.getInt8(static_cast<uint8_t>(*registers_.find(load))), address,
                                          builder_.getInt64(static_cast<uint64_t>(apart))});
}

bool TileEmitter::storeSums(UOp store) {
  if (store.src(1).op() == Op::TileDot) return true;  // it was added in place
  const auto number = static_cast<uint8_t>(*registers_.find(storageOf(store.src(0))));
  if (!isZero(store.src(1))) return false;
  call(llvm::Intrinsic::x86_tilezero, {builder_.getInt8(number)});
  return true;
}

llvm::Value* TileEmitter::multiply(UOp product) {
  const auto number = [&](int i) { return builder_.getInt8(static_cast<uint8_t>(i)); };
  llvm::Value* sums = number(registerOf(product));
  if (isZero(product.src(2))) call(llvm::Intrinsic::x86_tilezero, {sums});
  call(intrinsicOf(product),
       {sums, number(*registers_.find(product.src(0))), number(*registers_.find(product.src(1)))});
  return asLanes(product);
}

int TileEmitter::registerOf(UOp sums) const { return *registers_.find(holderOf(sums)); }

llvm::Value* TileEmitter::asLanes(UOp node) {
  if (node.id() >= inLanes_.size() || !inLanes_[node.id()]) return nullptr;
  llvm::Type* type = llvmType(builder_.getContext(), node.dtype(), node.lanes());
  llvm::Value* memory = allocate_(type);
  const unsigned rowBytes = TileRegisters::Shape().rowBytes;
  call(llvm::Intrinsic::x86_tilestored64,
       {builder_.getInt8(static_cast<uint8_t>(registerOf(node))), memory, builder_.getInt64(rowBytes)});
  return builder_.CreateLoad(type, memory);
}

void TileEmitter::call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands) {
  builder_.CreateIntrinsic(id, {}, operands);
}

}  // namespace svod
