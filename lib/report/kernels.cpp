#include <algorithm>

#include "ir/text.h"
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
    table.rows.push_back({i, k.name, calls[i], exprCell(k.tiles, k.values), estimateCell(k.flops, k, plan),
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
  facts.push_back({"tiles", "tiles", exprCell(kernel.tiles, kernel.values)});
  if (view != nullptr && view->scheduled) facts.push_back({"scheduled", "loops, scheduled", axesText(view->scheduled)});
  if (view != nullptr && view->optimized) facts.push_back({"optimized", "loops, with opts", axesText(view->optimized)});
  section.blocks = {facts};
  if (loops) {
    section.blocks.push_back(argTable(kernel));
    if (view != nullptr && view->linear != nullptr) section.blocks.push_back(Code{"loops", "loops", loopsText(*view->linear)});
  }
  if (source) {
    const std::string text =
        view != nullptr && !view->source.empty() ? std::string(view->source) : functionText(subject.planSource, kernel.symbol);
    if (!text.empty()) section.blocks.push_back(Code{"source", "source", text});
  }
  return section;
}

}  // namespace

Section kernelsOf(const Subject& subject, bool full, bool source) {
  Section section{"kernels", "Kernels"};
  section.blocks.push_back(kernelTable(*subject.plan));
  if (!full && !source) return section;
  section.partsKey = "details";
  for (size_t i = 0; i < subject.plan->kernels.size(); ++i)
    section.parts.push_back(kernelSection(subject, i, full, source));
  if (source && subject.kernels.empty() && subject.planSource.empty())
    section.blocks.push_back(Note{"The plan holds machine code only; inspect the graph itself to see generated source."});
  return section;
}

}  // namespace svod
