// Reads the tree of a JSON file as a graph file.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/json_tree.h"

namespace svod {

/// Statements are read in json_reader.cpp, types and expressions in json_expressions.cpp. `path` is borrowed.
class JsonReader {
 public:
  explicit JsonReader(const std::string& path) : path_(path) {}
  Result<GraphFile> file(const JsonValue& root);

 private:
  tl::unexpected<Error> failAt(Position at, std::string message, std::string help = {}) const {
    if (help.empty())
      help = "docs/graph.schema.json describes the form; svodc convert GRAPH.svod -o - shows an example";
    return fail(Error(Diag::Syntax, std::move(message), std::move(help), {path_, at.line, at.column}));
  }
  Status onlyMembers(const JsonValue& object, std::initializer_list<std::string_view> known) const;
  Status statements(const JsonValue& list, std::vector<Statement>& all, int depth) const;
  Status statement(const JsonValue& v, std::vector<Statement>& all, int depth) const;
  Status count(const JsonValue& v, Statement& s) const;
  Status parameters(const JsonValue& v, Statement& s) const;
  Status block(const JsonValue& v, Statement& s, int depth) const;
  Status body(const JsonValue& v, Statement& s) const;
  Status comments(const JsonValue* v, std::vector<std::string>& lines) const;
  Result<std::string> text(const JsonValue& v, const char* what) const;
  Result<int64_t> integer(const JsonValue& object, std::string_view name) const;
  Result<TypeExpr> type(const JsonValue& object) const;
  Result<GraphExpr> dim(const JsonValue& v) const;
  Result<GraphExpr> expr(const JsonValue& v) const;
  Result<GraphExpr> data(const JsonValue& v) const;
  Result<GraphExpr> call(const JsonValue& v) const;
  Result<GraphExpr> operation(const JsonValue& v, const JsonValue& op, std::vector<GraphExpr> operands) const;

  const std::string& path_;
};

}  // namespace svod
