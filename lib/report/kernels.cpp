#include <algorithm>
#include <cmath>

#include "ir/text.h"
#include "report/grid.h"
#include "report/loops.h"
#include "report/plan_text.h"
#include "report/report.h"

namespace svod {

namespace {

const KernelView* viewOf(const Subject& subject, const KernelDesc& kernel) {
  for (const KernelView& view : subject.kernels)
    if (view.name == kernel.name || view.name == kernel.symbol) return &view;
  return nullptr;
}

std::vector<int64_t> callsOf(const Plan& plan) {
  std::vector<int64_t> calls(plan.kernels.size());
  for (const Step& step : plan.steps)
    if (const Launch* launch = std::get_if<Launch>(&step.action)) ++calls[launch->kernel];
  return calls;
}

/// What the columns and facts about speed say of a kernel; 0 and empty where it is not known.
struct Speed {
  double predicted = 0, measured = 0, share = 0;  // share of the roofline: measured if it was measured, else predicted

  explicit Speed(const KernelInsight& insight) : predicted(insight.predictedNs), measured(insight.measuredNs) {
    const double roofline = measured > 0 ? insight.measuredRooflineNs : insight.rooflineNs;
    const double time = measured > 0 ? measured : predicted;
    if (time > 0) share = roofline / time;
  }
};

Cell shareCell(double share) { return Cell(share, std::to_string(std::lround(100 * share)) + " %"); }
Cell knownTime(double nanoseconds) { return nanoseconds > 0 ? timeCell(nanoseconds) : Cell("-"); }

/// Columns for what some kernel is known to have: its class, times and share of the roofline.
void addInsights(Table& table, const Subject& subject) {
  auto any = [&](auto has) {
    return std::ranges::any_of(subject.kernels, [&](const KernelView& view) { return has(view.insight); });
  };
  const bool compiled = any([](const KernelInsight& i) { return !i.pattern.empty(); });
  const bool measured = any([](const KernelInsight& i) { return i.measuredNs > 0; });
  std::vector<Column> columns;
  if (compiled) columns = {{"class", "class"}, {"predictedNs", "predicted", true}};
  if (measured) columns.push_back({"measuredNs", "measured", true});
  if (compiled) columns.insert(columns.end(), {{"rooflineShare", "roofline", true}, {"limit", "limit"}});
  table.columns.insert(table.columns.end() - 1, columns.begin(), columns.end());
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const KernelView* view = viewOf(subject, subject.plan->kernels[i]);
    const KernelInsight insight = view == nullptr ? KernelInsight{} : view->insight;
    const Speed speed(insight);
    std::vector<Cell> cells;
    if (compiled) cells = {insight.pattern, knownTime(speed.predicted)};
    if (measured) cells.push_back(knownTime(speed.measured));
    if (compiled) cells.insert(cells.end(), {shareCell(speed.share), insight.limit});
    table.rows[i].insert(table.rows[i].end() - 1, cells.begin(), cells.end());
  }
}

void addFacts(FactList& facts, const KernelInsight& insight) {
  const Speed speed(insight);
  if (!insight.pattern.empty())
    facts.push_back({"class", "class",
                     Cell(insight.pattern, std::string(insight.pattern) + ": " + std::string(insight.patternWhat))});
  if (!insight.strategy.empty()) facts.push_back({"strategy", "strategy", Cell(insight.strategy)});
  if (!insight.chosen.empty()) facts.push_back({"chosen", "why it was chosen", insight.chosen});
  if (speed.predicted > 0) {
    facts.push_back({"predictedNs", "predicted time", timeCell(speed.predicted)});
    facts.push_back({"limit", "which is limited by", insight.limit});
  }
  if (speed.measured > 0) facts.push_back({"measuredNs", "measured time", timeCell(speed.measured)});
  if (speed.share > 0) facts.push_back({"rooflineShare", "share of the roofline", shareCell(speed.share)});
}

/// Where the kernels stand beneath the roofline of one thread: at the measured time if there is one.
Scatter rooflineOf(const Subject& subject) {
  Scatter scatter{"Kernels beneath what the processor could do with their bytes and flops, on one thread",
                  "flops per byte",
                  "GFLOP/s",
                  {}};
  for (const KernelDesc& kernel : subject.plan->kernels) {
    const KernelView* view = viewOf(subject, kernel);
    if (view == nullptr) continue;
    const Speed speed(view->insight);
    const std::vector<int64_t> largest = largestValues(kernel, *subject.plan);
    const auto flops = static_cast<double>(kernel.flops.tryEvaluate(largest).value_or(0));
    const auto bytes = static_cast<double>(kernel.bytes.tryEvaluate(largest).value_or(0));
    if (flops <= 0 || bytes <= 0 || speed.share <= 0) continue;
    const double most = flops / view->insight.rooflineNs;
    const std::string time = timeCell(speed.measured > 0 ? speed.measured : speed.predicted).text();
    scatter.points.push_back({kernel.name + ": " + shareCell(speed.share).text() + " of the roofline, " +
                                  (speed.measured > 0 ? "measured " : "predicted ") + time,
                              flops / bytes, most * speed.share, most});
  }
  return scatter;
}

Table choiceTable(const KernelInsight& insight) {
  Table table{"choices", {{"opt", "opt"}, {"why", "why"}}, {}};
  for (const auto& [opt, why] : insight.opts) table.rows.push_back({opt, why});
  return table;
}

Table seedTable(const KernelInsight& insight) {
  Table table{"seeds", {{"seed", "seed"}, {"predictedNs", "predicted", true}, {"opts", "opts"}}, {}};
  for (const SeedView& seed : insight.seeds) table.rows.push_back({seed.name, knownTime(seed.predictedNs), seed.opts});
  return table;
}

Table kernelTable(const Plan& plan) {
  Table table{"kernels",
              {{"id", "id", true},
               {"name", "kernel"},
               {"launches", "launches", true},
               {"tiles", "tiles", true},
               {"flops", "flops", true},
               {"bytes", "bytes", true},
               {"scratch", "scratch", true},
               {"opts", "opts"}},
              {}};
  const std::vector<int64_t> calls = callsOf(plan);
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelDesc& k = plan.kernels[i];
    table.rows.push_back({i, k.name, calls[i], tilesCell(k, plan), estimateCell(k.flops, k, plan),
                          estimateCell(k.bytes, k, plan), bytesCell(k.scratchBytes), k.opts});
  }
  return table;
}

