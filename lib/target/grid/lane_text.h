// How the values of a kernel are written: each lane of a vector is a scalar of its own (an internal header of
// the room).
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "linearize/linear.h"

namespace svod {

class LaneText {
 public:
  explicit LaneText(const LinearKernel& kernel);
  LaneText(const LaneText&) = default;
  virtual ~LaneText() = default;

  /// "v12": a name for what belongs to the node.
  std::string name(UOp node) const;
  /// "v12_3", and "v12" for a scalar.
  std::string laneName(UOp node, int lane) const;
  /// The address of a parameter or a buffer.
  std::string storage(UOp node) const;
  /// What varies of an index, "" where nothing does, and the constant that is added to it.
  struct Place {
    std::string at;
    int64_t constant;
  };
  Place placeOf(UOp index, int lane) const;
  /// Of an element of it; a constant is added last, so that addresses which differ by one share the rest.
  std::string pointer(UOp storage, UOp index, int lane) const;
  /// Says how the lanes of a node read; without, by their names.
  void set(UOp node, std::vector<std::string> lanes) { texts_[node.id()] = std::move(lanes); }

  /// An expression for a lane; a scalar has the same value in each.
  std::string ref(UOp node, int lane) const;
  /// Of all sources but addresses.
  std::vector<std::string> operands(UOp node, int lane) const;

 protected:
  /// A constant as an expression, and an integer that is larger by `more` than that of a text: as C has them.
  virtual std::string literal(const Scalar& value) const;
  virtual std::string larger(DType dtype, const std::string& text, int more) const;

 private:
  std::unordered_map<uint32_t, size_t> position_;                 // by node id
  std::unordered_map<uint32_t, std::vector<std::string>> texts_;  // by node id
};

}  // namespace svod
