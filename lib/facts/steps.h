// How far an address moves with a loop, where sizes of the run decide it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "symbolic/linear.h"

namespace svod {

/// A number of elements: a constant, or a sum of products of sizes that only a run knows.
class AddressStep {
 public:
  AddressStep() = default;  // no element
  explicit AddressStep(int64_t constant);

  bool operator==(const AddressStep&) const = default;
  bool isNone() const { return terms_.empty(); }
  /// Whether it is above 0 for all sizes of 1 and more.
  bool isForward() const;
  /// n > 0 where this is n times `unit` for all sizes.
  std::optional<int64_t> timesOf(const AddressStep& unit) const;
  /// At the greatest sizes; INT64_MAX where that is more than 64 bits hold.
  int64_t most() const;

 private:
  friend std::optional<AddressStep> stepOf(UOp address, UOp range, const Linear& count);
  bool add(std::vector<UOp> factors, int64_t a, int64_t b);

  struct Term {
    std::vector<UOp> factors;  // what only a run knows
    int64_t times;
    bool operator==(const Term&) const = default;
  };
  std::map<std::vector<uint32_t>, Term> terms_;  // by the ids of the factors, sorted
};

/// How far `address` moves with `count` steps of `range`, 0 included; nothing where not all of its steps are equal.
std::optional<AddressStep> stepOf(UOp address, UOp range, const Linear& count);
/// The same with one step.
std::optional<AddressStep> stepOf(UOp address, UOp range);

}  // namespace svod
