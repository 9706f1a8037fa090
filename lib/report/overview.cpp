#include <algorithm>

#include "plan/image_rule.h"
#include "plan/variants.h"
#include "report/plan_text.h"
#include "report/report.h"

namespace svod {

namespace {

Table portTable(const Plan& plan) {
  Table table{"ports", {{"kind", "port"}, {"name", "name"}, {"type", "type"}, {"buffer", "buffer", true}}, {}};
  for (const Port& p : plan.inputs) table.rows.push_back({"input", p.name, typeText(plan, p), p.buffer});
  for (const Port& p : plan.outputs) table.rows.push_back({"output", p.name, typeText(plan, p), p.buffer});
  for (const State& s : plan.states)
    table.rows.push_back({"state", s.name, typeText(plan.buffers[s.buffer]), s.buffer});
  return table;
}

Table variableTable(const Plan& plan) {
  Table table{
      "variables",
      {{"name", "variable"}, {"min", "min", true}, {"max", "max", true}, {"kind", "kind"}, {"value", "value", true}},
      {}};
  for (const Variable& v : plan.variables)
    table.rows.push_back(
        {v.name, v.min, v.max, toText(v.kind), v.kind == VariableKind::Fixed ? Cell(v.value) : Cell("")});
  return table;
}

Table expectationTable(const Plan& plan) {
  Table table{"expectations",
              {{"text", "checked in a run"}, {"kind", "kind"}, {"values", "values", true}, {"buffer", "buffer", true}},
              {}};
  for (const Expectation& e : plan.expectations)
    table.rows.push_back({e.text, toText(e.kind), plan.buffers[e.buffer].shape.at(1), e.buffer});
  return table;
}

Table equalSizesTable(const Plan& plan) {
  Table table{"equalSizes", {{"text", "checked before a run"}, {"a", "size"}, {"b", "equal to"}}, {}};
  const std::vector<std::string> names = variableNames(plan);
  for (const EqualExprs& e : plan.equalSizes) table.rows.push_back({e.text, toText(e.a, names), toText(e.b, names)});
  return table;
}

/// Of each architecture all images, and how many launches are others than those of the first one.
Table archTable(const Plan& plan) {
  Table table{"architectures",
              {{"arch", "architecture"},
               {"runsOn", "runs on"},
               {"images", "images", true},
               {"bytes", "size", true},
               {"driver", "driver", true},
               {"launches", "launches of its own", true}},
              {}};
  struct Sum {
    ImageTarget target;
    size_t images = 0;
    uint64_t bytes = 0;
  };
  std::vector<Sum> sums;
  for (const FileDesc& file : plan.files) {
    if (file.kind != FileKind::Image) continue;
    const auto isSame = [&](const Sum& s) {
      return s.target.device == file.image.device && s.target.arch == file.image.arch;
    };
    auto sum = std::ranges::find_if(sums, isSame);
    if (sum == sums.end()) sum = sums.insert(sum, {file.image});
    sum->images++, sum->bytes += file.bytes;
  }
  for (const Sum& sum : sums) {
    const std::string name = variantName(sum.target.device, sum.target.arch);
    const auto variant = std::ranges::find(plan.variants, name, &Variant::cpu);
    table.rows.push_back({name, runsOnText(sum.target).value_or("-"), sum.images, bytesCell(sum.bytes),
                          sum.target.driver, variant == plan.variants.end() ? size_t{0} : variant->launches.size()});
  }
  return table;
}

/// Of one processor, the facts say it all.
Table processorTable(const Plan& plan) {
  Table table{"processors",
              {{"cpu", "processor"}, {"launches", "launches of its own", true}, {"features", "features", false, true}},
              {}};
  if (plan.variants.size() == deviceVariants(plan)) return table;
  const auto add = [&](const std::string& cpu, size_t launches, const std::vector<std::string>& features) {
    std::string names;
    for (const std::string& name : features) names += (names.empty() ? "" : " ") + name;
    table.rows.push_back({cpu, launches, names.empty() ? "-" : names});
  };
  const auto isLaunch = [](const Step& step) { return std::holds_alternative<Launch>(step.action); };
  add(plan.target.cpu, static_cast<size_t>(std::ranges::count_if(plan.steps, isLaunch)), plan.target.features);
  for (const Variant& variant : plan.variants)
    if (!isForDevice(variant)) add(variant.cpu, variant.launches.size(), variant.features);
  return table;
}

Table fileTable(const Plan& plan) {
  Table table{"files", {{"path", "file"}, {"kind", "kind"}, {"bytes", "size", true}, {"sha256", "sha256"}}, {}};
  for (const FileDesc& f : plan.files)
    if (f.kind != FileKind::Image)
      table.rows.push_back({f.path, toText(f.kind), bytesCell(f.bytes), Cell(f.sha256, f.sha256.substr(0, 16))});
  return table;
}

/// Of one device, the memory section says it all.
Table deviceTable(const Plan& plan) {
  Table table{
      "devices",
      {{"name", "device"}, {"kind", "kind"}, {"arenaBytes", "arena", true}, {"sharedBytes", "shared with host", true}},
      {}};
  if (plan.devices.size() > 1)
    for (const DeviceDesc& d : plan.devices)
      table.rows.push_back({d.name, d.kind, bytesCell(d.arenaBytes), bytesCell(d.sharedBytes)});
  return table;
}

}  // namespace

Section overviewOf(const Plan& plan) {
  Section section{"", ""};
  const TargetRecord& t = plan.target;
  FactList facts = {{"name", "graph", plan.name},
                    {"version", "plan version", plan.version},
                    {"triple", "triple", t.triple},
                    {"cpu", "cpu", t.cpu},
                    {"features", "cpu features", Cell(t.features, std::to_string(t.features.size()))},
                    {"numerics", "numerics", t.numerics},
                    {"compiler", "compiler", t.compiler}};
  facts.push_back({"decisions", "decisions", static_cast<int64_t>(plan.decisions.size())});
  section.blocks = {facts,
                    processorTable(plan),
                    deviceTable(plan),
                    portTable(plan),
                    variableTable(plan),
                    equalSizesTable(plan),
                    expectationTable(plan),
                    archTable(plan),
                    fileTable(plan)};
  std::erase_if(section.blocks, [](const Block& block) {
    const Table* table = std::get_if<Table>(&block);
    return table != nullptr && table->rows.empty() && table->key != "ports";
  });
  return section;
}

}  // namespace svod
