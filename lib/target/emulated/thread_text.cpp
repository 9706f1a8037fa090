#include "target/emulated/thread_text.h"

#include <charconv>

#include "ir/text.h"
#include "linearize/linearize.h"
#include "target/target.h"

namespace svod {

namespace {

constexpr std::string_view kStart = "kernel ";

struct Entry {
  std::string_view name, text;
};

/// Takes the first text off `texts`.
std::optional<Entry> next(std::string_view& texts) {
  const size_t line = texts.find('\n');
  if (!texts.starts_with(kStart) || line == texts.npos) return std::nullopt;
  const std::string_view head = texts.substr(kStart.size(), line - kStart.size());
  const size_t space = head.find(' ');
  if (space == head.npos) return std::nullopt;
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(head.data() + space + 1, head.data() + head.size(), bytes);
  if (error != std::errc() || end != head.data() + head.size() || bytes > texts.size() - line - 1) return std::nullopt;
  const Entry entry{head.substr(0, space), texts.substr(line + 1, bytes)};
  texts.remove_prefix(line + 1 + bytes);
  return entry;
}

}  // namespace

Result<std::string> threadText(Graph& graph, const LinearKernel& kernel) {
  SVOD_CHECK(checkEmittable(kernel, false, true));
  // Sources come before users in the list already, so the text has its order.
  const std::string text = toUopText(graph.make(Op::Sink, DType::Void, kernel.ops));
  return std::string(kStart) + kernel.name + " " + std::to_string(text.size()) + "\n" + text;
}

Result<LinearKernel> readThread(Graph& graph, std::string_view texts, std::string_view name) {
  while (const std::optional<Entry> entry = next(texts)) {
    if (entry->name != name) continue;
    SVOD_TRY(const UOp sink, parseUop(graph, entry->text));
    return listedKernel({sink.src().begin(), sink.src().end()}, std::string(name), Numerics::Contract);
  }
  return fail(Diag::BadPlan, "no text of kernel '" + std::string(name) + "'", "compile the graph again");
}

}  // namespace svod
