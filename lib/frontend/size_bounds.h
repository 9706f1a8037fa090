// Bounds of variables under which one size is at least another one.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ir/graph.h"

namespace svod {

/// Where small sizes are out, those in use are many times the least one: as many as sizes without a least one have.
inline constexpr int64_t kUsualMultiple = 512;

/// Bounds for some of the free variables, by name, with which left >= right whatever the others are within theirs: of
/// one variable where that is enough, else without the largest values of several, or without the smallest ones. Empty
/// where it holds as it is, nothing where no bounds help. A least value may lie beyond the bounds the variable has;
/// then so does the greatest.
std::optional<std::map<std::string, Interval>> boundsFor(UOp left, UOp right,
                                                         const std::function<bool(const std::string&)>& isFree);

/// The same with greatest values halved in turns, first those that are most times their likely value, so that every
/// free variable keeps its share of the room.
std::optional<std::map<std::string, Interval>> sharesFor(UOp left, UOp right,
                                                         const std::function<bool(const std::string&)>& isFree);

/// The elements of a value of these dims at most.
int64_t mostElements(Graph& graph, std::span<const UOp> dims);

/// A product of the variables in `dims`, and what it may be at most, so that their bounds allow no more than `room`
/// elements: where the sizes have less than that, and only their bounds, which see less, do not.
std::optional<std::pair<int64_t, UOp>> productOfShares(Graph& graph, std::span<const UOp> dims, int64_t room);

/// A greatest value of one free variable up to which left == right, whatever the others are within their bounds.
/// Nothing where it holds as it is, where it takes more than that, where both are 0 up to there, and where larger ones
/// of the others make them equal behind it too.
std::optional<std::pair<std::string, Interval>> mostForEqual(UOp left, UOp right,
                                                             const std::function<bool(const std::string&)>& isFree);

}  // namespace svod
