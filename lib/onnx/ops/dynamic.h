// What ops share whose results are as large as the values of their operands say.
#pragma once
#include "onnx/node.h"

namespace svod {

struct Places {
  Tensor list;   // i64 [room]: where the mask holds, in order, then zeros
  Tensor count;  // an i64 scalar: how often it does
};
/// The places of a mask [n]; no more than `room` are listed.
Places placesOf(OnnxNode& n, Tensor mask, Dim room);

}  // namespace svod
