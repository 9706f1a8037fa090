#include <algorithm>
#include <map>

#include "ir/model_text.h"
#include "ir/text.h"
#include "report/report.h"

namespace svod {

namespace {

Table portTable(const Model& model) {
  Table table{"ports", {{"kind", "port"}, {"name", "name"}, {"type", "type"}, {"bytes", "data", true}}, {}};
  for (const ModelPort& port : model.ports)
    table.rows.push_back({toText(port.kind), port.name, toTypeText(port.buffer),
                          port.data.bytes > 0 ? bytesCell(port.data.bytes) : Cell(0, "-")});
  return table;
}

Table variableTable(const Model& model) {
  Table table{
      "variables", {{"name", "variable"}, {"min", "min", true}, {"max", "max", true}, {"likely", "likely", true}}, {}};
  for (UOp v : model.variables) {
    const VarArg& var = v.argAs<VarArg>();
    table.rows.push_back({var.name, var.min, var.max, var.likely});
  }
  return table;
}

/// How often each op is used, most used first; ties by name.
Table opTable(const std::vector<UOp>& nodes) {
  std::map<std::string_view, int64_t> countOf;
  for (UOp n : nodes) ++countOf[toText(n.op())];
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [name, count] : countOf) order.push_back({-count, name});
  std::sort(order.begin(), order.end());
  Table table{"ops", {{"op", "op"}, {"nodes", "nodes", true}}, {}};
  for (const auto& [negated, name] : order) table.rows.push_back({name, -negated});
  return table;
}

}  // namespace

Section graphOf(const Model& model, bool full) {
  const std::vector<UOp> nodes = toposort(model.sink);
  Section section{"graph", "Graph"};
  section.blocks.push_back(FactList{{"nodes", "nodes", nodes.size()}});
  section.blocks.push_back(portTable(model));
  if (!model.variables.empty()) section.blocks.push_back(variableTable(model));
  if (!full) return section;
  section.blocks.push_back(opTable(nodes));
  section.blocks.push_back(Code{"uop", "tensor graph", toUopText(model.sink)});
  return section;
}

}  // namespace svod
