// Bounds of variables under which one size is at least another one.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ir/uop.h"

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

/// A greatest value of one free variable up to which left == right, whatever the others are within their bounds.
/// Nothing where it holds as it is, where it takes more than that, and where both are 0 up to there.
std::optional<std::pair<std::string, Interval>> mostForEqual(UOp left, UOp right,
                                                             const std::function<bool(const std::string&)>& isFree);

}  // namespace svod
