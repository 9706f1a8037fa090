// Loads and stores of one node: where, and how many lanes at a time (an internal header of the room).
#pragma once
#include <set>
#include <string>
#include <vector>

#include "target/grid/lane_text.h"

namespace svod {

class VectorAccess {
 public:
  /// Of `lanes` lanes at `address`.
  VectorAccess(UOp address, int lanes, const LaneText& text);

  /// Lanes that are moved as one (lanesAtOnce).
  int width() const { return width_; }
  /// The name of such a part.
  std::string type() const;

  /// Of `width` lanes from `first` on.
  std::string load(int first) const { return call("load", first, true, ""); }
  std::string store(int first, const std::string& value) const { return call("store", first, true, value); }
  std::string loadLane(int lane) const { return call("load", lane, false, ""); }
  std::string storeLane(int lane, const std::string& value) const { return call("store", lane, false, value); }

 private:
  std::string call(const char* what, int lane, bool isVector, const std::string& value) const;

  const LaneText& text_;
  UOp index_, storage_;
  int width_ = 1;
  bool isRegister_ = false, isShared_ = false;
};

/// Bytes that each of the arguments, by slot, has to start at a multiple of for what is `needed` (neededIn) of a
/// kernel.
std::vector<int64_t> argumentAlignment(const LinearKernel& kernel, const std::set<uint32_t>& needed, size_t arguments);

}  // namespace svod
