#include <nlohmann/json.hpp>

#include "report/render.h"

namespace svod {

namespace {

using Json = nlohmann::ordered_json;

struct ToJson {
  Json operator()(const auto& value) const { return Json(value); }
  Json operator()(const Cell::Amounts& amounts) const {
    Json object = Json::object();
    for (const auto& [name, amount] : amounts) object[name] = amount ? Json(*amount) : Json();
    return object;
  }
};

Json toJsonValue(const Cell& cell) { return std::visit(ToJson(), cell.value); }

Json rowObject(const Table& table, const std::vector<Cell>& row) {
  Json object = Json::object();
  for (size_t i = 0; i < row.size(); ++i) object[table.columns[i].key] = toJsonValue(row[i]);
  return object;
}

Json rows(const Table& table) {
  Json array = Json::array();
  for (const auto& row : table.rows) array.push_back(rowObject(table, row));
  return array;
}

/// Only of the columns that have one.
Json totals(const Table& table) {
  Json object = rowObject(table, table.totals);
  for (auto member = object.begin(); member != object.end();)
    member = *member == "" ? object.erase(member) : std::next(member);
  return object;
}

/// Puts a block into the object of its section.
struct Member {
  Json& object;
  void operator()(const FactList& facts) const {
    for (const Fact& f : facts) object[f.key] = toJsonValue(f.value);
  }
  void operator()(const Table& table) const {
    object[table.key] = rows(table);
    if (!table.totals.empty()) object[table.key + "Totals"] = totals(table);
  }
  void operator()(const Code& code) const { object[code.key] = code.text; }
  void operator()(const Note&) const {}
  void operator()(const Chart&) const {}
  void operator()(const Scatter&) const {}
  void operator()(const Curves&) const {}
  void operator()(const Flow&) const {}
};

void addSection(Json& parent, const Section& section) {
  Json own = Json::object();
  Json& object = section.key.empty() ? parent : own;
  for (const Block& block : section.blocks) std::visit(Member{object}, block);
  if (!section.partsKey.empty()) {
    Json parts = Json::array();
    for (const Section& part : section.parts) {
      Json element = Json::object();
      Section unnamed = part;
      unnamed.key.clear();
      addSection(element, unnamed);
      parts.push_back(std::move(element));
    }
    object[section.partsKey] = std::move(parts);
  }
  if (!section.key.empty()) parent[section.key] = std::move(own);
}

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string toJson(const Document& document) {
  Json root = Json::object();
  for (const Section& s : document.sections) addSection(root, s);
  return dump(root);
}

std::string toJson(const Table& table) { return dump(rows(table)); }

}  // namespace svod
