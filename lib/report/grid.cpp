#include "report/grid.h"

#include "report/plan_text.h"
#include "report/speed.h"

namespace svod {

namespace {

/// `a x b x c`
template <class List, class Text>
std::string productText(const List& parts, Text text) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : " x ") + text(part);
  return out;
}

std::string numbers(const auto& list) {
  return productText(list, [](uint64_t n) { return std::to_string(n); });
}

std::string exprs(const auto& list, const KernelDesc& kernel) {
  return productText(list, [&](const Expr& e) { return toText(e, kernel.values); });
}

Table imageTable(const Grid& grid, const Plan& plan) {
  Table table{"images",
              {{"path", "image"},
               {"arch", "architecture"},
               {"registers", "registers", true},
               {"sharedBytes", "memory of a workgroup", true}},
              {}};
  for (const KernelImage& image : grid.images) {
    const FileDesc& file = plan.files[image.file];
    table.rows.push_back({file.path, file.image.arch, image.registers, bytesCell(image.sharedBytes)});
  }
  return table;
}

Table mapTable(const KernelDesc& kernel) {
  Table table{"tensorMaps",
              {{"arg", "param", true},
               {"offset", "offset", true},
               {"dtype", "dtype"},
               {"dims", "dims"},
               {"strides", "strides"},
               {"box", "box"},
               {"step", "step"},
               {"swizzleBytes", "swizzle", true}},
              {}};
  for (const TensorMap& map : kernel.grid->tensorMaps)
    table.rows.push_back({map.arg, map.offset, nameOf(map.dtype), exprs(map.dims, kernel), exprs(map.strides, kernel),
                          numbers(map.box), numbers(map.step), map.swizzleBytes});
  return table;
}

}  // namespace

void addGridFacts(FactList& facts, const KernelDesc& kernel) {
  const Grid& grid = *kernel.grid;
  facts.push_back({"groups", "workgroups", exprs(grid.groups, kernel)});
  facts.push_back({"threads", "threads of each", numbers(grid.threads)});
  facts.push_back({"sharedBytes", "memory of each", bytesCell(grid.sharedBytes)});
  for (const LaunchAttribute& attribute : grid.attributes)
    facts.push_back({attribute.name, "attribute " + attribute.name, attribute.value});
}

std::vector<Table> gridTables(const KernelDesc& kernel, const Plan& plan) {
  std::vector<Table> tables = {imageTable(*kernel.grid, plan)};
  if (!kernel.grid->tensorMaps.empty()) tables.push_back(mapTable(kernel));
  return tables;
}

std::vector<Table> gpuTables(const KernelInsight& insight) {
  std::vector<Table> tables;
  if (!insight.images.empty()) {
    Table& table = tables.emplace_back();
    table = {"units",
             {{"arch", "on"},
              {"groups", "workgroups of a unit", true},
              {"occupancy", "occupancy", true},
              {"limit", "limited by"},
              {"spillBytes", "spilled", true},
              {"warnings", "warnings", false, true}},
             {}};
    for (const ImageView& image : insight.images) {
      std::string warnings;
      for (const std::string& text : image.warnings) warnings += (warnings.empty() ? "" : "; ") + text;
      table.rows.push_back({image.arch, image.groups, shareCell(image.share), image.limit,
                            image.spillBytes < 0 ? Cell("") : bytesCell(static_cast<uint64_t>(image.spillBytes)),
                            warnings});
    }
  }
  if (!insight.accesses.empty()) {
    Table& table = tables.emplace_back();
    table = {
        "accesses",
        {{"what", "accesses of a warp"}, {"transfers", "transfers", true}, {"least", "least", true}, {"unit", "of"}},
        {}};
    for (const WarpAccessView& access : insight.accesses)
      table.rows.push_back({access.what, access.transfers, access.least, access.unit});
  }
  return tables;
}

}  // namespace svod
