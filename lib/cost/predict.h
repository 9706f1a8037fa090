// What the cost model expects of a kernel, beside the least that the machine could do it in.
#pragma once
#include <string_view>

#include "facts/caps.h"
#include "ir/graph.h"

namespace svod {

/// Of one call.
struct Work {
  double flops = 0, bytes = 0;
};

/// What most of the time goes to: moving bytes, executing instructions, or waiting for the result of one.
enum class Limit : uint8_t { Memory, Compute, Latency };
std::string_view toText(Limit limit);

/// Nanoseconds on one thread, or of a whole grid.
struct Prediction {
  double expected = 0, roofline = 0;
  Limit limit = Limit::Compute;
};

/// `sink`: Kernel stage, with its opts applied. The roofline is `work` at the peak of the full vectors of its widest
/// float, or at the bandwidth of memory - of the second level cache where everything fits in there - if that is less;
/// on a GPU at the peak of all units, of their tensor cores where they multiply.
Prediction predict(UOp sink, const Work& work, const Caps& caps);
/// The roofline alone, for other work of the same kernel.
double rooflineNanoseconds(UOp sink, const Work& work, const Caps& caps);

}  // namespace svod
