#include "pass/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "ir/text.h"
#include "ir/verify.h"

namespace svod {

void PassData::missing() {
  std::fprintf(stderr, "internal error: a pass needs data its pipeline does not provide\n");
  std::abort();
}

void PassLog::add(const PassLog& other) {
  text += other.text;
  times.insert(times.end(), other.times.begin(), other.times.end());
  for (const auto& [name, tally] : other.rules) {
    rules[name].attempts += tally.attempts;
    rules[name].hits += tally.hits;
  }
  if (lastGood.empty()) lastGood = other.lastGood, failedPass = other.failedPass;
  stopped |= other.stopped;
}

namespace {

bool lists(const std::vector<std::string>& names, std::string_view pass) {
  return std::ranges::any_of(names, [&](const std::string& n) { return n == pass || n == "all"; });
}

/// Whether what is to be printed was chosen.
bool printsAny(const PassOptions& options) {
  return options.printChanged || !options.printBefore.empty() || !options.printAfter.empty();
}

std::string textOf(const PassContext& cx, UOp root, Stage stage) {
  return cx.subject != nullptr ? cx.subject->text(root, stage) : toUopText(root);
}

size_t nodesOf(const PassContext& cx, UOp root) {
  return cx.subject != nullptr ? cx.subject->nodes(root) : toposort(root).size();
}

void print(PassContext& cx, std::string_view when, const Pass& pass, const std::string& text) {
  cx.log.text += fmt::format("; {} {} ({})\n{}\n", when, pass.name, cx.job, text);
}

Error inPass(Error error, const Pass& pass, const PassContext& cx) {
  return std::move(error).withNote(fmt::format("in pass {} of {}", pass.name, cx.job));
}

Status verifyStage(UOp root, Stage stage, const Pass& pass, const PassContext& cx) {
  if (!cx.options.verifyEach) return {};
  Status status = cx.subject != nullptr ? cx.subject->verify(root, stage) : verify(root, stage);
  if (!status) return fail(inPass(std::move(status).error(), pass, cx));
  return {};
}

Result<UOp> runOne(const Pass& pass, UOp root, PassContext& cx) {
  const PassOptions& options = cx.options;
  const bool wantsBefore = options.printChanged || lists(options.printBefore, pass.name);
  const std::string before = wantsBefore ? textOf(cx, root, pass.in) : "";
  if (lists(options.printBefore, pass.name)) print(cx, "before", pass, before);
  const size_t nodesBefore = options.timePasses ? nodesOf(cx, root) : 0;
  auto begin = std::chrono::steady_clock::now();
  Result<UOp> result = pass.run(root, cx);
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (result && options.instrument) result = options.instrument(pass, *result, cx);
  if (!result) return fail(inPass(std::move(result).error(), pass, cx));
  if (options.timePasses) cx.log.times.push_back({pass.name, spent.count(), nodesBefore, nodesOf(cx, *result)});
  if (lists(options.printAfter, pass.name) || (options.printChanged && textOf(cx, *result, pass.out) != before))
    print(cx, "after", pass, textOf(cx, *result, pass.out));
  SVOD_CHECK(verifyStage(*result, pass.out, pass, cx));
  return result;
}

// Passes that would be handed a graph of another stage: the table is wrong.
Status checkChain(std::span<const Pass> passes) {
  for (size_t i = 1; i < passes.size(); ++i)
    if (passes[i].in != passes[i - 1].out)
      return fail(Diag::Verify,
                  fmt::format("pass {} expects stage {} but {} leaves stage {}", passes[i].name, toText(passes[i].in),
                              passes[i - 1].name, toText(passes[i - 1].out)),
                  "reorder the pass table");
  return {};
}

}  // namespace

bool isSkipped(const Pass& pass, int64_t optionalBefore, const PassOptions& options) {
  if (!pass.optional) return false;
  return (options.bisectLimit >= 0 && optionalBefore >= options.bisectLimit) ||
         lists(options.disabledPasses, pass.name);
}

PassOptions optionsAfter(const PassOptions& options, std::span<const Pass> earlier) {
  PassOptions rest = options;
  if (rest.bisectLimit < 0) return rest;
  rest.bisectLimit = std::max<int64_t>(0, rest.bisectLimit - std::ranges::count(earlier, true, &Pass::optional));
  return rest;
}

Result<UOp> runPipeline(std::span<const Pass> passes, UOp root, PassContext& cx) {
  SVOD_CHECK(checkChain(passes));
  if (!passes.empty()) SVOD_CHECK(verifyStage(root, passes[0].in, passes[0], cx));
  int64_t optionalBefore = 0;
  for (const Pass& pass : passes) {
    const bool skipped = isSkipped(pass, optionalBefore, cx.options);
    optionalBefore += pass.optional;
    if (!skipped) {
      Result<UOp> next = runOne(pass, root, cx);
      if (!next) {
        cx.log.lastGood = textOf(cx, root, pass.in);
        cx.log.failedPass = pass.name;
        return next;
      }
      root = *next;
    }
    if (pass.name == cx.options.stopAfter) {
      cx.log.stopped = true;
      if (!printsAny(cx.options)) print(cx, "after", pass, textOf(cx, root, pass.out));
      break;
    }
  }
  return root;
}

std::string toText(std::span<const PassTime> times) {
  struct Row {
    std::string_view pass;
    int calls = 0;
    double seconds = 0;
    size_t before = 0, after = 0;
  };
  std::vector<Row> rows;
  double total = 0;
  for (const PassTime& t : times) {
    auto row = std::ranges::find(rows, t.pass, &Row::pass);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{t.pass});
    row->calls += 1, row->seconds += t.seconds, row->before += t.nodesBefore, row->after += t.nodesAfter;
    total += t.seconds;
  }
  std::ranges::stable_sort(rows, std::greater{}, &Row::seconds);
  std::string out =
      fmt::format("{:<28}{:>7}{:>12}{:>8}{:>10}{:>10}\n", "pass", "calls", "ms", "share", "nodes", "after");
  for (const Row& r : rows)
    out += fmt::format("{:<28}{:>7}{:>12.3f}{:>7.1f}%{:>10}{:>10}\n", r.pass, r.calls, r.seconds * 1e3,
                       total > 0 ? r.seconds / total * 100 : 0, r.before, r.after);
  return out;
}

std::string toText(const std::map<std::string, RuleTally, std::less<>>& rules) {
  std::vector<std::pair<std::string_view, RuleTally>> rows;
  for (const auto& [name, tally] : rules)
    if (tally.hits > 0) rows.emplace_back(name, tally);
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.hits > b.second.hits; });
  std::string out = fmt::format("{:<32}{:>12}{:>12}\n", "rule", "hits", "attempts");
  for (const auto& [name, tally] : rows) out += fmt::format("{:<32}{:>12}{:>12}\n", name, tally.hits, tally.attempts);
  return out;
}

}  // namespace svod
