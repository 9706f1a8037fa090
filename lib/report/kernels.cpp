#include <algorithm>

#include "ir/text.h"
#include "report/grid.h"
#include "report/loops.h"
#include "report/plan_text.h"
#include "report/report.h"
#include "report/speed.h"

namespace svod {

namespace {

/// Which columns about speed a table of kernels has: of what is known of some kernel.
struct Known {
  bool compiled = false, measured = false;

  explicit Known(const Subject& subject) {
    for (const KernelView& view : subject.kernels) {
      compiled = compiled || !view.insight.pattern.empty();
      measured = measured || view.insight.measuredNs > 0;
    }
  }
};

/// Class, times and share of the roofline, and how much of a run that is.
void addInsights(Table& table, const Subject& subject) {
  const Known known(subject);
  if (!known.compiled && !known.measured) return;
  std::vector<Column> columns;
  if (known.compiled) columns = {{"class", "class"}, {"predictedNs", "predicted", true}};
  if (known.measured) columns.push_back({"measuredNs", "measured", true});
  columns.insert(columns.end(), {{"runNs", "in a run", true}, {"share", "share", true}});
  if (known.compiled) columns.insert(columns.end(), {{"rooflineShare", "roofline", true}, {"limit", "limit"}});
  table.columns.insert(table.columns.end() - 1, columns.begin(), columns.end());
  const std::vector<double> times = runTimesOf(subject);
  const double total = sumOf(times);
  for (KernelId i = 0; i < table.rows.size(); ++i) {
    const KernelView* view = viewOf(subject, subject.plan->kernels[i]);
    const KernelInsight insight = view == nullptr ? KernelInsight{} : view->insight;
    const Speed speed(insight);
    std::vector<Cell> cells;
    if (known.compiled) cells = {insight.pattern, knownTime(speed.predicted)};
    if (known.measured) cells.push_back(knownTime(speed.measured));
    cells.insert(cells.end(), {knownTime(times[i]), shareCell(total > 0 ? times[i] / total : 0)});
    if (known.compiled) cells.insert(cells.end(), {shareCell(speed.share), insight.limit});
    table.rows[i].insert(table.rows[i].end() - 1, cells.begin(), cells.end());
  }
  for (auto column = table.columns.end() - 1 - static_cast<int64_t>(columns.size()); column != table.columns.end() - 1;
       ++column)
    table.totals.insert(table.totals.end() - 1, column->key == "runNs" ? knownTime(total) : Cell(""));
}

void addFacts(FactList& facts, const KernelInsight& insight) {
  const Speed speed(insight);
  if (!insight.pattern.empty())
    facts.push_back({"class", "class",
                     Cell(insight.pattern, std::string(insight.pattern) + ": " + std::string(insight.patternWhat))});
  if (!insight.strategy.empty()) facts.push_back({"strategy", "strategy", Cell(insight.strategy)});
  if (!insight.chosen.empty()) facts.push_back({"chosen", "why it was chosen", insight.chosen});
  if (!insight.tuningHash.empty()) facts.push_back({"tuningHash", "in tuning logs", insight.tuningHash});
  if (speed.predicted > 0) {
    facts.push_back({"predictedNs", "predicted time", timeCell(speed.predicted)});
    facts.push_back({"limit", "which is limited by", insight.limit});
  }
  if (speed.measured > 0) facts.push_back({"measuredNs", "measured time", timeCell(speed.measured)});
  if (speed.share > 0) facts.push_back({"rooflineShare", "share of the roofline", shareCell(speed.share)});
}

Table choiceTable(const KernelInsight& insight) {
  Table table{"choices", {{"opt", "opt"}, {"why", "why", false, true}}, {}};
  for (const auto& [opt, why] : insight.opts) table.rows.push_back({opt, why});
  return table;
}

Table seedTable(const KernelInsight& insight) {
  Table table{"seeds", {{"seed", "seed"}, {"predictedNs", "predicted", true}, {"opts", "opts", false, true}}, {}};
  for (const SeedView& seed : insight.seeds) table.rows.push_back({seed.name, knownTime(seed.predictedNs), seed.opts});
  return table;
}

Cell launchesCell(double launches) {
  return launches < 1e15 ? Cell(static_cast<int64_t>(launches)) : Cell(launches, "very many");
}

/// Of all launches of a run.
Cell totalOf(const Plan& plan, const std::vector<double>& launches, Expr KernelDesc::* estimate) {
  double total = 0;
  for (KernelId i = 0; i < plan.kernels.size(); ++i) {
    const KernelDesc& k = plan.kernels[i];
    const double one = static_cast<double>((k.*estimate).tryEvaluate(usualValues(k, plan)).value_or(0));
    total += launches[i] * one;
  }
  return total < 9e18 ? countCell(static_cast<int64_t>(total)) : Cell(total);
}

Table kernelTable(const Plan& plan) {
  Table table{"kernels",
              {{"id", "id", true},
               {"name", "kernel", false, true},
               {"launches", "launches", true},
               {"tiles", "tiles", true},
               {"flops", "flops", true},
               {"bytes", "bytes", true},
               {"scratch", "scratch", true},
               {"opts", "opts", false, true, true}},
              {}};
  const std::vector<double> launches = launchesOf(plan);
  for (KernelId i = 0; i < plan.kernels.size(); ++i) {
    const KernelDesc& k = plan.kernels[i];
    table.rows.push_back({i, Cell(k.name).to(kernelAnchor(i)), launchesCell(launches[i]), tilesCell(k, plan),
                          estimateCell(k.flops, k, plan), estimateCell(k.bytes, k, plan), bytesCell(k.scratchBytes),
                          k.opts});
  }
  table.totals = {"",
                  "all, in a run",
                  launchesCell(sumOf(launches)),
                  "",
                  totalOf(plan, launches, &KernelDesc::flops),
                  totalOf(plan, launches, &KernelDesc::bytes),
                  "",
                  ""};
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

Section kernelSection(const Subject& subject, KernelId id, bool loops, bool source) {
  const KernelDesc& kernel = subject.plan->kernels[id];
  const KernelView* view = viewOf(subject, kernel);
  Section section{kernelAnchor(id), kernel.name};
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
    if (kernel.grid && view != nullptr)
      for (Table& table : gpuTables(view->insight)) section.blocks.push_back(std::move(table));
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

constexpr std::string_view kNoSource =
    "The plan holds machine code only: svodc inspect GRAPH --source, with the same flags, shows where it came from.";

bool hasNoSource(const Subject& subject) {
  const auto hasSource = [](const KernelView& view) { return !view.source.empty(); };
  return std::ranges::none_of(subject.kernels, hasSource) && subject.planSource.empty();
}

}  // namespace

Section kernelsOf(const Subject& subject, bool full, bool source) {
  Section section{"kernels", "Kernels"};
  Table table = kernelTable(*subject.plan);
  if (full) addInsights(table, subject);
  section.blocks.push_back(std::move(table));
  if (!full && !source) return section;
  const bool isBinary = hasNoSource(subject);
  if (source && isBinary) section.blocks.push_back(Note{std::string(kNoSource)});
  section.partsKey = "details";
  if (full || !isBinary)
    for (KernelId i = 0; i < subject.plan->kernels.size(); ++i)
      section.parts.push_back(kernelSection(subject, i, full, source));
  return section;
}

Section kernelsInShort(const Subject& subject) {
  Section section{"kernels", "Kernels"};
  Table table = kernelTable(*subject.plan);
  addInsights(table, subject);
  section.blocks = {std::move(table), rooflineOf(subject)};
  return section;
}

Section kernelDetails(const Subject& subject) {
  Section section{"details", "Every kernel"};
  const std::vector<double> times = runTimesOf(subject);
  for (KernelId i = 0; i < subject.plan->kernels.size(); ++i) {
    Section part = kernelSection(subject, i, true, true);
    const KernelView* view = viewOf(subject, subject.plan->kernels[i]);
    if (view != nullptr) part.brief = view->insight.pattern;
    if (times[i] > 0) part.brief += (part.brief.empty() ? "" : ", ") + timeCell(times[i]).text() + " in a run";
    part.isFolded = true;
    section.parts.push_back(std::move(part));
  }
  if (!section.parts.empty() && hasNoSource(subject)) section.blocks.push_back(Note{std::string(kNoSource)});
  return section;
}

Section figuresOf(const Subject& subject) {
  const Plan& plan = *subject.plan;
  const std::vector<double> launches = launchesOf(plan);
  const Known known(subject);
  Section section{"", ""};
  uint64_t weights = 0;
  for (const BufferDesc& b : plan.buffers) weights += b.place == Place::Constant ? b.bytes : 0;
  FactList facts = {{"kernels", "kernels", plan.kernels.size()},
                    {"steps", "steps", plan.steps.size()},
                    {"flops", "flops in a run", totalOf(plan, launches, &KernelDesc::flops)},
                    {"arena", "arena", bytesCell(isLaidOutPerRun(plan) ? plan.memory.peakBytes : arenaBytes(plan))},
                    {"weights", "weights", bytesCell(weights)}};
  if (const std::string sizes = likelyText(plan); !sizes.empty()) facts.push_back({"sizes", "at likely sizes", sizes});
  if (const double total = sumOf(runTimesOf(subject)); total > 0)
    facts.push_back({"time", known.measured ? "measured in a run, over all threads" : "predicted for a run, one thread",
                     timeCell(total)});
  facts.push_back({"cpu", "for", plan.target.cpu.empty() ? plan.target.triple : plan.target.cpu});
  facts.push_back({"numerics", "numerics", plan.target.numerics});
  section.blocks.push_back(std::move(facts));
  return section;
}

}  // namespace svod
