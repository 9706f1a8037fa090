#include "opts/loop_names.h"

#include <algorithm>
#include <set>

#include "support/suggest.h"

namespace svod {

namespace {

uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

}  // namespace

LoopNames::LoopNames(UOp sink) {
  std::map<Nest, int> counts;
  for (const Axis& axis : axesOf(sink)) {
    const char letter = axis.nest == Nest::Output ? 'n' : axis.nest == Nest::Reduce ? 'k' : 's';
    names_.emplace(idOf(axis.range), letter + std::to_string(counts[axis.nest]++));
  }
}

std::string_view LoopNames::nameOf(UOp range) const {
  auto at = names_.find(idOf(range));
  return at == names_.end() ? std::string_view() : at->second;
}

bool LoopNames::isTaken(std::string_view name) const {
  return std::ranges::any_of(names_, [&](const auto& entry) { return entry.second == name; });
}

LoopNames LoopNames::after(const Applied& applied, std::span<const UOp> nodes) const {
  std::set<uint32_t> left;
  for (UOp n : nodes)
    if (n.op() == Op::Range) left.insert(idOf(n));
  LoopNames now;
  for (const auto& [id, name] : names_)
    if (left.count(id) > 0) now.names_.emplace(id, name);
  std::map<uint32_t, std::string> known = names_;  // and of loops that this opt made of them on its way
  for (const MadeLoop& loop : applied.made) {
    std::string from;
    for (UOp each : loop.from) from += (from.empty() ? "" : "+") + known[idOf(each)];
    if (from.empty()) continue;
    std::string name = from, label = loop.label;
    if (loop.how == MadeLoop::How::Part) name = from + "." + label;
    now.names_.erase(idOf(loop.range));
    if (loop.how == MadeLoop::How::Copy && now.isTaken(name)) name = label + "." + from;
    for (int copy = 2; now.isTaken(name); ++copy)
      name = loop.how == MadeLoop::How::Copy ? label + "_" + std::to_string(copy) + "." + from
                                             : from + "." + label + std::to_string(copy);
    known[idOf(loop.range)] = name;
    if (left.count(idOf(loop.range)) > 0) now.names_[idOf(loop.range)] = name;
  }
  return now;
}

Result<OptOp> LoopNames::numbered(const OptOp& opt, std::span<const Axis> axes) const {
  OptOp result = opt;
  std::string missing;
  auto number = [&](AxisRef& axis) {
    if (axis.name.empty()) return;
    auto at = std::ranges::find_if(axes, [&](const Axis& a) { return nameOf(a.range) == axis.name; });
    if (at == axes.end())
      missing = axis.name;
    else
      axis = AxisRef(static_cast<int32_t>(at - axes.begin()));
  };
  auto keep = [](auto&) {};
  forEachArg(result.args, keep, number, keep);
  if (missing.empty()) return result;
  std::vector<std::string_view> known;
  for (const Axis& a : axes) known.push_back(nameOf(a.range));
  return fail(Diag::BadOpt, "there is no loop " + missing, choicesFor(missing, known));
}

OptOp LoopNames::named(const OptOp& opt, std::span<const Axis> axes) const {
  OptOp result = opt;
  auto name = [&](AxisRef& axis) {
    const bool isAxis = axis.name.empty() && axis.number >= 0 && static_cast<size_t>(axis.number) < axes.size();
    if (!isAxis) return;
    if (std::string_view text = nameOf(axes[static_cast<size_t>(axis.number)].range); !text.empty())
      axis = AxisRef(std::string(text));
  };
  auto keep = [](auto&) {};
  forEachArg(result.args, keep, name, keep);
  return result;
}

std::string LoopNames::describe(UOp sink) const {
  return describeAxes(sink, [this](UOp range) { return nameOf(range); });
}

}  // namespace svod
