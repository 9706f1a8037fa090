#include <algorithm>

#include "report/render.h"
#include "support/text.h"
#include "support/utf8.h"

namespace svod {

namespace {

/// Columns a UTF-8 text takes, counting one per code point.
size_t columnsOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string fill(width - std::min(width, columnsOf(text)), ' ');
  return right ? fill + text : text + fill;
}

std::string textOf(const Cell& cell) { return printable(cell.text()); }

std::string cut(std::string_view text, size_t width) {
  if (columnsOf(text) <= width || width < 8) return std::string(text);
  size_t end = 0;
  for (size_t columns = 0; columns < width - 3; ++columns) end += std::max<size_t>(firstCharacter(text.substr(end)), 1);
  return std::string(text.substr(0, end)) + "...";
}

class TextPrinter {
 public:
  explicit TextPrinter(const TextStyle& style) : style_(style) {}

  std::string print(const Document& document) {
    heading(document.title, 0);
    for (const Section& s : document.sections) section(s, 0);
    return std::move(out_);
  }

  std::string print(const Table& t, size_t indent) {
    indent_ = indent;
    (*this)(t);
    return std::move(out_);
  }

  void operator()(const FactList& facts) {
    size_t width = 0;
    for (const Fact& f : facts) width = std::max(width, columnsOf(f.title));
    for (const Fact& f : facts) line(padded(f.title, width, false) + "  " + textOf(f.value));
  }

  void operator()(const Table& table) {
    if (table.rows.empty()) return;
    std::vector<size_t> widths;
    for (const Column& c : table.columns) widths.push_back(columnsOf(c.title));
    for (const auto& row : table.rows)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columnsOf(textOf(row[i])));
    for (size_t i = 0; i < table.totals.size(); ++i)
      widths[i] = std::max(widths[i], columnsOf(textOf(table.totals[i])));
    std::vector<std::string> titles;
    for (const Column& c : table.columns) titles.push_back(c.title);
    line(dim(join(table, titles, widths)));
    for (const auto& row : table.rows) line(join(table, textsOf(row), widths));
    if (table.rows.size() > 1 && !table.totals.empty()) line(dim(join(table, textsOf(table.totals), widths)));
  }

  void operator()(const Code& code) {
    if (!code.title.empty()) line(dim(code.title));
    indent_ += 2;
    for (size_t at = 0; at < code.text.size();) {
      const size_t end = std::min(code.text.find('\n', at), code.text.size());
      line(printable(code.text.substr(at, end - at)));
      at = end + 1;
    }
    indent_ -= 2;
  }

  void operator()(const Note& note) { line(printable(note.text)); }
  void operator()(const Chart&) {}
  void operator()(const Scatter&) {}
  void operator()(const Curves&) {}
  void operator()(const Flow&) {}

 private:
  static bool isDrawing(const Block& block) {
    return std::holds_alternative<Chart>(block) || std::holds_alternative<Scatter>(block) ||
           std::holds_alternative<Curves>(block) || std::holds_alternative<Flow>(block);
  }

  static std::vector<std::string> textsOf(const std::vector<Cell>& row) {
    std::vector<std::string> texts;
    for (const Cell& cell : row) texts.push_back(textOf(cell));
    return texts;
  }

  void section(const Section& s, size_t depth) {
    if (s.blocks.empty() && s.parts.empty()) return;
    if (!s.title.empty()) heading(s.title, depth + 1);
    indent_ = 2 * (depth + 1);
    bool first = true;
    for (const Block& block : s.blocks) {
      if (!first && !isDrawing(block)) out_ += "\n";
      std::visit(*this, block);
      first = false;
    }
    for (const Section& part : s.parts) section(part, depth + 1);
  }

  void heading(const std::string& title, size_t depth) {
    if (title.empty()) return;
    if (depth > 0) out_ += "\n";
    indent_ = depth > 1 ? 2 * (depth - 1) : 0;
    const std::string shown = printable(title);
    line(style_.color ? "\x1b[1m" + shown + "\x1b[0m" : shown);
  }

  std::string dim(const std::string& text) const { return style_.color ? "\x1b[2m" + text + "\x1b[0m" : text; }

  std::string join(const Table& table, const std::vector<std::string>& texts, const std::vector<size_t>& widths) {
    std::string out;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) out += "  ";
      const bool last = i + 1 == texts.size();
      if (last && !table.columns[i].right) {
        const size_t used = columnsOf(out) + indent_, width = static_cast<size_t>(std::max(style_.width, 0));
        out += width > used ? cut(texts[i], width - used) : texts[i];
      } else {
        out += padded(texts[i], widths[i], table.columns[i].right);
      }
    }
    return out;
  }

  void line(std::string text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out_ += text.empty() ? "\n" : std::string(indent_, ' ') + text + "\n";
  }

  TextStyle style_;
  size_t indent_ = 0;
  std::string out_;
};

}  // namespace

std::string toText(const Document& document, const TextStyle& style) { return TextPrinter(style).print(document); }
std::string toText(const Table& table, const TextStyle& style) { return TextPrinter(style).print(table, 0); }

}  // namespace svod
