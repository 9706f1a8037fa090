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
  std::vector<Certainty> certainties;  // by model port
  bool wild = false;                   // all of them are certain
  std::vector<HostTensor> moved;       // by model port, for inputs of which every float is its neighbour; may be empty

  /// 0 where there is one legal result.
  double of(size_t port, const HostTensor& expected) const;
};

/// Errors: Mismatch, naming the first element that differs by more than `allowed`.
Status compare(const std::string& name, const HostTensor& expected, const void* data, double allowed);
/// A state is laid out for its largest shape; `expected` holds the elements of the present one.
Status compareState(const ModelPort& port, const HostTensor& expected, const void* data, double allowed);

}  // namespace svod
