// Values in parts on several devices: what is computed from them is computed in the same parts.
#pragma once
#include <string>
#include <vector>

#include "ir/model.h"

namespace svod {

/// A part of a value on each of the devices: cut along an axis, part i of d from dim * i // d on, or, with axis -1, all
/// of it on each.
struct Distribution {
  std::vector<std::string> devices;
  int axis = -1;
};

/// The name of a Copy that distributes its operand. It is no name of a device.
std::string toText(const Distribution& distribution);

/// The sink of the model without such Copies: values that they name are cut and copied to the devices, and so is
/// whatever else they meet. Ops that go element by element, movement, gathers and reductions are done part by part; a
/// reduction along the axis that is cut reduces each part, then what they gave, which is whole on every device
/// afterwards. What other ops, stores and copies read is joined.
UOp distributed(Model& model);

}  // namespace svod
