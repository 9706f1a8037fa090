// The parser of `.uop` text. One line is one node; see docs/uop.md for the grammar.
#include <algorithm>
#include <charconv>

#include "ir/text_arguments.h"
#include "ir/verify.h"

namespace svod {

namespace {

/// Nothing where the text is no value of the dtype.
std::optional<Scalar> number(std::string_view text, DType dtype) {
  const char *begin = text.data(), *end = begin + text.size();
  auto whole = [&](auto& value) {
    auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end && begin != end;
  };
  if (isFloat(dtype)) {
    double value = 0;
    if (!whole(value)) return std::nullopt;
    return Scalar::ofFloat(dtype, value);
  }
  if (dtype == DType::U64) {
    uint64_t value = 0;
    if (!whole(value)) return std::nullopt;
    return Scalar::ofInt(dtype, static_cast<int64_t>(value));
  }
  int64_t value = 0;
  if (dtype == DType::Void || !whole(value) || Scalar::ofInt(dtype, value).asInt() != value) return std::nullopt;
  return Scalar::ofInt(dtype, value);
}

class LineParser : private ArgumentReader {
 public:
  LineParser(Graph& graph, std::vector<UOp>& nodes, std::string_view line, int number)
      : ArgumentReader(line, number), graph_(graph), nodes_(nodes) {}

  /// Parses `%N = op operands {arg} : type` and appends the node; blank and comment lines append nothing.
  Status parse() {
    skipSpace();
    if (atEnd()) return {};
    size_t start = at_;
    SVOD_TRY(const size_t number, reference());
    if (number == 0 && !nodes_.empty())
      return errorAt(start, Diag::Syntax, "a second graph begins here",
                     "give one graph: cut the text before this line");
    if (number != nodes_.size())
      return errorAt(start, Diag::Syntax, "expected %" + std::to_string(nodes_.size()) + " here",
                     "number nodes 0, 1, 2, .. in the order of their lines");
    SVOD_CHECK(expect('='));
    skipSpace();
    start = at_;
    std::string_view name = word();
    std::optional<Op> op = opFromText(name);
    if (!op) return errorAt(start, Diag::UnknownOp, "unknown op '" + std::string(name) + "'", "run svodc --list-ops");
    if (*op == Op::Const) return constantLine();
    return nodeLine(*op, start);
  }

 private:
  Status constantLine() {
    SVOD_TRY(UOp value, operand());
    if (!value.isConst()) return errorAt(at_, Diag::Syntax, "const takes a literal", "write `const 2.0:f32`");
    nodes_.push_back(value);
    return expectEnd();
  }

  Status nodeLine(Op op, size_t opStart) {
    std::vector<UOp> src;
    skipSpace();
    while (!atEnd() && peek() != '{' && peek() != ':') {
      if (!src.empty()) SVOD_CHECK(expect(','));
      SVOD_TRY(UOp value, operand());
      src.push_back(value);
      skipSpace();
    }
    std::vector<int32_t> axes;
    std::string name;
    SVOD_TRY(Arg arg, argument(op, axes, name));
    DType dtype = DType::Void;
    size_t typeStart = at_;
    std::string_view type;
    if (accept(':')) {
      skipSpace();
      typeStart = at_;
      SVOD_TRY(dtype, dtypeWord());
      type = line_.substr(typeStart, contentEnd() - typeStart);
      at_ = contentEnd();
    }
    SVOD_CHECK(expectEnd());
    if (std::string wrong = checkStructure({op, dtype, src, arg}); !wrong.empty())
      return errorAt(opStart, Diag::Syntax, std::string(toText(op)) + ": " + wrong, "see `svodc --list-ops`");
    nodes_.push_back(graph_.make(op, dtype, src, arg));
    return checkType(nodes_.back(), type, typeStart);
  }

  // The printed type must be what the node infers; otherwise the text lies about its graph.
  Status checkType(UOp node, std::string_view written, size_t start) {
    auto squeeze = [](std::string_view s) {
      std::string out;
      for (char c : s)
        if (c != ' ' && c != '\t' && c != '\r') out += c;
      return out;
    };
    std::string inferred = node.dtype() == DType::Void ? "" : toTypeText(node);
    if (squeeze(written) == squeeze(inferred)) return {};
    return errorAt(start, Diag::ShapeMismatch,
                   "the line says '" + std::string(written) + "' but the node is '" + inferred + "'",
                   "correct the type or the operands");
  }

  Result<UOp> operand() {
    skipSpace();
    size_t start = at_;
    if (peek() == '%') {
      SVOD_TRY(const size_t number, reference());
      if (number >= nodes_.size())
        return errorAt(start, Diag::UnknownName, "%" + std::to_string(number) + " is not defined above this line",
                       "define sources before their users");
      return nodes_[number];
    }
    std::string_view text = word();
    if (text == "true" || text == "false") return graph_.boolean(text == "true");
    DType dtype = DType::Index;
    if (peek() == ':' && at_ + 1 < line_.size() && line_[at_ + 1] != ' ') {
      ++at_;
      SVOD_TRY(dtype, dtypeWord());
    }
    std::optional<Scalar> value = number(text, dtype);
    if (!value)
      return errorAt(start, Diag::Syntax,
                     "'" + std::string(text) + "' is no " + std::string(toText(dtype)) + " constant",
                     "operands are %N, 4 (index), true, or a typed literal as 2.0:f32");
    return graph_.constant(*value);
  }

  Graph& graph_;
  std::vector<UOp>& nodes_;
};

}  // namespace

Result<UOp> parseUop(Graph& graph, std::string_view text) {
  std::vector<UOp> nodes;
  int number = 1;
  for (size_t start = 0; start < text.size(); ++number) {
    size_t end = std::min(text.find('\n', start), text.size());
    SVOD_CHECK(LineParser(graph, nodes, text.substr(start, end - start), number).parse());
    start = end + 1;
  }
  if (nodes.empty()) return fail(Error(Diag::Syntax, "the text has no node", "write at least `%0 = sink`", {"", 1, 1}));
  return nodes.back();
}

}  // namespace svod
