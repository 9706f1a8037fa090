// Tile units of x86-64 (AMX): which tile register holds which matrix, and the instructions on them.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ir/tile_unit.h"
#include "linearize/linear.h"

namespace svod {

/// A register for each matrix of a kernel: for sums from their first store to their last load, for a factor from its
/// load to its last product. LLVM 19 would assign them too, but loses rows where it copies one register to another.
class TileRegisters {
 public:
  static constexpr int kCount = 8;
  /// How much of a register a kernel uses.
  struct Shape {
    uint8_t rows = 16, rowBytes = 64;
    bool operator==(const Shape&) const = default;
  };

  explicit TileRegisters(const LinearKernel& kernel);
  bool areUsed() const { return !numbers_.empty(); }
  /// Whether there are enough of them.
  bool suffice() const { return suffice_; }
  /// Of a load of a factor, of the storage of sums, or of a product whose sums have no storage; nothing for all others.
  std::optional<int> find(UOp node) const;
  const std::array<Shape, kCount>& shapes() const { return shapes_; }

 private:
  std::map<uint32_t, int> numbers_;  // by id
  std::array<Shape, kCount> shapes_;
  bool suffice_ = true;
};

/// The part of a kernel's emission that handles whole matrices. Sums stay in their registers; other nodes see lanes of
/// a copy in memory.
class TileEmitter {
 public:
  /// `allocate`: memory of the function.
  TileEmitter(llvm::IRBuilder<>& builder, const LinearKernel& kernel,
              std::function<llvm::Value*(llvm::Type*)> allocate);

  const TileRegisters& registers() const { return registers_; }
  /// Before and after all else of a kernel that has products. Each process must ask the system for tile registers;
  /// again it takes 0.2 microseconds.
  void start();
  void finish();

  bool isFactor(UOp load) const { return registers_.find(load).has_value(); }
  bool holdsSums(UOp storage) const { return registers_.find(storage).has_value(); }
  void loadFactor(UOp load, llvm::Value* address);
  /// What others than products see of sums; null where there are none.
  llvm::Value* asLanes(UOp sums);
  /// False where it stores neither zeros nor a product of what is there.
  bool storeSums(UOp store);
  llvm::Value* multiply(UOp product);

 private:
  int registerOf(UOp sums) const;
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands);

  llvm::IRBuilder<>& builder_;
  TileRegisters registers_;
  std::function<llvm::Value*(llvm::Type*)> allocate_;
  std::vector<bool> inLanes_;  // by id: what others than products use
};

}  // namespace svod
