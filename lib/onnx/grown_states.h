// Values that a loop carries only to put something behind them in every step, as exporters write lists of tensors.
#pragma once
#include <onnx.pb.h>

#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace svod {

/// A carried value whose next value is Concat(itself, fresh) or SequenceInsert(itself, fresh), and which nothing else
/// in the body uses. Casts to the dtype it has may stand between.
struct GrownState {
  size_t state = 0;     // among the carried values
  std::string made;     // the name of the Concat's result, an output of the body
  std::string fresh;    // the name of what is put behind
  int64_t axis = 0;     // as written
  bool isList = false;  // a sequence, with a tensor behind its last one in every step
};

/// The carried values of this kind in a body of inputs (step, condition, carried ..) and outputs (condition, carried
/// .., collected ..), as Loop has them; `carried` are their dtypes.
std::vector<GrownState> grownStates(const proto::GraphProto& body, std::span<const DType> carried);

}  // namespace svod
