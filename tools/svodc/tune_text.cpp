#include "tune_text.h"

#include <algorithm>

#include "print.h"
#include "report/render.h"
#include "tune/kernels.h"

namespace svod {

namespace {

/// What people find in the log, or as a sum.
struct ForPrograms {
  std::string_view table, column;
};
constexpr ForPrograms kForPrograms[] = {{"kernels", "known"}, {"kernels", "sameCode"}, {"kernels", "dropped"},
                                        {"graphs", "same"},   {"graphs", "hopeless"},  {"graphs", "small"},
                                        {"graphs", "dropped"}};

constexpr size_t kOtherColumns = 63, kLeastName = 16;  // of what stands beside a name, as much as matters

bool isForPrograms(const Table& table, const Column& column) {
  return std::ranges::any_of(
      kForPrograms, [&](const ForPrograms& row) { return row.table == table.key && row.column == column.key; });
}

void makeBrief(Table& table, size_t width) {
  for (size_t i = table.columns.size(); i-- > 0;) {
    if (!isForPrograms(table, table.columns[i])) continue;
    table.columns.erase(table.columns.begin() + static_cast<int64_t>(i));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<int64_t>(i));
  }
  if (width == 0) return;
  for (auto& row : table.rows)
    row[0] = shortName(row[0].text(), std::max(kLeastName, width - std::min(width, kOtherColumns)));
}

}  // namespace

std::string tuneText(Document document, const Request& request, const Console& console) {
  if (request.flags.json) return toJson(document);
  for (Section& section : document.sections)
    for (Block& block : section.blocks)
      if (Table* const table = std::get_if<Table>(&block))
        makeBrief(*table, static_cast<size_t>(console.outputWidth()));
  return toText(document, styleOf(console));
}

}  // namespace svod
