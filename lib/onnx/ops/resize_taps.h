// Which elements of an axis a resized element is made of, and with which weights. Sizes and scales are
// numbers here, so all of it becomes two small tables.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace svod {

struct ResizeRule {
  std::string mode;         // nearest, linear, cubic
  std::string coordinates;  // coordinate_transformation_mode
  std::string rounding;     // nearest_mode
  double cubicA = -0.75;
  bool antialias = false, excludeOutside = false;
};

struct ResizeAxis {
  int64_t in = 0, out = 0;
  double scale = 1;           // result over input, as the model gives it
  double length = 1;          // in * scale before rounding; `out` where the model gives sizes
  double start = 0, end = 1;  // region of interest, for tf_crop_and_resize
};

/// Row-major [out, count].
struct ResizeTaps {
  int64_t count = 1;
  std::vector<double> positions, weights;
  std::vector<double> isOutside;  // 1 where an element lies outside the region that can be read; empty if none can
  bool isSelection() const { return count == 1; }  // weights are all 1
};

ResizeTaps resizeTaps(const ResizeRule& rule, const ResizeAxis& axis);

}  // namespace svod
