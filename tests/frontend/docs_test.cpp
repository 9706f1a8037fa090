// docs/graph-format.md and docs/graph.schema.json say what the tables say. SVOD_UPDATE=1 rewrites the list of
// ops.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/temp_folder.h"
#include "frontend/frontend.h"
#include "frontend/graph_op.h"

using namespace svod;

namespace {

constexpr const char* kPage = "docs/graph-format.md";
constexpr std::string_view kBegin = "<!-- ops: written by tests/frontend/docs_test.cpp with SVOD_UPDATE=1 -->\n";
constexpr std::string_view kEnd = "<!-- end of ops -->";

// A table per theme. The bars inside choices are written so that they do not end a cell.
std::string opTables() {
  std::string text;
  std::string_view theme;
  for (const GraphOp& op : allGraphOps()) {
    if (op.theme != theme) text += "\n### " + std::string(op.theme) + "\n\n| op | attributes | |\n|---|---|---|\n";
    theme = op.theme;
    std::string attributes;
    for (char c : op.attributes) attributes += c == '|' ? std::string("\\|") : std::string(1, c);
    if (!attributes.empty()) attributes = "`" + attributes + "`";
    text += "| `" + std::string(op.name) + "(" + std::string(op.operands) + ")` | " + attributes + " | " +
            std::string(op.what) + " |\n";
  }
  return text + "\n";
}

// The fenced blocks of a page that begin with `language`.
std::vector<std::string> blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> found;
  std::string open = "```" + language + "\n";
  for (size_t at = page.find("```"); at != std::string::npos;) {
    size_t end = page.find("\n```", at + 3);
    if (page.compare(at, open.size(), open) == 0)
      found.push_back(page.substr(at + open.size(), end + 1 - at - open.size()));
    at = page.find("```", end + 4);
  }
  return found;
}

}  // namespace

TEST_CASE("the page lists every op") {
  std::string page = readText(kPage), want = opTables();
  size_t begin = page.find(kBegin), end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  begin += kBegin.size();
  if (std::getenv("SVOD_UPDATE") != nullptr) writeText(kPage, page.substr(0, begin) + want + page.substr(end));
  page = readText(kPage);
  end = page.find(kEnd);
  CHECK(page.substr(begin, end - begin) == want);
}

TEST_CASE("the examples on the page are read") {
  std::string page = readText(kPage);
  size_t count = 0;
  for (const std::string& block : blocks(page, "")) {
    if (!block.starts_with("svod 1")) continue;
    Result<GraphFile> file = parseGraphText(block, "example.svod");
    if (!file) FAIL(toText(file.error()));
    ++count;
  }
  for (const std::string& block : blocks(page, "json")) {
    Result<GraphFile> file = parseGraphJson(block, "example.json");
    if (!file) FAIL(toText(file.error()));
    ++count;
  }
  CHECK(count == 2);
}

TEST_CASE("the schema knows the dtypes and statements") {
  nlohmann::json schema = nlohmann::json::parse(readText("docs/graph.schema.json"));
  std::vector<std::string> dtypes;
  for (DType d : allDTypes())
    if (d != DType::Void && d != DType::Index) dtypes.emplace_back(toText(d));
  CHECK(schema["$defs"]["dtype"]["enum"].get<std::vector<std::string>>() == dtypes);
  const nlohmann::json& kinds = schema["$defs"]["statement"]["oneOf"];
  for (size_t i = 0; i < kinds.size(); ++i) {
    CHECK(kinds[i]["required"][0] == std::string(toText(static_cast<StatementKind>(i))));
  }
  CHECK(kinds.size() == static_cast<size_t>(StatementKind::Return) + 1);
}
