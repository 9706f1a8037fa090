#include <algorithm>
#include <map>

#include "plan/memory_plan.h"
#include "report/plan_text.h"
#include "report/report.h"

namespace svod {

namespace {

struct Lifetime {
  int64_t first = -1, last = -1;  // steps that touch it; -1: none
};

std::vector<Lifetime> lifetimesOf(const Plan& plan) {
  std::vector<Lifetime> lifetimes(plan.buffers.size());
  for (StepId i = 0; i < plan.steps.size(); ++i) {
    const StepUse use = useOf(plan, plan.steps[i]);
    for (const std::vector<int64_t>* ids : {&use.reads, &use.writes}) {
      for (int64_t id : *ids) {
        Lifetime& l = lifetimes[static_cast<size_t>(id)];
        if (l.first < 0) l.first = static_cast<int64_t>(i);
        l.last = static_cast<int64_t>(i);
      }
    }
  }
  return lifetimes;
}

/// As a part of the bound, shown in percent.
Cell shareAbove(uint64_t value, uint64_t bound) {
  if (bound == 0 || value <= bound) return Cell(0.0, "0 %");
  const uint64_t tenths = (value - bound) * 1000 / bound;
  return Cell(static_cast<double>(value - bound) / static_cast<double>(bound),
              std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %");
}

uint64_t bytesIn(const Plan& plan, Place place) {
  uint64_t bytes = 0;
  for (const BufferDesc& b : plan.buffers) bytes += b.place == place ? b.bytes : 0;
  return bytes;
}

FactList summary(const Plan& plan) {
  const MemoryReport& m = plan.memory;
  const bool isPerRun = isLaidOutPerRun(plan);
  return {{"mode", "mode", m.mode},
          {"arenaBytes", isPerRun ? "arena at the greatest sizes" : "arena", bytesCell(arenaBytes(plan))},
          {"peakBytes", isPerRun ? "peak at " + likelyText(plan) : "peak", bytesCell(m.peakBytes)},
          {"lowerBoundBytes", "lower bound", bytesCell(m.lowerBoundBytes)},
          {"aboveBound", "above the bound", shareAbove(m.peakBytes, m.lowerBoundBytes)},
          {"unplannedBytes", "without reuse", bytesCell(m.unplannedBytes)},
          {"addedEdges", "edges for reuse", m.addedEdges},
          {"inPlace", "written in place", m.inPlace.size()},
          {"inputBytes", "inputs", bytesCell(bytesIn(plan, Place::Input))},
          {"outputBytes", "outputs", bytesCell(bytesIn(plan, Place::Output))},
          {"stateBytes", "states", bytesCell(bytesIn(plan, Place::State))},
          {"constantBytes", "constants", bytesCell(bytesIn(plan, Place::Constant))}};
}

/// Of an arena or a state on a device besides the host.
std::string placeText(const Plan& plan, const BufferDesc& buffer) {
  const char* shared = buffer.space == MemorySpace::Shared ? ", shared with host" : "";
  return std::string(toText(buffer.place)) + (buffer.place == Place::State ? " on " : " of ") +
         plan.devices[buffer.device].name + shared;
}

enum class Which : uint8_t { All, Weights, Others };

bool isOf(Which which, const BufferDesc& buffer) {
  return which == Which::All || (buffer.place == Place::Constant) == (which == Which::Weights);
}

Table bufferTable(const Plan& plan, const std::vector<Lifetime>& lifetimes, Which which) {
  Table table{"buffers",
              {{"id", "id", true},
               {"name", "buffer", false, true},
               {"type", "type"},
               {"bytes", "size", true},
               {"place", "place"},
               {"offset", "offset", true},
               {"over", "written over"},
               {"first", "first step", true},
               {"last", "last step", true}},
              {}};
  table.anchor = kBufferAnchor;
  const std::vector<BufferSpan> spans = spansAt(plan, likelyValues(plan));
  std::map<BufferId, BufferId> over;
  for (const InPlace& pair : plan.memory.inPlace) over[pair.result] = pair.source;
  for (BufferId i = 0; i < plan.buffers.size(); ++i) {
    const BufferDesc& b = plan.buffers[i];
    if (!isOf(which, b)) continue;
    const auto source = over.find(i);
    const Cell overCell =
        source == over.end() ? Cell(-1, "-") : Cell(source->second, "b" + std::to_string(source->second));
    const bool placed = b.place == Place::Arena || b.place == Place::View;
    const std::string place = b.place == Place::View ? "view of b" + std::to_string(b.base)
                              : b.device != 0        ? placeText(plan, b)
                                                     : std::string(toText(b.place));
    auto step = [](int64_t s) {
      return s < 0 ? Cell(s, "-") : Cell(s).to(std::string(kStepAnchor) + std::to_string(s));
    };
    table.rows.push_back({i, b.name, typeText(b), bytesCell(b.bytes), place,
                          placed ? Cell(b.run ? spans[i].offset : b.offset) : Cell(0, "-"), overCell,
                          step(lifetimes[i].first), step(lifetimes[i].last)});
  }
  return table;
}

Chart arenaChart(const Plan& plan, DeviceId device, MemorySpace space, const std::vector<Lifetime>& lifetimes) {
  const std::string owner = device == 0 ? "" : " of " + plan.devices[device].name;
  Chart chart{"The arena" + owner + (space == MemorySpace::Shared ? " that the host shares" : "") +
                  ": which buffer lies where, at which step",
              "step", "offset", static_cast<double>(plan.steps.size()),
              static_cast<double>(isLaidOutPerRun(plan) ? 0 : arenaBytes(plan.devices[device], space))};
  const std::vector<BufferSpan> spans = spansAt(plan, likelyValues(plan));
  for (BufferId i = 0; i < plan.buffers.size(); ++i) {
    const BufferDesc& b = plan.buffers[i];
    if (b.place != Place::Arena || b.device != device || b.space != space || lifetimes[i].first < 0) continue;
    const auto offset = static_cast<double>(spans[i].offset), bytes = static_cast<double>(spans[i].bytes);
    const auto first = static_cast<double>(lifetimes[i].first), last = static_cast<double>(lifetimes[i].last);
    chart.height = std::max(chart.height, offset + bytes);
    chart.boxes.push_back({bufferText(plan, i) + ", " + typeText(b) + ", " + bytesCell(spans[i].bytes).text() +
                               ", steps " + std::to_string(lifetimes[i].first) + " to " +
                               std::to_string(lifetimes[i].last),
                           b.name, first, last + 1, offset, offset + bytes, i % Chart::kOtherColor,
                           std::string(kBufferAnchor) + std::to_string(i)});
  }
  const bool isAlone = plan.devices.size() == 1 && space == MemorySpace::Device;
  if (isAlone && plan.memory.lowerBoundBytes > 0 && !chart.boxes.empty())
    chart.levels = {{static_cast<double>(plan.memory.lowerBoundBytes),
                     "lower bound " + bytesCell(plan.memory.lowerBoundBytes).text()}};
  return chart;
}

}  // namespace

Section memoryOf(const Plan& plan, bool full) {
  Section section{"memory", "Memory"};
  section.blocks.push_back(summary(plan));
  if (full) section.blocks.push_back(bufferTable(plan, lifetimesOf(plan), Which::All));
  return section;
}

Section memoryAtWork(const Plan& plan) {
  Section section{"memory", "Memory"};
  section.blocks.push_back(summary(plan));
  const std::vector<Lifetime> lifetimes = lifetimesOf(plan);
  for (DeviceId device = 0; device < plan.devices.size(); ++device)
    for (MemorySpace space : kMemorySpaces)
      if (space == MemorySpace::Device || plan.devices[device].sharedBytes > 0)
        section.blocks.push_back(arenaChart(plan, device, space, lifetimes));
  section.blocks.push_back(bufferTable(plan, lifetimes, Which::Others));
  return section;
}

Section weightsOf(const Plan& plan) {
  Section section{"weights", "Weights"};
  Table table = bufferTable(plan, lifetimesOf(plan), Which::Weights);
  if (table.rows.empty()) return section;
  std::erase_if(table.columns,
                [](const Column& c) { return c.key == "place" || c.key == "offset" || c.key == "over"; });
  for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + 4, row.begin() + 7);
  const std::string total = bytesCell(bytesIn(plan, Place::Constant)).text();
  section.brief = std::to_string(table.rows.size()) + " constants, " + total;
  section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace svod
