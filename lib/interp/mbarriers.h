// Mbarriers of one workgroup, and bulk copies that arrive at them (an internal header of the room).
#pragma once
#include <map>
#include <vector>

#include "interp/storage.h"
#include "ir/bulk_tensor.h"

namespace svod {

/// A box of a tensor, innermost dims first; elements beyond the tensor are zeros.
struct BulkCopy {
  HostTensor* to;
  int64_t place;  // element
  const HostTensor* from;
  int64_t first;  // element
  std::vector<int64_t> extents, at;
  BulkTensor map;
  bool isSwizzled;  // indices are places in memory: the copy moves pieces as a swizzle does
};

/// A copy happens when somebody waits for its phase, as late as it may: who reads without a wait finds what was there
/// before. Errors: Mismatch where a copy leaves its memory, Verify where no mbarrier was made.
class Mbarriers {
 public:
  Status make(const Address& bar, int64_t arrivals);
  Status expect(UOp node, const Address& bar, int64_t bytes);
  Status start(UOp node, BulkCopy copy, const Address& bar);
  /// Whether the phase of this parity is over; what it waited for is there then.
  Result<bool> isOver(UOp node, const Address& bar, int64_t parity);

 private:
  struct Mbarrier {
    int64_t arrivals = 0, missing = 0, bytes = 0;  // of each phase; left in this one; expected and not started
    int64_t parity = 0;
    std::vector<BulkCopy> copies;
  };
  Result<Mbarrier*> find(UOp node, const Address& bar);
  static void perform(const BulkCopy& copy);

  std::map<std::pair<const HostTensor*, int64_t>, Mbarrier> all_;
};

}  // namespace svod
