// Loops without a trip count whose condition compares a counter with a limit, as frameworks write a loop over time.
#pragma once
#include <onnx.pb.h>

#include <optional>
#include <string>

namespace svod {

/// Carried value `state` grows by `step` in each step, and the next one takes place where it is less than `limit`.
/// Both are names of values that no node of the body makes.
struct CountedLoop {
  size_t state = 0;
  std::string condition;  // output of the body that says whether there is another step
  std::string step, limit;
};

std::optional<CountedLoop> countedLoop(const proto::GraphProto& body);

}  // namespace svod
