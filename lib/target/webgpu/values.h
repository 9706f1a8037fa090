// The values of a kernel in WGSL (an internal header of the room).
#pragma once
#include <string>

#include "target/grid/lane_text.h"

namespace svod::webgpu {

class Values final : public LaneText {
 public:
  using LaneText::LaneText;
  /// Which element a lane of an index is, as a u32.
  std::string element(UOp index, int lane) const;

 protected:
  std::string literal(const Scalar& value) const override;
  std::string larger(DType dtype, const std::string& text, int more) const override;
};

}  // namespace svod::webgpu
