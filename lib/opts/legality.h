// What a kernel must satisfy after every opt, and the checks opts share.
#pragma once
#include "facts/axes.h"
#include "facts/caps.h"
#include "ir/graph.h"
#include "opts/opt.h"

namespace svod {

/// BadOpt if lowering could not expand the kernel: a value over two vector ranges, too many copies of one
/// expression, a local buffer filled under an expanded range or by the lanes of a warp, a sum that its tensor core does
/// not compute any more, a ring that is no bare copy, scratch or shared memory or workgroup beyond `caps`. `nodes`: as
/// toposort() lists them, the sink last.
Status checkKernel(std::span<const UOp> nodes, const Caps& caps);

/// Stands in the help of an error for the axes of the kernel, which applyOpt() writes in its place: most errors are
/// thrown away by those who try opts.
inline constexpr const char* kAxesHere = "axes: {}";

/// Bits of Nest an opt accepts.
enum NestSet : uint8_t { kOutput = 1, kReduce = 2, kFill = 4, kAnyNest = 7 };

/// The axis an opt names, if it is in one of `nests` and its type is one of `types`; else BadOpt that says
/// why not.
Result<Axis> pickAxis(UOp sink, int32_t number, uint8_t nests, std::initializer_list<AxisType> types);

/// The amount to split `axis` by: `amount`, or the whole constant extent for 0. BadOpt outside [2, most] or
/// when it exceeds the extent.
Result<int64_t> pickAmount(const Axis& axis, int64_t amount, int64_t most);

/// BadOpt if three quarters or more of `padded` iterations would be more than the `extent` that there are.
Status checkPadding(int64_t extent, int64_t padded);

/// BadOpt if a float reduction over `range` may not change its order.
Status mayReorder(UOp sink, UOp range, const Caps& caps);

}  // namespace svod
