#include "cuda_grid/order.h"

#include <algorithm>

namespace svod {

void Knowledge::join(const Knowledge& other) {
  all = std::max(all, other.all);
  if (copies.size() < other.copies.size()) copies.resize(other.copies.size());
  for (size_t i = 0; i < other.copies.size(); ++i)
    if (other.copies[i]) copies[i] = true;
}

Shadow::Shadow(uint64_t bytes, uint32_t unit, bool startsUnknown)
    : units_((bytes + unit - 1) / unit), unit_(unit), startsUnknown_(startsUnknown),
      cells_(std::make_unique<Cell[]>(units_)) {}

bool Shadow::isKnown(const Mark& mark, const Access& access) {
  if (mark.agent.number == 0 || mark.agent == access.agent) return true;
  const uint32_t index = mark.agent.index();
  if (mark.agent.isCopies()) return index < access.knows->copies.size() && access.knows->copies[index];
  if (mark.agent == access.starter) return mark.moment <= access.moment;
  return index - access.firstThread < access.threads && mark.moment <= access.knows->all;
}

std::string Shadow::describe(Agent agent) {
  return (agent.isCopies() ? "copies " : "thread ") + std::to_string(agent.index());
}

std::string Shadow::touch(uint64_t at, uint32_t bytes, bool writes, const Access& access, std::string_view what) {
  for (uint64_t i = at / unit_; i < (at + bytes + unit_ - 1) / unit_ && i < units_; ++i) {
    Cell& cell = cells_[i];
    const auto race = [&](const Mark& other, const char* did) {
      return "RACE: " + std::string(what) + " of " + describe(access.agent) + " touches byte " +
             std::to_string(i * unit_) + ", which " + describe(other.agent) + " " + did + ", with nothing in between";
    };
    if (startsUnknown_ && !writes && cell.writer.agent.number == 0)
      return "UNINITIALIZED: " + std::string(what) + " of " + describe(access.agent) + " reads byte " +
             std::to_string(i * unit_) + ", which nobody wrote";
    if (access.changesNothing && cell.writer.agent.number != 0) continue;
    if (!isKnown(cell.writer, access)) return race(cell.writer, "wrote");
    if (writes) {
      for (const Mark& reader : cell.readers)
        if (!isKnown(reader, access)) return race(reader, "reads");
      cell = {{access.agent, access.moment}, {}};
    } else {
      if (!(cell.readers[0].agent == access.agent)) cell.readers[1] = cell.readers[0];
      cell.readers[0] = {access.agent, access.moment};
    }
  }
  return {};
}

}  // namespace svod
