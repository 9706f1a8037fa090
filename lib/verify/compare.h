// Results of a plan against those of the interpreter.
#pragma once
#include <string>
#include <vector>

#include "interp/interp.h"
#include "verify/certainty.h"

namespace svod {

/// What to type where a plan computes something else.
inline constexpr char kFindThePass[] =
    "find the first pass that changes the value: svodc compile --verify --bisect-limit=N with growing N";

/// How far a result may be from the interpreter's.
struct ResultTolerance {
  Numerics numerics = Numerics::Contract;
  std::vector<Certainty> certainties;  // by model port
  bool wild = false;                   // all of them are certain
  std::vector<HostTensor> moved;       // by model port, for inputs of which every float is its neighbour; may be empty

  /// 0 where there is one legal result.
  double of(size_t port, const HostTensor& expected) const;
};

/// Errors: Mismatch, naming the first element that differs by more than `allowed`, and by more than its bound where
/// there are `bounds` (error_bounds.h). `open` is raised by the elements that may be anything by these.
Status compare(const std::string& name, const HostTensor& expected, const HostTensor& actual, double allowed,
               const HostTensor* bounds = nullptr, int64_t* open = nullptr);
/// A state is laid out for its largest shape: the elements of the shape that `like` has.
HostTensor presentState(const ModelPort& port, const HostTensor& like, const void* data);

}  // namespace svod
