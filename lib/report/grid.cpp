#include "report/grid.h"

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

}  // namespace svod
