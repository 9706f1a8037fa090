#include "opts/opt.h"

#include <algorithm>
#include <charconv>

#include "opts/loop_names.h"
#include "support/suggest.h"

namespace svod {

namespace {

template <size_t... I>
OptArgs emptyArgs(OptShape shape, std::index_sequence<I...>) {
  OptArgs args;
  ((static_cast<size_t>(shape) == I ? static_cast<void>(args.emplace<I>()) : void()), ...);
  return args;
}

// The arguments an opt of this shape has when it is written with `count` of them; nothing where it cannot have as many.
std::optional<OptArgs> argsFor(OptShape shape, size_t count) {
  OptArgs args = emptyArgs(shape, std::make_index_sequence<std::variant_size_v<OptArgs>>());
  size_t own = 0;
  auto one = [&](auto&) { ++own; };
  forEachArg(args, one, one, one);
  const bool isList = shape == OptShape::AxisList || shape == OptShape::Pack;
  if (isList ? count <= own : count != own) return std::nullopt;
  if (auto* list = std::get_if<AxisList>(&args)) list->axes.resize(count);
  if (auto* pack = std::get_if<PackArgs>(&args)) pack->axes.resize(count - own);
  return args;
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
    std::vector<AxisRef> words;
    SVOD_CHECK(parseWords(words, row->kind));
    std::optional<OptArgs> args = argsFor(row->shape, words.size());
    const std::string written = "`" + std::string(text_.substr(start, at_ - start)) + "`";
    if (!args) return fail(Diag::BadOpt, written + " has the wrong number of arguments", usageOf(row->kind));
    bool named = false;
    auto next = words.begin();
    auto number = [&](auto& value) { named |= !next->name.empty(), value = static_cast<uint32_t>((next++)->number); };
    forEachArg(*args, number, [&](AxisRef& axis) { axis = std::move(*next++); }, number);
    if (named) return fail(Diag::BadOpt, written + " names a loop in place of a number", usageOf(row->kind));
    return OptOp{row->kind, std::move(*args)};
  }

  // `(1, n0)`, or nothing at all for an opt without arguments.
  Status parseWords(std::vector<AxisRef>& words, OptKind kind) {
    if (at_ == text_.size() || text_[at_] != '(') return {};
    ++at_;
    for (skip(" "); at_ < text_.size() && text_[at_] != ')'; skip(" ,")) {
      if (text_[at_] >= 'a' && text_[at_] <= 'z') {
        words.emplace_back(std::string(loopName()));
        continue;
      }
      int64_t value = 0;
      const char* end = text_.data() + text_.size();
      auto [next, error] = std::from_chars(text_.data() + at_, end, value);
      if (error != std::errc() || value < 0 || value > INT32_MAX)
        return fail(Diag::BadOpt, "expected a number from 0 to 2147483647, or the name of a loop," + here(),
                    usageOf(kind));
      at_ = static_cast<size_t>(next - text_.data());
      words.emplace_back(static_cast<int32_t>(value));
    }
    if (at_ == text_.size()) return fail(Diag::BadOpt, "missing `)`" + here(), usageOf(kind));
    ++at_;
    return {};
  }

  std::string_view loopName() {
    size_t start = at_;
    while (at_ < text_.size() && isPartOfLoopName(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view word() {
    size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') ++at_;
    return text_.substr(start, at_ - start);
  }
  void skip(std::string_view set) {
    while (at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  std::string here() const { return " at position " + std::to_string(at_ + 1) + " of `" + std::string(text_) + "`"; }

  Error unknownName(std::string_view name, size_t start) const {
    std::vector<std::string_view> known;
    for (const OptInfo& row : allOpts()) known.push_back(row.name);
    at_ = start;
    std::string what = name.empty() ? "expected the name of an opt" : "unknown opt `" + std::string(name) + "`";
    return {Diag::BadOpt, what + here(), choicesFor(name, known)};
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
  char separator = '(';
  auto add = [&](const std::string& word) { text += separator + word, separator = ','; };
  auto number = [&](auto value) { add(std::to_string(value)); };
  forEachArg(
      opt.args, number, [&](const AxisRef& a) { add(a.name.empty() ? std::to_string(a.number) : a.name); }, number);
  return separator == '(' ? text : text + ")";
}

std::string toText(std::span<const OptOp> opts) {
  std::string text;
  for (const OptOp& opt : opts) text += (text.empty() ? "" : " ") + toText(opt);
  return text;
}

Result<std::vector<OptOp>> parseOpts(std::string_view text) { return OptParser(text).parse(); }

}  // namespace svod
