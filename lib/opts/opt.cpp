#include "opts/opt.h"

#include <algorithm>
#include <charconv>

#include "support/suggest.h"

namespace svod {

namespace {

std::vector<int64_t> numbersOf(const OptArgs& args) {
  struct Visitor {
    std::vector<int64_t> operator()(const NoArgs&) const { return {}; }
    std::vector<int64_t> operator()(const AxisAmount& a) const { return {a.axis, a.amount}; }
    std::vector<int64_t> operator()(const AxisList& a) const { return {a.axes.begin(), a.axes.end()}; }
    std::vector<int64_t> operator()(const PackArgs& a) const {
      std::vector<int64_t> all{a.slot};
      all.insert(all.end(), a.axes.begin(), a.axes.end());
      return all;
    }
    std::vector<int64_t> operator()(const ParamSlot& a) const { return {a.slot}; }
    std::vector<int64_t> operator()(const SlotAxisAmount& a) const { return {a.slot, a.axis, a.amount}; }
    std::vector<int64_t> operator()(const CoreAxes& a) const { return {a.core, a.m, a.n, a.k}; }
  };
  return std::visit(Visitor{}, args);
}

bool fits(OptShape shape, size_t numbers) {
  switch (shape) {
    case OptShape::None:
      return numbers == 0;
    case OptShape::AxisAmount:
      return numbers == 2;
    case OptShape::AxisList:
      return numbers >= 1;
    case OptShape::Pack:
      return numbers >= 2;
    case OptShape::Param:
      return numbers == 1;
    case OptShape::SlotAxisAmount:
      return numbers == 3;
    case OptShape::CoreAxes:
      return numbers == 4;
  }
  return false;
}

OptArgs argsFromNumbers(OptShape shape, std::span<const int64_t> n) {
  auto axes = [](std::span<const int64_t> list) { return std::vector<int32_t>(list.begin(), list.end()); };
  switch (shape) {
    case OptShape::AxisAmount:
      return AxisAmount{static_cast<int32_t>(n[0]), n[1]};
    case OptShape::AxisList:
      return AxisList{axes(n)};
    case OptShape::Pack:
      return PackArgs{static_cast<uint32_t>(n[0]), axes(n.subspan(1))};
    case OptShape::Param:
      return ParamSlot{static_cast<uint32_t>(n[0])};
    case OptShape::SlotAxisAmount:
      return SlotAxisAmount{static_cast<uint32_t>(n[0]), static_cast<int32_t>(n[1]), n[2]};
    case OptShape::CoreAxes:
      return CoreAxes{static_cast<uint32_t>(n[0]), static_cast<int32_t>(n[1]), static_cast<int32_t>(n[2]),
                      static_cast<int32_t>(n[3])};
    default:
      return NoArgs{};
  }
}

// A cursor over the text of a list.
class OptParser {
 public:
  explicit OptParser(std::string_view text) : text_(text) {}

  Result<std::vector<OptOp>> parse() {
    std::vector<OptOp> opts;
    for (skip(" ;\t\r\n"); at_ < text_.size(); skip(" ;\t\r\n")) {
      SVOD_TRY(OptOp opt, parseOne());
      opts.push_back(std::move(opt));
    }
    return opts;
  }

 private:
  Result<OptOp> parseOne() {
    size_t start = at_;
    std::string_view name = word();
    auto row = std::ranges::find(allOpts(), name, &OptInfo::name);
    if (row == allOpts().end()) return fail(unknownName(name, start));
    std::vector<int64_t> numbers;
    SVOD_CHECK(parseNumbers(numbers, row->kind));
    if (!fits(row->shape, numbers.size()))
      return fail(Diag::BadOpt,
                  "`" + std::string(text_.substr(start, at_ - start)) + "` has the wrong number of arguments",
                  usageOf(row->kind));
    return OptOp{row->kind, argsFromNumbers(row->shape, numbers)};
  }

  // `(1, 2)`, or nothing at all for an opt without arguments.
  Status parseNumbers(std::vector<int64_t>& numbers, OptKind kind) {
    if (at_ == text_.size() || text_[at_] != '(') return {};
    ++at_;
    for (skip(" "); at_ < text_.size() && text_[at_] != ')'; skip(" ,")) {
      int64_t value = 0;
      const char* end = text_.data() + text_.size();
      auto [next, error] = std::from_chars(text_.data() + at_, end, value);
      if (error != std::errc() || value < 0 || value > INT32_MAX)
        return fail(Diag::BadOpt, "expected a number from 0 to 2147483647" + here(), usageOf(kind));
      at_ = static_cast<size_t>(next - text_.data());
      numbers.push_back(value);
    }
    if (at_ == text_.size()) return fail(Diag::BadOpt, "missing `)`" + here(), usageOf(kind));
    ++at_;
    return {};
  }

  std::string_view word() {
    size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') ++at_;
    return text_.substr(start, at_ - start);
  }
  void skip(std::string_view set) {
    while (at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  std::string here() const {
    return " at position " + std::to_string(at_ + 1) + " of `" + std::string(text_) + "`";
  }

  Error unknownName(std::string_view name, size_t start) const {
    std::vector<std::string_view> known;
    for (const OptInfo& row : allOpts()) known.push_back(row.name);
    at_ = start;
    std::string what =
        name.empty() ? "expected the name of an opt" : "unknown opt `" + std::string(name) + "`";
    return {Diag::BadOpt, what + here(), choicesFor(name, known), {}, {}};
  }

  std::string_view text_;
  mutable size_t at_ = 0;
};

}  // namespace

std::string usageOf(OptKind kind) {
  return "write " + std::string(info(kind).signature) + ": " + std::string(info(kind).what);
}

std::string toText(const OptOp& opt) {
  std::string text(info(opt.kind).name);
  if (std::holds_alternative<NoArgs>(opt.args)) return text;
  char separator = '(';
  for (int64_t n : numbersOf(opt.args)) text += separator + std::to_string(n), separator = ',';
  return text + ")";
}

std::string toText(std::span<const OptOp> opts) {
  std::string text;
  for (const OptOp& opt : opts) text += (text.empty() ? "" : " ") + toText(opt);
  return text;
}

Result<std::vector<OptOp>> parseOpts(std::string_view text) { return OptParser(text).parse(); }

}  // namespace svod
