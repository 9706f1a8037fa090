// A graph file as a tree: what the text and JSON readers produce, the writers print and the model is built
// from. It keeps everything but the spacing, so text and JSON convert into each other without loss.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"
#include "support/source_text.h"

namespace svod {

struct Position {
  int line = 0, column = 0;  // from 1; 0 when the tree was made by a program
};

struct GraphExpr;
struct Argument;

enum class ExprKind : uint8_t { Name, Int, Float, Bool, String, List, Call, Chain };

/// An operator symbol between two operands.
struct OperatorAt {
  std::string text;
  Position at;
};

/// Name: `text`. String: `text`. Int: `integer` (unsigned values above the i64 range as their bit pattern,
/// `isBig`). List: `items`. Call: `text` is the op or an operator symbol, `items` the operands, `attributes`
/// the rest. Chain: three or more `items` with `operators` between them, all sums or all products, applied from the
/// left: a + b - c is no nesting, however long it is.
struct GraphExpr {
  ExprKind kind = ExprKind::Name;
  bool flag = false;   // Bool
  bool isBig = false;  // Int
  int depth = 1;       // levels of nesting, bounded by kMaxDepth
  Position at;
  int64_t integer = 0;
  double number = 0;  // Float
  std::string text;
  std::vector<GraphExpr> items;
  std::vector<Argument> attributes;
  std::vector<OperatorAt> operators;  // Chain: one less than items

  static GraphExpr name(std::string text);
  static GraphExpr ofInt(int64_t value);
  static GraphExpr ofFloat(double value);
  static GraphExpr ofBool(bool value);
  static GraphExpr string(std::string text);
  static GraphExpr list(std::vector<GraphExpr> items);
  static GraphExpr call(std::string op, std::vector<GraphExpr> operands);
  /// `left op right`; a left side of the same strength grows to a chain.
  static GraphExpr binary(GraphExpr left, OperatorAt op, GraphExpr right);
};

struct Argument {
  std::string name;
  GraphExpr value;
  Position at;
};

/// Deeper nesting is refused by the readers, so that walking a tree cannot exhaust the stack.
inline constexpr int kMaxDepth = 200;

/// Loops and branches inside each other; a plan allows no more.
inline constexpr int kMaxLoopDepth = 16;

/// Attributes of a call and members of a JSON object; no op has nearly as many.
inline constexpr size_t kMaxAttributes = 64;
/// Values of one file; larger data belongs into weight files.
inline constexpr size_t kMaxValues = size_t{1} << 21;

struct TypeExpr {
  std::string dtype;
  std::vector<GraphExpr> dims;
  Position at;
};

struct NameAt {
  std::string text;
  Position at;
};

enum class StatementKind : uint8_t {
  Var,
  Input,
  Weight,
  State,
  Let,
  Assign,
  Output,
  Temp,
  Loop,
  If,
  Repeat,
  Def,
  Return
};
std::string_view toText(StatementKind kind);
/// Whether statements of this kind have a body of statements.
inline bool hasBody(StatementKind kind) {
  return kind == StatementKind::Loop || kind == StatementKind::If || kind == StatementKind::Repeat ||
         kind == StatementKind::Def;
}

/// Var: names[0], min, max, optional likely value, optional value. Input: names[0], type. Weight, State: names[0],
/// type, value (data). Let: names, optional type, value. Assign: target, value. Output: names[0], optional value. Temp:
/// names[0], optional type, value. Loop: names[0] (the counter), value (the count), optional condition, body. If: value
/// (the condition), body, optional otherwise. Repeat: names[0] (the number of the copy), value (their count), body.
/// Def: names[0], then the parameters, body. Return: value, a list.
struct Statement {
  StatementKind kind = StatementKind::Let;
  Position at;
  std::vector<NameAt> names;
  bool hasType = false, hasValue = false, hasCondition = false, hasOtherwise = false, unroll = false;
  TypeExpr type;
  int64_t min = 0, max = 0;
  std::optional<int64_t> likely;
  GraphExpr target, value, condition;
  std::vector<Statement> body, otherwise;
  std::vector<std::string> comments;  // lines before it: "# text" without the newline, "" for a blank line
  std::string trailingComment;        // "# text" behind it, or behind its {
  std::vector<std::string> bodyComments, otherwiseComments;  // lines after the last statement of each
};

struct GraphFile {
  std::string path;                          // as given; weights are found beside it
  std::shared_ptr<const SourceText> source;  // what errors show lines of; null when a program made the tree
  std::vector<Statement> statements;
  std::vector<std::string> comments;  // lines after the last statement
};

inline constexpr int kGraphVersion = 1;

/// Both readers refuse files that do not follow the grammar, with line and column. `path` is used in messages
/// only.
Result<GraphFile> parseGraphText(std::string_view text, const std::string& path);
Result<GraphFile> parseGraphJson(std::string_view text, const std::string& path);
/// An expression of the text form, such as "2*n + 1".
Result<GraphExpr> parseGraphExpr(std::string_view text, const std::string& path);

/// Whether a call with this op is written with an operator: + - * / // % between two operands, - before one.
bool isOperator(std::string_view op, size_t operands);
/// How strongly the operator of a binary call or a chain binds: 0 for sums, 1 for products. -1 for other expressions.
int binaryStrength(const GraphExpr& expr);
/// Whether an expression can be the data of a weight or state: a file name, a number, a list, zeros or ones.
bool isData(const GraphExpr& expr);

std::string writeGraphText(const GraphFile& file);
std::string writeGraphJson(const GraphFile& file);
std::string writeGraphExpr(const GraphExpr& expr);
/// The name as the text form writes it: in backquotes when it is no identifier.
std::string writeName(std::string_view name);

}  // namespace svod
