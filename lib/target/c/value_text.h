// Names and operands of the values of one kernel in C (an internal header of the room).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "target/c/lane_groups.h"

namespace svod {

std::string typeName(DType dtype);

/// The type of `count` lanes, svod_DTYPExCOUNT; empty where an array is all there is.
std::string lanesType(DType dtype, int64_t count);

/// Scalars are locals `vN`; a vector is a local inside its group's loop over `l`, and an array of the same name outside
/// if somebody else needs it.
class ValueText {
 public:
  static constexpr int kNoGroup = 1 << 30;  // a lane loop outside every group

  explicit ValueText(const LinearKernel& kernel);

  const LaneGroups& groups() const { return groups_; }
  int groupOf(UOp n) const { return groups_.groupOf[n.id()]; }

  std::string local(UOp n) const;
  /// Inside its group; an array of the plain name exists as well if the value is needed elsewhere.
  std::string laneName(UOp n) const { return local(n) + (groups_.escapes[n.id()] ? "s" : ""); }
  /// An expression for `n` in a scalar statement, or for lane `l` inside the loop of `group`.
  std::string ref(UOp n, int group) const;
  std::string rampText(UOp ramp, const std::string& lane) const;
  std::string element(UOp address, int group) const;
  std::vector<std::string> operands(UOp n, int group) const;
  /// Declares `count` elements for `n`, a vector or a buffer in registers: as a value where that is a type (lanesType)
  /// and all are read and written together, else as an array.
  std::string storage(UOp n, int64_t count) const;
  /// The declaration of `n` as a constant.
  std::string define(UOp n, const std::string& value) const;

 private:
  const LaneGroups groups_;
  std::map<uint32_t, size_t> name_;  // by node id
};

}  // namespace svod
