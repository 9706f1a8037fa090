#include <algorithm>
#include <cstdint>

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

/// Where the first `columns` of a text end.
size_t endOf(std::string_view text, size_t columns) {
  size_t end = 0;
  for (size_t i = 0; i < columns && end < text.size(); ++i)
    end += std::max<size_t>(firstCharacter(text.substr(end)), 1);
  return end;
}

/// Without its middle, where it is longer than `width`: names begin and end with what tells them apart.
std::string shortened(const std::string& text, size_t width) {
  const size_t columns = columnsOf(text);
  if (columns <= width) return text;
  const size_t head = (width - 1) / 2, tail = width - 1 - head;
  return text.substr(0, endOf(text, head)) + "…" + text.substr(endOf(text, columns - tail));
}

/// Lines of at most `width` columns, broken at blanks where there are any.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (columnsOf(text) > width) {
    size_t end = endOf(text, width);
    const size_t blank = text.substr(0, end + 1).rfind(' ');
    if (blank != text.npos && blank > 0) end = blank;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  lines.emplace_back(text);
  return lines;
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
    for (const Fact& f : facts) {
      std::string before = padded(f.title, width, false) + "  ";
      const size_t used = indent_ + columnsOf(before), most = static_cast<size_t>(std::max(style_.width, 0));
      for (const std::string& text : wrapped(textOf(f.value), most > used + kLeastLast ? most - used : SIZE_MAX)) {
        line(before + text);
        before = std::string(columnsOf(before), ' ');
      }
    }
  }

  void operator()(const Table& table) {
    if (table.rows.empty()) return;
    std::vector<size_t> widths;
    for (const Column& c : table.columns) widths.push_back(columnsOf(c.title));
    for (const auto& row : table.rows)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columnsOf(textOf(row[i])));
    for (size_t i = 0; i < table.totals.size(); ++i)
      widths[i] = std::max(widths[i], columnsOf(textOf(table.totals[i])));
    const RowForm form = formOf(table, std::move(widths));
    std::vector<std::string> titles;
    for (const Column& c : table.columns) titles.push_back(c.title);
    for (const std::string& text : join(table, titles, form)) line(dim(text));
    for (const auto& row : table.rows)
      for (const std::string& text : join(table, textsOf(row), form)) line(text);
    if (table.rows.size() < 2 || table.totals.empty()) return;
    for (const std::string& text : join(table, textsOf(table.totals), form)) line(dim(text));
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

  /// How the cells of a row stand in its lines.
  struct RowForm {
    std::vector<size_t> widths;
    size_t gap = 2;          // between columns
    bool isBeneath = false;  // the last column has lines of its own
  };
  static constexpr size_t kLeastName = 8, kLeastLast = 40, kBeneath = 6;

  /// Makes a row fit into a line: the last column, where it is text, goes on in further lines, beneath the others where
  /// too little is left beside them. Then the widest texts lose their middle, and gaps a column.
  RowForm formOf(const Table& table, std::vector<size_t> widths) const {
    RowForm form{std::move(widths)};
    std::vector<size_t>& w = form.widths;
    const auto most = static_cast<size_t>(std::max(style_.width, 0));
    const auto used = [&](size_t columns) {
      size_t sum = indent_ + form.gap * (columns == 0 ? 0 : columns - 1);
      for (size_t i = 0; i < columns; ++i) sum += w[i];
      return sum;
    };
    if (most == 0 || used(w.size()) <= most) return form;
    size_t columns = w.size();
    if (!table.columns.back().right && columns > 1) {
      const size_t others = used(columns - 1) + form.gap;
      form.isBeneath = others + std::min(kLeastLast, w.back()) > most;
      const size_t left = indent_ + (form.isBeneath ? kBeneath : others - indent_);
      w.back() = most - std::min(most - 1, left);
      if (form.isBeneath) --columns;
    }
    while (used(columns) > most) {
      size_t widest = columns;
      for (size_t i = 0; i < columns; ++i)
        if (!table.columns[i].right && w[i] > kLeastName && (widest == columns || w[i] > w[widest])) widest = i;
      if (widest == columns && form.gap == 1) break;
      if (widest == columns)
        form.gap = 1;
      else
        --w[widest];
    }
    return form;
  }

  /// The lines of a row.
  static std::vector<std::string> join(const Table& table, const std::vector<std::string>& texts, const RowForm& form) {
    std::string out;
    for (size_t i = 0; i < texts.size(); ++i) {
      const bool isWrapped = i + 1 == texts.size() && !table.columns[i].right && texts.size() > 1;
      if (i > 0 && !(isWrapped && form.isBeneath)) out += std::string(form.gap, ' ');
      if (!isWrapped) {
        out += padded(shortened(texts[i], form.widths[i]), form.widths[i], table.columns[i].right);
        continue;
      }
      std::vector<std::string> lines = wrapped(texts[i], form.widths[i]);
      const std::string before(form.isBeneath ? kBeneath : columnsOf(out), ' ');
      for (size_t k = 0; k < lines.size(); ++k) lines[k] = (k == 0 && !form.isBeneath ? out : before) + lines[k];
      if (form.isBeneath && texts[i].empty()) lines.clear();
      if (form.isBeneath) lines.insert(lines.begin(), out.substr(0, out.find_last_not_of(' ') + 1));
      return lines;
    }
    return {out};
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