Table argTable(const KernelDesc& kernel) {
  Table table{"args", {{"slot", "param", true}, {"dtype", "dtype"}, {"mode", "mode"}, {"bytes", "bytes", true}}, {}};
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    const KernelArg& arg = kernel.args[i];
    table.rows.push_back({i, nameOf(arg.dtype), toText(arg.mode), bytesCell(arg.bytes)});
  }
  return table;
}

/// The function of `symbol` in a C file: from its first line to the closing brace in column 1.
std::string functionText(std::string_view source, const std::string& symbol) {
  for (size_t at = source.find(symbol + "("); at != source.npos; at = source.find(symbol + "(", at + 1)) {
    const size_t before = source.rfind('\n', at);
    const size_t begin = before == source.npos ? 0 : before + 1;
    const size_t brace = source.find('{', at), semicolon = source.find(';', at);
    if (brace == source.npos || semicolon < brace) continue;
    const size_t end = source.find("\n}", brace);
    if (end != source.npos) return std::string(source.substr(begin, end + 3 - begin));
  }
  return {};
}

Section kernelSection(const Subject& subject, size_t id, bool loops, bool source) {
  const KernelDesc& kernel = subject.plan->kernels[id];
  const KernelView* view = viewOf(subject, kernel);
  Section section{"kernel-" + std::to_string(id), kernel.name};
  FactList facts = {{"id", "id", id}, {"name", "name", kernel.name}};
  if (kernel.symbol != kernel.name) facts.push_back({"symbol", "symbol", kernel.symbol});
  if (!kernel.opts.empty()) facts.push_back({"opts", "opts", kernel.opts});
  if (kernel.grid)
    addGridFacts(facts, kernel);
  else
    facts.push_back({"tiles", "tiles", tilesCell(kernel, *subject.plan)});
  if (view != nullptr) addFacts(facts, view->insight);
  if (view != nullptr && !view->insight.scheduled.empty())
    facts.push_back({"scheduled", "loops, scheduled", view->insight.scheduled});
  if (view != nullptr && !view->insight.optimized.empty())
    facts.push_back({"optimized", "loops, with opts", view->insight.optimized});
  section.blocks = {facts};
  if (loops) {
    if (view != nullptr && !view->insight.opts.empty()) section.blocks.push_back(choiceTable(view->insight));
    if (view != nullptr && view->insight.seeds.size() > 1) section.blocks.push_back(seedTable(view->insight));
    section.blocks.push_back(argTable(kernel));
    if (kernel.grid)
      for (Table& table : gridTables(kernel, *subject.plan)) section.blocks.push_back(std::move(table));
    if (view != nullptr && view->linear != nullptr)
      section.blocks.push_back(Code{"loops", "loops", loopsText(*view->linear)});
  }
  if (source) {
    const std::string text = view != nullptr && !view->source.empty() ? std::string(view->source)
                                                                      : functionText(subject.planSource, kernel.symbol);
    if (!text.empty()) section.blocks.push_back(Code{"source", "source", text});
  }
  return section;
}

}  // namespace

Section kernelsOf(const Subject& subject, bool full, bool source) {
  Section section{"kernels", "Kernels"};
  Table table = kernelTable(*subject.plan);
  if (full) addInsights(table, subject);
  section.blocks.push_back(std::move(table));
  if (!full && !source) return section;
  if (full) section.blocks.push_back(rooflineOf(subject));
  const auto hasSource = [](const KernelView& view) { return !view.source.empty(); };
  const bool isBinary = std::ranges::none_of(subject.kernels, hasSource) && subject.planSource.empty();
  if (source && isBinary)
    section.blocks.push_back(
        Note{"The plan holds machine code only: svodc inspect GRAPH --source, with the same flags, shows where it came "
             "from."});
  section.partsKey = "details";
  if (full || !isBinary)
    for (size_t i = 0; i < subject.plan->kernels.size(); ++i)
      section.parts.push_back(kernelSection(subject, i, full, source));
  return section;
}

}  // namespace svod
